// Expressions that read memory in another state, labels, and places: see
// contract_emit.h.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "contract/contract_emit.h"

// --- names ------------------------------------------------------------------

static const ContractExpr *bare(const ContractExpr *n) {
  while (n->kind == NODE_PAREN && n->kids.len == 1)
    n = n->kids.items[0];
  return n;
}

static bool is_bound(const Emitter *e, const Token *t) {
  for (size_t i = 0; i < e->bound.len; i++)
    if (token_same(e->text, t, &e->tokens[e->bound.items[i]]))
      return true;
  for (size_t i = 0; e->params && i < e->params->len; i++)
    if (token_is(e->text, t, e->params->items[i]))
      return true;
  return false;
}

// Macros and constants of an enum cannot be told from variables here, except by
// how they are written.
static bool is_constant(const Emitter *e, const Token *t) {
  bool lower = false;
  for (uint32_t i = 0; i < t->len; i++)
    lower |= islower((unsigned char)e->text[t->at + i]) != 0;
  return !lower || token_is(e->text, t, "true") ||
         token_is(e->text, t, "false");
}

static bool is_variable(const Emitter *e, const ContractExpr *n) {
  const Token *t = &e->tokens[n->first];
  uint64_t ignored;
  return n->kind == NODE_PLAIN && n->end == n->first + 1 &&
         t->kind == TOK_WORD && !is_bound(e, t) && !is_constant(e, t) &&
         !hashmap_get(e->logic, e->text + t->at, t->len, &ignored);
}

// --- places -----------------------------------------------------------------

static bool is_place(const Emitter *e, const ContractExpr *n) {
  n = bare(n);
  if (n->kind == NODE_MEMBER &&
      !token_is(e->text, &e->tokens[n->end - 2], "->"))
    return is_place(e, n->kids.items[0]);
  return n->kind == NODE_INDEX || n->kind == NODE_MEMBER ||
         n->kind == NODE_DEREF || is_variable(e, n);
}

static void emit_place_of(Emitter *e, const ContractExpr *n);

// The value that is read from the place.
static void emit_read(Emitter *e, const ContractExpr *n) {
  emit_own(e, "({ __auto_type __culprit_p = &(");
  emit_place_of(e, n);
  emit_own(e, "); __CULPRIT_READ(%s); })", e->label);
}

// The lvalue itself: what leads to it is read in the state.
static void emit_place_of(Emitter *e, const ContractExpr *n) {
  n = bare(n);
  if (n->kind == NODE_INDEX) {
    emit_own(e, "(");
    emit_expr(e, n->kids.items[0]);
    emit_own(e, ")[");
    emit_expr(e, n->kids.items[1]);
    emit_own(e, "]");
  } else if (n->kind == NODE_MEMBER) {
    bool arrow = token_is(e->text, &e->tokens[n->end - 2], "->");
    emit_own(e, "(");
    if (arrow)
      emit_expr(e, n->kids.items[0]);
    else
      emit_place_of(e, n->kids.items[0]);
    emit_own(e, ")");
    emit_token(e, &e->tokens[n->end - 2]);
    emit_token(e, &e->tokens[n->end - 1]);
  } else if (n->kind == NODE_DEREF) {
    emit_token(e, &e->tokens[n->first]);
    emit_own(e, "(");
    emit_expr(e, n->kids.items[0]);
    emit_own(e, ")");
  } else {
    emit_tokens(e, n->first, n->end);
  }
}

bool emit_from_state(Emitter *e, const ContractExpr *n) {
  if (!e->label || n->kind == NODE_PAREN || !is_place(e, n))
    return false;
  emit_read(e, n);
  return true;
}

// --- labels and applications ------------------------------------------------

static const char *label_of_definition(Emitter *e, const Token *t) {
  for (size_t i = 0; i < e->labels->len; i++)
    if (token_same(e->text, t, &e->tokens[e->labels->items[i]]))
      return arena_printf(&e->pool->arena, "__culprit_label_%.*s", (int)t->len,
                          e->text + t->at);
  return NULL;
}

// Labels every contract has.
static bool is_current(const Emitter *e, const Token *t) {
  return token_is(e->text, t, "Here") ||
         (token_is(e->text, t, "Post") && e->state == EMIT_AFTER);
}

static bool is_before(const Emitter *e, const Token *t) {
  return token_is(e->text, t, "Pre") || token_is(e->text, t, "Old");
}

const char *emit_label(Emitter *e, uint32_t token) {
  const Token *t = &e->tokens[token];
  const char *label = e->labels ? label_of_definition(e, t) : NULL;
  if (label)
    return label;
  if (is_current(e, t))
    return e->labels ? e->label : NULL;
  if (!e->labels && is_before(e, t) && e->state == EMIT_BEFORE)
    return NULL;
  if (!e->labels && is_before(e, t) && e->state == EMIT_AFTER) {
    e->uses_state = true;
    return "(&__culprit_pre)";
  }
  label = !e->labels && e->find_label ? e->find_label(e->context, token) : NULL;
  if (!label)
    emit_error(e, token,
               arena_printf(&e->pool->arena,
                            "the label '%.*s' means no state here",
                            (int)(t->len < 40 ? t->len : 40), e->text + t->at));
  return label;
}

static void emit_arguments(Emitter *e, const ContractExpr *n, bool first) {
  for (size_t i = 0; i < n->kids.len; i++) {
    emit_own(e, i || !first ? ", " : "");
    emit_expr(e, n->kids.items[i]);
  }
  emit_own(e, ")");
}

static void emit_function(Emitter *e, const ContractExpr *n) {
  if (n->fields.len)
    emit_error(e, n->first,
               "this is no predicate or logic function that is "
               "defined before");
  emit_token(e, &e->tokens[n->first]);
  emit_own(e, "(");
  emit_arguments(e, n, true);
}

// A definition with one label, as most have, takes the current one.
void emit_apply(Emitter *e, const ContractExpr *n) {
  const Token *t = &e->tokens[n->first];
  char key[128];
  uint64_t labels = 0;
  if (!hashmap_get(e->logic, e->text + t->at, t->len, &labels)) {
    emit_function(e, n);
    return;
  }
  int len =
      snprintf(key, sizeof key, "%.*s/%zu", (int)(t->len < 90 ? t->len : 90),
               e->text + t->at, n->kids.len);
  if (!hashmap_get(e->logic, key, (size_t)len, &labels))
    emit_error(e, n->first, "no definition takes that many arguments");
  else if (n->fields.len && n->fields.len != labels &&
           !(labels == 1 && n->fields.len == 0))
    emit_error(e, n->first, "the definition has another number of labels");
  emit_place(e, t->line, t->col);
  emit_own(e, "__culprit_logic_%.*s(", (int)t->len, e->text + t->at);
  for (uint64_t i = 0; i < labels; i++) {
    const char *label =
        i < n->fields.len ? emit_label(e, n->fields.items[i]) : e->label;
    emit_own(e, "%s%s", i ? ", " : "", label ? label : "0");
  }
  emit_arguments(e, n, !labels);
}

// --- ranges -----------------------------------------------------------------

static bool is_range(const ContractExpr *n) {
  return n->kind == NODE_PAREN && n->kids.len == 2;
}

static void emit_bound(Emitter *e, const ContractExpr *n) {
  if (n->kind == NODE_NONE)
    emit_error(e, n->first, "where the range ends is not known");
  emit_expr(e, n);
}

// base + (low .. high)
static void emit_range(Emitter *e, const ContractExpr *base, size_t ops,
                       const ContractExpr *range) {
  emit_own(e, "({ __auto_type __culprit_p = ");
  if (ops) { // base: what stands before the range
    ContractExpr part = *base;
    part.ops.len = ops - 1;
    part.kids.len = ops;
    part.end = range->first - 1;
    if (ops == 1)
      emit_expr(e, part.kids.items[0]);
    else
      emit_expr(e, &part);
  } else {
    emit_expr(e, base);
  }
  emit_own(e, "; __culprit_span_of(__culprit_p, sizeof *__culprit_p, ");
  emit_bound(e, range->kids.items[0]);
  emit_own(e, ", ");
  emit_bound(e, range->kids.items[1]);
  emit_own(e, "); })");
}

static void emit_object(Emitter *e, const ContractExpr *n, bool place) {
  emit_own(e, "({ __auto_type __culprit_p = ");
  if (place) {
    emit_own(e, "&(");
    emit_place_of(e, n);
    emit_own(e, ")");
  } else {
    emit_expr(e, n);
  }
  emit_own(e,
           "; __culprit_span_of(__culprit_p, sizeof *__culprit_p, 0, 0); })");
}

void emit_span(Emitter *e, const ContractExpr *n, bool place) {
  n = bare(n);
  if (place && n->kind == NODE_DEREF) {
    emit_span(e, n->kids.items[0], false);
    return;
  }
  size_t last = n->kids.len - 1;
  if (n->kind == NODE_ARITH && is_range(n->kids.items[last]) &&
      token_is(e->text, &e->tokens[n->ops.items[last - 1]], "+")) {
    emit_range(e, n, last, n->kids.items[last]);
  } else if (place && n->kind == NODE_INDEX && is_range(n->kids.items[1])) {
    emit_range(e, n->kids.items[0], 0, n->kids.items[1]);
  } else if (place && !is_place(e, n)) {
    emit_error(e, n->first, "this is no place in memory");
    emit_own(e, "__culprit_span_of(0, 0, 0, 0)");
  } else {
    emit_object(e, n, place);
  }
}
