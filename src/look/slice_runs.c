// Slices of failing runs: see slice_runs.h.
#include "look/slice_runs.h"

#include <stdlib.h>
#include <string.h>

#include "model/wrong_byte.h"
#include "run/test_context.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  STREAM_MAX = 64 << 20,   // bytes of a recorded run
  INSTRUCTIONS = 20000000, // that are followed
  OUTPUT_MAX = 64 << 20,   // bytes of output that are compared
};

bool slices_possible(const RunOptions *o) {
  return o->exe && !o->scratch && (o->reference || o->expect);
}

// --- running ----------------------------------------------------------------

// `words`: further variables. Standard output is appended to `out`.
static int run_test(Runner *r, const Test *test, const char *program,
                    char **words, double timeout, Outcome *outcome, Str *out,
                    Err *err) {
  const RunOptions *o = r->options;
  Arena arena = {0};
  size_t slot;
  char *file = arena_printf(&arena, "%s/slice.out", r->scratch.dir);
  Spawn spawn = {
      .env = test_environment(test, environment_with(words, &arena), &arena),
      .cwd = test->cwd ? test->cwd : o->cwd,
      .out = file,
      .err = arena_printf(&arena, "%s/slice.err", r->scratch.dir),
      .timeout = timeout,
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

int expected_output(Runner *r, const Test *test, double timeout, Str *out,
                    Err *err) {
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
  int rc = run_test(r, test, o->reference, (char *[]){mark, NULL}, timeout,
                    &outcome, out, err);
  free(mark);
  return rc;
}

static int slice_test(SliceProgram *p, Runner *r, const Test *test,
                      double timeout, OutputSlice *out, Err *err) {
  Str actual = {0}, expected = {0};
  char *dir = mem_printf("%s/slice", r->scratch.dir);
  char *mark = mem_printf("CULPRIT_TRACE=%s", dir);
  char *most = mem_printf("CULPRIT_TRACE_MAX=%d", STREAM_MAX);
  Outcome outcome = {0};
  *out = (OutputSlice){0};
  int rc = expected_output(r, test, timeout, &expected, err);
  if (!rc)
    rc = dir_make_empty(dir, err);
  if (!rc)
    rc = run_test(r, test, p->build.program, (char *[]){mark, most, NULL},
                  timeout, &outcome, &actual, err);
  SlicedRun run = {.traces = dir,
                   .actual = str_text(&actual),
                   .nactual = actual.len,
                   .expected = str_text(&expected),
                   .nexpected = expected.len,
                   .killed = !rc && outcome.end == END_TIMEOUT,
                   .most = INSTRUCTIONS};
  if (!rc)
    rc = output_slice(p, &run, out, err);
  fs_remove_tree(dir);
  str_release(&actual);
  str_release(&expected);
  free(dir);
  free(mark);
  free(most);
  return rc;
}

// --- the runs of a look ------------------------------------------------------

static void add_hits(FoundUnit *found, const OutputSlice *s, Bitset *hits) {
  for (size_t i = 0; i < s->lines.len; i++) {
    uint32_t number;
    if (found_statement(found, s->lines.items[i].source, s->lines.items[i].line,
                        &number))
      bitset_add(hits, number);
  }
}

static void keep_wrong_byte(const OutputSlice *s, FoundRun *run) {
  WrongByte b = {.offset = s->offset,
                 .expected = s->expected,
                 .printed = s->printed,
                 .source = s->source,
                 .line = s->line};
  Str text = {0};
  wrong_byte_write(&b, s->by, &text);
  free(run->wrong);
  run->wrong = str_take(&text);
}

static void note_once(SliceResult *out, const char *test, const char *text) {
  if (!out->note && *text)
    out->note = mem_printf("test %s: %s", test, text);
}

// The tests of the session: those of its file, or those that were made.
static int read_tests(const Runner *r, Testfile *f, Err *err) {
  const RunOptions *o = r->options;
  if (o->tests) {
    char *prefix =
        o->add ? mem_printf("%s:", path_base(o->tests)) : mem_strdup("");
    int rc = testfile_read(f, o->tests, prefix, err);
    free(prefix);
    return rc;
  }
  *f = (Testfile){.ntests = r->contexts.len};
  f->tests = arena_array(&f->arena, Test, f->ntests + 1);
  for (size_t i = 0; i < f->ntests; i++)
    f->tests[i] = test_context_read(&r->contexts.items[i], &f->arena);
  return 0;
}

static const Test *find_test(const Testfile *f, const char *name) {
  for (size_t i = 0; i < f->ntests; i++)
    if (!strcmp(f->tests[i].name, name))
      return &f->tests[i];
  return NULL;
}

static void slice_run(const SliceOptions *o, SliceProgram *p, Runner *r,
                      const Test *test, FoundUnit *found, FoundRun *run,
                      SliceResult *out) {
  OutputSlice s;
  Err err = {0};
  double timeout = o->limit(o->context, test->name, r->timeout);
  int rc = slice_test(p, r, test, timeout, &s, &err);
  out->tried += rc || !s.right;
  if (rc) {
    note_once(out, test->name, err.text);
  } else if (!s.right) {
    note_once(out, test->name, s.note ? s.note : "");
    out->sliced += s.found;
    if (s.found)
      keep_wrong_byte(&s, run);
    add_hits(found, &s, &run->hits[ENTITY_SLICE]);
  }
  output_slice_release(&s);
}

void slice_failing(const SliceOptions *o, Runner *r, FoundUnit *found,
                   FoundRun *const *runs, size_t n, SliceResult *out) {
  Testfile f = {0};
  SliceProgram p;
  Err err = {0};
  *out = (SliceResult){0};
  if (slice_program_open(&p, r->options->exe, o->cache, &err) ||
      read_tests(r, &f, &err))
    out->note = mem_strdup(err.text);
  for (size_t i = 0; i < n && i < SLICES_MOST && f.ntests && !r->interrupted &&
                     o->go_on(o->context);
       i++) {
    const Test *test = find_test(&f, runs[i]->test);
    if (test)
      slice_run(o, &p, r, test, found, runs[i], out);
  }
  slice_program_close(&p);
  testfile_release(&f);
}
