// SourceEdits of values: operators, constants, indexes, names, what is returned: see
// editor.h.
#include <stdio.h>
#include <string.h>

#include "patch/editor.h"
#include "patch/literal.h"

static const struct {
  const char *text;
  int level;
} ariths[OP_ARITHS] = {[OP_ADD] = {"+", CODE_ADDS},
                       [OP_SUB] = {"-", CODE_ADDS},
                       [OP_MUL] = {"*", CODE_MULTIPLIES},
                       [OP_DIV] = {"/", CODE_MULTIPLIES},
                       [OP_REM] = {"%", CODE_MULTIPLIES},
                       [OP_AND] = {"&", 8},
                       [OP_OR] = {"|", 6},
                       [OP_XOR] = {"^", 7},
                       [OP_SHL] = {"<<", CODE_SHIFTS},
                       [OP_SHR] = {">>", CODE_SHIFTS}};

const char *arith_mark(unsigned op) {
  return op < OP_ARITHS ? ariths[op].text : "?";
}

int arith_level(unsigned op) {
  return op < OP_ARITHS ? ariths[op].level : CODE_ADDS;
}

// Is it the operator, or that of a compound assignment: `+`, `+=`?
static bool is_compound(const Editor *ed, size_t token, unsigned op) {
  char text[4];
  snprintf(text, sizeof text, "%s=", arith_mark(op));
  return code_is(&ed->code, token, text) && code_level(&ed->code, token);
}

static const char *without(Editor *ed, Extent e) {
  return arena_printf(ed->arena, "without `%s`", editor_show(ed, e));
}

// --- steps: ++ and -- -------------------------------------------------------

// The variable that is counted.
static Extent counted(const Editor *ed, size_t step) {
  Extent e = code_expression(&ed->code, step);
  return e.first == step ? (Extent){step + 1, e.last}
                         : (Extent){e.first, step - 1};
}

// Does nothing need the value of the expression?
static bool is_unused(Editor *ed, Extent e) {
  size_t before = ed->out->len;
  bool unused = editor_remove(ed, e, "");
  ed->out->len = before; // it was only asked
  return unused;
}

// By this much instead.
static void change_step(Editor *ed, int64_t by) {
  Extent e = code_expression(&ed->code, ed->at), of = counted(ed, ed->at);
  bool prefix = e.first == ed->at;
  if (by == 1 || by == -1) {
    const Token *t = &ed->code.tokens.items[ed->at];
    const char *text = by == 1 ? "++" : "--";
    editor_add(
        ed, t->at, t->at + (size_t)t->len, text,
        arena_printf(ed->arena, "`%s` to `%s`", by == 1 ? "--" : "++", text));
    return;
  }
  if (!by) {
    if (!editor_remove(ed, e, without(ed, e)))
      editor_replace(ed, e, piece_of(ed, of), NULL);
    return;
  }
  // A value that is used must be the new one.
  const char *text =
      arena_printf(ed->arena, "%s %s %lld", editor_raw(ed, of),
                   by < 0 ? "-=" : "+=", (long long)(by < 0 ? -by : by));
  if (prefix || is_unused(ed, e))
    editor_replace(ed, e, (EditPiece){text, CODE_ASSIGNS}, NULL);
}

static void edit_step(Editor *ed) {
  Extent e = code_expression(&ed->code, ed->at);
  int64_t sign = code_is(&ed->code, ed->at, "++") ? 1 : -1;
  if (ed->change.change == CHANGE_ARITH && ed->change.a == OP_SUB)
    change_step(ed, -sign);
  else if (ed->change.change == CHANGE_LEFT)
    change_step(ed, 0);
  else if (ed->change.change == CHANGE_RIGHT &&
           (e.first == ed->at || is_unused(ed, e)))
    editor_replace(ed, e,
                   (EditPiece){arena_printf(ed->arena, "%s = %d",
                                            editor_raw(ed, counted(ed, ed->at)),
                                            (int)sign),
                               CODE_ASSIGNS},
                   NULL);
}

static bool is_value_change(TryChange c) {
  return c == CHANGE_ADD || c == CHANGE_SET || c == CHANGE_MINUS;
}

// --- operators --------------------------------------------------------------

static void edit_compound(Editor *ed) {
  Extent e = code_expression(&ed->code, ed->at);
  if (is_value_change(ed->change.change)) {
    editor_value(ed, editor_right(ed, ed->at));
    return;
  }
  const Token *t = &ed->code.tokens.items[ed->at];
  const char *old = editor_raw(ed, (Extent){ed->at, ed->at});
  const char *new =
      ed->change.change == CHANGE_RIGHT ? "="
      : ed->change.change == CHANGE_ARITH
          ? arena_printf(ed->arena, "%s=", arith_mark((unsigned)ed->change.a))
          : NULL;
  if (new)
    editor_add(ed, t->at, t->at + (size_t)t->len, new,
               arena_printf(ed->arena, "`%s` to `%s`", old, new));
  else if (ed->change.change == CHANGE_LEFT &&
           !editor_remove(ed, e, without(ed, e)))
    editor_replace(ed, e, piece_of(ed, editor_left(ed, ed->at)), NULL);
}

// -x, ~x: of the constant 0 or -1 and x.
static void edit_unary(Editor *ed) {
  Extent e = code_expression(&ed->code, ed->at);
  Extent of = {e.first + 1, e.last};
  bool same = ed->change.change == CHANGE_RIGHT ||
              (ed->change.change == CHANGE_ARITH && ed->change.a == OP_ADD &&
               ed->site->op == OP_SUB);
  if (same)
    editor_replace(ed, e, piece_of(ed, of), NULL);
  else if (ed->change.change == CHANGE_LEFT)
    editor_replace(ed, e, piece_text(ed->site->op == OP_SUB ? "0" : "-1"),
                   NULL);
  else if (is_value_change(ed->change.change))
    editor_value(ed, e);
}

static void edit_binary(Editor *ed) {
  Extent e = code_expression(&ed->code, ed->at);
  unsigned op = (unsigned)ed->change.a;
  if (ed->change.change == CHANGE_ARITH && op < OP_ARITHS)
    editor_operator(ed, ed->at, arith_mark(op), arith_level(op));
  else if (ed->change.change == CHANGE_LEFT)
    editor_replace(ed, e, piece_of(ed, editor_left(ed, ed->at)), NULL);
  else if (ed->change.change == CHANGE_RIGHT)
    editor_replace(ed, e, piece_of(ed, editor_right(ed, ed->at)), NULL);
  else if (is_value_change(ed->change.change))
    editor_value(ed, e);
}

void edit_arith(Editor *ed) {
  unsigned op = ed->site->op;
  bool unary = (op == OP_SUB && code_is(&ed->code, ed->at, "-")) ||
               (op == OP_XOR && code_is(&ed->code, ed->at, "~"));
  if (is_compound(ed, ed->at, op))
    edit_compound(ed);
  else if (editor_is_step(ed, ed->at))
    edit_step(ed);
  else if (unary && code_is_prefix(&ed->code, ed->at))
    edit_unary(ed);
  else if (code_is(&ed->code, ed->at, arith_mark(op)) &&
           code_level(&ed->code, ed->at))
    edit_binary(ed);
}

// --- constants --------------------------------------------------------------

// The value in the width of the site: 0xffffffff is -1.
static int64_t in_width(const Editor *ed, int64_t value) {
  unsigned width = ed->site->width;
  if (!width || width >= 64)
    return value;
  return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}

static int64_t changed_value(const Editor *ed, int64_t value) {
  switch (ed->change.change) {
  case CHANGE_ADD:
    return (int64_t)((uint64_t)value + (uint64_t)ed->change.a);
  case CHANGE_SET:
    return ed->change.a;
  default:
    return -value;
  }
}

static void change_real(Editor *ed, size_t token) {
  const Token *t = &ed->code.tokens.items[token];
  double value, new = (double)ed->change.a, want;
  memcpy(&want, &ed->site->value, sizeof want);
  if (!literal_real(ed->code.text + t->at, t->len, &value) ||
      (value != want && (double)(float)value != want))
    return;
  if (ed->change.change == CHANGE_ADD)
    new = value + (double)ed->change.a;
  else if (ed->change.change == CHANGE_MINUS)
    new = -value;
  Str text = {0};
  literal_write_real(&text, new, ed->code.text + t->at, t->len);
  editor_replace(ed, (Extent){token, token},
                 piece_text(arena_take(ed->arena, &text)), NULL);
}

// `x + 1` is to be `x - 1` or `x`, not `x + -1`.
static bool change_summand(Editor *ed, size_t token, int64_t new) {
  const Code *c = &ed->code;
  size_t sign = token - 1;
  if (new > 0 || !token || code_level(c, sign) != CODE_ADDS ||
      code_expression(c, sign).last != token)
    return false;
  const Token *t = &c->tokens.items[token];
  Extent e = code_expression(c, sign);
  Str text = {0};
  literal_write(&text, -new, c->text + t->at, t->len);
  const char *size = arena_take(ed->arena, &text);
  EditPiece left = piece_of(ed, editor_left(ed, sign));
  if (!new)
    editor_replace(ed, e, left, NULL);
  else
    editor_replace(ed, e,
                   piece_binary(ed, left, code_is(c, sign, "+") ? "-" : "+",
                                CODE_ADDS, piece_text(size)),
                   NULL);
  return true;
}

// A constant of the source with the site's value; `negative`: behind a minus.
static bool change_literal(Editor *ed, size_t token, int64_t want) {
  const Code *c = &ed->code;
  const Token *t = &c->tokens.items[token];
  int64_t value;
  if (!literal_integer(c->text + t->at, t->len, &value))
    return false;
  bool minus =
      token && code_is(c, token - 1, "-") && code_is_prefix(c, token - 1);
  if (in_width(ed, minus ? -value : value) != want)
    return false;
  Extent e = {token - minus, token};
  if (ed->change.change == CHANGE_NAME) {
    editor_value(ed, e);
    return true;
  }
  int64_t new = changed_value(ed, minus ? -value : value);
  if (t->kind == TOK_TEXT && ed->change.change == CHANGE_ADD) {
    editor_replace(ed, e, piece_plus(ed, e, ed->change.a), NULL);
  } else if (minus || !change_summand(ed, token, new)) {
    Str text = {0};
    literal_write(&text, new, c->text + t->at, t->len);
    editor_replace(ed, e, piece_text(arena_take(ed->arena, &text)), NULL);
  }
  return true;
}

static bool is_constant_token(const Editor *ed, size_t i) {
  TokenKind kind = ed->code.tokens.items[i].kind;
  return kind == TOK_NUMBER || kind == TOK_TEXT;
}

// Every constant of the expression with this value.
static bool change_literals(Editor *ed, Extent e, int64_t want) {
  size_t before = ed->out->len;
  for (size_t i = e.first; i <= e.last && i < ed->code.tokens.len; i++) {
    if (!is_constant_token(ed, i))
      continue;
    if (ed->site->flags & SITE_REAL)
      change_real(ed, i);
    change_literal(ed, i, want);
  }
  return ed->out->len > before;
}

// An expression whose value is the constant: a literal, a name, `N - 1`.
static void change_constant(Editor *ed, Extent e, int64_t want) {
  const Code *c = &ed->code;
  Extent bare = code_bare(c, e);
  while (code_is_cast(c, bare.first) && code_partner(c, bare.first) < bare.last)
    bare = code_bare(c, (Extent){code_partner(c, bare.first) + 1, bare.last});
  if (!change_literals(ed, bare, want) && !(ed->site->flags & SITE_REAL) &&
      !editor_assigns(ed, bare))
    editor_value(ed, bare);
}

static void change_argument(Editor *ed, int64_t want) {
  Extents args = {0};
  size_t open = ed->at + 1;
  if (code_is(&ed->code, ed->at, "("))
    open = code_partner(&ed->code, ed->at) + 1;
  while (open < ed->code.tokens.len && !code_is(&ed->code, open, "(") &&
         !code_is(&ed->code, open, ";"))
    open++;
  if (code_is(&ed->code, open, "("))
    editor_arguments(ed, open, &args);
  if (ed->site->operand < args.len)
    change_constant(ed, args.items[ed->site->operand], want);
  for (size_t i = 0; i < args.len; i++)
    change_literals(ed, args.items[i], want);
  array_release(&args);
}

// The value that a declaration, an assignment or a return gives.
static bool given_value(const Editor *ed, Extent *out) {
  const Code *c = &ed->code;
  size_t at = ed->at;
  if (code_is(c, at, "return"))
    *out = code_from(c, at + 1, 0);
  else if (editor_is_assignment(ed, at))
    *out = editor_right(ed, at);
  else if (code_is(c, at, "{") && code_partner(c, at) != CODE_NONE)
    *out = (Extent){at, code_partner(c, at)};
  else {
    for (at++; code_is(c, at, "[") && code_partner(c, at) != CODE_NONE;)
      at = code_partner(c, at) + 1;
    if (!editor_is_word(ed, ed->at) || !code_is(c, at, "="))
      return false;
    *out = code_from(c, at + 1, CODE_COMMA);
  }
  return true;
}

// Behind a sign of its own, an index is the other way round: p - 1.
static void change_operand(Editor *ed, int64_t want) {
  const Code *c = &ed->code;
  bool back = ed->site->owner == SITE_INDEX &&
              (code_is(c, ed->at, "-") || code_is(c, ed->at, "-="));
  bool right = ed->site->operand || ed->site->owner == SITE_INDEX;
  Extent e = right ? editor_right(ed, ed->at) : editor_left(ed, ed->at);
  EditChange kept = ed->change;
  if (back && kept.change != CHANGE_MINUS)
    ed->change.a = -kept.a;
  change_constant(ed, e, back ? -want : want);
  ed->change = kept;
}

static void each_subscript(Editor *ed,
                           void (*f)(Editor *ed, Extent e, int64_t want),
                           int64_t want) {
  const Code *c = &ed->code;
  size_t i = ed->at;
  if (code_is(c, i, "("))
    i = code_partner(c, i);
  if (i == CODE_NONE)
    return;
  for (size_t last = code_expression(c, ed->at).last; i <= last; i++) {
    bool index = code_is(c, i, "[");
    size_t close = index || code_is(c, i, "(") ? code_partner(c, i) : i;
    if (close == CODE_NONE)
      return;
    if (index && close > i + 1)
      f(ed, (Extent){i + 1, close - 1}, want);
    i = close;
  }
}

static void change_subscript(Editor *ed, Extent e, int64_t want) {
  change_literals(ed, e, want);
}

static void constant_at_token(Editor *ed, int64_t want) {
  Extent e;
  SiteKind owner = ed->site->owner;
  if (editor_is_step(ed, ed->at))
    change_step(ed, changed_value(ed, want));
  else if (owner == SITE_CALL)
    change_argument(ed, want);
  else if ((owner == SITE_STORE || owner == SITE_RETURN) && given_value(ed, &e))
    change_constant(ed, e, want);
  else if (code_level(&ed->code, ed->at) && owner != SITE_STORE)
    change_operand(ed, want);
  else if (owner == SITE_INDEX)
    each_subscript(ed, change_subscript, want);
  else if (owner == SITE_OTHER)
    change_literals(ed, code_from(&ed->code, ed->at, CODE_ASSIGNS), want);
}

void edit_constant(Editor *ed) {
  if (is_value_change(ed->change.change))
    constant_at_token(ed, in_width(ed, ed->site->value));
}

// --- indexes, names, returned values ----------------------------------------

static void change_index(Editor *ed, Extent e, int64_t ignored) {
  (void)ignored;
  editor_value(ed, e);
}

void edit_index(Editor *ed) {
  const Code *c = &ed->code;
  bool back = code_is(c, ed->at, "-") || code_is(c, ed->at, "-=");
  if (!code_level(c, ed->at)) {
    each_subscript(ed, change_index, 0);
    return;
  }
  EditChange kept = ed->change;
  if (back && kept.change == CHANGE_ADD)
    ed->change.a = -kept.a;
  if (!back || kept.change != CHANGE_SET)
    editor_value(ed, editor_right(ed, ed->at));
  ed->change = kept;
}

void edit_name(Editor *ed) {
  if (!code_is(&ed->code, ed->at, ed->site->text))
    return;
  if (ed->change.change != CHANGE_NAME)
    editor_value(ed, ed->site->kind == SITE_FIELD
                         ? code_expression(&ed->code, ed->at)
                         : (Extent){ed->at, ed->at});
  else if (ed->change.a >= 0 && ed->change.a < (int64_t)ed->site->nnames)
    editor_replace(ed, (Extent){ed->at, ed->at},
                   piece_text(site_name(ed->site, ed->change.a)), NULL);
}

void edit_return(Editor *ed) {
  const Code *c = &ed->code;
  if (code_is(c, ed->at, "return") && !code_is(c, ed->at + 1, ";"))
    editor_value(ed, code_from(c, ed->at + 1, 0));
}
