// What each operator computes. The one place that says so in C: folding,
// evaluation and the value every node carries come from here.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr_eval.h"
#include "expr/expr_make.h"

// --- BV ---------------------------------------------------------------------

static uint64_t divide_signed(int64_t a, int64_t b) {
  if (b == 0)
    return a < 0 ? 1 : ~0ull;
  return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t remainder_signed(int64_t a, int64_t b) {
  if (b == 0)
    return (uint64_t)a;
  return b == -1 ? 0 : (uint64_t)(a % b);
}

static uint64_t table_entry(const ExprPool *p, ExprTable t, uint64_t index) {
  uint32_t n;
  const uint64_t *entries = expr_table_entries(p, t, &n);
  return index < n ? entries[index] : 0;
}

static uint64_t apply_bv(const ExprPool *p, const ExprNode *n, unsigned from,
                         uint64_t a, uint64_t b) {
  switch ((ExprOp)n->op) {
  case EXPR_NOT:
    return ~a;
  case EXPR_NEG:
    return 0 - a;
  case EXPR_ADD:
    return a + b;
  case EXPR_SUB:
    return a - b;
  case EXPR_MUL:
    return a * b;
  case EXPR_UDIV:
    return b ? a / b : ~0ull;
  case EXPR_UREM:
    return b ? a % b : a;
  case EXPR_SDIV:
    return divide_signed(sign_extend(a, from), sign_extend(b, from));
  case EXPR_SREM:
    return remainder_signed(sign_extend(a, from), sign_extend(b, from));
  case EXPR_AND:
    return a & b;
  case EXPR_OR:
    return a | b;
  case EXPR_XOR:
    return a ^ b;
  case EXPR_SHL:
    return b < from ? a << b : 0;
  case EXPR_LSHR:
    return b < from ? a >> b : 0;
  case EXPR_ASHR:
    return (uint64_t)(sign_extend(a, from) >> (b < from ? b : from - 1));
  case EXPR_ULT:
    return a < b;
  case EXPR_SLT:
    return sign_extend(a, from) < sign_extend(b, from);
  case EXPR_EXTRACT:
    return a >> n->arg[1];
  case EXPR_CONCAT:
    return a << expr_width(p, n->arg[1]) | b;
  case EXPR_ZEXT:
    return a;
  case EXPR_SEXT:
    return (uint64_t)sign_extend(a, from);
  case EXPR_TABLE:
    return table_entry(p, n->arg[1], a);
  default:
    assert(!"a BV operator");
    return 0;
  }
}

// --- FP ---------------------------------------------------------------------

// Computing in double and rounding once more is exact for float: 53 bits are
// at least twice 24, and two.
static double get_fp(unsigned width, uint64_t bits) {
  if (width == 32) {
    float f;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    return f;
  }
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static uint64_t put_float(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static uint64_t put_fp(unsigned width, double d) {
  if (width == 32)
    return put_float((float)d);
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

static double round_fp(double x, ExprRounding how) {
  switch (how) {
  case ROUND_NEAREST_EVEN:
    return rint(x);
  case ROUND_NEAREST_AWAY:
    return round(x);
  case ROUND_UP:
    return ceil(x);
  case ROUND_DOWN:
    return floor(x);
  case ROUND_ZERO:
    return trunc(x);
  }
  assert(!"a rounding mode");
  return x;
}

static uint64_t to_sint(double x, unsigned width) {
  double t = trunc(x), limit = ldexp(1, (int)width - 1);
  return t >= -limit && t < limit ? (uint64_t)(int64_t)t : 0;
}

static uint64_t to_uint(double x, unsigned width) {
  double t = trunc(x);
  return t >= 0 && t < ldexp(1, (int)width) ? (uint64_t)t : 0;
}

static uint64_t of_sint(unsigned width, int64_t v) {
  return width == 32 ? put_float((float)v) : put_fp(64, (double)v);
}

static uint64_t of_uint(unsigned width, uint64_t v) {
  return width == 32 ? put_float((float)v) : put_fp(64, (double)v);
}

static bool same_fp(unsigned width, uint64_t a, uint64_t b) {
  return a == b || (isnan(get_fp(width, a)) && isnan(get_fp(width, b)));
}

static uint64_t apply_conversion(const ExprNode *n, ExprSort from, uint64_t a) {
  unsigned to = n->sort.width;
  switch ((ExprOp)n->op) {
  case EXPR_FP_OF_FP:
    return put_fp(to, get_fp(from.width, a));
  case EXPR_FP_OF_SINT:
    return of_sint(to, sign_extend(a, from.width));
  case EXPR_FP_OF_UINT:
    return of_uint(to, a);
  case EXPR_SINT_OF_FP:
    return to_sint(get_fp(from.width, a), to);
  case EXPR_UINT_OF_FP:
    return to_uint(get_fp(from.width, a), to);
  default: // the bits themselves
    return a;
  }
}

static uint64_t apply_fp(const ExprNode *n, ExprSort from, uint64_t a,
                         uint64_t b) {
  unsigned w = from.width;
  uint64_t sign = 1ull << (w - 1);
  double x = get_fp(w, a), y = get_fp(w, b);
  switch ((ExprOp)n->op) {
  case EXPR_FNEG:
    return a ^ sign;
  case EXPR_FABS:
    return a & ~sign;
  case EXPR_FSQRT:
    return put_fp(w, sqrt(x));
  case EXPR_FROUND:
    return put_fp(w, round_fp(x, (ExprRounding)n->arg[1]));
  case EXPR_FADD:
    return put_fp(w, x + y);
  case EXPR_FSUB:
    return put_fp(w, x - y);
  case EXPR_FMUL:
    return put_fp(w, x * y);
  case EXPR_FDIV:
    return put_fp(w, x / y);
  case EXPR_FREM:
    return put_fp(w, fmod(x, y));
  case EXPR_FEQ:
    return x == y;
  case EXPR_FLT:
    return x < y;
  case EXPR_FNAN:
    return isnan(x);
  default:
    return apply_conversion(n, from, a);
  }
}

// --- INT --------------------------------------------------------------------

static uint64_t divide_int(bool quotient, int64_t a, int64_t b,
                           bool *undefined) {
  if (b == 0 || (a == INT64_MIN && b == -1 && quotient)) {
    *undefined = true;
    return 0;
  }
  if (b == -1)
    return quotient ? 0 - (uint64_t)a : 0;
  return (uint64_t)(quotient ? a / b : a % b);
}

static uint64_t apply_int(const ExprNode *n, uint64_t a, uint64_t b,
                          bool *undefined) {
  int64_t x = (int64_t)a, y = (int64_t)b, r = 0;
  bool over = false;
  switch ((ExprOp)n->op) {
  case EXPR_NEG:
    over = __builtin_sub_overflow((int64_t)0, x, &r);
    break;
  case EXPR_ADD:
    over = __builtin_add_overflow(x, y, &r);
    break;
  case EXPR_SUB:
    over = __builtin_sub_overflow(x, y, &r);
    break;
  case EXPR_MUL:
    over = __builtin_mul_overflow(x, y, &r);
    break;
  case EXPR_SDIV:
  case EXPR_SREM:
    return divide_int(n->op == EXPR_SDIV, x, y, undefined);
  case EXPR_SLT:
    return x < y;
  default:
    assert(!"an INT operator");
  }
  *undefined |= over;
  return (uint64_t)r;
}

// --- STR --------------------------------------------------------------------

typedef struct {
  const char *s;
  size_t n;
} Text;

static Text text(const ExprPool *p, uint64_t id) {
  Text t;
  t.s = expr_text(p, id, &t.n);
  return t;
}

static bool begins(Text s, size_t at, Text t) {
  return t.n <= s.n - at && memcmp(s.s + at, t.s, t.n) == 0;
}

// Where `t` is first found in `s` at or behind `from`, or -1.
static int64_t index_of(Text s, Text t, int64_t from) {
  if (from < 0 || (uint64_t)from > s.n)
    return -1;
  for (size_t i = (size_t)from; i + t.n <= s.n; i++)
    if (begins(s, i, t))
      return (int64_t)i;
  return -1;
}

static uint64_t substring(ExprPool *p, Text s, int64_t from, int64_t len) {
  if (from < 0 || (uint64_t)from >= s.n || len <= 0)
    return 0;
  size_t rest = s.n - (size_t)from;
  return expr_text_id(p, s.s + from, (uint64_t)len < rest ? (size_t)len : rest);
}

static uint64_t join(ExprPool *p, Text a, Text b) {
  Str all = {0};
  str_addn(&all, a.s, a.n);
  str_addn(&all, b.s, b.n);
  uint64_t id = expr_text_id(p, str_text(&all), all.len);
  str_release(&all);
  return id;
}

static bool less(Text a, Text b) {
  int c = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);
  return c ? c < 0 : a.n < b.n;
}

static uint64_t to_int(Text t, bool *undefined) {
  int64_t v = 0;
  for (size_t i = 0; i < t.n; i++) {
    if (t.s[i] < '0' || t.s[i] > '9')
      return (uint64_t)-1;
    if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
        __builtin_add_overflow(v, (int64_t)(t.s[i] - '0'), &v))
      *undefined = true;
  }
  return t.n ? (uint64_t)v : (uint64_t)-1;
}

static uint64_t of_int(ExprPool *p, int64_t v) {
  char digits[32];
  int n = snprintf(digits, sizeof digits, "%lld", (long long)v);
  return v < 0 ? 0 : expr_text_id(p, digits, (size_t)n);
}

static uint64_t apply_str(ExprPool *p, const ExprNode *n, uint64_t a,
                          uint64_t b, uint64_t c, bool *undefined) {
  if (n->op == EXPR_STR_OF_INT)
    return of_int(p, (int64_t)a);
  Text s = text(p, a), t = {"", 0};
  if (expr_arity((ExprOp)n->op) > 1 && n->op != EXPR_STR_SUB)
    t = text(p, b);
  switch ((ExprOp)n->op) {
  case EXPR_STR_LEN:
    return s.n;
  case EXPR_STR_CONCAT:
    return join(p, s, t);
  case EXPR_STR_SUB:
    return substring(p, s, (int64_t)b, (int64_t)c);
  case EXPR_STR_INDEX:
    return (uint64_t)index_of(s, t, (int64_t)c);
  case EXPR_STR_CONTAINS:
    return index_of(s, t, 0) >= 0;
  case EXPR_STR_PREFIX:
    return begins(t, 0, s);
  case EXPR_STR_SUFFIX:
    return s.n <= t.n && begins(t, t.n - s.n, s);
  case EXPR_STR_LT:
    return less(s, t);
  case EXPR_STR_TO_INT:
    return to_int(s, undefined);
  default:
    assert(!"a STR operator");
    return 0;
  }
}

// --- all --------------------------------------------------------------------

static uint64_t apply(ExprPool *p, const ExprNode *n, ExprSort from, uint64_t a,
                      uint64_t b, uint64_t c, bool *undefined) {
  if (n->op == EXPR_ITE)
    return a ? b : c;
  if (n->op == EXPR_EQ)
    return from.kind == SORT_FP ? same_fp(from.width, a, b) : a == b;
  if (n->op >= EXPR_STR_LEN)
    return apply_str(p, n, a, b, c, undefined);
  if (n->op >= EXPR_FNEG && n->op <= EXPR_BITS_OF_FP)
    return apply_fp(n, from, a, b);
  if (from.kind == SORT_INT)
    return apply_int(n, a, b, undefined);
  return apply_bv(p, n, from.width, a, b);
}

uint64_t expr_apply(ExprPool *p, const ExprNode *n, ExprSort from, uint64_t a,
                    uint64_t b, uint64_t c, bool *undefined) {
  uint64_t v = apply(p, n, from, a, b, c, undefined);
  return n->sort.kind == SORT_BV ? v & expr_mask(n->sort.width) : v;
}
