// Evaluates terms for other input than that of the run: see term.h.
//
// Terms lie in an order in which arguments come first. A term whose inputs are
// all as in the run keeps its value from there; the others are computed again,
// those that are asked for and what they are made of, from the lowest up.
//
// Memory: values of the run in one arena, those of an assignment in another.
#include "php/record/term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/array.h"
#include "util/mem.h"
#include "util/str.h"

enum { GROUPS_MOST = 1000 }; // of a pattern

struct TermEval {
  const PhpShadows *sh;
  PhpValue *run, *now; // by term
  uint32_t *stamp;     // now[] is of this turn
  uint64_t *support;   // of inputs, 64 buckets
  uint64_t *hash;
  PhpValue *set; // of VARs
  bool *is_set;
  uint64_t changed; // buckets of the inputs that are set
  uint32_t turn;
  ARRAY(uint32_t) vars;  // VAR terms
  ARRAY(uint32_t) stack; // to be computed, each before the one below it
  Arena run_arena, arena;
};

// --- operators --------------------------------------------------------------

static PhpValue add_ints(TermOp op, int64_t a, int64_t b) {
  int64_t r;
  bool over = op == TERM_ADD   ? __builtin_add_overflow(a, b, &r)
              : op == TERM_SUB ? __builtin_sub_overflow(a, b, &r)
                               : __builtin_mul_overflow(a, b, &r);
  if (!over)
    return php_int(r);
  double x = (double)a, y = (double)b;
  return php_float(op == TERM_ADD ? x + y : op == TERM_SUB ? x - y : x * y);
}

static double as_double(PhpValue v) {
  return v.type == VALUE_INT ? (double)v.i : v.d;
}

static PhpValue divide(PhpValue a, PhpValue b) {
  if (as_double(b) == 0)
    return php_unknown();
  if (a.type == VALUE_INT && b.type == VALUE_INT && b.i != -1 && a.i % b.i == 0)
    return php_int(a.i / b.i);
  return php_float(as_double(a) / as_double(b));
}

static PhpValue power(PhpValue a, PhpValue b) {
  if (a.type != VALUE_INT || b.type != VALUE_INT || b.i < 0)
    return php_float(pow(as_double(a), as_double(b)));
  PhpValue r = php_int(1);
  for (int64_t i = 0; i < b.i && i < 64 && r.type == VALUE_INT; i++)
    r = add_ints(TERM_MUL, r.i, a.i);
  if (r.type == VALUE_INT && (b.i <= 64 || (a.i >= -1 && a.i <= 1)))
    return b.i <= 64 ? r : php_int(a.i == -1 && b.i % 2 == 0 ? 1 : a.i);
  return php_float(pow(as_double(a), as_double(b)));
}

// -strcmp() is strcmp() times -1.
static PhpValue multiply_signs(TermOp op, PhpValue a, PhpValue b) {
  if (op != TERM_MUL || a.type != VALUE_INT || b.type != VALUE_INT)
    return php_unknown();
  return php_sign(b.i && (a.i > 0) != (b.i > 0) ? -1 : a.i && b.i);
}

static PhpValue arithmetic(TermOp op, PhpValue x, PhpValue y) {
  PhpValue a = php_to_number(x), b = php_to_number(y);
  if (a.type == VALUE_UNKNOWN || b.type == VALUE_UNKNOWN)
    return php_unknown();
  if (a.sign_only || b.sign_only)
    return multiply_signs(op, a, b);
  if (op == TERM_DIV)
    return divide(a, b);
  if (op == TERM_POW)
    return power(a, b);
  if (a.type == VALUE_INT && b.type == VALUE_INT)
    return add_ints(op, a.i, b.i);
  double p = as_double(a), q = as_double(b);
  return php_float(op == TERM_ADD ? p + q : op == TERM_SUB ? p - q : p * q);
}

static PhpValue shift(TermOp op, int64_t a, int64_t by) {
  if (by < 0)
    return php_unknown(); // ArithmeticError
  if (by >= 64)
    return php_int(op == TERM_SHR && a < 0 ? -1 : 0);
  return php_int(op == TERM_SHL ? (int64_t)((uint64_t)a << by) : a >> by);
}

// For operators on integers: what is no number throws, strings are cut at the
// ends of the range.
static PhpValue integer_of(PhpValue v) {
  PhpValue n = php_to_number(v);
  if (n.sign_only)
    return php_unknown();
  return n.type == VALUE_UNKNOWN ? n : php_to_int(v);
}

static PhpValue integers(TermOp op, PhpValue x, PhpValue y) {
  PhpValue a = integer_of(x), b = integer_of(y);
  if (a.type == VALUE_UNKNOWN || b.type == VALUE_UNKNOWN)
    return php_unknown();
  switch (op) {
  case TERM_MOD:
    return b.i == 0 ? php_unknown() : php_int(b.i == -1 ? 0 : a.i % b.i);
  case TERM_BIT_AND:
    return php_int(a.i & b.i);
  case TERM_BIT_OR:
    return php_int(a.i | b.i);
  case TERM_BIT_XOR:
    return php_int(a.i ^ b.i);
  default:
    return shift(op, a.i, b.i);
  }
}

static PhpValue concat(PhpValue x, PhpValue y, Arena *arena) {
  PhpValue a = php_to_string(x, arena), b = php_to_string(y, arena);
  if (a.type == VALUE_UNKNOWN || b.type == VALUE_UNKNOWN)
    return php_unknown();
  if (!b.n)
    return a;
  if (!a.n)
    return b;
  char *both = arena_alloc(arena, a.n + b.n + 1);
  memcpy(both, a.s, a.n);
  memcpy(both + a.n, b.s, b.n);
  return php_string(both, a.n + b.n);
}

static PhpValue compare(TermOp op, PhpValue a, PhpValue b, Arena *arena) {
  int order = php_order(a, b, arena);
  if (order == 2)
    return php_unknown();
  switch (op) {
  case TERM_EQ:
    return php_bool(order == 0);
  case TERM_SAME:
    return php_bool(php_same(a, b));
  case TERM_LT:
    return php_bool(order < 0);
  case TERM_LE:
    return php_bool(order <= 0);
  default:
    return php_int(order);
  }
}

// --- lists ------------------------------------------------------------------

// An array's key: "12" and 12 are the same.
static bool is_same_key(PhpValue a, PhpValue b, Arena *arena) {
  return php_same(php_to_string(a, arena), php_to_string(b, arena));
}

static PhpValue search_list(TermEval *ev, const PhpTerm *t, Arena *arena) {
  PhpValue value = ev->now[t->args[0]];
  bool strict = t->op == TERM_IN && php_truth(ev->now[t->args[2]]);
  uint32_t list = t->args[1];
  if (value.type == VALUE_UNKNOWN)
    return value;
  for (; list && ev->sh->terms[list].op == TERM_LIST;
       list = ev->sh->terms[list].args[0]) {
    PhpValue item = ev->now[ev->sh->terms[list].args[1]];
    if (item.type == VALUE_UNKNOWN)
      return item;
    bool found = t->op == TERM_KEY_IN ? is_same_key(value, item, arena)
                 : strict             ? php_same(value, item)
                                      : php_order(value, item, arena) == 0;
    if (found)
      return php_bool(true);
  }
  return php_bool(false);
}

static PhpValue character(PhpValue text, PhpValue at) {
  if (text.type != VALUE_STRING || at.type != VALUE_INT || at.i < 0 ||
      (uint64_t)at.i >= text.n)
    return php_unknown();
  return php_string(text.s + at.i, 1);
}

static PhpValue piece(PhpValue glue, PhpValue text, PhpValue index) {
  if (glue.type != VALUE_STRING || text.type != VALUE_STRING || !glue.n)
    return php_unknown();
  const char *at = text.s, *end = text.s + text.n;
  for (int64_t i = 0;; i++) {
    const char *next = memmem(at, (size_t)(end - at), glue.s, glue.n);
    if (i == index.i)
      return php_string(at, (size_t)((next ? next : end) - at));
    if (!next)
      return php_null();
    at = next + glue.n;
  }
}

static PhpValue count_pieces(PhpValue glue, PhpValue text, Arena *arena) {
  PhpValue args[2] = {text, glue};
  PhpValue n = term_call(TERM_COUNT_TEXT, args, 2, arena);
  return n.type == VALUE_INT ? php_int(n.i + 1) : php_unknown();
}

// --- terms ------------------------------------------------------------------

// Are the arguments those of the run?
static bool is_as_then(const TermEval *ev, const PhpTerm *t) {
  unsigned i = 0;
  while (i < t->nargs && php_same(ev->now[t->args[i]], ev->run[t->args[i]]))
    i++;
  return i == t->nargs;
}

static PhpValue opaque(const TermEval *ev, const PhpTerm *t) {
  return is_as_then(ev, t) ? t->value : php_unknown();
}

// Of what only the sign is known the run has the number.
static PhpValue with_number(const TermEval *ev, const PhpTerm *t, PhpValue v) {
  bool same = v.sign_only && t->value.type == VALUE_INT && t->value.i &&
              (t->value.i > 0) == (v.i > 0) && is_as_then(ev, t);
  return same ? php_int(t->value.i) : v;
}

static PhpValue unary(TermOp op, PhpValue a, Arena *arena) {
  if (a.type == VALUE_UNKNOWN)
    return a;
  switch (op) {
  case TERM_NOT:
    return php_bool(!php_truth(a));
  case TERM_TRUTH:
    return php_bool(php_truth(a));
  case TERM_INT:
    return php_to_int(a);
  case TERM_FLOAT:
    return php_to_float(a);
  case TERM_STRING:
    return php_to_string(a, arena);
  default: // ISSET
    return php_bool(a.type != VALUE_NULL);
  }
}

static PhpValue operate(const PhpTerm *t, const PhpValue *a, Arena *arena) {
  switch (t->op) {
  case TERM_ADD:
  case TERM_SUB:
  case TERM_MUL:
  case TERM_DIV:
  case TERM_POW:
    return arithmetic(t->op, a[0], a[1]);
  case TERM_MOD:
  case TERM_BIT_AND:
  case TERM_BIT_OR:
  case TERM_BIT_XOR:
  case TERM_SHL:
  case TERM_SHR:
    return integers(t->op, a[0], a[1]);
  case TERM_CONCAT:
    return concat(a[0], a[1], arena);
  case TERM_EQ:
  case TERM_SAME:
  case TERM_LT:
  case TERM_LE:
  case TERM_ORDER:
    return compare(t->op, a[0], a[1], arena);
  case TERM_CHAR_AT:
    return character(a[0], a[1]);
  case TERM_EXPLODE_AT:
    return piece(a[0], a[1], a[2]);
  case TERM_EXPLODE_COUNT:
    return count_pieces(a[0], a[1], arena);
  case TERM_PREG:
    return term_preg(a[0], a[1], -1, arena);
  case TERM_PREG_GROUP:
    if (a[2].type != VALUE_INT || a[2].i < 0 || a[2].i > GROUPS_MOST)
      return php_unknown();
    return term_preg(a[0], a[1], (int)a[2].i, arena);
  default:
    if (t->op < TERM_STRLEN)
      return unary(t->op, a[0], arena);
    return term_call(t->op, a, t->nargs, arena);
  }
}

static PhpValue compute(TermEval *ev, uint32_t n, Arena *arena) {
  const PhpTerm *t = &ev->sh->terms[n];
  PhpValue args[TERM_ARGS];
  switch (t->op) {
  case TERM_VAR:
    return ev->is_set[n] ? ev->set[n] : t->value;
  case TERM_NONE:
  case TERM_CONST:
    return t->value;
  case TERM_OPAQUE:
    return opaque(ev, t);
  case TERM_LIST:
    return php_null();
  case TERM_IN:
  case TERM_KEY_IN:
    return search_list(ev, t, arena);
  default:
    for (unsigned i = 0; i < t->nargs; i++)
      args[i] = ev->now[t->args[i]];
    return with_number(ev, t, operate(t, args, arena));
  }
}

// --- the run ----------------------------------------------------------------

static uint64_t own_support(const PhpTerm *t) {
  uint64_t h = 5381;
  for (const char *p = t->name; *p; p++)
    h = h * 33 + (unsigned char)*p;
  return 1ull << (h & 63);
}

static void find_support(TermEval *ev) {
  const PhpShadows *sh = ev->sh;
  for (size_t n = 1; n < sh->nterms; n++) {
    const PhpTerm *t = &sh->terms[n];
    ev->support[n] = t->op == TERM_VAR ? own_support(t) : 0;
    for (unsigned i = 0; i < t->nargs; i++)
      ev->support[n] |= ev->support[t->args[i]];
  }
}

// Of inputs the name only, so that it is the same in other requests.
static uint64_t hash_term(const TermEval *ev, const PhpTerm *t) {
  uint64_t key[4 + TERM_ARGS] = {t->op, t->nargs};
  bool told = t->op == TERM_CONST || t->op == TERM_OPAQUE ||
              (t->op == TERM_VAR && text_starts(t->name, "DB."));
  if (told) {
    key[2] = (uint64_t)t->value.type;
    key[3] = (uint64_t)t->value.i;
    memcpy(&key[4], &t->value.d, sizeof t->value.d);
  }
  for (unsigned i = 0; i < t->nargs; i++)
    key[4 + i] ^= ev->hash[t->args[i]];
  uint64_t h = XXH3_64bits(key, sizeof key);
  h = XXH3_64bits_withSeed(t->name, strlen(t->name), h);
  return told && t->value.type == VALUE_STRING
             ? XXH3_64bits_withSeed(t->value.s, t->value.n, h)
             : h;
}

TermEval *term_eval_new(const PhpShadows *shadows) {
  TermEval *ev = mem_new(TermEval);
  size_t n = shadows->nterms + 1;
  ev->sh = shadows;
  ev->run = mem_array(PhpValue, n);
  ev->now = mem_array(PhpValue, n);
  ev->set = mem_array(PhpValue, n);
  ev->is_set = mem_array(bool, n);
  ev->stamp = mem_array(uint32_t, n);
  ev->support = mem_array(uint64_t, n);
  ev->hash = mem_array(uint64_t, n);
  ev->turn = 1;
  find_support(ev);
  for (size_t i = 1; i < shadows->nterms; i++) {
    if (shadows->terms[i].op == TERM_OPAQUE)
      ev->now[i] = shadows->terms[i].value;
    else
      ev->now[i] = compute(ev, (uint32_t)i, &ev->run_arena);
    ev->run[i] = ev->now[i];
    ev->hash[i] = hash_term(ev, &shadows->terms[i]);
    if (shadows->terms[i].op == TERM_VAR)
      array_push(&ev->vars, (uint32_t)i);
  }
  return ev;
}

void term_eval_free(TermEval *ev) {
  if (!ev)
    return;
  arena_release(&ev->run_arena);
  arena_release(&ev->arena);
  free(ev->run);
  free(ev->now);
  free(ev->set);
  free(ev->is_set);
  free(ev->stamp);
  free(ev->support);
  free(ev->hash);
  array_release(&ev->vars);
  array_release(&ev->stack);
  free(ev);
}

// --- other input ------------------------------------------------------------

// Terms of the same name are the same input, told at different times.
void term_eval_set(TermEval *ev, uint32_t var, PhpValue value) {
  const PhpShadows *sh = ev->sh;
  for (size_t i = 0; i < ev->vars.len; i++) {
    uint32_t n = ev->vars.items[i];
    if (n != var && strcmp(sh->terms[n].name, sh->terms[var].name) != 0)
      continue;
    ev->set[n] = value;
    ev->is_set[n] = true;
    ev->changed |= ev->support[n];
  }
  ev->turn++;
}

void term_eval_clear(TermEval *ev) {
  for (size_t i = 0; i < ev->vars.len; i++)
    ev->is_set[ev->vars.items[i]] = false;
  ev->changed = 0;
  ev->turn++;
  arena_release(&ev->arena);
}

uint64_t term_hash(const TermEval *ev, uint32_t term) { return ev->hash[term]; }

uint64_t term_support(const TermEval *ev, uint32_t term) {
  return ev->support[term];
}

// True: the value of this turn is there. What no set input reaches is as it was
// in the run.
static bool is_computed(TermEval *ev, uint32_t n) {
  if (ev->stamp[n] == ev->turn)
    return true;
  if (ev->support[n] & ev->changed)
    return false;
  ev->now[n] = ev->run[n];
  ev->stamp[n] = ev->turn;
  return true;
}

// Puts on the stack what `n` is made of and is not computed.
static bool push_missing(TermEval *ev, uint32_t n) {
  const PhpTerm *t = &ev->sh->terms[n];
  size_t before = ev->stack.len;
  for (unsigned i = 0; i < t->nargs; i++)
    if (!is_computed(ev, t->args[i]))
      array_push(&ev->stack, t->args[i]);
  return ev->stack.len > before;
}

PhpValue term_eval(TermEval *ev, uint32_t term) {
  if (is_computed(ev, term))
    return ev->now[term];
  array_push(&ev->stack, term);
  while (ev->stack.len) {
    uint32_t n = array_last(&ev->stack);
    if (!is_computed(ev, n)) {
      if (push_missing(ev, n))
        continue;
      ev->now[n] = compute(ev, n, &ev->arena);
      ev->stamp[n] = ev->turn;
    }
    ev->stack.len--;
  }
  return ev->now[term];
}

bool term_decides(TermEval *ev, uint32_t term, bool outcome) {
  PhpValue v = term_eval(ev, term);
  return v.type != VALUE_UNKNOWN && php_truth(v) == outcome;
}

size_t term_check(const PhpShadows *shadows, size_t *first) {
  size_t wrong = 0;
  TermEval *ev = term_eval_new(shadows);
  for (size_t i = 0; i < shadows->nbranches; i++) {
    const PhpBranch *b = &shadows->branches[i];
    if (term_decides(ev, b->term, b->outcome))
      continue;
    if (!wrong++ && first)
      *first = i;
  }
  term_eval_free(ev);
  return wrong;
}
