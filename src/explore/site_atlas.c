// What an exploration has been to: see site_atlas.h.
#include "explore/site_atlas.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "util/str.h"

enum { CRUMBS_MOST = 100, HIDDENS_MOST = 60 };

// --- cookies ----------------------------------------------------------------

static unsigned crumb_count(const Crumb *c) {
  unsigned n = 0;
  for (; c; c = c->before)
    n++;
  return n;
}

static const Crumb *add_crumb(const Crumb *last, const char *path,
                              const char *value, Arena *arena) {
  if (crumb_count(last) >= CRUMBS_MOST)
    return last;
  Crumb *c = arena_new(arena, Crumb);
  *c = (Crumb){.before = last, .path = path, .value = value};
  return c;
}

const Crumb *crumbs_take(const Crumb *last, const char *path,
                         const Headers *headers, Arena *arena) {
  for (size_t i = 0; i < headers->len; i++)
    if (!strcasecmp(headers->items[i].name, "Set-Cookie"))
      last = add_crumb(last, arena_strdup(arena, path),
                       arena_strdup(arena, headers->items[i].value), arena);
  return last;
}

// An attribute that means nothing to a jar.
#define BROUGHT "; path=/; brought"

const Crumb *crumbs_bring(const Crumb *last, const Headers *headers,
                          Arena *arena) {
  const char *all = headers_get(headers, "Cookie");
  char *rest = all ? arena_strdup(arena, all) : NULL, *one;
  while ((one = strsep(&rest, ";"))) {
    one += strspn(one, " ");
    if (strchr(one, '='))
      last =
          add_crumb(last, "/", arena_printf(arena, "%s" BROUGHT, one), arena);
  }
  return last;
}

bool crumbs_brought(const Crumb *crumbs, const char *name) {
  size_t n = strlen(name);
  for (const Crumb *c = crumbs; c; c = c->before)
    if (!strncmp(c->value, name, n) && c->value[n] == '=')
      return text_ends(c->value, BROUGHT);
  return false;
}

const Crumb *crumbs_start(void) {
  static const Crumb session = {.path = "/",
                                .value = "PHPSESSID=" SESSION_ID "; path=/"};
  return &session;
}

static void refill(CookieJar *jar, const Crumb *last) {
  if (!last)
    return;
  refill(jar, last->before);
  Header h = {.name = "Set-Cookie", .value = last->value};
  Headers one = {.items = &h, .len = 1};
  cookie_jar_take(jar, last->path, &one);
}

CookieJar *crumbs_jar(const Crumb *crumbs) {
  CookieJar *jar = cookie_jar_new();
  refill(jar, crumbs);
  return jar;
}

const char *crumbs_header(const Crumb *crumbs, const char *path, Arena *arena) {
  CookieJar *jar = crumbs_jar(crumbs);
  const char *header = cookie_jar_header(jar, path, arena);
  cookie_jar_free(jar);
  return header;
}

// --- hidden fields ----------------------------------------------------------

static void add_hiddens(const Link *form, Hidden *out, size_t *n) {
  for (size_t i = 0; i < form->nfields && *n < HIDDENS_MOST; i++) {
    const Field *f = &form->fields[i];
    if (f->kind == FIELD_FIXED && *f->value)
      out[(*n)++] = (Hidden){form->path, f->name, f->value};
  }
}

Hiddens hiddens_of(const Links *links, Arena *arena) {
  Hidden *list = arena_array(arena, Hidden, HIDDENS_MOST);
  size_t n = 0;
  for (size_t i = 0; i < links->len; i++)
    if (links->items[i].form)
      add_hiddens(&links->items[i], list, &n);
  return (Hiddens){.items = list, .len = n};
}

Hiddens hiddens_copy(const Hiddens *h, Arena *arena) {
  Hidden *list = arena_array(arena, Hidden, h->len);
  for (size_t i = 0; i < h->len; i++)
    list[i] = (Hidden){arena_strdup(arena, h->items[i].form),
                       arena_strdup(arena, h->items[i].name),
                       arena_strdup(arena, h->items[i].value)};
  return (Hiddens){.items = list, .len = h->len};
}

// --- requests and worlds ----------------------------------------------------

void atlas_init(Atlas *a) {
  *a = (Atlas){0};
  array_push(&a->worlds, (World){.crumbs = crumbs_start()});
}

void atlas_begin(Atlas *a, uint64_t key) {
  a->worlds.items[0].key = key;
  hashmap_put(&a->index, &key, sizeof key, 0);
}

void atlas_release(Atlas *a) {
  array_release(&a->worlds);
  array_release(&a->asked);
  hashmap_release(&a->index);
  arena_release(&a->arena);
}

uint32_t atlas_add(Atlas *a, const Asked *asked) {
  Asked copy = *asked;
  copy.ask = ask_copy(&asked->ask, &a->arena);
  copy.hiddens = hiddens_copy(&asked->hiddens, &a->arena);
  PathStep *steps = arena_array(&a->arena, PathStep, asked->nsteps);
  if (asked->nsteps)
    memcpy(steps, asked->steps, asked->nsteps * sizeof *steps);
  copy.steps = steps;
  array_push(&a->asked, copy);
  return (uint32_t)a->asked.len;
}

const Asked *atlas_asked(const Atlas *a, uint32_t number) {
  return number && number <= a->asked.len ? &a->asked.items[number - 1] : NULL;
}

uint32_t atlas_find(Atlas *a, uint64_t key, const Crumb *crumbs, uint32_t from,
                    uint32_t by) {
  uint64_t fresh = a->worlds.len;
  uint64_t n = hashmap_intern(&a->index, &key, sizeof key, fresh);
  World w = {.key = key, .crumbs = crumbs, .from = from, .by = by};
  w.depth = a->worlds.items[from].depth + 1;
  if (n == fresh)
    array_push(&a->worlds, w);
  return (uint32_t)n;
}

void atlas_shorten(Atlas *a, uint32_t world, uint32_t from, uint32_t by) {
  unsigned depth = a->worlds.items[from].depth + 1;
  World *w = &a->worlds.items[world];
  if (depth >= w->depth)
    return;
  w->from = from;
  w->by = by;
  w->depth = depth;
}

// --- ways -------------------------------------------------------------------

void atlas_way(const Atlas *a, uint32_t world, Way *out) {
  out->len = 0;
  while (world) {
    const World *w = &a->worlds.items[world];
    const Asked *by = atlas_asked(a, w->by);
    assert(by);
    array_push(out, (Stage){.world = world,
                            .from = w->from,
                            .ask = by->ask,
                            .hiddens = by->hiddens});
    world = w->from;
  }
  for (size_t i = 0, j = out->len; i + 1 < j; i++) {
    Stage s = out->items[i];
    out->items[i] = out->items[--j];
    out->items[j] = s;
  }
}
