// The newest session of another culprit store: its units, and its runs with
// their verdicts and spectra. So shards that ran on many machines are merged:
//
//   culprit import store host1/.culprit host2/.culprit
//
// A unit keeps its identity: what both stores know of the same build is one
// entity afterwards. Two texts of one source file are refused on storing.
//
// Tests of the same name in two stores are refused, too; NAME=DIR calls the
// tests of a store NAME/...
//
// Limits: of the failures of a run, their message and place are those of the
// first run of the group.
#include <stdlib.h>
#include <string.h>

#include "import/coverage_format.h"
#include "util/fs.h"
#include "util/mem.h"

typedef struct {
  const ImportArg *arg;
  const Places *places;
  Foreign *out;
  Store *store;
  Suite suite;
  uint32_t base;   // our id of the store's entity 0
  size_t first;    // our index of the store's first run
  Hashmap hash_of; // path -> index into suite.sources
} Reader;

// --- units -----------------------------------------------------------------

static void *copy_array(Arena *arena, const void *items, size_t n,
                        size_t size) {
  void *copy = arena_alloc_array(arena, n, size);
  if (n)
    memcpy(copy, items, n * size);
  return copy;
}

static Source *copy_sources(Reader *r, const Unit *unit, bool *moved) {
  Arena *arena = &r->out->arena;
  Source *sources = arena_array(arena, Source, unit->nsources);
  *moved = false;
  for (size_t i = 0; i < unit->nsources; i++) {
    const char *path = unit->sources[i].path;
    uint64_t at;
    if (hashmap_get(&r->hash_of, path, strlen(path), &at))
      sources[i].hash = r->suite.sources[at].hash;
    char *mapped = places_map(r->places, path);
    *moved |= strcmp(mapped, path) != 0;
    sources[i].path = arena_strdup(arena, mapped);
    free(mapped);
  }
  return sources;
}

static int add_unit(void *ctx, const Unit *unit, const uint32_t *ids,
                    Err *err) {
  (void)err;
  Reader *r = ctx;
  Arena *arena = &r->out->arena;
  bool moved;
  ForeignUnit u = {.unit = *unit, .origin = r->arg->path};
  u.unit.sources = copy_sources(r, unit, &moved);
  u.unit.entities =
      copy_array(arena, unit->entities, unit->nentities, sizeof(Entity));
  u.unit.standings =
      copy_array(arena, unit->standings, unit->nstandings, sizeof(Standing));
  u.ids = copy_array(arena, ids, unit->nentities, sizeof *ids);
  for (size_t i = 0; i < unit->nentities; i++)
    u.ids[i] += r->base;
  if (moved)
    u.origin = NULL; // not the unit it was: another path
  array_push(&r->out->units, u);
  return 0;
}

// --- runs ------------------------------------------------------------------

static char *test_name(const Reader *r, const char *test) {
  return r->arg->name ? mem_printf("%s/%s", r->arg->name, test)
                      : mem_strdup(test);
}

static void add_runs(Reader *r) {
  for (size_t i = 0; i < r->suite.nruns; i++) {
    const RunInfo *info = &r->suite.runs[i];
    array_push(&r->out->runs,
               (Run){.test = test_name(r, info->test),
                     .command = mem_strdup(info->command),
                     .note = info->note ? mem_strdup(info->note) : NULL,
                     .verdict = info->verdict,
                     .status = info->status,
                     .seconds = info->seconds,
                     .imprecise = info->imprecise,
                     .processes = info->has_spectrum});
  }
  for (size_t g = 0; g < r->suite.nfailures; g++) {
    const FailureGroup *group = &r->suite.failures[g];
    for (size_t i = 0; i < group->nruns; i++)
      array_push(&r->out->runs.items[r->first + group->runs[i]].failures,
                 (Failure){.kind = mem_strdup(group->kind),
                           .message = mem_strdup(group->message),
                           .place = mem_strdup(group->place),
                           .signature = mem_strdup(group->signature),
                           .excerpt = mem_strdup(group->excerpt),
                           .output = mem_strdup(group->output)});
  }
}

static void add_spectra(void *ctx, size_t run, const Spectra *spectra) {
  Reader *r = ctx;
  Run *out = &r->out->runs.items[r->first + run];
  for (int k = 0; k < ENTITY_KINDS; k++) {
    for (uint32_t i = 0; bitset_next(&spectra->hits[k], &i); i++)
      bitset_add(&out->hits[k], r->base + i);
  }
  for (size_t i = 0; i < spectra->ncounts; i++) {
    EntityCount count = spectra->counts[i];
    count.entity += r->base;
    array_push(&out->counts, count);
  }
}

// The callers with their files where they are here.
static char *map_callers(Reader *r, const char *callers) {
  Str out = {0};
  DeathCaller c;
  while (death_caller(&callers, &c)) {
    char *file = mem_printf("%.*s", (int)c.file_size, c.file);
    char *mapped = places_map(r->places, file);
    str_addf(&out, "%u %.*s %s\n", c.line, (int)c.function_size, c.function,
             mapped);
    free(mapped);
    free(file);
  }
  return str_take(&out);
}

static void add_death(void *ctx, size_t run, const Death *d) {
  Reader *r = ctx;
  array_push(&r->out->runs.items[r->first + run].deaths,
             (Death){.file = *d->file ? places_map(r->places, d->file)
                                      : mem_strdup(""),
                     .line = d->line,
                     .function = mem_strdup(d->function),
                     .how = mem_strdup(d->how),
                     .exact = d->exact,
                     .callers = map_callers(r, d->callers),
                     .turns = map_callers(r, d->turns)});
}

// --- stores ----------------------------------------------------------------

static int read_session(Reader *r, Err *err) {
  const Suite *suite = &r->suite;
  unsigned all = (1u << ENTITY_KINDS) - 1;
  if (store_load(r->store, 0, &r->suite, err))
    return -1;
  if (!suite->nruns)
    return err_set(err, "%s: its newest session has no runs", r->arg->path);
  if (suite->nentities >= ENTITY_NONE - r->base)
    return err_set(err, "%s: too many entities for one session", r->arg->path);
  for (size_t i = 0; i < suite->nsources; i++)
    hashmap_put(&r->hash_of, suite->sources[i].path,
                strlen(suite->sources[i].path), i);
  add_runs(r);
  if (store_each_unit(r->store, suite, &r->out->arena, add_unit, r, err) ||
      store_each_spectra(r->store, suite, all | STORE_COUNTS, add_spectra, r,
                         err) ||
      store_each_death(r->store, suite, add_death, r, err))
    return -1;
  r->out->nids += (uint32_t)suite->nentities;
  return 0;
}

static int read_store(const ImportArg *arg, const Places *places, Foreign *out,
                      Err *err) {
  Reader r = {.arg = arg,
              .places = places,
              .out = out,
              .base = out->nids,
              .first = out->runs.len};
  int rc = store_open(&r.store, arg->path, STORE_EXISTING, err);
  if (!rc)
    rc = read_session(&r, err);
  store_close(r.store);
  suite_release(&r.suite);
  hashmap_release(&r.hash_of);
  return rc;
}

// `from`: the first run of the store just read.
static int check_names(const Foreign *out, size_t from, const ImportArg *arg,
                       Hashmap *seen, Err *err) {
  for (size_t i = from; i < out->runs.len; i++) {
    const char *test = out->runs.items[i].test;
    if (hashmap_intern(seen, test, strlen(test), i) != i)
      return err_set(err,
                     "%s: test '%s' is in another of these stores, too; "
                     "NAME=%s would call it NAME/%s",
                     arg->path, test, arg->path, test);
  }
  return 0;
}

int stores_read(const ImportArgs *args, Coverage *out, Foreign *more,
                Err *err) {
  Hashmap seen = {0};
  int rc = 0;
  for (size_t i = 0; !rc && i < args->len; i++) {
    size_t from = more->runs.len;
    rc = read_store(&args->items[i], out->places, more, err);
    if (!rc)
      rc = check_names(more, from, &args->items[i], &seen, err);
  }
  hashmap_release(&seen);
  more->judged = true;
  return rc;
}
