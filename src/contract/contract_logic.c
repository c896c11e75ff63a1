// Predicates and logic functions become functions: see contract_writer.h.
//
//   predicate Below{L}(int *a, integer n) = ...
//       -> static _Bool __culprit_logic_Below(const void *__culprit_label_L,
//                                             int *a, long long n)
//
// A definition has a parameter for each label, the state that memory is read in
// (NULL: as it is now); one without labels has one all the same. Definitions of
// one name are overloaded, as C++ does: clang chooses by number and types of
// the arguments.
#include <stdio.h>

#include "contract/contract_prelude.h"
#include "contract/contract_writer.h"

static void result_type(Emitter *e, const Logic *l) {
  if (l->type < l->type_end)
    emit_type(e, l->type, l->type_end);
  else
    emit_own(e, "_Bool");
}

static void emit_params(Emitter *e, const Logic *l) {
  if (!l->labels.len)
    emit_own(e, "const void *__culprit_label_");
  for (size_t i = 0; i < l->labels.len; i++) {
    emit_own(e, "%sconst void *__culprit_label_", i ? ", " : "");
    emit_own(e, "%.*s", (int)e->tokens[l->labels.items[i]].len,
             e->text + e->tokens[l->labels.items[i]].at);
  }
  if (l->params < l->params_end)
    emit_own(e, ", ");
  emit_type(e, l->params, l->params_end);
}

static void logic_head(Emitter *e, const Logic *l) {
  const Token *name = &e->tokens[l->name];
  emit_own(e, "__attribute__((overloadable)) static " CONTRACT_OWN);
  result_type(e, l);
  emit_own(e, " __culprit_logic_%.*s(", (int)name->len, e->text + name->at);
  emit_params(e, l);
  emit_own(e, ")");
}

// Names of parameters are values; some are watched.
static void bind_params(Emitter *e, const Logic *l) {
  const Token *t = &e->tokens[l->name];
  char key[128];
  uint64_t mask = 0;
  int n =
      snprintf(key, sizeof key, "%.*s/%u=", (int)(t->len < 90 ? t->len : 90),
               e->text + t->at, l->arity);
  hashmap_get(e->logic, key, (size_t)n, &mask);
  logic_params(e->text, e->tokens, l, &e->bound);
  for (size_t i = 0; i < e->bound.len && i < 64; i++)
    if (mask >> i & 1)
      array_push(&e->watched, e->bound.items[i]);
}

// Memory is read in the state of the last label, the only one as a rule.
static void logic_body(Emitter *e, const Logic *l, uint32_t number) {
  const Token *last = l->labels.len ? &e->tokens[array_last(&l->labels)] : NULL;
  e->labels = &l->labels;
  e->label =
      arena_printf(&e->pool->arena, "__culprit_label_%.*s",
                   last ? (int)last->len : 0, last ? e->text + last->at : "");
  bind_params(e, l);
  emit_own(e, " { ");
  result_type(e, l);
  emit_own(e, " __culprit_value_%u = ", number);
  emit_own(e, "(");
  result_type(e, l);
  emit_own(e, "){0}; if (__culprit_step()) __culprit_value_%u = ", number);
  emit_expr(e, l->body);
  emit_own(e, "; return __culprit_value_%u; }\n", number);
  e->bound.len = e->watched.len = 0;
  e->label = NULL;
  e->labels = NULL;
}

// All heads first: definitions may use each other.
void writer_logics(ContractWriter *w, const Annotation *a) {
  Emitter e = writer_emitter(w, w->s, &a->tokens, EMIT_INSIDE);
  contract_hush(w->out);
  for (size_t i = 0; i < a->logics.len; i++) {
    const Logic *l = &a->logics.items[i];
    const Token *name = &e.tokens[l->name];
    logic_head(&e, l);
    emit_own(&e, " __asm__(\"__culprit_logic_%.*s_%zu_%u_%zu\");\n",
             (int)name->len, e.text + name->at, w->number, a->whole.line, i);
  }
  for (size_t i = 0; i < a->logics.len; i++) {
    logic_head(&e, &a->logics.items[i]);
    logic_body(&e, &a->logics.items[i], ++e.unique);
  }
  array_release(&e.bound);
  array_release(&e.watched);
  w->unique = e.unique;
  contract_unhush(w->out);
}
