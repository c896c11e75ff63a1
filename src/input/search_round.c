// Makes tests in rounds: see search.h. A round takes candidates, solves for
// their inputs, runs and records those, replays them, and adds their paths to
// the frontier.
//
// With one job a round is one test, and its result is known before the next
// candidate is chosen. With more jobs a round has ROUND tests per job, and two
// threads work at the same time:
//
//   main thread     runs and records round k
//   solver thread   replays round k - 1, adds it, chooses and writes round k +
//   1
//
// Replaying is shared among as many threads as there are jobs. Runs are added
// in the order in which they were made, so that the same number of jobs makes
// the same tests again, as far as time permits.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "input/made.h"
#include "input/search_internal.h"
#include "locate/localizer.h"
#include "util/clock.h"
#include "util/mem.h"

enum {
  BATCH_MAX = 64,
  MUTANTS_LEAST = 4,      // per test
  MUTANTS_MOST = 512,     // in one round
  IDLE_MOST = 5,          // doublings while tests bring nothing new
  IDLE_STEP = 16,         // of so many tests
  BARREN_MOST = 1024,     // mutations without a find, and nothing else to do
  ROUND = 4,              // tests per job in one round
  SOLVED_IN_VAIN = 200000 // infeasible candidates in a row
};
static const size_t memory_max = (size_t)3 << 29; // 1.5 GB of expressions

// What became of one recorded run.
typedef struct {
  bool good;
  bool late; // not replayed: out of time
  Explored run;
  Bitset covered;   // edges
  uint32_t *counts; // by edge: how often it was taken
  const Program *program;
  Err problem;
} Replayed;

typedef struct {
  FlipCandidate candidates[BATCH_MAX];
  Inputs inputs[BATCH_MAX];
  bool from_candidate;
  size_t n;
  MadeBatch batch;
  size_t first; // number of its first trace
  Inputs mutants[MUTANTS_MOST];
  bool fresh[MUTANTS_MOST]; // it reached something new
  size_t nmutants;
  Replayed replayed[BATCH_MAX];
} TestRound;

static bool has_work(const TestRound *r) { return r->n || r->nmutants; }

static void round_release(TestRound *r) {
  for (size_t i = 0; i < r->n; i++)
    inputs_release(&r->inputs[i]);
  for (size_t i = 0; i < r->nmutants; i++)
    inputs_release(&r->mutants[i]);
  arena_release(&r->batch.arena);
  r->n = r->nmutants = 0;
}

// --- choosing and solving ---------------------------------------------------

// For the solver thread, which must not read the runner.
static bool is_time_left(const InputSearch *s) {
  return !atomic_load(&s->stopped) &&
         clock_now() - s->start < s->options.seconds;
}

static size_t round_size(const InputSearch *s) {
  size_t jobs = (size_t)s->runner->options->jobs;
  size_t want = jobs > 1 ? ROUND * jobs : 1;
  size_t most = s->options.max_tests;
  size_t left = s->planned < most ? most - s->planned : 0;
  return want > BATCH_MAX ? BATCH_MAX : want > left ? left : want;
}

// Not with strategies that compare paths: what mutations reach is far from any
// failing run (docs/internals/input.md).
static bool mutates(const InputSearch *s) {
  const Strategy *strategy = s->options.strategy;
  return (s->options.parts & PART_MUTATE) && strategy->sites &&
         strategy->by_coverage;
}

// More of them, the longer nothing else brings anything new.
static void round_mutate(InputSearch *s, TestRound *r) {
  Frontier *f = &s->frontier;
  size_t n = f->corpus.len;
  bool barren = !r->n && s->barren >= BARREN_MOST;
  if (!mutates(s) || !n || !is_time_left(s) || !round_size(s) || barren)
    return;
  size_t step = s->idle / IDLE_STEP;
  size_t want = MUTANTS_LEAST << (step < IDLE_MOST ? step : IDLE_MOST);
  want *= r->n ? r->n : 1;
  const Inputs **from = mem_array(const Inputs *, n);
  for (size_t i = 0; i < n; i++)
    from[i] = &f->runs.items[f->corpus.items[i]].inputs;
  while (r->nmutants < want && r->nmutants < MUTANTS_MOST)
    mutate(&s->mutator, from, n, &r->mutants[r->nmutants++]);
  free(from);
}

// A mutation that reached something new, if there is one.
static bool take_find(InputSearch *s, TestRound *r) {
  Frontier *f = &s->frontier;
  if (s->next_find == s->finds.len)
    return false;
  r->candidates[r->n] = (FlipCandidate){.make = MAKE_MUTANT};
  r->inputs[r->n++] = s->finds.items[s->next_find++];
  f->solved++;
  return true;
}

// Takes candidates until enough of them have an input.
static void round_fill(InputSearch *s, TestRound *r) {
  size_t want = round_size(s), vain = 0;
  double start = clock_now();
  r->n = 0;
  r->from_candidate = true;
  while (r->n < want && is_time_left(s) && vain < SOLVED_IN_VAIN) {
    if (take_find(s, r))
      continue;
    if (!frontier_pop(&s->frontier, &r->candidates[r->n]))
      break;
    SolverResult result =
        frontier_solve(&s->frontier, &r->candidates[r->n], &r->inputs[r->n]);
    s->stats.queries++;
    s->stats.unsat += result == SOLVER_UNSAT;
    s->stats.unknown += result == SOLVER_UNKNOWN;
    vain = result == SOLVER_SAT ? 0 : vain + 1;
    r->n += result == SOLVER_SAT;
  }
  search_count_time(&s->stats.solving, start);
  round_mutate(s, r);
}

// The given input is recorded, but is not a made test.
static bool is_made(const InputSearch *s, const TestRound *r) {
  return r->from_candidate || s->options.strategy->from_empty;
}

static int round_write(InputSearch *s, TestRound *r, Err *err) {
  s->planned += is_made(s, r) ? r->n : 0;
  return made_batch_write(s, r->from_candidate ? "made" : "start", r->inputs,
                          r->n, &r->batch, err);
}

// --- running ----------------------------------------------------------------

void search_count_verdict(InputSearch *s, const InputResult *j) {
  s->stats.tests++;
  s->stats.same += j->shows;
  s->stats.passing += j->verdict == VERDICT_PASS;
  s->stats.others += !j->shows && j->verdict != VERDICT_PASS;
}

static bool goes_on(void *search) { return search_goes_on(search); }

static int round_run(InputSearch *s, TestRound *r, Err *err) {
  if (made_batch_run(s, &r->batch, err))
    return -1;
  double start = clock_now();
  int rc = s->runner->interrupted
               ? 0
               : recorder_record_at(&s->recorder, r->first, r->batch.tests,
                                    r->n, err);
  start = search_count_time(&s->stats.recording, start);
  if (!rc && r->nmutants)
    rc = screen_inputs(&s->screen, r->mutants, r->nmutants, &s->original,
                       r->fresh, goes_on, s, err);
  s->stats.screened = s->screen.runs;
  search_count_time(&s->stats.screening, start);
  for (size_t i = 0; i < r->n && is_made(s, r); i++)
    search_count_verdict(s, &r->batch.results[i]);
  return rc;
}

// --- replaying --------------------------------------------------------------

static void note_edge(void *context, uint32_t branch, uint32_t edge) {
  Replayed *r = context;
  uint32_t number = r->program->branches.items[branch].first_edge + edge;
  bitset_add(&r->covered, number);
  r->counts[number] += r->counts[number] < UINT32_MAX;
}

// The input under the names by which the run read its files.
static void input_as_read(const InputSearch *s, const Test *test,
                          const Inputs *in, Inputs *out) {
  char *dir = mem_printf("%s/%s", s->options.dir, test->name);
  inputs_copy(out, in);
  made_rename(out, &s->original, dir);
  free(dir);
}

static size_t edges_of(const InputSearch *s) {
  const Program *p = &s->recorder.program;
  if (!p->branches.len)
    return 0;
  const IrBranch *last = &array_last(&p->branches);
  return last->first_edge + last->nedges;
}

static void replay_one(InputSearch *s, TestRound *r, size_t i, size_t thread) {
  Replayed *to = &r->replayed[i];
  Inputs read = {0};
  if (!is_time_left(s)) { // its path would no longer be used
    *to = (Replayed){.late = true};
    return;
  }
  *to = (Replayed){.run = {.shows = r->batch.results[i].shows,
                           .given = !r->from_candidate,
                           .pool = expr_pool_new()},
                   .counts = mem_array(uint32_t, edges_of(s) + 1),
                   .program = s->recorder.programs[thread]};
  ReplayOptions options = {.max_instructions = SEARCH_INSTRUCTIONS,
                           .observer = note_edge,
                           .note_texts = s->options.parts & PART_TEXTS,
                           .split_tables = s->options.parts & PART_TABLES,
                           .context = to};
  input_as_read(s, &r->batch.tests[i], &r->inputs[i], &read);
  to->good =
      !recorder_replay_in(&s->recorder, thread, r->first + i, &read,
                          to->run.pool, &options, &to->run.path, &to->problem);
  inputs_release(&read);
  inputs_copy(&to->run.inputs, &r->inputs[i]);
}

typedef struct {
  InputSearch *search;
  TestRound *round;
  size_t thread;
  atomic_size_t *next;
} Replayer;

static void *replay_some(void *context) {
  const Replayer *p = context;
  size_t i;
  while ((i = atomic_fetch_add(p->next, 1)) < p->round->n)
    replay_one(p->search, p->round, i, p->thread);
  return NULL;
}

static size_t threads_for(const InputSearch *s, const TestRound *r) {
  size_t n = (size_t)s->runner->options->jobs;
  n = n > RECORDER_THREADS ? RECORDER_THREADS : n;
  return n > r->n ? r->n : n;
}

// Each thread takes the next run that is not taken yet.
static int round_replay(InputSearch *s, TestRound *r, Err *err) {
  pthread_t threads[RECORDER_THREADS];
  Replayer replayers[RECORDER_THREADS];
  atomic_size_t next = 0;
  size_t n = threads_for(s, r), others = 0;
  double start = clock_now();
  if (recorder_load_programs(&s->recorder, n, err))
    return -1;
  for (size_t i = 0; i < n; i++)
    replayers[i] = (Replayer){s, r, i, &next};
  for (size_t i = 1; i < n; i++)
    if (!pthread_create(&threads[others], NULL, replay_some, &replayers[i]))
      others++;
  replay_some(&replayers[0]);
  for (size_t i = 0; i < others; i++)
    pthread_join(threads[i], NULL);
  search_count_time(&s->stats.replaying, start);
  return 0;
}

// --- adding -----------------------------------------------------------------

static void add_loss(InputSearch *s, const PathLoss *loss) {
  for (size_t i = 0; i < s->losses.len; i++) {
    if (!strcmp(s->losses.items[i].name, loss->name)) {
      s->losses.items[i].count += loss->count;
      return;
    }
  }
  array_push(&s->losses, (Loss){mem_strdup(loss->name), loss->count});
}

static void forget_run(Explored *run) {
  path_release(&run->path);
  expr_pool_free(run->pool);
  inputs_release(&run->inputs);
  bitset_release(&run->names);
  free(run->steps);
}

static void note_problem(InputSearch *s, Replayed *r) {
  s->stats.unreplayed++;
  free(s->problem);
  s->problem = mem_strdup(r->problem.text);
  forget_run(&r->run);
}

static void count_path(InputSearch *s, const Path *path) {
  s->stats.false_conditions += path->stats.false_conditions;
  s->stats.cut += path->stop == STOP_LIMIT || path->stop == STOP_CUT;
  for (size_t i = 0; i < path->stats.losses.len; i++)
    add_loss(s, &path->stats.losses.items[i]);
}

// Did the run take the predicted path?
static bool confirm(InputSearch *s, const FlipCandidate *c,
                    const Explored *run) {
  size_t at;
  if (!frontier_predicts(c)) {
    s->stats.guessed++;
    return false;
  }
  bool did = frontier_confirms(&s->frontier, c, run, &at);
  s->stats.confirmed += did;
  s->stats.diverged += !did;
  return did;
}

// Frees the expressions of the oldest runs when they take too much memory.
// Their candidates can no longer be solved.
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

// What the run reached. True: its path is worth exploring.
static bool learn(InputSearch *s, Replayed *got) {
  frontier_cover(&s->frontier, &got->covered);
  bool worth =
      frontier_learn(&s->frontier, got->counts, edges_of(s), &got->run.fresh);
  bitset_release(&got->covered);
  free(got->counts);
  return worth;
}

static void add_one(InputSearch *s, const TestRound *r, size_t i,
                    Replayed *got) {
  if (got->late) {
    s->stats.late++;
    return;
  }
  bool worth = learn(s, got) || got->run.given;
  if (!got->good) {
    note_problem(s, got);
    return;
  }
  count_path(s, &got->run.path);
  explored_prepare(&got->run);
  bool did = r->from_candidate && confirm(s, &r->candidates[i], &got->run);
  s->idle = got->run.fresh ? 0 : s->idle + 1;
  for (size_t k = 0; k < got->run.path.texts.len; k++)
    mutator_add_word(&s->mutator, got->run.path.texts.items[k].text,
                     got->run.path.texts.items[k].len);
  if (got->run.fresh && r->from_candidate &&
      r->candidates[i].make != MAKE_MUTANT)
    frontier_reward(&s->frontier, &r->candidates[i]);
  if (worth) {
    s->stats.paths += frontier_add(&s->frontier, &got->run) && did;
    return;
  }
  s->stats.forgotten++;
  s->stats.paths += frontier_is_other(&s->frontier, &got->run) && did;
  forget_run(&got->run);
}

// Mutations that reached something new become tests.
static void take_finds(InputSearch *s, TestRound *r) {
  size_t found = s->stats.found;
  for (size_t i = 0; i < r->nmutants; i++) {
    uint64_t hash = made_hash(&r->mutants[i]),
             own = (1ull << 41) + s->stats.found;
    if (!r->fresh[i] ||
        hashmap_intern(&s->frontier.inputs, &hash, sizeof hash, own) != own)
      continue;
    Inputs copy;
    inputs_copy(&copy, &r->mutants[i]);
    array_push(&s->finds, copy);
    s->stats.found++;
  }
  s->barren = s->stats.found > found ? 0 : s->barren + r->nmutants;
}

static void round_add(InputSearch *s, TestRound *r) {
  double start = clock_now();
  bool more_shows = false;
  for (size_t i = 0; i < r->n; i++) {
    more_shows |= r->replayed[i].good && r->replayed[i].run.shows;
    add_one(s, r, i, &r->replayed[i]);
  }
  take_finds(s, r);
  bound_memory(&s->frontier);
  if (more_shows && r->from_candidate)
    frontier_rescore(&s->frontier);
  search_count_time(&s->stats.choosing, start);
}

static int round_learn(InputSearch *s, TestRound *r, Err *err) {
  if (!has_work(r))
    return 0;
  if (r->n && round_replay(s, r, err))
    return -1;
  round_add(s, r);
  return 0;
}

// --- between rounds ---------------------------------------------------------

// The lines that tie for the first place now, for strategies that ask.
static int find_suspects(InputSearch *s, Err *err) {
  CurrentRanking now;
  if (!s->options.strategy->wants_suspects)
    return 0;
  int rc = current_ranking_make(&now, s->runner->store, s->runner->session,
                                "ochiai", err);
  if (!rc && now.ranked)
    frontier_take_suspects(&s->frontier, &now.suite, &now.ranking);
  current_ranking_release(&now);
  return rc;
}

static int after_round(InputSearch *s, Err *err) {
  s->stats.seconds = clock_now() - s->start;
  if (find_suspects(s, err))
    return -1;
  return s->options.after ? s->options.after(s->options.context, s, err) : 0;
}

// --- starting points --------------------------------------------------------

static void empty_input(const Inputs *given, Inputs *out) {
  inputs_copy(out, given);
  for (size_t i = 0; i < out->sources.len; i++)
    inputs_resize(out, i, 0, 0);
}

// A round from beginning to end.
static int round_do(InputSearch *s, TestRound *r, Err *err) {
  if (round_write(s, r, err) || round_run(s, r, err))
    return -1;
  return s->runner->interrupted ? 0 : round_learn(s, r, err);
}

int search_add_seed(InputSearch *s, const Inputs *in, Err *err) {
  TestRound *r = mem_new(TestRound);
  r->n = 1;
  inputs_copy(&r->inputs[0], in);
  int rc = round_do(s, r, err);
  round_release(r);
  free(r);
  return rc;
}

static int add_start(InputSearch *s, Err *err) {
  Inputs empty = {0};
  if (!s->options.strategy->from_empty)
    return search_add_seed(s, &s->given, err);
  empty_input(&s->given, &empty);
  int rc = search_add_seed(s, &empty, err);
  inputs_release(&empty);
  return rc;
}

// --- the loop ---------------------------------------------------------------

static int make_in_turn(InputSearch *s, Err *err) {
  TestRound *r = mem_new(TestRound);
  int rc = 0;
  while (!rc && search_goes_on(s)) {
    round_fill(s, r);
    if (!has_work(r))
      break;
    rc = round_do(s, r, err);
    round_release(r);
    if (!rc)
      rc = after_round(s, err);
  }
  round_release(r);
  free(r);
  return rc;
}

// What the solver thread does while a round runs.
typedef struct {
  InputSearch *search;
  TestRound *before; // was run: to be replayed
  TestRound *next;   // to be made
  int rc;
  Err err;
} RoundSolve;

static void *solve_next(void *context) {
  RoundSolve *t = context;
  t->rc = round_learn(t->search, t->before, &t->err);
  if (t->rc)
    return NULL;
  round_fill(t->search, t->next);
  t->rc = round_write(t->search, t->next, &t->err);
  return NULL;
}

// Runs `now` while the solver thread works.
static int run_and_solve(InputSearch *s, TestRound *now, RoundSolve *t,
                         Err *err) {
  pthread_t thread;
  bool threaded =
      has_work(now) && !pthread_create(&thread, NULL, solve_next, t);
  int rc = has_work(now) ? round_run(s, now, err) : 0;
  atomic_store(&s->stopped, s->runner->interrupted || rc);
  if (threaded)
    pthread_join(thread, NULL);
  else
    solve_next(t);
  if (!rc && t->rc)
    rc = err_set(err, "%s", t->err.text);
  return rc;
}

static int make_overlapped(InputSearch *s, Err *err) {
  TestRound *rounds = mem_array(TestRound, 3);
  TestRound *before = &rounds[0], *now = &rounds[1], *next = &rounds[2];
  int rc = 0;
  for (size_t i = 0; i < 3; i++)
    rounds[i].first = i * BATCH_MAX;
  do {
    RoundSolve t = {.search = s, .before = before, .next = next};
    rc = run_and_solve(s, now, &t, err);
    round_release(before);
    TestRound *free_again = before;
    before = now;
    now = next;
    next = free_again;
    if (!rc && before->n)
      rc = after_round(s, err);
  } while (!rc && !s->runner->interrupted &&
           (has_work(before) || has_work(now)));
  for (size_t i = 0; i < 3; i++)
    round_release(&rounds[i]);
  free(rounds);
  return rc;
}

int search_make_tests(InputSearch *s, Err *err) {
  int rc = add_start(s, err);
  if (!rc)
    rc = after_round(s, err);
  if (!rc && !s->frontier.runs.len && !s->options.strategy->from_empty)
    rc = search_make_natively(s, err);
  else if (!rc)
    rc = s->runner->options->jobs > 1 ? make_overlapped(s, err)
                                      : make_in_turn(s, err);
  s->stats.seconds = clock_now() - s->start;
  return rc;
}
