// PHP's functions on scalars, as far as terms know them: see term_ops.def. What
// a function would throw at, or convert in a way not told here, is unknown.
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "php/record/term.h"
#include "util/str.h"

typedef struct {
  const PhpValue *args;
  unsigned n;
  TermOp op;
  Arena *arena;
} TermCall;

// --- arguments --------------------------------------------------------------

// As text, which PHP converts scalars to; null is deprecated, and empty.
static PhpValue text(const TermCall *c, unsigned i) {
  return php_to_string(c->args[i], c->arena);
}

static int64_t integer(const TermCall *c, unsigned i, int64_t otherwise) {
  if (i >= c->n || c->args[i].type == VALUE_NULL)
    return otherwise;
  PhpValue v = php_to_int(c->args[i]);
  return v.type == VALUE_INT ? v.i : otherwise;
}

static PhpValue copy(const TermCall *c, const char *s, size_t n) {
  return php_string(arena_strndup(c->arena, s, n), n);
}

static PhpValue take(const TermCall *c, Str *s) {
  char *bytes = arena_alloc(c->arena, s->len + 1);
  if (s->len)
    memcpy(bytes, s->data, s->len);
  PhpValue v = php_string(bytes, s->len);
  str_release(s);
  return v;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// --- trimming ---------------------------------------------------------------

// "a..z" is a range.
static void read_set(PhpValue list, bool set[256]) {
  memset(set, 0, 256);
  for (size_t i = 0; i < list.n; i++) {
    unsigned char c = (unsigned char)list.s[i];
    if (i + 3 < list.n && list.s[i + 1] == '.' && list.s[i + 2] == '.' &&
        (unsigned char)list.s[i + 3] >= c) {
      for (unsigned k = c; k <= (unsigned char)list.s[i + 3]; k++)
        set[k] = true;
      i += 3;
    } else {
      set[c] = true;
    }
  }
}

static PhpValue trim(const TermCall *c) {
  PhpValue v = text(c, 0);
  bool set[256];
  read_set(c->n > 1 ? text(c, 1) : php_string(" \n\r\t\v\0", 6), set);
  while (c->op != TERM_RTRIM && v.n && set[(unsigned char)*v.s])
    v.s++, v.n--;
  while (c->op != TERM_LTRIM && v.n && set[(unsigned char)v.s[v.n - 1]])
    v.n--;
  return copy(c, v.s, v.n);
}

// --- letters ----------------------------------------------------------------

static char turn(TermOp op, char ch, bool first) {
  unsigned char u = (unsigned char)ch;
  if (u >= 128)
    return ch;
  switch (op) {
  case TERM_LOWER:
    return (char)tolower(u);
  case TERM_UPPER:
    return (char)toupper(u);
  case TERM_UCFIRST:
    return first ? (char)toupper(u) : ch;
  default:
    return first ? (char)tolower(u) : ch;
  }
}

static PhpValue change_case(const TermCall *c) {
  PhpValue v = text(c, 0);
  char *s = arena_alloc(c->arena, v.n + 1);
  for (size_t i = 0; i < v.n; i++)
    s[i] = turn(c->op, v.s[i], i == 0);
  return php_string(s, v.n);
}

static bool is_of(TermOp op, unsigned char c) {
  if (c >= 128)
    return false;
  switch (op) {
  case TERM_DIGITS:
    return isdigit(c);
  case TERM_LETTERS:
    return isalpha(c);
  case TERM_ALNUM:
    return isalnum(c);
  case TERM_UPPERS:
    return isupper(c);
  case TERM_LOWERS:
    return islower(c);
  case TERM_BLANKS:
    return isspace(c);
  default:
    return isxdigit(c);
  }
}

static PhpValue classify(const TermCall *c) {
  PhpValue v = c->args[0];
  if (v.type == VALUE_INT || v.type == VALUE_FLOAT)
    return php_unknown(); // a character's code
  if (v.type != VALUE_STRING)
    return php_bool(false);
  for (size_t i = 0; i < v.n; i++)
    if (!is_of(c->op, (unsigned char)v.s[i]))
      return php_bool(false);
  return php_bool(v.n > 0);
}

// --- parts ------------------------------------------------------------------

static PhpValue substr(const TermCall *c) {
  PhpValue v = text(c, 0);
  int64_t n = (int64_t)v.n, from = integer(c, 1, 0), len = integer(c, 2, n);
  if (from < 0)
    from = from + n < 0 ? 0 : from + n;
  if (from > n)
    return php_string("", 0);
  if (len < 0)
    len = n - from + len < 0 ? 0 : n - from + len;
  if (len > n - from)
    len = n - from;
  return copy(c, v.s + from, (size_t)len);
}

static const char *find(PhpValue in, PhpValue what, size_t from) {
  if (from > in.n)
    return NULL;
  return memmem(in.s + from, in.n - from, what.s, what.n);
}

static const char *find_last(PhpValue in, PhpValue what) {
  for (size_t i = in.n + 1; i-- > 0;)
    if (in.n - i >= what.n && !memcmp(in.s + i, what.s, what.n))
      return in.s + i;
  return NULL;
}

static const char *find_anycase(PhpValue in, PhpValue what) {
  for (size_t i = 0; i + what.n <= in.n; i++)
    if (!strncasecmp(in.s + i, what.s, what.n))
      return in.s + i;
  return NULL;
}

static PhpValue position(const TermCall *c) {
  PhpValue in = text(c, 0), what = text(c, 1);
  int64_t from = integer(c, 2, 0);
  if (from < 0)
    from += (int64_t)in.n;
  if (from < 0 || (uint64_t)from > in.n)
    return php_unknown(); // ValueError
  const char *at = c->op == TERM_STRRPOS   ? find_last(in, what)
                   : c->op == TERM_STRIPOS ? find_anycase(in, what)
                                           : find(in, what, (size_t)from);
  if (c->op == TERM_STRSTR)
    return at ? copy(c, at, (size_t)(in.s + in.n - at)) : php_bool(false);
  return at ? php_int(at - in.s) : php_bool(false);
}

static PhpValue has_part(const TermCall *c) {
  PhpValue in = text(c, 0), what = text(c, 1);
  if (c->op == TERM_CONTAINS)
    return php_bool(find(in, what, 0) != NULL);
  if (what.n > in.n)
    return php_bool(false);
  const char *at = c->op == TERM_STARTS ? in.s : in.s + in.n - what.n;
  return php_bool(!memcmp(at, what.s, what.n));
}

static PhpValue count_text(const TermCall *c) {
  PhpValue in = text(c, 0), what = text(c, 1);
  int64_t count = 0;
  if (!what.n)
    return php_unknown();
  for (const char *at = find(in, what, 0); at;
       at = find(in, what, (size_t)(at - in.s) + what.n))
    count++;
  return php_int(count);
}

// --- comparing --------------------------------------------------------------

static int sign(int64_t n) { return (n > 0) - (n < 0); }

// 8.2 returns 1 or -1 if one is the beginning of the other.
static PhpValue compare(const TermCall *c) {
  PhpValue a = text(c, 0), b = text(c, 1);
  bool bounded = c->op == TERM_STRNCMP || c->op == TERM_STRNCASECMP;
  bool fold = c->op == TERM_STRCASECMP || c->op == TERM_STRNCASECMP;
  if (bounded && integer(c, 2, -1) < 0)
    return php_unknown();
  size_t most = bounded ? (size_t)integer(c, 2, 0) : SIZE_MAX;
  a.n = smaller(a.n, most);
  b.n = smaller(b.n, most);
  for (size_t i = 0; i < a.n && i < b.n; i++) {
    char x = fold ? turn(TERM_LOWER, a.s[i], false) : a.s[i];
    char y = fold ? turn(TERM_LOWER, b.s[i], false) : b.s[i];
    if (x != y)
      return php_sign((unsigned char)x - (unsigned char)y);
  }
  return php_int(sign((int64_t)a.n - (int64_t)b.n));
}

static PhpValue hash_equals(const TermCall *c) {
  if (c->args[0].type != VALUE_STRING || c->args[1].type != VALUE_STRING)
    return php_unknown();
  return php_bool(php_same(c->args[0], c->args[1]));
}

static PhpValue is_numeric(const TermCall *c) {
  PhpValue v = c->args[0];
  int64_t i;
  double d;
  if (v.type == VALUE_STRING)
    return php_bool(php_numeric(v.s, v.n, true, &i, &d) != VALUE_NULL);
  return php_bool(v.type == VALUE_INT || v.type == VALUE_FLOAT);
}

// --- rewriting --------------------------------------------------------------

static const char *html_entity(char ch, int64_t quotes) {
  switch (ch) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return quotes & 2 ? "&quot;" : NULL;
  case '\'':
    return (quotes & 3) == 3 ? "&#039;" : NULL;
  default:
    return NULL;
  }
}

// Bytes of the UTF-8 character at `s`; 0: it is none.
static size_t utf8_length(const unsigned char *s, size_t n) {
  size_t want = *s < 0x80                 ? 1
                : *s >= 0xc2 && *s < 0xe0 ? 2
                : *s >= 0xe0 && *s < 0xf0 ? 3
                : *s >= 0xf0 && *s < 0xf5 ? 4
                                          : 0;
  if (want > n || (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
      (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
    return 0;
  for (size_t i = 1; i < want; i++)
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  return want;
}

static bool is_utf8(PhpValue v) {
  size_t at = 0, n = 1;
  while (at < v.n &&
         (n = utf8_length((const unsigned char *)v.s + at, v.n - at)))
    at += n;
  return n > 0;
}

// What PHP does with bytes that are no UTF-8 depends on more than is told.
static PhpValue escape_html(const TermCall *c) {
  PhpValue v = text(c, 0);
  int64_t quotes = integer(c, 1, 3);
  Str s = {0};
  if (!is_utf8(v))
    return php_unknown();
  for (size_t i = 0; i < v.n; i++) {
    const char *e = html_entity(v.s[i], quotes);
    if (e)
      str_add(&s, e);
    else
      str_addc(&s, v.s[i]);
  }
  return take(c, &s);
}

static PhpValue rewrite(const TermCall *c) {
  PhpValue v = text(c, 0);
  Str s = {0};
  for (size_t i = 0; i < v.n; i++) {
    char ch = v.s[i];
    if (c->op == TERM_NL2BR && (ch == '\n' || ch == '\r')) {
      bool pair = i + 1 < v.n && (v.s[i + 1] == '\n' || v.s[i + 1] == '\r') &&
                  v.s[i + 1] != ch;
      str_add(&s, "<br />");
      str_addn(&s, v.s + i, pair ? 2 : 1);
      i += pair;
      continue;
    }
    if (c->op == TERM_ADDSLASHES && !ch)
      str_add(&s, "\\0");
    else if (c->op == TERM_ADDSLASHES && strchr("'\"\\", ch))
      str_addf(&s, "\\%c", ch);
    else
      str_addc(&s, ch);
  }
  return take(c, &s);
}

static PhpValue replace(const TermCall *c) {
  PhpValue what = text(c, 0), by = text(c, 1), v = text(c, 2);
  Str s = {0};
  if (!what.n)
    return v;
  size_t at = 0;
  for (const char *hit; (hit = find(v, what, at));
       at = (size_t)(hit - v.s) + what.n) {
    str_addn(&s, v.s + at, (size_t)(hit - v.s) - at);
    str_addn(&s, by.s, by.n);
  }
  str_addn(&s, v.s + at, v.n - at);
  return take(c, &s);
}

static PhpValue repeat(const TermCall *c) {
  PhpValue v = text(c, 0);
  int64_t times = integer(c, 1, -1);
  Str s = {0};
  if (times < 0 || (uint64_t)times > (1u << 20) / (v.n + 1))
    return php_unknown();
  while (times--)
    str_addn(&s, v.s, v.n);
  return take(c, &s);
}

static PhpValue reverse(const TermCall *c) {
  PhpValue v = text(c, 0);
  char *s = arena_alloc(c->arena, v.n + 1);
  for (size_t i = 0; i < v.n; i++)
    s[i] = v.s[v.n - 1 - i];
  return php_string(s, v.n);
}

static PhpValue code(const TermCall *c) {
  if (c->op == TERM_ORD) {
    PhpValue v = text(c, 0);
    return php_int(v.n ? (unsigned char)*v.s : 0);
  }
  char ch = (char)(integer(c, 0, 0) & 255);
  return copy(c, &ch, 1);
}

// --- numbers ----------------------------------------------------------------

static PhpValue extreme(const TermCall *c) {
  PhpValue best = c->args[0];
  for (unsigned i = 1; i < c->n; i++) {
    int order = php_order(c->args[i], best, c->arena);
    if (order == 2)
      return php_unknown();
    if (c->op == TERM_MIN ? order < 0 : order > 0)
      best = c->args[i];
  }
  return best;
}

static PhpValue number(const TermCall *c) {
  PhpValue v = c->args[0];
  int64_t i;
  double d;
  if (v.type == VALUE_STRING &&
      php_numeric(v.s, v.n, true, &i, &d) == VALUE_NULL)
    return php_unknown(); // TypeError
  v = php_to_number(v);
  if (v.sign_only)
    return c->op == TERM_ABS ? php_sign(1) : php_unknown();
  if (c->op == TERM_ABS && v.type == VALUE_INT)
    return v.i == INT64_MIN ? php_unknown() : php_int(v.i < 0 ? -v.i : v.i);
  d = v.type == VALUE_INT ? (double)v.i : v.d;
  switch (c->op) {
  case TERM_ABS:
    return php_float(fabs(d));
  case TERM_FLOOR:
    return php_float(floor(d));
  case TERM_CEIL:
    return php_float(ceil(d));
  case TERM_SQRT:
    return php_float(sqrt(d));
  default:
    return php_float(round(d));
  }
}

static PhpValue int_divide(const TermCall *c) {
  int64_t a = integer(c, 0, 0), b = integer(c, 1, 0);
  if (!b || (b == -1 && a == INT64_MIN))
    return php_unknown();
  return php_int(a / b);
}

// Month, day, year.
static PhpValue check_date(const TermCall *c) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t month = integer(c, 0, 0), day = integer(c, 1, 0);
  int64_t year = integer(c, 2, 0);
  if (month < 1 || month > 12 || day < 1 || year < 1 || year > 32767)
    return php_bool(false);
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return php_bool(day <= days[month - 1] + (month == 2 && leap));
}

// --- all --------------------------------------------------------------------

static PhpValue apply(const TermCall *c) {
  switch (c->op) {
  case TERM_STRLEN:
    return php_int((int64_t)text(c, 0).n);
  case TERM_TRIM:
  case TERM_LTRIM:
  case TERM_RTRIM:
    return trim(c);
  case TERM_LOWER:
  case TERM_UPPER:
  case TERM_UCFIRST:
  case TERM_LCFIRST:
    return change_case(c);
  case TERM_SUBSTR:
    return substr(c);
  case TERM_STRPOS:
  case TERM_STRIPOS:
  case TERM_STRRPOS:
  case TERM_STRSTR:
    return position(c);
  case TERM_CONTAINS:
  case TERM_STARTS:
  case TERM_ENDS:
    return has_part(c);
  case TERM_STRCMP:
  case TERM_STRCASECMP:
  case TERM_STRNCMP:
  case TERM_STRNCASECMP:
    return compare(c);
  case TERM_HASH_EQUALS:
    return hash_equals(c);
  case TERM_IS_NUMERIC:
    return is_numeric(c);
  case TERM_ESCAPE_HTML:
    return escape_html(c);
  case TERM_ADDSLASHES:
  case TERM_NL2BR:
    return rewrite(c);
  case TERM_REPLACE:
    return replace(c);
  case TERM_REPEAT:
    return repeat(c);
  case TERM_REVERSE:
    return reverse(c);
  case TERM_COUNT_TEXT:
    return count_text(c);
  case TERM_ORD:
  case TERM_CHR:
    return code(c);
  case TERM_MIN:
  case TERM_MAX:
    return extreme(c);
  case TERM_ABS:
  case TERM_FLOOR:
  case TERM_CEIL:
  case TERM_ROUND:
  case TERM_SQRT:
    return number(c);
  case TERM_NUMBERLIKE:
    return php_bool(php_to_number(c->args[0]).type != VALUE_UNKNOWN);
  case TERM_INTDIV:
    return int_divide(c);
  case TERM_CHECKDATE:
    return check_date(c);
  default:
    return c->op >= TERM_DIGITS && c->op <= TERM_XDIGITS ? classify(c)
                                                         : php_unknown();
  }
}

PhpValue term_call(TermOp op, const PhpValue *args, unsigned n, Arena *arena) {
  TermCall c = {.args = args, .n = n, .op = op, .arena = arena};
  for (unsigned i = 0; i < n; i++)
    if (args[i].type == VALUE_UNKNOWN)
      return php_unknown();
  return n ? apply(&c) : php_unknown();
}
