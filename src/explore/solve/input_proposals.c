// Proposals: from the value a term needs to the value an input needs, one
// operator at a time, with the other operands unchanged.
//
//   strtolower(trim(GET.s)) == 'admin'     GET.s = "admin"
//   'v' . GET.s == 'vx'                    GET.s = "x"
//   (int)GET.n * 2 > 10                    GET.n = "5", "6", ...
//
// Proposals may be wrong: the caller tries them.
#include <math.h>
#include <string.h>

#include "explore/solve/branch_solver.h"
#include "php/ask.h"
#include "util/str.h"

enum {
  PROPOSALS_MOST = 64,
  DEPTH_MOST = 40,
  STEPS_MOST = 2000, // of one proposal: a term may be shared many times
  LENGTH_MOST = 4096
};

typedef struct {
  const BranchSolver *s;
  InputChanges *out;
  int depth, steps;
} Maker;

static void want_truth(Maker *m, uint32_t n, bool outcome);
static void want_value(Maker *m, uint32_t n, PhpValue v);
static void want_other(Maker *m, uint32_t n);

static const PhpTerm *term_of(const Maker *m, uint32_t n) {
  return &m->s->sh->terms[n];
}

static PhpValue value_of(const Maker *m, uint32_t n) {
  return term_eval(m->s->ev, n);
}

// May this term be looked into?
static bool may(Maker *m, uint32_t n) {
  return n && m->depth && m->steps++ < STEPS_MOST &&
         m->out->len < PROPOSALS_MOST && term_support(m->s->ev, n);
}

static PhpValue text_of(const Maker *m, uint32_t n) {
  return php_to_string(value_of(m, n), m->s->arena);
}

// --- texts ------------------------------------------------------------------

static PhpValue copy(const Maker *m, const char *s, size_t n) {
  return php_string(arena_strndup(m->s->arena, s, n), n);
}

static PhpValue literal(const char *s) { return php_string(s, strlen(s)); }

static PhpValue join(const Maker *m, PhpValue a, PhpValue b) {
  char *s = arena_alloc(m->s->arena, a.n + b.n + 1);
  memcpy(s, a.s, a.n);
  memcpy(s + a.n, b.s, b.n);
  return php_string(s, a.n + b.n);
}

static PhpValue part(PhpValue v, size_t from, size_t n) {
  from = from < v.n ? from : v.n;
  return php_string(v.s + from, n < v.n - from ? n : v.n - from);
}

// `v` made `n` bytes long: cut, or more of its last byte.
static PhpValue resize(const Maker *m, PhpValue v, size_t n) {
  n = n < LENGTH_MOST ? n : LENGTH_MOST;
  char *s = arena_alloc(m->s->arena, n + 1);
  memset(s, v.n ? v.s[v.n - 1] : 'a', n);
  memcpy(s, v.s, v.n < n ? v.n : n);
  return php_string(s, n);
}

// --- inputs -----------------------------------------------------------------

static void add_change(Maker *m, uint32_t var, PhpValue v) {
  const PhpTerm *t = term_of(m, var);
  if (!input_is_free(t->name, m->s->session) || m->out->len >= PROPOSALS_MOST)
    return;
  if (v.type == VALUE_UNKNOWN)
    return;
  if (v.type == VALUE_TRUE || v.type == VALUE_FALSE)
    v = literal(v.type == VALUE_TRUE ? "1" : "");
  if (v.type != VALUE_NULL) {
    v = php_to_string(v, m->s->arena);
    if (v.n > LENGTH_MOST || memchr(v.s, '\0', v.n))
      return;
    v = copy(m, v.s, v.n);
  }
  array_push(m->out, (InputChange){var, v});
}

// A plausible value for a field of that name.
static PhpValue guess(const Maker *m, const char *name) {
  const char *key = strchr(name, '.');
  return literal(ask_guess(key ? key + 1 : name, false, m->s->arena));
}

static void other_input(Maker *m, uint32_t n) {
  PhpValue now = value_of(m, n);
  add_change(m, n, guess(m, term_of(m, n)->name));
  int64_t i;
  double d;
  if (now.type == VALUE_STRING &&
      php_numeric(now.s, now.n, true, &i, &d) == VALUE_INT && i < INT64_MAX)
    add_change(m, n, php_int(i + 1));
  if (now.type == VALUE_STRING)
    add_change(m, n, join(m, now, literal("x")));
  add_change(m, n, literal("1"));
  add_change(m, n, literal(""));
  add_change(m, n, php_null());
}

// --- comparisons ------------------------------------------------------------

static void want_near(Maker *m, uint32_t n, PhpValue bound) {
  PhpValue v = php_to_number(bound);
  if (bound.type == VALUE_STRING && v.type == VALUE_UNKNOWN) {
    want_value(m, n, bound);
    want_value(m, n, join(m, bound, literal("a")));
    want_value(m, n, part(bound, 0, bound.n ? bound.n - 1 : 0));
    want_value(m, n, literal("~"));
    return;
  }
  if (v.type == VALUE_FLOAT && fabs(v.d) < 1e15) {
    want_value(m, n, v);
    want_value(m, n, php_int((int64_t)floor(v.d)));
    want_value(m, n, php_int((int64_t)floor(v.d) + 1));
    want_value(m, n, php_int((int64_t)floor(v.d) - 1));
  } else if (v.type == VALUE_INT && v.i > INT64_MIN + 100 &&
             v.i < INT64_MAX - 100) {
    want_value(m, n, v);
    want_value(m, n, php_int(v.i + 1));
    want_value(m, n, php_int(v.i - 1));
    want_value(m, n, php_int(v.i + 10));
    want_value(m, n, php_int(v.i - 10));
  }
}

static void want_equal(Maker *m, uint32_t a, uint32_t b, bool equal) {
  if (equal) {
    want_value(m, a, value_of(m, b));
    want_value(m, b, value_of(m, a));
  } else {
    want_other(m, a);
    want_other(m, b);
  }
}

static void want_in(Maker *m, const PhpTerm *t, bool found) {
  uint32_t list = t->args[1];
  if (!found)
    want_other(m, t->args[0]);
  for (; list && term_of(m, list)->op == TERM_LIST;
       list = term_of(m, list)->args[0]) {
    uint32_t item = term_of(m, list)->args[1];
    if (found)
      want_value(m, t->args[0], value_of(m, item));
    if (found)
      want_value(m, item, value_of(m, t->args[0]));
    else
      want_other(m, item);
  }
}

static void want_match(Maker *m, const PhpTerm *t, bool found) {
  PhpValue examples[EXAMPLES_MOST];
  if (!found) {
    PhpValue now = text_of(m, t->args[1]);
    want_value(m, t->args[1], literal(""));
    want_value(m, t->args[1], literal("?"));
    want_value(m, t->args[1], join(m, now, literal("?")));
    want_other(m, t->args[1]);
    return;
  }
  size_t n = pattern_examples(text_of(m, t->args[0]), examples, m->s->arena);
  for (size_t i = 0; i < n; i++)
    want_value(m, t->args[1], examples[i]);
}

static void want_part(Maker *m, const PhpTerm *t, bool found) {
  PhpValue in = text_of(m, t->args[0]), what = text_of(m, t->args[1]);
  if (!found) {
    want_other(m, t->args[0]);
    want_value(m, t->args[0], literal(""));
    want_other(m, t->args[1]);
    return;
  }
  want_value(m, t->args[0], what);
  want_value(m, t->args[0],
             t->op == TERM_STARTS ? join(m, what, in) : join(m, in, what));
  want_value(m, t->args[1], in);
}

static void want_class(Maker *m, const PhpTerm *t, bool is) {
  static const struct {
    TermOp op;
    const char *yes, *also, *no;
  } classes[] = {{TERM_IS_NUMERIC, "1", "12", "x"},
                 {TERM_NUMBERLIKE, "1", "2", "x"},
                 {TERM_DIGITS, "1", "1234", "x"},
                 {TERM_LETTERS, "a", "Abcdef", "1"},
                 {TERM_ALNUM, "a", "Abc123", "-"},
                 {TERM_UPPERS, "A", "ABCDEF", "a"},
                 {TERM_LOWERS, "a", "abcdef", "A"},
                 {TERM_BLANKS, " ", "  ", "a"},
                 {TERM_XDIGITS, "a", "0123456789abcdef", "g"}};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    if (classes[i].op != t->op)
      continue;
    want_value(m, t->args[0], literal(is ? classes[i].yes : classes[i].no));
    if (is)
      want_value(m, t->args[0], literal(classes[i].also));
  }
}

// A call without a model: values that made it true or false before, and values
// that such functions usually accept.
static void want_opaque(Maker *m, const PhpTerm *t, bool yes) {
  static const char *const usual[] = {"visitor@example.org",
                                      "http://example.org/",
                                      "1",
                                      "2024-02-29",
                                      "127.0.0.1",
                                      "abc",
                                      "",
                                      "0"};
  PhpValue known;
  if (!t->nargs)
    return;
  if (known_call_find(m->s->known, t->name, php_bool(yes), &known))
    want_value(m, t->args[0], known);
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    want_value(m, t->args[0], literal(usual[i]));
}

// checkdate(month, day, year): values out of bounds are brought into them.
static void want_date(Maker *m, const PhpTerm *t, bool is) {
  static const int least[] = {1, 1, 1}, most[] = {12, 28, 32767};
  for (unsigned i = 0; i < t->nargs; i++) {
    PhpValue now = php_to_int(value_of(m, t->args[i]));
    if (!is)
      want_value(m, t->args[i], php_int(0));
    else if (now.type != VALUE_INT || now.i < least[i] || now.i > most[i])
      want_value(m, t->args[i], php_int(i == 2 ? 2000 : 1));
  }
}

// --- truth ------------------------------------------------------------------

static void truth_of_value(Maker *m, uint32_t n, bool outcome) {
  const PhpTerm *t = term_of(m, n);
  if (t->op == TERM_VAR && outcome) {
    add_change(m, n, guess(m, t->name));
    add_change(m, n, literal("1"));
  } else if (t->op == TERM_VAR) {
    add_change(m, n, literal(""));
    add_change(m, n, literal("0"));
    add_change(m, n, php_null());
  } else if (outcome) {
    want_value(m, n, php_int(1));
    want_value(m, n, literal("a"));
    want_other(m, n);
  } else {
    want_value(m, n, php_int(0));
    want_value(m, n, literal(""));
    want_value(m, n, php_bool(false));
  }
}

static void truth(Maker *m, uint32_t n, bool outcome) {
  const PhpTerm *t = term_of(m, n);
  switch (t->op) {
  case TERM_NOT:
    want_truth(m, t->args[0], !outcome);
    break;
  case TERM_TRUTH:
    want_truth(m, t->args[0], outcome);
    break;
  case TERM_EQ:
  case TERM_SAME:
  case TERM_HASH_EQUALS:
    want_equal(m, t->args[0], t->args[1], outcome);
    break;
  case TERM_STRCMP:
  case TERM_STRCASECMP:
    want_equal(m, t->args[0], t->args[1], !outcome);
    break;
  case TERM_LT:
  case TERM_LE:
    want_near(m, t->args[0], value_of(m, t->args[1]));
    want_near(m, t->args[1], value_of(m, t->args[0]));
    break;
  case TERM_ISSET:
    if (outcome)
      want_other(m, t->args[0]);
    else
      want_value(m, t->args[0], php_null());
    break;
  case TERM_IN:
  case TERM_KEY_IN:
    want_in(m, t, outcome);
    break;
  case TERM_PREG:
    want_match(m, t, outcome);
    break;
  case TERM_CONTAINS:
  case TERM_STARTS:
  case TERM_ENDS:
    want_part(m, t, outcome);
    break;
  case TERM_CHECKDATE:
    want_date(m, t, outcome);
    break;
  case TERM_OPAQUE:
    want_opaque(m, t, outcome);
    break;
  default:
    if ((t->op >= TERM_IS_NUMERIC && t->op <= TERM_XDIGITS) ||
        t->op == TERM_NUMBERLIKE)
      want_class(m, t, outcome);
    else
      truth_of_value(m, n, outcome);
  }
}

static void want_truth(Maker *m, uint32_t n, bool outcome) {
  if (!may(m, n))
    return;
  m->depth--;
  truth(m, n, outcome);
  m->depth++;
}

// --- values: numbers --------------------------------------------------------

static PhpValue calculate(TermOp op, PhpValue a, PhpValue b) {
  PhpValue x = php_to_number(a), y = php_to_number(b);
  if (x.type == VALUE_UNKNOWN || y.type == VALUE_UNKNOWN)
    return php_unknown();
  double p = php_to_float(x).d, q = php_to_float(y).d;
  double r = op == TERM_ADD   ? p + q
             : op == TERM_SUB ? p - q
             : op == TERM_MUL ? p * q
             : q != 0         ? p / q
                              : NAN;
  if (isnan(r))
    return php_unknown();
  return r == floor(r) && fabs(r) < 9e15 ? php_int((int64_t)r) : php_float(r);
}

static void want_roots(Maker *m, uint32_t n, PhpValue square) {
  PhpValue d = php_to_float(square);
  if (d.type != VALUE_FLOAT || !(d.d >= 0) || d.d > 1e15)
    return;
  double root = sqrt(d.d);
  want_value(m, n,
             root == floor(root) ? php_int((int64_t)root) : php_float(root));
  want_value(m, n, php_int(-(int64_t)root));
}

static void number_operands(Maker *m, const PhpTerm *t, PhpValue v) {
  uint32_t a = t->args[0], b = t->args[1];
  PhpValue x = value_of(m, a), y = value_of(m, b);
  switch (t->op) {
  case TERM_ADD:
    want_value(m, a, calculate(TERM_SUB, v, y));
    want_value(m, b, calculate(TERM_SUB, v, x));
    break;
  case TERM_SUB:
    want_value(m, a, calculate(TERM_ADD, v, y));
    want_value(m, b, calculate(TERM_SUB, x, v));
    break;
  case TERM_MUL:
    if (a == b)
      want_roots(m, a, v);
    want_value(m, a, calculate(TERM_DIV, v, y));
    want_value(m, b, calculate(TERM_DIV, v, x));
    break;
  case TERM_DIV:
  case TERM_INTDIV:
    want_value(m, a, calculate(TERM_MUL, v, y));
    want_value(m, b, calculate(TERM_DIV, x, v));
    break;
  default: // MOD
    want_value(m, a, v);
    want_value(m, a, calculate(TERM_ADD, v, y));
    want_value(m, b, calculate(TERM_SUB, x, v));
  }
}

static void bit_operands(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue w = php_to_int(v), x = php_to_int(value_of(m, t->args[0]));
  PhpValue y = php_to_int(value_of(m, t->args[1]));
  if (w.type != VALUE_INT || x.type != VALUE_INT || y.type != VALUE_INT)
    return;
  switch (t->op) {
  case TERM_BIT_XOR:
    want_value(m, t->args[0], php_int(w.i ^ y.i));
    want_value(m, t->args[1], php_int(w.i ^ x.i));
    break;
  case TERM_SHL:
    if (y.i >= 0 && y.i < 63)
      want_value(m, t->args[0], php_int(w.i >> y.i));
    break;
  case TERM_SHR:
    if (y.i >= 0 && y.i < 63)
      want_value(m, t->args[0], php_int((int64_t)((uint64_t)w.i << y.i)));
    break;
  default:
    want_value(m, t->args[0], w);
    want_value(m, t->args[0], php_int((x.i & ~y.i) | w.i));
    want_value(m, t->args[1], w);
  }
}

// --- values: strings --------------------------------------------------------

static void concat_operands(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue a = text_of(m, t->args[0]), b = text_of(m, t->args[1]);
  v = php_to_string(v, m->s->arena);
  if (v.n >= b.n && !memcmp(v.s + v.n - b.n, b.s, b.n))
    want_value(m, t->args[0], part(v, 0, v.n - b.n));
  if (v.n >= a.n && !memcmp(v.s, a.s, a.n))
    want_value(m, t->args[1], part(v, a.n, v.n));
}

static void substr_operand(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue s = text_of(m, t->args[0]);
  PhpValue from = php_to_int(value_of(m, t->args[1]));
  PhpValue len =
      t->nargs > 2 ? php_to_int(value_of(m, t->args[2])) : php_int(INT64_MAX);
  v = php_to_string(v, m->s->arena);
  if (from.i < 0) {
    size_t back = from.i < -LENGTH_MOST ? LENGTH_MOST : (size_t)-from.i;
    size_t keep = s.n > back ? s.n - back : 0;
    PhpValue tail =
        len.i < 0 ? part(s, s.n - (size_t)(-len.i % 64), 64) : literal("");
    want_value(m, t->args[0], join(m, part(s, 0, keep), join(m, v, tail)));
    want_value(m, t->args[0], join(m, s, v));
    return;
  }
  PhpValue head = resize(m, s, (size_t)from.i);
  want_value(m, t->args[0], join(m, head, v));
  if (len.i < 0)
    want_value(
        m, t->args[0],
        join(m, head, join(m, v, resize(m, literal("a"), (size_t)-len.i))));
  else
    want_value(m, t->args[0],
               join(m, head, join(m, v, part(s, head.n + v.n, s.n))));
}

static void character_operand(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue s = text_of(m, t->args[0]), at = value_of(m, t->args[1]);
  v = php_to_string(v, m->s->arena);
  if (at.type != VALUE_INT || at.i < 0 || (uint64_t)at.i >= s.n || v.n != 1)
    return;
  PhpValue head = part(s, 0, (size_t)at.i);
  want_value(m, t->args[0],
             join(m, head, join(m, v, part(s, (size_t)at.i + 1, s.n))));
}

// The piece replaced, pieces before it made up where there are none.
static void explode_operand(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue glue = text_of(m, t->args[0]), s = text_of(m, t->args[1]);
  PhpValue index = value_of(m, t->args[2]);
  v = php_to_string(v, m->s->arena);
  if (!glue.n || index.type != VALUE_INT || index.i > 64)
    return;
  Str out = {0};
  const char *at = s.s, *end = s.s + s.n;
  for (int64_t i = 0; i < index.i; i++) {
    const char *next = memmem(at, (size_t)(end - at), glue.s, glue.n);
    str_addn(&out, at, (size_t)((next ? next : end) - at));
    str_addn(&out, glue.s, glue.n);
    at = next ? next + glue.n : end;
  }
  str_addn(&out, v.s, v.n);
  const char *next = memmem(at, (size_t)(end - at), glue.s, glue.n);
  if (next)
    str_addn(&out, next, (size_t)(end - next));
  PhpValue whole = copy(m, str_text(&out), out.len);
  str_release(&out);
  want_value(m, t->args[1], whole);
}

// As many pieces: more of them, or the first ones.
static void pieces_operand(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue glue = text_of(m, t->args[0]), want = php_to_int(v), at;
  if (!glue.n || want.type != VALUE_INT || want.i < 1 || want.i > 64)
    return;
  PhpValue s = text_of(m, t->args[1]), out = literal("");
  PhpValue args[2] = {s, glue};
  int64_t have = term_call(TERM_COUNT_TEXT, args, 2, m->s->arena).i + 1;
  for (int64_t i = have; i < want.i; i++)
    s = join(m, s, join(m, glue, literal("1")));
  size_t from = 0;
  for (int64_t i = 0; i < want.i; i++) {
    PhpValue rest[2] = {part(s, from, s.n), glue};
    at = term_call(TERM_STRPOS, rest, 2, m->s->arena);
    size_t n = at.type == VALUE_INT ? (size_t)at.i : s.n - from;
    out = i ? join(m, out, glue) : out;
    out = join(m, out, part(s, from, n));
    from += n + glue.n;
  }
  want_value(m, t->args[1], out);
}

// The group's text replaced where it stands.
static void group_operand(Maker *m, uint32_t n, const PhpTerm *t, PhpValue v) {
  PhpValue s = text_of(m, t->args[1]), old = text_of(m, n);
  v = php_to_string(v, m->s->arena);
  const char *at = old.n ? memmem(s.s, s.n, old.s, old.n) : NULL;
  if (!at)
    return;
  PhpValue head = part(s, 0, (size_t)(at - s.s));
  want_value(m, t->args[1],
             join(m, head, join(m, v, part(s, head.n + old.n, s.n))));
}

// Somewhere, at the beginning, nowhere.
static void position_operand(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue s = text_of(m, t->args[0]), what = text_of(m, t->args[1]);
  if (!php_truth(v) && v.type != VALUE_INT) {
    want_value(m, t->args[0], literal(""));
    want_other(m, t->args[0]);
    return;
  }
  PhpValue at = php_to_int(v);
  if (at.type != VALUE_INT || at.i < 0 || at.i > LENGTH_MOST)
    return;
  PhpValue head = resize(m, literal("-"), (size_t)at.i);
  want_value(m, t->args[0], join(m, head, what));
  want_value(m, t->args[0], join(m, resize(m, s, (size_t)at.i), what));
  want_value(m, t->args[0], join(m, s, what));
}

static PhpValue unescape(const Maker *m, PhpValue v) {
  static const char *const pairs[][2] = {{"&lt;", "<"},
                                         {"&gt;", ">"},
                                         {"&quot;", "\""},
                                         {"&#039;", "'"},
                                         {"&amp;", "&"}};
  PhpValue args[3] = {literal(""), literal(""), v};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    args[0] = literal(pairs[i][0]);
    args[1] = literal(pairs[i][1]);
    args[2] = term_call(TERM_REPLACE, args, 3, m->s->arena);
  }
  return args[2];
}

static void repeat_operand(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue what = text_of(m, t->args[1]), times = php_to_int(v);
  PhpValue args[2] = {what, times};
  if (times.type == VALUE_INT && times.i >= 0 && times.i < 64)
    want_value(m, t->args[0], term_call(TERM_REPEAT, args, 2, m->s->arena));
}

static void opaque_value(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue known;
  if (t->nargs && known_call_find(m->s->known, t->name, v, &known))
    want_value(m, t->args[0], known);
}

static void text_operand(Maker *m, uint32_t n, const PhpTerm *t, PhpValue v) {
  switch (t->op) {
  case TERM_CONCAT:
    concat_operands(m, t, v);
    break;
  case TERM_SUBSTR:
    substr_operand(m, t, v);
    break;
  case TERM_CHAR_AT:
    character_operand(m, t, v);
    break;
  case TERM_EXPLODE_AT:
    explode_operand(m, t, v);
    break;
  case TERM_EXPLODE_COUNT:
    pieces_operand(m, t, v);
    break;
  case TERM_PREG_GROUP:
    group_operand(m, n, t, v);
    break;
  case TERM_STRPOS:
  case TERM_STRIPOS:
  case TERM_STRRPOS:
    position_operand(m, t, v);
    break;
  case TERM_STRLEN: {
    PhpValue len = php_to_int(v);
    if (len.type == VALUE_INT && len.i >= 0 && len.i <= LENGTH_MOST)
      want_value(m, t->args[0],
                 resize(m, text_of(m, t->args[0]), (size_t)len.i));
    break;
  }
  case TERM_REVERSE: {
    PhpValue text = php_to_string(v, m->s->arena);
    want_value(m, t->args[0], term_call(TERM_REVERSE, &text, 1, m->s->arena));
    break;
  }
  case TERM_ESCAPE_HTML:
    want_value(m, t->args[0], unescape(m, php_to_string(v, m->s->arena)));
    break;
  case TERM_REPLACE:
    want_value(m, t->args[2], v);
    break;
  case TERM_COUNT_TEXT:
    repeat_operand(m, t, v);
    break;
  default:
    break;
  }
}

// --- values -----------------------------------------------------------------

static bool is_truth(TermOp op) {
  return op == TERM_EQ || op == TERM_SAME || op == TERM_LT || op == TERM_LE ||
         op == TERM_NOT || op == TERM_TRUTH || op == TERM_ISSET ||
         op == TERM_IN || op == TERM_KEY_IN || op == TERM_PREG ||
         op == TERM_CONTAINS || op == TERM_STARTS || op == TERM_ENDS ||
         op == TERM_HASH_EQUALS || op == TERM_NUMBERLIKE ||
         op == TERM_CHECKDATE || (op >= TERM_IS_NUMERIC && op <= TERM_XDIGITS);
}

// Where the result is the argument, more or less.
static bool passes(TermOp op) {
  return op == TERM_INT || op == TERM_FLOAT || op == TERM_STRING ||
         (op >= TERM_TRIM && op <= TERM_LCFIRST) || op == TERM_ABS ||
         op == TERM_FLOOR || op == TERM_CEIL || op == TERM_ROUND ||
         op == TERM_ADDSLASHES || op == TERM_NL2BR || op == TERM_MIN ||
         op == TERM_MAX;
}

static void compare_value(Maker *m, const PhpTerm *t, PhpValue v) {
  PhpValue order = php_to_int(v);
  if (order.i == 0)
    want_equal(m, t->args[0], t->args[1], true);
  want_near(m, t->args[0], value_of(m, t->args[1]));
  want_near(m, t->args[1], value_of(m, t->args[0]));
}

static void give(Maker *m, uint32_t n, PhpValue v) {
  const PhpTerm *t = term_of(m, n);
  PhpValue code;
  if (t->op == TERM_VAR) {
    add_change(m, n, v);
  } else if (t->op == TERM_OPAQUE) {
    opaque_value(m, t, v);
  } else if (is_truth(t->op)) {
    want_truth(m, n, php_truth(v));
  } else if (t->op == TERM_INT && v.type == VALUE_FLOAT && fabs(v.d) < 1e15) {
    want_value(m, t->args[0], php_int((int64_t)ceil(v.d)));
    want_value(m, t->args[0], php_int((int64_t)floor(v.d)));
  } else if (passes(t->op)) {
    for (unsigned i = 0; i < t->nargs; i++)
      want_value(m, t->args[i], v);
    if (t->op == TERM_ABS)
      want_value(m, t->args[0], calculate(TERM_SUB, php_int(0), v));
  } else if ((t->op >= TERM_ADD && t->op <= TERM_MOD) || t->op == TERM_INTDIV) {
    number_operands(m, t, v);
  } else if (t->op >= TERM_BIT_AND && t->op <= TERM_SHR) {
    bit_operands(m, t, v);
  } else if (t->op == TERM_ORDER ||
             (t->op >= TERM_STRCMP && t->op <= TERM_STRNCASECMP)) {
    compare_value(m, t, v);
  } else if (t->op == TERM_SQRT) {
    want_value(m, t->args[0], calculate(TERM_MUL, v, v));
  } else if (t->op == TERM_ORD || t->op == TERM_CHR) {
    code = t->op == TERM_ORD ? php_to_int(v) : php_to_string(v, m->s->arena);
    want_value(m, t->args[0],
               term_call(t->op == TERM_ORD ? TERM_CHR : TERM_ORD, &code, 1,
                         m->s->arena));
  } else {
    text_operand(m, n, t, v);
  }
}

static void want_value(Maker *m, uint32_t n, PhpValue v) {
  if (v.type == VALUE_UNKNOWN || !may(m, n))
    return;
  m->depth--;
  give(m, n, v);
  m->depth++;
}

// Anything but what it is.
static void want_other(Maker *m, uint32_t n) {
  if (!may(m, n))
    return;
  const PhpTerm *t = term_of(m, n);
  PhpValue now = value_of(m, n);
  if (t->op == TERM_VAR) {
    other_input(m, n);
  } else if (is_truth(t->op)) {
    want_truth(m, n, !php_truth(now));
  } else if (now.type == VALUE_INT && now.i < INT64_MAX) {
    want_value(m, n, php_int(now.i + 1));
  } else if (now.type == VALUE_FLOAT) {
    want_value(m, n, php_float(now.d + 1));
  } else if (now.type == VALUE_FALSE || now.type == VALUE_NULL) {
    want_value(m, n, php_int(1));
    want_value(m, n, literal("w"));
  } else if (now.type == VALUE_STRING) {
    want_value(m, n, join(m, now, literal("x")));
    want_value(m, n, literal("w"));
    want_value(m, n, literal(""));
  }
  if (t->op != TERM_VAR && !is_truth(t->op))
    for (unsigned i = 0; i < t->nargs; i++) {
      m->depth--;
      want_other(m, t->args[i]);
      m->depth++;
    }
}

void propose(const BranchSolver *s, uint32_t term, bool outcome,
             InputChanges *out) {
  Maker m = {.s = s, .out = out, .depth = DEPTH_MOST};
  want_truth(&m, term, outcome);
}

void propose_value(const BranchSolver *s, uint32_t term, PhpValue value,
                   InputChanges *out) {
  Maker m = {.s = s, .out = out, .depth = DEPTH_MOST};
  want_value(&m, term, value);
}
