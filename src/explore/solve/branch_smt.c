// Demands on the input of a PHP request as a question to Z3 (solve/solver.h).
//
// A term gets the sort that its value had in the run: strings STR, integers
// INT, booleans BV(1). The question approximates PHP, so that Z3 can answer it:
// strings used as numbers must be plain decimal integers; case, surrounding
// blanks and HTML entities are ignored; "1" == "01" is not modelled. Terms
// without a translation are left out. The caller evaluates the answer.
//
//   INT(GET.n) + INT(GET.k) == 12     n + k = 12, GET.n = str(n), ...
#include <string.h>

#include "explore/solve/branch_solver.h"
#include "solve/gates.h"
#include "solve/solver.h"
#include "util/clock.h"
#include "util/mem.h"

enum { TERMS_MOST = 3000, TEXT_MOST = 2000, SMALL = 10000 };
#define SECONDS 1.0

typedef struct {
  uint32_t var;        // term
  VarId text, present; // in the pool
  VarId number;
  bool is_text, is_number; // used as one
} SmtInput;

typedef struct {
  const BranchSolver *s;
  ExprPool *pool;
  Expr *made;  // by term; 0: not yet, or not possible
  bool *tried; // by term
  ARRAY(SmtInput) inputs;
  ARRAY(Constraint) asked;
} Smt;

static Expr make(Smt *z, uint32_t n);

static bool is_sort(const Smt *z, Expr e, ExprKind kind) {
  return e && expr_sort(z->pool, e).kind == kind;
}

static void ask(Smt *z, Expr cond) {
  array_push(&z->asked, (Constraint){cond, true});
}

// --- inputs -----------------------------------------------------------------

static SmtInput *input_of(Smt *z, uint32_t n) {
  const PhpTerm *t = &z->s->sh->terms[n];
  for (size_t i = 0; i < z->inputs.len; i++)
    if (!strcmp(z->s->sh->terms[z->inputs.items[i].var].name, t->name))
      return &z->inputs.items[i];
  bool there = t->value.type == VALUE_STRING;
  SmtInput in = {.var = n};
  in.text = expr_new_str_var(z->pool, t->name, there ? t->value.s : "",
                             there ? t->value.n : 0);
  in.present = expr_new_var(z->pool, t->name, expr_bv(1), there);
  array_push(&z->inputs, in);
  return &array_last(&z->inputs);
}

static Expr constant(Smt *z, PhpValue v) {
  switch (v.type) {
  case VALUE_FALSE:
  case VALUE_TRUE:
    return expr_bool(z->pool, v.type == VALUE_TRUE);
  case VALUE_INT:
    return expr_const_int(z->pool, v.i);
  case VALUE_STRING:
    return v.n <= TEXT_MOST ? expr_const_str(z->pool, v.s, v.n) : 0;
  default:
    return 0;
  }
}

// --- conversions ------------------------------------------------------------

static Expr zero(Smt *z) { return expr_const_int(z->pool, 0); }

static Expr text_of_number(Smt *z, Expr n) {
  Expr minus = expr_str_concat(z->pool, expr_const_str(z->pool, "-", 1),
                               expr_str_of_int(z->pool, expr_neg(z->pool, n)));
  return expr_ite(z->pool, expr_slt(z->pool, n, zero(z)), minus,
                  expr_str_of_int(z->pool, n));
}

// The input must be a decimal integer.
static Expr number_of_input(Smt *z, uint32_t n) {
  SmtInput *in = input_of(z, n);
  if (in->is_number)
    return expr_input(z->pool, in->number);
  PhpValue now = php_to_int(z->s->sh->terms[n].value);
  VarId v = expr_new_var(z->pool, "n", expr_int_sort(),
                         now.type == VALUE_INT ? (uint64_t)now.i : 0);
  in->number = v;
  in->is_number = true;
  return expr_input(z->pool, v);
}

// An input used as text and as number is the number's text.
static void tie(Smt *z) {
  for (size_t i = 0; i < z->inputs.len; i++) {
    const SmtInput *in = &z->inputs.items[i];
    if (!in->is_text)
      continue;
    Expr s = expr_input(z->pool, in->text);
    Expr empty = expr_eq(z->pool, s, expr_const_str(z->pool, "", 0));
    ask(z, expr_or(z->pool, expr_input(z->pool, in->present), empty));
    if (in->is_number)
      ask(z, expr_eq(z->pool, s,
                     text_of_number(z, expr_input(z->pool, in->number))));
  }
}

// Term `n` as a number.
static Expr number(Smt *z, uint32_t n) {
  const PhpTerm *t = &z->s->sh->terms[n];
  if (t->op == TERM_VAR && input_is_free(t->name, z->s->session))
    return number_of_input(z, n);
  Expr e = make(z, n);
  if (is_sort(z, e, SORT_INT))
    return e;
  if (is_sort(z, e, SORT_BV))
    return expr_ite(z->pool, e, expr_const_int(z->pool, 1), zero(z));
  if (!is_sort(z, e, SORT_STR))
    return 0;
  if (expr_is_const(z->pool, e)) {
    PhpValue v = php_to_int(term_eval(z->s->ev, n));
    return v.type == VALUE_INT ? expr_const_int(z->pool, v.i) : 0;
  }
  Expr digits = expr_str_to_int(z->pool, e);
  ask(z, expr_sle(z->pool, zero(z), digits));
  return digits;
}

static Expr text(Smt *z, uint32_t n) {
  Expr e = make(z, n);
  if (is_sort(z, e, SORT_STR))
    return e;
  return is_sort(z, e, SORT_INT) ? text_of_number(z, e) : 0;
}

static Expr truth(Smt *z, uint32_t n) {
  Expr e = make(z, n);
  if (!e || is_sort(z, e, SORT_BV))
    return e;
  if (is_sort(z, e, SORT_INT))
    return expr_ne(z->pool, e, zero(z));
  return expr_and(z->pool, expr_ne(z->pool, e, expr_const_str(z->pool, "", 0)),
                  expr_ne(z->pool, e, expr_const_str(z->pool, "0", 1)));
}

// --- operators --------------------------------------------------------------

static Expr arithmetic(Smt *z, const PhpTerm *t) {
  Expr a = number(z, t->args[0]), b = number(z, t->args[1]);
  ExprPool *p = z->pool;
  if (!a || !b)
    return 0;
  switch (t->op) {
  case TERM_ADD:
    return expr_add(p, a, b);
  case TERM_SUB:
    return expr_sub(p, a, b);
  case TERM_MUL:
    return expr_mul(p, a, b);
  case TERM_MIN:
    return expr_ite(p, expr_slt(p, b, a), b, a);
  case TERM_MAX:
    return expr_ite(p, expr_slt(p, a, b), b, a);
  default:
    ask(z, expr_ne(p, b, zero(z)));
    if (t->op == TERM_MOD)
      return expr_srem(p, a, b);
    if (t->op == TERM_DIV)
      ask(z, expr_eq(p, expr_srem(p, a, b), zero(z)));
    return expr_sdiv(p, a, b);
  }
}

static bool is_numeric(const Smt *z, uint32_t n) {
  PhpValue v = term_eval(z->s->ev, n);
  int64_t i;
  double d;
  if (v.type == VALUE_STRING)
    return php_numeric(v.s, v.n, true, &i, &d) == VALUE_INT;
  return v.type == VALUE_INT;
}

static bool is_string(const Smt *z, uint32_t n) {
  return term_eval(z->s->ev, n).type == VALUE_STRING;
}

// strpos() === false.
static Expr not_found(Smt *z, uint32_t position, uint32_t what) {
  const PhpTerm *t = &z->s->sh->terms[position];
  PhpValue v = z->s->sh->terms[what].value;
  if (t->op != TERM_STRPOS || z->s->sh->terms[what].op != TERM_CONST ||
      v.type != VALUE_FALSE)
    return 0;
  Expr in = text(z, t->args[0]), of = text(z, t->args[1]);
  return in && of ? expr_not(z->pool, expr_str_contains(z->pool, in, of)) : 0;
}

static Expr equal(Smt *z, const PhpTerm *t) {
  uint32_t a = t->args[0], b = t->args[1];
  Expr special = not_found(z, a, b);
  if (special || (special = not_found(z, b, a)))
    return special;
  bool strings = is_string(z, a) && is_string(z, b);
  Expr x = strings ? text(z, a) : number(z, a);
  Expr y = strings ? text(z, b) : number(z, b);
  return x && y ? expr_eq(z->pool, x, y) : 0;
}

static Expr less(Smt *z, const PhpTerm *t) {
  uint32_t a = t->args[0], b = t->args[1];
  bool strings = is_string(z, a) && is_string(z, b) &&
                 !(is_numeric(z, a) || is_numeric(z, b));
  Expr x = strings ? text(z, a) : number(z, a);
  Expr y = strings ? text(z, b) : number(z, b);
  ExprPool *p = z->pool;
  if (!x || !y)
    return 0;
  if (strings)
    return t->op == TERM_LT ? expr_str_lt(p, x, y)
                            : expr_not(p, expr_str_lt(p, y, x));
  return t->op == TERM_LT ? expr_slt(p, x, y) : expr_sle(p, x, y);
}

static Expr member(Smt *z, const PhpTerm *t) {
  Expr any = expr_bool(z->pool, false), x = text(z, t->args[0]);
  uint32_t list = t->args[1];
  if (!x)
    return 0;
  for (; list && z->s->sh->terms[list].op == TERM_LIST;
       list = z->s->sh->terms[list].args[0]) {
    Expr item = text(z, z->s->sh->terms[list].args[1]);
    if (!item)
      return 0;
    any = expr_or(z->pool, any, expr_eq(z->pool, x, item));
  }
  return any;
}

static Expr part(Smt *z, const PhpTerm *t) {
  Expr s = text(z, t->args[0]), from = number(z, t->args[1]);
  ExprPool *p = z->pool;
  if (!s || !from)
    return 0;
  Expr len = expr_str_len(p, s), n = len;
  if (t->op == TERM_CHAR_AT)
    n = expr_const_int(p, 1);
  else if (t->nargs > 2 && !(n = number(z, t->args[2])))
    return 0;
  from = expr_ite(p, expr_slt(p, from, zero(z)), expr_add(p, len, from), from);
  n = expr_ite(p, expr_slt(p, n, zero(z)),
               expr_add(p, expr_sub(p, len, from), n), n);
  return expr_str_sub(p, s, from, n);
}

static Expr two_texts(Smt *z, const PhpTerm *t) {
  Expr a = text(z, t->args[0]), b = text(z, t->args[1]);
  ExprPool *p = z->pool;
  if (!a || !b)
    return 0;
  switch (t->op) {
  case TERM_CONCAT:
    return expr_str_concat(p, a, b);
  case TERM_CONTAINS:
    return expr_str_contains(p, a, b);
  case TERM_STARTS:
    return expr_str_prefix(p, b, a);
  case TERM_ENDS:
    return expr_str_suffix(p, b, a);
  case TERM_STRPOS:
    return expr_str_index(p, a, b, zero(z));
  default: // strcmp() and its like: 0 if they are equal
    return expr_ite(p, expr_eq(p, a, b), zero(z),
                    expr_ite(p, expr_str_lt(p, a, b), expr_const_int(p, -1),
                             expr_const_int(p, 1)));
  }
}

static Expr is_digits(Smt *z, uint32_t n) {
  Expr e = text(z, n);
  if (!e)
    return 0;
  return expr_sle(z->pool, zero(z), expr_str_to_int(z->pool, e));
}

static Expr negate(Smt *z, Expr e) { return e ? expr_not(z->pool, e) : 0; }

static Expr input_text(Smt *z, uint32_t n) {
  SmtInput *in = input_of(z, n);
  in->is_text = true;
  return expr_input(z->pool, in->text);
}

static Expr absolute(Smt *z, Expr n) {
  return n ? expr_ite(z->pool, expr_slt(z->pool, n, zero(z)),
                      expr_neg(z->pool, n), n)
           : 0;
}

static Expr translate(Smt *z, uint32_t n) {
  const PhpTerm *t = &z->s->sh->terms[n];
  switch (t->op) {
  case TERM_VAR:
    if (!input_is_free(t->name, z->s->session))
      return constant(z, t->value);
    return input_text(z, n);
  case TERM_CONST:
  case TERM_OPAQUE:
    return constant(z, t->value);
  case TERM_ADD:
  case TERM_SUB:
  case TERM_MUL:
  case TERM_DIV:
  case TERM_MOD:
  case TERM_INTDIV:
    return arithmetic(z, t);
  case TERM_MIN:
  case TERM_MAX:
    return t->nargs == 2 ? arithmetic(z, t) : 0;
  case TERM_EQ:
  case TERM_SAME:
  case TERM_HASH_EQUALS:
    return equal(z, t);
  case TERM_LT:
  case TERM_LE:
    return less(z, t);
  case TERM_NOT:
    return negate(z, truth(z, t->args[0]));
  case TERM_TRUTH:
    return truth(z, t->args[0]);
  case TERM_INT:
    return number(z, t->args[0]);
  case TERM_ABS:
    return absolute(z, number(z, t->args[0]));
  case TERM_ISSET:
    if (z->s->sh->terms[t->args[0]].op != TERM_VAR)
      return 0;
    return expr_input(z->pool, input_of(z, t->args[0])->present);
  case TERM_IN:
  case TERM_KEY_IN:
    return member(z, t);
  case TERM_CHAR_AT:
  case TERM_SUBSTR:
    return part(z, t);
  case TERM_STRLEN: {
    Expr s = text(z, t->args[0]);
    return s ? expr_str_len(z->pool, s) : 0;
  }
  case TERM_CONCAT:
  case TERM_CONTAINS:
  case TERM_STARTS:
  case TERM_ENDS:
  case TERM_STRPOS:
  case TERM_STRCMP:
  case TERM_STRCASECMP:
    return two_texts(z, t);
  case TERM_IS_NUMERIC:
  case TERM_NUMBERLIKE:
  case TERM_DIGITS:
    return is_digits(z, t->args[0]);
  case TERM_STRING:
  case TERM_TRIM:
  case TERM_LTRIM:
  case TERM_RTRIM:
  case TERM_LOWER:
  case TERM_UPPER:
  case TERM_UCFIRST:
  case TERM_LCFIRST:
  case TERM_ESCAPE_HTML:
    return text(z, t->args[0]);
  default:
    return 0;
  }
}

// Arguments first, so that the recursion stays shallow.
static Expr make(Smt *z, uint32_t n) {
  if (!n)
    return 0;
  if (!z->tried[n]) {
    z->tried[n] = true;
    z->made[n] = translate(z, n);
  }
  return z->made[n];
}

static void mark(const Smt *z, uint32_t n, bool *wanted) {
  wanted[n] = true;
  for (uint32_t i = n; i > 0; i--)
    for (unsigned k = 0; wanted[i] && k < z->s->sh->terms[i].nargs; k++)
      wanted[z->s->sh->terms[i].args[k]] = true;
}

static Expr demand(Smt *z, uint32_t n, bool *wanted) {
  mark(z, n, wanted);
  for (uint32_t i = 1; i < n; i++)
    if (wanted[i] && z->s->sh->terms[i].op != TERM_LIST &&
        z->s->sh->terms[i].op != TERM_VAR)
      make(z, i);
  return truth(z, n);
}

// --- asking -----------------------------------------------------------------

// The model's value of a variable; false: as in the run.
static bool look_up(const Smt *z, const Model *m, VarId var, uint64_t *value) {
  *value = expr_var_value(z->pool, var);
  for (size_t i = 0; i < m->len; i++)
    if (m->items[i].var == var) {
      *value = m->items[i].value;
      return true;
    }
  return false;
}

// False: the input is as in the run. A value given to what was absent makes it
// present.
static bool read_input(const Smt *z, const Model *m, const SmtInput *in,
                       PhpValue *v) {
  uint64_t present, value;
  size_t n;
  bool decided = look_up(z, m, in->present, &present), changed;
  if (in->is_number && !in->is_text) {
    changed = look_up(z, m, in->number, &value);
    *v = php_to_string(php_int((int64_t)value), z->s->arena);
  } else {
    changed = look_up(z, m, in->text, &value);
    const char *bytes = expr_text(z->pool, value, &n);
    *v = php_string(arena_strndup(z->s->arena, bytes, n), n);
  }
  if (!(present || (changed && !decided)))
    *v = php_null();
  return changed || decided;
}

static bool read_answer(const Smt *z, const Model *m, InputAnswer *out) {
  out->n = 0;
  for (size_t i = 0; i < z->inputs.len; i++) {
    PhpValue v;
    if (!read_input(z, m, &z->inputs.items[i], &v))
      continue;
    if (out->n == CHANGES_MOST || (v.n && memchr(v.s, '\0', v.n)))
      return false;
    out->items[out->n++] = (InputChange){z->inputs.items[i].var, v};
  }
  return out->n > 0;
}

// Small numbers are more likely, and easier to find.
static void keep_small(Smt *z) {
  for (size_t i = 0; i < z->inputs.len; i++) {
    if (!z->inputs.items[i].is_number)
      continue;
    Expr n = expr_input(z->pool, z->inputs.items[i].number);
    ask(z, expr_slt(z->pool, expr_const_int(z->pool, -SMALL), n));
    ask(z, expr_slt(z->pool, n, expr_const_int(z->pool, SMALL)));
  }
}

static bool ask_solver(Smt *z, InputAnswer *out) {
  Model m = {0};
  double begin = clock_now();
  double seconds = z->s->seconds > 0 ? z->s->seconds : SECONDS;
  if (z->s->until > 0 && z->s->until - begin < seconds)
    seconds = z->s->until - begin;
  if (seconds <= 0)
    return false;
  Solver *solver = solver_new(z->pool, (SolverLimits){.seconds = seconds});
  SolverResult r = solver_query(solver, 0, z->asked.items, z->asked.len, &m);
  z->s->stats->timeouts += r == SOLVER_UNKNOWN;
  z->s->stats->z3_seconds += clock_now() - begin;
  bool ok = r == SOLVER_SAT && read_answer(z, &m, out);
  model_release(&m);
  solver_free(solver);
  return ok;
}

bool smt_solve(const BranchSolver *s, const Demands *demands,
               InputAnswer *out) {
  if (s->sh->nterms > TERMS_MOST)
    return false;
  Smt z = {.s = s,
           .pool = expr_pool_new(),
           .made = mem_array(Expr, s->sh->nterms + 1),
           .tried = mem_array(bool, s->sh->nterms + 1)};
  bool *wanted = mem_array(bool, s->sh->nterms + 1);
  bool ok = true;
  for (size_t i = 0; i < demands->len && ok; i++) {
    Expr e = demand(&z, demands->items[i].term, wanted);
    if (e)
      array_push(&z.asked, (Constraint){e, demands->items[i].outcome});
    ok = e || i; // what is to change must be understood
  }
  tie(&z);
  size_t all = z.asked.len;
  keep_small(&z);
  ok = ok && (ask_solver(&z, out) ||
              (z.asked.len > all && (z.asked.len = all, ask_solver(&z, out))));
  array_release(&z.inputs);
  array_release(&z.asked);
  free(z.made);
  free(z.tried);
  free(wanted);
  expr_pool_free(z.pool);
  return ok;
}
