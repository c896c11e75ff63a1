// The range of a quantified variable: see contract_range.h.
#include "contract/contract_range.h"

static const ContractExpr *bare(const ContractExpr *n) {
  while (n->kind == NODE_PAREN && n->kids.len == 1)
    n = n->kids.items[0];
  return n;
}

typedef ARRAY(const ContractExpr *) Chains;

// The comparisons that certainly hold where the body matters.
static void collect_chains(const ContractExpr *n, bool forall, Chains *out) {
  n = bare(n);
  if (n->kind == NODE_CHAIN) {
    if (!forall)
      array_push(out, n);
  } else if (n->kind == NODE_AND && !forall) {
    collect_chains(n->kids.items[0], false, out);
    collect_chains(n->kids.items[1], false, out);
  } else if (n->kind == NODE_IMPLIES && forall) {
    collect_chains(n->kids.items[0], false, out);
    collect_chains(n->kids.items[1], true, out);
  }
}

static bool is_variable(const Emitter *e, const ContractExpr *n,
                        uint32_t name) {
  n = bare(n);
  return n->kind == NODE_PLAIN && n->end == n->first + 1 &&
         node_mentions(e->text, e->tokens, n, name);
}

// May the bound be computed before variables `from`... are known?
static bool is_known(const Emitter *e, const ContractExpr *bound,
                     const ContractExpr *q, size_t from) {
  for (size_t i = from; i < q->binders.len; i++)
    if (node_mentions(e->text, e->tokens, bound, q->binders.items[i].name))
      return false;
  return true;
}

static bool is_strict(const Emitter *e, const ContractExpr *chain, size_t op) {
  return e->tokens[chain->ops.items[op]].len == 1;
}

// What chain `c` says about the variable at its place `at`, in one direction.
static void bound_from(const Emitter *e, const ContractExpr *q, size_t var,
                       const ContractExpr *c, size_t at, bool left,
                       VariableRange *r) {
  char sign = e->text[e->tokens[c->ops.items[0]].at];
  for (size_t i = 0; i < c->ops.len; i++)
    if (sign == '!' || e->text[e->tokens[c->ops.items[i]].at] != sign)
      return;
  bool low = sign == '=' || left == (sign == '<');
  for (size_t k = at; left ? k > 0 : k + 1 < c->kids.len;) {
    size_t op = left ? k - 1 : k;
    k = left ? k - 1 : k + 1;
    const ContractExpr *bound = c->kids.items[k];
    if (!is_known(e, bound, q, var))
      continue;
    bool strict = sign != '=' && is_strict(e, c, op) &&
                  (left ? k + 1 == at : k == at + 1);
    if (low && !r->low)
      r->low = bound, r->above = strict;
    if ((!low || sign == '=') && !r->high)
      r->high = bound, r->below = strict;
    return;
  }
}

VariableRange contract_range(const Emitter *e, const ContractExpr *q,
                             size_t var) {
  VariableRange r = {0};
  Chains chains = {0};
  if (q->kind != NODE_LET)
    collect_chains(q->kids.items[0], q->kind == NODE_FORALL, &chains);
  for (size_t i = 0; i < chains.len; i++) {
    const ContractExpr *c = chains.items[i];
    for (size_t k = 0; k < c->kids.len; k++) {
      if (!is_variable(e, c->kids.items[k], q->binders.items[var].name))
        continue;
      bound_from(e, q, var, c, k, true, &r);
      bound_from(e, q, var, c, k, false, &r);
    }
  }
  array_release(&chains);
  return r;
}
