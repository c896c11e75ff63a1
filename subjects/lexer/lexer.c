// lexer: prints the tokens of a small C-like language.
//
//   lexer [-bcs] [-t N] [FILE]
//
//   -b    no tokens, only errors        -c    comments too
//   -s    how many tokens of each kind  -t N  tab stops every N columns (8)
//
// One token a line: LINE:COLUMN KIND TEXT, with the value of a number, the
// length of a string or the code of a character behind it. Status: 0, 1 if
// there were errors, 2 if the arguments or the file are no good.
//
// A finite automaton does the work. `rules` says which characters lead from
// one state to the next, `finals` what a token is that stops in a state; the
// longest token that stops in some final state wins. What an automaton cannot
// say (keywords, ranges of numbers, escapes, pairs of brackets) is checked when
// the token is complete.

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32, LONGEST_KEYWORD = 8, BYTES = UCHAR_MAX + 1 };

// clang-format off
typedef enum {
  S_FAIL, S_START, S_BLANK, S_WORD,
  S_ZERO, S_OCTAL, S_DECIMAL, S_HEX_PREFIX, S_HEX, S_INT_SUFFIX, S_BAD_NUMBER,
  S_FRACTION, S_EXPONENT, S_EXPONENT_SIGN, S_EXPONENT_DIGITS,
  S_STRING, S_STRING_ESCAPE, S_STRING_END, S_CHAR, S_CHAR_ESCAPE, S_CHAR_END,
  S_SLASH, S_LINE_COMMENT, S_BLOCK, S_BLOCK_STAR, S_BLOCK_END,
  S_PLUS, S_MINUS, S_LESS, S_GREATER, S_AND, S_OR, S_DOT, S_TWO_DOTS,
  S_BEFORE_EQUALS, S_OPERATOR, // an operator that = may follow, a complete one
  S_PUNCTUATION, S_OPEN, S_CLOSE,
  STATES
} State;

typedef enum {
  K_NONE, K_BLANK, K_COMMENT, K_NAME, K_KEYWORD, K_INTEGER, K_FLOAT, K_STRING,
  K_CHAR, K_OPERATOR, K_PUNCTUATION, K_OPEN, K_CLOSE, K_ERROR,
  KINDS
} Kind;

static const char *const kind_names[KINDS] = {
  "none", "blank", "comment", "name", "keyword", "number", "float", "string",
  "char", "operator", "punct", "open", "close", "error",
};

// From a state, on a character of a set (a-z is a range, a leading ^ inverts)
// to a state. The first rule that fits counts.
static const struct {
  State from;
  const char *on;
  State to;
} rules[] = {
  {S_START, " \t\r\n", S_BLANK},       {S_BLANK, " \t\r\n", S_BLANK},
  {S_START, "a-zA-Z_", S_WORD},        {S_WORD, "a-zA-Z0-9_", S_WORD},

  {S_START, "0", S_ZERO},              {S_START, "1-9", S_DECIMAL},
  {S_ZERO, "xX", S_HEX_PREFIX},        {S_ZERO, "0-9", S_OCTAL},
  {S_OCTAL, "0-9", S_OCTAL},           {S_DECIMAL, "0-9", S_DECIMAL},
  {S_HEX_PREFIX, "0-9a-fA-F", S_HEX},  {S_HEX, "0-9a-fA-F", S_HEX},
  {S_ZERO, "uUlL", S_INT_SUFFIX},      {S_OCTAL, "uUlL", S_INT_SUFFIX},
  {S_DECIMAL, "uUlL", S_INT_SUFFIX},   {S_HEX, "uUlL", S_INT_SUFFIX},
  {S_ZERO, ".", S_FRACTION},           {S_OCTAL, ".", S_FRACTION},
  {S_DECIMAL, ".", S_FRACTION},        {S_DOT, "0-9", S_FRACTION},
  {S_FRACTION, "0-9", S_FRACTION},     {S_FRACTION, "eE", S_EXPONENT},
  {S_ZERO, "eE", S_EXPONENT},          {S_DECIMAL, "eE", S_EXPONENT},
  {S_EXPONENT, "+-", S_EXPONENT_SIGN}, {S_EXPONENT, "0-9", S_EXPONENT_DIGITS},
  {S_EXPONENT_SIGN, "0-9", S_EXPONENT_DIGITS},
  {S_EXPONENT_DIGITS, "0-9", S_EXPONENT_DIGITS},
  {S_ZERO, "a-zA-Z_", S_BAD_NUMBER},   {S_OCTAL, "a-zA-Z_", S_BAD_NUMBER},
  {S_HEX, "a-zA-Z_", S_BAD_NUMBER},    {S_DECIMAL, "a-zA-Z_", S_BAD_NUMBER},
  {S_FRACTION, "a-zA-Z_", S_BAD_NUMBER},
  {S_EXPONENT_DIGITS, "a-zA-Z_", S_BAD_NUMBER},
  {S_INT_SUFFIX, "a-zA-Z0-9_", S_BAD_NUMBER},
  {S_BAD_NUMBER, "a-zA-Z0-9_", S_BAD_NUMBER},

  {S_START, "\"", S_STRING},           {S_STRING, "\"", S_STRING_END},
  {S_STRING, "\\", S_STRING_ESCAPE},   {S_STRING, "^\n", S_STRING},
  {S_STRING_ESCAPE, "^\n", S_STRING},
  {S_START, "'", S_CHAR},              {S_CHAR, "'", S_CHAR_END},
  {S_CHAR, "\\", S_CHAR_ESCAPE},       {S_CHAR, "^\n", S_CHAR},
  {S_CHAR_ESCAPE, "^\n", S_CHAR},

  {S_START, "/", S_SLASH},             {S_SLASH, "/", S_LINE_COMMENT},
  {S_SLASH, "*", S_BLOCK},             {S_LINE_COMMENT, "^\n", S_LINE_COMMENT},
  {S_BLOCK, "*", S_BLOCK_STAR},        {S_BLOCK, "^*", S_BLOCK},
  {S_BLOCK_STAR, "*", S_BLOCK_STAR},   {S_BLOCK_STAR, "/", S_BLOCK_END},
  {S_BLOCK_STAR, "^*/", S_BLOCK},

  {S_START, "+", S_PLUS},              {S_PLUS, "+=", S_OPERATOR},
  {S_START, "-", S_MINUS},             {S_MINUS, "->=", S_OPERATOR},
  {S_START, "&", S_AND},               {S_AND, "&=", S_OPERATOR},
  {S_START, "|", S_OR},                {S_OR, "|=", S_OPERATOR},
  {S_START, "<", S_LESS},              {S_LESS, "<", S_BEFORE_EQUALS},
  {S_LESS, "=", S_OPERATOR},           {S_START, ">", S_GREATER},
  {S_GREATER, ">", S_BEFORE_EQUALS},   {S_GREATER, "=", S_OPERATOR},
  {S_START, "=!*%\\^", S_BEFORE_EQUALS},
  {S_BEFORE_EQUALS, "=", S_OPERATOR},  {S_SLASH, "=", S_OPERATOR},
  {S_START, ".", S_DOT},               {S_DOT, ".", S_TWO_DOTS},
  {S_TWO_DOTS, ".", S_OPERATOR},       {S_START, "~?", S_OPERATOR},

  {S_START, ";,:", S_PUNCTUATION},     {S_START, "([{", S_OPEN},
  {S_START, ")]}", S_CLOSE},
};

// What a token is that stops in a state; of errors also why.
static const struct {
  Kind kind;
  const char *problem;
} finals[STATES] = {
  [S_BLANK] = {K_BLANK, NULL},         [S_WORD] = {K_NAME, NULL},
  [S_ZERO] = {K_INTEGER, NULL},        [S_OCTAL] = {K_INTEGER, NULL},
  [S_DECIMAL] = {K_INTEGER, NULL},     [S_HEX] = {K_INTEGER, NULL},
  [S_INT_SUFFIX] = {K_INTEGER, NULL},
  [S_HEX_PREFIX] = {K_ERROR, "no digits behind 0x"},
  [S_BAD_NUMBER] = {K_ERROR, "letters in a number"},
  [S_FRACTION] = {K_FLOAT, NULL},      [S_EXPONENT_DIGITS] = {K_FLOAT, NULL},
  [S_EXPONENT] = {K_ERROR, "the exponent has no digits"},
  [S_EXPONENT_SIGN] = {K_ERROR, "the exponent has no digits"},
  [S_STRING] = {K_ERROR, "the string does not end"},
  [S_STRING_ESCAPE] = {K_ERROR, "the string does not end"},
  [S_STRING_END] = {K_STRING, NULL},   [S_CHAR_END] = {K_CHAR, NULL},
  [S_CHAR] = {K_ERROR, "the character does not end"},
  [S_CHAR_ESCAPE] = {K_ERROR, "the character does not end"},
  [S_LINE_COMMENT] = {K_COMMENT, NULL}, [S_BLOCK_END] = {K_COMMENT, NULL},
  [S_BLOCK] = {K_ERROR, "the comment does not end"},
  [S_BLOCK_STAR] = {K_ERROR, "the comment does not end"},
  [S_SLASH] = {K_OPERATOR, NULL},      [S_PLUS] = {K_OPERATOR, NULL},
  [S_MINUS] = {K_OPERATOR, NULL},      [S_LESS] = {K_OPERATOR, NULL},
  [S_GREATER] = {K_OPERATOR, NULL},    [S_AND] = {K_OPERATOR, NULL},
  [S_OR] = {K_OPERATOR, NULL},         [S_DOT] = {K_OPERATOR, NULL},
  [S_BEFORE_EQUALS] = {K_OPERATOR, NULL}, [S_OPERATOR] = {K_OPERATOR, NULL},
  [S_PUNCTUATION] = {K_PUNCTUATION, NULL},
  [S_OPEN] = {K_OPEN, NULL},           [S_CLOSE] = {K_CLOSE, NULL},
};
// clang-format on

// Sorted, for the binary search.
static const char *const keywords[] = {
    "break", "case", "char", "continue", "do",     "else",   "float", "for",
    "if",    "int",  "long", "return",   "sizeof", "struct", "void",  "while",
};

typedef struct {
  Kind kind;
  const char *text;
  int length;
  int line, column;
  const char *problem; // K_ERROR: what is wrong
  long value;          // of a number or character; length of a string
} Token;

typedef struct {
  const char *at, *end;
  int line, column, tab;
  bool errors_only, comments, summary;
  int counts[KINDS];
  int depth;
  Token open[MAX_DEPTH]; // the brackets that wait for their partners
} Lexer;

static unsigned char next_state[STATES][BYTES];

// --- The automaton ---

static bool in_set(const char *set, int c) {
  if (*set == '^')
    return c == '\0' || !in_set(set + 1, c);
  for (; *set; set++) {
    if (set[0] == '\\' && set[1]) {
      if (*++set == c)
        return true;
    } else if (set[1] == '-' && set[2]) {
      if (c >= set[0] && c <= set[2])
        return true;
      set += 2;
    } else if (*set == c) {
      return true;
    }
  }
  return false;
}

static void build_table(void) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    for (int c = 0; c < BYTES; c++)
      if (next_state[rules[i].from][c] == S_FAIL && in_set(rules[i].on, c))
        next_state[rules[i].from][c] = (unsigned char)rules[i].to;
}

// Moves line and column over the text of a token.
static void advance(Lexer *lexer, int length) {
  for (int i = 0; i < length; i++) {
    char c = *lexer->at++;
    if (c == '\n') {
      lexer->line++;
      lexer->column = 1;
    } else if (c == '\t') {
      int past = (lexer->column - 1) % lexer->tab;
      lexer->column += lexer->tab - past;
    } else {
      lexer->column++;
    }
  }
}

// Cuts the longest token off the input.
static Token scan(Lexer *lexer) {
  Token token = {.text = lexer->at,
                 .line = lexer->line,
                 .column = lexer->column,
                 .kind = K_ERROR,
                 .length = 1,
                 .problem = "stray character"};
  State state = S_START;
  for (const char *p = lexer->at; p < lexer->end; p++) {
    state = next_state[state][(unsigned char)*p];
    if (state == S_FAIL)
      break;
    if (finals[state].kind != K_NONE) {
      token.kind = finals[state].kind;
      token.problem = finals[state].problem;
      token.length = (int)(p + 1 - lexer->at);
    }
  }
  advance(lexer, token.length);
  return token;
}

// --- What the automaton cannot say ---

static void reject(Token *token, const char *problem) {
  token->kind = K_ERROR;
  token->problem = problem;
}

static void finish_name(Token *token) {
  char word[LONGEST_KEYWORD + 1];
  if (token->length > LONGEST_KEYWORD)
    return;
  memcpy(word, token->text, (size_t)token->length);
  word[token->length] = '\0';
  int low = 0, high = (int)(sizeof keywords / sizeof *keywords) - 1;
  while (low <= high) {
    int middle = (low + high) / 2;
    int order = strcmp(word, keywords[middle]);
    if (order == 0) {
      token->kind = K_KEYWORD;
      return;
    }
    if (order < 0)
      high = middle - 1;
    else
      low = middle + 1;
  }
}

static int digit_value(char c) {
  if (isdigit((unsigned char)c))
    return c - '0';
  if (isxdigit((unsigned char)c))
    return tolower((unsigned char)c) - 'a' + 10;
  return -1;
}

// The value of an integer; with the suffix u it may be twice as large.
static void finish_integer(Token *token) {
  const char *p = token->text, *end = p + token->length;
  int base = 10;
  if (token->length > 2 && tolower((unsigned char)p[1]) == 'x') {
    base = 16;
    p += 2;
  } else if (*p == '0') {
    base = 8;
  }
  long limit = INT_MAX;
  char suffix = (char)tolower((unsigned char)end[-1]);
  if (suffix == 'u')
    limit = UINT_MAX;
  if (suffix == 'u' || suffix == 'l')
    end--;
  for (; p < end; p++) {
    int digit = digit_value(*p);
    if (digit >= base) {
      reject(token, "digit 8 or 9 in an octal number");
      return;
    }
    token->value = token->value * base + digit;
    if (token->value > limit) {
      reject(token, "the number is too large");
      return;
    }
  }
}

// The code of the character at *p, which may be an escape; *p moves past it.
// -1 if there is no such escape.
static int read_char(const char **p) {
  int c = (unsigned char)*(*p)++;
  if (c != '\\')
    return c;
  static const char letters[] = "ntr0\\'\"", codes[] = "\n\t\r\0\\'\"";
  c = *(*p)++;
  if (c == 'x') {
    int code = 0, digits = 0;
    for (; digits < 2 && digit_value(**p) >= 0; digits++)
      code = 16 * code + digit_value(*(*p)++);
    return digits > 0 ? code : -1;
  }
  const char *found = c ? strchr(letters, c) : NULL;
  return found ? codes[found - letters] : -1;
}

// Strings and characters: the value is the length or the code.
static void finish_quoted(Token *token) {
  const char *p = token->text + 1, *end = token->text + token->length - 1;
  int length = 0, code = 0;
  while (p < end) {
    code = read_char(&p);
    if (code < 0) {
      reject(token, "unknown escape");
      return;
    }
    length++;
  }
  if (token->kind == K_STRING)
    token->value = length;
  else if (length != 1)
    reject(token, length ? "more than one character" : "no character");
  else
    token->value = code;
}

static void push_bracket(Lexer *lexer, Token *token) {
  if (lexer->depth == MAX_DEPTH) {
    reject(token, "brackets nested too deeply");
    return;
  }
  lexer->open[lexer->depth++] = *token;
}

static bool is_pair(char open, char close) {
  return (open == '(' && close == ')') || (open == '[' && close == ']') ||
         (open == '{' && close == '}');
}

static void pop_bracket(Lexer *lexer, Token *token) {
  if (lexer->depth == 0) {
    reject(token, "nothing to close");
    return;
  }
  const Token *open = &lexer->open[--lexer->depth];
  token->value = open->line;
  if (!is_pair(*open->text, *token->text))
    reject(token, "closes another bracket");
}

static void finish(Lexer *lexer, Token *token) {
  switch (token->kind) {
  case K_NAME:
    finish_name(token);
    break;
  case K_INTEGER:
    finish_integer(token);
    break;
  case K_STRING:
  case K_CHAR:
    finish_quoted(token);
    break;
  case K_OPEN:
    push_bracket(lexer, token);
    break;
  case K_CLOSE:
    pop_bracket(lexer, token);
    break;
  default:
    break;
  }
}

// --- Output ---

static void print_token(const Token *token) {
  printf("%d:%d %s ", token->line, token->column, kind_names[token->kind]);
  // A comment may have many lines: show the first.
  int length = 0;
  while (length < token->length && token->text[length] != '\n')
    length++;
  fwrite(token->text, 1, (size_t)length, stdout);
  switch (token->kind) {
  case K_INTEGER:
  case K_CHAR:
    printf(" = %ld", token->value);
    break;
  case K_STRING:
    printf(" length %ld", token->value);
    break;
  case K_CLOSE:
    if (token->value != token->line)
      printf(" from line %ld", token->value);
    break;
  case K_ERROR:
    printf(": %s", token->problem);
    break;
  default:
    break;
  }
  putchar('\n');
}

static bool is_shown(const Lexer *lexer, Kind kind) {
  if (kind == K_ERROR)
    return true;
  if (lexer->errors_only || kind == K_BLANK)
    return false;
  return kind != K_COMMENT || lexer->comments;
}

static void run(Lexer *lexer) {
  while (lexer->at < lexer->end) {
    Token token = scan(lexer);
    finish(lexer, &token);
    lexer->counts[token.kind]++;
    if (is_shown(lexer, token.kind))
      print_token(&token);
  }
  while (lexer->depth > 0) {
    Token *open = &lexer->open[--lexer->depth];
    reject(open, "is never closed");
    lexer->counts[K_ERROR]++;
    print_token(open);
  }
}

static void print_summary(const Lexer *lexer) {
  int total = 0;
  for (Kind kind = K_COMMENT; kind < KINDS; kind++) {
    if (lexer->counts[kind] > 0)
      printf("%s %d\n", kind_names[kind], lexer->counts[kind]);
    if (kind != K_COMMENT && kind != K_ERROR)
      total += lexer->counts[kind];
  }
  printf("tokens %d in %d lines\n", total,
         lexer->column > 1 ? lexer->line : lexer->line - 1);
}

// --- Command line and input ---

// The whole file; NUL-terminated, so that looking ahead needs no check.
static char *read_all(FILE *in, size_t *length) {
  size_t capacity = 256;
  char *text = malloc(capacity);
  *length = 0;
  while (text) {
    *length += fread(text + *length, 1, capacity - *length - 1, in);
    if (*length + 1 < capacity)
      break;
    capacity *= 2;
    char *bigger = realloc(text, capacity);
    if (!bigger)
      free(text);
    text = bigger;
  }
  if (text)
    text[*length] = '\0';
  return text;
}

static bool parse_options(Lexer *lexer, int argc, char **argv, int *first) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (strcmp(argv[i], "-t") == 0 && i + 1 < argc) {
      lexer->tab = atoi(argv[++i]);
      if (lexer->tab < 1 || lexer->tab > 16)
        return false;
      continue;
    }
    for (const char *o = argv[i] + 1; *o; o++) {
      if (*o == 'b')
        lexer->errors_only = true;
      else if (*o == 'c')
        lexer->comments = true;
      else if (*o == 's')
        lexer->summary = true;
      else
        return false;
    }
  }
  *first = i;
  return argc - i <= 1;
}

int main(int argc, char **argv) {
  Lexer lexer = {.line = 1, .column = 1, .tab = 8};
  int first;
  if (!parse_options(&lexer, argc, argv, &first)) {
    fputs("usage: lexer [-bcs] [-t N] [FILE]\n", stderr);
    return 2;
  }
  FILE *in = first < argc ? fopen(argv[first], "r") : stdin;
  size_t length = 0;
  char *source = in ? read_all(in, &length) : NULL;
  if (!source) {
    fprintf(stderr, "lexer: cannot read %s\n", argv[first]);
    return 2;
  }
  build_table();
  lexer.at = source;
  lexer.end = source + length;
  run(&lexer);
  if (lexer.summary)
    print_summary(&lexer);
  if (in != stdin)
    fclose(in);
  free(source);
  return lexer.counts[K_ERROR] > 0;
}
