// Runs the inputs of a search natively: see search.h. search_round.c makes
// them.
#include "input/search.h"

#include <stdlib.h>
#include <string.h>

#include "input/made.h"
#include "input/search_internal.h"
#include "process/process.h"
#include "run/batch.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/str.h"

// --- natively ---------------------------------------------------------------

static void note_judged(void *context, const Run *run) {
  InputSearch *s = context;
  for (size_t i = 0; i < s->njudged; i++) {
    struct JudgedTest *j = &s->judged[i];
    if (strcmp(j->test, run->test) != 0)
      continue;
    j->done = true;
    j->verdict = run->verdict;
    if (!s->note && run->note)
      s->note = mem_strdup(run->note);
    for (size_t k = 0; k < run->failures.len && s->signature; k++)
      j->shows |=
          s->varies || !strcmp(run->failures.items[k].signature, s->signature);
    if (!s->signature && run->verdict == VERDICT_FAIL && run->failures.len) {
      s->signature = mem_strdup(run->failures.items[0].signature);
      s->message = mem_strdup(run->failures.items[0].message);
      s->vague = !strcmp(run->failures.items[0].kind, "exit");
      s->varies = run_note_varies(run->note);
      j->shows = true;
    }
  }
}

double search_count_time(double *sum, double start) {
  double now = clock_now();
  *sum += now - start;
  return now;
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
  b->judged[i] = (struct JudgedTest){.test = name};
  str_release(&line);
  return rc;
}

int made_batch_write(InputSearch *s, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err) {
  double start = clock_now();
  int rc = 0;
  *b = (MadeBatch){.n = n};
  b->tests = arena_array(&b->arena, Test, n);
  b->judged = arena_array(&b->arena, struct JudgedTest, n);
  for (size_t i = 0; !rc && i < n; i++)
    rc = write_test(s, prefix, &inputs[i], b, i, err);
  search_count_time(&s->stats.writing, start);
  return rc;
}

int made_batch_run(InputSearch *s, MadeBatch *b, Err *err) {
  double start = clock_now();
  s->judged = b->judged;
  s->njudged = b->n;
  s->runner->total = s->runner->finished + b->n;
  int rc = batch_run(s->runner, b->tests, b->n, err);
  s->njudged = 0;
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
                      size_t n, bool *shows, Err *err) {
  MadeBatch b;
  int rc = run_batch(s, prefix, inputs, n, &b, err);
  for (size_t i = 0; !rc && i < n; i++)
    shows[i] = b.judged[i].shows;
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
  frontier_init(&s->frontier, &s->recorder.program, o->strategy);
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
  free(s->signature);
  free(s->message);
  free(s->problem);
  free(s->note);
}

static GivenResult given_result(const struct JudgedTest *j) {
  switch (j->verdict) {
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
    *result = b.judged[0].done ? given_result(&b.judged[0]) : GIVEN_ERROR;
  arena_release(&b.arena);
  return rc;
}
