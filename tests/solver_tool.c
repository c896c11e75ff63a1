// How many path queries per second on a real run? Traces one run of a program
// built by culprit-cc, replays it, flips every condition of its path, and asks
// Z3 alone about a sample of the same queries, sliced the same way.
//
//   solver_tool [-n N] [-q S] [-t S] [-i STDIN] CACHE PROGRAM [ARGS...]
//
// -n: Z3 is asked at most N queries, evenly spread (500); -q: seconds for one
// query (120); -t: seconds of Z3 altogether (600). Status 1 if a verdict
// differs; no answer is not another one, and is counted apart.
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cfront/trace_build.h"
#include "sym/gates.h"
#include "sym/replay.h"
#include "sym/solver.h"
#include "util/fs.h"

typedef struct {
  size_t sample;  // queries for Z3
  double query;   // seconds for one
  double seconds; // of Z3
  const char *input, *cache;
  char **argv;
} Options;

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

static Solver *solver_of(ExprPool *pool, const Path *path, double seconds,
                         bool z3) {
  Solver *s = solver_new(pool, (SolverLimits){.seconds = seconds});
  solver_use(s, ENGINE_ENUMERATE, !z3);
  solver_use(s, ENGINE_BITS, !z3);
  for (size_t i = 0; i < path->events.len; i++)
    solver_add(s, path->events.items[i].cond, path->events.items[i].outcome);
  return s;
}

// Each `step`th query, until the time is over. Returns how far it came.
static size_t flip(Solver *s, size_t step, double most, SolverResult *out) {
  Model m = {0};
  double start = gates_clock();
  size_t i = 0;
  for (; i < solver_len(s) && gates_clock() - start < most; i += step)
    out[i] = solver_flip(s, i, &m);
  double seconds = gates_clock() - start;
  Str text = {0};
  solver_stats_show(solver_stats(s), &text);
  printf("  %8.0f/s  %s\n", (double)solver_stats(s)->queries / seconds,
         str_text(&text));
  str_release(&text);
  model_release(&m);
  return i;
}

static int measure(ExprPool *pool, const Path *path, const Options *o) {
  size_t n = path->events.len, differ = 0, unanswered = 0, asked = 0;
  size_t step = n > o->sample ? (n + o->sample - 1) / o->sample : 1;
  printf("%zu conditions, %u nodes\n", n, pool->len);
  Solver *ours = solver_of(pool, path, o->query, false);
  Solver *z3 = solver_of(pool, path, o->query, true);
  SolverResult *a = mem_array(SolverResult, n + 1);
  SolverResult *b = mem_array(SolverResult, n + 1);
  flip(ours, 1, 1e9, a);
  size_t end = flip(z3, step, o->seconds, b);
  for (size_t i = 0; i < end; i += step) {
    bool both = a[i] != SOLVER_UNKNOWN && b[i] != SOLVER_UNKNOWN;
    asked++;
    unanswered += !both;
    differ += both && a[i] != b[i];
  }
  printf("  Z3: %zu of %zu asked, %zu without answer, %zu verdicts differ\n",
         asked, n, unanswered, differ);
  free(a);
  free(b);
  solver_free(ours);
  solver_free(z3);
  return differ != 0;
}

// --- tracing ----------------------------------------------------------------

static int measure_trace(Program *p, const char *file, const Options *o) {
  Err err = {0};
  Trace t;
  Inputs in = {0};
  if (trace_open(&t, file, &err) ||
      inputs_of_command(&in, o->argv, NULL, o->input, 1 << 24, &err))
    return die(&err);
  ExprPool *pool = expr_pool_new();
  Path path;
  int rc = replay(p, &t, &in, pool, &path, &err);
  rc = rc ? die(&err) : measure(pool, &path, o);
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
  program_link(&p, &err);
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
  else if (c == 't')
    o->seconds = strtod(optarg, NULL);
  else if (c == 'i')
    o->input = optarg;
}

int main(int argc, char **argv) {
  Options o = {.sample = 500, .query = 120, .seconds = 600};
  for (int c; (c = getopt(argc, argv, "+n:q:t:i:")) != -1;)
    take_option(&o, c);
  if (argc - optind < 2 || !o.sample) {
    fprintf(stderr, "usage: solver_tool [-n N] [-q S] [-t S] [-i STDIN] CACHE "
                    "PROGRAM [ARGS...]\n");
    return 2;
  }
  o.cache = argv[optind];
  o.argv = argv + optind + 1;
  return work(&o);
}
