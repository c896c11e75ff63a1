// Variables without a range: see contract_emit.h.
//
//   \forall int v; Count{Old}(a, n, v) == Count{Here}(a, n, v)
//
// v is compared with == only (by Count). So all values that it is never compared
// with are alike, and it is enough to try those that it is compared with while
// the body is evaluated, and another one.
#include <stdio.h>

#include "contract/contract_emit.h"

static const ContractExpr *bare(const ContractExpr *n) {
  while (n->kind == NODE_PAREN && n->kids.len == 1)
    n = n->kids.items[0];
  return n;
}

void logic_params(const char *text, const Token *tokens, const Logic *l,
                  TokenList *out) {
  int depth = 0;
  uint32_t name = 0;
  for (uint32_t i = l->params; i <= l->params_end; i++) {
    const Token *t = &tokens[i];
    bool end = i == l->params_end || (!depth && token_is(text, t, ","));
    if (end && name)
      array_push(out, name);
    if (end || (!depth && t->kind == TOK_WORD))
      name = end ? 0 : i;
    depth += token_is(text, t, "(") || token_is(text, t, "[");
    depth -= token_is(text, t, ")") || token_is(text, t, "]");
  }
}

static bool is_word(const char *text, const Token *tokens,
                    const ContractExpr *n, uint32_t name) {
  n = bare(n);
  return n->kind == NODE_PLAIN && n->end == n->first + 1 &&
         token_same(text, &tokens[n->first], &tokens[name]);
}

static bool is_equality(const char *text, const Token *tokens,
                        const ContractExpr *n) {
  const Token *op = n->kind == NODE_CHAIN && n->ops.len == 1
                        ? &tokens[n->ops.items[0]]
                        : NULL;
  return op && (token_is(text, op, "==") || token_is(text, op, "!="));
}

// Which arguments of the application are only compared.
static uint64_t compared_arguments(const Hashmap *logic, const char *text,
                                   const Token *tokens, const ContractExpr *n) {
  const Token *t = &tokens[n->first];
  char key[128];
  uint64_t mask = 0;
  int len =
      snprintf(key, sizeof key, "%.*s/%zu=", (int)(t->len < 90 ? t->len : 90),
               text + t->at, n->kids.len);
  return n->kind == NODE_APPLY && hashmap_get(logic, key, (size_t)len, &mask)
             ? mask
             : 0;
}

bool only_compared(const Hashmap *logic, const char *text, const Token *tokens,
                   const ContractExpr *n, uint32_t name) {
  bool equality = is_equality(text, tokens, n);
  uint64_t mask = compared_arguments(logic, text, tokens, n);
  if (is_word(text, tokens, n, name) ||
      (!n->kids.len && node_mentions(text, tokens, n, name)))
    return false;
  for (size_t i = 0; i < n->kids.len; i++) {
    const ContractExpr *kid = n->kids.items[i];
    bool alone = is_word(text, tokens, kid, name);
    if (alone && (equality || (i < 64 && mask >> i & 1)))
      continue;
    if (alone || !only_compared(logic, text, tokens, kid, name))
      return false;
  }
  return true;
}

bool emit_is_watched(const Emitter *e, const ContractExpr *n) {
  for (size_t i = 0; i < e->watched.len; i++)
    if (is_word(e->text, e->tokens, n, e->watched.items[i]))
      return true;
  return false;
}

bool emit_search(Emitter *e, const ContractExpr *q, const Binder *b,
                 uint32_t id) {
  uint32_t set = ++e->unique;
  for (uint32_t i = b->type; i < b->type_end; i++)
    if (token_is(e->text, &e->tokens[i], "*"))
      return false;
  if (!only_compared(e->logic, e->text, e->tokens, q->kids.items[0], b->name))
    return false;
  emit_own(e,
           "{ struct __culprit_search __culprit_s_%u "
           "__attribute__((cleanup(__culprit_search_close))); "
           "__culprit_search_open(&__culprit_s_%u); ",
           set, set);
  emit_type(e, b->type, b->type_end);
  emit_name(e, b->name);
  emit_own(e, "; while (__culprit_r_%u == %d && __culprit_search_next(", id,
           q->kind == NODE_FORALL);
  emit_own(e, "&__culprit_s_%u)) { ", set);
  emit_name(e, b->name);
  emit_own(e, " = (__typeof__(");
  emit_name(e, b->name);
  emit_own(e, "))__culprit_s_%u.value; ", set);
  array_push(&e->watched, b->name);
  return true;
}
