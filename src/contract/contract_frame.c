// The memory before a call: see contract_frame.h.
#include "contract/contract_frame.h"

static bool is_past(const Emitter *e, uint32_t label) {
  const Token *t = &e->tokens[label];
  return token_is(e->text, t, "Pre") || token_is(e->text, t, "Old");
}

static bool reads_past(const Emitter *e, const ContractExpr *n) {
  if (n->kind == NODE_OLD && n->in_state)
    return true;
  for (size_t i = 0; n->kind == NODE_APPLY && i < n->fields.len; i++)
    if (is_past(e, n->fields.items[i]))
      return true;
  for (size_t i = 0; i < n->kids.len; i++)
    if (reads_past(e, n->kids.items[i]))
      return true;
  return false;
}

bool emit_needs_state(const Emitter *e, const Annotation *a) {
  for (size_t k = 0; k < a->clauses.len; k++) {
    const Clause *c = &a->clauses.items[k];
    if ((c->kind == CLAUSE_ASSIGNS && !a->open_frame) ||
        (c->kind == CLAUSE_ENSURES && reads_past(e, c->expr)))
      return true;
  }
  return false;
}

// --- what is kept -----------------------------------------------------------

static void keep_span(Emitter *e, const ContractExpr *n, bool place) {
  emit_own(e, "\n{ struct __culprit_span __culprit_s = ");
  emit_span(e, n, place);
  emit_own(e, "; __culprit_state_add(&__culprit_pre, __culprit_s.at, "
              "__culprit_s.size); }");
}

// The objects that certainly exist if the clause holds.
static void keep_valid(Emitter *e, const ContractExpr *n) {
  if (n->kind == NODE_AND) {
    keep_valid(e, n->kids.items[0]);
    keep_valid(e, n->kids.items[1]);
  } else if (n->kind == NODE_PAREN && n->kids.len == 1) {
    keep_valid(e, n->kids.items[0]);
  } else if (n->kind == NODE_VALID) {
    for (size_t i = 0; i < n->kids.len; i++)
      keep_span(e, n->kids.items[i], false);
  }
}

static void keep_param(Emitter *e, const char *name, bool whole) {
  emit_own(e, "\nif (__builtin_classify_type(%s) == 5) { ", name);
  if (whole)
    emit_own(e,
             "__culprit_state_add(&__culprit_pre, *(const void *const *)&%s, "
             "sizeof *_Generic(__builtin_choose_expr(__builtin_classify_type("
             "%s) == 5, %s, (char *)0), void *: (char *)0, const void *: "
             "(char *)0, default: (__builtin_choose_expr("
             "__builtin_classify_type(%s) == 5, %s, (char *)0)))); ",
             name, name, name, name, name);
  emit_own(e, "__culprit_state_near(&__culprit_pre, &%s); }", name);
}

static const Clause *first_frame(const Annotation *a) {
  for (size_t k = 0; k < a->clauses.len && !a->open_frame; k++)
    if (a->clauses.items[k].kind == CLAUSE_ASSIGNS)
      return &a->clauses.items[k];
  return NULL;
}

// Variables of the file, so far as the contract may see them change. What is
// wrong here is wrong with `assigns`.
static void keep_variables(Emitter *e, const ContractSource *s,
                           const Clause *frame) {
  const Token *t = &e->tokens[frame->from];
  for (size_t i = 0; i < s->variables.len; i++) {
    const Token *name = &s->tokens.items[s->variables.items[i]];
    emit_own(e, "\n");
    emit_place(e, t->line, t->col);
    emit_own(e,
             "__culprit_state_add(&__culprit_pre, (const void *)&%.*s, sizeof "
             "%.*s);",
             (int)name->len, str_text(&s->text) + name->at, (int)name->len,
             str_text(&s->text) + name->at);
  }
}

void emit_state(Emitter *e, const Annotation *a, const ContractSource *s) {
  const Clause *frame = first_frame(a);
  emit_own(e, "\nstruct __culprit_state __culprit_pre; "
              "__culprit_state_open(&__culprit_pre); "
              "if (__culprit_state_wanted(__culprit_call.number)) {");
  for (size_t k = 0; k < a->clauses.len; k++)
    if (a->clauses.items[k].kind == CLAUSE_REQUIRES &&
        a->clauses.items[k].behavior < 0)
      keep_valid(e, a->clauses.items[k].expr);
  if (frame)
    keep_variables(e, s, frame);
  for (size_t i = 0; i < e->params->len; i++)
    keep_param(e, e->params->items[i], frame != NULL);
  emit_own(e, "\n}\n");
  e->placed = false;
}

// --- frames -----------------------------------------------------------------

static bool is_same_frame(const Clause *a, const Clause *b) {
  return b->kind == CLAUSE_ASSIGNS && a->behavior == b->behavior;
}

static bool is_frame(const Annotation *a, size_t k) {
  if (a->open_frame || a->clauses.items[k].kind != CLAUSE_ASSIGNS)
    return false;
  for (size_t i = 0; i < k; i++)
    if (is_same_frame(&a->clauses.items[k], &a->clauses.items[i]))
      return false;
  return true;
}

static size_t frame_size(const Annotation *a, size_t k) {
  size_t n = 0;
  for (size_t i = k; i < a->clauses.len; i++)
    if (is_same_frame(&a->clauses.items[k], &a->clauses.items[i]))
      n += a->clauses.items[i].expr->kids.len;
  return n;
}

static void emit_frame(Emitter *e, const Annotation *a, size_t k) {
  const Clause *c = &a->clauses.items[k];
  size_t at = 0;
  emit_own(e, "\nstruct __culprit_span __culprit_frame_%zu[%zu] = {{0, 0}};", k,
           frame_size(a, k) + 1);
  if (c->behavior >= 0)
    emit_own(e, "if (__culprit_assumes_%d)", c->behavior);
  emit_own(e, "{");
  for (size_t i = k; i < a->clauses.len; i++) {
    const Clause *part = &a->clauses.items[i];
    for (size_t p = 0; is_same_frame(c, part) && p < part->expr->kids.len;
         p++) {
      emit_own(e, "\n__culprit_frame_%zu[%zu] = ", k, at++);
      emit_span(e, part->expr->kids.items[p], true);
      emit_own(e, ";");
    }
  }
  emit_own(e, "}\n");
}

void emit_frames(Emitter *e, const Annotation *a) {
  for (size_t k = 0; k < a->clauses.len; k++)
    if (is_frame(a, k))
      emit_frame(e, a, k);
}

void emit_frame_check(Emitter *e, const Annotation *a, size_t k,
                      const char *function) {
  if (!is_frame(a, k))
    return;
  const Clause *c = &a->clauses.items[k];
  emit_own(e,
           "\nif (__culprit_asks(&__culprit_promise_%s, %zu)) "
           "__culprit_clause(&__culprit_promise_%s, %zu, ",
           function, k, function, k);
  if (c->behavior >= 0)
    emit_own(e, "!__culprit_assumes_%d || ", c->behavior);
  emit_own(e,
           "__culprit_unchanged(&__culprit_pre, __culprit_frame_%zu, %zu), "
           "&__culprit_call);\n",
           k, frame_size(a, k));
}
