// Cuts C source into tokens: words, keywords, numbers, strings, characters,
// operators, directives. Blanks and comments are skipped.
#include "tokenizer.h"

#include <stddef.h>

typedef struct {
  const char *text;
  int at;   // the next byte
  int line; // its line
  Token *out;
  int n, max;
} Scan;

// --- what the contract asks -------------------------------------------------

static int is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The first byte tells most of the kind.
int token_kind_fits(const char *text, const Token *t) {
  char c = text[t->start], last = text[t->start + t->length - 1];
  if (is_letter(c))
    return (t->kind == TOKEN_WORD || t->kind == TOKEN_KEYWORD) &&
           (is_letter(last) || is_digit(last));
  if (is_digit(c))
    return t->kind == TOKEN_INTEGER || t->kind == TOKEN_FLOAT;
  if (c == '"')
    return t->kind == TOKEN_ERROR || (t->kind == TOKEN_STRING && last == '"');
  if (c == '\'')
    return t->kind == TOKEN_ERROR ||
           (t->kind == TOKEN_CHARACTER && last == '\'');
  if (c == '#')
    return t->kind == TOKEN_DIRECTIVE;
  return !is_blank(c) &&
         (t->kind == TOKEN_OPERATOR || t->kind == TOKEN_ERROR ||
          (c == '.' && t->kind == TOKEN_FLOAT));
}

int token_line_fits(const char *text, const Token *t) {
  int line = 1;
  for (int i = 0; i < t->start; i++)
    line += text[i] == '\n';
  return line == t->line;
}

// Between two tokens are blanks and comments only.
int token_reaches(const char *text, const Token *t, const Token *next) {
  int i = t->start + t->length;
  if (i > next->start)
    return 0;
  if (i < next->start && text[i] != '/' && !is_blank(text[i]))
    return 0;
  return t->line <= next->line;
}

// --- bytes ------------------------------------------------------------------

static char peek(const Scan *s, int ahead) { return s->text[s->at + ahead]; }

static void advance(Scan *s) {
  if (s->text[s->at] == '\n')
    s->line = s->line + 1;
  s->at = s->at + 1;
}

static void advance_by(Scan *s, int n) {
  for (int i = 0; i < n; i++)
    advance(s);
}

static void add(Scan *s, int kind, int start, int line, int value) {
  Token *t = &s->out[s->n];
  t->kind = kind;
  t->start = start;
  t->length = s->at - start;
  t->line = line;
  t->value = value;
  s->n = s->n + 1;
}

// --- blanks and comments ----------------------------------------------------

static void skip_line_comment(Scan *s) {
  while (peek(s, 0) != '\0' && peek(s, 0) != '\n')
    advance(s);
}

static void skip_block_comment(Scan *s) {
  advance_by(s, 2);
  while (peek(s, 0) != '\0') {
    if (peek(s, 0) == '*' && peek(s, 1) == '/') {
      advance_by(s, 2);
      return;
    }
    advance(s);
  }
}

static void skip_blanks(Scan *s) {
  for (;;) {
    if (is_blank(peek(s, 0)))
      advance(s);
    else if (peek(s, 0) == '/' && peek(s, 1) == '/')
      skip_line_comment(s);
    else if (peek(s, 0) == '/' && peek(s, 1) == '*')
      skip_block_comment(s);
    else
      return;
  }
}

// --- words ------------------------------------------------------------------

// Is the word of n letters at `at` this one?
static int is_word(const Scan *s, int at, int n, const char *word) {
  for (int i = 0; i < n; i++)
    if (word[i] == '\0' || s->text[at + i] != word[i])
      return 0;
  return word[n] == '\0';
}

// The number of the keyword, 0: it is none.
static int keyword(const Scan *s, int at, int n) {
  switch (s->text[at]) {
  case 'a':
    if (is_word(s, at, n, "auto"))
      return 1;
    return 0;
  case 'b':
    if (is_word(s, at, n, "break"))
      return 2;
    return 0;
  case 'c':
    if (is_word(s, at, n, "case"))
      return 3;
    if (is_word(s, at, n, "char"))
      return 4;
    if (is_word(s, at, n, "const"))
      return 5;
    if (is_word(s, at, n, "continue"))
      return 6;
    return 0;
  case 'd':
    if (is_word(s, at, n, "default"))
      return 7;
    if (is_word(s, at, n, "do"))
      return 8;
    if (is_word(s, at, n, "double"))
      return 9;
    return 0;
  case 'e':
    if (is_word(s, at, n, "else"))
      return 10;
    if (is_word(s, at, n, "enum"))
      return 11;
    if (is_word(s, at, n, "extern"))
      return 12;
    return 0;
  case 'f':
    if (is_word(s, at, n, "float"))
      return 13;
    if (is_word(s, at, n, "for"))
      return 14;
    return 0;
  case 'g':
    if (is_word(s, at, n, "goto"))
      return 15;
    return 0;
  case 'i':
    if (is_word(s, at, n, "if"))
      return 16;
    if (is_word(s, at, n, "inline"))
      return 17;
    if (is_word(s, at, n, "int"))
      return 18;
    return 0;
  case 'l':
    if (is_word(s, at, n, "long"))
      return 19;
    return 0;
  case 'r':
    if (is_word(s, at, n, "register"))
      return 20;
    if (is_word(s, at, n, "restrict"))
      return 21;
    if (is_word(s, at, n, "return"))
      return 22;
    return 0;
  case 's':
    if (is_word(s, at, n, "short"))
      return 23;
    if (is_word(s, at, n, "signed"))
      return 24;
    if (is_word(s, at, n, "sizeof"))
      return 25;
    if (is_word(s, at, n, "static"))
      return 26;
    if (is_word(s, at, n, "struct"))
      return 27;
    if (is_word(s, at, n, "switch"))
      return 28;
    return 0;
  case 't':
    if (is_word(s, at, n, "typedef"))
      return 29;
    return 0;
  case 'u':
    if (is_word(s, at, n, "union"))
      return 30;
    if (is_word(s, at, n, "unsigned"))
      return 31;
    return 0;
  case 'v':
    if (is_word(s, at, n, "void"))
      return 32;
    if (is_word(s, at, n, "volatile"))
      return 33;
    return 0;
  case 'w':
    if (is_word(s, at, n, "while"))
      return 34;
    return 0;
  default:
    return 0;
  }
}

static void scan_word(Scan *s) {
  int start = s->at;
  int line = s->line;
  while (is_letter(peek(s, 0)) || is_digit(peek(s, 0)))
    advance(s);
  int number = keyword(s, start, s->at - start);
  if (number != 0)
    add(s, TOKEN_KEYWORD, start, line, number);
  else
    add(s, TOKEN_WORD, start, line, 0);
}

// --- numbers ----------------------------------------------------------------

static int is_hex(char c) {
  if (is_digit(c))
    return 1;
  if (c >= 'a' && c <= 'f')
    return 1;
  if (c >= 'A' && c <= 'F')
    return 1;
  return 0;
}

static void skip_digits(Scan *s) {
  while (is_digit(peek(s, 0)))
    advance(s);
}

static void skip_integer_suffix(Scan *s) {
  int unsigned_seen = 0;
  int longs = 0;
  for (;;) {
    char c = peek(s, 0);
    if ((c == 'u' || c == 'U') && !unsigned_seen) {
      unsigned_seen = 1;
      advance(s);
    } else if ((c == 'l' || c == 'L') && longs < 2) {
      longs = longs + 1;
      advance(s);
    } else {
      return;
    }
  }
}

static void skip_float_suffix(Scan *s) {
  char c = peek(s, 0);
  if (c == 'f' || c == 'F')
    advance(s);
  else if (c == 'l' || c == 'L')
    advance(s);
}

// The exponent, if a whole one is there.
static int skip_exponent(Scan *s) {
  char c = peek(s, 0);
  if (c != 'e' && c != 'E')
    return 0;
  int sign = 0;
  if (peek(s, 1) == '+' || peek(s, 1) == '-')
    sign = 1;
  if (!is_digit(peek(s, 1 + sign)))
    return 0;
  advance_by(s, 1 + sign);
  skip_digits(s);
  return 1;
}

static void scan_hex(Scan *s, int start) {
  advance_by(s, 2);
  while (is_hex(peek(s, 0)))
    advance(s);
  skip_integer_suffix(s);
  add(s, TOKEN_INTEGER, start, s->line, 16);
}

static void scan_octal(Scan *s, int start) {
  int bad = 0;
  while (is_digit(peek(s, 0))) {
    if (peek(s, 0) > '7')
      bad = 1;
    advance(s);
  }
  skip_integer_suffix(s);
  if (bad)
    add(s, TOKEN_INTEGER, start, s->line, 0);
  else
    add(s, TOKEN_INTEGER, start, s->line, 8);
}

static void scan_number(Scan *s) {
  int start = s->at;
  int floating = 0;
  if (peek(s, 0) == '0') {
    if (peek(s, 1) == 'x' || peek(s, 1) == 'X') {
      scan_hex(s, start);
      return;
    }
    if (is_digit(peek(s, 1))) {
      scan_octal(s, start);
      return;
    }
  }
  skip_digits(s);
  if (peek(s, 0) == '.') {
    floating = 1;
    advance(s);
    skip_digits(s);
  }
  if (skip_exponent(s))
    floating = 1;
  if (floating) {
    skip_float_suffix(s);
    add(s, TOKEN_FLOAT, start, s->line, 10);
  } else {
    skip_integer_suffix(s);
    add(s, TOKEN_INTEGER, start, s->line, 10);
  }
}

// --- strings and characters -------------------------------------------------

static void skip_octal_escape(Scan *s) {
  int n = 0;
  while (n < 3 && peek(s, 0) >= '0' && peek(s, 0) <= '7') {
    advance(s);
    n = n + 1;
  }
}

static void skip_hex_escape(Scan *s) {
  advance(s);
  while (is_hex(peek(s, 0)))
    advance(s);
}

// Behind a backslash; false: no escape of C.
static int skip_escape(Scan *s) {
  advance(s);
  switch (peek(s, 0)) {
  case '0': case '1': case '2': case '3':
  case '4': case '5': case '6': case '7':
    skip_octal_escape(s);
    return 1;
  case 'x':
    skip_hex_escape(s);
    return 1;
  case 'n':
    advance(s);
    return 1;
  case 't':
    advance(s);
    return 1;
  case 'r':
    advance(s);
    return 1;
  case 'a':
    advance(s);
    return 1;
  case 'b':
    advance(s);
    return 1;
  case 'f':
    advance(s);
    return 1;
  case 'v':
    advance(s);
    return 1;
  case '\\':
    advance(s);
    return 1;
  case '\'':
    advance(s);
    return 1;
  case '"':
    advance(s);
    return 1;
  case '?':
    advance(s);
    return 1;
  case '\n': // the string goes on
    advance(s);
    return 1;
  default:
    return 0;
  }
}

// Up to the closing quote; an error ends at the end of the line.
static void scan_quoted(Scan *s, char quote, int kind) {
  int start = s->at;
  int line = s->line;
  int good = 1;
  advance(s);
  while (peek(s, 0) != quote) {
    if (peek(s, 0) == '\0' || peek(s, 0) == '\n') {
      add(s, TOKEN_ERROR, start, line, 0);
      return;
    }
    if (peek(s, 0) == '\\') {
      if (!skip_escape(s))
        good = 0;
    } else {
      advance(s);
    }
  }
  advance(s);
  if (good)
    add(s, kind, start, line, 0);
  else
    add(s, TOKEN_ERROR, start, line, 0);
}

// --- directives -------------------------------------------------------------

// To the end of the line; a backslash before it continues it.
static void scan_directive(Scan *s) {
  int start = s->at;
  int line = s->line;
  while (peek(s, 0) != '\0' && peek(s, 0) != '\n') {
    if (peek(s, 0) == '\\' && peek(s, 1) == '\n')
      advance_by(s, 2);
    else
      advance(s);
  }
  add(s, TOKEN_DIRECTIVE, start, line, 0);
}

// --- operators --------------------------------------------------------------

// An operator of n bytes.
static void operator(Scan *s, int n, int value) {
  int start = s->at;
  int line = s->line;
  advance_by(s, n);
  add(s, TOKEN_OPERATOR, start, line, value);
}

static void scan_plus(Scan *s) {
  if (peek(s, 1) == '+')
    operator(s, 2, 100);
  else if (peek(s, 1) == '=')
    operator(s, 2, 101);
  else
    operator(s, 1, 102);
}

static void scan_minus(Scan *s) {
  if (peek(s, 1) == '-')
    operator(s, 2, 103);
  else if (peek(s, 1) == '=')
    operator(s, 2, 104);
  else if (peek(s, 1) == '>')
    operator(s, 2, 105);
  else
    operator(s, 1, 106);
}

static void scan_star(Scan *s) {
  if (peek(s, 1) == '=')
    operator(s, 2, 107);
  else
    operator(s, 1, 108);
}

static void scan_slash(Scan *s) {
  if (peek(s, 1) == '=')
    operator(s, 2, 109);
  else
    operator(s, 1, 110);
}

static void scan_percent(Scan *s) {
  if (peek(s, 1) == '=')
    operator(s, 2, 111);
  else
    operator(s, 1, 112);
}

static void scan_equal(Scan *s) {
  if (peek(s, 1) == '=')
    operator(s, 2, 113);
  else
    operator(s, 1, 114);
}

static void scan_bang(Scan *s) {
  if (peek(s, 1) == '=')
    operator(s, 2, 115);
  else
    operator(s, 1, 116);
}

static void scan_and(Scan *s) {
  if (peek(s, 1) == '&')
    operator(s, 2, 117);
  else if (peek(s, 1) == '=')
    operator(s, 2, 118);
  else
    operator(s, 1, 119);
}

static void scan_or(Scan *s) {
  if (peek(s, 1) == '|')
    operator(s, 2, 120);
  else if (peek(s, 1) == '=')
    operator(s, 2, 121);
  else
    operator(s, 1, 122);
}

static void scan_caret(Scan *s) {
  if (peek(s, 1) == '=')
    operator(s, 2, 123);
  else
    operator(s, 1, 124);
}

static void scan_less(Scan *s) {
  if (peek(s, 1) == '<' && peek(s, 2) == '=')
    operator(s, 3, 125);
  else if (peek(s, 1) == '<')
    operator(s, 2, 126);
  else if (peek(s, 1) == '=')
    operator(s, 2, 127);
  else
    operator(s, 1, 128);
}

static void scan_greater(Scan *s) {
  if (peek(s, 1) == '>' && peek(s, 2) == '=')
    operator(s, 3, 129);
  else if (peek(s, 1) == '>')
    operator(s, 2, 130);
  else if (peek(s, 1) == '=')
    operator(s, 2, 131);
  else
    operator(s, 1, 132);
}

static void scan_dot(Scan *s) {
  if (peek(s, 1) == '.' && peek(s, 2) == '.')
    operator(s, 3, 133);
  else
    operator(s, 1, 134);
}

static void scan_operator(Scan *s) {
  int start = s->at;
  switch (peek(s, 0)) {
  case '+':
    scan_plus(s);
    return;
  case '-':
    scan_minus(s);
    return;
  case '*':
    scan_star(s);
    return;
  case '/':
    scan_slash(s);
    return;
  case '%':
    scan_percent(s);
    return;
  case '=':
    scan_equal(s);
    return;
  case '!':
    scan_bang(s);
    return;
  case '&':
    scan_and(s);
    return;
  case '|':
    scan_or(s);
    return;
  case '^':
    scan_caret(s);
    return;
  case '<':
    scan_less(s);
    return;
  case '>':
    scan_greater(s);
    return;
  case '.':
    scan_dot(s);
    return;
  case '(':
    operator(s, 1, 135);
    return;
  case ')':
    operator(s, 1, 136);
    return;
  case '{':
    operator(s, 1, 137);
    return;
  case '}':
    operator(s, 1, 138);
    return;
  case '[':
    operator(s, 1, 139);
    return;
  case ']':
    operator(s, 1, 140);
    return;
  case ';':
    operator(s, 1, 141);
    return;
  case ',':
    operator(s, 1, 142);
    return;
  case ':':
    operator(s, 1, 143);
    return;
  case '?':
    operator(s, 1, 144);
    return;
  case '~':
    operator(s, 1, 145);
    return;
  default:
    advance(s);
    add(s, TOKEN_ERROR, start, s->line, 0);
  }
}

// --- the whole text ---------------------------------------------------------

static void scan_one(Scan *s) {
  char c = peek(s, 0);
  if (is_letter(c))
    scan_word(s);
  else if (is_digit(c))
    scan_number(s);
  else if (c == '.' && is_digit(peek(s, 1)))
    scan_number(s);
  else if (c == '"')
    scan_quoted(s, '"', TOKEN_STRING);
  else if (c == '\'')
    scan_quoted(s, '\'', TOKEN_CHARACTER);
  else if (c == '#')
    scan_directive(s);
  else
    scan_operator(s);
}

int tokenize(const char *text, Token *out, int max) {
  Scan s = {text, 0, 1, out, 0, max};
  skip_blanks(&s);
  while (peek(&s, 0) != '\0' && s.n < s.max) {
    scan_one(&s);
    skip_blanks(&s);
  }
  return s.n;
}
