// Inside the expression modules: making nodes, and what builders share.
#ifndef CULPRIT_EXPR_EXPR_MAKE_H
#define CULPRIT_EXPR_EXPR_MAKE_H

#include <assert.h>

#include "expr/expr.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

// Variables made together.
typedef struct {
  const char *name;
  ExprSort sort;
  VarId first;
  uint32_t n;
  bool indexed;
  uint8_t *bytes;   // values, where they are bytes,
  uint64_t *values; // or these
} VarGroup;

typedef struct {
  const char *data;
  size_t n;
} ExprText;

typedef struct {
  uint64_t *entries;
  uint32_t n;
  uint8_t width;
} TableData;

// A set of variables, see support.c.
typedef struct {
  uint64_t bits;        // leaf: members; branch: the bit of the key it tests
  uint32_t key;         // leaf: block of 64 variables; branch: bits above
  uint32_t left, right; // branch: bit clear, bit set; 0: this is a leaf
  uint32_t size;
} SupportNode;

#define EXPR_RECENT 256
typedef struct ExprPoolRest {
  uint32_t *slots, nslots;  // hash table: a power of two, 3/4 full at most
  Expr recent[EXPR_RECENT]; // constants
  size_t nchunks;
  unsigned kinds; // 1 << ExprKind of every node
  bool simplify;
  unsigned depth; // of rules that build by way of other builders
  ARRAY(VarGroup) groups;
  ARRAY(Expr) var_nodes;
  ARRAY(ExprText) texts;
  Hashmap text_ids;
  ARRAY(TableData) tables;
  Hashmap table_ids, table_maps;
  ARRAY(SupportNode) supports;
  uint32_t *support_slots, nsupport_slots; // hash table, a power of two
  struct SupportUnion *support_unions;     // the latest ones
  Arena arena;
} ExprPoolRest;

// The node with this operator and these operands; a constant if they all are.
// Nothing else is simplified. Unused operands are 0.
Expr expr_make(ExprPool *p, ExprOp op, ExprSort sort, Expr a, Expr b, Expr c);

#define EXPR_MAX_DEPTH 64   // of rules within rules
#define EXPR_MAX_LEAVES 254 // of an ITE that a comparison is pushed into

static inline bool simplifies(const ExprPool *p) { return p->rest->simplify; }
static inline bool is_op(const ExprPool *p, Expr e, ExprOp op) {
  return expr_node(p, e)->op == op;
}
static inline bool is_bv(const ExprPool *p, Expr e) {
  return expr_sort(p, e).kind == SORT_BV;
}
static inline bool is_int(const ExprPool *p, Expr e) {
  return expr_sort(p, e).kind == SORT_INT;
}
static inline bool same_sort(ExprSort a, ExprSort b) {
  return a.kind == b.kind && a.width == b.width;
}
// Is `e` a constant with this value?
static inline bool is_value(const ExprPool *p, Expr e, uint64_t v) {
  const ExprNode *n = expr_node(p, e);
  return n->op == EXPR_CONST && n->value == v;
}
static inline int64_t sign_extend(uint64_t v, unsigned width) {
  unsigned up = 64 - width;
  return (int64_t)(v << up) >> up;
}
// Constants second, else the older node first.
static inline void order(const ExprPool *p, Expr *a, Expr *b) {
  bool ca = expr_is_const(p, *a), cb = expr_is_const(p, *b);
  if (ca != cb ? ca : *a > *b) {
    Expr t = *a;
    *a = *b;
    *b = t;
  }
}

// What a rule makes of two operands; 0: it does not apply.
typedef Expr ExprRule(ExprPool *p, Expr a, Expr b);
// The node, unless the rule applies.
static inline Expr make_by_rule(ExprPool *p, ExprOp op, ExprSort sort,
                                ExprRule *rule, Expr a, Expr b) {
  bool folds = expr_is_const(p, a) && expr_is_const(p, b);
  Expr r = simplifies(p) && !folds ? rule(p, a, b) : 0;
  return r ? r : expr_make(p, op, sort, a, b, 0);
}

// One operator applied to each entry of a TABLE, or to each constant an ITE
// ends in: `f` gets such an entry as a constant.
typedef Expr ExprOfConst(ExprPool *p, Expr k, const void *arg);
// 0 unless `e` is an ITE with at most `max` constant leaves.
Expr expr_map_leaves(ExprPool *p, Expr e, unsigned max, ExprOfConst *f,
                     const void *arg);
// 0 unless `e` is a TABLE. `f` must give a BV constant; op, width and `k` name
// the operation, so that it is computed once per table.
Expr expr_map_table(ExprPool *p, Expr e, ExprOp op, unsigned width, uint64_t k,
                    ExprOfConst *f, const void *arg);

#endif
