// Texts that a regular expression should match: the pattern is read and written
// out several times, each time with other choices (repetitions, alternatives,
// characters). Look-arounds, back references and the like are not supported:
// the text then does not match, which the caller finds out by trying.
//
//   /^(\d{3})-[a-z]+$/      000-a, 111-bb, 222-ccc, ...
#include <ctype.h>
#include <string.h>

#include "explore/solve/branch_solver.h"
#include "util/str.h"

enum { TEXT_MOST = 512, NESTED_MOST = 8, STEPS_MOST = 20000 };

typedef struct {
  const char *at, *end;
  unsigned variant; // which choices
  int nested, steps;
  bool hard;
  Str *out; // NULL: only reading
} Reader;

static void alternatives(Reader *r);

static bool more(const Reader *r) { return r->at < r->end && !r->hard; }

static void put(Reader *r, char c) {
  if (r->out && r->out->len < TEXT_MOST)
    str_addc(r->out, c);
}

// --- characters -------------------------------------------------------------

static void add_range(bool set[256], int from, int to) {
  for (int c = from; c <= to && c < 256; c++)
    set[c] = true;
}

// \d and its like; false: the letter stands for a character.
static bool add_escape(bool set[256], char c) {
  bool own[256] = {false};
  switch (tolower((unsigned char)c)) {
  case 'd':
    add_range(own, '0', '9');
    break;
  case 'w':
    add_range(own, '0', '9');
    add_range(own, 'A', 'Z');
    add_range(own, 'a', 'z');
    own['_'] = true;
    break;
  case 's':
    own[' '] = own['\t'] = own['\n'] = true;
    break;
  default:
    return false;
  }
  for (int i = 32; i < 127; i++)
    set[i] |= own[i] != (bool)isupper((unsigned char)c);
  return true;
}

static int escaped(char c) {
  switch (c) {
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  default:
    return (unsigned char)c;
  }
}

// [[:alpha:]]; the reader stands behind "[:".
static void add_named(Reader *r, bool set[256]) {
  static const struct {
    const char *name;
    int (*is)(int);
  } names[] = {{"alpha", isalpha}, {"digit", isdigit},  {"alnum", isalnum},
               {"space", isspace}, {"upper", isupper},  {"lower", islower},
               {"punct", ispunct}, {"xdigit", isxdigit}};
  const char *close = memmem(r->at, (size_t)(r->end - r->at), ":]", 2);
  if (!close) {
    r->hard = true;
    return;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int c = 32; c < 127; c++)
      if (strlen(names[i].name) == (size_t)(close - r->at) &&
          !memcmp(names[i].name, r->at, (size_t)(close - r->at)))
        set[c] |= names[i].is(c) != 0;
  r->at = close + 2;
}

// One member of a class, or the first of a range: -1: a set was added.
static int read_member(Reader *r, bool set[256]) {
  char c = *r->at++;
  if (c == '[' && more(r) && *r->at == ':') {
    r->at++;
    add_named(r, set);
    return -1;
  }
  if (c != '\\' || !more(r))
    return (unsigned char)c;
  c = *r->at++;
  return add_escape(set, c) ? -1 : escaped(c);
}

static void read_class(Reader *r, bool set[256]) {
  bool negated = more(r) && *r->at == '^';
  r->at += negated;
  for (bool first = true; more(r) && (*r->at != ']' || first); first = false) {
    int from = read_member(r, set), to = from;
    if (from >= 0 && r->end - r->at >= 2 && r->at[0] == '-' &&
        r->at[1] != ']') {
      r->at++;
      to = read_member(r, set);
    }
    if (from >= 0)
      add_range(set, from, to < from ? from : to);
  }
  if (!more(r))
    r->hard = true;
  else
    r->at++;
  for (int c = 0; negated && c < 256; c++)
    set[c] = c >= 32 && c < 127 && !set[c];
}

// One of the set: letters and digits first, another for each variant.
static void put_member(Reader *r, const bool set[256]) {
  static const char order[] = "a1AbcZ2defgB345hijklmnopqrstuvwxyz67890"
                              "CDEFGHIJKLMNOPQRSTUVWXY_-.@ ,:;/!#$%&()*+<=>?"
                              "[]^`{|}~'\"\\\n\t\r";
  char fit[sizeof order];
  size_t n = 0;
  for (const char *p = order; *p; p++)
    if (set[(unsigned char)*p])
      fit[n++] = *p;
  if (n)
    put(r, fit[r->variant % (n < 4 ? n : 4)]);
  else
    r->hard = true;
}

// --- structure --------------------------------------------------------------

// Skips what follows "(?" up to where the group's content begins; false: it is
// none that can be written out.
static bool open_special(Reader *r) {
  if (r->end - r->at < 2 || r->at[0] != '?')
    return true;
  if (r->at[1] == ':') {
    r->at += 2;
    return true;
  }
  const char *p = r->at + 1 + (r->at[1] == 'P');
  if (p < r->end && *p == '<' && p + 1 < r->end && p[1] != '=' && p[1] != '!') {
    const char *close = memchr(p, '>', (size_t)(r->end - p));
    r->at = close ? close + 1 : r->end;
    return close;
  }
  return false;
}

static void atom(Reader *r) {
  bool set[256] = {false};
  char c = *r->at++;
  if (r->steps++ > STEPS_MOST)
    r->hard = true;
  switch (c) {
  case '(':
    if (!open_special(r) || r->nested >= NESTED_MOST) {
      r->hard = true;
      return;
    }
    r->nested++;
    alternatives(r);
    r->nested--;
    if (more(r) && *r->at == ')')
      r->at++;
    else
      r->hard = true;
    return;
  case '[':
    read_class(r, set);
    put_member(r, set);
    return;
  case '.':
    add_range(set, 32, 126);
    put_member(r, set);
    return;
  case '^':
  case '$':
    return;
  case '\\':
    if (!more(r)) {
      r->hard = true;
      return;
    }
    c = *r->at++;
    if (add_escape(set, c))
      put_member(r, set);
    else if (!strchr("AzZbBG", c))
      put(r, (char)escaped(c));
    return;
  default:
    put(r, c);
  }
}

static unsigned read_number(Reader *r) {
  unsigned n = 0;
  while (more(r) && isdigit((unsigned char)*r->at) && n < 1000)
    n = n * 10 + (unsigned)(*r->at++ - '0');
  return n;
}

static bool read_braces(Reader *r, unsigned *least, unsigned *most) {
  const char *start = r->at;
  r->at++;
  if (more(r) && isdigit((unsigned char)*r->at)) {
    *least = *most = read_number(r);
    if (more(r) && *r->at == ',') {
      r->at++;
      *most = more(r) && isdigit((unsigned char)*r->at) ? read_number(r) : 1000;
    }
    if (more(r) && *r->at == '}') {
      r->at++;
      return true;
    }
  }
  r->at = start;
  return false;
}

static void read_repeat(Reader *r, unsigned *least, unsigned *most) {
  *least = *most = 1;
  if (!more(r))
    return;
  switch (*r->at) {
  case '*':
    *least = 0;
    *most = 1000;
    break;
  case '+':
    *most = 1000;
    break;
  case '?':
    *least = 0;
    break;
  case '{':
    if (!read_braces(r, least, most))
      return;
    r->at--;
    break;
  default:
    return;
  }
  r->at++;
  if (more(r) && (*r->at == '?' || *r->at == '+'))
    r->at++;
}

static unsigned times(const Reader *r, unsigned least, unsigned most) {
  static const unsigned extra[EXAMPLES_MOST] = {0, 1, 2, 7, 11, 19};
  unsigned n = least + extra[r->variant];
  if (!r->variant && !least && most > 1)
    n = 1;
  return n < most ? n : most;
}

// The atom is read once without writing, to see how often it is wanted.
static void piece(Reader *r) {
  const char *start = r->at;
  Str *out = r->out;
  unsigned least, most;
  r->out = NULL;
  atom(r);
  r->out = out;
  const char *end = r->at;
  read_repeat(r, &least, &most);
  const char *after = r->at;
  for (unsigned n = out ? times(r, least, most) : 0; n && !r->hard; n--) {
    r->at = start;
    atom(r);
    if (r->at != end)
      r->hard = true;
  }
  r->at = after;
}

static void alternatives(Reader *r) {
  Str *out = r->out;
  size_t before = out ? out->len : 0;
  for (unsigned n = 0;; n++) {
    bool mine = n <= r->variant && out;
    if (mine && out->len > before) { // another alternative instead
      out->len = before;
      out->data[before] = '\0';
    }
    r->out = mine ? out : NULL;
    while (more(r) && *r->at != '|' && *r->at != ')')
      piece(r);
    if (!more(r) || *r->at != '|')
      break;
    r->at++;
  }
  r->out = out;
}

static bool find_body(PhpValue p, Reader *r) {
  static const char open[] = "([{<", close[] = ")]}>";
  if (p.n < 2 || !*p.s)
    return false;
  const char *pair = strchr(open, *p.s);
  char last = pair ? close[pair - open] : *p.s;
  const char *end = memrchr(p.s + 1, last, p.n - 1);
  r->at = p.s + 1;
  r->end = end;
  return end;
}

size_t pattern_examples(PhpValue pattern, PhpValue *out, Arena *arena) {
  size_t n = 0;
  for (unsigned variant = 0; variant < EXAMPLES_MOST; variant++) {
    Str text = {0};
    Reader r = {.variant = variant, .out = &text};
    if (pattern.type == VALUE_STRING && find_body(pattern, &r)) {
      alternatives(&r);
      if (!r.hard)
        out[n++] = php_string(arena_strndup(arena, str_text(&text), text.len),
                              text.len);
    }
    str_release(&text);
  }
  return n;
}
