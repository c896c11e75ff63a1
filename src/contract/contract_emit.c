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
  return false;
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

static void refuse_range(Emitter *e, const ContractExpr *q, size_t var) {
  emit_error(e, q->binders.items[var].name,
             q->kind == NODE_FORALL
                 ? "the range of this variable is not known: write "
                   "'low <= i < high ==> ...'"
                 : "the range of this variable is not known: write "
                   "'low <= i < high && ...'");
}

static void emit_quantifier(Emitter *e, const ContractExpr *q) {
  bool forall = q->kind == NODE_FORALL;
  uint32_t id = ++e->unique;
  size_t open = 0, watched = e->watched.len;
  emit_own(e, "({ int __culprit_r_%u = %d; ", id, forall);
  for (; open < q->binders.len; open++) {
    VariableRange r = contract_range(e, q, open);
    const Binder *b = &q->binders.items[open];
    if (r.low && r.high)
      emit_loop(e, q, b, &r, id);
    else if (!emit_search(e, q, b, id)) {
      refuse_range(e, q, open);
      break;
    }
    array_push(&e->bound, b->name);
  }
  size_t searched = e->watched.len - watched;
  emit_own(e, "if (%s", forall ? "!" : "");
  emit_expr(e, q->kids.items[0]);
  e->bound.len -= open;
  e->watched.len = watched;
  emit_own(e, ") __culprit_r_%u = %d; ", id, !forall);
  for (size_t i = 0; i < open + searched; i++)
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
  array_push(&e->bound, n->binders.items[0].name);
  emit_expr(e, n->kids.items[1]);
  e->bound.len--;
  emit_own(e, "; })");
}

// A number as it is written: not below zero, so comparing with it is what C
// does.
static bool is_number(const Emitter *e, const ContractExpr *n) {
  while (n->kind == NODE_PAREN && n->kids.len == 1)
    n = n->kids.items[0];
  TokenKind kind = e->tokens[n->first].kind;
  return n->kind == NODE_PLAIN && n->end == n->first + 1 &&
         (kind == TOK_NUMBER || kind == TOK_SLASHED);
}

static void emit_operand(Emitter *e, const char *name, const ContractExpr *n) {
  emit_own(e, "__auto_type %s = ", name);
  emit_expr(e, n);
  emit_own(e, "; ");
}

// Integers are not bounded: what does not fit in 64 bits is undecided.
static void emit_arith(Emitter *e, const ContractExpr *n, size_t ops) {
  const Token *op = &e->tokens[n->ops.items[ops - 1]];
  const ContractExpr *right = n->kids.items[ops];
  char sign = e->text[op->at];
  emit_own(e, "({ __auto_type __culprit_a = ");
  if (ops > 1)
    emit_arith(e, n, ops - 1);
  else
    emit_expr(e, n->kids.items[0]);
  emit_own(e, "; ");
  emit_operand(e, "__culprit_b", right);
  emit_place(e, op->line, op->col);
  emit_own(e, "__CULPRIT_%s; })",
           sign == '+'   ? "ADD"
           : sign == '-' ? "SUB"
           : sign == '*' ? "MUL"
           : sign == '/' ? "DIV"
                         : "MOD");
}

// Numbers are compared by their values, whatever their types.
static void emit_comparison(Emitter *e, const ContractExpr *a, const Token *op,
                            const ContractExpr *b) {
  bool met_a = emit_is_watched(e, b), met_b = emit_is_watched(e, a);
  if (!met_a && !met_b && (is_number(e, a) || is_number(e, b))) {
    emit_own(e, "(");
    emit_expr(e, a);
    emit_token(e, op);
    emit_expr(e, b);
    emit_own(e, ")");
    return;
  }
  emit_own(e, "({ ");
  emit_operand(e, "__culprit_a", a);
  emit_operand(e, "__culprit_b", b);
  if (met_a)
    emit_own(e, "__culprit_met((long long)__culprit_a); ");
  if (met_b)
    emit_own(e, "__culprit_met((long long)__culprit_b); ");
  emit_own(e, "%s(", token_is(e->text, op, "!=") ? "!" : "");
  emit_own(e,
           e->text[op->at] == '=' || e->text[op->at] == '!'
               ? "(__culprit_a < 0) == (__culprit_b < 0) && "
               : "(__culprit_a < 0) != (__culprit_b < 0) ? %s : ",
           e->text[op->at] == '<' ? "__culprit_a < 0" : "__culprit_b < 0");
  emit_own(e, "__culprit_a");
  if (token_is(e->text, op, "!=")) {
    emit_place(e, op->line, op->col);
    emit_own(e, "==");
  } else {
    emit_token(e, op);
  }
  emit_own(e, "__culprit_b); })");
}

static void emit_chain(Emitter *e, const ContractExpr *n) {
  emit_own(e, "(");
  for (size_t i = 0; i < n->ops.len; i++) {
    emit_own(e, i ? " && " : "");
    emit_comparison(e, n->kids.items[i], &e->tokens[n->ops.items[i]],
                    n->kids.items[i + 1]);
  }
  emit_own(e, ")");
}

static void emit_fold(Emitter *e, const ContractExpr *n) {
  const Binder *b = &n->binders.items[0];
  const Token *word = &e->tokens[n->first];
  bool count = token_is(e->text, word, "\\numof");
  bool product = token_is(e->text, word, "\\product");
  emit_own(e, "({ ");
  emit_type(e, b->type, b->type_end);
  emit_name(e, b->name);
  emit_own(e, " = ");
  emit_expr(e, n->kids.items[0]);
  emit_own(e, "; __auto_type __culprit_end = ");
  emit_expr(e, n->kids.items[1]);
  array_push(&e->bound, b->name);
  emit_own(e, "; __typeof__(0ll + ");
  emit_expr(e, n->kids.items[2]);
  emit_own(e, ") __culprit_a = %d; for (; ", product);
  emit_name(e, b->name);
  emit_own(e, " <= __culprit_end;");
  emit_name(e, b->name);
  emit_own(e, "++) { __auto_type __culprit_b = %s", count ? "0ll + !!" : "");
  emit_expr(e, n->kids.items[2]);
  emit_own(e, "; __culprit_a = __CULPRIT_%s; } __culprit_a; })",
           product ? "MUL" : "ADD");
  e->bound.len--;
}

// Of the behaviors that the contract assumes.
static void emit_behaviors(Emitter *e, const ContractExpr *n) {
  bool complete = token_is(e->text, &e->tokens[n->first], "complete");
  emit_own(e, complete ? "(0" : "((0");
  for (size_t i = 0; i < n->fields.len; i++)
    emit_own(e,
             complete ? " || __culprit_assumes_%u" : " + __culprit_assumes_%u",
             n->fields.items[i]);
  emit_own(e, complete ? ")" : ") <= 1)");
}

static void emit_separated(Emitter *e, const ContractExpr *n) {
  emit_own(e, "__culprit_separated((const struct __culprit_span[]){");
  for (size_t i = 0; i < n->kids.len; i++) {
    emit_own(e, i ? ", " : "");
    emit_span(e, n->kids.items[i], false);
  }
  emit_own(e, "}, %zu)", n->kids.len);
}

// In another state of memory; NULL: as it is now.
static void emit_in_state(Emitter *e, const ContractExpr *n,
                          const char *label) {
  const char *around = e->label;
  e->label = label;
  emit_expr(e, n);
  e->label = around;
}

static void emit_old(Emitter *e, const ContractExpr *n) {
  if (e->labels && n->fields.len) {
    const char *label = emit_label(e, n->fields.items[0]);
    emit_in_state(e, n->kids.items[0], label);
  } else if (!e->labels && e->state == EMIT_INSIDE) {
    emit_in_state(e, n->kids.items[0], "__culprit_label_0");
  } else if (e->labels) {
    emit_error(e, n->first,
               "\\old is not available here: keep the value in a variable");
    emit_expr(e, n->kids.items[0]);
  } else if (e->state == EMIT_AFTER && n->in_state) {
    e->uses_state = true;
    emit_in_state(e, n->kids.items[0], "(&__culprit_pre)");
  } else if (e->state == EMIT_AFTER && n->binder) {
    emit_own(e, "__culprit_old_%u[", n->number);
    emit_name(e, n->binder);
    emit_own(e, " - __culprit_low_%u]", n->number);
  } else if (e->state == EMIT_AFTER) {
    emit_own(e, "__culprit_old_%u", n->number);
  } else {
    emit_in_state(e, n->kids.items[0], NULL);
  }
}

static void emit_at(Emitter *e, const ContractExpr *n) {
  emit_in_state(e, n->kids.items[0], emit_label(e, n->fields.items[0]));
}

static void emit_valid(Emitter *e, const ContractExpr *n) {
  emit_own(e, "(");
  for (size_t i = 0; i < n->kids.len; i++) {
    emit_own(e, i ? " && __culprit_valid_span(" : "__culprit_valid_span(");
    emit_span(e, n->kids.items[i], false);
    emit_own(e, ")");
  }
  emit_own(e, ")");
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

// The function is no memory; it may be a type: (int)(x).
static void emit_call(Emitter *e, const ContractExpr *n) {
  emit_own(e, "(");
  emit_in_state(e, n->kids.items[0], NULL);
  emit_own(e, "(");
  for (size_t i = 1; i < n->kids.len; i++) {
    emit_own(e, i > 1 ? ", " : "");
    emit_expr(e, n->kids.items[i]);
  }
  emit_own(e, "))");
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
  case NODE_ARITH:
    emit_arith(e, n, n->ops.len);
    return true;
  case NODE_FOLD:
    emit_fold(e, n);
    return true;
  case NODE_BEHAVIORS:
    emit_behaviors(e, n);
    return true;
  case NODE_SEPARATED:
    emit_separated(e, n);
    return true;
  case NODE_VALID:
    emit_valid(e, n);
    return true;
  case NODE_APPLY:
    emit_apply(e, n);
    return true;
  case NODE_CALL:
    emit_call(e, n);
    return true;
  case NODE_INDEX:
  case NODE_MEMBER:
    if (!emit_from_state(e, n))
      emit_plain(e, n);
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
  case NODE_AT:
    emit_at(e, n);
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
  if (emit_logic(e, n) || emit_from_state(e, n))
    return;
  if ((n->kind == NODE_PAREN && n->kids.len == 2) || n->kind == NODE_NONE) {
    emit_error(e, n->first, "a range is a set of places: it has no value");
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
