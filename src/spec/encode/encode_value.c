// Values as lists of choices: see encode_value.h.
#include "spec/encode/encode_value.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_expr.h"

enum {
  POINTERS_MAX = 1024, // choices of a pointer
  NUMBERS_MAX = 128,   // of another value
  PRODUCT_MAX = 600,   // pairs of choices an operation is applied to
};

void val_pool_init(ValPool *v, ExprPool *pool) {
  *v = (ValPool){.pool = pool};
  array_push(&v->nodes, (ValNode){0});
}

void val_pool_release(ValPool *v) {
  array_release(&v->nodes);
  array_release(&v->choices);
  hashmap_release(&v->known);
}

// --- making them ------------------------------------------------------------

static Val intern(ValPool *v, const void *key, size_t n, ValNode node) {
  uint64_t fresh = v->nodes.len;
  uint64_t x = hashmap_intern(&v->known, key, n, fresh);
  if (x == fresh)
    array_push(&v->nodes, node);
  return (Val)x;
}

static uint64_t cut(unsigned width, uint64_t value) {
  return value & expr_mask(width);
}

Val val_const(ValPool *v, unsigned width, uint64_t value) {
  const struct {
    uint64_t kind, width, value;
  } key = {1, width, cut(width, value)};
  uint32_t first = (uint32_t)v->choices.len;
  array_push(&v->choices, (Choice){expr_bool(v->pool, true), key.value});
  Val x = intern(v, &key, sizeof key,
                 (ValNode){.width = (uint8_t)width, .first = first, .n = 1});
  if (v->nodes.items[x].first != first)
    v->choices.len--;
  return x;
}

bool val_is_const(const ValPool *v, Val x, uint64_t *value) {
  const ValNode *n = val_node(v, x);
  if (n->n != 1)
    return false;
  *value = v->choices.items[n->first].value;
  return true;
}

Val val_of(ValPool *v, Expr e) {
  if (expr_is_const(v->pool, e))
    return val_const(v, expr_width(v->pool, e), expr_value(v->pool, e));
  const uint64_t key[2] = {2, e};
  return intern(v, key, sizeof key,
                (ValNode){.width = (uint8_t)expr_width(v->pool, e), .expr = e});
}

static Expr list_expr(ValPool *v, const ValNode *n) {
  const Choice *c = &v->choices.items[n->first];
  Expr e = expr_const(v->pool, n->width, c[n->n - 1].value);
  for (uint32_t i = n->n - 1; i-- > 0;)
    e = expr_ite(v->pool, c[i].guard, expr_const(v->pool, n->width, c[i].value),
                 e);
  return e;
}

Expr val_expr(ValPool *v, Val x) {
  ValNode n = *val_node(v, x);
  if (n.expr)
    return n.expr;
  Expr e = n.base ? expr_add(v->pool, val_expr(v, n.base), n.offset)
                  : list_expr(v, &n);
  v->nodes.items[x].expr = e;
  return e;
}

uint64_t val_in_run(ValPool *v, Val x) {
  const ValNode *n = val_node(v, x);
  for (uint32_t i = 0; i < n->n; i++)
    if (i + 1 == n->n ||
        expr_value(v->pool, v->choices.items[n->first + i].guard))
      return v->choices.items[n->first + i].value;
  if (n->base)
    return val_in_run(v, n->base) + expr_value(v->pool, n->offset);
  return expr_value(v->pool, n->expr);
}

static int by_value(const void *a, const void *b) {
  uint64_t x = ((const Choice *)a)->value, y = ((const Choice *)b)->value;
  return x < y ? -1 : x > y;
}

// Sorted by value, equal ones joined, impossible ones left out.
static size_t tidy(const ValPool *v, unsigned width, Choice *c, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    c[i].value = cut(width, c[i].value);
  qsort(c, n, sizeof *c, by_value);
  for (size_t i = 0; i < n; i++) {
    if (expr_is_const(v->pool, c[i].guard) && !expr_value(v->pool, c[i].guard))
      continue;
    if (kept && c[kept - 1].value == c[i].value)
      c[kept - 1].guard = cond_or(v, c[kept - 1].guard, c[i].guard);
    else
      c[kept++] = c[i];
  }
  return kept;
}

static Val truth(ValPool *v, const Choice *c, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (c[i].value)
      return val_of(v, c[i].guard);
  return val_const(v, 1, 0);
}

static Val store_list(ValPool *v, unsigned width, bool pointer, const Choice *c,
                      size_t n) {
  size_t bytes = n * sizeof *c + 3 * sizeof(uint64_t);
  uint64_t *key = mem_alloc(bytes);
  key[0] = 3;
  key[1] = width;
  key[2] = pointer;
  for (size_t i = 0; i < n; i++) { // a Choice has padding
    key[3 + 2 * i] = c[i].guard;
    key[4 + 2 * i] = c[i].value;
  }
  uint32_t first = (uint32_t)v->choices.len;
  for (size_t i = 0; i < n; i++)
    array_push(&v->choices, c[i]);
  Val x = intern(v, key, bytes,
                 (ValNode){.width = (uint8_t)width,
                           .pointer = pointer,
                           .first = first,
                           .n = (uint32_t)n});
  if (v->nodes.items[x].first != first)
    v->choices.len -= n;
  free(key);
  return x;
}

Val val_list(ValPool *v, unsigned width, bool pointer, const Choice *c,
             size_t n) {
  Choice *own = mem_dup(c, n * sizeof *c);
  n = tidy(v, width, own, n);
  Val x;
  if (n <= 1)
    x = val_const(v, width, n ? own[0].value : 0);
  else if (width == 1)
    x = truth(v, own, n);
  else
    x = store_list(v, width, pointer, own, n);
  free(own);
  return x;
}

Val val_free(ValPool *v, unsigned width, uint64_t run) {
  char name[32];
  snprintf(name, sizeof name, "free%u", v->nfree++);
  VarId var = expr_new_var(v->pool, name, expr_bv(width), cut(width, run));
  return val_of(v, expr_input(v->pool, var));
}

Val val_resize(ValPool *v, Val x, unsigned width) {
  ValNode n = *val_node(v, x);
  if (n.width == width)
    return x;
  if (n.n)
    return val_list(v, width, n.pointer, val_choices(v, x), n.n);
  Expr e = val_expr(v, x);
  return val_of(v, width < n.width ? expr_trunc(v->pool, e, width)
                                   : expr_zext(v->pool, e, width));
}

static unsigned bits_for(size_t n) {
  unsigned bits = 1;
  while (((size_t)1 << bits) < n)
    bits++;
  return bits;
}

Val val_any_of(ValPool *v, const uint64_t *values, size_t n, size_t run) {
  assert(n);
  if (n == 1)
    return val_const(v, 64, values[0]);
  unsigned width = bits_for(n);
  Expr index = val_expr(v, val_free(v, width, run));
  Choice *c = mem_array(Choice, n);
  for (size_t i = 0; i < n; i++) {
    Expr at = expr_const(v->pool, width, i);
    c[i].guard = i + 1 < n ? expr_eq(v->pool, index, at)
                           : cond_not(v, expr_ult(v->pool, index, at));
    c[i].value = values[i];
  }
  Val x = val_list(v, 64, true, c, n);
  free(c);
  return x;
}

Val val_pointer(ValPool *v, Val x) {
  const ValNode *n = val_node(v, x);
  if (n->pointer || n->n < 2)
    return x;
  Choice *own = mem_dup(val_choices(v, x), n->n * sizeof *own);
  Val p = store_list(v, n->width, true, own, n->n);
  free(own);
  return p;
}

// --- choosing ---------------------------------------------------------------

static size_t most_choices(bool pointer) {
  return pointer ? POINTERS_MAX : NUMBERS_MAX;
}

// The values as one list, if that is not too long; else 0.
static Val select_lists(ValPool *v, const Expr *guards, const Val *values,
                        size_t n) {
  bool pointer = false;
  Choices all = {0};
  Val x = 0;
  for (size_t i = 0; i < n; i++)
    pointer |= val_node(v, values[i])->pointer;
  for (size_t i = 0; i < n; i++) {
    const ValNode *node = val_node(v, values[i]);
    if (!node->n)
      goto out;
    for (uint32_t k = 0; k < node->n; k++) {
      Choice c = v->choices.items[node->first + k];
      array_push(&all, (Choice){cond_and(v, guards[i], c.guard), c.value});
    }
  }
  unsigned width = val_width(v, values[0]);
  all.len = tidy(v, width, all.items, all.len);
  if (all.len <= most_choices(pointer || width == 64))
    x = val_list(v, width, pointer, all.items, all.len);
out:
  array_release(&all);
  return x;
}

Val val_select(ValPool *v, const Expr *guards, const Val *values, size_t n) {
  assert(n);
  bool same = true;
  for (size_t i = 1; i < n; i++)
    same &= values[i] == values[0];
  if (same)
    return values[0];
  Val x = select_lists(v, guards, values, n);
  if (x)
    return x;
  Expr e = val_expr(v, values[n - 1]);
  for (size_t i = n - 1; i-- > 0;)
    e = expr_ite(v->pool, guards[i], val_expr(v, values[i]), e);
  return val_of(v, e);
}

Val val_ite(ValPool *v, Expr cond, Val a, Val b) {
  if (a == b)
    return a;
  if (expr_is_const(v->pool, cond))
    return expr_value(v->pool, cond) ? a : b;
  return val_select(v, (Expr[]){cond, cond_not(v, cond)}, (Val[]){a, b}, 2);
}

// --- computing --------------------------------------------------------------

static Expr as_bits(ValPool *v, Expr e) {
  return expr_sort(v->pool, e).kind == SORT_FP ? expr_bits_of_fp(v->pool, e)
                                               : e;
}

// Equal: both are the same value.
static Val equal_lists(ValPool *v, Val a, Val b, bool negate) {
  const ValNode *x = val_node(v, a), *y = val_node(v, b);
  Expr any = expr_bool(v->pool, false);
  for (uint32_t i = 0, k = 0; i < x->n && k < y->n;) { // both are sorted
    Choice c = v->choices.items[x->first + i],
           d = v->choices.items[y->first + k];
    if (c.value == d.value)
      any = cond_or(v, any, cond_and(v, c.guard, d.guard));
    i += c.value <= d.value;
    k += d.value <= c.value;
  }
  return val_of(v, negate ? cond_not(v, any) : any);
}

static uint64_t apply_const(ValPool *v, const IrInst *i, uint64_t a,
                            uint64_t b) {
  Expr e =
      ir_expr(v->pool, i, (IrValue){a, 0}, (IrValue){b, 0}, (IrValue){0, 0});
  return e ? expr_value(v->pool, as_bits(v, e)) : 0;
}

static unsigned result_width(const IrInst *i) {
  bool truth = (i->op >= IR_EQ && i->op <= IR_SLE) || i->op == IR_FCMP ||
               (i->op >= IR_UADD_OVER && i->op <= IR_SMUL_OVER);
  return truth ? 1 : i->width;
}

// Pointer and number give a pointer; two pointers, a distance.
static bool is_sum_of_pointer(const ValPool *v, const IrInst *i, Val a, Val b) {
  bool x = val_node(v, a)->pointer, y = b && val_node(v, b)->pointer;
  return (i->op == IR_ADD && x != y) || (i->op == IR_SUB && x && !y);
}

// Applied to every pair of choices.
static Val apply_lists(ValPool *v, const IrInst *i, Val a, Val b) {
  uint32_t na = val_node(v, a)->n, nb = b ? val_node(v, b)->n : 1;
  bool pointer = is_sum_of_pointer(v, i, a, b);
  Choices all = {0};
  for (uint32_t k = 0; k < na; k++)
    for (uint32_t m = 0; m < nb; m++) {
      Choice x = val_choices(v, a)[k];
      Choice y =
          b ? val_choices(v, b)[m] : (Choice){expr_bool(v->pool, true), 0};
      array_push(&all, (Choice){cond_and(v, x.guard, y.guard),
                                apply_const(v, i, x.value, y.value)});
    }
  Val r = val_list(v, result_width(i), pointer, all.items, all.len);
  array_release(&all);
  if (val_node(v, r)->n > most_choices(pointer || i->width == 64))
    r = val_of(v, val_expr(v, r));
  return r;
}

static Val add_offset(ValPool *v, Val base, Expr offset) {
  ValNode n = *val_node(v, base);
  if (n.base) {
    offset = expr_add(v->pool, n.offset, offset);
    base = n.base;
  }
  const uint64_t key[3] = {4, base, offset};
  return intern(
      v, key, sizeof key,
      (ValNode){.width = 64, .pointer = true, .base = base, .offset = offset});
}

static bool is_place(const ValPool *v, Val x) {
  const ValNode *n = val_node(v, x);
  return n->base || (n->n && (n->pointer || n->n == 1));
}

// A pointer and something that has no list: base and offset.
static Val apply_offset(ValPool *v, const IrInst *i, Val a, Val b) {
  if (i->op != IR_ADD || i->width != 64)
    return 0;
  bool first = is_place(v, a) && (val_node(v, a)->base || !val_node(v, b)->n);
  bool second = is_place(v, b) && (val_node(v, b)->base || !val_node(v, a)->n);
  if (first && val_node(v, a)->n == 1 && second)
    first = false;
  uint64_t number;
  Val base = first ? a : b;
  if ((!first && !second) || (val_is_const(v, base, &number) && number < 4096))
    return 0;
  return add_offset(v, base, val_expr(v, first ? b : a));
}

static Val apply_expr(ValPool *v, const IrInst *i, Val a, Val b, Val c) {
  IrValue x = {0, a ? val_expr(v, a) : 0}, y = {0, b ? val_expr(v, b) : 0},
          z = {0, c ? val_expr(v, c) : 0};
  Expr e = ir_expr(v->pool, i, x, y, z);
  return e ? val_of(v, as_bits(v, e)) : 0;
}

Val val_apply(ValPool *v, const IrInst *i, Val a, Val b, Val c) {
  if (i->op == IR_MOVE)
    return a;
  if (i->op == IR_SELECT)
    return val_ite(v, val_expr(v, a), b, c);
  uint32_t na = val_node(v, a)->n, nb = b ? val_node(v, b)->n : 1;
  if (na && nb && !c) {
    if (i->op == IR_EQ || i->op == IR_NE)
      return equal_lists(v, a, b, i->op == IR_NE);
    if (na * nb <= PRODUCT_MAX)
      return apply_lists(v, i, a, b);
  }
  Val r = b && !c ? apply_offset(v, i, a, b) : 0;
  return r ? r : apply_expr(v, i, a, b, c);
}
