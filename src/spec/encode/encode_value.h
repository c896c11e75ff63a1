// Values in the encoding of a call. Pointers and counters have few possible
// values there, even if every statement may be switched off; so a value is a
// list of choices where it can be:
//
//   lst = { lst was l->header: 0x5010,  line 12 is off and i == 1: 0x5030, ...
//   }
//
// each with the condition under which it applies; exactly one of the conditions
// holds. To follow a pointer is then to visit the cells it may point to, and to
// compare two of them costs a few gates instead of 64 bits each. All other
// values are expressions (expr/expr.h). A pointer into an array at an index
// without a list of choices is a base and an offset.
#ifndef CULPRIT_SPEC_ENCODE_ENCODE_VALUE_H
#define CULPRIT_SPEC_ENCODE_ENCODE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "expr/expr.h"
#include "ir/ir.h"
#include "util/array.h"
#include "util/hashmap.h"

typedef uint32_t Val; // 0: none

typedef struct {
  Expr guard; // BV(1)
  uint64_t value;
} Choice;
typedef ARRAY(Choice) Choices;

typedef struct {
  uint8_t width;
  bool pointer;
  uint32_t first, n; // choices; n = 0: an expression, or base and offset
  Expr expr;         // 0: not made yet
  Val base;          // 0: none; else its value is base + offset
  Expr offset;
} ValNode;

typedef struct {
  ExprPool *pool;
  ARRAY(ValNode) nodes;
  Choices choices;
  Hashmap known; // constants, expressions, lists -> Val
  uint32_t nfree;
} ValPool;

void val_pool_init(ValPool *v, ExprPool *pool);
void val_pool_release(ValPool *v);

static inline const ValNode *val_node(const ValPool *v, Val x) {
  return &v->nodes.items[x];
}
static inline const Choice *val_choices(const ValPool *v, Val x) {
  return &v->choices.items[v->nodes.items[x].first];
}
static inline unsigned val_width(const ValPool *v, Val x) {
  return val_node(v, x)->width;
}

Val val_const(ValPool *v, unsigned width, uint64_t value);
bool val_is_const(const ValPool *v, Val x, uint64_t *value);
Val val_of(ValPool *v, Expr e); // BV
Expr val_expr(ValPool *v, Val x);
// What it is in the run.
uint64_t val_in_run(ValPool *v, Val x);
// From choices whose guards are exclusive and cover all cases. Equal values are
// merged. The list stays the caller's.
Val val_list(ValPool *v, unsigned width, bool pointer, const Choice *c,
             size_t n);
// Truncated or zero-extended.
Val val_resize(ValPool *v, Val x, unsigned width);
// Any value of that width; `run`: what it is in the run.
Val val_free(ValPool *v, unsigned width, uint64_t run);
// Any of these; number `run` in the run.
Val val_any_of(ValPool *v, const uint64_t *values, size_t n, size_t run);
// The same value, known to be a pointer.
Val val_pointer(ValPool *v, Val x);

Val val_ite(ValPool *v, Expr cond, Val a, Val b);
// From `n` values of one width, each with its guard (exclusive, and one holds).
Val val_select(ValPool *v, const Expr *guards, const Val *values, size_t n);

// The result of an instruction that computes; 0: it has no expression.
Val val_apply(ValPool *v, const IrInst *i, Val a, Val b, Val c);

// Conditions. Constants are folded.
static inline Expr cond_and(const ValPool *v, Expr a, Expr b) {
  return expr_and(v->pool, a, b);
}
static inline Expr cond_or(const ValPool *v, Expr a, Expr b) {
  return expr_or(v->pool, a, b);
}
static inline Expr cond_not(const ValPool *v, Expr a) {
  return expr_not(v->pool, a);
}

#endif
