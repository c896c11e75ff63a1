// Changes to the text of a PHP script: see script_changes.h.
#include "try/web/script_changes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "patch/diff.h"

enum {
  COST_COMPARE = 1,
  COST_NUMBER = 2,
  COST_LOGIC = 3,
  COST_CONDITION = 4,
  COST_MARKUP = 5,
  COST_OPERATOR = 6,
  COST_TEXT = 8,
  COST_VARIABLE = 9,
  COST_STATEMENT = 12,
  COST_CALL = 14,
  VARIABLES_MOST = 6, // that a variable is replaced by
  VARIABLES_NEAR = 40 // tokens to look for them on either side
};

typedef struct {
  const ScriptText *script;
  size_t first, end; // tokens of the lines
  ScriptKinds kinds;
  ScriptChanges *out;
  Arena *arena;
} ChangeMaker;

// --- tokens -----------------------------------------------------------------

static const PhpToken *token(const ChangeMaker *l, size_t i) {
  return &l->script->tokens[i];
}

static const char *text_of(const ChangeMaker *l, size_t i) {
  return l->script->text + token(l, i)->offset;
}

static bool is(const ChangeMaker *l, size_t i, const char *text) {
  const PhpToken *t = token(l, i);
  return t->kind == TOKEN_OTHER && t->length == strlen(text) &&
         !strncasecmp(text_of(l, i), text, t->length);
}

static bool is_any(const ChangeMaker *l, size_t i, const char *const *texts) {
  for (; *texts; texts++)
    if (is(l, i, *texts))
      return true;
  return false;
}

// A statement in words must be one line, and short.
static const char *shown(const ChangeMaker *l, size_t offset, size_t n) {
  enum { SHOWN_MOST = 40 };
  Str out = {0};
  for (size_t i = 0; i < n && out.len < SHOWN_MOST; i++) {
    char c = l->script->text[offset + i];
    bool blank = isspace((unsigned char)c);
    if (!blank || (out.len && out.data[out.len - 1] != ' '))
      str_addc(&out, blank ? ' ' : c);
  }
  if (out.len >= SHOWN_MOST)
    str_add(&out, "...");
  return arena_take(l->arena, &out);
}

static bool has_line_break(const ChangeMaker *l, size_t offset, size_t n) {
  return memchr(l->script->text + offset, '\n', n) != NULL;
}

static void add(ChangeMaker *l, size_t offset, size_t length, const char *with,
                const char *kind, unsigned cost, const char *words) {
  array_push(l->out, (ScriptChange){.offset = (uint32_t)offset,
                                    .length = (uint32_t)length,
                                    .with = with,
                                    .kind = kind,
                                    .words = words,
                                    .cost = cost});
}

// One token by another.
static void add_token(ChangeMaker *l, size_t i, const char *with,
                      const char *kind, unsigned cost) {
  const PhpToken *t = token(l, i);
  if (t->length == strlen(with) && !memcmp(text_of(l, i), with, t->length))
    return;
  add(l, t->offset, t->length, with, kind, cost,
      arena_printf(l->arena, "`%s` to `%s`", shown(l, t->offset, t->length),
                   with));
}

// The token behind the parenthesis that closes the one at `open`; SIZE_MAX:
// there is none.
static size_t behind(const ChangeMaker *l, size_t open) {
  int depth = 0;
  for (size_t i = open; i < l->script->ntokens; i++) {
    if (is(l, i, "(") || is(l, i, "[") || is(l, i, "{"))
      depth++;
    else if (is(l, i, ")") || is(l, i, "]") || is(l, i, "}"))
      depth--;
    if (!depth)
      return i + 1;
  }
  return SIZE_MAX;
}

// The `;` or `?>` that ends the statement; as many as there are: none does.
static size_t statement_end(const ChangeMaker *l, size_t i) {
  while (i < l->script->ntokens && !is(l, i, ";") &&
         strncmp(text_of(l, i), "?>", 2) != 0) {
    bool opens = is(l, i, "(") || is(l, i, "[") || is(l, i, "{");
    i = opens ? behind(l, i) : i + 1;
  }
  return i;
}

// --- operators --------------------------------------------------------------

// Operators that stand in for each other, the likeliest first. Each is replaced
// by the others of its row.
static const struct {
  const char *kind;
  unsigned cost;
  const char *texts[8];
} operators[] = {
    {"compare", COST_COMPARE, {"<", "<=", NULL}},
    {"compare", COST_COMPARE, {">", ">=", NULL}},
    {"compare", COST_COMPARE, {"==", "!=", NULL}},
    {"compare", COST_COMPARE, {"===", "!==", NULL}},
    {"compare", COST_COMPARE + 2, {"<", ">", NULL}},
    {"compare", COST_COMPARE + 2, {"<=", ">=", NULL}},
    {"compare", COST_COMPARE + 2, {"<", ">=", NULL}},
    {"compare", COST_COMPARE + 2, {"<=", ">", NULL}},
    {"compare", COST_COMPARE + 3, {"==", "===", NULL}},
    {"compare", COST_COMPARE + 3, {"!=", "!==", NULL}},
    {"compare", COST_COMPARE + 4, {"==", "<", "<=", ">", ">=", NULL}},
    {"compare", COST_COMPARE + 4, {"!=", "<", "<=", ">", ">=", NULL}},
    {"operator", COST_LOGIC, {"&&", "||", NULL}},
    {"operator", COST_LOGIC, {"and", "or", NULL}},
    {"operator", COST_OPERATOR, {"+", "-", NULL}},
    {"operator", COST_OPERATOR, {"*", "/", NULL}},
    {"operator", COST_OPERATOR, {"%", "/", NULL}},
    {"operator", COST_OPERATOR, {"++", "--", NULL}},
    {"operator", COST_OPERATOR, {"+=", "-=", "=", NULL}},
    {"operator", COST_OPERATOR, {".=", "=", NULL}},
};

static bool was_added(const ChangeMaker *l, size_t from, const char *with) {
  for (size_t i = from; i < l->out->len; i++)
    if (!strcmp(l->out->items[i].with, with))
      return true;
  return false;
}

// `=` stands where assignments do: it becomes no other operator.
static void change_operator(ChangeMaker *l, size_t i) {
  size_t from = l->out->len;
  if (is(l, i, "="))
    return;
  for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
    if (!is_any(l, i, operators[k].texts))
      continue;
    for (const char *const *t = operators[k].texts; *t; t++)
      if (!is(l, i, *t) && !was_added(l, from, *t))
        add_token(l, i, *t, operators[k].kind, operators[k].cost);
  }
}

// --- constants --------------------------------------------------------------

static void change_number(ChangeMaker *l, size_t i) {
  const PhpToken *t = token(l, i);
  char *copy = arena_strndup(l->arena, text_of(l, i), t->length), *end;
  errno = 0;
  long long v = strtoll(copy, &end, 10);
  if (*end || errno || (*copy == '0' && copy[1]) || v > INT32_MAX)
    return; // a fraction, a bit mask, a very large number
  const long long values[] = {v + 1, v - 1, 0, 1, -v};
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
    const char *with =
        arena_printf(l->arena, values[k] < 0 ? "(%lld)" : "%lld", values[k]);
    bool had = values[k] == v;
    for (size_t j = 0; j < k; j++)
      had |= values[j] == values[k];
    if (!had)
      add_token(l, i, with, "constant", COST_NUMBER + (unsigned)k);
  }
}

static void change_word(ChangeMaker *l, size_t i) {
  const PhpToken *t = token(l, i);
  const char *text = text_of(l, i);
  if (t->length == 4 && !strncasecmp(text, "true", 4))
    add_token(l, i, "false", "constant", COST_NUMBER);
  else if (t->length == 5 && !strncasecmp(text, "false", 5))
    add_token(l, i, "true", "constant", COST_NUMBER);
}

// --- tags -------------------------------------------------------------------

typedef struct {
  size_t offset, length; // from `<` to `>`
  size_t name, name_length;
  bool is_end;
} Tag;

// The next tag of the text in [from, end); false: none.
static bool next_tag(const char *text, size_t from, size_t end, Tag *out) {
  for (size_t i = from; i + 1 < end; i++) {
    if (text[i] != '<')
      continue;
    bool is_end = text[i + 1] == '/';
    size_t name = i + 1 + is_end, n = name;
    while (n < end && isalnum((unsigned char)text[n]))
      n++;
    const char *close = memchr(text + n, '>', end - n);
    if (n == name || !close)
      continue;
    *out = (Tag){.offset = i,
                 .length = (size_t)(close - text) + 1 - i,
                 .name = name,
                 .name_length = n - name,
                 .is_end = is_end};
    return true;
  }
  return false;
}

static void add_end_tag(ChangeMaker *l, size_t at, const char *format,
                        const char *name) {
  add(l, at, 0, arena_printf(l->arena, format, name), "markup", COST_MARKUP,
      arena_printf(l->arena, "with `</%s>`", name));
}

// Where an element that begins in the token could end: with the text or its
// line, with the string it is a part of, with the statement, in the next text.
static void close_tag(ChangeMaker *l, size_t i, const Tag *tag, size_t end,
                      const char *name) {
  const ScriptText *s = l->script;
  const char *line = memchr(s->text + tag->offset, '\n', end - tag->offset);
  const PhpToken *t = token(l, i);
  add_end_tag(l, line ? (size_t)(line - s->text) : end, "</%s>", name);
  if (t->kind == TOKEN_STRING) {
    size_t k = statement_end(l, i);
    if (k < s->ntokens && k > i + 1)
      add_end_tag(l, token(l, k)->offset, " . '</%s>'", name);
    return;
  }
  for (size_t k = i + 1; k < s->ntokens && token(l, k)->line <= t->line + 3;
       k++)
    if ((t->kind == TOKEN_HTML && token(l, k)->kind == TOKEN_HTML) ||
        (t->kind == TOKEN_STRING_PART && is(l, k, "\""))) {
      add_end_tag(l, token(l, k)->offset, "</%s>", name);
      return;
    }
}

static void change_tag(ChangeMaker *l, size_t token_index, const Tag *tag,
                       size_t end) {
  const char *text = l->script->text;
  const char *name =
      arena_strndup(l->arena, text + tag->name, tag->name_length);
  const char *whole = shown(l, tag->offset, tag->length);
  size_t quotes = 0, close = tag->offset + tag->length - 1;
  for (size_t i = tag->offset; i < close; i++)
    quotes += text[i] == '"' && text[i - 1] != '\\';
  if (quotes % 2)
    add(l, close, 0, "\"", "markup", COST_MARKUP,
        arena_printf(l->arena, "a quote before the end of `%s`", whole));
  if (!has_line_break(l, tag->offset, tag->length))
    add(l, tag->offset, tag->length, "", "markup", COST_MARKUP + 1,
        arena_printf(l->arena, "without `%s`", whole));
  if (tag->is_end) {
    add(l, tag->offset, tag->length,
        arena_printf(l->arena, "%.*s%.*s", (int)tag->length, text + tag->offset,
                     (int)tag->length, text + tag->offset),
        "markup", COST_MARKUP + 3, arena_printf(l->arena, "`%s` twice", whole));
    return;
  }
  add(l, tag->name, 0, "/", "markup", COST_MARKUP,
      arena_printf(l->arena, "`%s` to `</%s>`", whole, name));
  close_tag(l, token_index, tag, end, name);
}

// The text of the token without its quotes.
static void change_markup(ChangeMaker *l, size_t i) {
  const PhpToken *t = token(l, i);
  size_t quote = t->kind == TOKEN_STRING;
  if (t->length < 2 * quote)
    return;
  size_t from = t->offset + quote, end = t->offset + t->length - quote;
  Tag tag;
  while (next_tag(l->script->text, from, end, &tag)) {
    change_tag(l, i, &tag, end);
    from = tag.offset + tag.length;
  }
}

static void change_string(ChangeMaker *l, size_t i) {
  const PhpToken *t = token(l, i);
  const char *text = text_of(l, i);
  change_markup(l, i);
  if (t->length > 2 && (*text == '\'' || *text == '"') &&
      !has_line_break(l, t->offset, t->length))
    add_token(l, i, "''", "constant", COST_TEXT);
}

// --- conditions -------------------------------------------------------------

// `if (C)`: C is still evaluated, for what it does.
static void change_condition(ChangeMaker *l, size_t i) {
  bool loops = is(l, i, "while");
  if (!loops && !is(l, i, "if") && !is(l, i, "elseif"))
    return;
  size_t end = i + 1 < l->script->ntokens && is(l, i + 1, "(")
                   ? behind(l, i + 1)
                   : SIZE_MAX;
  if (end == SIZE_MAX || end - i < 4)
    return;
  size_t from = token(l, i + 1)->offset + 1, to = token(l, end - 1)->offset;
  const char *old = arena_strndup(l->arena, l->script->text + from, to - from);
  add(l, from, to - from, arena_printf(l->arena, "!(%s)", old), "condition",
      COST_CONDITION, "the condition negated");
  add(l, from, to - from, arena_printf(l->arena, "(%s) && false", old),
      "condition", COST_CONDITION + 1, "the condition is always false");
  if (!loops)
    add(l, from, to - from, arena_printf(l->arena, "(%s) || true", old),
        "condition", COST_CONDITION + 1, "the condition is always true");
}

// `!x` to `x`.
static void change_not(ChangeMaker *l, size_t i) {
  if (is(l, i, "!"))
    add(l, token(l, i)->offset, 1, "", "operator", COST_LOGIC, "without `!`");
}

// --- variables --------------------------------------------------------------

static bool is_same(const ChangeMaker *l, size_t i, size_t k) {
  return token(l, i)->length == token(l, k)->length &&
         !memcmp(text_of(l, i), text_of(l, k), token(l, i)->length);
}

static bool is_usable(const ChangeMaker *l, size_t k) {
  const PhpToken *t = token(l, k);
  return t->kind == TOKEN_VARIABLE &&
         !(t->length == 5 && !memcmp(text_of(l, k), "$this", 5));
}

static void change_variable(ChangeMaker *l, size_t i) {
  size_t seen[VARIABLES_MOST], n = 0;
  if (!is_usable(l, i))
    return;
  for (size_t d = 1; d <= VARIABLES_NEAR; d++)
    for (int side = 0; side < 2; side++) {
      size_t k = side ? i + d : i - d;
      bool had = (!side && d > i) || k >= l->script->ntokens ||
                 n == VARIABLES_MOST || !is_usable(l, k) || is_same(l, i, k);
      for (size_t j = 0; j < n && !had; j++)
        had = is_same(l, seen[j], k);
      if (had)
        continue;
      seen[n++] = k;
      add_token(l, i,
                arena_strndup(l->arena, text_of(l, k), token(l, k)->length),
                "variable", COST_VARIABLE + (unsigned)n);
    }
}

// --- statements -------------------------------------------------------------

// Does a statement begin with this token?
static bool begins_statement(const ChangeMaker *l, size_t i) {
  static const char *const before[] = {";", "{", "}", ":", ")", "else", NULL};
  return i == 0 || is_any(l, i - 1, before) ||
         !strncmp(text_of(l, i - 1), "<?php", 5);
}

static bool may_be_left_out(const ChangeMaker *l, size_t i) {
  static const char *const words[] = {"echo",     "print", "return", "break",
                                      "continue", "unset", "exit",   "die",
                                      "throw",    NULL};
  return token(l, i)->kind == TOKEN_NAME ||
         token(l, i)->kind == TOKEN_VARIABLE || is_any(l, i, words);
}

static void skip_statement(ChangeMaker *l, size_t i) {
  if (!begins_statement(l, i) || !may_be_left_out(l, i))
    return;
  size_t end = statement_end(l, i);
  if (end >= l->script->ntokens)
    return;
  size_t from = token(l, i)->offset, to = token(l, end)->offset;
  if (!has_line_break(l, from, to - from))
    add(l, from, to - from, "", "statement", COST_STATEMENT,
        arena_printf(l->arena, "without `%s`", shown(l, from, to - from)));
}

// `f(...)` to null, inside of an expression.
static void skip_call(ChangeMaker *l, size_t i) {
  static const char *const before[] = {
      "function", "new", "->", "::", "?->", "fn", NULL};
  if (token(l, i)->kind != TOKEN_NAME || i + 1 >= l->script->ntokens ||
      !is(l, i + 1, "(") || (i && is_any(l, i - 1, before)) ||
      begins_statement(l, i))
    return;
  size_t end = behind(l, i + 1);
  if (end == SIZE_MAX)
    return;
  size_t from = token(l, i)->offset,
         to = token(l, end - 1)->offset + token(l, end - 1)->length;
  const char *name =
      arena_strndup(l->arena, text_of(l, i), token(l, i)->length);
  if (!has_line_break(l, from, to - from))
    add(l, from, to - from, "null", "call", COST_CALL,
        arena_printf(l->arena, "`null` for the call of `%s`", name));
}

// --- a line -----------------------------------------------------------------

static void change_at(ChangeMaker *l, size_t i) {
  switch (token(l, i)->kind) {
  case TOKEN_NUMBER:
    if (l->kinds.constants)
      change_number(l, i);
    break;
  case TOKEN_NAME:
    if (l->kinds.constants)
      change_word(l, i);
    if (l->kinds.statements)
      skip_call(l, i);
    break;
  case TOKEN_STRING:
    if (l->kinds.constants)
      change_string(l, i);
    break;
  case TOKEN_STRING_PART:
  case TOKEN_HTML:
    if (l->kinds.constants)
      change_markup(l, i);
    break;
  case TOKEN_VARIABLE:
    if (l->kinds.variables)
      change_variable(l, i);
    break;
  default:
    change_operator(l, i);
    change_not(l, i);
    change_condition(l, i);
  }
  if (l->kinds.statements)
    skip_statement(l, i);
}

static uint32_t line_at(const ScriptText *s, const PhpToken *t, size_t offset) {
  uint32_t line = t->line;
  for (size_t i = t->offset; i < offset; i++)
    line += s->text[i] == '\n';
  return line;
}

// Text outside of <?php ?> is one token of many lines.
static void keep_lines(const ScriptText *s, const PhpToken *t, uint32_t first,
                       uint32_t last, size_t from, ScriptChanges *out) {
  size_t n = from;
  for (size_t i = from; i < out->len; i++) {
    uint32_t line = line_at(s, t, out->items[i].offset);
    if (line >= first && line <= last)
      out->items[n++] = out->items[i];
  }
  out->len = n;
}

void script_changes(const ScriptText *s, uint32_t first, uint32_t last,
                    ScriptKinds kinds, ScriptChanges *out, Arena *arena) {
  ChangeMaker l = {.script = s, .kinds = kinds, .out = out, .arena = arena};
  for (size_t i = 0; i < s->ntokens && s->tokens[i].line <= last; i++) {
    const PhpToken *t = &s->tokens[i];
    bool is_html = t->kind == TOKEN_HTML || t->kind == TOKEN_STRING_PART;
    if (t->line < first && !is_html)
      continue;
    size_t from = out->len;
    change_at(&l, i);
    if (is_html)
      keep_lines(s, t, first, last, from, out);
  }
}

// --- applying ---------------------------------------------------------------

void script_change_apply(const ScriptText *s, const ScriptChange *c, Str *out) {
  size_t end = (size_t)c->offset + c->length;
  str_addn(out, s->text, c->offset);
  str_add(out, c->with);
  str_addn(out, s->text + end, s->size - end);
}

void script_change_diff(const ScriptText *s, const ScriptChange *c,
                        const char *name, Str *out) {
  Str changed = {0};
  script_change_apply(s, c, &changed);
  diff_write(name, s->text, s->size, str_text(&changed), changed.len, out);
  str_release(&changed);
}
