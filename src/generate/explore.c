// Makes tests near a failing run: see explore.h.
#include "generate/explore.h"

#include <stdlib.h>
#include <string.h>

#include "generate/made.h"
#include "locate/snapshot.h"
#include "run/batch.h"
#include "run/process.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  BATCH_MAX = 64,
  ROUND = 4,                   // tests per job in one round
  INSTRUCTIONS_MAX = 40000000, // of one run; what follows is not flipped
  SOLVED_IN_VAIN = 200000      // candidates without an input in a row
};
static const size_t memory_max = (size_t)3 << 29; // 1.5 GB of expressions

// How one test of a batch ended.
struct Judged {
  char *test;
  Verdict verdict;
  bool shows;
  bool done;
};

// --- natively ---------------------------------------------------------------

static void note_judged(void *context, const Run *run) {
  Explorer *e = context;
  for (size_t i = 0; i < e->njudged; i++) {
    struct Judged *j = &e->judged[i];
    if (strcmp(j->test, run->test) != 0)
      continue;
    j->done = true;
    j->verdict = run->verdict;
    for (size_t k = 0; k < run->failures.len && e->signature; k++)
      j->shows |= !strcmp(run->failures.items[k].signature, e->signature);
    if (!e->signature && run->verdict == VERDICT_FAIL && run->failures.len) {
      e->signature = mem_strdup(run->failures.items[0].signature);
      e->message = mem_strdup(run->failures.items[0].message);
      j->shows = true;
    }
  }
}

// One batch: inputs as tests, in files and in memory.
typedef struct {
  Test *tests;
  char **lines;
  struct Judged *judged;
  size_t n;
  Arena arena;
} MadeBatch;

static int write_tests(Explorer *e, const char *prefix, const Inputs *inputs,
                       MadeBatch *b, Err *err) {
  for (size_t i = 0; i < b->n; i++) {
    char *name = arena_printf(&b->arena, "%s%u", prefix, e->number++);
    char *dir = arena_printf(&b->arena, "%s/%s", e->options.dir, name);
    Str line = {0};
    int rc = made_write(&inputs[i], &e->original, dir, &line, err);
    b->lines[i] = arena_strdup(&b->arena, str_text(&line));
    str_release(&line);
    if (rc)
      return -1;
    b->tests[i] = (Test){.name = name,
                         .number = e->number - 1,
                         .line = b->lines[i],
                         .env = made_environment(&inputs[i], &b->arena)};
    b->judged[i] = (struct Judged){.test = name};
  }
  return 0;
}

// Adds the time since `start`; returns the present.
static double count_time(double *sum, double start) {
  double now = clock_now();
  *sum += now - start;
  return now;
}

static int run_batch(Explorer *e, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err) {
  *b = (MadeBatch){.n = n};
  b->tests = arena_array(&b->arena, Test, n);
  b->lines = arena_array(&b->arena, char *, n);
  b->judged = arena_array(&b->arena, struct Judged, n);
  double start = clock_now();
  if (write_tests(e, prefix, inputs, b, err))
    return -1;
  start = count_time(&e->stats.writing, start);
  e->judged = b->judged;
  e->njudged = n;
  e->runner->total = e->runner->finished + n;
  int rc = batch_run(e->runner, b->tests, n, err);
  e->njudged = 0;
  count_time(&e->stats.running, start);
  return rc;
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
  return 0;
}

void explore_close(Explorer *e) {
  e->runner->judged = NULL;
  frontier_release(&e->frontier);
  recorder_close(&e->recorder);
  inputs_release(&e->given);
  inputs_release(&e->original);
  for (size_t i = 0; i < e->losses.len; i++)
    free(e->losses.items[i].name);
  array_release(&e->losses);
  free(e->signature);
  free(e->message);
  free(e->problem);
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

// --- symbolically -----------------------------------------------------------

static void note_edge(void *context, uint32_t branch, uint32_t edge) {
  Frontier *f = context;
  bitset_add(&f->covered, f->program->branches.items[branch].first_edge + edge);
}

static void add_loss(Explorer *e, const PathLoss *loss) {
  for (size_t i = 0; i < e->losses.len; i++) {
    if (!strcmp(e->losses.items[i].name, loss->name)) {
      e->losses.items[i].count += loss->count;
      return;
    }
  }
  array_push(&e->losses, (Loss){mem_strdup(loss->name), loss->count});
}

static void note_problem(Explorer *e, const char *text) {
  e->stats.unreplayed++;
  free(e->problem);
  e->problem = mem_strdup(text);
}

// Replays number i of what was recorded. False: it cannot be.
static bool replay_one(Explorer *e, size_t i, const char *test,
                       const Inputs *in, bool shows, Explored *out) {
  Err problem = {0};
  Inputs read = {0}; // under the names it was read
  char *dir = mem_printf("%s/%s", e->options.dir, test);
  inputs_copy(&read, in);
  made_rename(&read, &e->original, dir);
  free(dir);
  double start = clock_now();
  *out = (Explored){.shows = shows, .pool = expr_pool_new()};
  ReplayOptions options = {.max_instructions = INSTRUCTIONS_MAX,
                           .observer = note_edge,
                           .context = &e->frontier};
  int rc = recorder_replay(&e->recorder, i, &read, out->pool, &options,
                           &out->path, &problem);
  inputs_release(&read);
  e->stats.replaying += clock_now() - start;
  if (rc) {
    note_problem(e, problem.text);
    path_release(&out->path);
    expr_pool_free(out->pool);
    return false;
  }
  inputs_copy(&out->inputs, in);
  e->stats.false_conditions += out->path.stats.false_conditions;
  for (size_t k = 0; k < out->path.stats.losses.len; k++)
    add_loss(e, &out->path.stats.losses.items[k]);
  return true;
}

// Gives the oldest runs' expressions back when they take too much memory;
// their candidates can no longer be solved.
static void bound_memory(Frontier *f) {
  size_t bytes = 0;
  for (size_t i = f->runs.len; i-- > 0;) {
    Explored *run = &f->runs.items[i];
    if (!run->solver)
      continue;
    bytes += expr_pool_bytes(run->pool);
    if (bytes <= memory_max || i + 1 == f->runs.len)
      continue;
    solver_free(run->solver);
    expr_pool_free(run->pool);
    run->solver = NULL;
    run->pool = NULL;
  }
}

// --- the loop ---------------------------------------------------------------

typedef struct {
  Candidate candidates[BATCH_MAX];
  Inputs inputs[BATCH_MAX];
  bool from_candidate;
  size_t n;
} Round;

static void count_verdict(Explorer *e, const struct Judged *j) {
  e->stats.tests++;
  e->stats.same += j->shows;
  e->stats.passing += j->verdict == VERDICT_PASS;
  e->stats.others += !j->shows && j->verdict != VERDICT_PASS;
}

static void confirm(Explorer *e, const Candidate *c, const Explored *run) {
  size_t at;
  if (frontier_confirms(&e->frontier, c, run, &at))
    e->stats.confirmed++;
  else
    e->stats.diverged++;
}

// Runs, records and replays the inputs of a round, and adds what came of it.
static int run_round(Explorer *e, Round *r, Err *err) {
  MadeBatch b;
  bool more_shows = false;
  int rc = run_batch(e, r->from_candidate ? "made" : "start", r->inputs, r->n,
                     &b, err);
  double start = clock_now();
  if (!rc && !e->runner->interrupted)
    rc = recorder_record(&e->recorder, b.tests, r->n, err);
  count_time(&e->stats.recording, start);
  for (size_t i = 0; !rc && !e->runner->interrupted && i < r->n; i++) {
    Explored run;
    count_verdict(e, &b.judged[i]);
    if (!replay_one(e, i, b.tests[i].name, &r->inputs[i], b.judged[i].shows,
                    &run))
      continue;
    run.given = !r->from_candidate;
    if (r->from_candidate)
      confirm(e, &r->candidates[i], &run);
    more_shows |= run.shows;
    start = clock_now();
    frontier_add(&e->frontier, &run);
    count_time(&e->stats.choosing, start);
  }
  bound_memory(&e->frontier);
  start = clock_now();
  if (more_shows && r->from_candidate)
    frontier_rescore(&e->frontier);
  count_time(&e->stats.choosing, start);
  arena_release(&b.arena);
  return rc;
}

static void release_round(Round *r) {
  for (size_t i = 0; i < r->n; i++)
    inputs_release(&r->inputs[i]);
  r->n = 0;
}

// Takes candidates until there are enough with an input. False: no more.
static bool fill_round(Explorer *e, Round *r) {
  size_t jobs = (size_t)e->runner->options->jobs, vain = 0;
  size_t want = jobs > 1 ? ROUND * jobs : 1; // so that nobody waits
  size_t left = e->options.max_tests - e->stats.tests;
  want = want > BATCH_MAX ? BATCH_MAX : want > left ? left : want;
  double start = clock_now();
  r->from_candidate = true;
  while (r->n < want && explore_goes_on(e) && vain < SOLVED_IN_VAIN &&
         frontier_pop(&e->frontier, &r->candidates[r->n])) {
    SolverResult result =
        frontier_solve(&e->frontier, &r->candidates[r->n], &r->inputs[r->n]);
    e->stats.queries++;
    e->stats.unsat += result == SOLVER_UNSAT;
    e->stats.unknown += result == SOLVER_UNKNOWN;
    vain = result == SOLVER_SAT ? 0 : vain + 1;
    r->n += result == SOLVER_SAT;
  }
  e->stats.solving += clock_now() - start;
  return r->n > 0;
}

// The lines that tie for the first place now, for strategies that ask.
static int find_suspects(Explorer *e, Err *err) {
  Snapshot now;
  if (!e->options.strategy->wants_suspects)
    return 0;
  int rc =
      snapshot_take(&now, e->runner->store, e->runner->session, "ochiai", err);
  if (!rc && now.ranked)
    frontier_take_suspects(&e->frontier, &now.suite, &now.ranking);
  snapshot_release(&now);
  return rc;
}

// --- starting points --------------------------------------------------------

static void empty_input(const Inputs *given, Inputs *out) {
  inputs_copy(out, given);
  for (size_t i = 0; i < out->sources.len; i++)
    inputs_resize(out, i, 0, 0);
}

static int start_from(Explorer *e, const Inputs *in, Err *err) {
  Round r = {.n = 1};
  inputs_copy(&r.inputs[0], in);
  int rc = run_round(e, &r, err);
  release_round(&r);
  return rc;
}

int explore_seed(Explorer *e, const Inputs *in, Err *err) {
  return start_from(e, in, err);
}

static int add_start(Explorer *e, Err *err) {
  Inputs empty = {0};
  if (!e->options.strategy->from_empty)
    return start_from(e, &e->given, err);
  empty_input(&e->given, &empty);
  int rc = start_from(e, &empty, err);
  inputs_release(&empty);
  return rc;
}

static int after_round(Explorer *e, Err *err) {
  e->stats.seconds = clock_now() - e->start;
  if (find_suspects(e, err))
    return -1;
  return e->options.after ? e->options.after(e->options.context, e, err) : 0;
}

int explore_near(Explorer *e, Err *err) {
  Round *r = mem_new(Round);
  int rc = add_start(e, err);
  if (!rc)
    rc = after_round(e, err);
  while (!rc && explore_goes_on(e) && e->stats.tests < e->options.max_tests &&
         fill_round(e, r)) {
    rc = run_round(e, r, err);
    release_round(r);
    if (!rc)
      rc = after_round(e, err);
  }
  release_round(r);
  free(r);
  e->stats.seconds = clock_now() - e->start;
  return rc;
}
