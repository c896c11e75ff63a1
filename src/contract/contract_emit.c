// Writes the expressions of a contract as C: see contract_emit.h.
#include "contract/contract_emit.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "contract/contract_range.h"
#include "contract/overlay.h"

// --- text and places --------------------------------------------------------

void emit_own(Emitter *e, const char *fmt, ...) {
  char text[1024];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  str_addn(e->out, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
  e->col += (uint32_t)n;
  if (strchr(text, '\n'))
    e->placed = false;
}

static bool joins(const Emitter *e) {
  char last = e->out->len ? e->out->data[e->out->len - 1] : '\n';
  return !isspace((unsigned char)last);
}

void emit_place(Emitter *e, uint32_t line, uint32_t col) {
  uint32_t at = e->placed && joins(e) ? e->col + 1 : e->col;
  bool exact = e->placed && e->line == line && e->col == col && !joins(e);
  if (exact)
    return;
  if (!e->placed || e->line != line || at > col) {
    str_addf(e->out, "\n#line %u", line);
    if (e->file) {
      str_addc(e->out, ' ');
      overlay_quote(e->out, e->file);
    }
    str_addc(e->out, '\n');
    e->col = 1;
  }
  for (; e->col < col; e->col++)
    str_addc(e->out, ' ');
  e->placed = true;
  e->line = line;
}

// Tokens that touch each other in the source may do so here.
static bool follows(const Emitter *e, const Token *t) {
  return e->placed && e->line == t->line && e->col == t->col;
}

static void add_bytes(Emitter *e, const char *bytes, uint32_t n) {
  str_addn(e->out, bytes, n);
  for (uint32_t i = 0; i < n; i++)
    if (bytes[i] == '\n')
      e->placed = false;
  e->col += n;
}

// `touching`: the token before came from the source too.
static void put_token(Emitter *e, const Token *t, bool touching) {
  if (!touching || !follows(e, t))
    emit_place(e, t->line, t->col);
  add_bytes(e, e->text + t->at, t->len);
}

void emit_token(Emitter *e, const Token *t) { put_token(e, t, false); }

// --- words ------------------------------------------------------------------

static bool is_logic(const Emitter *e, const Token *t) {
  uint64_t ignored;
  return t->kind == TOK_WORD &&
         hashmap_get(e->logic, e->text + t->at, t->len, &ignored);
}

static bool put_special(Emitter *e, uint32_t i) {
  static const struct {
    const char *word, *c;
  } words[] = {{"\\null", "((void *)0)"}, {"\\true", "1"}, {"\\false", "0"}};
  const Token *t = &e->tokens[i];
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (token_is(e->text, t, words[k].word)) {
      emit_place(e, t->line, t->col);
      emit_own(e, "%s", words[k].c);
      return true;
    }
  bool member =
      i && (token_is(e->text, t - 1, ".") || token_is(e->text, t - 1, "->"));
  if (member || !is_logic(e, t))
    return false;
  emit_place(e, t->line, t->col);
  emit_own(e, "__culprit_logic_%.*s", (int)t->len, e->text + t->at);
  if (!token_is(e->text, t + 1, "(")) // a constant of logic
    emit_own(e, "()");
  return true;
}

void emit_tokens(Emitter *e, uint32_t first, uint32_t end) {
  bool touching = false;
  for (uint32_t i = first; i < end; i++) {
    const Token *t = &e->tokens[i];
    if (t->kind == TOK_DIRECTIVE || t->kind == TOK_ANNOTATION)
      continue;
    bool special = put_special(e, i);
    if (!special)
      put_token(e, t, touching);
    touching = !special;
  }
}

void emit_type(Emitter *e, uint32_t first, uint32_t end) {
  static const struct {
    const char *word, *c;
  } types[] = {
      {"integer", "long long"}, {"real", "double"}, {"boolean", "_Bool"}};
  for (uint32_t i = first; i < end; i++) {
    const Token *t = &e->tokens[i];
    bool found = false;
    for (size_t k = 0; k < sizeof types / sizeof *types && !found; k++)
      if (token_is(e->text, t, types[k].word)) {
        emit_own(e, " %s ", types[k].c);
        found = true;
      }
    if (!found)
      emit_token(e, t);
  }
}

void emit_error(Emitter *e, uint32_t at, const char *text) {
  const Token *t = &e->tokens[at];
  array_push(e->diags, (Diag){DIAG_ERROR, t->line, t->col,
                              arena_strdup(&e->pool->arena, text)});
}

// --- quantifiers ------------------------------------------------------------

void emit_name(Emitter *e, uint32_t token) {
  emit_own(e, " %.*s", (int)e->tokens[token].len,
           e->text + e->tokens[token].at);
}

static void emit_loop(Emitter *e, const ContractExpr *q, const Binder *b,
                      const VariableRange *r, uint32_t id) {
  uint32_t end = ++e->unique;
  emit_own(e, "{ ");
  emit_type(e, b->type, b->type_end);
  emit_own(e, " __culprit_end_%u = ", end);
  emit_expr(e, r->high);
  emit_own(e, "; for (");
  emit_type(e, b->type, b->type_end);
  emit_name(e, b->name);
  emit_own(e, " = ");
  emit_expr(e, r->low);
  emit_own(e, "%s; __culprit_r_%u == %d && ", r->above ? " + 1" : "", id,
           q->kind == NODE_FORALL);
  emit_name(e, b->name);
  emit_own(e, " %s __culprit_end_%u; ", r->below ? "<" : "<=", end);
  emit_name(e, b->name);
  emit_own(e, "++) ");
}

static void emit_quantifier(Emitter *e, const ContractExpr *q) {
  bool forall = q->kind == NODE_FORALL;
  uint32_t id = ++e->unique;
  size_t open = 0;
  emit_own(e, "({ int __culprit_r_%u = %d; ", id, forall);
  for (; open < q->binders.len; open++) {
    VariableRange r = contract_range(e, q, open);
    if (!r.low || !r.high) {
      emit_error(e, q->binders.items[open].name,
                 forall ? "the range of this variable is not known: write "
                          "'low <= i < high ==> ...'"
                        : "the range of this variable is not known: write "
                          "'low <= i < high && ...'");
      break;
    }
    emit_loop(e, q, &q->binders.items[open], &r, id);
  }
  emit_own(e, "if (%s", forall ? "!" : "");
  emit_expr(e, q->kids.items[0]);
  emit_own(e, ") __culprit_r_%u = %d; ", id, !forall);
  for (size_t i = 0; i < open; i++)
    emit_own(e, "}");
  emit_own(e, " __culprit_r_%u; })", id);
}

// --- links ------------------------------------------------------------------

// Declares the set N of the objects reachable from the kid; __culprit_set_close
// gives back what it took.
static uint32_t emit_set(Emitter *e, const ContractExpr *set) {
  uint32_t id = ++e->unique;
  emit_own(e,
           "struct __culprit_set __culprit_set_%u; "
           "__culprit_set_open(&__culprit_set_%u, ",
           id, id);
  emit_expr(e, set->kids.items[0]);
  emit_own(e,
           "); for (long __culprit_i = 0; __culprit_i < "
           "__culprit_set_%u.n; __culprit_i++) { __typeof__(((void)0, ",
           id);
  emit_expr(e, set->kids.items[0]);
  emit_own(e, ")) __culprit_p = __culprit_set_%u.items[__culprit_i]; ", id);
  for (size_t i = 0; i < set->fields.len; i++) {
    emit_own(e, "__culprit_set_add(&__culprit_set_%u, (void *)(__culprit_p->",
             id);
    emit_token(e, &e->tokens[set->fields.items[i]]);
    emit_own(e, ")); ");
  }
  emit_own(e, "} ");
  return id;
}

static void emit_in(Emitter *e, const ContractExpr *n) {
  emit_own(e, "({ const void *__culprit_x = ");
  emit_expr(e, n->kids.items[0]);
  emit_own(e, "; ");
  uint32_t id = emit_set(e, n->kids.items[1]);
  emit_own(e,
           "int __culprit_v = __culprit_set_has(&__culprit_set_%u, "
           "__culprit_x); __culprit_set_close(&__culprit_set_%u); "
           "__culprit_v; })",
           id, id);
}

static void emit_size(Emitter *e, const ContractExpr *n) {
  emit_own(e, "({ ");
  uint32_t id = emit_set(e, n->kids.items[0]);
  emit_own(e,
           "__culprit_set_close(&__culprit_set_%u); "
           "__culprit_set_%u.n; })",
           id, id);
}

static void emit_disjoint(Emitter *e, const ContractExpr *n) {
  emit_own(e, "({ ");
  uint32_t a = emit_set(e, n->kids.items[0]);
  uint32_t b = emit_set(e, n->kids.items[1]);
  emit_own(e,
           "int __culprit_v = __culprit_set_disjoint(&__culprit_set_%u, "
           "&__culprit_set_%u); __culprit_set_close(&__culprit_set_%u); "
           "__culprit_set_close(&__culprit_set_%u); __culprit_v; })",
           a, b, a, b);
}

// No object is reached twice: one link each, except for the first.
static void emit_acyclic(Emitter *e, const ContractExpr *n) {
  emit_own(e, "({ long __culprit_links = 0; ");
  uint32_t id = emit_set(e, n);
  emit_own(e,
           "for (long __culprit_i = 0; __culprit_i < __culprit_set_%u.n; "
           "__culprit_i++) { __typeof__(((void)0, ",
           id);
  emit_expr(e, n->kids.items[0]);
  emit_own(e, ")) __culprit_p = __culprit_set_%u.items[__culprit_i]; ", id);
  for (size_t i = 0; i < n->fields.len; i++) {
    emit_own(e, "__culprit_links += (__culprit_p->");
    emit_token(e, &e->tokens[n->fields.items[i]]);
    emit_own(e, ") != 0; ");
  }
  emit_own(e,
           "} __culprit_set_close(&__culprit_set_%u); __culprit_links == "
           "(__culprit_set_%u.n ? __culprit_set_%u.n - 1 : 0); })",
           id, id, id);
}

// --- expressions ------------------------------------------------------------

static void emit_plain(Emitter *e, const ContractExpr *n) {
  size_t kid = 0;
  for (uint32_t i = n->first; i < n->end;) {
    if (kid < n->kids.len && n->kids.items[kid]->first == i) {
      emit_expr(e, n->kids.items[kid]);
      i = n->kids.items[kid++]->end;
      continue;
    }
    uint32_t stop = kid < n->kids.len ? n->kids.items[kid]->first : n->end;
    emit_tokens(e, i, stop);
    i = stop;
  }
}

static void emit_chain(Emitter *e, const ContractExpr *n) {
  emit_own(e, "(");
  for (size_t i = 0; i < n->ops.len; i++) {
    emit_own(e, i ? " && (" : "(");
    emit_expr(e, n->kids.items[i]);
    emit_token(e, &e->tokens[n->ops.items[i]]);
    emit_expr(e, n->kids.items[i + 1]);
    emit_own(e, ")");
  }
  emit_own(e, ")");
}

static void emit_two(Emitter *e, const ContractExpr *n, const char *before,
                     const char *between, const char *after) {
  emit_own(e, "%s", before);
  emit_expr(e, n->kids.items[0]);
  emit_own(e, "%s", between);
  emit_expr(e, n->kids.items[1]);
  emit_own(e, "%s", after);
}

static void emit_let(Emitter *e, const ContractExpr *n) {
  emit_own(e, "({ __auto_type");
  emit_name(e, n->binders.items[0].name);
  emit_own(e, " = ");
  emit_expr(e, n->kids.items[0]);
  emit_own(e, "; ");
  emit_expr(e, n->kids.items[1]);
  emit_own(e, "; })");
}

static void emit_old(Emitter *e, const ContractExpr *n) {
  if (e->state == EMIT_AFTER && n->binder) {
    emit_own(e, "__culprit_old_%u[", n->number);
    emit_name(e, n->binder);
    emit_own(e, " - __culprit_low_%u]", n->number);
    return;
  }
  if (e->state == EMIT_AFTER) {
    emit_own(e, "__culprit_old_%u", n->number);
    return;
  }
  if (e->state == EMIT_INSIDE)
    emit_error(e, n->first,
               "\\old is not available here: keep the value in a variable");
  emit_expr(e, n->kids.items[0]);
}

// \valid(p + (low .. high)): the range at the end of a sum.
static const ContractExpr *range_of(const ContractExpr *n) {
  if (n->kind != NODE_PLAIN || n->kids.len != 2)
    return NULL;
  const ContractExpr *last = n->kids.items[1];
  return last->kind == NODE_PAREN && last->kids.len == 2 ? last : NULL;
}

static void emit_valid(Emitter *e, const ContractExpr *n) {
  const ContractExpr *range = range_of(n->kids.items[0]);
  const ContractExpr *base =
      range ? n->kids.items[0]->kids.items[0] : n->kids.items[0];
  emit_own(e, "__culprit_valid(");
  emit_expr(e, base);
  emit_own(e, ", sizeof *(");
  emit_expr(e, base);
  emit_own(e, "), ");
  if (range)
    emit_two(e, range, "", ", ", ")");
  else
    emit_own(e, "0, 0)");
}

static void emit_extreme(Emitter *e, const ContractExpr *n) {
  bool min = token_is(e->text, &e->tokens[n->first], "\\min");
  emit_own(e, "({ __auto_type __culprit_a = ");
  emit_expr(e, n->kids.items[0]);
  if (n->kids.len == 1) {
    emit_own(e, "; __culprit_a < 0 ? -__culprit_a : __culprit_a; })");
    return;
  }
  emit_own(e, "; __auto_type __culprit_b = ");
  emit_expr(e, n->kids.items[1]);
  emit_own(e, "; __culprit_a %s __culprit_b ? __culprit_a : __culprit_b; })",
           min ? "<" : ">");
}

// One form with its own parentheses; false: not of this kind.
static bool emit_logic(Emitter *e, const ContractExpr *n) {
  switch (n->kind) {
  case NODE_AND:
    emit_two(e, n, "(", " && ", ")");
    return true;
  case NODE_OR:
    emit_two(e, n, "(", " || ", ")");
    return true;
  case NODE_IMPLIES:
    emit_two(e, n, "(!", " || ", ")");
    return true;
  case NODE_IFF:
    emit_two(e, n, "(!", " == !", ")");
    return true;
  case NODE_XOR:
    emit_two(e, n, "(!", " != !", ")");
    return true;
  case NODE_CHAIN:
    emit_chain(e, n);
    return true;
  case NODE_FORALL:
  case NODE_EXISTS:
    emit_quantifier(e, n);
    return true;
  case NODE_LET:
    emit_let(e, n);
    return true;
  default:
    return false;
  }
}

static void emit_primary(Emitter *e, const ContractExpr *n) {
  switch (n->kind) {
  case NODE_OLD:
    emit_old(e, n);
    break;
  case NODE_RESULT:
    if (e->state != EMIT_AFTER)
      emit_error(e, n->first, "\\result is available only in ensures");
    emit_place(e, e->tokens[n->first].line, e->tokens[n->first].col);
    emit_own(e, "__culprit_result");
    break;
  case NODE_VALID:
    emit_valid(e, n);
    break;
  case NODE_IN:
    emit_in(e, n);
    break;
  case NODE_SIZE:
    emit_size(e, n);
    break;
  case NODE_DISJOINT:
    emit_disjoint(e, n);
    break;
  case NODE_ACYCLIC:
    emit_acyclic(e, n);
    break;
  case NODE_EXTREME:
    emit_extreme(e, n);
    break;
  default:
    emit_plain(e, n);
  }
}

// What C's operators around it would take apart stands in parentheses.
void emit_expr(Emitter *e, const ContractExpr *n) {
  if (emit_logic(e, n))
    return;
  if (n->kind == NODE_PAREN && n->kids.len == 2) {
    emit_error(e, n->first, "a range is allowed only in \\valid");
    return;
  }
  if (n->kind == NODE_PAREN) {
    emit_own(e, "(");
    emit_expr(e, n->kids.items[0]);
    emit_own(e, ")");
    return;
  }
  bool single = n->kind == NODE_PLAIN && n->end == n->first + 1;
  emit_own(e, single ? "" : "(");
  emit_primary(e, n);
  emit_own(e, single ? "" : ")");
}
