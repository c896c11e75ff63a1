// Expressions as circuits: see bitblast.h.
#include "solve/bitblast.h"

#include <assert.h>

#include "solve/gate_words.h"
#include "util/clock.h"

void bitblast_init(Bitblast *b, ExprPool *p) {
  *b = (Bitblast){.pool = p, .gates = gates_new()};
}

void bitblast_release(Bitblast *b) {
  gates_free(b->gates);
  expr_map_release(&b->words);
  array_release(&b->lits);
  array_release(&b->todo);
}

// --- literals of nodes ------------------------------------------------------

static Word load(const Bitblast *b, Expr e) {
  const uint64_t *at = expr_map_get(&b->words, e);
  assert(at);
  Word w = {.width = expr_width(b->pool, e)};
  for (unsigned i = 0; i < w.width; i++)
    w.bit[i] = b->lits.items[*at + i];
  return w;
}

static Lit load_defined(const Bitblast *b, Expr e) {
  const uint64_t *at = expr_map_get(&b->words, e);
  return b->lits.items[*at + expr_width(b->pool, e)];
}

static void save(Bitblast *b, Expr e, const Word *w, Lit defined) {
  assert(w->width == expr_width(b->pool, e));
  expr_map_put(&b->words, e, b->lits.len);
  for (unsigned i = 0; i < w->width; i++)
    array_push(&b->lits, w->bit[i]);
  array_push(&b->lits, defined);
}

static Word of_lit(Lit l) { return (Word){.bit = {l}, .width = 1}; }

static Word concat(const Word *high, const Word *low) {
  Word w = word_resize(low, low->width + high->width, false);
  for (unsigned i = 0; i < high->width; i++)
    w.bit[low->width + i] = high->bit[i];
  return w;
}

// --- bit-vectors ------------------------------------------------------------

static Word divided(Gates *g, ExprOp op, const Word *x, const Word *y) {
  Word q, r;
  if (op == EXPR_UDIV || op == EXPR_UREM)
    word_divide(g, x, y, &q, &r);
  else
    word_divide_signed(g, x, y, &q, &r);
  return op == EXPR_UDIV || op == EXPR_SDIV ? q : r;
}

static Word bitwise(Gates *g, ExprOp op, const Word *x, const Word *y) {
  Word w = {.width = x->width};
  for (unsigned i = 0; i < x->width; i++)
    w.bit[i] = op == EXPR_AND  ? gate_and(g, x->bit[i], y->bit[i])
               : op == EXPR_OR ? gate_or(g, x->bit[i], y->bit[i])
                               : gate_xor(g, x->bit[i], y->bit[i]);
  return w;
}

static Word binary(Gates *g, ExprOp op, const Word *x, const Word *y) {
  switch (op) {
  case EXPR_ADD:
    return word_add(g, x, y, LIT_FALSE);
  case EXPR_SUB:
    return word_sub(g, x, y);
  case EXPR_MUL:
    return word_mul(g, x, y);
  case EXPR_UDIV:
  case EXPR_UREM:
  case EXPR_SDIV:
  case EXPR_SREM:
    return divided(g, op, x, y);
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR:
    return bitwise(g, op, x, y);
  case EXPR_SHL:
    return word_shift(g, SHIFT_LEFT, x, y);
  case EXPR_LSHR:
    return word_shift(g, SHIFT_RIGHT, x, y);
  case EXPR_ASHR:
    return word_shift(g, SHIFT_RIGHT_SIGNED, x, y);
  case EXPR_EQ:
    return of_lit(word_eq(g, x, y));
  case EXPR_ULT:
    return of_lit(word_ult(g, x, y));
  case EXPR_SLT:
    return of_lit(word_slt(g, x, y));
  case EXPR_CONCAT:
    return concat(x, y);
  default:
    assert(!"an operator of bit-vectors");
    return *x;
  }
}

static Word table(const Bitblast *b, const ExprNode *n, const Word *index) {
  uint32_t len;
  const uint64_t *entries = expr_table_entries(b->pool, n->arg[1], &len);
  return word_table(b->gates, index, entries, len, n->sort.width);
}

static Word unary(Bitblast *b, const ExprNode *n, const Word *x) {
  switch ((ExprOp)n->op) {
  case EXPR_NOT:
    return word_not(x);
  case EXPR_NEG:
    return word_neg(b->gates, x);
  case EXPR_EXTRACT:
    return word_extract(x, n->arg[1], n->sort.width);
  case EXPR_ZEXT:
    return word_resize(x, n->sort.width, false);
  case EXPR_SEXT:
    return word_resize(x, n->sort.width, true);
  case EXPR_TABLE:
    return table(b, n, x);
  default:
    assert(!"an operator of bit-vectors");
    return *x;
  }
}

static Word build(Bitblast *b, const ExprNode *n) {
  if (n->op == EXPR_CONST)
    return word_const(n->sort.width, n->value);
  if (n->op == EXPR_VAR)
    return word_input(b->gates, n->sort.width, n->value);
  Word x = load(b, n->arg[0]);
  if (expr_arity((ExprOp)n->op) == 1)
    return unary(b, n, &x);
  Word y = load(b, n->arg[1]);
  if (n->op != EXPR_ITE)
    return binary(b->gates, (ExprOp)n->op, &x, &y);
  Word z = load(b, n->arg[2]);
  return word_mux(b->gates, x.bit[0], &y, &z);
}

// --- INT: does the result fit? ----------------------------------------------

// Computes once more with twice the bits, and compares.
static Lit fits(Bitblast *b, const ExprNode *n, const Word *result) {
  Gates *g = b->gates;
  unsigned wide = n->op == EXPR_MUL ? 128 : 65;
  Word x = load(b, n->arg[0]), y, w;
  x = word_resize(&x, wide, true);
  if (n->op == EXPR_NEG)
    w = word_neg(g, &x);
  else {
    y = load(b, n->arg[1]);
    y = word_resize(&y, wide, true);
    w = binary(g, (ExprOp)n->op, &x, &y);
  }
  Word back = word_resize(result, wide, true);
  return word_eq(g, &w, &back);
}

// Not by zero, and not INT_MIN / -1.
static Lit divides(Bitblast *b, const ExprNode *n) {
  Gates *g = b->gates;
  Word x = load(b, n->arg[0]), y = load(b, n->arg[1]);
  Word min = word_const(64, 1ull << 63), minus_one = word_const(64, ~0ull);
  Lit over = gate_and(g, word_eq(g, &x, &min), word_eq(g, &y, &minus_one));
  Lit nonzero = word_nonzero(g, &y);
  return n->op == EXPR_SDIV ? gate_and(g, nonzero, -over) : nonzero;
}

static Lit define(Bitblast *b, const ExprNode *n, const Word *result) {
  Lit d = LIT_TRUE;
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    d = gate_and(b->gates, d, load_defined(b, n->arg[i]));
  if (n->sort.kind != SORT_INT)
    return d;
  switch ((ExprOp)n->op) {
  case EXPR_NEG:
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
    return gate_and(b->gates, d, fits(b, n, result));
  case EXPR_SDIV:
  case EXPR_SREM:
    return gate_and(b->gates, d, divides(b, n));
  default:
    return d;
  }
}

// --- all --------------------------------------------------------------------

static bool push_missing(Bitblast *b, const ExprNode *n) {
  size_t before = b->todo.len;
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    if (!expr_map_get(&b->words, n->arg[i]))
      array_push(&b->todo, n->arg[i]);
  return b->todo.len > before;
}

bool bitblast_condition(Bitblast *b, Expr e, uint32_t max_gates,
                        double deadline, Lit *value, Lit *defined) {
  enum { LOOK_EVERY = 256 }; // nodes, at the clock
  uint32_t first = gates_count(b->gates), built = 0;
  b->todo.len = 0;
  array_push(&b->todo, e);
  while (b->todo.len) {
    if (gates_count(b->gates) - first > max_gates)
      return false;
    Expr top = array_last(&b->todo);
    const ExprNode *n = expr_node(b->pool, top);
    if (!expr_map_get(&b->words, top)) {
      if (push_missing(b, n))
        continue;
      if (++built % LOOK_EVERY == 0 && clock_now() > deadline)
        return false;
      Word w = build(b, n);
      save(b, top, &w, define(b, n, &w));
    }
    b->todo.len--;
  }
  *value = load(b, e).bit[0];
  *defined = load_defined(b, e);
  return true;
}

uint64_t bitblast_model(const Bitblast *b, VarId v) {
  Expr e = expr_input(b->pool, v);
  if (!expr_map_get(&b->words, e))
    return expr_value(b->pool, e);
  Word w = load(b, e);
  uint64_t value = 0;
  for (unsigned i = 0; i < w.width; i++)
    value |= (uint64_t)gates_model(b->gates, w.bit[i]) << i;
  return value;
}
