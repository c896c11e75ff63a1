// How many path queries per second on a real run, and are the answers right?
// Traces one run of a program built by culprit-cc, replays it, flips every
// condition of its path, and asks Z3 alone about the same queries, sliced the
// same way.
//
//   solver_tool [-n N] [-q S] [-r S] [-t S] [-e NAME] [-i STDIN] CACHE PROGRAM
//               [ARGS...]
//
// -n: Z3 is asked at most N queries, evenly spread (500); -q: seconds for one
// query (120); -r: seconds for one that had no answer in that time and is
// unsatisfiable for us (0: not asked again); -t: seconds of Z3 altogether
// (600); -e: an environment variable that is input.
//
// An answer is right if Z3 has the same. Beside that every input we find is
// checked by evaluating all conditions of the path up to the flip, sliced or
// not: that proves it whatever Z3 says. What is proved neither way is listed.
// Status 1 if a verdict differs or an input is none; no answer is not another
// one, and is counted apart.
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expr/expr_eval.h"
#include "program/trace_build.h"
#include "replay/replay.h"
#include "solve/gates.h"
#include "solve/solver.h"
#include "tool_show.h"
#include "util/clock.h"
#include "util/fs.h"

typedef struct {
  size_t sample;  // queries for Z3
  double query;   // seconds for one
  double again;   // seconds for one without an answer
  double seconds; // of Z3
  const char *input, *cache, *variable;
  char **argv;
} Options;

// As `culprit input` does it.
static const ReplayOptions as_searched = {.note_texts = true,
                                          .split_tables = true};

static int die(const Err *err) {
  fprintf(stderr, "solver_tool: %s\n", err->text);
  return 3;
}

static void run(const char *program, const Options *o, const char *dir) {
  pid_t pid = fork();
  if (pid == 0) {
    setenv("CULPRIT_TRACE", dir, 1);
    dup2(open(o->input ? o->input : "/dev/null", O_RDONLY), 0);
    dup2(open("/dev/null", O_WRONLY), 1);
    execv(program, o->argv);
    _exit(127);
  }
  waitpid(pid, NULL, 0);
}

// --- measuring --------------------------------------------------------------

// What is known about one query.
typedef struct {
  SolverResult ours, z3;
  bool asked;     // Z3 was
  bool evaluated; // our input satisfies the whole path up to there
} Answer;

typedef struct {
  ExprPool *pool;
  const Path *path;
  Answer *answers; // one per condition
} Queries;

static Solver *solver_of(const Queries *q, double seconds, bool z3) {
  Solver *s = solver_new(q->pool, (SolverLimits){.seconds = seconds});
  solver_use(s, ENGINE_ENUMERATE, !z3);
  solver_use(s, ENGINE_BITS, !z3);
  for (size_t i = 0; i < q->path->events.len; i++)
    solver_add(s, q->path->events.items[i].cond,
               q->path->events.items[i].outcome);
  return s;
}

// Does this model go the same way up to event `i`, and there the other way?
static bool goes_there(ExprEval *ev, const Path *path, size_t i,
                       const Model *m) {
  expr_eval_clear(ev);
  for (size_t k = 0; k < m->len; k++)
    expr_eval_set(ev, m->items[k].var, m->items[k].value);
  for (size_t k = 0; k <= i; k++) {
    const PathEvent *e = &path->events.items[k];
    uint64_t value;
    if (!expr_eval(ev, e->cond, &value) || (value == e->outcome) != (k < i))
      return false;
  }
  return true;
}

static void show_rate(const Solver *s) {
  const SolverStats *st = solver_stats(s);
  Str text = {0};
  solver_stats_show(st, &text);
  printf("  %8.0f/s  %s\n", (double)st->queries / st->seconds, str_text(&text));
  str_release(&text);
}

static size_t step_of(const Queries *q, const Options *o) {
  size_t n = q->path->events.len;
  return n > o->sample ? (n + o->sample - 1) / o->sample : 1;
}

// Answers to what Z3 will be asked, too, are evaluated.
static void ask_ours(const Queries *q, const Options *o) {
  double seconds = o->query;
  size_t step = step_of(q, o);
  Solver *s = solver_of(q, seconds, false);
  ExprEval ev = {.pool = q->pool};
  Model m = {0};
  for (size_t i = 0; i < solver_len(s); i++) {
    Answer *a = &q->answers[i];
    a->ours = solver_flip(s, i, &m);
    a->evaluated = i % step == 0 && a->ours == SOLVER_SAT &&
                   goes_there(&ev, q->path, i, &m);
  }
  show_rate(s);
  model_release(&m);
  expr_eval_release(&ev);
  solver_free(s);
}

// Each `step`th query, until the time is over.
static void ask_z3(const Queries *q, const Options *o) {
  size_t n = q->path->events.len, step = step_of(q, o);
  Solver *s = solver_of(q, o->query, true);
  Model m = {0};
  double end = clock_now() + o->seconds;
  for (size_t i = 0; i < n && clock_now() < end; i += step) {
    q->answers[i].asked = true;
    q->answers[i].z3 = solver_flip(s, i, &m);
  }
  show_rate(s);
  model_release(&m);
  solver_free(s);
}

// We say that there is no input. Nothing but Z3 can say whether this is right,
// and it has not yet.
static bool is_open(const Answer *a) {
  return a->asked && a->z3 == SOLVER_UNKNOWN && a->ours == SOLVER_UNSAT;
}

static void ask_z3_again(const Queries *q, double seconds) {
  Solver *s = solver_of(q, seconds, true);
  Model m = {0};
  for (size_t i = 0; i < solver_len(s); i++)
    if (is_open(&q->answers[i]))
      q->answers[i].z3 = solver_flip(s, i, &m);
  if (solver_stats(s)->queries)
    show_rate(s);
  model_release(&m);
  solver_free(s);
}

// --- the result -------------------------------------------------------------

typedef struct {
  size_t asked, unanswered, differ; // Z3
  size_t inputs, none;              // ours: found, and wrong ones of them
  size_t open;                      // said, and proved by nobody
  size_t given_up;                  // ours: no answer
} Tally;

static void tally(Tally *t, const Answer *a) {
  bool both = a->ours != SOLVER_UNKNOWN && a->z3 != SOLVER_UNKNOWN;
  t->inputs += a->ours == SOLVER_SAT;
  t->none += a->asked && a->ours == SOLVER_SAT && !a->evaluated;
  t->asked += a->asked;
  t->unanswered += a->asked && !both;
  t->differ += a->asked && both && a->ours != a->z3;
  t->open += is_open(a);
  t->given_up += a->ours == SOLVER_UNKNOWN;
}

static void show_open(const Program *p, const Queries *q, size_t i) {
  const PathEvent *e = &q->path->events.items[i];
  uint32_t line = 0;
  program_place(p, e->place, &line);
  printf("  unproved: condition %zu, %s of line %u, unsat\n", i,
         path_kind_name((PathKind)e->kind), line);
}

static int show_result(const Program *p, const Queries *q) {
  Tally t = {0};
  size_t n = q->path->events.len;
  for (size_t i = 0; i < n; i++) {
    tally(&t, &q->answers[i]);
    if (is_open(&q->answers[i]))
      show_open(p, q, i);
  }
  printf("  ours: %zu given up, %zu inputs, %zu of them do not go there\n",
         t.given_up, t.inputs, t.none);
  printf("  Z3: %zu of %zu asked, %zu without answer, %zu verdicts differ; %zu "
         "unproved\n",
         t.asked, n, t.unanswered, t.differ, t.open);
  return t.differ || t.none;
}

static int measure(const Program *p, ExprPool *pool, const Path *path,
                   const Options *o) {
  Queries q = {pool, path, mem_array(Answer, path->events.len + 1)};
  printf("%zu conditions, %u nodes\n", path->events.len, pool->len);
  ask_ours(&q, o);
  ask_z3(&q, o);
  if (o->again > 0)
    ask_z3_again(&q, o->again);
  int rc = show_result(p, &q);
  free(q.answers);
  return rc;
}

// --- tracing ----------------------------------------------------------------

static int measure_trace(Program *p, const char *file, const Options *o) {
  Err err = {0};
  Trace t;
  Inputs in = {0};
  if (trace_open(&t, file, &err) ||
      inputs_of_command(&in, o->argv, NULL, o->input, 1 << 24, &err))
    return die(&err);
  if (o->variable && getenv(o->variable))
    inputs_add_env(&in, o->variable, getenv(o->variable));
  ExprPool *pool = expr_pool_new();
  Path path;
  int rc = replay_with(p, &t, &in, pool, &as_searched, &path, &err);
  rc = rc ? die(&err) : measure(p, pool, &path, o);
  path_release(&path);
  inputs_release(&in);
  expr_pool_free(pool);
  trace_close(&t);
  return rc;
}

static int work(const Options *o) {
  Err err = {0};
  TraceBuild b;
  Program p = {0};
  if (trace_build(&b, o->argv[0], o->cache, false, &err))
    return die(&err);
  for (size_t i = 0; i < b.nirs; i++)
    if (program_add(&p, b.irs[i], &err))
      return die(&err);
  program_link(&p);
  char *name = mem_printf("bench-%d", (int)getpid()), *file = NULL;
  char *cache = path_absolute(o->cache, NULL);
  char *dir = path_absolute(name, cache);
  int rc = fs_mkdirs(dir, &err);
  if (!rc) {
    run(b.program, o, dir);
    rc = trace_find(dir, &file, &err);
  }
  rc = rc ? die(&err) : measure_trace(&p, file, o);
  fs_remove_tree(dir);
  free(dir);
  free(cache);
  free(name);
  free(file);
  program_release(&p);
  trace_build_release(&b);
  return rc;
}

static void take_option(Options *o, int c) {
  if (c == 'n')
    o->sample = strtoul(optarg, NULL, 10);
  else if (c == 'q')
    o->query = strtod(optarg, NULL);
  else if (c == 'r')
    o->again = strtod(optarg, NULL);
  else if (c == 't')
    o->seconds = strtod(optarg, NULL);
  else if (c == 'i')
    o->input = optarg;
  else if (c == 'e')
    o->variable = optarg;
}

int main(int argc, char **argv) {
  Options o = {.sample = 500, .query = 120, .seconds = 600};
  for (int c; (c = getopt(argc, argv, "+n:q:r:t:i:e:")) != -1;)
    take_option(&o, c);
  if (argc - optind < 2 || !o.sample) {
    fprintf(stderr, "usage: solver_tool [-n N] [-q S] [-r S] [-t S] [-e NAME] "
                    "[-i STDIN] CACHE PROGRAM [ARGS...]\n");
    return 2;
  }
  o.cache = argv[optind];
  o.argv = argv + optind + 1;
  return work(&o);
}
