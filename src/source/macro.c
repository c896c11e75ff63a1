// Expands macros: see macro.h.
#include "source/macro.h"

#include <ctype.h>
#include <string.h>

#include "contract/contract_lex.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  EXPANDED_MAX = 64 << 10, // bytes
  NESTING_MAX = 32,
  FILES_MAX = 2000, // looked for
};

// --- definitions ------------------------------------------------------------

static void define(Macros *m, Macro d) {
  size_t n = strlen(d.name);
  uint64_t last;
  d.before = hashmap_get(&m->last, d.name, n, &last) ? (size_t)last + 1 : 0;
  hashmap_put(&m->last, d.name, n, m->items.len);
  array_push(&m->items, d);
}

static size_t skip_blanks(const char *s) { return strspn(s, " \t\\\r\n"); }

static size_t word_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '_')
    n++;
  return n;
}

// `s`: what follows "#define".
static void read_define(Macros *m, const char *s, uint32_t line) {
  s += skip_blanks(s);
  size_t n = word_length(s);
  Macro d = {.name = arena_strndup(&m->arena, s, n), .line = line};
  if (!n)
    return;
  s += n;
  const char *close = *s == '(' ? strchr(s, ')') : NULL;
  if (close) {
    d.params = arena_strndup(&m->arena, s + 1, (size_t)(close - s - 1));
    s = close + 1;
  }
  d.body = s + skip_blanks(s);
  define(m, d);
}

static bool read_file(Macros *m, const char *path);

enum { ABOVE = 4 }; // directories above that of the file

// Where include paths lead is not known here: most lead upwards.
static void look_for(Macros *m, const char *path, const char *name) {
  size_t n = (size_t)(path_base(path) - path);
  for (int i = 0; i <= ABOVE && n; i++) {
    char *beside = mem_printf("%.*s%s", (int)n, path, name);
    char *below = mem_printf("%.*sinclude/%s", (int)n, path, name);
    bool found = read_file(m, beside) || read_file(m, below);
    free(beside);
    free(below);
    if (found)
      return;
    do
      n--;
    while (n && path[n - 1] != '/');
  }
}

static void read_include(Macros *m, const char *path, const char *s) {
  s += skip_blanks(s);
  const char *end = *s == '"' ? strchr(s + 1, '"') : NULL;
  if (!end)
    return;
  char *name = mem_printf("%.*s", (int)(end - s - 1), s + 1);
  look_for(m, path, name);
  free(name);
}

// `s`: what follows the #, to the end of the last continued line.
static void read_directive(Macros *m, const char *path, const char *s,
                           size_t len, uint32_t line) {
  size_t n = word_length(s);
  bool defines = n == 6 && !memcmp(s, "define", 6);
  if (!defines && !(n == 7 && !memcmp(s, "include", 7)))
    return;
  char *rest = arena_strndup(&m->arena, s + n, len - n);
  if (defines)
    read_define(m, rest, line);
  else
    read_include(m, path, rest);
}

// Where the directive that begins at `s` ends.
static const char *directive_end(const char *s, const char *end) {
  for (;;) {
    const char *newline = memchr(s, '\n', (size_t)(end - s));
    if (!newline)
      return end;
    size_t back = newline > s && newline[-1] == '\r' ? 2 : 1;
    if (newline - s < (ptrdiff_t)back || newline[-(ptrdiff_t)back] != '\\')
      return newline;
    s = newline + 1;
  }
}

static uint32_t count_lines(const char *s, const char *end) {
  uint32_t n = 0;
  while ((s = memchr(s, '\n', (size_t)(end - s))))
    n++, s++;
  return n;
}

// Most lines are none: looked at line by line, not token by token.
static void read_text(Macros *m, const char *path, const char *text, size_t len,
                      bool included) {
  const char *end = text + len, *counted = text;
  uint32_t line = 1;
  for (const char *s = text; s < end;) {
    const char *hash = s + strspn(s, " \t"), *stop;
    if (*hash == '#') {
      stop = directive_end(hash, end);
      line += count_lines(counted, s);
      counted = s;
      hash += 1 + strspn(hash + 1, " \t");
      read_directive(m, path, hash, (size_t)(stop - hash), included ? 0 : line);
    } else {
      stop = memchr(s, '\n', (size_t)(end - s));
    }
    s = stop && stop < end ? stop + 1 : end;
  }
}

// True if it is there.
static bool read_file(Macros *m, const char *path) {
  Str text = {0};
  Err ignored;
  uint64_t seen;
  if (hashmap_get(&m->seen, path, strlen(path), &seen))
    return seen;
  bool found = m->seen.len < FILES_MAX && !fs_read(path, 0, &text, &ignored);
  hashmap_put(&m->seen, path, strlen(path), found);
  if (found)
    read_text(m, path, str_text(&text), text.len, true);
  str_release(&text);
  return found;
}

void macros_read(Macros *m, const char *path, const char *text, size_t len) {
  define(m, (Macro){"assert", "e", "((e) ? 0 : 1)", 0, 0});
  read_text(m, path, text, len, false);
}

void macros_release(Macros *m) {
  array_release(&m->items);
  hashmap_release(&m->last);
  hashmap_release(&m->seen);
  arena_release(&m->arena);
}

const Macro *macros_find(const Macros *m, const char *name, size_t len,
                         uint32_t line) {
  uint64_t at;
  if (!hashmap_get(&m->last, name, len, &at))
    return NULL;
  const Macro *d = &m->items.items[at];
  while (d->line > line && d->before)
    d = &m->items.items[d->before - 1];
  return d;
}

// --- expansion --------------------------------------------------------------

typedef struct {
  const Macros *macros;
  uint32_t line;
  const Macro *open[NESTING_MAX]; // being replaced
  size_t nopen;
  bool failed;
  Str *out;
} Expander;

typedef struct {
  const char *text;
  size_t len;
} Piece;
typedef ARRAY(Piece) Pieces;

static void add_piece(const char *text, const Token *from, const Token *to,
                      Pieces *out) {
  size_t start = from < to ? from->at : 0;
  size_t end = from < to ? to[-1].at + (size_t)to[-1].len : 0;
  array_push(out, (Piece){text + start, end - start});
}

// The arguments between `open` and its partner, which is returned; 0: there is
// none.
static size_t read_args(const char *text, const Tokens *t, size_t open,
                        Pieces *out) {
  size_t depth = 0;
  const Token *from = &t->items[open + 1];
  for (size_t i = open; i + 1 < t->len; i++) {
    char c = t->items[i].len == 1 ? text[t->items[i].at] : '\0';
    depth += c && strchr("([{", c) ? 1 : 0;
    depth -= c && strchr(")]}", c) ? 1 : 0;
    if (depth && !(depth == 1 && c == ','))
      continue;
    add_piece(text, from, &t->items[i], out);
    from = &t->items[i + 1];
    if (!depth)
      return i;
  }
  return 0;
}

// The parameter that this word is, or -1.
static int param_number(const Macro *d, const char *word, size_t len) {
  int n = 0;
  for (const char *p = d->params; p && *p; n++) {
    p += strspn(p, " \t,");
    size_t size = strcspn(p, ", \t");
    bool rest =
        !strncmp(p, "...", 3) && len == 11 && !memcmp(word, "__VA_ARGS__", 11);
    if (size && (rest || (size == len && !memcmp(p, word, len))))
      return n;
    p += size;
    p += strcspn(p, ",");
  }
  return -1;
}

// The body with its parameters replaced.
static void fill_in(const Macro *d, const Pieces *args, Str *out) {
  Tokens tokens = {0};
  contract_lex(d->body, strlen(d->body), &tokens);
  for (size_t i = 0; i + 1 < tokens.len; i++) {
    const Token *t = &tokens.items[i];
    int n = t->kind == TOK_WORD ? param_number(d, d->body + t->at, t->len) : -1;
    if (t->len == 1 && d->body[t->at] == '\\')
      continue; // the line goes on
    if (i && t->at > t[-1].at + t[-1].len)
      str_addc(out, ' ');
    if (n >= 0 && (size_t)n < args->len)
      str_addn(out, args->items[n].text, args->items[n].len);
    else
      str_addn(out, d->body + t->at, t->len);
  }
  array_release(&tokens);
}

static void expand(Expander *x, const char *text);

static bool is_open(const Expander *x, const Macro *d) {
  for (size_t i = 0; i < x->nopen; i++)
    if (x->open[i] == d)
      return true;
  return false;
}

static void replace(Expander *x, const Macro *d, const Pieces *args) {
  Str text = {0};
  // Pasting and quoting make tokens that are not in the text.
  if (strchr(d->body, '#') || x->nopen == NESTING_MAX ||
      x->out->len > EXPANDED_MAX) {
    x->failed = true;
    return;
  }
  fill_in(d, args, &text);
  x->open[x->nopen++] = d;
  expand(x, str_text(&text));
  x->nopen--;
  str_release(&text);
}

static const Macro *macro_at(const Expander *x, const char *text,
                             const Token *t) {
  const Macro *d = t->kind == TOK_WORD
                       ? macros_find(x->macros, text + t->at, t->len, x->line)
                       : NULL;
  bool called =
      text[t->at + t->len + strspn(text + t->at + t->len, " ")] == '(';
  return d && !is_open(x, d) && (!d->params || called) ? d : NULL;
}

static void expand(Expander *x, const char *text) {
  Tokens tokens = {0};
  contract_lex(text, strlen(text), &tokens);
  for (size_t i = 0; i + 1 < tokens.len && !x->failed; i++) {
    const Token *t = &tokens.items[i];
    const Macro *d = macro_at(x, text, t);
    Pieces args = {0};
    bool called = d && d->params;
    size_t close = called ? read_args(text, &tokens, i + 1, &args) : i;
    if (i && t->at > t[-1].at + t[-1].len)
      str_addc(x->out, ' ');
    if (called && !close)
      x->failed = true;
    else if (d)
      replace(x, d, &args);
    else
      str_addn(x->out, text + t->at, t->len);
    i = called && close ? close : i;
    array_release(&args);
  }
  array_release(&tokens);
}

bool macros_expand(const Macros *m, const char *text, uint32_t line, Str *out) {
  Expander x = {.macros = m, .line = line, .out = out};
  expand(&x, text);
  return !x.failed;
}
