// Makes tests near a failing run: see explore.h. Tests are made in rounds: take
// candidates and solve for their inputs, run and record those, replay them, add
// what came of it to the frontier.
//
// With one job a round is one test, and its result is known before the next
// candidate is chosen. With more jobs a round has ROUND tests per job, and two
// things happen at once:
//
//   main thread    runs and records round k
//   thinker        replays round k - 1, adds it, chooses and writes round k + 1
//
// Replaying is shared among as many threads as there are jobs. Runs are added
// in the order in which they were made, so that the same number of jobs makes
// the same tests again, as far as the time goes.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "input/explore_internal.h"
#include "input/made.h"
#include "locate/current_ranking.h"
#include "process/process.h"
#include "util/clock.h"
#include "util/mem.h"

enum {
  BATCH_MAX = 64,
  ROUND = 4,              // tests per job in one round
  SOLVED_IN_VAIN = 200000 // candidates without an input in a row
};
static const size_t memory_max = (size_t)3 << 29; // 1.5 GB of expressions

// What became of one recorded run.
typedef struct {
  bool good;
  bool late; // the time was over: not replayed
  Explored run;
  Bitset covered; // edges
  const Program *program;
  Err problem;
} Replayed;

typedef struct {
  Candidate candidates[BATCH_MAX];
  Inputs inputs[BATCH_MAX];
  bool from_candidate;
  size_t n;
  MadeBatch batch;
  size_t first; // number of its first trace
  Replayed replayed[BATCH_MAX];
} Round;

static void round_release(Round *r) {
  for (size_t i = 0; i < r->n; i++)
    inputs_release(&r->inputs[i]);
  arena_release(&r->batch.arena);
  r->n = 0;
}

// --- choosing and solving ---------------------------------------------------

// For the thinker, who must not look at the runner.
static bool is_time_left(const Explorer *e) {
  return !atomic_load(&e->stopped) &&
         clock_now() - e->start < e->options.seconds;
}

static size_t round_size(const Explorer *e) {
  size_t jobs = (size_t)e->runner->options->jobs;
  size_t want = jobs > 1 ? ROUND * jobs : 1;
  size_t most = e->options.max_tests;
  size_t left = e->planned < most ? most - e->planned : 0;
  return want > BATCH_MAX ? BATCH_MAX : want > left ? left : want;
}

// Takes candidates until there are enough with an input.
static void round_fill(Explorer *e, Round *r) {
  size_t want = round_size(e), vain = 0;
  double start = clock_now();
  r->n = 0;
  r->from_candidate = true;
  while (r->n < want && is_time_left(e) && vain < SOLVED_IN_VAIN &&
         frontier_pop(&e->frontier, &r->candidates[r->n])) {
    SolverResult result =
        frontier_solve(&e->frontier, &r->candidates[r->n], &r->inputs[r->n]);
    e->stats.queries++;
    e->stats.unsat += result == SOLVER_UNSAT;
    e->stats.unknown += result == SOLVER_UNKNOWN;
    vain = result == SOLVER_SAT ? 0 : vain + 1;
    r->n += result == SOLVER_SAT;
  }
  explore_count_time(&e->stats.solving, start);
}

// The given input, recorded, is no test that was made.
static bool is_made(const Explorer *e, const Round *r) {
  return r->from_candidate || e->options.strategy->from_empty;
}

static int round_write(Explorer *e, Round *r, Err *err) {
  e->planned += is_made(e, r) ? r->n : 0;
  return made_batch_write(e, r->from_candidate ? "made" : "start", r->inputs,
                          r->n, &r->batch, err);
}

// --- running ----------------------------------------------------------------

static void count_verdict(Explorer *e, const struct Judged *j) {
  e->stats.tests++;
  e->stats.same += j->shows;
  e->stats.passing += j->verdict == VERDICT_PASS;
  e->stats.others += !j->shows && j->verdict != VERDICT_PASS;
}

static int round_run(Explorer *e, Round *r, Err *err) {
  if (made_batch_run(e, &r->batch, err))
    return -1;
  double start = clock_now();
  int rc = e->runner->interrupted
               ? 0
               : recorder_record_at(&e->recorder, r->first, r->batch.tests,
                                    r->n, err);
  explore_count_time(&e->stats.recording, start);
  for (size_t i = 0; i < r->n && is_made(e, r); i++)
    count_verdict(e, &r->batch.judged[i]);
  return rc;
}

// --- replaying --------------------------------------------------------------

static void note_edge(void *context, uint32_t branch, uint32_t edge) {
  Replayed *r = context;
  bitset_add(&r->covered, r->program->branches.items[branch].first_edge + edge);
}

// The input under the names it was read.
static void input_as_read(const Explorer *e, const Test *test, const Inputs *in,
                          Inputs *out) {
  char *dir = mem_printf("%s/%s", e->options.dir, test->name);
  inputs_copy(out, in);
  made_rename(out, &e->original, dir);
  free(dir);
}

static void replay_one(Explorer *e, Round *r, size_t i, size_t seat) {
  Replayed *to = &r->replayed[i];
  Inputs read = {0};
  if (!is_time_left(e)) { // nothing could be made of it any more
    *to = (Replayed){.late = true};
    return;
  }
  *to = (Replayed){.run = {.shows = r->batch.judged[i].shows,
                           .given = !r->from_candidate,
                           .pool = expr_pool_new()},
                   .program = e->recorder.seats[seat]};
  ReplayOptions options = {.max_instructions = EXPLORE_INSTRUCTIONS,
                           .observer = note_edge,
                           .context = to};
  input_as_read(e, &r->batch.tests[i], &r->inputs[i], &read);
  to->good =
      !recorder_replay_in(&e->recorder, seat, r->first + i, &read, to->run.pool,
                          &options, &to->run.path, &to->problem);
  inputs_release(&read);
  inputs_copy(&to->run.inputs, &r->inputs[i]);
}

typedef struct {
  Explorer *explorer;
  Round *round;
  size_t seat;
  atomic_size_t *next;
} Replayer;

static void *replay_some(void *context) {
  const Replayer *p = context;
  size_t i;
  while ((i = atomic_fetch_add(p->next, 1)) < p->round->n)
    replay_one(p->explorer, p->round, i, p->seat);
  return NULL;
}

static size_t seats_for(const Explorer *e, const Round *r) {
  size_t n = (size_t)e->runner->options->jobs;
  n = n > RECORDER_SEATS ? RECORDER_SEATS : n;
  return n > r->n ? r->n : n;
}

// Each thread takes the next run that nobody has taken.
static int round_replay(Explorer *e, Round *r, Err *err) {
  pthread_t threads[RECORDER_SEATS];
  Replayer replayers[RECORDER_SEATS];
  atomic_size_t next = 0;
  size_t n = seats_for(e, r), others = 0;
  double start = clock_now();
  if (recorder_add_seats(&e->recorder, n, err))
    return -1;
  for (size_t i = 0; i < n; i++)
    replayers[i] = (Replayer){e, r, i, &next};
  for (size_t i = 1; i < n; i++)
    if (!pthread_create(&threads[others], NULL, replay_some, &replayers[i]))
      others++;
  replay_some(&replayers[0]);
  for (size_t i = 0; i < others; i++)
    pthread_join(threads[i], NULL);
  explore_count_time(&e->stats.replaying, start);
  return 0;
}

// --- adding -----------------------------------------------------------------

static void add_loss(Explorer *e, const PathLoss *loss) {
  for (size_t i = 0; i < e->losses.len; i++) {
    if (!strcmp(e->losses.items[i].name, loss->name)) {
      e->losses.items[i].count += loss->count;
      return;
    }
  }
  array_push(&e->losses, (Loss){mem_strdup(loss->name), loss->count});
}

static void note_problem(Explorer *e, Replayed *r) {
  e->stats.unreplayed++;
  free(e->problem);
  e->problem = mem_strdup(r->problem.text);
  path_release(&r->run.path);
  expr_pool_free(r->run.pool);
  inputs_release(&r->run.inputs);
}

static void count_path(Explorer *e, const Path *path) {
  e->stats.false_conditions += path->stats.false_conditions;
  e->stats.cut += path->stop == STOP_LIMIT || path->stop == STOP_CUT;
  for (size_t i = 0; i < path->stats.losses.len; i++)
    add_loss(e, &path->stats.losses.items[i]);
}

// Did it go where it was predicted to go?
static bool confirm(Explorer *e, const Candidate *c, const Explored *run) {
  size_t at;
  bool did = frontier_confirms(&e->frontier, c, run, &at);
  e->stats.confirmed += did;
  e->stats.diverged += !did;
  return did;
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

static void add_one(Explorer *e, const Round *r, size_t i, Replayed *got) {
  if (got->late) {
    e->stats.late++;
    return;
  }
  frontier_cover(&e->frontier, &got->covered);
  bitset_release(&got->covered);
  if (!got->good) {
    note_problem(e, got);
    return;
  }
  count_path(e, &got->run.path);
  explored_prepare(&got->run);
  bool did = r->from_candidate && confirm(e, &r->candidates[i], &got->run);
  e->stats.paths += frontier_add(&e->frontier, &got->run) && did;
}

static void round_add(Explorer *e, Round *r) {
  double start = clock_now();
  bool more_shows = false;
  for (size_t i = 0; i < r->n; i++) {
    more_shows |= r->replayed[i].good && r->replayed[i].run.shows;
    add_one(e, r, i, &r->replayed[i]);
  }
  bound_memory(&e->frontier);
  if (more_shows && r->from_candidate)
    frontier_rescore(&e->frontier);
  explore_count_time(&e->stats.choosing, start);
}

static int round_think(Explorer *e, Round *r, Err *err) {
  if (!r->n)
    return 0;
  if (round_replay(e, r, err))
    return -1;
  round_add(e, r);
  return 0;
}

// --- between rounds ---------------------------------------------------------

// The lines that tie for the first place now, for strategies that ask.
static int find_suspects(Explorer *e, Err *err) {
  CurrentRanking now;
  if (!e->options.strategy->wants_suspects)
    return 0;
  int rc =
      current_ranking_make(&now, e->runner->store, e->runner->session, "ochiai", err);
  if (!rc && now.ranked)
    frontier_take_suspects(&e->frontier, &now.suite, &now.ranking);
  current_ranking_release(&now);
  return rc;
}

static int after_round(Explorer *e, Err *err) {
  e->stats.seconds = clock_now() - e->start;
  if (find_suspects(e, err))
    return -1;
  return e->options.after ? e->options.after(e->options.context, e, err) : 0;
}

// --- starting points --------------------------------------------------------

static void empty_input(const Inputs *given, Inputs *out) {
  inputs_copy(out, given);
  for (size_t i = 0; i < out->sources.len; i++)
    inputs_resize(out, i, 0, 0);
}

// A round from beginning to end.
static int round_do(Explorer *e, Round *r, Err *err) {
  if (round_write(e, r, err) || round_run(e, r, err))
    return -1;
  return e->runner->interrupted ? 0 : round_think(e, r, err);
}

int explore_seed(Explorer *e, const Inputs *in, Err *err) {
  Round *r = mem_new(Round);
  r->n = 1;
  inputs_copy(&r->inputs[0], in);
  int rc = round_do(e, r, err);
  round_release(r);
  free(r);
  return rc;
}

static int add_start(Explorer *e, Err *err) {
  Inputs empty = {0};
  if (!e->options.strategy->from_empty)
    return explore_seed(e, &e->given, err);
  empty_input(&e->given, &empty);
  int rc = explore_seed(e, &empty, err);
  inputs_release(&empty);
  return rc;
}

// --- the loop ---------------------------------------------------------------

static int explore_in_turn(Explorer *e, Err *err) {
  Round *r = mem_new(Round);
  int rc = 0;
  while (!rc && explore_goes_on(e)) {
    round_fill(e, r);
    if (!r->n)
      break;
    rc = round_do(e, r, err);
    round_release(r);
    if (!rc)
      rc = after_round(e, err);
  }
  round_release(r);
  free(r);
  return rc;
}

typedef struct {
  Explorer *explorer;
  Round *before; // was run
  Round *next;   // to be made
  int rc;
  Err err;
} Thought;

static void *think(void *context) {
  Thought *t = context;
  t->rc = round_think(t->explorer, t->before, &t->err);
  if (t->rc)
    return NULL;
  round_fill(t->explorer, t->next);
  t->rc = round_write(t->explorer, t->next, &t->err);
  return NULL;
}

// Runs `now` while the thinker has its thoughts.
static int run_and_think(Explorer *e, Round *now, Thought *t, Err *err) {
  pthread_t thread;
  bool threaded = now->n && !pthread_create(&thread, NULL, think, t);
  int rc = now->n ? round_run(e, now, err) : 0;
  atomic_store(&e->stopped, e->runner->interrupted || rc);
  if (threaded)
    pthread_join(thread, NULL);
  else
    think(t);
  if (!rc && t->rc)
    rc = err_set(err, "%s", t->err.text);
  return rc;
}

static int explore_at_once(Explorer *e, Err *err) {
  Round *rounds = mem_array(Round, 3);
  Round *before = &rounds[0], *now = &rounds[1], *next = &rounds[2];
  int rc = 0;
  for (size_t i = 0; i < 3; i++)
    rounds[i].first = i * BATCH_MAX;
  do {
    Thought t = {.explorer = e, .before = before, .next = next};
    rc = run_and_think(e, now, &t, err);
    round_release(before);
    Round *free_again = before;
    before = now;
    now = next;
    next = free_again;
    if (!rc && before->n)
      rc = after_round(e, err);
  } while (!rc && !e->runner->interrupted && (before->n || now->n));
  for (size_t i = 0; i < 3; i++)
    round_release(&rounds[i]);
  free(rounds);
  return rc;
}

int explore_near(Explorer *e, Err *err) {
  int rc = add_start(e, err);
  if (!rc)
    rc = after_round(e, err);
  if (!rc)
    rc = e->runner->options->jobs > 1 ? explore_at_once(e, err)
                                      : explore_in_turn(e, err);
  e->stats.seconds = clock_now() - e->start;
  return rc;
}
