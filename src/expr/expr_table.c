// Constant tables, and operators that are computed entry by entry.
#include <stdlib.h>
#include <string.h>

#include "expr/expr_make.h"

// --- tables -----------------------------------------------------------------

static TableData *table_of(const ExprPool *p, ExprTable t) {
  assert(t < p->rest->tables.len);
  return &p->rest->tables.items[t];
}

// Width and entries, in one piece: what makes two tables the same.
static uint64_t *table_key(unsigned width, const uint64_t *entries,
                           uint32_t n) {
  uint64_t *key = mem_array(uint64_t, (size_t)n + 1);
  key[0] = width;
  for (uint32_t i = 0; i < n; i++)
    key[i + 1] = entries[i] & expr_mask(width);
  return key;
}

ExprTable expr_new_table(ExprPool *p, unsigned width, const uint64_t *entries,
                         uint32_t n) {
  assert(width >= 1 && width <= 64 && n >= 1 && n <= 65536);
  ExprPoolRest *r = p->rest;
  uint64_t *key = table_key(width, entries, n);
  size_t size = ((size_t)n + 1) * sizeof *key;
  uint64_t id = hashmap_intern(&r->table_ids, key, size, r->tables.len);
  if (id == r->tables.len) {
    TableData t = {.n = n, .width = (uint8_t)width};
    t.entries = arena_array(&r->arena, uint64_t, n);
    memcpy(t.entries, key + 1, n * sizeof *key);
    array_push(&r->tables, t);
  }
  free(key);
  return (ExprTable)id;
}

unsigned expr_table_width(const ExprPool *p, ExprTable t) {
  return table_of(p, t)->width;
}

const uint64_t *expr_table_entries(const ExprPool *p, ExprTable t,
                                   uint32_t *n) {
  *n = table_of(p, t)->n;
  return table_of(p, t)->entries;
}

// Do all values that an index of this width can have lead to one entry?
static bool uniform(const TableData *t, unsigned width) {
  bool beyond = width >= 32 || 1ull << width > t->n;
  for (uint32_t i = 1; i < t->n; i++)
    if (t->entries[i] != t->entries[0])
      return false;
  return !beyond || t->entries[0] == 0;
}

// The table that an index of this width can reach.
static ExprTable cut(ExprPool *p, ExprTable t, unsigned width) {
  const TableData *d = table_of(p, t);
  if (width >= 32 || 1ull << width >= d->n)
    return t;
  return expr_new_table(p, d->width, d->entries, 1u << width);
}

Expr expr_table(ExprPool *p, ExprTable t, Expr index) {
  assert(is_bv(p, index));
  ExprSort sort = expr_bv(expr_table_width(p, t));
  if (simplifies(p)) {
    while (is_op(p, index, EXPR_ZEXT))
      index = expr_arg(p, index, 0);
    t = cut(p, t, expr_width(p, index));
    if (uniform(table_of(p, t), expr_width(p, index)))
      return expr_const_of(p, sort, table_of(p, t)->entries[0]);
  }
  return expr_make(p, EXPR_TABLE, sort, index, t, 0);
}

// --- operators on tables and constant ITEs ----------------------------------

static ExprTable mapped_table(ExprPool *p, ExprTable t, unsigned width,
                              ExprOfConst *f, const void *arg) {
  uint32_t n = table_of(p, t)->n;
  unsigned from = table_of(p, t)->width;
  uint64_t *out = mem_array(uint64_t, n);
  for (uint32_t i = 0; i < n; i++)
    out[i] = expr_value(
        p, f(p, expr_const(p, from, table_of(p, t)->entries[i]), arg));
  ExprTable made = expr_new_table(p, width, out, n);
  free(out);
  return made;
}

Expr expr_map_table(ExprPool *p, Expr e, ExprOp op, unsigned width, uint64_t k,
                    ExprOfConst *f, const void *arg) {
  if (!is_op(p, e, EXPR_TABLE))
    return 0;
  ExprTable t = expr_arg(p, e, 1);
  Expr index = expr_arg(p, e, 0);
  // Beyond its end a table is 0, and must still be afterwards.
  bool whole = expr_width(p, index) < 32 &&
               1ull << expr_width(p, index) <= table_of(p, t)->n;
  if (table_of(p, t)->n > 256 || !whole)
    return 0;
  uint64_t key[4] = {op, t, width, k}, id;
  if (!hashmap_get(&p->rest->table_maps, key, sizeof key, &id)) {
    id = mapped_table(p, t, width, f, arg);
    hashmap_put(&p->rest->table_maps, key, sizeof key, id);
  }
  return expr_table(p, (ExprTable)id, index);
}

static Expr map_leaves(ExprPool *p, Expr e, ExprOfConst *f, const void *arg) {
  if (expr_is_const(p, e))
    return f(p, e, arg);
  Expr yes = map_leaves(p, expr_arg(p, e, 1), f, arg);
  Expr no = map_leaves(p, expr_arg(p, e, 2), f, arg);
  return expr_ite(p, expr_arg(p, e, 0), yes, no);
}

Expr expr_map_leaves(ExprPool *p, Expr e, unsigned max, ExprOfConst *f,
                     const void *arg) {
  const ExprNode *n = expr_node(p, e);
  if (n->op != EXPR_ITE || n->leaves == 0 || n->leaves > max)
    return 0;
  return map_leaves(p, e, f, arg);
}
