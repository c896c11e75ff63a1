// Slices of failing tests: see slice_runs.h.
#include "look/slice_runs.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  STREAM_MAX = 64 << 20,   // bytes of a recorded run
  INSTRUCTIONS = 20000000, // that are followed
  OUTPUT_MAX = 64 << 20,   // bytes of output that are compared
};

bool slice_runs_possible(const RunOptions *o) {
  return o->reference || o->expect;
}

int slice_runs_open(SliceRuns *s, Runner *runner, const char *program,
                    const char *cache, Err *err) {
  s->runner = runner;
  return slice_program_open(&s->program, program, cache, err);
}

void slice_runs_close(SliceRuns *s) { slice_program_close(&s->program); }

// --- running ----------------------------------------------------------------

// `words`: further variables. Standard output is appended to `out`.
static int run_test(Runner *r, const Test *test, const char *program,
                    char **words, Outcome *outcome, Str *out, Err *err) {
  const RunOptions *o = r->options;
  Arena arena = {0};
  size_t slot;
  char *file = arena_printf(&arena, "%s/slice.out", r->scratch.dir);
  Spawn spawn = {
      .env = test_environment(test, environment_with(words, &arena), &arena),
      .cwd = test->cwd ? test->cwd : o->cwd,
      .out = file,
      .err = arena_printf(&arena, "%s/slice.err", r->scratch.dir),
      .timeout = r->timeout > 0 ? r->timeout : o->timeout,
      .max_output = o->max_output,
      .mark = words[0]};
  runner_confine(r, 0, &spawn, &arena);
  test_prepare(test, program, &arena, &spawn);
  pool_start(r->pool, 0, &spawn);
  PoolEvent event;
  do
    event = pool_wait(r->pool, -1, &slot, outcome);
  while (event == POOL_IDLE);
  int rc = 0;
  if (event == POOL_INTERRUPTED) {
    r->interrupted = true;
    pool_kill_all(r->pool);
    rc = err_set(err, "interrupted");
  } else if (outcome->end == END_UNSTARTED) {
    rc = err_set(err, "%s", outcome->problem);
  } else {
    rc = fs_read(file, OUTPUT_MAX, out, err);
  }
  arena_release(&arena);
  return rc;
}

int expected_output(Runner *r, const Test *test, Str *out, Err *err) {
  const RunOptions *o = r->options;
  if (o->expect) {
    char *path = mem_printf("%s/%u.out", o->expect, test->number);
    int rc = fs_read(path, OUTPUT_MAX, out, err);
    free(path);
    return rc;
  }
  if (!o->reference)
    return err_set(err,
                   "test %s: it is not known what it should print; "
                   "--reference or --expect says so",
                   test->name);
  Outcome outcome;
  char *mark = mem_printf("CULPRIT_SECOND=%s", r->scratch.dir);
  int rc = run_test(r, test, o->reference, (char *[]){mark, NULL}, &outcome,
                    out, err);
  free(mark);
  return rc;
}

int slice_runs_one(SliceRuns *s, const Test *test, OutputSlice *out, Err *err) {
  Runner *r = s->runner;
  Str actual = {0}, expected = {0};
  char *dir = mem_printf("%s/slice", r->scratch.dir);
  char *mark = mem_printf("CULPRIT_TRACE=%s", dir);
  char *most = mem_printf("CULPRIT_TRACE_MAX=%d", STREAM_MAX);
  Outcome outcome = {0};
  *out = (OutputSlice){0};
  int rc = expected_output(r, test, &expected, err);
  if (!rc)
    rc = dir_make_empty(dir, err);
  if (!rc)
    rc = run_test(r, test, s->program.build.program,
                  (char *[]){mark, most, NULL}, &outcome, &actual, err);
  SlicedRun run = {.traces = dir,
                   .actual = str_text(&actual),
                   .nactual = actual.len,
                   .expected = str_text(&expected),
                   .nexpected = expected.len,
                   .killed = !rc && outcome.end == END_TIMEOUT,
                   .most = INSTRUCTIONS};
  if (!rc)
    rc = output_slice(&s->program, &run, out, err);
  fs_remove_tree(dir);
  str_release(&actual);
  str_release(&expected);
  free(dir);
  free(mark);
  free(most);
  return rc;
}

// --- entities ---------------------------------------------------------------

// A unit of what was found: for each line its statement, and the slice behind
// it.
typedef struct {
  Hashmap sources, lines;
  ARRAY(Source) files;
  ARRAY(Entity) entities;
} SliceUnit;

static uint32_t add_source(SliceUnit *u, const char *path) {
  uint64_t n = hashmap_intern(&u->sources, path, strlen(path), u->files.len);
  if (n == u->files.len)
    array_push(&u->files, (Source){.path = path});
  return (uint32_t)n;
}

// Returns the number of the slice entity.
static uint32_t add_line(SliceUnit *u, const SliceLine *l) {
  uint32_t key[2] = {add_source(u, l->source), l->line};
  uint32_t at = (uint32_t)u->entities.len;
  uint64_t n = hashmap_intern(&u->lines, key, sizeof key, at + 1);
  if (n != at + 1)
    return (uint32_t)n;
  Entity e = {.kind = ENTITY_STATEMENT,
              .source = key[0],
              .line = key[1],
              .function = ENTITY_NONE,
              .from = ENTITY_NONE,
              .to = ENTITY_NONE};
  array_push(&u->entities, e);
  e.kind = ENTITY_SLICE;
  e.from = at;
  e.index = at / 2;
  array_push(&u->entities, e);
  return at + 1;
}

static int store_unit(Store *store, int64_t session, const SliceUnit *u,
                      uint32_t *ids, Err *err) {
  Unit unit = {.name = "slices",
               .sources = u->files.items,
               .nsources = u->files.len,
               .entities = u->entities.items,
               .nentities = u->entities.len};
  return store_add_unit(store, session, &unit, ids, err);
}

int slice_hits(Store *store, int64_t session, const OutputSlice *slices,
               size_t n, Bitset *hits, Err *err) {
  SliceUnit u = {0};
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < slices[i].lines.len; k++)
      add_line(&u, &slices[i].lines.items[k]);
  uint32_t *ids = mem_array(uint32_t, u.entities.len + 1);
  int rc = u.entities.len ? store_unit(store, session, &u, ids, err) : 0;
  for (size_t i = 0; !rc && i < n; i++)
    for (size_t k = 0; k < slices[i].lines.len; k++)
      bitset_add(&hits[i], ids[add_line(&u, &slices[i].lines.items[k])]);
  free(ids);
  hashmap_release(&u.sources);
  hashmap_release(&u.lines);
  array_release(&u.files);
  array_release(&u.entities);
  return rc;
}
