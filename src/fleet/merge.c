// Makes one session out of those of several stores: see merge.h.
//
// Each store is opened twice: to check that all fit together, and to copy. So
// only one of them is in memory at a time.
#include "fleet/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/shard.h"
#include "util/fs.h"
#include "util/mem.h"

// What a session's key says of its shard.
typedef struct {
  Shard shard; // n = 0: the session is none
  uint64_t digest;
} ShardMark;

typedef struct {
  uint64_t hash;
  size_t input; // the first that has it
} KnownSource;

typedef struct {
  StoreMerge *merge;
  Store *out;
  // Of the first pass.
  Hashmap tests;   // name -> 1
  Hashmap sources; // path -> index into known
  ARRAY(KnownSource) known;
  ARRAY(ShardMark) marks; // one per input
  char *key, *command, *cwd, *project, *root, *close;
  // The input that is open.
  size_t input;
  Store *in;
  Suite suite;
  Hashmap hash_of; // path -> index into suite.sources
  uint32_t *ids;   // ours of each of its entities
  ARRAY(Run) runs; // without hits
  Err *err;
  bool failed;
  Arena arena;
} Merging;

static const ImportArg *arg_of(const Merging *m) {
  return &m->merge->inputs.items[m->input];
}

static char *test_name(const Merging *m, const char *test) {
  const char *name = arg_of(m)->name;
  return name ? mem_printf("%s/%s", name, test) : mem_strdup(test);
}

// --- shards -----------------------------------------------------------------

static ShardMark mark_of(const char *key) {
  ShardMark mark = {0};
  const char *line = strstr(key, "\n" SHARD_KEY);
  if (line && sscanf(line + 1, SHARD_KEY "%u/%u %16" SCNx64, &mark.shard.k,
                     &mark.shard.n, &mark.digest) != 3)
    mark = (ShardMark){0};
  return mark;
}

// The key without what makes it that of a shard.
static char *whole_key(const char *key) {
  const char *line = strstr(key, "\n" SHARD_KEY);
  if (!line)
    return mem_strdup(key);
  const char *rest = line + 1 + strcspn(line + 1, "\n");
  return mem_printf("%.*s%s", (int)(line - key), key, rest);
}

static bool all_shards(const Merging *m) {
  const ShardMark *first = m->marks.items;
  for (size_t i = 0; i < m->marks.len; i++)
    if (!m->marks.items[i].shard.n ||
        m->marks.items[i].shard.n != first->shard.n)
      return false;
  return m->marks.len > 0;
}

static bool has_shard(const Merging *m, unsigned k) {
  for (size_t i = 0; i < m->marks.len; i++)
    if (m->marks.items[i].shard.k == k)
      return true;
  return false;
}

// Are there all shards, and did they share the same tests in the same way?
static void check_shards(Merging *m) {
  const ShardMark *marks = m->marks.items;
  Str *out = &m->merge->warnings;
  if (!all_shards(m))
    return;
  for (unsigned k = 1; k <= marks->shard.n; k++)
    if (!has_shard(m, k))
      str_addf(out,
               "shard %u/%u is missing: its tests are not in the session\n", k,
               marks->shard.n);
  for (size_t i = 1; i < m->marks.len; i++)
    if (marks[i].digest != marks->digest) {
      str_addf(out,
               "%s and %s shared the tests out in different ways (another list "
               "of tests, or other times in their stores): some tests may be "
               "missing\n",
               m->merge->inputs.items[0].path, m->merge->inputs.items[i].path);
      return;
    }
}

// --- an input ---------------------------------------------------------------

static void close_input(Merging *m) {
  store_close(m->in);
  m->in = NULL;
  suite_release(&m->suite);
  m->suite = (Suite){0};
  hashmap_release(&m->hash_of);
  m->hash_of = (Hashmap){0};
  free(m->ids);
  m->ids = NULL;
  for (size_t i = 0; i < m->runs.len; i++)
    run_release(&m->runs.items[i]);
  m->runs.len = 0;
}

static int open_input(Merging *m, size_t i, Err *err) {
  m->input = i;
  if (store_open(&m->in, arg_of(m)->path, STORE_EXISTING, err) ||
      store_load(m->in, 0, &m->suite, err))
    return -1;
  for (size_t k = 0; k < m->suite.nsources; k++)
    hashmap_put(&m->hash_of, m->suite.sources[k].path,
                strlen(m->suite.sources[k].path), k);
  return 0;
}

// --- checking ---------------------------------------------------------------

static int check_tests(Merging *m, Err *err) {
  for (size_t i = 0; i < m->suite.nruns; i++) {
    char *name = test_name(m, m->suite.runs[i].test);
    uint64_t known;
    bool twice = hashmap_get(&m->tests, name, strlen(name), &known);
    hashmap_put(&m->tests, name, strlen(name), 1);
    if (twice)
      err_set(err,
              "%s: test '%s' is in another of these stores, too; NAME=%s "
              "would call it NAME/%s",
              arg_of(m)->path, name, arg_of(m)->path, name);
    free(name);
    if (twice)
      return -1;
  }
  return 0;
}

static int refuse_texts(const Merging *m, const char *path, size_t first,
                        Err *err) {
  return err_set(err,
                 "%s differs between %s and %s; build the programs of both "
                 "from the same sources, and run again",
                 path, m->merge->inputs.items[first].path, arg_of(m)->path);
}

static int check_sources(Merging *m, Err *err) {
  for (size_t i = 0; i < m->suite.nsources; i++) {
    const Source *s = &m->suite.sources[i];
    char *path = places_map(m->merge->places, s->path);
    uint64_t at = hashmap_intern(&m->sources, path, strlen(path), m->known.len);
    if (at == m->known.len)
      array_push(&m->known, (KnownSource){s->hash, m->input});
    KnownSource *known = &m->known.items[at];
    bool other = s->hash && known->hash && s->hash != known->hash;
    if (!known->hash)
      *known = (KnownSource){s->hash, m->input};
    if (other)
      refuse_texts(m, path, known->input, err);
    free(path);
    if (other)
      return -1;
  }
  return 0;
}

static void keep_first(Merging *m, const char *key) {
  m->key = whole_key(key);
  shard_of_command(m->suite.command, m->merge->store, &m->command);
  m->cwd = mem_strdup(m->suite.cwd);
  m->project = mem_strdup(m->suite.project ? m->suite.project : "");
  m->root = mem_strdup(m->suite.root ? m->suite.root : "");
}

static int check_input(Merging *m, Err *err) {
  char *key = store_session_key(m->in, m->suite.session, err);
  if (!key)
    return -1;
  ShardMark mark = mark_of(key);
  array_push(&m->marks, mark);
  if (!m->input)
    keep_first(m, key);
  if (!m->close && *m->suite.close)
    m->close = mem_strdup(m->suite.close);
  free(key);
  if (!m->suite.nruns && !mark.shard.n)
    return err_set(err, "%s: its newest session has no runs", arg_of(m)->path);
  return check_tests(m, err) || check_sources(m, err) ? -1 : 0;
}

// --- units ------------------------------------------------------------------

// *moved: some path is another here.
static Source *copy_sources(Merging *m, const Unit *unit, bool *moved) {
  Source *sources = mem_array(Source, unit->nsources);
  *moved = false;
  for (size_t i = 0; i < unit->nsources; i++) {
    const char *path = unit->sources[i].path;
    uint64_t at;
    if (hashmap_get(&m->hash_of, path, strlen(path), &at))
      sources[i].hash = m->suite.sources[at].hash;
    char *mapped = places_map(m->merge->places, path);
    *moved |= strcmp(mapped, path) != 0;
    sources[i].path = mapped;
  }
  return sources;
}

static int copy_unit(void *ctx, const Unit *unit, const uint32_t *ids,
                     Err *err) {
  Merging *m = ctx;
  bool moved;
  Unit copy = *unit;
  Source *sources = copy_sources(m, unit, &moved);
  copy.sources = sources;
  uint32_t *ours = mem_array(uint32_t, unit->nentities);
  int64_t session = m->merge->session;
  int rc = moved ? store_add_unit(m->out, session, &copy, ours, err)
                 : store_copy_unit(m->out, session, &copy, ours, err);
  for (size_t i = 0; !rc && i < unit->nentities; i++)
    m->ids[ids[i]] = ours[i];
  for (size_t i = 0; i < unit->nsources; i++)
    free((char *)sources[i].path);
  free(sources);
  free(ours);
  return rc ? err_prefix(err, "%s", arg_of(m)->path) : 0;
}

// --- runs -------------------------------------------------------------------

static void begin_runs(Merging *m) {
  for (size_t i = 0; i < m->suite.nruns; i++) {
    const RunInfo *info = &m->suite.runs[i];
    array_push(&m->runs,
               ((Run){.test = test_name(m, info->test),
                      .command = mem_strdup(info->command),
                      .note = info->note ? mem_strdup(info->note) : NULL,
                      .verdict = info->verdict,
                      .status = info->status,
                      .seconds = info->seconds,
                      .imprecise = info->imprecise,
                      .processes = info->has_spectrum}));
  }
}

static void take_failure(void *ctx, size_t run, const Failure *f) {
  Merging *m = ctx;
  array_push(&m->runs.items[run].failures,
             ((Failure){.kind = mem_strdup(f->kind),
                        .message = mem_strdup(f->message),
                        .place = mem_strdup(f->place),
                        .signature = mem_strdup(f->signature),
                        .excerpt = mem_strdup(f->excerpt),
                        .output = mem_strdup(f->output)}));
}

static void take_place(void *ctx, size_t run, const char *signature,
                       const FailurePlace *p) {
  Merging *m = ctx;
  Run *r = &m->runs.items[run];
  for (size_t i = 0; i < r->failures.len; i++)
    if (!strcmp(r->failures.items[i].signature, signature)) {
      array_push(&r->failures.items[i].places,
                 ((FailurePlace){
                     .file = *p->file ? places_map(m->merge->places, p->file)
                                      : mem_strdup(""),
                     .line = p->line,
                     .statement = p->statement,
                     .role = p->role,
                     .what = mem_strdup(p->what),
                     .excerpt = mem_strdup(p->excerpt)}));
      return;
    }
}

// The callers with their files where they are here.
static char *map_callers(Merging *m, const char *callers) {
  Str out = {0};
  DeathCaller c;
  while (death_caller(&callers, &c)) {
    char *file = mem_printf("%.*s", (int)c.file_size, c.file);
    char *mapped = places_map(m->merge->places, file);
    str_addf(&out, "%u %.*s %s\n", c.line, (int)c.function_size, c.function,
             mapped);
    free(mapped);
    free(file);
  }
  return str_take(&out);
}

static void take_death(void *ctx, size_t run, const Death *d) {
  Merging *m = ctx;
  array_push(&m->runs.items[run].deaths,
             ((Death){.file = *d->file ? places_map(m->merge->places, d->file)
                                       : mem_strdup(""),
                      .line = d->line,
                      .function = mem_strdup(d->function),
                      .how = mem_strdup(d->how),
                      .exact = d->exact,
                      .callers = map_callers(m, d->callers),
                      .turns = map_callers(m, d->turns)}));
}

static int by_entity(const void *a, const void *b) {
  const EntityCount *x = a, *y = b;
  return x->entity < y->entity ? -1 : x->entity > y->entity;
}

static void take_counts(Merging *m, const Spectra *spectra, Run *run) {
  for (size_t i = 0; i < spectra->ncounts; i++)
    array_push(&run->counts, ((EntityCount){m->ids[spectra->counts[i].entity],
                                            spectra->counts[i].count}));
  if (run->counts.len)
    qsort(run->counts.items, run->counts.len, sizeof(EntityCount), by_entity);
}

// What a closer look saw is stored as such.
static void translate(const Merging *m, const Spectra *spectra, bool close,
                      Bitset out[ENTITY_KINDS]) {
  for (int k = 0; k < ENTITY_KINDS; k++) {
    out[k] = (Bitset){0};
    for (uint32_t i = 0; !!(CLOSE_KINDS & 1u << k) == close &&
                         bitset_next(&spectra->hits[k], &i);
         i++)
      bitset_add(&out[k], m->ids[i]);
  }
}

static int store_close_hits(Merging *m, const RunInfo *info, const char *test,
                            const Spectra *spectra, Err *err) {
  Bitset hits[ENTITY_KINDS];
  if (info->close == CLOSE_NONE)
    return 0;
  translate(m, spectra, true, hits);
  int rc = store_add_close(m->out, m->merge->session, test, info->close, hits,
                           info->wrong ? info->wrong : "", err);
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&hits[k]);
  return rc;
}

// A verdict without coverage must not replace a run that has some.
static bool is_known(Merging *m, const Run *run) {
  StoreMerge *merge = m->merge;
  if (!merge->add || !store_has_run(m->out, merge->session, run->test))
    return false;
  merge->replaced += run->processes > 0;
  return !run->processes;
}

static int store_run(Merging *m, size_t i, const Spectra *spectra, Err *err) {
  Run *run = &m->runs.items[i];
  if (is_known(m, run))
    return 0;
  translate(m, spectra, false, run->hits);
  take_counts(m, spectra, run);
  int rc = store_add_run(m->out, m->merge->session, run, err);
  return rc ? rc
            : store_close_hits(m, &m->suite.runs[i], run->test, spectra, err);
}

static void take_spectra(void *ctx, size_t run, const Spectra *spectra) {
  Merging *m = ctx;
  m->failed = m->failed || store_run(m, run, spectra, m->err);
  run_release(&m->runs.items[run]);
  m->runs.items[run] = (Run){0};
}

static int copy_runs(Merging *m, Err *err) {
  static const Spectra none;
  unsigned all = ((1u << ENTITY_KINDS) - 1) | STORE_COUNTS;
  begin_runs(m);
  if (store_each_failure(m->in, &m->suite, take_failure, m, err) ||
      store_each_place(m->in, &m->suite, take_place, m, err) ||
      store_each_death(m->in, &m->suite, take_death, m, err))
    return -1;
  for (size_t i = 0; i < m->suite.nruns; i++)
    if (!m->suite.runs[i].has_spectrum && store_run(m, i, &none, err))
      return -1;
  m->err = err;
  m->failed = false;
  if (store_each_spectra(m->in, &m->suite, all, take_spectra, m, err))
    return -1;
  return m->failed ? -1 : 0;
}

static int copy_input(Merging *m, Err *err) {
  m->ids = mem_array(uint32_t, m->suite.nentities);
  if (store_each_unit(m->in, &m->suite, &m->arena, copy_unit, m, err))
    return -1;
  return copy_runs(m, err);
}

// --- all of them ------------------------------------------------------------

typedef int EachInput(Merging *m, Err *err);

static int each_input(Merging *m, EachInput *act, Err *err) {
  for (size_t i = 0; i < m->merge->inputs.len; i++) {
    int rc = open_input(m, i, err);
    rc = rc ? rc : act(m, err);
    close_input(m);
    if (rc)
      return -1;
  }
  return 0;
}

static int begin_session(Merging *m, Err *err) {
  StoreMerge *merge = m->merge;
  bool shards = all_shards(m), continued;
  if (merge->add)
    return session_reopen(m->out, &merge->session, err);
  char *key = mem_printf("merged\n%s", m->key);
  int rc = session_begin(m->out, key, shards ? m->command : merge->command,
                         shards ? m->cwd : merge->cwd, &merge->session,
                         &continued, err);
  free(key);
  if (!rc && shards && *m->project)
    rc = session_set_project(m->out, merge->session, m->project, err);
  if (!rc && shards && *m->root)
    rc = session_set_root(m->out, merge->session, m->root, err);
  if (!rc && m->close)
    rc = session_set_close(m->out, merge->session, m->close, err);
  return rc;
}

static int store_all(Merging *m, Err *err) {
  return begin_session(m, err) || each_input(m, copy_input, err) ||
                 session_finish(m->out, m->merge->session, err)
             ? -1
             : 0;
}

static int merge_stores(Merging *m, Err *err) {
  if (each_input(m, check_input, err))
    return -1;
  check_shards(m);
  if (store_bulk_begin(m->out, err))
    return -1;
  int rc = store_all(m, err);
  return store_bulk_end(m->out, !rc, err) ? -1 : rc;
}

int stores_merge(StoreMerge *merge, Store *out, Err *err) {
  Merging m = {.merge = merge, .out = out};
  merge->session = 0;
  merge->replaced = 0;
  int rc = merge_stores(&m, err);
  hashmap_release(&m.tests);
  hashmap_release(&m.sources);
  array_release(&m.known);
  array_release(&m.marks);
  array_release(&m.runs);
  char *const texts[] = {m.key, m.command, m.cwd, m.project, m.root, m.close};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    free(texts[i]);
  arena_release(&m.arena);
  return rc;
}
