// SourceEdits of stores and calls: see editor.h.
#include <string.h>

#include "patch/editor.h"

// --- stores -----------------------------------------------------------------

// `int v = 5`: the operator behind the name and its brackets; CODE_NONE: there
// is no declaration here.
static size_t initializer(const Editor *ed) {
  const Code *c = &ed->code;
  size_t i = ed->at + 1;
  if (!editor_is_word(ed, ed->at))
    return CODE_NONE;
  while (code_is(c, i, "[") && code_partner(c, i) != CODE_NONE)
    i = code_partner(c, i) + 1;
  return code_is(c, i, "=") ? i : CODE_NONE;
}

static void edit_declaration(Editor *ed, size_t oper) {
  Extent value = code_from(&ed->code, oper + 1, CODE_COMMA);
  const Token *tokens = ed->code.tokens.items;
  size_t at = tokens[oper - 1].at + (size_t)tokens[oper - 1].len;
  size_t end = tokens[value.last].at + (size_t)tokens[value.last].len;
  if (ed->change.change != CHANGE_SKIP)
    editor_value(ed, value);
  else
    editor_add(ed, at, end, "",
               arena_printf(ed->arena, "without the initial value `%s` of `%s`",
                            editor_show(ed, value),
                            editor_show(ed, (Extent){ed->at, ed->at})));
}

// What the assignment would have stored.
static EditPiece stored_value(Editor *ed, Extent e) {
  bool prefix = e.first == ed->at;
  if (editor_is_step(ed, ed->at) && prefix)
    return piece_binary(ed, piece_of(ed, (Extent){ed->at + 1, e.last}),
                        code_is(&ed->code, ed->at, "++") ? "+" : "-", CODE_ADDS,
                        piece_text("1"));
  if (editor_is_step(ed, ed->at))
    return piece_of(ed, (Extent){e.first, ed->at - 1});
  EditPiece left = piece_of(ed, editor_left(ed, ed->at));
  EditPiece right = piece_of(ed, editor_right(ed, ed->at));
  const char *oper = editor_raw(ed, (Extent){ed->at, ed->at});
  for (unsigned op = 0; op < OP_ARITHS; op++) {
    size_t n = strlen(arith_mark(op));
    if (!strncmp(oper, arith_mark(op), n) && !strcmp(oper + n, "="))
      return piece_binary(ed, left, arith_mark(op), arith_level(op), right);
  }
  return right;
}

static void skip_store(Editor *ed, Extent e) {
  const char *words =
      arena_printf(ed->arena, "without `%s`", editor_show(ed, e));
  bool step = editor_is_step(ed, ed->at);
  Extent left = step ? e : editor_left(ed, ed->at);
  Extent right = step ? e : editor_right(ed, ed->at);
  bool acts_left =
      !step && (editor_assigns(ed, left) || editor_calls(ed, left));
  bool acts = !step && (editor_assigns(ed, right) || editor_calls(ed, right));
  size_t before = ed->out->len;
  bool alone = editor_remove(ed, e, words);
  if (!alone) {
    editor_replace(ed, e, stored_value(ed, e), NULL);
  } else if (acts && !acts_left) { // it does more than giving the value
    ed->out->len = before;
    editor_replace(ed, e, piece_of(ed, right),
                   arena_printf(ed->arena, "without `%s %s`",
                                editor_show(ed, left),
                                editor_show(ed, (Extent){ed->at, ed->at})));
    editor_remove(ed, e, words);
  } else if (acts_left) {
    ed->out->len = before;
    if (!acts)
      editor_replace(ed, e, piece_of(ed, left), words);
  }
}

static void edit_assignment(Editor *ed) {
  Extent e = code_expression(&ed->code, ed->at);
  const Token *t = &ed->code.tokens.items[ed->at];
  bool plain = code_is(&ed->code, ed->at, "=");
  const char *text = ed->change.change == CHANGE_PLUS   ? "+="
                     : ed->change.change == CHANGE_LESS ? "-="
                                                        : NULL;
  if (ed->change.change == CHANGE_SKIP)
    skip_store(ed, e);
  else if (text && plain)
    editor_add(ed, t->at, t->at + (size_t)t->len, text,
               arena_printf(ed->arena, "`=` to `%s`", text));
  else if (plain)
    editor_value(ed, editor_right(ed, ed->at));
}

void edit_store(Editor *ed) {
  size_t oper = initializer(ed);
  if (editor_is_assignment(ed, ed->at))
    edit_assignment(ed);
  else if (editor_is_step(ed, ed->at)) {
    if (ed->change.change == CHANGE_SKIP)
      skip_store(ed, code_expression(&ed->code, ed->at));
  } else if (oper != CODE_NONE)
    edit_declaration(ed, oper);
}

// --- calls ------------------------------------------------------------------

// C libraries have scanf as __isoc99_scanf.
static bool names_callee(const Editor *ed, size_t token) {
  const Token *t = &ed->code.tokens.items[token];
  const char *callee = ed->site->text;
  size_t n = strlen(callee);
  return t->len <= n &&
         !memcmp(callee + n - t->len, ed->code.text + t->at, t->len) &&
         (t->len == n || callee[n - t->len - 1] == '_');
}

// The parentheses of the call that begins with the site's token; CODE_NONE: it
// is not written here.
static size_t call_parenthesis(const Editor *ed) {
  const Code *c = &ed->code;
  size_t i = ed->at;
  if (editor_is_word(ed, i) && code_is(c, i + 1, "("))
    return !*ed->site->text || names_callee(ed, i) ? i + 1 : CODE_NONE;
  if (*ed->site->text) // (f)(x)
    return code_is(c, i, "(") && names_callee(ed, i + 1) &&
                   code_is(c, i + 2, ")") && code_is(c, i + 3, "(")
               ? i + 3
               : CODE_NONE;
  // Through a pointer: the last parentheses of p->f(x), a[i].f(x), (*f)(x).
  Extent e = code_expression(c, i);
  size_t found = CODE_NONE;
  for (bool first = true; i <= e.last; i++, first = false) {
    bool open = code_is(c, i, "(");
    size_t close = open || code_is(c, i, "[") ? code_partner(c, i) : i;
    if (close == CODE_NONE)
      return found;
    if (open && !first)
      found = i;
    i = close;
  }
  return found;
}

static void skip_call(Editor *ed, Extent e) {
  const char *words =
      arena_printf(ed->arena, "without `%s`", editor_show(ed, e));
  bool nothing = ed->site->flags & SITE_VOID && !ed->site->width;
  if (editor_remove(ed, e, words))
    return;
  if (nothing)
    editor_replace(ed, e, piece_text("(void)0"), words);
  else
    editor_replace(ed, e, piece_number(ed, ed->change.a), NULL);
}

static void swap_arguments(Editor *ed, const Extents *args, size_t a,
                           size_t b) {
  if (a >= b || b >= args->len)
    return;
  Extent x = args->items[a], y = args->items[b];
  const Token *tokens = ed->code.tokens.items;
  size_t from = tokens[x.last].at + (size_t)tokens[x.last].len;
  const char *between =
      arena_strndup(ed->arena, ed->code.text + from, tokens[y.first].at - from);
  size_t end = tokens[y.last].at + (size_t)tokens[y.last].len;
  editor_add(ed, tokens[x.first].at, end,
             arena_printf(ed->arena, "%s%s%s", editor_raw(ed, y), between,
                          editor_raw(ed, x)),
             arena_printf(ed->arena, "`%s` and `%s` exchanged",
                          editor_show(ed, x), editor_show(ed, y)));
}

// A function that returns a structure has one more argument in the bitcode,
// the first; one that takes a structure may have fewer in the source.
static void edit_arguments(Editor *ed, size_t open) {
  Extents args = {0};
  editor_arguments(ed, open, &args);
  size_t n = ed->site->operand, m = (size_t)ed->site->value;
  for (size_t less = 0; less <= 1 && less <= n; less++) {
    if (ed->site->kind == SITE_SWAP && ed->change.change == CHANGE_SWAP)
      swap_arguments(ed, &args, n - less, m - less);
    else if (ed->site->kind == SITE_ARGUMENT && n - less < args.len)
      editor_value(ed, args.items[n - less]);
  }
  array_release(&args);
}

void edit_call(Editor *ed) {
  size_t open = call_parenthesis(ed);
  size_t close = open == CODE_NONE ? open : code_partner(&ed->code, open);
  if (close == CODE_NONE)
    return;
  if (ed->site->kind != SITE_CALL)
    edit_arguments(ed, open);
  else if (ed->change.change == CHANGE_SKIP)
    skip_call(ed, (Extent){ed->at, close});
}
