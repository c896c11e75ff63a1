// Cores: see core.h.
#include "spec/core.h"

#include <stdlib.h>

#include "util/clock.h"

enum {
  CONFLICTS = 50000000,
  GATES = 12000000, // about 1.4 GB
  NODES = 4000000,
  EXPRS_FIRST = 400000, // of one encoding, before tries
  EXPRS_MAX = 6000000,
  BLOCKS_MORE = 500, // beyond a multiple of the run's
  TRIES = 240,
  TRIES_AT_ONCE = 12, // in one pool
  LATER_SHARE = 4,    // of the time: for questions that are not cheap
  CHECK_SHARE = 4
};
// For one question, or the tries of one statement.
#define FIRST_SECONDS 1.5
#define TRY_SECONDS 1
#define MORE_SECONDS 3
#define MOST_SECONDS 15

void core_release(Core *c) {
  array_release(&c->statements);
  array_release(&c->guards);
  array_release(&c->unknown);
  str_release(&c->limits);
}

// --- one question -----------------------------------------------------------

// The clauses hold, and nothing occurs that is assumed not to. 0: one of them
// is not reached.
static Expr wanted(Encoder *e, const Bitset *clauses) {
  Expr all = expr_bool(e->pool, true);
  for (uint32_t k = 0; bitset_next(clauses, &k); k++) {
    Expr holds = encoder_clause(e, k), dead = encoder_clause_dead(e, k);
    if (!holds || !dead)
      return 0;
    holds = expr_and(e->pool, holds, expr_not(e->pool, dead));
    all = expr_and(e->pool, all, holds);
  }
  return all;
}

typedef struct {
  double seconds;
  size_t blocks, exprs; // of the encoding
  bool z3;              // asked instead of CaDiCaL
} Effort;

static SolverResult solve(const Encoder *e, Expr want, Effort f) {
  if (expr_is_const(e->pool, want))
    return expr_value(e->pool, want) ? SOLVER_SAT : SOLVER_UNSAT;
  Solver *s = solver_new(e->pool, (SolverLimits){.seconds = f.seconds,
                                                 .conflicts = CONFLICTS,
                                                 .gates = GATES,
                                                 .nodes = NODES});
  Constraint c = {want, true};
  Model model = {0};
  solver_use(s, ENGINE_ENUMERATE, !f.z3);
  solver_use(s, ENGINE_BITS, !f.z3);
  SolverResult r = solver_query(s, 0, &c, 1, &model);
  model_release(&model);
  solver_free(s);
  return r;
}

typedef struct {
  Encoder *run;
  Bitset clauses; // that are to hold
  bool elsewhere; // what is off may also write to another place
  double deadline;
  StatementList on; // what is left of the core
  uint64_t random;
  uint32_t executions;           // of a statement, in a try
  uint32_t cut_loops, cut_calls; // in all encodings
  Core *out;
} Search;

static double time_left(const Search *s, double wish) {
  double left = s->deadline - clock_now();
  return left < wish ? left : wish;
}

static void set_of(const StatementList *l, uint32_t without, Bitset *out) {
  for (size_t i = 0; i < l->len; i++)
    if (l->items[i] != without)
      bitset_add(out, l->items[i]);
}

// Can the clause hold with these on? *limits may be NULL.
static SolverResult ask(Search *s, const Bitset *on, Effort f, Str *limits) {
  ExprPool *pool = expr_pool_new();
  Encoder e;
  Err ignored;
  encoder_fork(&e, s->run, pool);
  e.asked = &s->clauses;
  e.elsewhere = s->elsewhere;
  e.max_blocks = f.blocks < e.max_blocks ? f.blocks : e.max_blocks;
  e.max_exprs = f.exprs;
  e.deadline = clock_now() + f.seconds;
  SolverResult r = SOLVER_UNKNOWN;
  Expr want = encoder_off(&e, on, &ignored) ? 0 : wanted(&e, &s->clauses);
  if (want)
    r = solve(&e, want, f);
  if (r == SOLVER_UNSAT && e.cut_size) // there may be other ways
    r = SOLVER_UNKNOWN;
  e.cut_loops = s->cut_loops += e.cut_loops;
  e.cut_calls = s->cut_calls += e.cut_calls;
  if (limits)
    encoder_show_limits(&e, limits);
  encoder_release(&e);
  expr_pool_free(pool);
  s->out->asked++;
  return r;
}

// --- tries ------------------------------------------------------------------

// Every other time one execution alone deviates, one after the other; else
// often or rarely, and now and then others that are off do, too.
static Dice next_dice(Search *s, uint32_t statement, uint32_t number) {
  static const uint32_t rarely[] = {1, 2, 4, 16};
  uint32_t one_in = rarely[number / 2 % 4];
  return (Dice){.random = s->random++ << 20,
                .often = statement,
                .only = number % 2 ? 1 + number / 2 % s->executions : 0,
                .rarely = one_in,
                .others = number / 8 % 2 ? 4 * one_in + 4 : 0};
}

static bool holds_in_try(Encoder *e, const Bitset *clauses) {
  Expr want = wanted(e, clauses);
  return want && expr_value(e->pool, want);
}

static bool try_some(Search *s, const Bitset *on, uint32_t statement,
                     uint32_t from, double until) {
  ExprPool *pool = expr_pool_new();
  Encoder e;
  bool found = false;
  encoder_fork(&e, s->run, pool);
  e.asked = &s->clauses;
  e.max_blocks = 8 * s->run->blocks + BLOCKS_MORE;
  for (uint32_t i = from;
       i < from + TRIES_AT_ONCE && !found && clock_now() < until; i++) {
    encoder_try(&e, on, next_dice(s, statement, i));
    found = holds_in_try(&e, &s->clauses);
    if (e.dice.executed > s->executions)
      s->executions = e.dice.executed;
    s->out->tried++;
  }
  encoder_release(&e);
  expr_pool_free(pool);
  return found;
}

// Is there a run in which the statement, and others that are off, do something
// else and the clause holds?
static bool try_statement(Search *s, const Bitset *on, uint32_t statement) {
  double until = clock_now() + time_left(s, TRY_SECONDS);
  s->executions = 1;
  for (uint32_t i = 0; i < TRIES; i += TRIES_AT_ONCE)
    if (try_some(s, on, statement, i, until))
      return true;
  return false;
}

// --- taking out -------------------------------------------------------------

static Effort small_effort(const Search *s, size_t runs) {
  return (Effort){.seconds = time_left(s, FIRST_SECONDS),
                  .blocks = runs * s->run->blocks + BLOCKS_MORE,
                  .exprs = EXPRS_FIRST};
}

static Effort large_effort(const Search *s, double seconds) {
  return (Effort){
      .seconds = time_left(s, seconds), .blocks = SIZE_MAX, .exprs = EXPRS_MAX};
}

// A way to an answer: tries, or an encoding, of so many times the blocks of the
// run or (0) as large as it gets.
typedef struct {
  bool tries;
  size_t runs;
  double seconds;
} AskWay;

// Cheapest first. From LATER on they have a share of the time only.
static const AskWay ways[] = {{.runs = 2},
                              {.runs = 40},
                              {.tries = true},
                              {.seconds = MORE_SECONDS},
                              {.seconds = MOST_SECONDS}};
enum { WAYS = sizeof ways / sizeof *ways, LATER = 3 };
_Static_assert((int)CORE_WAYS <= (int)WAYS, "all of them are there");

static SolverResult ask_without(Search *s, const StatementList *from,
                                uint32_t statement, const AskWay *way) {
  Bitset on = {0};
  set_of(from, statement, &on);
  SolverResult r;
  if (way->tries)
    r = try_statement(s, &on, statement) ? SOLVER_SAT : SOLVER_UNKNOWN;
  else
    r = ask(s, &on,
            way->runs ? small_effort(s, way->runs)
                      : large_effort(s, way->seconds),
            NULL);
  bitset_release(&on);
  return r;
}

static size_t place_of(const StatementList *l, uint32_t statement) {
  size_t i = 0;
  while (l->items[i] != statement)
    i++;
  return i;
}

static void take_out(StatementList *l, uint32_t statement) {
  for (size_t i = place_of(l, statement); i + 1 < l->len; i++)
    l->items[i] = l->items[i + 1];
  l->len--;
}

// Takes out of the core those of `from` that it does not need, the last first;
// `unknown`: those about which there is no answer.
static void minimise(Search *s, const StatementList *from, const AskWay *way,
                     StatementList *unknown) {
  for (size_t i = from->len; i-- > 0;) {
    uint32_t statement = from->items[i];
    SolverResult r = clock_now() < s->deadline
                         ? ask_without(s, &s->on, statement, way)
                         : SOLVER_UNKNOWN;
    if (r == SOLVER_UNSAT)
      take_out(&s->on, statement);
    else if (r == SOLVER_UNKNOWN)
      array_push(unknown, statement);
  }
}

static void copy_list(const StatementList *from, StatementList *to) {
  to->len = 0;
  for (size_t i = 0; i < from->len; i++)
    array_push(to, from->items[i]);
}

// What is needed with more on is needed with less: so what costs little is
// asked first, while the set still decides the way of the run.
static void minimise_all(Search *s, double seconds) {
  StatementList left = {0}, *unknown = &s->out->unknown;
  copy_list(&s->on, &left);
  for (size_t i = 0; i < WAYS && left.len; i++) {
    if (i == LATER)
      s->deadline = clock_now() + time_left(s, seconds / LATER_SHARE);
    unknown->len = 0;
    minimise(s, &left, &ways[i], unknown);
    copy_list(unknown, &left);
  }
  s->out->minimal = !unknown->len;
  array_release(&left);
}

static void all_executed(const Encoder *run, StatementList *out) {
  for (uint32_t i = 0; i < run->statements.len; i++)
    if (run->statements.items[i].ran)
      array_push(out, i);
}

// The core's own encoding: for CaDiCaL, then for Z3.
static bool check(Search *s, double seconds) {
  Bitset on = {0};
  set_of(&s->on, UINT32_MAX, &on);
  Effort f = {.seconds = seconds, .blocks = SIZE_MAX, .exprs = EXPRS_MAX};
  bool good = ask(s, &on, f, &s->out->limits) == SOLVER_UNSAT;
  f.z3 = true;
  good = good && ask(s, &on, f, NULL) == SOLVER_UNSAT;
  bitset_release(&on);
  return good;
}

// --- omissions --------------------------------------------------------------

static bool assigns(const Statement *s) { return s->assigns; }
static bool returns(const Statement *s) { return s->returns; }

static bool has(const Encoder *e, const Core *c,
                bool (*is)(const Statement *)) {
  for (size_t i = 0; i < c->statements.len; i++)
    if (is(&e->statements.items[c->statements.items[i]]))
      return true;
  return false;
}

// Nothing in it sets anything, or nothing what the clause names: then something
// that does is missing (docs/methods.md).
static bool is_omission(const Encoder *e, const Core *c, uint32_t clause) {
  if (!has(e, c, assigns))
    return true;
  return !e->about && !has(e, c, returns) &&
         encoder_sets_none(e, clause, c->statements.items, c->statements.len);
}

// The branches of the core; if it has none, all that the run took.
static void list_guards(const Encoder *e, Core *c) {
  for (size_t i = 0; i < c->statements.len; i++)
    if (e->statements.items[c->statements.items[i]].branches)
      array_push(&c->guards, c->statements.items[i]);
  if (c->guards.len)
    return;
  for (uint32_t i = 0; i < e->statements.len; i++)
    if (e->statements.items[i].branches && e->statements.items[i].ran)
      array_push(&c->guards, i);
}

// --- all of it --------------------------------------------------------------

static void search_release(Search *s) {
  array_release(&s->on);
  bitset_release(&s->clauses);
}

static SolverResult begin(Search *s) {
  Bitset on = {0};
  all_executed(s->run, &s->on);
  set_of(&s->on, UINT32_MAX, &on);
  SolverResult r = ask(s, &on, large_effort(s, MOST_SECONDS), NULL);
  bitset_release(&on);
  return r;
}

// Promises that one call breaks are often broken by the same lines: a core of
// another one may be enough for this one, too.
static void begin_with(Search *s, const StatementList *like) {
  Bitset on = {0};
  set_of(like, UINT32_MAX, &on);
  if (like->len < s->on.len &&
      ask(s, &on, small_effort(s, 40), NULL) == SOLVER_UNSAT)
    copy_list(like, &s->on);
  bitset_release(&on);
}

static int search(Search *s, const Core *like, double seconds, Err *err) {
  SolverResult r = begin(s);
  s->out->satisfiable = r == SOLVER_SAT;
  if (r == SOLVER_UNKNOWN)
    return err_set(err,
                   "no answer from the solver within %.0f s; give it more time "
                   "(--budget) or a smaller failing call",
                   seconds);
  if (r == SOLVER_SAT)
    return 0;
  if (like && like->statements.len)
    begin_with(s, &like->statements);
  minimise_all(s, seconds);
  for (size_t i = 0; i < s->on.len; i++)
    array_push(&s->out->statements, s->on.items[i]);
  s->out->checked = check(s, seconds / CHECK_SHARE);
  return 0;
}

int core_find(Encoder *run, uint32_t clause, const Core *like, double seconds,
              Core *out, Err *err) {
  *out = (Core){0};
  double start = clock_now();
  Search s = {.run = run, .deadline = start + seconds, .random = 1, .out = out};
  bitset_add(&s.clauses, clause);
  int rc = encoder_clause(run, clause)
               ? search(&s, like, seconds, err)
               : err_set(err, "clause %u is not evaluated by the call", clause);
  if (!rc && !out->satisfiable && is_omission(run, out, clause)) {
    list_guards(run, out);
    out->omission = out->guards.len || !has(run, out, assigns);
  }
  search_release(&s);
  out->seconds = clock_now() - start;
  return rc;
}

SolverResult core_ask_without(const CoreQuestion *q, uint32_t statement) {
  Core ignored = {0};
  Search s = {.run = q->run,
              .elsewhere = q->elsewhere,
              .deadline = clock_now() + q->seconds,
              .random = 1,
              .out = &ignored};
  bitset_union(&s.clauses, q->clauses);
  all_executed(q->run, &s.on);
  SolverResult r = ask_without(&s, &s.on, statement, &ways[q->way]);
  search_release(&s);
  core_release(&ignored);
  return r;
}
