// Makes tests near a failing run: see explore.h. This half runs inputs
// natively; explore_round.c finds them.
#include "input/explore.h"

#include <stdlib.h>
#include <string.h>

#include "input/explore_internal.h"
#include "input/made.h"
#include "process/process.h"
#include "run/batch.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/str.h"

// --- natively ---------------------------------------------------------------

static void note_judged(void *context, const Run *run) {
  Explorer *e = context;
  for (size_t i = 0; i < e->njudged; i++) {
    struct Judged *j = &e->judged[i];
    if (strcmp(j->test, run->test) != 0)
      continue;
    j->done = true;
    j->verdict = run->verdict;
    if (!e->note && run->note)
      e->note = mem_strdup(run->note);
    for (size_t k = 0; k < run->failures.len && e->signature; k++)
      j->shows |=
          e->varies || !strcmp(run->failures.items[k].signature, e->signature);
    if (!e->signature && run->verdict == VERDICT_FAIL && run->failures.len) {
      e->signature = mem_strdup(run->failures.items[0].signature);
      e->message = mem_strdup(run->failures.items[0].message);
      e->vague = !strcmp(run->failures.items[0].kind, "exit");
      e->varies = run_note_varies(run->note);
      j->shows = true;
    }
  }
}

double explore_count_time(double *sum, double start) {
  double now = clock_now();
  *sum += now - start;
  return now;
}

static int write_test(Explorer *e, const char *prefix, const Inputs *in,
                      MadeBatch *b, size_t i, Err *err) {
  char *name = arena_printf(&b->arena, "%s%u", prefix, e->number++);
  char *dir = arena_printf(&b->arena, "%s/%s", e->options.dir, name);
  Str line = {0};
  int rc = made_write(in, &e->original, dir, &line, err);
  b->tests[i] = (Test){.name = name,
                       .number = e->number - 1,
                       .line = arena_strdup(&b->arena, str_text(&line)),
                       .env = made_environment(in, &b->arena)};
  b->judged[i] = (struct Judged){.test = name};
  str_release(&line);
  return rc;
}

int made_batch_write(Explorer *e, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err) {
  double start = clock_now();
  int rc = 0;
  *b = (MadeBatch){.n = n};
  b->tests = arena_array(&b->arena, Test, n);
  b->judged = arena_array(&b->arena, struct Judged, n);
  for (size_t i = 0; !rc && i < n; i++)
    rc = write_test(e, prefix, &inputs[i], b, i, err);
  explore_count_time(&e->stats.writing, start);
  return rc;
}

int made_batch_run(Explorer *e, MadeBatch *b, Err *err) {
  double start = clock_now();
  e->judged = b->judged;
  e->njudged = b->n;
  e->runner->total = e->runner->finished + b->n;
  int rc = batch_run(e->runner, b->tests, b->n, err);
  e->njudged = 0;
  explore_count_time(&e->stats.running, start);
  return rc;
}

static int run_batch(Explorer *e, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err) {
  if (made_batch_write(e, prefix, inputs, n, b, err))
    return -1;
  return made_batch_run(e, b, err);
}

int explore_run(Explorer *e, const char *prefix, const Inputs *inputs, size_t n,
                bool *shows, Err *err) {
  MadeBatch b;
  int rc = run_batch(e, prefix, inputs, n, &b, err);
  for (size_t i = 0; !rc && i < n; i++)
    shows[i] = b.judged[i].shows;
  arena_release(&b.arena);
  return rc;
}

bool explore_goes_on(const Explorer *e) {
  return !e->runner->interrupted && clock_now() - e->start < e->options.seconds;
}

// --- opening ----------------------------------------------------------------

int explore_open(Explorer *e, Runner *runner, const ExploreOptions *o,
                 Err *err) {
  *e = (Explorer){.options = *o, .runner = runner, .start = clock_now()};
  runner->judged = note_judged;
  runner->judged_context = e;
  if (recorder_open(&e->recorder, runner, o->program, o->cache, err))
    return -1;
  frontier_init(&e->frontier, &e->recorder.program, o->strategy);
  e->frontier.deadline = e->start + o->seconds;
  return 0;
}

void explore_close(Explorer *e) {
  e->runner->judged = NULL;
  frontier_release(&e->frontier);
  recorder_close(&e->recorder);
  inputs_release(&e->given);
  inputs_release(&e->original);
  for (size_t i = 0; i < e->trials.len; i++)
    inputs_release(&e->trials.items[i].inputs);
  array_release(&e->trials);
  for (size_t i = 0; i < e->losses.len; i++)
    free(e->losses.items[i].name);
  array_release(&e->losses);
  free(e->signature);
  free(e->message);
  free(e->problem);
  free(e->note);
}

static GivenResult given_result(const struct Judged *j) {
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

int explore_given(Explorer *e, const Inputs *in, GivenResult *result,
                  Err *err) {
  MadeBatch b;
  inputs_copy(&e->original, in);
  inputs_copy(&e->given, in);
  int rc = run_batch(e, "given", in, 1, &b, err);
  if (!rc)
    *result = b.judged[0].done ? given_result(&b.judged[0]) : GIVEN_ERROR;
  arena_release(&b.arena);
  return rc;
}
