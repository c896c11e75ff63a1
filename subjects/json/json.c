// json: checks, formats and queries JSON documents.
//
//   json [-i WIDTH] [-a] [-s] [-d] COMMAND [PATH] [FILE]
//
//   check         prints `valid`, or the place and cause of the first error
//   format        prints the document with line breaks and indentation
//   compact       prints it without any blanks
//   get PATH      prints every value that the path selects, one a line
//   keys PATH     prints the keys of the selected objects
//   stat          counts values by type, and how deep they are nested
//
// Reads FILE or standard input. A path is a sequence of steps: .name or
// ["name"] for a member, [N] for an item (from the end if negative), [N:M]
// for a range of items, [*] or .* for all, ..name for a member at any depth.
// -i sets the indentation (2), -a prints only ASCII, -s sorts the keys, -d
// rejects duplicate keys, of which otherwise the last one counts. Status: 0,
// 1 for a wrong document or no match, 2 for wrong usage.

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32, MAX_STEPS = 16, MAX_INDENT = 8, TYPES = 6 };

typedef enum {
  J_NULL, J_BOOL, J_NUMBER, J_STRING, J_ARRAY, J_OBJECT
} Type;

typedef struct Value Value;
struct Value {
  Type type;
  char *text;    // a string decoded to UTF-8, or as written: true, 1e5
  Value **items; // of an array or object
  char **keys;   // of an object
  int n, room;
};

static struct {
  int indent;
  bool ascii, sort, reject_duplicates;
} options = {.indent = 2};

static void *resize(void *old, size_t count, size_t size) {
  void *p = realloc(old, count * size);
  if (!p) {
    printf("error: out of memory\n");
    exit(1);
  }
  return p;
}

// ---- growing strings ----

typedef struct {
  char *s; // always ends with a zero
  size_t n, room;
} Buffer;

static void buffer_add(Buffer *b, char c) {
  if (b->n + 1 >= b->room) {
    b->room = b->room ? 2 * b->room : 16;
    b->s = resize(b->s, b->room, 1);
  }
  b->s[b->n++] = c;
  b->s[b->n] = 0;
}

// Adds a character as UTF-8.
static void buffer_add_code(Buffer *b, unsigned code) {
  if (code < 0x80) {
    buffer_add(b, (char)code);
    return;
  }
  if (code < 0x800) {
    buffer_add(b, (char)(0xC0 | code >> 6));
  } else {
    if (code < 0x10000) {
      buffer_add(b, (char)(0xE0 | code >> 12));
    } else {
      buffer_add(b, (char)(0xF0 | code >> 18));
      buffer_add(b, (char)(0x80 | (code >> 12 & 0x3F)));
    }
    buffer_add(b, (char)(0x80 | (code >> 6 & 0x3F)));
  }
  buffer_add(b, (char)(0x80 | (code & 0x3F)));
}

static char *buffer_take(Buffer *b) {
  if (!b->s)
    b->s = resize(NULL, 1, 1), b->s[0] = 0;
  return b->s;
}

// Decodes one character of UTF-8 and moves *s behind it; returns 0 if it is
// malformed: cut off, longer than needed, a surrogate or too large.
static unsigned decode_utf8(const char **s) {
  const unsigned char *p = (const unsigned char *)*s;
  static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
  int more = p[0] < 0x80   ? 0
             : p[0] < 0xC0 ? -1
             : p[0] < 0xE0 ? 1
             : p[0] < 0xF0 ? 2
             : p[0] < 0xF8 ? 3
                           : -1;
  if (more < 0)
    return 0;
  unsigned code = more == 0 ? p[0] : p[0] & (0x3Fu >> more);
  for (int i = 1; i <= more; i++) {
    if ((p[i] & 0xC0) != 0x80)
      return 0;
    code = code << 6 | (p[i] & 0x3F);
  }
  if (code < least[more] || code > 0x10FFFF || (code >> 11) == 0x1B)
    return 0;
  *s += more + 1;
  return code;
}

// ---- values ----

static Value *value_new(Type type) {
  Value *v = resize(NULL, 1, sizeof *v);
  *v = (Value){.type = type};
  return v;
}

static void value_free(Value *v) {
  if (!v)
    return;
  for (int i = 0; i < v->n; i++) {
    value_free(v->items[i]);
    if (v->keys)
      free(v->keys[i]);
  }
  free(v->items);
  free(v->keys);
  free(v->text);
  free(v);
}

// Appends an item; `key` is NULL in an array.
static void value_add(Value *v, char *key, Value *item) {
  if (v->n == v->room) {
    v->room = v->room ? 2 * v->room : 4;
    v->items = resize(v->items, (size_t)v->room, sizeof *v->items);
    if (key)
      v->keys = resize(v->keys, (size_t)v->room, sizeof *v->keys);
  }
  if (key)
    v->keys[v->n] = key;
  v->items[v->n++] = item;
}

// The index of a member, or -1.
static int value_find(const Value *v, const char *key) {
  for (int i = 0; i < v->n; i++)
    if (strcmp(v->keys[i], key) == 0)
      return i;
  return -1;
}

// ---- parser ----

typedef struct {
  const char *start, *at;
  int depth;
  bool failed;
} Parser;

// Reports the first error with its line and column. Returns NULL for callers
// that have no value.
static Value *parse_error(Parser *p, const char *format, ...) {
  int line = 1, column = 1;
  va_list args;
  if (p->failed)
    return NULL;
  p->failed = true;
  for (const char *s = p->start; s < p->at; s++) {
    column++;
    if (*s == '\n') {
      line++;
      column = 1;
    }
  }
  printf("%d:%d: ", line, column);
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n");
  return NULL;
}

static void skip_space(Parser *p) {
  while (*p->at && strchr(" \t\r\n", *p->at))
    p->at++;
}

static bool accept(Parser *p, char c) {
  skip_space(p);
  if (*p->at != c)
    return false;
  p->at++;
  return true;
}

// Reads the four digits of a \u escape; p->at is at the first.
static unsigned parse_hex4(Parser *p) {
  unsigned code = 0;
  for (int i = 0; i < 4; i++) {
    int c = tolower((unsigned char)*p->at);
    if (!isxdigit(c)) {
      parse_error(p, "four hexadecimal digits expected");
      return '?';
    }
    code = code * 16 + (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
    p->at++;
  }
  return code;
}

// A \u escape; one outside the basic plane is written as two surrogates.
static void parse_unicode(Parser *p, Buffer *b) {
  unsigned code = parse_hex4(p);
  if (code >= 0xDC00 && code <= 0xDFFF)
    parse_error(p, "second surrogate without a first");
  if (code >= 0xD800 && code <= 0xDBFF) {
    if (p->at[0] != '\\' || p->at[1] != 'u') {
      parse_error(p, "second surrogate expected");
      return;
    }
    p->at += 2;
    unsigned second = parse_hex4(p);
    if (second < 0xDC00 || second > 0xDFFF)
      parse_error(p, "second surrogate expected");
    code = 0x10000 + ((code - 0xD800) << 10) + ((second - 0xDC00) & 0x3FF);
  }
  if (code == 0)
    parse_error(p, "zero character in a string");
  buffer_add_code(b, code);
}

static void parse_escape(Parser *p, Buffer *b) {
  char c = *p->at;
  switch (c) {
  case 'b': c = '\b'; break;
  case 'f': c = '\f'; break;
  case 'n': c = '\n'; break;
  case 'r': c = '\r'; break;
  case 't': c = '\t'; break;
  case '"':
  case '\\':
  case '/': break;
  case 'u':
    p->at++;
    parse_unicode(p, b);
    return;
  default:
    parse_error(p, "unknown escape");
    return;
  }
  p->at++;
  buffer_add(b, c);
}

// The text of a string; p->at is behind the opening quote.
static char *parse_text(Parser *p) {
  Buffer b = {0};
  while (!p->failed && *p->at != '"') {
    if (*p->at == 0) {
      parse_error(p, "string without end");
    } else if ((unsigned char)*p->at < 0x20) {
      parse_error(p, "control character in a string");
    } else if (*p->at == '\\') {
      p->at++;
      parse_escape(p, &b);
    } else {
      unsigned code = decode_utf8(&p->at);
      if (code == 0)
        parse_error(p, "malformed UTF-8");
      buffer_add_code(&b, code);
    }
  }
  if (!p->failed)
    p->at++;
  return buffer_take(&b);
}

static void skip_digits(Parser *p) {
  if (!isdigit((unsigned char)*p->at))
    parse_error(p, "digit expected");
  while (isdigit((unsigned char)*p->at))
    p->at++;
}

static char *copy_text(const char *from, const char *to) {
  size_t n = (size_t)(to - from);
  char *text = resize(NULL, n + 1, 1);
  memcpy(text, from, n);
  text[n] = 0;
  return text;
}

static Value *parse_number(Parser *p) {
  const char *start = p->at;
  if (*p->at == '-')
    p->at++;
  if (*p->at == '0' && isdigit((unsigned char)p->at[1]))
    return parse_error(p, "leading zero");
  skip_digits(p);
  if (*p->at == '.') {
    p->at++;
    skip_digits(p);
  }
  if (*p->at == 'e' || *p->at == 'E') {
    p->at++;
    if (*p->at == '+' || *p->at == '-')
      p->at++;
    skip_digits(p);
  }
  if (p->failed)
    return NULL;
  Value *v = value_new(J_NUMBER);
  v->text = copy_text(start, p->at);
  return v;
}

static Value *parse_word(Parser *p) {
  const char *start = p->at;
  while (isalpha((unsigned char)*p->at))
    p->at++;
  char *word = copy_text(start, p->at);
  Value *v = NULL;
  if (strcmp(word, "null") == 0)
    v = value_new(J_NULL);
  else if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
    v = value_new(J_BOOL);
  if (v) {
    v->text = word;
    return v;
  }
  p->at = start;
  parse_error(p, "unknown word `%.20s`", word);
  free(word);
  return NULL;
}

static Value *parse_value(Parser *p);

static Value *parse_array(Parser *p) {
  Value *v = value_new(J_ARRAY);
  if (accept(p, ']'))
    return v;
  do {
    Value *item = parse_value(p);
    if (item)
      value_add(v, NULL, item);
  } while (!p->failed && accept(p, ','));
  if (!p->failed && !accept(p, ']'))
    parse_error(p, "`,` or `]` expected");
  return v;
}

// Adds a member that was read; a later duplicate replaces an earlier one.
static void add_member(Parser *p, Value *object, char *key, Value *item) {
  int old = value_find(object, key);
  if (old < 0) {
    value_add(object, key, item);
    return;
  }
  if (options.reject_duplicates)
    parse_error(p, "duplicate key `%s`", key);
  value_free(object->items[old]);
  object->items[old] = item;
  free(key);
}

static Value *parse_object(Parser *p) {
  Value *v = value_new(J_OBJECT);
  if (accept(p, '}'))
    return v;
  do {
    if (!accept(p, '"')) {
      parse_error(p, "key expected");
      break;
    }
    char *key = parse_text(p);
    if (!p->failed && !accept(p, ':'))
      parse_error(p, "`:` expected");
    Value *item = p->failed ? NULL : parse_value(p);
    if (item)
      add_member(p, v, key, item);
    else
      free(key);
  } while (!p->failed && accept(p, ','));
  if (!p->failed && !accept(p, '}'))
    parse_error(p, "`,` or `}` expected");
  return v;
}

// Any value; NULL or an incomplete one after an error.
static Value *parse_value(Parser *p) {
  Value *v;
  skip_space(p);
  char c = *p->at;
  if (p->depth == MAX_DEPTH && (c == '[' || c == '{'))
    return parse_error(p, "nested too deeply");
  p->depth++;
  if (accept(p, '[')) {
    v = parse_array(p);
  } else if (accept(p, '{')) {
    v = parse_object(p);
  } else if (accept(p, '"')) {
    v = value_new(J_STRING);
    v->text = parse_text(p);
  } else if (c == '-' || isdigit((unsigned char)c)) {
    v = parse_number(p);
  } else if (isalpha((unsigned char)c)) {
    v = parse_word(p);
  } else {
    v = parse_error(p, c ? "value expected" : "unexpected end");
  }
  p->depth--;
  return v;
}

// The document, or NULL after an error has been reported.
static Value *parse_document(const char *text) {
  Parser p = {.start = text, .at = text};
  Value *v = parse_value(&p);
  skip_space(&p);
  if (!p.failed && *p.at)
    parse_error(&p, "text behind the document");
  if (p.failed) {
    value_free(v);
    return NULL;
  }
  return v;
}

// ---- output ----

static void print_escaped(unsigned code) {
  switch (code) {
  case '"': printf("\\\""); return;
  case '\\': printf("\\\\"); return;
  case '\b': printf("\\b"); return;
  case '\f': printf("\\f"); return;
  case '\n': printf("\\n"); return;
  case '\r': printf("\\r"); return;
  case '\t': printf("\\t"); return;
  }
  if (code >= 0x10000) {
    code -= 0x10000;
    printf("\\u%04x", 0xD800 + (code >> 10));
    code = 0xDC00 + (code & 0x3FF);
  }
  printf("\\u%04x", code);
}

static void print_string(const char *s) {
  putchar('"');
  while (*s) {
    const char *start = s;
    unsigned code = decode_utf8(&s);
    if (code < 0x20 || code == '"' || code == '\\' ||
        (options.ascii && code > 0x7E))
      print_escaped(code);
    else
      printf("%.*s", (int)(s - start), start);
  }
  putchar('"');
}

static const Value *sorting; // the object whose members are being sorted

static int compare_members(const void *a, const void *b) {
  return strcmp(sorting->keys[*(const int *)a],
                sorting->keys[*(const int *)b]);
}

// The order in which to print the members; the caller frees it.
static int *member_order(const Value *v) {
  int *order = resize(NULL, (size_t)v->n + 1, sizeof *order);
  for (int i = 0; i < v->n; i++)
    order[i] = i;
  sorting = v;
  if (v->keys && options.sort)
    qsort(order, (size_t)v->n, sizeof *order, compare_members);
  return order;
}

static void print_break(int indent) {
  putchar('\n');
  for (int i = 0; i < indent; i++)
    putchar(' ');
}

// Prints a value; a negative indentation means in one line.
static void print_value(const Value *v, int indent) {
  if (v->type == J_STRING) {
    print_string(v->text);
    return;
  }
  if (v->type != J_ARRAY && v->type != J_OBJECT) {
    printf("%s", v->text);
    return;
  }
  bool broken = indent >= 0 && v->n > 0;
  int inner = broken ? indent + options.indent : -1;
  int *order = member_order(v);
  putchar(v->type == J_ARRAY ? '[' : '{');
  for (int i = 0; i < v->n; i++) {
    if (i > 0)
      putchar(',');
    if (broken)
      print_break(inner);
    if (v->type == J_OBJECT) {
      print_string(v->keys[order[i]]);
      printf(broken ? ": " : ":");
    }
    print_value(v->items[order[i]], inner);
  }
  if (broken)
    print_break(indent);
  putchar(v->type == J_ARRAY ? ']' : '}');
  free(order);
}

// ---- paths ----

typedef enum { S_MEMBER, S_DEEP, S_INDEX, S_RANGE, S_ALL } StepKind;

typedef struct {
  StepKind kind;
  char *name;     // of a member
  int from, to;   // of an index or range
  bool open;      // a range without upper limit
} Step;

typedef struct {
  Step step[MAX_STEPS];
  int n;
} Path;

typedef void Visit(const Value *v);

static void path_release(Path *path) {
  for (int i = 0; i < path->n; i++)
    free(path->step[i].name);
  path->n = 0;
}

// Reads a number with a sign; false if there is none.
static bool scan_int(const char **s, int *value) {
  char *end;
  if (!isdigit((unsigned char)(*s)[**s == '-']))
    return false;
  long n = strtol(*s, &end, 10);
  if (n > 1000000 || n < -1000000)
    return false;
  *value = (int)n;
  *s = end;
  return true;
}

// Reads what is between brackets; returns the place behind or NULL.
static const char *scan_bracket(const char *s, Step *step) {
  if (*s == '"') {
    const char *end = strchr(s + 1, '"');
    if (!end)
      return NULL;
    step->kind = S_MEMBER;
    step->name = copy_text(s + 1, end);
    s = end + 1;
  } else if (*s == '*') {
    step->kind = S_ALL;
    s++;
  } else {
    bool number = scan_int(&s, &step->from);
    step->kind = S_INDEX;
    if (*s == ':') {
      s++;
      step->kind = S_RANGE;
      step->open = !scan_int(&s, &step->to);
    } else if (!number) {
      return NULL;
    }
  }
  return *s == ']' ? s + 1 : NULL;
}

// Reads a name behind one or two points; returns the place behind or NULL.
static const char *scan_name(const char *s, Step *step) {
  const char *end = s;
  while (isalnum((unsigned char)*end) || *end == '_' || *end == '-')
    end++;
  if (step->kind == S_MEMBER && *s == '*') {
    step->kind = S_ALL;
    return s + 1;
  }
  if (end == s)
    return NULL;
  step->name = copy_text(s, end);
  return end;
}

// False if the path is malformed. A single point is the whole document.
static bool path_parse(Path *path, const char *s) {
  path->n = 0;
  if (strcmp(s, ".") == 0)
    return true;
  while (s && *s) {
    if (path->n == MAX_STEPS)
      return false;
    Step *step = &path->step[path->n++];
    *step = (Step){.kind = S_MEMBER};
    if (*s == '[') {
      s = scan_bracket(s + 1, step);
    } else if (*s == '.') {
      s++;
      if (*s == '.') {
        step->kind = S_DEEP;
        s++;
      }
      s = scan_name(s, step);
    } else {
      return false;
    }
  }
  return s && path->n > 0;
}

static int select_values(const Value *v, const Step *step, int left, Visit *f);

// The items from..to - 1; negative limits count from the end.
static int select_range(const Value *v, const Step *step, int left, Visit *f) {
  int found = 0;
  int from = step->from < 0 ? step->from + v->n : step->from;
  int to = step->to < 0 ? step->to + v->n : step->to;
  if (from < 0)
    from = 0;
  if (step->open || to > v->n)
    to = v->n;
  for (int i = from; i < to; i++)
    found += select_values(v->items[i], step + 1, left - 1, f);
  return found;
}

// The members of that name at any depth, outer ones first.
static int select_deep(const Value *v, const Step *step, int left, Visit *f) {
  int found = 0;
  int member = v->type == J_OBJECT ? value_find(v, step->name) : -1;
  if (member >= 0)
    found += select_values(v->items[member], step + 1, left - 1, f);
  for (int i = 0; i < v->n; i++)
    found += select_deep(v->items[i], step, left, f);
  return found;
}

// Visits what `left` steps select from v; returns how many there are.
static int select_values(const Value *v, const Step *step, int left, Visit *f) {
  int i = -1;
  if (left == 0) {
    f(v);
    return 1;
  }
  if (step->kind == S_DEEP)
    return select_deep(v, step, left, f);
  if (step->kind == S_RANGE && v->type == J_ARRAY)
    return select_range(v, step, left, f);
  if (step->kind == S_ALL) {
    int found = 0;
    for (int j = 0; j < v->n; j++)
      found += select_values(v->items[j], step + 1, left - 1, f);
    return found;
  }
  if (step->kind == S_MEMBER && v->type == J_OBJECT)
    i = value_find(v, step->name);
  else if (step->kind == S_INDEX && v->type == J_ARRAY)
    i = step->from < 0 ? step->from + v->n : step->from;
  if (i < 0 || i >= v->n)
    return 0;
  return select_values(v->items[i], step + 1, left - 1, f);
}

// ---- commands ----

static void visit_print(const Value *v) {
  print_value(v, -1);
  putchar('\n');
}

static void visit_keys(const Value *v) {
  int *order = member_order(v);
  for (int i = 0; i < v->n && v->type == J_OBJECT; i++)
    printf("%s\n", v->keys[order[i]]);
  free(order);
}

static int run_select(const Value *v, const char *text, Visit *f) {
  Path path;
  int status = 0;
  if (!path_parse(&path, text)) {
    printf("error: bad path: %s\n", text);
    status = 2;
  } else if (select_values(v, path.step, path.n, f) == 0) {
    printf("no match\n");
    status = 1;
  }
  path_release(&path);
  return status;
}

typedef struct {
  int count[TYPES];
  int depth;   // of the deepest value
  int longest; // string, in characters
  int widest;  // array or object, in items
} Stat;

static int text_length(const char *s) {
  int n = 0;
  while (*s) {
    decode_utf8(&s);
    n++;
  }
  return n;
}

static void collect(Stat *stat, const Value *v, int depth) {
  stat->count[v->type]++;
  if (depth > stat->depth)
    stat->depth = depth;
  if (v->type == J_STRING && text_length(v->text) > stat->longest)
    stat->longest = text_length(v->text);
  if (v->n > stat->widest)
    stat->widest = v->n;
  for (int i = 0; i < v->n; i++)
    collect(stat, v->items[i], depth + 1);
}

static void run_stat(const Value *v) {
  static const char *const names[TYPES] = {"null",   "boolean", "number",
                                           "string", "array",   "object"};
  Stat stat = {0};
  collect(&stat, v, 1);
  for (int i = 0; i < TYPES; i++)
    if (stat.count[i] > 0)
      printf("%s %d\n", names[i], stat.count[i]);
  printf("depth %d longest %d widest %d\n", stat.depth, stat.longest,
         stat.widest);
}

static int run_command(const Value *v, const char *command, const char *path) {
  if (strcmp(command, "get") == 0)
    return run_select(v, path, visit_print);
  if (strcmp(command, "keys") == 0)
    return run_select(v, path, visit_keys);
  if (strcmp(command, "check") == 0)
    printf("valid\n");
  else if (strcmp(command, "stat") == 0)
    run_stat(v);
  else {
    print_value(v, strcmp(command, "format") == 0 ? 0 : -1);
    putchar('\n');
  }
  return 0;
}

// The whole file; NULL if it cannot be read. A zero byte would end the text
// early, so it is made a control character.
static char *read_all(const char *name) {
  FILE *in = name ? fopen(name, "rb") : stdin;
  if (!in)
    return NULL;
  Buffer b = {0};
  for (int c; (c = getc(in)) != EOF;)
    buffer_add(&b, (char)(c ? c : 1));
  if (name)
    fclose(in);
  return buffer_take(&b);
}

static int usage(void) {
  printf("usage: json [-i WIDTH] [-a] [-s] [-d] COMMAND [PATH] [FILE]\n");
  return 2;
}

// Reads the options; returns the index of the command, or 0 if they are wrong.
static int read_options(int argc, char **argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (strcmp(argv[i], "-a") == 0)
      options.ascii = true;
    else if (strcmp(argv[i], "-s") == 0)
      options.sort = true;
    else if (strcmp(argv[i], "-d") == 0)
      options.reject_duplicates = true;
    else if (strcmp(argv[i], "-i") == 0 && i + 1 < argc) {
      const char *width = argv[++i];
      if (!scan_int(&width, &options.indent) || *width ||
          options.indent < 0 || options.indent > MAX_INDENT)
        return 0;
    } else
      return 0;
  }
  return i < argc ? i : 0;
}

int main(int argc, char **argv) {
  static const char *const plain[] = {"check", "format", "compact", "stat"};
  int at = read_options(argc, argv);
  if (at == 0)
    return usage();
  const char *command = argv[at++], *path = NULL;
  bool known = false;
  for (int i = 0; i < 4; i++)
    known = known || strcmp(command, plain[i]) == 0;
  if (!known) {
    if ((strcmp(command, "get") && strcmp(command, "keys")) || at == argc)
      return usage();
    path = argv[at++];
  }
  if (argc > at + 1)
    return usage();
  const char *file = at < argc ? argv[at] : NULL;
  char *text = read_all(file);
  if (!text) {
    printf("error: cannot read %s\n", file);
    return 2;
  }
  Value *v = parse_document(text);
  int status = v ? run_command(v, command, path) : 1;
  value_free(v);
  free(text);
  return status;
}
