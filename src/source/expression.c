// The extent of an expression: see expression.h.
#include "source/expression.h"

#include <string.h>

// --- tokens -----------------------------------------------------------------

void code_lex(Code *c, const char *text, size_t len) {
  *c = (Code){.text = text};
  contract_lex(text, len, &c->tokens);
  size_t n = 0;
  for (size_t i = 0; i < c->tokens.len; i++) {
    Token t = c->tokens.items[i];
    if (t.kind != TOK_DIRECTIVE && t.kind != TOK_ANNOTATION)
      c->tokens.items[n++] = t;
  }
  c->tokens.len = n;
}

void code_release(Code *c) { array_release(&c->tokens); }

static TokenKind kind_of(const Code *c, size_t token) {
  return token < c->tokens.len ? c->tokens.items[token].kind : TOK_END;
}

static bool is_before(const Token *t, uint32_t line, uint32_t col) {
  return t->line < line || (t->line == line && t->col < col);
}

size_t code_find(const Code *c, uint32_t line, uint32_t col) {
  size_t lo = 0, hi = c->tokens.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (is_before(&c->tokens.items[mid], line, col))
      lo = mid + 1;
    else
      hi = mid;
  }
  if (kind_of(c, lo) == TOK_END)
    return CODE_NONE;
  const Token *t = &c->tokens.items[lo];
  return t->line == line && t->col == col ? lo : CODE_NONE;
}

bool code_is(const Code *c, size_t token, const char *text) {
  return token < c->tokens.len &&
         token_is(c->text, &c->tokens.items[token], text);
}

static char mark_of(const Code *c, size_t token) {
  if (kind_of(c, token) != TOK_MARK || c->tokens.items[token].len != 1)
    return '\0';
  return c->text[c->tokens.items[token].at];
}

static bool opens(char mark) { return mark && strchr("([{", mark); }
static bool closes(char mark) { return mark && strchr(")]}", mark); }

size_t code_partner(const Code *c, size_t token) {
  bool forward = opens(mark_of(c, token));
  size_t depth = 0;
  for (size_t i = token; i < c->tokens.len; i = forward ? i + 1 : i - 1) {
    char mark = mark_of(c, i);
    if (opens(mark))
      depth += forward ? 1 : (size_t)-1;
    else if (closes(mark))
      depth += forward ? (size_t)-1 : 1;
    if (!depth)
      return i;
  }
  return CODE_NONE;
}

// --- casts and operands -----------------------------------------------------

static bool is_type_word(const Code *c, size_t i) {
  static const char *const words[] = {
      "char",  "short", "int",    "long",     "signed", "unsigned",
      "float", "void",  "double", "_Bool",    "bool",   "struct",
      "union", "enum",  "const",  "volatile", NULL};
  for (size_t k = 0; words[k]; k++)
    if (code_is(c, i, words[k]))
      return true;
  const Token *t = &c->tokens.items[i];
  return t->len > 2 && !memcmp(c->text + t->at + t->len - 2, "_t", 2);
}

// The words and stars between these two.
static bool is_type(const Code *c, size_t from, size_t to) {
  bool named = false, starred = false;
  for (size_t i = from; i < to; i++) {
    if (kind_of(c, i) == TOK_WORD)
      named = named || is_type_word(c, i);
    else if (mark_of(c, i) != '*')
      return false;
    starred = mark_of(c, i) == '*';
  }
  return named || (starred && kind_of(c, from) == TOK_WORD);
}

static bool is_keyword(const Code *c, size_t i) {
  return token_is_keyword(c->text, &c->tokens.items[i]);
}

static bool is_cast(const Code *c, size_t open) {
  if (mark_of(c, open) != '(')
    return false;
  size_t close = code_partner(c, open);
  bool called = open && kind_of(c, open - 1) == TOK_WORD &&
                !code_is(c, open - 1, "return") &&
                !code_is(c, open - 1, "case");
  return close != CODE_NONE && close > open + 1 && !called &&
         is_type(c, open + 1, close);
}

static bool is_step(const Code *c, size_t i) {
  return code_is(c, i, "++") || code_is(c, i, "--");
}

// Can an operand end with this token?
static bool ends_operand(const Code *c, size_t i) {
  switch (kind_of(c, i)) {
  case TOK_WORD:
    return !is_keyword(c, i);
  case TOK_NUMBER:
  case TOK_TEXT:
    return true;
  case TOK_MARK: {
    char mark = mark_of(c, i);
    if (mark == ')') {
      size_t open = code_partner(c, i);
      return open != CODE_NONE && !is_cast(c, open);
    }
    return mark == ']' || (is_step(c, i) && i && ends_operand(c, i - 1));
  }
  default:
    return false;
  }
}

// --- operators --------------------------------------------------------------

static int level_of(const Code *c, size_t i) {
  static const struct {
    int level;
    const char *marks; // each with a blank behind it
  } levels[] = {{1, ", "},
                {CODE_ASSIGNS, "= += -= *= /= %= <<= >>= &= |= ^= "},
                {CODE_CHOOSES, "? : "},
                {4, "|| "},
                {5, "&& "},
                {6, "| "},
                {7, "^ "},
                {8, "& "},
                {9, "== != "},
                {10, "< > <= >= "},
                {11, "<< >> "},
                {12, "+ - "},
                {13, "* / % "}};
  const Token *t = &c->tokens.items[i];
  if (kind_of(c, i) != TOK_MARK)
    return 0;
  for (size_t k = 0; k < sizeof levels / sizeof *levels; k++)
    for (const char *m = levels[k].marks; *m; m = strchr(m, ' ') + 1)
      if (!strncmp(m, c->text + t->at, t->len) && m[t->len] == ' ')
        return levels[k].level;
  return 0;
}

// The level of a binary operator, the lower the weaker; 0: it is none.
static int binary_level(const Code *c, size_t i) {
  int level = level_of(c, i);
  return level && i && ends_operand(c, i - 1) ? level : 0;
}

// Does `i` begin an operand although one ends in front of it? Then a statement
// begins there: `if (x) y = 1`.
static bool begins_statement(const Code *c, size_t i) {
  TokenKind kind = kind_of(c, i);
  return i && ends_operand(c, i - 1) &&
         (kind == TOK_WORD || kind == TOK_NUMBER ||
          (kind == TOK_TEXT && kind_of(c, i - 1) != TOK_TEXT));
}

// The first token of the operand that ends in front of an operator of `level`.
static size_t left_end(const Code *c, size_t operator, int level) {
  size_t first = operator;
  for (size_t i = operator- 1; i < c->tokens.len; i--) {
    char mark = mark_of(c, i);
    if (closes(mark)) {
      size_t open = mark == '}' ? CODE_NONE : code_partner(c, i);
      if (open == CODE_NONE)
        return first;
      i = open;
    } else if (opens(mark) || mark == ';') {
      return first;
    }
    int weaker = binary_level(c, i);
    bool ends = weaker < level || (weaker == level && level <= CODE_CHOOSES) ||
                level == CODE_ASSIGNS; // nothing but an operand is assigned to
    if ((weaker && ends) || (is_keyword(c, i) && !code_is(c, i, "sizeof")))
      return first;
    first = i;
    if (begins_statement(c, i))
      return first;
  }
  return first;
}

// The last token in front of an operator that binds no tighter than `level`.
static size_t end_before(const Code *c, size_t before, int level) {
  size_t last = before;
  for (size_t i = before + 1; i < c->tokens.len; i++) {
    char mark = mark_of(c, i);
    if (closes(mark) || mark == ';' || kind_of(c, i) == TOK_END)
      return last;
    int weaker = binary_level(c, i);
    if (weaker && weaker <= level)
      return last;
    if (opens(mark)) {
      size_t close = code_partner(c, i);
      if (close == CODE_NONE)
        return last;
      i = close;
    }
    last = i;
  }
  return last;
}

// The last token of the operand that begins behind an operator of `level`.
static size_t right_end(const Code *c, size_t before, int level) {
  return end_before(c, before, level > CODE_CHOOSES ? level : level - 1);
}

// --- operands ---------------------------------------------------------------

static bool is_prefix(const Code *c, size_t i) {
  char mark = mark_of(c, i);
  return (mark && strchr("!~*&+-", mark)) || is_step(c, i) || is_cast(c, i) ||
         code_is(c, i, "sizeof") || code_is(c, i, "__extension__");
}

static bool is_member(const Code *c, size_t i) {
  return mark_of(c, i) == '.' || code_is(c, i, "->");
}

// The last token of the operand whose name, constant or parenthesis this is.
static size_t postfix_end(const Code *c, size_t i) {
  if (opens(mark_of(c, i))) {
    size_t close = code_partner(c, i);
    i = close == CODE_NONE ? i : close;
  }
  for (;;) {
    char mark = i + 1 < c->tokens.len ? mark_of(c, i + 1) : '\0';
    if (mark == '(' || mark == '[') {
      size_t close = code_partner(c, i + 1);
      if (close == CODE_NONE)
        return i;
      i = close;
    } else if (is_member(c, i + 1) && kind_of(c, i + 2) == TOK_WORD) {
      i += 2;
    } else if (is_step(c, i + 1) ||
               (kind_of(c, i) == TOK_TEXT && kind_of(c, i + 1) == TOK_TEXT)) {
      i++;
    } else {
      return i;
    }
  }
}

// The first token of the operand of which this is the last, or a member's name.
static size_t postfix_begin(const Code *c, size_t i) {
  for (;;) {
    char mark = mark_of(c, i);
    if (mark == ')' || mark == ']') {
      size_t open = code_partner(c, i);
      if (open == CODE_NONE || !open)
        return i;
      i = open;
      if (!ends_operand(c, i - 1))
        return i;
      i--; // called, or indexed
    } else if (i >= 2 && is_member(c, i - 1)) {
      i -= 2;
    } else {
      return i;
    }
  }
}

static size_t unary_end(const Code *c, size_t i) {
  while (i + 1 < c->tokens.len && is_prefix(c, i)) {
    if (is_cast(c, i))
      i = code_partner(c, i);
    i++;
  }
  return postfix_end(c, i);
}

Extent code_expression(const Code *c, size_t i) {
  int level = binary_level(c, i);
  if (level)
    return (Extent){left_end(c, i, level), right_end(c, i, level)};
  if (is_step(c, i) && i && ends_operand(c, i - 1))
    return (Extent){postfix_begin(c, i - 1), i};
  if (is_prefix(c, i))
    return (Extent){i, unary_end(c, i)};
  return (Extent){postfix_begin(c, i), postfix_end(c, i)};
}

Extent code_choice(const Code *c, size_t i) {
  return (Extent){i, right_end(c, i - 1, CODE_CHOOSES)};
}

Extent code_bare(const Code *c, Extent e) {
  while (e.first < e.last && mark_of(c, e.first) == '(' &&
         code_partner(c, e.first) == e.last)
    e.first++, e.last--;
  return e;
}

Extent code_right(const Code *c, size_t operator) {
  Extent e = {operator+ 1, right_end(c, operator, level_of(c, operator))};
  return code_bare(c, e);
}

bool code_head(const Code *c, size_t keyword, Extent *out) {
  bool loop = code_is(c, keyword, "for");
  size_t first = keyword + 2;
  if ((!loop && !code_is(c, keyword, "if") && !code_is(c, keyword, "while")) ||
      mark_of(c, keyword + 1) != '(')
    return false;
  size_t close = code_partner(c, keyword + 1);
  if (close == CODE_NONE)
    return false;
  while (loop && first < close && mark_of(c, first - 1) != ';')
    first++;
  *out = (Extent){first, right_end(c, first - 1, 1)};
  if (out->last < first || out->last >= close)
    return false;
  *out = code_bare(c, *out);
  return true;
}

bool code_do_head(const Code *c, size_t token, Extent *out) {
  for (size_t i = token; i < c->tokens.len; i++) {
    size_t close = opens(mark_of(c, i)) ? code_partner(c, i) : CODE_NONE;
    if (code_is(c, i, "while"))
      return code_head(c, i, out);
    i = close == CODE_NONE ? i : close;
  }
  return false;
}

// --- conditions -------------------------------------------------------------

// The cast in front of an operand that begins here; CODE_NONE: there is none.
static size_t cast_before(const Code *c, size_t i) {
  if (!i || mark_of(c, i - 1) != ')')
    return CODE_NONE;
  size_t open = code_partner(c, i - 1);
  return open != CODE_NONE && is_cast(c, open) ? open : CODE_NONE;
}

// Are these the parentheses around an expression, not those of a call or of the
// head of a statement?
static bool is_grouped(const Code *c, Extent e) {
  if (!e.first || mark_of(c, e.first - 1) != '(' ||
      mark_of(c, e.last + 1) != ')')
    return false;
  size_t before = e.first - 2;
  if (e.first == 1)
    return true;
  return !ends_operand(c, before) &&
         (!is_keyword(c, before) || code_is(c, before, "return") ||
          code_is(c, before, "case") || code_is(c, before, "__extension__"));
}

Extent code_condition(const Code *c, Extent e, unsigned *negations) {
  Extent shown = e;
  for (;;) {
    size_t cast = cast_before(c, e.first);
    if (is_grouped(c, e)) {
      e.first--, e.last++;
      continue; // without parentheses around all of it
    }
    if (e.first && mark_of(c, e.first - 1) == '!') {
      e.first--;
      ++*negations;
    } else if (cast != CODE_NONE) {
      e.first = cast;
    } else if (e.first && code_is(c, e.first - 1, "__extension__")) {
      e.first--;
    } else {
      return shown;
    }
    shown = e;
  }
}

static bool is_logical(const Code *c, size_t i) {
  return code_is(c, i, "&&") || code_is(c, i, "||");
}

static Extent with_parentheses(const Code *c, Extent e) {
  while (is_grouped(c, e))
    e.first--, e.last++;
  return e;
}

bool code_whole(const Code *c, Extent e, Extent *out, unsigned *negations) {
  unsigned ignored = 0;
  bool found = false;
  e = with_parentheses(c, code_condition(c, e, &ignored));
  for (; e.first && is_logical(c, e.first - 1); found = true) {
    *negations = 0;
    *out = code_condition(c, code_expression(c, e.first - 1), negations);
    e = with_parentheses(c, *out);
  }
  return found;
}

bool code_true_is_next(const Code *c, Extent e) {
  unsigned negations = 0;
  for (;;) {
    e = with_parentheses(c, e);
    if (code_is(c, e.last + 1, "&&"))
      return negations % 2 == 0;
    if (code_is(c, e.last + 1, "||"))
      return negations % 2 == 1;
    if (!e.first || !is_logical(c, e.first - 1))
      return negations % 2 == 0;
    e = code_condition(c, code_expression(c, e.first - 1), &negations);
  }
}

Extent code_strip(const Code *c, Extent e, unsigned *negations) {
  while (e.first < e.last) {
    char mark = mark_of(c, e.first);
    if (mark == '!' && unary_end(c, e.first) == e.last)
      ++*negations;
    else if (mark == '(' && code_partner(c, e.first) == e.last)
      e.last--;
    else if (!code_is(c, e.first, "__extension__"))
      return e;
    e.first++;
  }
  return e;
}

void code_show(const Code *c, Extent e, Str *out) {
  for (size_t i = e.first; i <= e.last && i < c->tokens.len; i++) {
    const Token *t = &c->tokens.items[i];
    if (i > e.first && t->at > t[-1].at + t[-1].len)
      str_addc(out, ' ');
    str_addn(out, c->text + t->at, t->len);
  }
}

// --- all of them ------------------------------------------------------------

// The weakest operator that is not in parentheses, or CODE_NONE.
static size_t weakest(const Code *c, Extent e) {
  size_t found = CODE_NONE;
  int least = CODE_UNARY;
  for (size_t i = e.first; i <= e.last && i < c->tokens.len; i++) {
    int level = binary_level(c, i);
    if (level && level <= least) {
      least = level;
      found = i;
    }
    size_t close = opens(mark_of(c, i)) ? code_partner(c, i) : CODE_NONE;
    if (close != CODE_NONE)
      i = close;
  }
  return found;
}

bool code_is_logical(const Code *c, Extent e) {
  unsigned ignored = 0;
  size_t at = weakest(c, code_strip(c, e, &ignored));
  return at != CODE_NONE && is_logical(c, at);
}

static bool is_constant(const Code *c, Extent e) {
  for (size_t i = e.first; i <= e.last; i++)
    if (kind_of(c, i) == TOK_WORD)
      return false;
  return true;
}

static void add_operand(const Code *c, Extent e, Extents *out) {
  if (e.first <= e.last && !code_is_logical(c, e) && !is_constant(c, e))
    array_push(out, e);
}

static void add_head(const Code *c, size_t keyword, Extents *out) {
  Extent e;
  if (code_head(c, keyword, &e))
    add_operand(c, e, out);
}

// What is evaluated last ends last.
static int by_end(const void *a, const void *b) {
  const Extent *x = a, *y = b;
  if (x->last != y->last)
    return x->last < y->last ? -1 : 1;
  return (x->first < y->first) - (x->first > y->first);
}

void code_conditions(const Code *c, Extent e, Extents *out) {
  for (size_t i = e.first; i <= e.last; i++) {
    if (is_logical(c, i) && binary_level(c, i)) {
      int level = level_of(c, i);
      add_operand(c, (Extent){left_end(c, i, level), i - 1}, out);
      add_operand(c, (Extent){i + 1, right_end(c, i, level)}, out);
    } else if (mark_of(c, i) == '?') {
      add_operand(c, (Extent){left_end(c, i, CODE_CHOOSES), i - 1}, out);
    } else if (kind_of(c, i) == TOK_WORD) {
      add_head(c, i, out);
    }
  }
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_end);
}

// --- for changing the source ------------------------------------------------

int code_level(const Code *c, size_t i) { return binary_level(c, i); }

int code_weakest(const Code *c, Extent e) {
  size_t at = weakest(c, e);
  return at == CODE_NONE ? CODE_UNARY : level_of(c, at);
}

Extent code_from(const Code *c, size_t first, int level) {
  size_t last = end_before(c, first - 1, level);
  return (Extent){first, last == first - 1 ? first : last};
}

bool code_is_prefix(const Code *c, size_t i) {
  return is_prefix(c, i) && !binary_level(c, i) &&
         !(is_step(c, i) && i && ends_operand(c, i - 1));
}

bool code_is_cast(const Code *c, size_t open) { return is_cast(c, open); }

size_t code_connective(const Code *c, size_t token, Extent *operand) {
  Extent e = code_expression(c, token);
  for (;;) {
    size_t next = e.last + 1;
    while (e.first && code_is(c, e.first - 1, "!"))
      e.first--;
    *operand = e;
    if (code_is(c, next, "&&") || code_is(c, next, "||"))
      return next;
    if (!code_is(c, next, ")") || !e.first ||
        code_partner(c, next) != e.first - 1)
      return CODE_NONE;
    e = (Extent){e.first - 1, next};
  }
}
