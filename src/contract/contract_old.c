// Variables for the values that \old() keeps from before the call: emit_olds()
// of contract_emit.h.
#include <string.h>

#include "contract/contract_range.h"

// Conditions under which the expression we are in matters.
typedef struct {
  const ContractExpr *node;
  bool negated;
} Premise;

typedef struct {
  Emitter *e;
  const EmittedNames *stable;
  const char *when;
  ARRAY(Premise) premises;
  ARRAY(const ContractExpr *) quantifiers;
} OldWalk;

static bool is_binder(const OldWalk *w, const Token *t) {
  const Emitter *e = w->e;
  for (size_t i = 0; i < w->quantifiers.len; i++) {
    const ContractExpr *q = w->quantifiers.items[i];
    for (size_t k = 0; k < q->binders.len && q->kind != NODE_LET; k++) {
      const Token *name = &e->tokens[q->binders.items[k].name];
      if (name->len == t->len &&
          !memcmp(e->text + name->at, e->text + t->at, t->len))
        return true;
    }
  }
  return false;
}

static bool is_stable_word(const OldWalk *w, const Token *t) {
  const Emitter *e = w->e;
  if (token_is(e->text, t, "NULL") || is_binder(w, t))
    return true;
  for (size_t i = 0; i < w->stable->len; i++)
    if (token_is(e->text, t, w->stable->items[i]))
      return true;
  return false;
}

static bool is_stable_mark(const Emitter *e, const Token *t) {
  static const char *const marks[] = {"!",  "==", "!=", "<", "<=", ">", ">=",
                                      "&&", "||", "(",  ")", "-",  "+", NULL};
  return token_is_one_of(e->text, t, marks);
}

static uint32_t behind_old(const Emitter *e, uint32_t i) {
  int depth = 0;
  do {
    i++;
    depth += token_is(e->text, &e->tokens[i], "(");
    depth -= token_is(e->text, &e->tokens[i], ")");
  } while (depth && e->tokens[i].kind != TOK_END);
  return i + 1;
}

// Has it the same value before and after the call? Parameters, constants and
// \old() only; `names`: if all other names in it are constants.
static bool is_stable_if(const OldWalk *w, const ContractExpr *n, bool names) {
  const Emitter *e = w->e;
  for (uint32_t i = n->first; i < n->end; i++) {
    const Token *t = &e->tokens[i];
    if (token_is(e->text, t, "\\old")) {
      i = behind_old(e, i) - 1;
      continue;
    }
    bool word = t->kind == TOK_WORD && (names || is_stable_word(w, t)) &&
                !token_is(e->text, t + 1, "(");
    if (!word && t->kind != TOK_NUMBER && !is_stable_mark(e, t) &&
        !token_is(e->text, t, "\\null"))
      return false;
  }
  return true;
}

static bool is_stable(const OldWalk *w, const ContractExpr *n) {
  return is_stable_if(w, n, false);
}

// Clang knows whether the other names are constants: macros, of an enum.
static void demand_constants(const OldWalk *w, const ContractExpr *n) {
  Emitter *e = w->e;
  for (uint32_t i = n->first; i < n->end; i++) {
    const Token *t = &e->tokens[i];
    if (token_is(e->text, t, "\\old"))
      i = behind_old(e, i) - 1;
    else if (t->kind == TOK_WORD && !is_stable_word(w, t)) {
      emit_own(e, "_Static_assert(");
      emit_place(e, t->line, t->col); // where clang points
      emit_own(e, "__builtin_constant_p(");
      emit_name(e, i);
      emit_own(e, "), \"%s\"); ", "neither a constant nor a parameter");
    }
  }
}

// How many variables of quantifiers around it does it mention? *q and *var: the
// innermost of them.
static int count_bound(const OldWalk *w, const ContractExpr *n,
                       const ContractExpr **q, size_t *var) {
  int count = 0;
  for (size_t i = 0; i < w->quantifiers.len; i++) {
    const ContractExpr *at = w->quantifiers.items[i];
    for (size_t k = 0; k < at->binders.len; k++)
      if (node_mentions(w->e->text, w->e->tokens, n,
                        at->binders.items[k].name)) {
        count++;
        *q = at;
        *var = k;
      }
  }
  return count;
}

static bool is_bound(const OldWalk *w, const ContractExpr *n) {
  const ContractExpr *q;
  size_t var;
  return count_bound(w, n, &q, &var) > 0;
}

// "if (conditions) ": all that must hold for the value to be needed; of those
// with a quantified variable the ones that speak of `var` only (NULL: none).
static void emit_premises(OldWalk *w, const Binder *var) {
  emit_own(w->e, "if (%s", w->when && !var ? w->when : "1");
  for (size_t i = 0; i < w->premises.len; i++) {
    const Premise *p = &w->premises.items[i];
    const ContractExpr *q = NULL;
    size_t k = 0;
    int bound = count_bound(w, p->node, &q, &k);
    if (var ? bound != 1 || &q->binders.items[k] != var : bound)
      continue;
    emit_own(w->e, p->negated ? " && !" : " && ");
    emit_expr(w->e, p->node);
  }
  emit_own(w->e, ") ");
}

// \old(a[i]) under \forall integer i; low <= i < high: one value for every i.
// The range must be the same before and after the call.
static void declare_old_values(OldWalk *w, ContractExpr *n,
                               const ContractExpr *q, size_t var) {
  Emitter *e = w->e;
  const ContractExpr *kid = n->kids.items[0];
  const Binder *b = &q->binders.items[var];
  VariableRange r = contract_range(e, q, var);
  if (!r.low || !r.high || !is_stable_if(w, r.low, true) ||
      !is_stable_if(w, r.high, true) || is_bound(w, r.low) ||
      is_bound(w, r.high)) {
    n->in_state = true;
    return;
  }
  demand_constants(w, r.low);
  demand_constants(w, r.high);
  n->binder = b->name;
  uint32_t id = n->number;
  emit_own(e, "long long __culprit_low_%u = ", id);
  emit_expr(e, r.low);
  emit_own(e, ", __culprit_high_%u = ", id);
  emit_expr(e, r.high);
  emit_own(e,
           "; long long __culprit_n_%u = __culprit_high_%u >= "
           "__culprit_low_%u ? __culprit_high_%u - __culprit_low_%u + 1 : "
           "1; ",
           id, id, id, id, id);
  emit_type(e, b->type, b->type_end);
  emit_name(e, b->name);
  emit_own(e, " = __culprit_low_%u; __typeof__(((void)0, ", id);
  emit_expr(e, kid);
  emit_own(e, ")) __culprit_old_%u[__culprit_n_%u]; ", id, id);
  emit_premises(w, NULL);
  emit_own(e, "for (; ");
  emit_name(e, b->name);
  emit_own(e, r.below ? " < __culprit_high_%u; " : " <= __culprit_high_%u; ",
           id);
  emit_name(e, b->name);
  emit_own(e, "++) ");
  if (r.above) {
    emit_own(e, "if (");
    emit_name(e, b->name);
    emit_own(e, " > __culprit_low_%u) ", id);
  }
  emit_premises(w, b);
  emit_own(e, "__culprit_old_%u[", id);
  emit_name(e, b->name);
  emit_own(e, " - __culprit_low_%u] = ", id);
  emit_expr(e, kid);
  emit_own(e, "; ");
}

static void declare_old(OldWalk *w, ContractExpr *n) {
  Emitter *e = w->e;
  const ContractExpr *kid = n->kids.items[0], *q = NULL;
  size_t var = 0;
  int bound = count_bound(w, kid, &q, &var);
  if (bound == 1) {
    declare_old_values(w, n, q, var);
  } else if (bound) {
    n->in_state = true;
  } else if (!w->premises.len && !w->when) {
    emit_own(e, "__auto_type __culprit_old_%u = ", n->number);
    emit_expr(e, kid);
    emit_own(e, "; ");
  } else {
    emit_own(e, "__typeof__(((void)0, ");
    emit_expr(e, kid);
    emit_own(e, ")) __culprit_old_%u = {0}; ", n->number);
    emit_premises(w, NULL);
    emit_own(e, "__culprit_old_%u = ", n->number);
    emit_expr(e, kid);
    emit_own(e, "; ");
  }
}

static void walk_olds(OldWalk *w, ContractExpr *n);

// The left operand decides whether the right one matters.
static void walk_operands(OldWalk *w, ContractExpr *n, bool negated) {
  walk_olds(w, n->kids.items[0]);
  bool decides = is_stable(w, n->kids.items[0]);
  if (decides)
    array_push(&w->premises, (Premise){n->kids.items[0], negated});
  walk_olds(w, n->kids.items[1]);
  w->premises.len -= decides;
}

static void walk_olds(OldWalk *w, ContractExpr *n) {
  bool binds =
      n->kind == NODE_FORALL || n->kind == NODE_EXISTS || n->kind == NODE_LET;
  if (n->kind == NODE_OLD) {
    declare_old(w, n);
    return;
  }
  if (n->kind == NODE_IMPLIES || n->kind == NODE_AND || n->kind == NODE_OR) {
    walk_operands(w, n, n->kind == NODE_OR);
    return;
  }
  if (binds)
    array_push(&w->quantifiers, n);
  for (size_t i = 0; i < n->kids.len; i++)
    walk_olds(w, n->kids.items[i]);
  w->quantifiers.len -= binds;
}

void emit_olds(Emitter *e, ContractExpr *n, const EmittedNames *stable,
               const char *when) {
  OldWalk w = {.e = e, .stable = stable, .when = when};
  walk_olds(&w, n);
  array_release(&w.premises);
  array_release(&w.quantifiers);
}
