// Sets as hash-consed Patricia trees whose leaves are blocks of 64 variables.
//
//   { in[0], in[2], in[70] }
//      branch, bit 1 of the block number
//        left   block 0: 0b101
//        right  block 1: 1 << 6
//
// A branch tests the highest bit in which the block numbers below it differ.
// Equal sets are the same tree, hence the same id. The latest unions are
// remembered in a small table that forgets.
#include "expr/support.h"

#include <stdlib.h>

#include "expr/expr_make.h"

#define UNION_SLOTS 4096u
struct SupportUnion {
  Support a, b, result;
};

static const SupportNode *set_node(const ExprPool *p, Support s) {
  return &p->rest->supports.items[s];
}

// --- hash-consing -----------------------------------------------------------

static uint32_t hash_set(const SupportNode *n) {
  uint64_t h = (n->bits ^ n->key) * 0x9e3779b97f4a7c15ull;
  h = (h ^ h >> 31 ^ n->left) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ h >> 29 ^ n->right) * 0x94d049bb133111ebull;
  return (uint32_t)(h >> 32);
}

static uint32_t *slot_of(const ExprPool *p, const SupportNode *n) {
  const ExprPoolRest *r = p->rest;
  uint32_t mask = r->nsupport_slots - 1, i = hash_set(n) & mask;
  for (;; i = (i + 1) & mask) {
    uint32_t *slot = &r->support_slots[i];
    const SupportNode *m = set_node(p, *slot);
    if (!*slot || (m->bits == n->bits && m->key == n->key &&
                   m->left == n->left && m->right == n->right))
      return slot;
  }
}

static void grow_slots(ExprPool *p) {
  ExprPoolRest *r = p->rest;
  free(r->support_slots);
  r->nsupport_slots = r->nsupport_slots ? r->nsupport_slots * 2 : 256;
  r->support_slots = mem_array(uint32_t, r->nsupport_slots);
  for (Support s = SUPPORT_EMPTY + 1; s < r->supports.len; s++)
    *slot_of(p, set_node(p, s)) = s;
}

static Support intern(ExprPool *p, SupportNode n) {
  ExprPoolRest *r = p->rest;
  if (r->supports.len * 2 >= r->nsupport_slots)
    grow_slots(p);
  uint32_t *slot = slot_of(p, &n);
  if (!*slot) {
    *slot = (Support)r->supports.len;
    array_push(&r->supports, n);
  }
  return *slot;
}

static Support make_leaf(ExprPool *p, uint32_t key, uint64_t bits) {
  SupportNode n = {.bits = bits, .key = key};
  n.size = (uint32_t)__builtin_popcountll(bits);
  return intern(p, n);
}

static Support make_branch(ExprPool *p, uint64_t bit, uint32_t key,
                           Support left, Support right) {
  SupportNode n = {.bits = bit, .key = key, .left = left, .right = right};
  n.size = set_node(p, left)->size + set_node(p, right)->size;
  return intern(p, n);
}

// --- union ------------------------------------------------------------------

static bool is_leaf(const SupportNode *n) { return n->left == 0; }

// The part of `key` above `bit`.
static uint32_t above(uint32_t key, uint64_t bit) {
  return key & ~(uint32_t)(2 * bit - 1);
}

// Joins two sets whose block numbers differ from some bit upwards.
static Support join(ExprPool *p, Support a, Support b) {
  uint32_t ka = set_node(p, a)->key, kb = set_node(p, b)->key;
  uint64_t bit = 1ull << (31 - __builtin_clz(ka ^ kb));
  bool a_right = ka & bit;
  return make_branch(p, bit, above(ka, bit), a_right ? b : a, a_right ? a : b);
}

// Can all of `n` be below the branch `at`?
static bool fits_below(const SupportNode *n, const SupportNode *at) {
  return above(n->key, at->bits) == at->key &&
         (is_leaf(n) || n->bits < at->bits);
}

// `b` lies below one side of the branch `a`.
static Support add_below(ExprPool *p, SupportNode a, Support b) {
  bool right = set_node(p, b)->key & a.bits;
  if (right)
    return make_branch(p, a.bits, a.key, a.left, support_union(p, a.right, b));
  return make_branch(p, a.bits, a.key, support_union(p, a.left, b), a.right);
}

static Support unite(ExprPool *p, Support a, Support b) {
  SupportNode x = *set_node(p, a), y = *set_node(p, b);
  if (is_leaf(&x) && is_leaf(&y) && x.key == y.key)
    return make_leaf(p, x.key, x.bits | y.bits);
  if (!is_leaf(&x) && fits_below(&y, &x))
    return add_below(p, x, b);
  if (!is_leaf(&y) && fits_below(&x, &y))
    return add_below(p, y, a);
  if (!is_leaf(&x) && !is_leaf(&y) && x.bits == y.bits && x.key == y.key) {
    Support left = support_union(p, x.left, y.left);
    return make_branch(p, x.bits, x.key, left,
                       support_union(p, x.right, y.right));
  }
  return join(p, a, b);
}

// Recursion is bounded by the 26 bits of a block number.
Support support_union(ExprPool *p, Support a, Support b) {
  if (a == b || b == SUPPORT_EMPTY)
    return a;
  if (a == SUPPORT_EMPTY)
    return b;
  ExprPoolRest *r = p->rest;
  if (!r->support_unions)
    r->support_unions = mem_array(struct SupportUnion, UNION_SLOTS);
  uint32_t h = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 12 & (UNION_SLOTS - 1);
  struct SupportUnion *u = &r->support_unions[h];
  if (u->a != a || u->b != b)
    *u = (struct SupportUnion){a, b, unite(p, a, b)};
  return u->result;
}

// --- of expressions ---------------------------------------------------------

// Support of a node whose operands have theirs.
static Support of_operands(ExprPool *p, const ExprNode *n) {
  if (n->op == EXPR_VAR)
    return make_leaf(p, n->arg[0] >> 6, 1ull << (n->arg[0] & 63));
  Support s = SUPPORT_EMPTY;
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    s = support_union(p, s, expr_node(p, n->arg[i])->support);
  return s;
}

// Pushes operands without support; false if there are none.
static bool push_missing(const ExprPool *p, const ExprNode *n, VarList *todo) {
  size_t before = todo->len;
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    if (!expr_node(p, n->arg[i])->support)
      array_push(todo, n->arg[i]);
  return todo->len > before;
}

Support expr_support(ExprPool *p, Expr e) {
  if (expr_node(p, e)->support)
    return expr_node(p, e)->support;
  VarList todo = {0};
  array_push(&todo, e);
  while (todo.len) {
    ExprNode *n = expr_node(p, array_last(&todo));
    if (!n->support && push_missing(p, n, &todo))
      continue;
    if (!n->support)
      n->support = of_operands(p, n);
    todo.len--;
  }
  array_release(&todo);
  return expr_node(p, e)->support;
}

// --- reading ----------------------------------------------------------------

bool support_has(const ExprPool *p, Support s, VarId v) {
  if (s == SUPPORT_EMPTY)
    return false;
  const SupportNode *n = set_node(p, s);
  while (!is_leaf(n))
    n = set_node(p, (v >> 6 & n->bits) ? n->right : n->left);
  return n->key == v >> 6 && (n->bits >> (v & 63) & 1);
}

uint32_t support_size(const ExprPool *p, Support s) {
  return set_node(p, s)->size;
}

bool support_halves(const ExprPool *p, Support s, Support *a, Support *b) {
  *a = set_node(p, s)->left;
  *b = set_node(p, s)->right;
  return *a != 0;
}

void support_members(const ExprPool *p, Support s, VarList *out) {
  if (s == SUPPORT_EMPTY)
    return;
  const SupportNode *n = set_node(p, s);
  if (!is_leaf(n)) {
    support_members(p, n->left, out);
    support_members(p, n->right, out);
    return;
  }
  for (uint64_t bits = n->bits; bits; bits &= bits - 1)
    array_push(out, (n->key << 6) + (VarId)__builtin_ctzll(bits));
}
