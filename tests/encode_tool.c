// encode_tool [-c SECONDS] [-r N] DIR PROGRAM [ARGS...]: is the encoding of
// spec/encode/encode.h true to the program? Every call of every function with a
// contract that the run makes is encoded from its state:
//
//   kept      every ensures held in the run: the encoding says so too, and
//             the solvers find it satisfiable, with all statements on and with
//             N random sets of them off
//   broken    the encoding breaks the same clauses; they are unsatisfiable with
//             all statements on, and (-c) with those of the core alone, which
//             CaDiCaL and Z3 both say (unconfirmed: not in time)
//   skipped   the call cannot be followed (what is not modelled is named)
//
// One line a call, then totals. Exit: 0 all as they should be, 1 not, 3 the
// program cannot be looked at. DIR: for builds and scratch files.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "spec/clause_bounds.h"
#include "spec/core.h"
#include "spec/made_state.h"
#include "spec/subject.h"
#include "util/fs.h"
#include "util/mem.h"

enum { CALLS_MAX = 40, SETS = 2 };

typedef struct {
  size_t kept, broken, skipped, wrong;
  size_t asked; // questions to the solvers
  size_t cores, minimal, unconfirmed;
} Totals;

typedef struct {
  SpecSubject *subject;
  double core_seconds; // 0: no cores
  unsigned sets;
  Totals totals;
  // One call.
  const ContractTable *table;
  uint64_t number;
  const Violation *violation; // NULL: it kept its promises
  Encoder encoder;
} Tool;

static bool is_broken(const Violation *v, uint32_t clause) {
  for (size_t i = 0; v && i < v->nbroken; i++)
    if (v->broken[i] == clause)
      return true;
  return false;
}

static void say(Tool *t, bool good, const char *what) {
  printf("%s%s, call %llu: %s\n", good ? "" : "WRONG: ", t->table->function,
         (unsigned long long)t->number, what);
  t->totals.wrong += !good;
}

// --- one encoding -----------------------------------------------------------

// The clauses that were kept hold, those that were broken do not.
static Expr as_in_run(Tool *t, Encoder *e) {
  Expr all = expr_bool(e->pool, true);
  for (uint32_t k = 0; k < t->table->nclauses; k++) {
    Expr holds = encoder_clause(e, k), dead = encoder_clause_dead(e, k);
    if (!holds || !dead || t->table->clauses[k].kind != CLAUSE_ENSURES)
      continue;
    if (is_broken(t->violation, k))
      holds = expr_not(e->pool, holds);
    all = expr_and(e->pool, all,
                   expr_and(e->pool, holds, expr_not(e->pool, dead)));
  }
  return all;
}

static SolverResult solve(Tool *t, const Encoder *e, Expr want) {
  t->totals.asked++;
  if (expr_is_const(e->pool, want))
    return expr_value(e->pool, want) ? SOLVER_SAT : SOLVER_UNSAT;
  Solver *s = solver_new(e->pool, (SolverLimits){.seconds = 10,
                                                 .conflicts = 10000000,
                                                 .gates = 10000000,
                                                 .nodes = 1000000});
  Constraint c = {want, true};
  Model model = {0};
  solver_use(s, ENGINE_ENUMERATE, false);
  SolverResult r = solver_query(s, 0, &c, 1, &model);
  model_release(&model);
  solver_free(s);
  return r;
}

// With these statements on, the run itself is a model. NULL: it is. *cut: it is
// too large to tell.
static const char *check_set(Tool *t, const Bitset *on, bool *cut) {
  ExprPool *pool = expr_pool_new();
  const char *problem = NULL;
  Encoder e;
  Err err = {0};
  encoder_fork(&e, &t->encoder, pool);
  e.max_exprs = 100000;
  if (encoder_off(&e, on, &err)) {
    problem = "the encoding does not have the run";
  } else if (!e.cut_size) {
    Expr want = as_in_run(t, &e);
    if (!expr_value(pool, want))
      problem = "the run is no model of the encoding";
    else if (solve(t, &e, want) != SOLVER_SAT)
      problem = "CaDiCaL finds no model";
  }
  *cut = e.cut_size > 0;
  encoder_release(&e);
  expr_pool_free(pool);
  return problem;
}

static void all_statements(const Encoder *e, Bitset *out) {
  for (uint32_t i = 0; i < e->statements.len; i++)
    bitset_add(out, i);
}

// One of `off` is off.
static void random_statements(const Encoder *e, int off, Bitset *out) {
  for (uint32_t i = 0; i < e->statements.len; i++)
    if (rand() % off)
      bitset_add(out, i);
}

// Every fourth or so is off; fewer if that is too large.
static const char *check_random_set(Tool *t) {
  const char *problem = NULL;
  bool cut = true;
  for (int off = 4; off <= 256 && cut && !problem; off *= 4) {
    Bitset on = {0};
    random_statements(&t->encoder, off, &on);
    problem = check_set(t, &on, &cut);
    bitset_release(&on);
  }
  return problem;
}

static const char *check_sets(Tool *t) {
  Bitset on = {0};
  bool cut;
  all_statements(&t->encoder, &on);
  const char *problem = check_set(t, &on, &cut);
  for (unsigned i = 0; i < t->sets && !problem; i++)
    problem = check_random_set(t);
  bitset_release(&on);
  return problem;
}

// --- broken ones ------------------------------------------------------------

static bool check_core(Tool *t, uint32_t clause, const Core *like, Core *out,
                       char *text, size_t size) {
  Err err = {0};
  bool good =
      !core_find(&t->encoder, clause, like, t->core_seconds, out, &err) &&
      !out->satisfiable;
  snprintf(text, size,
           "broken, %.99s: %.199s, %zu of %zu statements%s in %.1f s",
           t->table->clauses[clause].name,
           *err.text          ? err.text
           : out->satisfiable ? "there is no core"
           : out->checked     ? "core, both solvers agree"
                              : "core, not confirmed",
           out->statements.len, t->encoder.statements.len,
           out->minimal ? " (minimal)" : "", out->seconds);
  t->totals.cores += good && out->checked;
  t->totals.minimal += good && out->checked && out->minimal;
  t->totals.unconfirmed += good && !out->checked;
  return good;
}

static void check_cores(Tool *t) {
  char text[3000];
  Core before = {0};
  for (size_t i = 0; i < t->violation->nbroken; i++) {
    Core c = {0};
    bool good =
        check_core(t, t->violation->broken[i], &before, &c, text, sizeof text);
    say(t, good, text);
    core_release(&before);
    before = c;
  }
  core_release(&before);
}

// --- one call ---------------------------------------------------------------

// The concrete run of the encoder; NULL: as the process's.
static const char *check_run(Tool *t) {
  for (uint32_t k = 0; k < t->table->nclauses; k++) {
    Expr holds = encoder_clause(&t->encoder, k);
    if (holds &&
        !expr_value(t->encoder.pool, holds) != is_broken(t->violation, k))
      return "a clause comes out otherwise than in the process";
  }
  return NULL;
}

static void check_call(Tool *t) {
  Err err = {0};
  if (encoder_run(&t->encoder, &err)) {
    say(t, true, err.text);
    t->totals.skipped++;
    return;
  }
  clause_bounds_widen(&t->encoder);
  const char *problem = check_run(t);
  // What is not modelled is 0 in the run, and may be anything.
  if (problem && t->encoder.losses.len) {
    say(t, true, "something in it is not modelled");
    t->totals.skipped++;
    return;
  }
  if (!problem)
    problem = check_sets(t);
  t->totals.kept += !t->violation;
  t->totals.broken += t->violation != NULL;
  if (problem)
    say(t, false, problem);
  else if (t->violation && t->core_seconds > 0)
    check_cores(t);
}

static uint32_t find_function(const Program *p, const char *name) {
  for (uint32_t i = 0; i < p->functions.len; i++)
    if (!strcmp(program_name(p, p->functions.items[i].name), name))
      return i;
  return IR_NONE;
}

static const Violation *violation_of(const SubjectRun *r, const char *function,
                                     uint64_t call) {
  for (size_t i = 0; i < r->violations.items.len; i++) {
    const Violation *v = &r->violations.items.items[i];
    if (!strcmp(v->table.function, function) && v->call == call)
      return v;
  }
  return NULL;
}

static bool breaks_requires(const Violation *v) {
  for (size_t i = 0; v && i < v->nbroken; i++)
    if (v->table.clauses[v->broken[i]].kind == CLAUSE_REQUIRES)
      return true;
  return false;
}

static int encode_call(Tool *t, Snapshot *snapshot, Err *err) {
  MadeState state = {.snapshot = snapshot};
  EncodeTarget target = {.program = &t->subject->ir,
                         .wrapper =
                             find_function(&t->subject->ir, t->table->function),
                         .read = state_read,
                         .context = &state,
                         .args = snapshot->args,
                         .nargs = snapshot->args_size};
  if (target.wrapper == IR_NONE || subject_bind(t->subject, snapshot, err))
    return -1;
  ExprPool *pool = expr_pool_new();
  encoder_init(&t->encoder, &target, pool);
  check_call(t);
  encoder_release(&t->encoder);
  expr_pool_free(pool);
  return 0;
}

// False: there is no such call.
static bool look_at_call(Tool *t, const char *dir) {
  CallPoint at = {
      .function = t->table->function, .number = t->number, .snapshot = true};
  char *path = mem_printf("%s/snapshot", dir);
  SubjectRun run = {0};
  Snapshot snapshot = {0};
  Err err = {0};
  unlink(path);
  bool there = !subject_run(t->subject, &at, &run, &err) && fs_exists(path);
  t->violation = violation_of(&run, t->table->function, t->number);
  if (there && !breaks_requires(t->violation) &&
      (snapshot_read(&snapshot, path, &err) || encode_call(t, &snapshot, &err)))
    say(t, false, err.text);
  snapshot_close(&snapshot);
  subject_run_release(&run);
  free(path);
  return there;
}

static void look_at_all(Tool *t, const char *dir) {
  const ContractTables *c = &t->subject->contracts;
  for (size_t i = 0; i < c->tables.len; i++) {
    t->table = &c->tables.items[i];
    if (contracts_find(c, t->table->function) != t->table)
      continue; // an assertion
    for (t->number = 1; t->number <= CALLS_MAX; t->number++)
      if (!look_at_call(t, dir))
        break;
  }
}

static int usage(void) {
  fprintf(stderr,
          "usage: encode_tool [-c SECONDS] [-r N] DIR PROGRAM [ARGS...]\n");
  return 2;
}

int main(int argc, char **argv) {
  Tool t = {.sets = SETS};
  int opt;
  while ((opt = getopt(argc, argv, "+c:r:")) != -1) {
    if (opt == 'c')
      t.core_seconds = atof(optarg);
    else if (opt == 'r')
      t.sets = (unsigned)atoi(optarg);
    else
      return usage();
  }
  if (argc - optind < 2)
    return usage();
  char *dir = realpath(argv[optind], NULL), *cwd = realpath(".", NULL);
  char *program = realpath(argv[optind + 1], NULL);
  Err err = {0};
  if (!dir || !program || personality(ADDR_NO_RANDOMIZE) < 0)
    return usage();
  SubjectOptions o = {.program = program,
                      .argv = argv + optind + 1,
                      .cwd = cwd,
                      .cache = dir,
                      .dir = dir,
                      .timeout = 10};
  SpecSubject s = {0};
  int status = subject_open(&s, &o, &err) ? 3 : 0;
  if (status)
    fprintf(stderr, "encode_tool: %s\n", err.text);
  t.subject = &s;
  if (!status)
    look_at_all(&t, dir);
  subject_close(&s);
  printf("%zu kept, %zu broken, %zu skipped, %zu questions, %zu cores (%zu "
         "minimal), %zu unconfirmed, %zu wrong\n",
         t.totals.kept, t.totals.broken, t.totals.skipped, t.totals.asked,
         t.totals.cores, t.totals.minimal, t.totals.unconfirmed,
         t.totals.wrong);
  free(dir);
  free(cwd);
  free(program);
  return status ? status : t.totals.wrong ? 1 : 0;
}
