// Where runs died: see deaths.h.
#include "tally/deaths.h"

#include <stdlib.h>
#include <string.h>

#include "util/hashmap.h"
#include "util/str.h"

typedef struct {
  Deaths *deaths;
  const Suite *suite;
  EntityKind by;
  Hashmap sources;   // path -> source
  Hashmap functions; // source, name -> entity
} DeathLoader;

static void function_key(Str *key, uint32_t source, const char *name) {
  str_clear(key);
  str_addn(key, &source, sizeof source);
  str_add(key, name);
}

static void index_places(DeathLoader *l) {
  const Suite *suite = l->suite;
  for (size_t i = 0; i < suite->nsources; i++)
    hashmap_put(&l->sources, suite->sources[i].path,
                strlen(suite->sources[i].path), i);
  if (l->by != ENTITY_FUNCTION)
    return;
  Str key = {0};
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind != ENTITY_FUNCTION || !e->name)
      continue;
    function_key(&key, e->source, e->name);
    hashmap_put(&l->functions, key.data, key.len, i);
  }
  str_release(&key);
}

// The line that is listed for a place; 0 if none is.
static uint32_t listed_line(DeathLoader *l, uint32_t source,
                            const DeathCaller *c) {
  if (l->by == ENTITY_STATEMENT)
    return c->line;
  Str key = {0};
  uint64_t entity;
  str_addn(&key, &source, sizeof source);
  str_addn(&key, c->function, c->function_size);
  bool found = hashmap_get(&l->functions, key.data, key.len, &entity);
  str_release(&key);
  return found ? l->suite->entities[entity].line : 0;
}

// Adds a place; `at` has all but that.
static void add_place(DeathLoader *l, const DeathCaller *c, DeathAt at) {
  uint64_t source;
  if (!hashmap_get(&l->sources, c->file, c->file_size, &source))
    return;
  at.source = (uint32_t)source;
  at.line = listed_line(l, at.source, c);
  if (at.line)
    array_push(&l->deaths->items, at);
}

static void add_death(void *ctx, size_t run, const Death *d) {
  DeathLoader *l = ctx;
  Arena *arena = &l->deaths->arena;
  if (!d->file || !*d->file)
    return;
  const char *function = d->function ? d->function : "";
  DeathCaller c = {d->file, function, strlen(d->file), strlen(function),
                   d->line};
  DeathAt at = {.run = (uint32_t)run,
                .how = arena_strdup(arena, d->how ? d->how : ""),
                .exact = d->exact,
                .end = arena_strdup(arena, d->file),
                .end_line = d->line,
                .callers = arena_strdup(arena, d->callers ? d->callers : ""),
                .turns = arena_strdup(arena, d->turns ? d->turns : "")};
  add_place(l, &c, at);
  for (const char *rest = at.callers; death_caller(&rest, &c);) {
    at.depth++;
    add_place(l, &c, at);
  }
}

static int compare_place(const DeathAt *x, uint32_t source, uint32_t line) {
  if (x->source != source)
    return x->source < source ? -1 : 1;
  return x->line < line ? -1 : x->line > line;
}

static int by_place(const void *a, const void *b) {
  const DeathAt *x = a, *y = b;
  int c = compare_place(x, y->source, y->line);
  if (!c)
    c = (x->depth > y->depth) - (x->depth < y->depth);
  if (!c)
    c = strcmp(x->how, y->how);
  if (!c)
    c = y->exact - x->exact;
  return c ? c : x->run < y->run ? -1 : x->run > y->run;
}

int deaths_load(Deaths *d, Store *store, const Suite *suite, EntityKind by,
                Err *err) {
  *d = (Deaths){0};
  if (by != ENTITY_STATEMENT && by != ENTITY_FUNCTION)
    return 0;
  DeathLoader l = {.deaths = d, .suite = suite, .by = by};
  index_places(&l);
  int rc = store_each_death(store, suite, add_death, &l, err);
  hashmap_release(&l.sources);
  hashmap_release(&l.functions);
  if (d->items.len)
    qsort(d->items.items, d->items.len, sizeof *d->items.items, by_place);
  return rc;
}

void deaths_release(Deaths *d) {
  array_release(&d->items);
  arena_release(&d->arena);
}

size_t deaths_at(const Deaths *d, uint32_t source, uint32_t line, size_t *n) {
  size_t lo = 0, hi = d->items.len;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (compare_place(&d->items.items[mid], source, line) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  size_t end = lo;
  while (end < d->items.len &&
         !compare_place(&d->items.items[end], source, line))
    end++;
  *n = end - lo;
  return lo;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

bool run_shows(const Suite *suite, size_t failure, uint32_t run) {
  const FailureGroup *g = &suite->failures[failure];
  return g->nruns && bsearch(&run, g->runs, g->nruns, sizeof run, by_number);
}

static bool ends_script(const FailureGroup *g) {
  static const char *const others[] = {"html",   "query",      "warning",
                                       "notice", "deprecated", "status"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(g->kind, others[i]))
      return false;
  return true;
}

// "view.php:12", as the failure names its place: the end of the path?
static bool is_named(const char *file, size_t size, uint32_t line,
                     const char *place) {
  const char *colon = strrchr(place, ':');
  size_t n = colon ? (size_t)(colon - place) : 0;
  return n && n <= size && !memcmp(file + size - n, place, n) &&
         (n == size || file[size - n - 1] == '/') &&
         strtoul(colon + 1, NULL, 10) == line;
}

bool place_is_at(const char *place, const char *file, uint32_t line) {
  return is_named(file, strlen(file), line, place);
}

// The failure's place is where the script ended, or a call that led there.
static bool is_at(const DeathAt *at, const char *place) {
  DeathCaller c;
  if (place_is_at(place, at->end, at->end_line))
    return true;
  for (const char *rest = at->callers; rest && death_caller(&rest, &c);)
    if (is_named(c.file, c.file_size, c.line, place))
      return true;
  return false;
}

bool death_of(const Suite *suite, size_t failure, const DeathAt *at) {
  const FailureGroup *g = &suite->failures[failure];
  if (!run_shows(suite, failure, at->run))
    return false;
  if (!g->kind || !g->place)
    return true;
  return ends_script(g) &&
         (strcmp(g->kind, "fatal") != 0 || !*g->place || is_at(at, g->place));
}

double deaths_nearness(const Deaths *d, const Suite *suite, size_t failure,
                       uint32_t entity) {
  const Entity *e = &suite->entities[entity];
  size_t n = 0, first = d ? deaths_at(d, e->source, e->line, &n) : 0;
  for (size_t i = first; i < first + n; i++)
    if (death_of(suite, failure, &d->items.items[i]))
      return 1.0 / (1 + d->items.items[i].depth);
  return 0;
}

const char *deaths_callers(const Deaths *d, const Suite *suite,
                           size_t failure) {
  const DeathAt *first = NULL;
  for (size_t i = 0; d && i < d->items.len; i++) {
    const DeathAt *at = &d->items.items[i];
    if (!at->depth && death_of(suite, failure, at) &&
        (!first || at->run < first->run))
      first = at;
  }
  return first ? first->callers : NULL;
}
