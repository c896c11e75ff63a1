// States inside a function's body: see contract_marks.h.
#include "contract/contract_marks.h"

#include "contract/contract_prelude.h"

#include <ctype.h>
#include <string.h>

static bool is(const ContractSource *s, uint32_t i, const char *mark) {
  return token_is(str_text(&s->text), &s->tokens.items[i], mark);
}

// --- labels of a clause -----------------------------------------------------

typedef struct {
  ContractSource *s;
  const Check *check;
  uint32_t annotation;
} Asker;

typedef enum { PAST, LOOP_ENTRY, LOOP_ROUND, NAMED, NO_LABEL } LabelKind;

static LabelKind label_kind(const char *text, const Token *t) {
  if (token_is(text, t, "Pre") || token_is(text, t, "Old"))
    return PAST;
  if (token_is(text, t, "LoopEntry"))
    return LOOP_ENTRY;
  if (token_is(text, t, "LoopCurrent"))
    return LOOP_ROUND;
  if (token_is(text, t, "Here") || token_is(text, t, "Post") ||
      token_is(text, t, "Init"))
    return NO_LABEL;
  return NAMED;
}

static uint32_t function_end(const ContractSource *s, const Head *h) {
  uint32_t i = h->params_end;
  while (s->tokens.items[i].kind != TOK_END && !is(s, i, "{"))
    i++;
  int depth = 0;
  for (; s->tokens.items[i].kind != TOK_END; i++) {
    depth += is(s, i, "{") - is(s, i, "}");
    if (!depth)
      return i;
  }
  return i;
}

// The C label `name :` in the function: the offset behind it, 0: none.
static uint32_t find_c_label(const ContractSource *s, const Head *h,
                             const char *from, const Token *name) {
  const char *text = str_text(&s->text);
  uint32_t end = function_end(s, h);
  for (uint32_t i = h->params_end + 1; i + 1 < end; i++) {
    const Token *t = &s->tokens.items[i];
    bool starts = is(s, i - 1, "{") || is(s, i - 1, "}") || is(s, i - 1, ";") ||
                  is(s, i - 1, ":") || is(s, i - 1, ")") ||
                  s->tokens.items[i - 1].kind == TOK_ANNOTATION;
    if (starts && t->len == name->len &&
        !memcmp(text + t->at, from + name->at, t->len) && is(s, i + 1, ":"))
      return s->tokens.items[i + 1].at + 1;
  }
  return 0;
}

static bool is_ghost_label(const ContractSource *s, const Annotation *a) {
  const char *text = str_text(&s->text);
  const Token *t = a->tokens.items;
  return a->kind == ANNOTATION_GHOST && a->tokens.len >= 4 &&
         t[1].kind == TOK_WORD && token_is(text, &t[2], ":");
}

static uint32_t find_ghost_label(const ContractSource *s, const Head *h,
                                 const Token *name) {
  const char *text = str_text(&s->text);
  uint32_t from = s->tokens.items[h->params_end].at;
  uint32_t end = s->tokens.items[function_end(s, h)].at;
  for (size_t i = 0; i < s->annotations.len; i++) {
    const Annotation *a = &s->annotations.items[i];
    if (a->whole.at > from && a->whole.at < end && is_ghost_label(s, a) &&
        token_same(text, &a->tokens.items[1], name))
      return a->whole.at + a->whole.len;
  }
  return 0;
}

// The place where a round of the loop begins; 0: there is none to write to.
static uint32_t round_place(const ContractSource *s, uint32_t loop) {
  uint32_t i = loop + 1;
  int depth = 0;
  if (!is(s, loop, "do"))
    do {
      depth += is(s, i, "(") - is(s, i, ")");
      i++;
    } while (depth && s->tokens.items[i].kind != TOK_END);
  return is(s, i, "{") ? s->tokens.items[i].at + 1 : 0;
}

static uint32_t place_of(const Asker *a, const Token *t) {
  const ContractSource *s = a->s;
  const char *text = str_text(&s->text);
  const Head *h = &s->heads.items[a->check->function];
  LabelKind kind = label_kind(text, t);
  if (kind == NAMED) {
    uint32_t at = find_c_label(s, h, text, t);
    return at ? at : find_ghost_label(s, h, t);
  }
  if (!a->check->loop)
    return 0;
  return kind == LOOP_ENTRY ? s->tokens.items[a->check->loop].at
                            : round_place(s, a->check->loop);
}

static StateMark *mark_at(ContractSource *s, uint32_t at) {
  for (size_t i = 0; at && i < s->marks.len; i++)
    if (s->marks.items[i].at == at)
      return &s->marks.items[i];
  return NULL;
}

static StateMark *need_mark(Asker *a, uint32_t at, LabelKind kind) {
  StateMark *m = mark_at(a->s, at);
  if (m || !at)
    return m;
  array_push(&a->s->marks,
             (StateMark){.id = (uint32_t)a->s->marks.len + 1,
                         .at = at,
                         .kind = kind == LOOP_ENTRY   ? MARK_LOOP
                                 : kind == LOOP_ROUND ? MARK_ROUND
                                                      : MARK_LABEL,
                         .function = a->check->function});
  return &array_last(&a->s->marks);
}

// --- collecting -------------------------------------------------------------

static bool is_lower(const char *text, const Token *t) {
  for (uint32_t i = 0; i < t->len; i++)
    if (islower((unsigned char)text[t->at + i]))
      return true;
  return false;
}

// Variables of the body that \at() reads: words that nothing else binds.
static void name_variables(Asker *a, StateMark *m, const ContractExpr *n) {
  const char *text = str_text(&a->s->text);
  const Tokens *tokens = &a->s->annotations.items[a->annotation].tokens;
  for (size_t i = 0; i < n->kids.len; i++)
    name_variables(a, m, n->kids.items[i]);
  const Token *t = &tokens->items[n->first];
  if (n->kind != NODE_PLAIN || n->end != n->first + 1 || t->kind != TOK_WORD ||
      !is_lower(text, t) || m->nvariables == 8)
    return;
  m->variables[m->nvariables].annotation = a->annotation;
  m->variables[m->nvariables++].token = n->first;
}

static void ask(Asker *a, uint32_t label, const ContractExpr *read) {
  const Token *t = &a->s->annotations.items[a->annotation].tokens.items[label];
  LabelKind kind = label_kind(str_text(&a->s->text), t);
  StateMark *m = kind == PAST || kind == NO_LABEL
                     ? NULL
                     : need_mark(a, place_of(a, t), kind);
  if (!m)
    return;
  m->kept = true;
  if (read && m->kind != MARK_LABEL)
    name_variables(a, m, read);
}

static void ask_all(Asker *a, const ContractExpr *n) {
  if (n->kind == NODE_AT)
    ask(a, n->fields.items[0], n->kids.items[0]);
  for (size_t i = 0; n->kind == NODE_APPLY && i < n->fields.len; i++)
    ask(a, n->fields.items[i], NULL);
  for (size_t i = 0; i < n->kids.len; i++)
    ask_all(a, n->kids.items[i]);
}

void marks_collect(ContractSource *s) {
  s->marks.len = 0;
  for (size_t i = 0; i < s->checks.len; i++) {
    const Check *c = &s->checks.items[i];
    const Annotation *a = &s->annotations.items[c->annotation];
    Asker asker = {s, c, c->annotation};
    for (size_t k = 0; k < a->clauses.len; k++) {
      if (a->clauses.items[k].kind == CLAUSE_VARIANT && c->loop)
        need_mark(&asker, s->tokens.items[c->loop].at, LOOP_ENTRY);
      ask_all(&asker, a->clauses.items[k].expr);
    }
  }
}

static bool asks_past(const ContractSource *s, const Annotation *a,
                      const ContractExpr *n) {
  const char *text = str_text(&s->text);
  bool yes = n->kind == NODE_OLD || n->kind == NODE_AT;
  for (size_t i = 0; n->kind == NODE_APPLY && i < n->fields.len; i++)
    yes |= label_kind(text, &a->tokens.items[n->fields.items[i]]) != NO_LABEL;
  for (size_t i = 0; i < n->kids.len && !yes; i++)
    yes = asks_past(s, a, n->kids.items[i]);
  return yes;
}

bool marks_need_state(const ContractSource *s, const Head *h) {
  for (size_t i = 0; i < s->checks.len; i++) {
    const Check *c = &s->checks.items[i];
    const Annotation *a = &s->annotations.items[c->annotation];
    for (size_t k = 0; k < a->clauses.len; k++)
      if (&s->heads.items[c->function] == h &&
          asks_past(s, a, a->clauses.items[k].expr))
        return true;
  }
  return false;
}

// --- writing ----------------------------------------------------------------

const char *marks_find(void *context, uint32_t token) {
  MarkScope *scope = context;
  ContractSource *s = scope->w->s;
  const Token *t = &scope->a->tokens.items[token];
  if (label_kind(str_text(&s->text), t) == PAST)
    return "__culprit_label_0";
  Asker asker = {s, scope->check, scope->check->annotation};
  const StateMark *m = label_kind(str_text(&s->text), t) == NO_LABEL
                           ? NULL
                           : mark_at(s, place_of(&asker, t));
  return m ? arena_printf(&s->pool.arena, "__culprit_label_%u", m->id) : NULL;
}

void marks_declare(Emitter *e, MarkScope *scope) {
  const ContractSource *s = scope->w->s;
  const Head *h = &s->heads.items[scope->check->function];
  if (marks_need_state(s, h))
    emit_own(e, "const void *__culprit_label_0 = __culprit_label(\"%s\", 0);\n",
             scope->function);
  for (size_t i = 0; i < s->marks.len; i++) {
    const StateMark *m = &s->marks.items[i];
    if (m->kept && m->function == scope->check->function)
      emit_own(e,
               "const void *__culprit_label_%u = __culprit_label(\"%s\", %u);"
               "\n",
               m->id, scope->function, m->id);
  }
}

static const Behavior *find_behavior(const MarkScope *scope, const Token *t,
                                     uint32_t *number) {
  const char *text = str_text(&scope->w->s->text);
  for (uint32_t i = 0; scope->contract && i < scope->contract->behaviors.len;
       i++) {
    *number = i;
    if (token_is(text, t, scope->contract->behaviors.items[i].name))
      return &scope->contract->behaviors.items[i];
  }
  return NULL;
}

// "for b, c:": it need not hold unless one of them is assumed.
static void emit_only(Emitter *e, const MarkScope *scope, const Clause *c) {
  for (uint32_t i = c->only; i < c->only_end; i++) {
    uint32_t number = 0;
    if (e->tokens[i].kind != TOK_WORD)
      continue;
    if (!find_behavior(scope, &e->tokens[i], &number))
      emit_error(e, i, "the function has no behavior of this name");
    emit_own(e, "%s__culprit_assumed(\"%s\", %u)", i == c->only ? "!(" : " || ",
             scope->function, number);
  }
  emit_own(e, c->only < c->only_end ? ") || " : "");
}

void marks_emit_clause(Emitter *e, MarkScope *scope, size_t k) {
  const Clause *c = &scope->a->clauses.items[k];
  const ContractSource *s = scope->w->s;
  emit_own(e, "\n__culprit_assert(&__culprit_contract_here, %zu, ", k);
  emit_only(e, scope, c);
  if (c->kind != CLAUSE_VARIANT) {
    emit_own(e, "!!");
    emit_expr(e, c->expr);
  } else {
    const StateMark *m =
        mark_at((ContractSource *)s, s->tokens.items[scope->check->loop].at);
    emit_own(e, "__culprit_variant(\"%s\", %u, (long long)", scope->function,
             m ? m->id : 0);
    emit_expr(e, c->expr);
    emit_own(e, ")");
  }
  emit_own(e, ");\n");
}

static void emit_variables(ContractWriter *w, const StateMark *m) {
  for (size_t i = 0; i < m->nvariables; i++) {
    const Annotation *a = &w->s->annotations.items[m->variables[i].annotation];
    const Token *t = &a->tokens.items[m->variables[i].token];
    Emitter e = writer_emitter(w, w->s, &a->tokens, EMIT_INSIDE);
    emit_own(&e, ", (const void *)&");
    emit_token(&e, t);
    emit_own(&e, ", sizeof ");
    emit_token(&e, t);
  }
}

void marks_emit(ContractWriter *w, const StateMark *m) {
  const ContractSource *s = w->s;
  const Token *name = &s->tokens.items[s->heads.items[m->function].name];
  contract_hush(w->out);
  str_addf(w->out, "%s__culprit_mark(\"%.*s\", %u, %d",
           m->kind == MARK_LOOP ? "if (" : "", (int)name->len,
           str_text(&s->text) + name->at, m->id, m->kept);
  emit_variables(w, m);
  str_addf(w->out, ", (void *)0)%s", m->kind == MARK_LOOP ? ") {} else" : ";");
  contract_unhush(w->out);
}

// --- parameters -------------------------------------------------------------

static bool is_changed(const ContractSource *s, uint32_t from, uint32_t end,
                       const Token *name) {
  static const char *const changes[] = {
      "=",  "+=", "-=",  "*=",  "/=", "%=", "&=",
      "|=", "^=", "<<=", ">>=", "++", "--", NULL};
  const char *text = str_text(&s->text);
  for (uint32_t i = from; i < end; i++) {
    const Token *t = &s->tokens.items[i];
    if (t->kind != TOK_WORD || !token_same(text, t, name))
      continue;
    if (token_is_one_of(text, t + 1, changes) || token_is(text, t - 1, "++") ||
        token_is(text, t - 1, "--") || token_is(text, t - 1, "&"))
      return true;
  }
  return false;
}

void marks_constants(const ContractSource *s, const Head *h,
                     EmittedNames *out) {
  uint32_t end = function_end(s, h);
  for (uint32_t i = h->params + 1; i < h->params_end + 1; i++) {
    const Token *t = &s->tokens.items[i - 1];
    bool last = is(s, i, ",") || is(s, i, "[") || i == h->params_end;
    if (last && t->kind == TOK_WORD && !is_changed(s, h->params_end, end, t))
      array_push(out, arena_strndup(&((ContractSource *)s)->pool.arena,
                                    str_text(&s->text) + t->at, t->len));
  }
}
