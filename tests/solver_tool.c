// How many path queries per second on a real run? Traces one run of a program
// built by culprit-cc, replays it, flips every condition of its path, and asks
// Z3 alone about a sample of the same queries, sliced the same way.
//
//   solver_tool [-a] [-i STDIN] CACHE PROGRAM [ARGS...]
//
// -a: Z3 answers all of them. Status 1 if a verdict differs.
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
  bool all;
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

static Solver *solver_of(ExprPool *pool, const Path *path, bool z3) {
  Solver *s = solver_new(pool, (SolverLimits){.seconds = 120});
  solver_use(s, ENGINE_ENUMERATE, !z3);
  solver_use(s, ENGINE_BITS, !z3);
  for (size_t i = 0; i < path->events.len; i++)
    solver_add(s, path->events.items[i].cond, path->events.items[i].outcome);
  return s;
}

static void flip(Solver *s, size_t step, SolverResult *out) {
  Model m = {0};
  double start = gates_clock();
  for (size_t i = 0; i < solver_len(s); i += step)
    out[i] = solver_flip(s, i, &m);
  double seconds = gates_clock() - start;
  Str text = {0};
  solver_stats_show(solver_stats(s), &text);
  printf("  %8.0f/s  %s\n", (double)solver_stats(s)->queries / seconds,
         str_text(&text));
  str_release(&text);
  model_release(&m);
}

static int measure(ExprPool *pool, const Path *path, bool all) {
  size_t n = path->events.len, step = all ? 1 : n / 500 + 1, differ = 0;
  printf("%zu conditions, %u nodes\n", n, pool->len);
  Solver *ours = solver_of(pool, path, false);
  Solver *z3 = solver_of(pool, path, true);
  SolverResult *a = mem_array(SolverResult, n + 1);
  SolverResult *b = mem_array(SolverResult, n + 1);
  flip(ours, 1, a);
  flip(z3, step, b);
  for (size_t i = 0; i < n; i += step)
    differ += a[i] != b[i] && a[i] != SOLVER_UNKNOWN && b[i] != SOLVER_UNKNOWN;
  printf("  %zu verdicts differ\n", differ);
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
  rc = rc ? die(&err) : measure(pool, &path, o->all);
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

int main(int argc, char **argv) {
  Options o = {0};
  for (int c; (c = getopt(argc, argv, "+ai:")) != -1;) {
    o.all |= c == 'a';
    if (c == 'i')
      o.input = optarg;
  }
  if (argc - optind < 2) {
    fprintf(stderr, "usage: solver_tool [-a] [-i STDIN] CACHE PROGRAM "
                    "[ARGS...]\n");
    return 2;
  }
  o.cache = argv[optind];
  o.argv = argv + optind + 1;
  return work(&o);
}
