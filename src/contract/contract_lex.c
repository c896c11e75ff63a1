// Cuts C source into tokens: see contract_lex.h.
#include "contract/contract_lex.h"

#include <ctype.h>
#include <string.h>

typedef struct {
  const char *text;
  size_t at, end;
  uint32_t line;
  size_t line_start; // col = at - line_start + 1
  bool annotation;   // inside one: '@' is blank
  bool fresh_line;   // nothing but blanks so far on this line
  Tokens *out;
} Lexer;

static char peek(const Lexer *x, size_t ahead) {
  return x->at + ahead < x->end ? x->text[x->at + ahead] : '\0';
}

static void advance(Lexer *x, size_t n) {
  for (; n && x->at < x->end; n--) {
    if (x->text[x->at++] == '\n') {
      x->line++;
      x->line_start = x->at;
      x->fresh_line = true;
    }
  }
}

static Token here(const Lexer *x, TokenKind kind) {
  return (Token){kind, (uint32_t)x->at, 0, x->line,
                 (uint32_t)(x->at - x->line_start + 1)};
}

static void push(Lexer *x, TokenKind kind, size_t len) {
  Token t = here(x, kind);
  t.len = (uint32_t)len;
  advance(x, len);
  array_push(x->out, t);
  x->fresh_line = false;
}

static bool is_word_start(char c) {
  return isalpha((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static bool is_word(char c) {
  return is_word_start(c) || isdigit((unsigned char)c);
}

static size_t word_length(const Lexer *x, size_t from) {
  size_t n = from;
  while (is_word(peek(x, n)))
    n++;
  return n;
}

// 0..n is a range, 0.5 a number.
static size_t number_length(const Lexer *x) {
  size_t n = 1;
  for (char c; (c = peek(x, n)); n++) {
    bool sign = (c == '+' || c == '-') && strchr("eEpP", peek(x, n - 1)) &&
                !(peek(x, 0) == '0' && strchr("xX", peek(x, 1)) &&
                  strchr("eE", peek(x, n - 1)));
    bool dot = c == '.' && peek(x, n + 1) != '.' && peek(x, n - 1) != '.';
    if (!is_word(c) && !sign && !dot)
      break;
  }
  return n;
}

// Up to the closing quote, or the end of the line if there is none.
static size_t quoted_length(const Lexer *x) {
  char quote = peek(x, 0);
  size_t n = 1;
  for (char c; (c = peek(x, n)) && c != quote && c != '\n'; n++)
    if (c == '\\' && peek(x, n + 1))
      n++;
  return peek(x, n) == quote ? n + 1 : n;
}

// The comment that starts here; a line comment without its newline.
static size_t comment_length(const Lexer *x) {
  const char *from = x->text + x->at;
  size_t left = x->end - x->at, n = 2;
  if (from[1] == '/') {
    while (n < left && (from[n] != '\n' || from[n - 1] == '\\'))
      n++;
    return n;
  }
  while (n < left && !(from[n - 1] == '*' && from[n] == '/' && n > 2))
    n++;
  return n < left ? n + 1 : left;
}

static bool is_comment(const Lexer *x) {
  return peek(x, 0) == '/' && (peek(x, 1) == '*' || peek(x, 1) == '/');
}

// A whole directive with its continued lines; comments in it may span lines.
static size_t directive_length(Lexer *x) {
  Lexer probe = *x;
  while (probe.at < probe.end && peek(&probe, 0) != '\n') {
    if (is_comment(&probe))
      probe.at += comment_length(&probe);
    else if (peek(&probe, 0) == '"' || peek(&probe, 0) == '\'')
      probe.at += quoted_length(&probe);
    else
      probe.at += peek(&probe, 0) == '\\' && peek(&probe, 1) ? 2 : 1;
  }
  return (probe.at < probe.end ? probe.at : probe.end) - x->at;
}

static size_t mark_length(const Lexer *x) {
  static const char *const marks[] = {
      "<==>", "==>", "<<=", ">>=", "...", "->", "++", "--", "<<",
      ">>",   "<=",  ">=",  "==",  "!=",  "&&", "||", "^^", "+=",
      "-=",   "*=",  "/=",  "%=",  "&=",  "|=", "^=", "..", "::"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    size_t n = strlen(marks[i]);
    if (x->end - x->at >= n && !memcmp(x->text + x->at, marks[i], n))
      return n;
  }
  return 1;
}

static void lex_comment(Lexer *x) {
  size_t n = comment_length(x);
  if (!x->annotation && peek(x, 2) == '@')
    push(x, TOK_ANNOTATION, n);
  else
    advance(x, n);
}

static void lex_one(Lexer *x) {
  char c = peek(x, 0);
  if (isspace((unsigned char)c) || (x->annotation && c == '@') || !c)
    advance(x, 1);
  else if (is_comment(x))
    lex_comment(x);
  else if (c == '#' && x->fresh_line && !x->annotation)
    push(x, TOK_DIRECTIVE, directive_length(x));
  else if (is_word_start(c))
    push(x, TOK_WORD, word_length(x, 1));
  else if (c == '\\' && is_word_start(peek(x, 1)))
    push(x, TOK_SLASHED, word_length(x, 1));
  else if (isdigit((unsigned char)c) ||
           (c == '.' && isdigit((unsigned char)peek(x, 1))))
    push(x, TOK_NUMBER, number_length(x));
  else if (c == '"' || c == '\'')
    push(x, TOK_TEXT, quoted_length(x));
  else
    push(x, TOK_MARK, mark_length(x));
}

static void lex_all(Lexer *x) {
  while (x->at < x->end)
    lex_one(x);
  array_push(x->out, here(x, TOK_END));
}

void contract_lex(const char *text, size_t len, Tokens *out) {
  Lexer x = {
      .text = text, .end = len, .line = 1, .fresh_line = true, .out = out};
  lex_all(&x);
}

void contract_lex_annotation(const char *text, Token whole, Tokens *out) {
  size_t end = whole.at + (size_t)whole.len;
  if (whole.len >= 5 && text[whole.at + 1] == '*')
    end -= 2;
  Lexer x = {.text = text,
             .at = whole.at + (size_t)(whole.len < 3 ? whole.len : 3),
             .end = end,
             .line = whole.line,
             .line_start = whole.at + 1 - (size_t)whole.col,
             .annotation = true,
             .out = out};
  lex_all(&x);
}

bool token_is(const char *text, const Token *t, const char *word) {
  size_t n = strlen(word);
  return t->len == n && !memcmp(text + t->at, word, n);
}

bool token_is_one_of(const char *text, const Token *t,
                     const char *const *words) {
  while (*words && !token_is(text, t, *words))
    words++;
  return *words;
}

bool token_starts(const char *text, const Token *t, const char *prefix) {
  size_t n = strlen(prefix);
  return t->len >= n && !memcmp(text + t->at, prefix, n);
}

bool token_is_keyword(const char *text, const Token *t) {
  static const char *const words[] = {
      "auto",     "break",      "case",       "char",          "const",
      "continue", "default",    "do",         "double",        "else",
      "enum",     "extern",     "float",      "for",           "goto",
      "if",       "inline",     "int",        "long",          "register",
      "restrict", "return",     "short",      "signed",        "sizeof",
      "static",   "struct",     "switch",     "typedef",       "union",
      "unsigned", "void",       "volatile",   "while",         "_Alignas",
      "_Alignof", "_Atomic",    "_Bool",      "_Noreturn",     "_Static_assert",
      "typeof",   "__typeof__", "__typeof",   "__attribute__", "__attribute",
      "__asm__",  "asm",        "__asm",      "__declspec",    "__extension__",
      "bool",     "__inline",   "__inline__", "__restrict",    "_Thread_local",
      NULL};
  return t->kind == TOK_WORD && token_is_one_of(text, t, words);
}
