// Traces one run of a program built by culprit-cc, replays it, and prints what
// came out: for tests/e2e/trace, bench, and people who look for a bug in
// replay.
//
//   replay_tool [-c] [-s] [-q] [-f N] [-e NAME] [-i STDIN] CACHE PROGRAM
//               [ARGS...]
//
// -c: a checking trace, every block compared; -s: symbolic; -q: no path; -e: an
// environment variable that is input; -i: file to be standard input.
// -n: replay this trace instead of running the program.
// -f: turns up to N conditions of the path round, one at a time, runs the
// program with the input the solver gives, and looks whether it went that way.
// The program's own output goes to CACHE/out. Status: 0, or 3 with a message.
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program/trace_build.h"
#include "replay/replay.h"
#include "tool_show.h"
#include "util/fs.h"
#include "util/mem.h"

// As `culprit input` does it.
static const ReplayOptions as_searched = {.note_texts = true,
                                          .split_tables = true};

static const char *stop_kind_name(StopKind kind) {
  static const char *const names[] = {"end", "crash", "call", "cut", "limit"};
  return kind <= STOP_LIMIT ? names[kind] : "?";
}

static void path_show_losses(const Path *p, Str *out) {
  for (size_t i = 0; i < p->stats.losses.len; i++) {
    const PathLoss *l = &p->stats.losses.items[i];
    str_add(out, i ? "; " : "precision lost at: ");
    if (l->count == 1)
      str_addf(out, "%s, once", l->name);
    else
      str_addf(out, "%s, %llu times", l->name, (unsigned long long)l->count);
  }
}

static void path_show(const Path *p, const Program *program,
                      const ExprPool *pool, Str *out) {
  for (size_t i = 0; i < p->events.len; i++) {
    const PathEvent *e = &p->events.items[i];
    uint32_t line = 0;
    const char *file = e->place < program->places.len
                           ? program_place(program, e->place, &line)
                           : "";
    const char *slash = strrchr(file, '/');
    str_addf(out, "%s:%u %s ", slash ? slash + 1 : file, line,
             path_kind_name(e->kind));
    expr_show_outcome(pool, e->cond, e->outcome, 0, out);
    str_addc(out, '\n');
  }
}

// Why the run is longer than its trace, as one sentence; NULL: it is not.
static const char *trace_cut_reason(const Trace *t) {
  if (t->header.state != TRACE_FULL)
    return NULL;
  return t->header.flags & TRACE_FLAG_DISK
             ? "the disk was full before the run was over"
             : "the run is longer than a trace may be; take a smaller input, "
               "or allow more with CULPRIT_TRACE_MAX (bytes)";
}

typedef struct {
  bool check, symbolic, quiet;
  size_t flips;
  const char *variable, *input, *cache, *trace;
  char **argv;
} Options;

static int die(const Err *err) {
  fprintf(stderr, "replay_tool: %s\n", err->text);
  return 3;
}

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int run(const char *program, const Options *o, const char *dir) {
  pid_t pid = fork();
  if (pid == 0) {
    int in = open(o->input ? o->input : "/dev/null", O_RDONLY);
    char *path = mem_printf("%s/out", o->cache);
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setenv("CULPRIT_TRACE", dir, 1);
    dup2(in, 0);
    dup2(out, 1);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    execv(program, o->argv);
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

static void show(const Path *path, const Program *p, const ExprPool *pool,
                 const Options *o) {
  const PathStats *s = &path->stats;
  Str out = {0};
  uint32_t line = 0;
  if (path->stop_place != IR_NONE)
    program_place(p, path->stop_place, &line);
  str_addf(&out, "stop %s line %u signal %u callee %s\n",
           stop_kind_name(path->stop), line, path->signal,
           path->stop_callee ? path->stop_callee : "-");
  str_addf(&out,
           "instructions %llu symbolic %llu calls %llu branches %llu checked "
           "%llu false %llu wrong %llu surprises %llu events %zu\n",
           (unsigned long long)s->instructions, (unsigned long long)s->symbolic,
           (unsigned long long)s->calls, (unsigned long long)s->branches,
           (unsigned long long)s->checked,
           (unsigned long long)s->false_conditions,
           (unsigned long long)s->wrong_values,
           (unsigned long long)s->surprises, path->events.len);
  if (s->losses.len)
    path_show_losses(path, &out);
  else
    str_add(&out, "precision lost at: nothing");
  str_addc(&out, '\n');
  if (pool && !o->quiet)
    path_show(path, p, pool, &out);
  fputs(str_text(&out), stdout);
  str_release(&out);
}

// --- flips ------------------------------------------------------------------

typedef struct {
  Program *program;
  const char *executable;
  const Options *options;
} Runner;

// Writes the input where the program looks for it, and its arguments to argv.
static void put_input(const Inputs *in, char **argv, Err *err) {
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    if (s->kind == INPUT_STDIN)
      fs_write("flip.in", s->bytes, s->size, err);
    else if (s->kind == INPUT_FILE)
      fs_write(s->key, s->bytes, s->size, err);
    else if (s->kind == INPUT_ENV)
      setenv(s->key, (const char *)s->bytes, 1);
    else
      argv[s->arg] = (char *)s->bytes;
  }
}

// Runs and replays with another input.
static int run_again(const Runner *r, const Inputs *in, ExprPool *pool,
                     Path *path, Err *err) {
  char dir[] = "/tmp/replay_tool-XXXXXX", *file = NULL, *argv[64] = {NULL};
  Options o = *r->options;
  for (size_t i = 0; i < 63 && o.argv[i]; i++)
    argv[i] = o.argv[i];
  put_input(in, argv, err);
  o.argv = argv;
  o.input = o.input ? "flip.in" : NULL;
  Trace t;
  *path = (Path){0};
  if (!mkdtemp(dir))
    return -1;
  run(r->executable, &o, dir);
  int rc = trace_find(dir, &file, err);
  if (!rc)
    rc = trace_open(&t, file, err);
  if (!rc) {
    rc = replay_with(r->program, &t, in, pool, &as_searched, path, err);
    trace_close(&t);
  }
  free(file);
  fs_remove_tree(dir);
  return rc;
}

// Is the new path the old one up to event i, and different there?
static bool went_there(const Path *old, const Path *new, size_t i) {
  size_t k = 0, steps = 0;
  for (size_t j = 0; j <= i; j++) {
    const PathEvent *a = &old->events.items[j];
    if (a->branch == IR_NONE)
      continue;
    while (k < new->events.len &&new->events.items[k].branch == IR_NONE)
      k++;
    if (k == new->events.len)
      return false;
    const PathEvent *b = &new->events.items[k++];
    if (a->branch != b->branch || (a->edge == b->edge) != (j < i))
      return false;
    steps++;
  }
  return steps > 0;
}

static int flip_all(const Runner *r, const Path *path, const Inputs *in,
                    ExprPool *pool, Err *err) {
  Solver *s = solver_new(pool, (SolverLimits){0});
  size_t sat = 0, unsat = 0, unknown = 0, confirmed = 0, seen = 0;
  for (size_t i = 0; i < path->events.len; i++)
    solver_add(s, path->events.items[i].cond, path->events.items[i].outcome);
  for (size_t i = 0; i < path->events.len && seen < r->options->flips; i++) {
    if (path->events.items[i].branch == IR_NONE)
      continue;
    seen++;
    Model m = {0};
    SolverResult answer = solver_flip(s, i, &m);
    unsat += answer == SOLVER_UNSAT;
    unknown += answer == SOLVER_UNKNOWN;
    if (answer == SOLVER_SAT) {
      Inputs other;
      Path new;
      ExprPool *fresh = expr_pool_new();
      sat++;
      path_apply(path, in, &m, &other);
      bool good =
          !run_again(r, &other, fresh, &new, err) && went_there(path, &new, i);
      confirmed += good;
      if (!good) {
        uint32_t line;
        program_place(r->program, path->events.items[i].place, &line);
        printf("diverged: event %zu line %u %s\n", i, line, err->text);
      }
      path_release(&new);
      inputs_release(&other);
      expr_pool_free(fresh);
    }
    model_release(&m);
  }
  printf("flips %zu sat %zu unsat %zu unknown %zu confirmed %zu\n", seen, sat,
         unsat, unknown, confirmed);
  solver_free(s);
  return 0;
}

static int replay_file(Program *p, const char *executable, const char *file,
                       const Options *o) {
  Err err = {0};
  Trace t;
  if (trace_open(&t, file, &err))
    return die(&err);
  Inputs in = {0};
  ExprPool *pool = o->symbolic ? expr_pool_new() : NULL;
  if (inputs_of_command(&in, o->argv, NULL, o->input, 1 << 24, &err))
    return die(&err);
  if (o->variable && getenv(o->variable))
    inputs_add_env(&in, o->variable, getenv(o->variable));
  Path path;
  double start = seconds();
  int rc = replay_with(p, &t, &in, pool, &as_searched, &path, &err);
  double took = seconds() - start;
  if (!rc) {
    show(&path, p, pool, o);
    if (trace_cut_reason(&t))
      printf("cut: %s\n", trace_cut_reason(&t));
    if (pool && o->flips)
      flip_all(&(Runner){p, executable, o}, &path, &in, pool, &err);
    fprintf(stderr, "%zu bytes, %.2f s, %.1f M instructions/s, %.0f MB\n",
            t.end, took, (double)path.stats.instructions / took / 1e6,
            pool ? (double)expr_pool_bytes(pool) / 1e6 : 0);
  }
  path_release(&path);
  inputs_release(&in);
  if (pool)
    expr_pool_free(pool);
  trace_close(&t);
  return rc ? die(&err) : 0;
}

static int work(const Options *o) {
  Err err = {0};
  TraceBuild b;
  Program p = {0};
  if (trace_build(&b, o->argv[0], o->cache, o->check, &err))
    return die(&err);
  for (size_t i = 0; i < b.nirs; i++)
    if (program_add(&p, b.irs[i], &err))
      return die(&err);
  program_link(&p);
  char dir[] = "/tmp/replay_tool-XXXXXX", *file = NULL;
  int rc = 0;
  if (o->trace) {
    rc = replay_file(&p, b.program, o->trace, o);
  } else if (!mkdtemp(dir)) {
    rc = 3;
  } else {
    run(b.program, o, dir);
    rc = trace_find(dir, &file, &err) ? die(&err)
                                      : replay_file(&p, b.program, file, o);
    fs_remove_tree(dir);
  }
  free(file);
  program_release(&p);
  trace_build_release(&b);
  return rc;
}

int main(int argc, char **argv) {
  Options o = {0};
  for (int c; (c = getopt(argc, argv, "+csqe:i:n:f:")) != -1;) {
    o.check |= c == 'c';
    o.symbolic |= c == 's';
    o.quiet |= c == 'q';
    if (c == 'f')
      o.flips = strtoul(optarg, NULL, 10);
    if (c == 'e')
      o.variable = optarg;
    if (c == 'i')
      o.input = optarg;
    if (c == 'n')
      o.trace = optarg;
  }
  if (argc - optind < 2)
    return 2;
  o.cache = argv[optind];
  o.argv = argv + optind + 1;
  return work(&o);
}
