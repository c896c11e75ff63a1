// The engine for floats and strings: Z3, on the slice alone. It takes every
// sort, so it is also the second opinion on all other engines in the tests.
//
// smt_translate.c translates expressions. Translated nodes are kept until the
// context has grown large. Every INT node of a query is asserted to fit in 64
// bits. Characters above 255 are excluded when a model comes back with one.
#include <stdlib.h>
#include <string.h>

#include "solve/smt_translate.h"
#include "util/clock.h"

#define KEEP_NODES 200000
#define KEEP_QUERIES 5000

// --- context ----------------------------------------------------------------

// Errors leave a null or an old result behind; every use checks the code.
static void ignore_error(Z3_context c, Z3_error_code e) { (void)c, (void)e; }

// Without reference counts: what is made lives as long as the context.
static void open_context(SmtEngine *s) {
  Z3_config config = Z3_mk_config();
  s->z3 = Z3_mk_context(config);
  Z3_del_config(config);
  Z3_set_error_handler(s->z3, ignore_error);
  s->queries = 0;
}

SmtEngine *smt_engine_new(ExprPool *p) {
  SmtEngine *s = mem_new(SmtEngine);
  s->pool = p;
  open_context(s);
  return s;
}

void smt_engine_free(SmtEngine *s) {
  if (!s)
    return;
  Z3_del_context(s->z3); // with all that was made in it
  expr_map_release(&s->asts);
  array_release(&s->nodes);
  free(s);
}

static void renew_if_large(SmtEngine *s) {
  if (s->asts.len < KEEP_NODES && s->queries++ < KEEP_QUERIES)
    return;
  Z3_del_context(s->z3);
  expr_map_clear(&s->asts);
  open_context(s);
}

// --- queries ----------------------------------------------------------------

typedef struct {
  Z3_solver solver;
  ExprMap seen;
  ExprList nodes; // of all conditions
  size_t *ends;   // where the nodes of each condition end
} SmtQuery;

// INT nodes keep to 64 bits, and do not divide by zero.
static void assert_range(SmtEngine *s, SmtQuery *t, Expr e) {
  Z3_context c = s->z3;
  const ExprNode *n = expr_node(s->pool, e);
  if (n->sort.kind != SORT_INT || n->op == EXPR_CONST)
    return;
  Z3_ast a = smt_ast(s, e);
  Z3_ast fits[3] = {Z3_mk_le(c, a, smt_int(s, INT64_MAX)),
                    Z3_mk_ge(c, a, smt_int(s, INT64_MIN)), Z3_mk_true(c)};
  if (n->op == EXPR_SDIV || n->op == EXPR_SREM)
    fits[2] = Z3_mk_not(c, Z3_mk_eq(c, smt_ast(s, n->arg[1]), smt_int(s, 0)));
  Z3_solver_assert(c, t->solver, Z3_mk_and(c, 3, fits));
}

static void assert_condition(SmtEngine *s, SmtQuery *t, const Query *q,
                             size_t i) {
  Z3_ast a = smt_ast(s, q->items[i].cond);
  a = q->items[i].outcome ? a : Z3_mk_not(s->z3, a);
  Z3_solver_assert(s->z3, t->solver, a);
  for (size_t k = i ? t->ends[i - 1] : 0; k < t->ends[i]; k++)
    assert_range(s, t, t->nodes.items[k]);
}

// False if the conditions are too large or have an operator Z3 has not.
static bool translate_query(SmtEngine *s, SmtQuery *t, const Query *q,
                            size_t max_nodes) {
  for (size_t i = 0; i < q->n; i++) {
    Expr cond = q->items[i].cond;
    if (!expr_walk(s->pool, &cond, 1, max_nodes, &t->seen, &t->nodes) ||
        t->nodes.len > max_nodes || !smt_translate(s, cond))
      return false;
    t->ends[i] = t->nodes.len;
  }
  return true;
}

// The sorts of all nodes, one bit each.
static unsigned kinds_of(const SmtEngine *s, const SmtQuery *t) {
  unsigned kinds = 0;
  for (size_t i = 0; i < t->nodes.len; i++)
    kinds |= 1u << expr_sort(s->pool, t->nodes.items[i]).kind;
  return kinds;
}

static Z3_solver solver_for(SmtEngine *s, const char *logic) {
  return Z3_mk_solver_for_logic(s->z3, Z3_mk_string_symbol(s->z3, logic));
}

// Floats want Z3's tactics; all else is faster, by far, without.
static Z3_solver choose_solver(SmtEngine *s, unsigned kinds) {
  if (!(kinds >> SORT_FP & 1))
    return Z3_mk_simple_solver(s->z3);
  if (kinds >> SORT_INT & 1 || kinds >> SORT_STR & 1)
    return Z3_mk_solver(s->z3);
  return solver_for(s, "QF_FPBV");
}

static void set_timeout(SmtEngine *s, SmtQuery *t, double seconds) {
  Z3_params params = Z3_mk_params(s->z3);
  Z3_params_inc_ref(s->z3, params);
  unsigned ms = seconds > 0.001 ? (unsigned)(seconds * 1000) : 1;
  Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "timeout"), ms);
  Z3_solver_set_params(s->z3, t->solver, params);
  Z3_params_dec_ref(s->z3, params);
}

// Only characters up to 255 in string variables.
static void assert_bytes(SmtEngine *s, SmtQuery *t, const Query *q) {
  Z3_context c = s->z3;
  Z3_ast range =
      Z3_mk_re_range(c, Z3_mk_string(c, "\\u{0}"), Z3_mk_string(c, "\\u{ff}"));
  Z3_ast bytes = Z3_mk_re_star(c, range);
  for (size_t i = 0; i < q->nvars; i++)
    if (expr_var_sort(s->pool, q->vars[i]).kind == SORT_STR)
      Z3_solver_assert(
          c, t->solver,
          Z3_mk_seq_in_re(c, smt_ast(s, expr_input(s->pool, q->vars[i])),
                          bytes));
}

// --- models -----------------------------------------------------------------

// Z3 prints characters above 255 as \u{...}; so it prints that text itself, but
// an alarm too many does no harm.
static bool has_wide_chars(const char *printed) {
  for (const char *at = printed; (at = strstr(at, "\\u{")); at++)
    if (strtoul(at + 3, NULL, 16) > 255)
      return true;
  return false;
}

static bool read_text(SmtEngine *s, Z3_ast a, uint64_t *value) {
  if (!Z3_is_string(s->z3, a) || has_wide_chars(Z3_get_string(s->z3, a)))
    return false;
  unsigned n;
  const char *bytes = Z3_get_lstring(s->z3, a, &n);
  *value = expr_text_id(s->pool, bytes, n);
  return true;
}

// A float's bits: Z3 evaluates the conversion, except for NaN.
static bool read_fp(SmtEngine *s, Z3_model m, Z3_ast a, unsigned width,
                    uint64_t *value) {
  Z3_ast v;
  if (!Z3_model_eval(s->z3, m, a, true, &v))
    return false;
  if (Z3_fpa_is_numeral_nan(s->z3, v)) {
    *value = smt_quiet_nan(width);
    return true;
  }
  return Z3_model_eval(s->z3, m, Z3_mk_fpa_to_ieee_bv(s->z3, a), true, &v) &&
         Z3_get_numeral_uint64(s->z3, v, value);
}

static bool read_value(SmtEngine *s, Z3_model m, VarId v, uint64_t *value) {
  ExprSort sort = expr_var_sort(s->pool, v);
  Z3_ast a = smt_ast(s, expr_input(s->pool, v)), r;
  if (sort.kind == SORT_FP)
    return read_fp(s, m, a, sort.width, value);
  if (!Z3_model_eval(s->z3, m, a, true, &r))
    return false;
  if (sort.kind == SORT_STR)
    return read_text(s, r, value);
  if (sort.kind == SORT_INT)
    return Z3_get_numeral_int64(s->z3, r, (int64_t *)value);
  if (sort.width > 1)
    return Z3_get_numeral_uint64(s->z3, r, value);
  *value = Z3_get_bool_value(s->z3, r) == Z3_L_TRUE;
  return true;
}

static bool read_model(SmtEngine *s, SmtQuery *t, const Query *q, Model *out) {
  Z3_model m = Z3_solver_get_model(s->z3, t->solver);
  if (!m)
    return false;
  Z3_model_inc_ref(s->z3, m);
  bool ok = true;
  for (size_t i = 0; i < q->nvars && ok; i++) {
    uint64_t value = 0;
    ok = read_value(s, m, q->vars[i], &value);
    array_push(out, (Binding){q->vars[i], value});
  }
  Z3_model_dec_ref(s->z3, m);
  return ok;
}

// --- solving ----------------------------------------------------------------

static SolverResult check(SmtEngine *s, SmtQuery *t, const Query *q,
                          Model *out) {
  set_timeout(s, t, q->deadline - clock_now());
  Z3_lbool r = Z3_solver_check(s->z3, t->solver);
  if (r == Z3_L_FALSE)
    return SOLVER_UNSAT;
  if (r == Z3_L_UNDEF)
    return SOLVER_UNKNOWN;
  size_t before = out->len;
  if (read_model(s, t, q, out))
    return SOLVER_SAT;
  out->len = before;
  return SOLVER_UNKNOWN;
}

static bool has_strings(const SmtEngine *s, const Query *q) {
  for (size_t i = 0; i < q->nvars; i++)
    if (expr_var_sort(s->pool, q->vars[i]).kind == SORT_STR)
      return true;
  return false;
}

// With this solver, which it takes over.
static SolverResult ask(SmtEngine *s, SmtQuery *t, const Query *q,
                        Z3_solver solver, Model *out) {
  t->solver = solver;
  Z3_solver_inc_ref(s->z3, t->solver);
  for (size_t i = 0; i < q->n; i++)
    assert_condition(s, t, q, i);
  SolverResult r = check(s, t, q, out);
  if (r == SOLVER_UNKNOWN && clock_now() < q->deadline && has_strings(s, q)) {
    assert_bytes(s, t, q);
    r = check(s, t, q, out);
  }
  Z3_solver_dec_ref(s->z3, t->solver);
  return r;
}

// What is only bits and not easy (not answered in a fifth of the time) is left
// to Z3's tactics.
static SolverResult solve_query(SmtEngine *s, SmtQuery *t, const Query *q,
                                Model *out) {
  unsigned kinds = kinds_of(s, t);
  if (kinds != 1u << SORT_BV)
    return ask(s, t, q, choose_solver(s, kinds), out);
  Query easy = *q;
  easy.deadline -= 0.8 * (q->deadline - clock_now());
  SolverResult r = ask(s, t, &easy, choose_solver(s, kinds), out);
  if (r == SOLVER_UNKNOWN && clock_now() < q->deadline)
    r = ask(s, t, q, solver_for(s, "QF_BV"), out);
  return r;
}

SolverResult smt_engine_solve(SmtEngine *s, const Query *q,
                              const SolverLimits *limits, Model *out) {
  renew_if_large(s);
  SmtQuery t = {0};
  t.ends = mem_array(size_t, q->n + 1);
  SolverResult r = SOLVER_UNKNOWN;
  if (translate_query(s, &t, q, limits->nodes))
    r = solve_query(s, &t, q, out);
  free(t.ends);
  expr_map_release(&t.seen);
  array_release(&t.nodes);
  return r;
}
