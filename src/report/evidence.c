// Why a suspect is suspected: see evidence.h.
#include "report/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

// --- where runs died --------------------------------------------------------

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

static size_t first_death(const Deaths *d, uint32_t source, uint32_t line) {
  size_t lo = 0, hi = d->items.len;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (compare_place(&d->items.items[mid], source, line) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

// --- sentences --------------------------------------------------------------

static void add(EvidenceList *out, const char *kind, char *text) {
  array_push(out, (Evidence){kind, text});
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static bool shows_failure(const Suite *suite, size_t failure, uint32_t run) {
  const FailureGroup *g = &suite->failures[failure];
  return g->nruns && bsearch(&run, g->runs, g->nruns, sizeof run, by_number);
}

static void add_deaths(const Suite *suite, const Deaths *d, const Ranking *r,
                       const Entity *e, EvidenceList *out) {
  size_t i = first_death(d, e->source, e->line);
  while (i < d->items.len &&
         !compare_place(&d->items.items[i], e->source, e->line)) {
    const DeathAt *first = &d->items.items[i];
    size_t runs = 0;
    uint32_t last = UINT32_MAX; // several processes of one run count once
    for (; i < d->items.len; i++) {
      const DeathAt *at = &d->items.items[i];
      if (compare_place(at, e->source, e->line) ||
          strcmp(at->how, first->how) || at->exact != first->exact)
        break;
      if (at->run != last && shows_failure(suite, r->failure, at->run))
        runs++;
      last = at->run;
    }
    if (runs)
      add(out, "death",
          mem_printf("%zu run%s died %s: %s", runs, runs == 1 ? "" : "s",
                     first->exact ? "here" : "here or close by", first->how));
  }
}

void evidence_gather(const Suite *suite, const Deaths *deaths, const Ranking *r,
                     const Suspect *s, EvidenceList *out) {
  for (size_t i = 0; i < s->evidence.len; i++)
    add(out, s->evidence.items[i].kind, mem_strdup(s->evidence.items[i].text));
  add(out, "coverage",
      mem_printf("%u of %u failing, %u of %u %s runs", s->ef, r->failing, s->ep,
                 r->passing, r->stand_in ? "other failing" : "passing"));
  const Entity *e = &suite->entities[s->entity];
  if (e->kind == ENTITY_STATEMENT || e->kind == ENTITY_FUNCTION)
    add_deaths(suite, deaths, r, e, out);
}

void evidence_release(EvidenceList *list) {
  for (size_t i = 0; i < list->len; i++)
    free(list->items[i].text);
  array_release(list);
}
