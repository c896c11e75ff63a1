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

// The line that is listed for a death; 0 if none is.
static uint32_t listed_line(DeathLoader *l, uint32_t source, const Death *d) {
  if (l->by == ENTITY_STATEMENT)
    return d->line;
  Str key = {0};
  uint64_t entity;
  function_key(&key, source, d->function ? d->function : "");
  bool found = hashmap_get(&l->functions, key.data, key.len, &entity);
  str_release(&key);
  return found ? l->suite->entities[entity].line : 0;
}

static void add_death(void *ctx, size_t run, const Death *d) {
  DeathLoader *l = ctx;
  uint64_t source;
  if (!d->file || !hashmap_get(&l->sources, d->file, strlen(d->file), &source))
    return;
  uint32_t line = listed_line(l, (uint32_t)source, d);
  if (!line)
    return;
  const char *how = arena_strdup(&l->deaths->arena, d->how ? d->how : "");
  array_push(&l->deaths->items,
             (DeathAt){(uint32_t)source, line, (uint32_t)run, how, d->exact});
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

bool deaths_any(const Deaths *d, const Suite *suite, size_t failure,
                uint32_t entity) {
  const Entity *e = &suite->entities[entity];
  size_t n = 0, first = d ? deaths_at(d, e->source, e->line, &n) : 0;
  for (size_t i = first; i < first + n; i++)
    if (run_shows(suite, failure, d->items.items[i].run))
      return true;
  return false;
}
