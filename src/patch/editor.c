// What the makers of edits share: see editor.h.
#include "patch/editor.h"

#include <string.h>

#include "patch/literal.h"

// --- reading ----------------------------------------------------------------

static const Token *token_of(const Editor *ed, size_t i) {
  return &ed->code.tokens.items[i];
}

static size_t start_of(const Editor *ed, size_t token) {
  return token_of(ed, token)->at;
}

static size_t end_of(const Editor *ed, size_t token) {
  return token_of(ed, token)->at + (size_t)token_of(ed, token)->len;
}

// Code that is no C may have operators without operands.
static bool is_there(const Editor *ed, Extent e) {
  return e.first <= e.last && e.last + 1 < ed->code.tokens.len;
}

const char *editor_raw(Editor *ed, Extent e) {
  if (!is_there(ed, e))
    return "";
  size_t at = start_of(ed, e.first);
  return arena_strndup(ed->arena, ed->code.text + at, end_of(ed, e.last) - at);
}

const char *editor_show(Editor *ed, Extent e) {
  enum { LONGEST = 60 };
  Str text = {0};
  code_show(&ed->code, e, &text);
  if (text.len > LONGEST) {
    text.len = LONGEST - 3;
    while (text.len && (text.data[text.len] & 0xc0) == 0x80)
      text.len--; // not within a character of UTF-8
    str_add(&text, "...");
  }
  return arena_take(ed->arena, &text);
}

bool editor_is_word(const Editor *ed, size_t i) {
  return i < ed->code.tokens.len && token_of(ed, i)->kind == TOK_WORD &&
         !token_is_keyword(ed->code.text, token_of(ed, i));
}

bool editor_is_step(const Editor *ed, size_t i) {
  return code_is(&ed->code, i, "++") || code_is(&ed->code, i, "--");
}

bool editor_is_assignment(const Editor *ed, size_t i) {
  return code_level(&ed->code, i) == CODE_ASSIGNS;
}

Extent editor_left(const Editor *ed, size_t oper) {
  return (Extent){code_expression(&ed->code, oper).first, oper - 1};
}

Extent editor_right(const Editor *ed, size_t oper) {
  return (Extent){oper + 1, code_expression(&ed->code, oper).last};
}

bool editor_assigns(const Editor *ed, Extent e) {
  for (size_t i = e.first; i <= e.last && i < ed->code.tokens.len; i++)
    if (editor_is_assignment(ed, i) || editor_is_step(ed, i))
      return true;
  return false;
}

bool editor_calls(const Editor *ed, Extent e) {
  for (size_t i = e.first; i < e.last && i < ed->code.tokens.len; i++)
    if ((editor_is_word(ed, i) || code_is(&ed->code, i, ")")) &&
        code_is(&ed->code, i + 1, "("))
      return true;
  return false;
}

void editor_arguments(const Editor *ed, size_t open, Extents *out) {
  size_t close = code_partner(&ed->code, open);
  if (close == CODE_NONE)
    return;
  for (size_t i = open + 1; i < close;) {
    Extent e = code_from(&ed->code, i, CODE_COMMA);
    array_push(out, e);
    i = e.last + 2; // behind the comma
  }
}

// --- pieces -----------------------------------------------------------------

EditPiece piece_of(Editor *ed, Extent e) {
  return (EditPiece){editor_raw(ed, e), code_weakest(&ed->code, e)};
}

EditPiece piece_text(const char *text) { return (EditPiece){text, CODE_UNARY}; }

EditPiece piece_number(Editor *ed, int64_t value) {
  Str text = {0};
  literal_write(&text, value, "", 0);
  return piece_text(arena_take(ed->arena, &text));
}

const char *piece_within(Editor *ed, EditPiece p, int level) {
  return p.level < level ? arena_printf(ed->arena, "(%s)", p.text) : p.text;
}

EditPiece piece_binary(Editor *ed, EditPiece left, const char *oper, int level,
                       EditPiece right) {
  const char *l = piece_within(ed, left, level);
  const char *r = piece_within(ed, right, level + (level > CODE_CHOOSES));
  return (EditPiece){arena_printf(ed->arena, "%s %s %s", l, oper, r), level};
}

static bool number_at(const Editor *ed, size_t token, int64_t *value) {
  const Token *t = token_of(ed, token);
  return t->kind == TOK_NUMBER &&
         literal_integer(ed->code.text + t->at, t->len, value);
}

static EditPiece number_like(Editor *ed, int64_t value, size_t like) {
  const Token *t = token_of(ed, like);
  Str text = {0};
  literal_write(&text, value, ed->code.text + t->at, t->len);
  return piece_text(arena_take(ed->arena, &text));
}

// The last + or - outside of parentheses; CODE_NONE: there is none, or a weaker
// operator.
static size_t last_sum(Editor *ed, Extent e) {
  if (code_weakest(&ed->code, e) != CODE_ADDS)
    return CODE_NONE;
  for (size_t i = e.last; i > e.first; i--) {
    if (code_is(&ed->code, i, ")") || code_is(&ed->code, i, "]"))
      i = code_partner(&ed->code, i);
    if (i == CODE_NONE)
      return i;
    if (code_level(&ed->code, i) == CODE_ADDS)
      return i;
  }
  return CODE_NONE;
}

static EditPiece sum(Editor *ed, EditPiece left, int64_t value, size_t like) {
  if (!value)
    return left;
  EditPiece size = like == CODE_NONE
                       ? piece_number(ed, value < 0 ? -value : value)
                       : number_like(ed, value < 0 ? -value : value, like);
  return piece_binary(ed, left, value < 0 ? "-" : "+", CODE_ADDS, size);
}

EditPiece piece_plus(Editor *ed, Extent e, int64_t value) {
  int64_t known;
  e = code_bare(&ed->code, e);
  if (e.first == e.last && number_at(ed, e.first, &known))
    return number_like(ed, known + value, e.first);
  if (e.last == e.first + 1 && code_is(&ed->code, e.first, "-") &&
      number_at(ed, e.last, &known))
    return number_like(ed, value - known, e.last);
  size_t oper = last_sum(ed, e);
  if (oper != CODE_NONE && oper + 1 == e.last && number_at(ed, e.last, &known))
    return sum(ed, piece_of(ed, (Extent){e.first, oper - 1}),
               (code_is(&ed->code, oper, "-") ? -known : known) + value,
               e.last);
  return sum(ed, piece_of(ed, e), value, CODE_NONE);
}

EditPiece piece_minus(Editor *ed, Extent e) {
  e = code_bare(&ed->code, e);
  bool negative = code_is(&ed->code, e.first, "-") &&
                  code_expression(&ed->code, e.first).last == e.last &&
                  e.first < e.last;
  if (negative)
    return piece_of(ed, (Extent){e.first + 1, e.last});
  const char *of = piece_within(ed, piece_of(ed, e), CODE_UNARY);
  return piece_text(
      arena_printf(ed->arena, strchr("+-", *of) ? "-(%s)" : "-%s", of));
}

EditPiece piece_not(Editor *ed, Extent e) {
  return piece_text(arena_printf(
      ed->arena, "!%s", piece_within(ed, piece_of(ed, e), CODE_UNARY)));
}

// --- edits ------------------------------------------------------------------

void editor_add(Editor *ed, size_t at, size_t end, const char *text,
                const char *words) {
  size_t n = strlen(text);
  if (n == end - at && !memcmp(ed->code.text + at, text, n))
    return;
  for (size_t i = 0; i < ed->out->len; i++) {
    const SourceEdit *e = &ed->out->items[i];
    if (e->at == at && e->len == end - at && !strcmp(e->text, text))
      return;
  }
  array_push(ed->out, (SourceEdit){at, end - at, text, words});
}

// Is a cast in front of the token?
static bool is_after_cast(const Editor *ed, size_t token) {
  if (!token || !code_is(&ed->code, token - 1, ")"))
    return false;
  size_t open = code_partner(&ed->code, token - 1);
  return open != CODE_NONE && code_is_cast(&ed->code, open);
}

// Would what stands around the expression tear something of this level apart?
static bool is_torn(const Editor *ed, Extent e, int level) {
  const Code *c = &ed->code;
  int before = e.first ? code_level(c, e.first - 1) : 0;
  int after = code_level(c, e.last + 1);
  if (level >= CODE_UNARY)
    return false;
  if (e.first && (code_is_prefix(c, e.first - 1) || is_after_cast(ed, e.first)))
    return true;
  if (code_is(c, e.last + 1, "[") || code_is(c, e.last + 1, ".") ||
      code_is(c, e.last + 1, "->"))
    return true;
  bool right = level > CODE_CHOOSES;
  return before > level || (before == level && right) || after > level ||
         (after && after == level && !right);
}

// `x + a - b` is `x + (a - b)`.
static bool is_sum_in_sum(const Editor *ed, Extent e, int level) {
  return level == CODE_ADDS && e.first &&
         code_is(&ed->code, e.first - 1, "+") &&
         code_level(&ed->code, e.last + 1) <= CODE_ADDS;
}

// `c || (d && e)`: compilers warn about it without parentheses.
static bool is_mixed(const Editor *ed, Extent e, int level) {
  const Code *c = &ed->code;
  return level == CODE_AND && ((e.first && code_is(c, e.first - 1, "||")) ||
                               code_is(c, e.last + 1, "||"));
}

// Would the text and what is in front of it become one token: `x--1`?
static bool is_glued(const Editor *ed, size_t at, const char *text) {
  return at && strchr("+-&", *text) && *text && ed->code.text[at - 1] == *text;
}

void editor_replace(Editor *ed, Extent e, EditPiece p, const char *words) {
  if (!is_there(ed, e))
    return;
  size_t at = start_of(ed, e.first), end = end_of(ed, e.last);
  bool wrap = (is_torn(ed, e, p.level) && !is_sum_in_sum(ed, e, p.level)) ||
              is_mixed(ed, e, p.level) || is_glued(ed, at, p.text);
  const char *text = wrap ? arena_printf(ed->arena, "(%s)", p.text) : p.text;
  if (!words)
    words = arena_printf(ed->arena, "`%s` to `%s`", editor_show(ed, e), p.text);
  editor_add(ed, at, end, text, words);
}

void editor_operator(Editor *ed, size_t oper, const char *text, int level) {
  Extent e = code_expression(&ed->code, oper);
  Extent left = editor_left(ed, oper), right = editor_right(ed, oper);
  const char *words = arena_printf(ed->arena, "`%s` to `%s`",
                                   editor_show(ed, (Extent){oper, oper}), text);
  EditPiece l = piece_of(ed, left), r = piece_of(ed, right);
  EditPiece p = piece_binary(ed, l, text, level, r);
  bool torn = is_torn(ed, e, level) && !is_sum_in_sum(ed, e, level);
  if (torn || l.level < level || (r.level <= level && level > CODE_CHOOSES))
    editor_replace(ed, e, p, words);
  else
    editor_add(ed, start_of(ed, oper), end_of(ed, oper), text, words);
}

// Another value in its place and, if it does more than giving its value, one
// that still does that.
static void replace_value(Editor *ed, Extent e, EditPiece p) {
  editor_replace(ed, e, p, NULL);
  if (ed->site->flags & SITE_POINTER && ed->change.change == CHANGE_SET)
    p = piece_text("(void *)0"); // behind a comma 0 is a number only
  if (editor_calls(ed, e) || editor_assigns(ed, e))
    editor_replace(
        ed, e,
        piece_text(arena_printf(ed->arena, "(%s, %s)",
                                piece_within(ed, piece_of(ed, e), CODE_ASSIGNS),
                                piece_within(ed, p, CODE_ASSIGNS))),
        NULL);
}

void editor_value(Editor *ed, Extent e) {
  switch (ed->change.change) {
  case CHANGE_NAME:
    replace_value(ed, e, piece_text(site_name(ed->site, ed->change.a)));
    return;
  case CHANGE_ADD:
    editor_replace(ed, e, piece_plus(ed, e, ed->change.a), NULL);
    return;
  case CHANGE_SET:
    replace_value(ed, e, piece_number(ed, ed->change.a));
    return;
  case CHANGE_MINUS:
    editor_replace(ed, e, piece_minus(ed, e), NULL);
    return;
  case CHANGE_NEGATE:
    editor_replace(ed, e, piece_not(ed, e), NULL);
    return;
  default:
    return;
  }
}

// --- removing ---------------------------------------------------------------

// The opening bracket around the token, or CODE_NONE.
static size_t enclosing(const Editor *ed, size_t token) {
  size_t depth = 0;
  for (size_t i = token; i-- > 0;) {
    if (code_is(&ed->code, i, ")") || code_is(&ed->code, i, "]") ||
        code_is(&ed->code, i, "}"))
      depth++;
    else if ((code_is(&ed->code, i, "(") || code_is(&ed->code, i, "[") ||
              code_is(&ed->code, i, "{")) &&
             !depth--)
      return i;
  }
  return CODE_NONE;
}

static bool is_for_head(const Editor *ed, size_t open) {
  return open && open != CODE_NONE && code_is(&ed->code, open, "(") &&
         code_is(&ed->code, open - 1, "for");
}

// Is it the colon of a label or a case?
static bool ends_label(const Editor *ed, size_t colon) {
  const Code *c = &ed->code;
  for (size_t i = colon; i-- > 0;) {
    if (code_is(c, i, "case") || code_is(c, i, "default"))
      return true;
    if (code_is(c, i, "?"))
      return false;
    if (code_is(c, i, ";") || code_is(c, i, "{") || code_is(c, i, "}") ||
        code_is(c, i, ":"))
      return colon - i == 2;
  }
  return colon == 1;
}

// Does a statement begin behind this token? `body`: it is all that an if, a
// loop or a label has.
static bool ends_before_statement(const Editor *ed, size_t i, bool *body) {
  const Code *c = &ed->code;
  *body = false;
  if (code_is(c, i, ";") || code_is(c, i, "{") || code_is(c, i, "}"))
    return true;
  *body = true;
  if (code_is(c, i, "else") || code_is(c, i, "do"))
    return true;
  if (code_is(c, i, ":"))
    return ends_label(ed, i);
  size_t open = code_is(c, i, ")") ? code_partner(c, i) : CODE_NONE;
  return open != CODE_NONE && open &&
         (code_is(c, open - 1, "if") || code_is(c, open - 1, "for") ||
          code_is(c, open - 1, "while"));
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Is there nothing but blanks, or a comment, up to the end of the line? Sets
// `next` to the beginning of the next one.
static bool ends_line(const Editor *ed, size_t at, size_t *next) {
  const char *text = ed->code.text;
  while (at < ed->len && is_blank(text[at]))
    at++;
  const char *end = memchr(text + at, '\n', ed->len - at);
  size_t stop = end ? (size_t)(end - text) : ed->len;
  *next = end ? stop + 1 : stop;
  if (at == stop)
    return true;
  size_t last = stop;
  while (last > at && is_blank(text[last - 1]))
    last--;
  if (last - at < 2 || text[at] != '/')
    return false;
  if (text[at + 1] == '/')
    return text[last - 1] != '\\';
  const char *close = memmem(text + at + 2, last - at - 2, "*/", 2);
  return text[at + 1] == '*' && close && close + 2 == text + last;
}

// With its lines, if nothing else stands on them.
static void remove_statement(Editor *ed, Extent e, const char *words) {
  size_t at = start_of(ed, e.first), end = end_of(ed, e.last), next;
  size_t line = at;
  while (line && is_blank(ed->code.text[line - 1]))
    line--;
  bool alone =
      (!line || ed->code.text[line - 1] == '\n') && ends_line(ed, end, &next);
  if (alone) {
    editor_add(ed, line, next, "", words);
    return;
  }
  while (end < ed->len && is_blank(ed->code.text[end]) &&
         is_blank(ed->code.text[at - 1]) && ed->code.text[end] != '\r')
    end++;
  editor_add(ed, at, end, "", words);
}

// Does the expression begin where one of a list of them can, and end so?
static bool is_listed(const Editor *ed, Extent e, size_t open) {
  const Code *c = &ed->code;
  bool head = is_for_head(ed, open), body;
  bool begins = !e.first || code_is(c, e.first - 1, ",") ||
                e.first - 1 == open ||
                ends_before_statement(ed, e.first - 1, &body);
  size_t next = e.last + 1;
  return begins && (code_is(c, next, ",") || code_is(c, next, ";") ||
                    (head && code_is(c, next, ")")));
}

// Beside a comma that is no argument's and no initializer's: with the comma.
static bool remove_beside_comma(Editor *ed, Extent e, const char *words) {
  const Code *c = &ed->code;
  size_t open = enclosing(ed, e.first);
  bool before = e.first && code_is(c, e.first - 1, ",");
  bool after = code_is(c, e.last + 1, ",");
  if ((!before && !after) || open == CODE_NONE || !is_listed(ed, e, open) ||
      (!code_is(c, open, "{") && !is_for_head(ed, open)) ||
      code_is(c, code_from(c, e.first, 0).last + 1, "}"))
    return false;
  size_t at = before ? start_of(ed, e.first - 1) : start_of(ed, e.first);
  size_t end = before ? end_of(ed, e.last) : end_of(ed, e.last + 1);
  while (!before && end < ed->len && is_blank(ed->code.text[end]))
    end++;
  editor_add(ed, at, end, "", words);
  return true;
}

bool editor_remove(Editor *ed, Extent e, const char *words) {
  const Code *c = &ed->code;
  bool body = false;
  while (is_after_cast(ed, e.first))
    e.first = code_partner(c, e.first - 1);
  size_t open = enclosing(ed, e.first);
  if (is_for_head(ed, open)) {
    bool alone = (e.first - 1 == open || code_is(c, e.first - 1, ";")) &&
                 (code_is(c, e.last + 1, ";") || code_is(c, e.last + 1, ")"));
    if (!alone)
      return remove_beside_comma(ed, e, words);
    size_t at = start_of(ed, e.first);
    if (code_is(c, e.first - 1, ";"))
      at = end_of(ed, e.first - 1);
    editor_add(ed, at, end_of(ed, e.last), "", words);
    return true;
  }
  bool begins = !e.first || ends_before_statement(ed, e.first - 1, &body);
  if (!begins || !code_is(c, e.last + 1, ";"))
    return remove_beside_comma(ed, e, words);
  if (body)
    editor_add(ed, start_of(ed, e.first), end_of(ed, e.last), "", words);
  else
    remove_statement(ed, (Extent){e.first, e.last + 1}, words);
  return true;
}
