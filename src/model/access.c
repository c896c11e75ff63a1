// What a statement writes and reads: see access.h.
#include "model/access.h"

#include <string.h>

// One line of a list.
typedef struct {
  char role, kind;
  const char *identity, *name;
  size_t nidentity, nname; // nname 0: it has none
} Access;

void access_add(Str *list, AccessRole role, AccessKind kind,
                const char *identity, const char *name) {
  Str line = {0};
  str_addf(&line, "%c%c%s\t%s\n", (int)role, (int)kind, identity,
           name ? name : "");
  if (!strstr(str_text(list), str_text(&line)))
    str_add(list, str_text(&line));
  str_release(&line);
}

// The access that begins at *at, which is moved on; false: there is none left.
static bool next_access(const char **at, Access *out) {
  const char *line = *at, *end = line ? strchr(line, '\n') : NULL;
  const char *tab = end ? memchr(line, '\t', (size_t)(end - line)) : NULL;
  if (!tab || tab - line < 2)
    return false;
  *out = (Access){.role = line[0],
                  .kind = line[1],
                  .identity = line + 2,
                  .nidentity = (size_t)(tab - line - 2),
                  .name = tab + 1,
                  .nname = (size_t)(end - tab - 1)};
  *at = end + 1;
  return true;
}

static bool is_any(const Access *a) {
  return a->nidentity == strlen(ACCESS_ANY) &&
         !memcmp(a->identity, ACCESS_ANY, a->nidentity);
}

static bool is_same(const Access *a, const Access *b) {
  return a->nidentity == b->nidentity &&
         !memcmp(a->identity, b->identity, a->nidentity);
}

static bool is_argument(const Access *a) {
  return a->kind == ACCESS_ARGUMENT || a->kind == ACCESS_REACHED;
}

static bool is_in_memory(const Access *a) {
  return a->kind == ACCESS_OBJECT || a->kind == ACCESS_FIELD ||
         a->kind == ACCESS_MEMORY;
}

// May the use be of what the definition sets?
static bool may_meet(const Access *d, const Access *u) {
  if (is_argument(d) && is_argument(u))
    return is_any(d) || is_any(u) || is_same(d, u);
  if (d->kind == ACCESS_REACHED)
    return is_in_memory(u);
  if (is_in_memory(d) && is_in_memory(u))
    return d->kind == ACCESS_MEMORY || u->kind == ACCESS_MEMORY ||
           (d->kind == u->kind && is_same(d, u));
  return d->kind == u->kind && (is_same(d, u) || (d->kind == ACCESS_RESULT &&
                                                  (is_any(d) || is_any(u))));
}

// The name of what both are about: a parameter is named inside.
static void put_name(const Access *d, const Access *u, Str *out) {
  str_clear(out);
  if (!is_argument(d))
    str_addn(out, d->name, d->nname);
  else if (u->nname)
    str_addf(out, "%.*s(%.*s)", (int)u->nidentity, u->identity, (int)u->nname,
             u->name);
}

bool access_name(const char *definition, const char *use, Str *out) {
  Access d, u;
  Str found = {0}, name = {0};
  bool clear = true;
  while (clear && next_access(&definition, &d)) {
    const char *uses = use;
    while (clear && d.role == ACCESS_DEFINES && next_access(&uses, &u)) {
      if (u.role != ACCESS_USES || !may_meet(&d, &u))
        continue;
      put_name(&d, &u, &name);
      clear = name.len &&
              (!found.len || !strcmp(str_text(&found), str_text(&name)));
      str_clear(&found);
      str_add(&found, str_text(&name));
    }
  }
  clear = clear && found.len;
  if (clear)
    str_add(out, str_text(&found));
  str_release(&found);
  str_release(&name);
  return clear;
}
