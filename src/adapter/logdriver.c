// The log drivers of an automake build tree: see logdriver.h.
#include "adapter/logdriver.h"

#include <ctype.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { DEPTH_MAX = 24 };

// --- finding ----------------------------------------------------------------

// Length of a name that ends with LOG_DRIVER at the start of the line and is
// assigned to; 0: it is none. *value: what follows the operator.
static size_t driver_name(const char *line, const char **value) {
  static const char suffix[] = "LOG_DRIVER";
  size_t n = 0;
  while (isupper((unsigned char)line[n]) || isdigit((unsigned char)line[n]) ||
         line[n] == '_')
    n++;
  if (n < strlen(suffix) ||
      memcmp(line + n - strlen(suffix), suffix, strlen(suffix)) != 0)
    return 0;
  const char *at = line + n + strspn(line + n, " \t");
  at += *at == ':' || *at == '?';
  if (*at != '=')
    return 0;
  at++;
  *value = at + strspn(at, " \t");
  return n;
}

static void trim_end(Str *s) {
  while (s->len && isspace((unsigned char)s->data[s->len - 1]))
    s->data[--s->len] = '\0';
}

// Copies a value, continuation lines joined.
static char *copy_value(const char *value, Arena *arena) {
  Str s = {0};
  for (; *value && *value != '\n'; value++) {
    if (value[0] == '\\' && value[1] == '\n') {
      value++;
      value += strspn(value + 1, " \t");
      trim_end(&s);
      str_addc(&s, ' ');
    } else {
      str_addc(&s, *value);
    }
  }
  trim_end(&s);
  char *copy = arena_strndup(arena, str_text(&s), s.len);
  str_release(&s);
  return copy;
}

void logdrivers_parse(LogDrivers *l, const char *dir, const char *text) {
  for (const char *line = text; *line;) {
    const char *value;
    size_t n = driver_name(line, &value);
    if (n) {
      LogDriver d = {.dir = arena_strdup(&l->arena, dir),
                     .name = arena_strndup(&l->arena, line, n),
                     .text = copy_value(value, &l->arena)};
      array_push(&l->drivers, d);
    }
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
}

static void read_makefile(LogDrivers *l, const char *path) {
  char *dir = mem_printf("%.*s", (int)(path_base(path) - 1 - path), path);
  Str text = {0};
  Err ignored;
  if (!fs_read(path, 0, &text, &ignored))
    logdrivers_parse(l, dir, str_text(&text));
  str_release(&text);
  free(dir);
}

void logdrivers_find(LogDrivers *l, const char *dir) {
  char *const roots[] = {(char *)dir, NULL};
  FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  for (FTSENT *e; tree && (e = fts_read(tree));)
    if (e->fts_level > DEPTH_MAX || (e->fts_level > 0 && *e->fts_name == '.'))
      fts_set(tree, e, FTS_SKIP); // .git, .culprit, .deps, .libs
    else if (!strcmp(e->fts_name, "Makefile") && e->fts_info != FTS_DP)
      read_makefile(l, e->fts_path);
  if (tree)
    fts_close(tree);
}

void logdrivers_release(LogDrivers *l) {
  array_release(&l->drivers);
  arena_release(&l->arena);
}

// --- overriding -------------------------------------------------------------

static bool is_first(const LogDrivers *l, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (!strcmp(l->drivers.items[k].name, l->drivers.items[i].name))
      return false;
  return true;
}

static bool all_agree(const LogDrivers *l, const LogDriver *d) {
  for (size_t i = 0; i < l->drivers.len; i++)
    if (!strcmp(l->drivers.items[i].name, d->name) &&
        strcmp(l->drivers.items[i].text, d->text) != 0)
      return false;
  return true;
}

void logdrivers_override(LogDrivers *l, const char *ours, WordList *out) {
  for (size_t i = 0; i < l->drivers.len; i++) {
    const LogDriver *d = &l->drivers.items[i];
    bool agree = all_agree(l, d);
    if (is_first(l, i)) {
      char *rest = agree
                       ? arena_strdup(&l->arena, d->text)
                       : arena_printf(&l->arena,
                                      "$(culprit_%s_$(abs_builddir))", d->name);
      array_push(out, arena_printf(&l->arena, "%s=%s %s", d->name, ours, rest));
    }
    if (!agree)
      array_push(out, arena_printf(&l->arena, "culprit_%s_%s=%s", d->name,
                                   d->dir, d->text));
  }
}
