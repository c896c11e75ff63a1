// Runs the inputs of a search natively: see search.h. search_round.c makes
// them.
#include "input/search.h"

#include <stdlib.h>
#include <string.h>

#include "input/made.h"
#include "input/search_internal.h"
#include "run/batch.h"
#include "run/test_context.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

// --- natively ---------------------------------------------------------------

// The first failure is the one to be explained.
static void take_failure(InputSearch *s, const Run *run) {
  const Failure *f = &run->failures.items[0];
  s->signature = mem_strdup(f->signature);
  s->message = mem_strdup(f->message);
  s->vague = !strcmp(f->kind, "exit");
  s->varies = run_note_varies(run->note);
}

static bool shows_failure(const InputSearch *s, const Run *run) {
  for (size_t i = 0; i < run->failures.len && s->signature; i++)
    if (s->varies || !strcmp(run->failures.items[i].signature, s->signature))
      return true;
  return false;
}

static void note_judged(void *context, const Run *run) {
  InputSearch *s = context;
  bool fresh = screen_note(&s->screen, run);
  for (size_t i = 0; s->batch && i < s->batch->n; i++) {
    if (strcmp(s->batch->tests[i].name, run->test) != 0)
      continue;
    if (!s->note && run->note)
      s->note = mem_strdup(run->note);
    if (!s->signature && run->verdict == VERDICT_FAIL && run->failures.len)
      take_failure(s, run);
    s->batch->results[i] =
        (InputResult){run->verdict, run->status, shows_failure(s, run), fresh};
  }
}

double search_count_time(double *sum, double start) {
  double now = clock_now();
  *sum += now - start;
  return now;
}

int search_run_again(void *unused, Runner *r, Err *err) {
  (void)unused;
  Arena arena = {0};
  ARRAY(Test) tests = {0};
  int rc = runner_begin(r, "input", err);
  for (size_t i = 0; !rc && i < r->contexts.len; i++)
    if (!runner_is_done(r, r->contexts.items[i].test))
      array_push(&tests, test_context_read(&r->contexts.items[i], &arena));
  batch_order(r, tests.items, tests.len);
  if (!rc)
    rc = batch_run(r, tests.items, tests.len, err);
  array_release(&tests);
  arena_release(&arena);
  return rc;
}

static int write_test(InputSearch *s, const char *prefix, const Inputs *in,
                      MadeBatch *b, size_t i, Err *err) {
  char *name = arena_printf(&b->arena, "%s%u", prefix, s->number++);
  char *dir = arena_printf(&b->arena, "%s/%s", s->options.dir, name);
  Str line = {0};
  int rc = made_write(in, &s->original, dir, &line, err);
  b->tests[i] = (Test){.name = name,
                       .number = s->number - 1,
                       .line = arena_strdup(&b->arena, str_text(&line)),
                       .env = made_environment(in, &b->arena)};
  test_context_keep(s->runner, &b->tests[i]);
  b->results[i].verdict = VERDICT_ERROR;
  str_release(&line);
  return rc;
}

int made_batch_write(InputSearch *s, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err) {
  double start = clock_now();
  int rc = 0;
  *b = (MadeBatch){.n = n};
  b->tests = arena_array(&b->arena, Test, n);
  b->results = arena_array(&b->arena, InputResult, n);
  for (size_t i = 0; !rc && i < n; i++)
    rc = write_test(s, prefix, &inputs[i], b, i, err);
  search_count_time(&s->stats.writing, start);
  return rc;
}

int made_batch_run(InputSearch *s, MadeBatch *b, Err *err) {
  double start = clock_now();
  s->batch = b;
  s->runner->total = s->runner->finished + b->n;
  int rc = batch_run(s->runner, b->tests, b->n, err);
  s->batch = NULL;
  search_count_time(&s->stats.running, start);
  return rc;
}

static int run_batch(InputSearch *s, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err) {
  if (made_batch_write(s, prefix, inputs, n, b, err))
    return -1;
  return made_batch_run(s, b, err);
}

int search_run_inputs(InputSearch *s, const char *prefix, const Inputs *inputs,
                      size_t n, InputResult *results, Err *err) {
  MadeBatch b;
  int rc = run_batch(s, prefix, inputs, n, &b, err);
  for (size_t i = 0; !rc && i < n; i++)
    results[i] = b.results[i];
  arena_release(&b.arena);
  return rc;
}

bool search_goes_on(const InputSearch *s) {
  return !s->runner->interrupted && clock_now() - s->start < s->options.seconds;
}

// --- opening ----------------------------------------------------------------

int search_open(InputSearch *s, Runner *runner, const SearchOptions *o,
                Err *err) {
  *s = (InputSearch){.options = *o, .runner = runner, .start = clock_now()};
  runner->judged = note_judged;
  runner->judged_context = s;
  if (recorder_open(&s->recorder, runner, o->program, o->cache, err))
    return -1;
  s->start = search_count_time(&s->stats.building, s->start);
  frontier_init(&s->frontier, &s->recorder.program, o->strategy);
  s->frontier.parts = o->parts;
  s->screen = (Screen){.runner = runner, .program = o->program};
  s->screen.dir = s->screen_dir = mem_printf("%s/screen", o->dir);
  mutator_add_constants(&s->mutator, &s->recorder.program);
  s->frontier.deadline = s->start + o->seconds;
  return 0;
}

void search_close(InputSearch *s) {
  s->runner->judged = NULL;
  frontier_release(&s->frontier);
  recorder_close(&s->recorder);
  inputs_release(&s->given);
  inputs_release(&s->original);
  for (size_t i = 0; i < s->trials.len; i++)
    inputs_release(&s->trials.items[i].inputs);
  array_release(&s->trials);
  for (size_t i = 0; i < s->losses.len; i++)
    free(s->losses.items[i].name);
  array_release(&s->losses);
  mutator_release(&s->mutator);
  screen_release(&s->screen);
  for (size_t i = s->next_find; i < s->finds.len; i++)
    inputs_release(&s->finds.items[i]);
  array_release(&s->finds);
  if (s->screen_dir)
    fs_remove_tree(s->screen_dir);
  free(s->screen_dir);
  free(s->signature);
  free(s->message);
  free(s->problem);
  free(s->note);
}

static GivenResult given_result(Verdict verdict) {
  switch (verdict) {
  case VERDICT_FAIL:
    return GIVEN_FAILS;
  case VERDICT_PASS:
    return GIVEN_PASSES;
  case VERDICT_FLAKY:
    return GIVEN_FLAKY;
  default:
    return GIVEN_ERROR;
  }
}

int search_run_given(InputSearch *s, const Inputs *in, GivenResult *result,
                     Err *err) {
  MadeBatch b;
  inputs_copy(&s->original, in);
  inputs_copy(&s->given, in);
  int rc = run_batch(s, "given", in, 1, &b, err);
  if (!rc)
    *result = given_result(b.results[0].verdict);
  s->status = rc ? 0 : b.results[0].status;
  arena_release(&b.arena);
  return rc;
}
