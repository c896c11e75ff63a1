// tokens: reads a Lisp-like configuration language and prints its tokens.
//
//   tokens [-dey] [-m N] [FILE...]
//
//   -d    indent by bracket depth       -e    errors only
//   -y    list the symbols at the end   -m N  give up after N errors (20)
//
//   (listen :port 8080 :wait 30s :size 4k :share 3/4 :mask #xff :tls #t)
//   ; a comment   #| another, #| nested |# one |#   "a \"string\"\n"   '(a ,b)
//
// Numbers are printed as values: 30s as 30000 ms, 4k as 4096, 6/8 as 3/4. An
// error is a token of its own, and reading goes on where it makes sense: after
// the bad word, at the end of the line of an open string, at the bracket that
// fits. Status: 0, 1 if there were errors, 2 if the arguments are no good.
//
// Written by hand, one function for each kind of token, each with one character
// of look-ahead; the tokens form a list that is printed when all is read.

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD = 48, BUCKETS = 31, MAX_ERRORS = 20 };

typedef struct Token {
  struct Token *next;
  const char *kind;
  char *text; // owned
  int line, depth;
} Token;

typedef struct Symbol {
  struct Symbol *next;
  char *name; // owned
  int uses, first_line;
} Symbol;

// A bracket that waits for its partner.
typedef struct Open {
  struct Open *outer;
  int bracket, line;
} Open;

typedef struct {
  FILE *in;
  int line;
  int depth;
  Token *first, **last;
  Symbol *symbols[BUCKETS];
  Open *open;
  int errors, max_errors;
  bool indent, errors_only, list_symbols;
} Reader;

// --- Memory and characters ---

static void *allocate(size_t size) {
  void *block = malloc(size);
  if (!block) {
    fputs("tokens: out of memory\n", stderr);
    exit(2);
  }
  return block;
}

static char *copy_string(const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(allocate(size), text, size);
}

static int peek(Reader *reader) {
  int c = getc(reader->in);
  if (c != EOF)
    ungetc(c, reader->in);
  return c;
}

static int take(Reader *reader) {
  int c = getc(reader->in);
  if (c == '\n')
    reader->line++;
  return c;
}

static bool is_delimiter(int c) {
  return c == EOF || isspace(c) || strchr("()[]{}\";'`,", c) != NULL;
}

// --- The list of tokens ---

static void add_token(Reader *reader, const char *kind, const char *text,
                      int line) {
  Token *token = allocate(sizeof *token);
  token->next = NULL;
  token->kind = kind;
  token->text = copy_string(text);
  token->line = line;
  token->depth = reader->depth;
  *reader->last = token;
  reader->last = &token->next;
}

static void add_error(Reader *reader, int line, const char *problem,
                      const char *text) {
  char message[2 * MAX_WORD + 64];
  snprintf(message, sizeof message, "%s%s%.*s", problem, *text ? ": " : "",
           MAX_WORD, text);
  add_token(reader, "error", message, line);
  reader->errors++;
}

// --- Symbols ---

static unsigned hash(const char *name) {
  unsigned h = 5;
  for (; *name; name++)
    h = h * 33 + (unsigned char)*name;
  return h % BUCKETS;
}

static void count_symbol(Reader *reader, const char *name, int line) {
  Symbol **bucket = &reader->symbols[hash(name)];
  for (Symbol *symbol = *bucket; symbol; symbol = symbol->next) {
    if (strcmp(symbol->name, name) == 0) {
      symbol->uses++;
      return;
    }
  }
  Symbol *symbol = allocate(sizeof *symbol);
  symbol->name = copy_string(name);
  symbol->uses = 1;
  symbol->first_line = line;
  symbol->next = *bucket;
  *bucket = symbol;
}

// --- Numbers ---

typedef struct {
  const char *suffix;
  long factor;
  const char *unit; // of the value that is printed
} Unit;

static const Unit units[] = {
    {"ms", 1, " ms"},      {"s", 1000, " ms"}, {"m", 60000, " ms"},
    {"h", 3600000, " ms"}, {"k", 1024, ""},    {"M", 1024 * 1024, ""},
};

static bool looks_like_number(const char *word) {
  if (*word == '+' || *word == '-')
    word++;
  if (*word == '.')
    word++;
  return isdigit((unsigned char)*word);
}

static long divisor(long a, long b) {
  while (b != 0) {
    long rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// `rest` is what stands behind the digits of the integer `value`.
static void add_integer(Reader *reader, const char *word, long value,
                        const char *rest, int line) {
  char text[64];
  const char *unit = "";
  if (*rest) {
    size_t i = 0, count = sizeof units / sizeof *units;
    while (i < count && strcmp(units[i].suffix, rest) != 0)
      i++;
    if (i == count) {
      add_error(reader, line, "unknown unit", word);
      return;
    }
    if (labs(value) > INT_MAX / units[i].factor) {
      add_error(reader, line, "number too large", word);
      return;
    }
    value *= units[i].factor;
    unit = units[i].unit;
  }
  snprintf(text, sizeof text, "%ld%s", value, unit);
  add_token(reader, *unit ? "time" : "integer", text, line);
}

static void add_ratio(Reader *reader, const char *word, long above,
                      const char *below_text, int line) {
  char *end, text[64];
  errno = 0;
  long below = strtol(below_text, &end, 10);
  if (!isdigit((unsigned char)*below_text) || *end || errno) {
    add_error(reader, line, "bad ratio", word);
    return;
  }
  if (below == 0) {
    add_error(reader, line, "ratio by zero", word);
    return;
  }
  long common = divisor(labs(above), below);
  snprintf(text, sizeof text, "%ld/%ld", above / common, below / common);
  add_token(reader, "ratio", text, line);
}

static void add_number(Reader *reader, const char *word, int line) {
  char *end, text[64];
  errno = 0;
  long value = strtol(word, &end, 10);
  if (errno || value > INT_MAX || value < -INT_MAX) {
    add_error(reader, line, "number too large", word);
  } else if (*end == '/') {
    add_ratio(reader, word, value, end + 1, line);
  } else if (*end == '.' || *end == 'e') {
    double real = strtod(word, &end);
    if (*end) {
      add_error(reader, line, "bad number", word);
      return;
    }
    snprintf(text, sizeof text, "%g", real);
    add_token(reader, "real", text, line);
  } else {
    add_integer(reader, word, value, end, line);
  }
}

// --- Words: symbols, keywords, numbers ---

// Reads up to the next delimiter; false if the word is too long to be kept.
static bool read_word(Reader *reader, char word[MAX_WORD]) {
  size_t length = 0, seen = 0;
  while (!is_delimiter(peek(reader))) {
    int c = take(reader);
    if (length < MAX_WORD - 1)
      word[length++] = (char)c;
    seen++;
  }
  word[length] = '\0';
  return seen == length;
}

static void read_atom(Reader *reader) {
  char word[MAX_WORD];
  int line = reader->line;
  if (!read_word(reader, word)) {
    add_error(reader, line, "word too long", word);
  } else if (looks_like_number(word)) {
    add_number(reader, word, line);
  } else if (word[0] == ':') {
    if (word[1])
      add_token(reader, "keyword", word + 1, line);
    else
      add_error(reader, line, "keyword without name", "");
  } else {
    add_token(reader, "symbol", word, line);
    count_symbol(reader, word, line);
  }
}

// --- Behind #: booleans, characters, other bases, block comments ---

static void skip_block_comment(Reader *reader, int line) {
  int level = 1, last = 0;
  while (level > 0) {
    int c = take(reader);
    if (c == EOF) {
      add_error(reader, line, "comment does not end", "");
      return;
    }
    if (last == '#' && c == '|') {
      level++;
      c = 0;
    } else if (last == '|' && c == '#') {
      level--;
      c = 0;
    }
    last = c;
  }
}

// #\a, #\space, #\newline
static void read_character(Reader *reader, int line) {
  char word[MAX_WORD], text[16];
  take(reader);
  int c = take(reader);
  if (c == EOF) {
    add_error(reader, line, "no character", "");
    return;
  }
  word[0] = '\0';
  if (isalpha(c))
    read_word(reader, word);
  if (c == 's' && strcmp(word, "pace") == 0)
    c = ' ';
  else if (c == 'n' && strcmp(word, "ewline") == 0)
    c = '\n';
  else if (word[0]) {
    add_error(reader, line, "unknown character name", word);
    return;
  }
  snprintf(text, sizeof text, "%d", c);
  add_token(reader, "char", text, line);
}

static void add_based(Reader *reader, const char *digits, int base, int line) {
  char *end, text[32];
  errno = 0;
  long value = strtol(digits, &end, base);
  if (!isxdigit((unsigned char)*digits) || *end)
    add_error(reader, line, "bad digits", digits);
  else if (errno || value > INT_MAX)
    add_error(reader, line, "number too large", digits);
  else {
    snprintf(text, sizeof text, "%ld", value);
    add_token(reader, "integer", text, line);
  }
}

static void read_hash(Reader *reader) {
  char word[MAX_WORD];
  int line = reader->line;
  take(reader);
  if (peek(reader) == '|') {
    take(reader);
    skip_block_comment(reader, line);
    return;
  }
  if (peek(reader) == '\\') {
    read_character(reader, line);
    return;
  }
  read_word(reader, word);
  switch (word[0]) {
  case 'x':
    add_based(reader, word + 1, 16, line);
    return;
  case 'o':
    add_based(reader, word + 1, 8, line);
    return;
  case 'b':
    add_based(reader, word + 1, 2, line);
    return;
  case 't':
  case 'f':
    if (word[1] == '\0') {
      add_token(reader, "bool", word[0] == 't' ? "true" : "false", line);
      return;
    }
  }
  add_error(reader, line, "unknown # word", word);
}

// --- Strings ---

static int hex_digit(int c) {
  if (isdigit(c))
    return c - '0';
  return isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

// The character that an escape stands for, or -1.
static int read_escape(Reader *reader) {
  switch (take(reader)) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case '\\':
    return '\\';
  case '"':
    return '"';
  case 'x': {
    int code = 0;
    for (int i = 0; i < 2; i++) {
      int digit = hex_digit(peek(reader));
      if (digit < 0)
        return -1;
      take(reader);
      code = 16 * code + digit;
    }
    return code;
  }
  default:
    return -1;
  }
}

// Appends a character of a string, control characters as ^X.
static char *append(char *text, size_t *length, size_t *capacity, int c) {
  if (*length + 3 > *capacity) {
    char *bigger = allocate(2 * *capacity);
    memcpy(bigger, text, *length);
    free(text);
    text = bigger;
    *capacity *= 2;
  }
  if (iscntrl(c)) {
    text[(*length)++] = '^';
    c = (c + 64) % 128;
  }
  text[(*length)++] = (char)c;
  return text;
}

static void read_string(Reader *reader) {
  size_t length = 0, capacity = 16;
  char *text = allocate(capacity);
  const char *problem = NULL;
  int line = reader->line;
  take(reader);
  while (peek(reader) != '"') {
    if (peek(reader) == EOF || peek(reader) == '\n') {
      problem = "string does not end";
      break;
    }
    int c = take(reader);
    if (c == '\\') {
      c = peek(reader) == '\n' ? -1 : read_escape(reader);
      if (c < 0) {
        problem = "unknown escape";
        c = '?';
      }
    }
    text = append(text, &length, &capacity, c);
  }
  if (peek(reader) == '"')
    take(reader);
  text[length] = '\0';
  if (problem)
    add_error(reader, line, problem, text);
  else
    add_token(reader, "string", text, line);
  free(text);
}

// --- Brackets ---

static void open_bracket(Reader *reader) {
  Open *open = allocate(sizeof *open);
  open->line = reader->line;
  open->bracket = take(reader);
  open->outer = reader->open;
  add_token(reader, "open", (char[]){(char)open->bracket, '\0'}, open->line);
  reader->open = open;
  reader->depth++;
}

static void pop_open(Reader *reader) {
  Open *inner = reader->open;
  reader->open = inner->outer;
  reader->depth--;
  free(inner);
}

static void report_unclosed(Reader *reader) {
  char bracket[] = {(char)reader->open->bracket, '\0'};
  add_error(reader, reader->open->line, "never closed", bracket);
}

static int partner(int close) {
  return close == ')' ? '(' : close == ']' ? '[' : '{';
}

// A closing bracket also closes, with an error, what is open inside its
// partner; without partner it is ignored.
static void close_bracket(Reader *reader) {
  int line = reader->line;
  int close = take(reader);
  char text[] = {(char)close, '\0'};
  const Open *open = reader->open;
  while (open && open->bracket != partner(close))
    open = open->outer;
  if (!open) {
    add_error(reader, line, "nothing to close", text);
    return;
  }
  while (reader->open != open) {
    report_unclosed(reader);
    pop_open(reader);
  }
  pop_open(reader);
  add_token(reader, "close", text, line);
}

// --- The reader ---

static void read_comma(Reader *reader) {
  int line = reader->line;
  take(reader);
  if (peek(reader) == '@') {
    take(reader);
    add_token(reader, "splice", ",@", line);
  } else {
    add_token(reader, "unquote", ",", line);
  }
}

static void skip_line(Reader *reader) {
  while (peek(reader) != EOF && peek(reader) != '\n')
    take(reader);
}

static void skip_byte(Reader *reader) {
  char text[8];
  snprintf(text, sizeof text, "%d", peek(reader));
  add_error(reader, reader->line, "stray byte", text);
  take(reader);
}

static void read_token(Reader *reader) {
  int c = peek(reader);
  switch (c) {
  case ';':
    skip_line(reader);
    break;
  case '"':
    read_string(reader);
    break;
  case '#':
    read_hash(reader);
    break;
  case '(':
  case '[':
  case '{':
    open_bracket(reader);
    break;
  case ')':
  case ']':
  case '}':
    close_bracket(reader);
    break;
  case '\'':
  case '`':
    add_token(reader, c == '`' ? "quasi" : "quote", (char[]){(char)c, '\0'},
              reader->line);
    take(reader);
    break;
  case ',':
    read_comma(reader);
    break;
  default:
    if (isspace(c))
      take(reader);
    else if (isprint(c))
      read_atom(reader);
    else
      skip_byte(reader);
  }
}

// Reads one file to its end; false if there were too many errors.
static bool read_file(Reader *reader, FILE *in) {
  reader->in = in;
  reader->line = 1;
  while (peek(reader) != EOF) {
    read_token(reader);
    if (reader->errors >= reader->max_errors) {
      add_token(reader, "stop", "too many errors", reader->line);
      return false;
    }
  }
  while (reader->open) {
    report_unclosed(reader);
    pop_open(reader);
  }
  return true;
}

// --- Output ---

static void print_tokens(const Reader *reader) {
  for (const Token *token = reader->first; token; token = token->next) {
    bool is_error = strcmp(token->kind, "error") == 0;
    if (reader->errors_only && !is_error)
      continue;
    printf("%d ", token->line);
    if (reader->indent)
      printf("%*s", 2 * token->depth, "");
    printf("%s %s\n", token->kind, token->text);
  }
}

static int by_name(const void *a, const void *b) {
  const Symbol *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static void print_symbols(const Reader *reader) {
  size_t count = 0, i = 0;
  for (int b = 0; b < BUCKETS; b++)
    for (const Symbol *s = reader->symbols[b]; s; s = s->next)
      count++;
  const Symbol **all = allocate((count + 1) * sizeof *all);
  for (int b = 0; b < BUCKETS; b++)
    for (const Symbol *s = reader->symbols[b]; s; s = s->next)
      all[i++] = s;
  qsort(all, count, sizeof *all, by_name);
  for (i = 0; i < count; i++)
    printf("%s: %d, line %d\n", all[i]->name, all[i]->uses, all[i]->first_line);
  free(all);
}

static void release(Reader *reader) {
  while (reader->first) {
    Token *token = reader->first;
    reader->first = token->next;
    free(token->text);
    free(token);
  }
  for (int b = 0; b < BUCKETS; b++) {
    while (reader->symbols[b]) {
      Symbol *symbol = reader->symbols[b];
      reader->symbols[b] = symbol->next;
      free(symbol->name);
      free(symbol);
    }
  }
  while (reader->open)
    pop_open(reader);
}

// --- Command line ---

// Returns the index of the first file, or -1.
static int parse_options(Reader *reader, int argc, char **argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (strcmp(argv[i], "-d") == 0)
      reader->indent = true;
    else if (strcmp(argv[i], "-e") == 0)
      reader->errors_only = true;
    else if (strcmp(argv[i], "-y") == 0)
      reader->list_symbols = true;
    else if (strcmp(argv[i], "-m") == 0 && i + 1 < argc)
      reader->max_errors = atoi(argv[++i]);
    else
      return -1;
  }
  return reader->max_errors > 0 ? i : -1;
}

int main(int argc, char **argv) {
  Reader reader = {.max_errors = MAX_ERRORS};
  reader.last = &reader.first;
  int first = parse_options(&reader, argc, argv);
  if (first < 0) {
    fputs("usage: tokens [-dey] [-m N] [FILE...]\n", stderr);
    return 2;
  }
  bool go_on = first < argc || read_file(&reader, stdin);
  for (int i = first; i < argc && go_on; i++) {
    FILE *in = fopen(argv[i], "r");
    if (!in) {
      add_error(&reader, 0, "cannot read", argv[i]);
      continue;
    }
    go_on = read_file(&reader, in);
    fclose(in);
  }
  print_tokens(&reader);
  if (reader.list_symbols)
    print_symbols(&reader);
  release(&reader);
  return reader.errors > 0;
}
