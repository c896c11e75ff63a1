// Text read byte by byte: see models_text.h.
#include "replay/models_text.h"

#include <ctype.h>
#include <string.h>

int text_peek(TextReader *t, Expr *e) {
  Replay *r = t->replay;
  uint8_t b = 0;
  *e = 0;
  if (!t->stream) {
    if (!model_byte(r, t->at, &b, e))
      t->unknown = true;
    return b;
  }
  return stream_peek(r, t->stream, e);
}

void text_next(TextReader *t) {
  if (t->stream)
    t->stream->at++;
  else
    t->at++;
}

bool text_is(TextReader *t, const bool set[256]) {
  Expr e;
  int b = text_peek(t, &e);
  if (b < 0)
    return false;
  if (e) {
    uint64_t entries[256];
    for (int i = 0; i < 256; i++)
      entries[i] = set[i];
    ExprTable table = expr_new_table(t->replay->pool, 1, entries, 256);
    replay_event(t->replay, PATH_LIBC, expr_table(t->replay->pool, table, e),
                 set[b]);
  }
  return set[b];
}

static void set_of(bool set[256], const char *text) {
  memset(set, 0, 256);
  for (; *text; text++)
    set[(uint8_t)*text] = true;
}

void text_skip_space(TextReader *t) {
  bool space[256];
  set_of(space, " \t\n\v\f\r");
  while (!t->unknown && text_is(t, space))
    text_next(t);
}

static bool is_digit(TextReader *t, unsigned base) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  bool set[256] = {false};
  for (unsigned i = 0; i < base && i < 36; i++)
    set[(uint8_t)digits[i]] = set[toupper((uint8_t)digits[i])] = true;
  return text_is(t, set);
}

// What the digit at hand is worth, BV(64).
static Expr digit_value(TextReader *t, unsigned base) {
  ExprPool *p = t->replay->pool;
  Expr e;
  int b = text_peek(t, &e);
  if (!e) {
    int v = isdigit(b) ? b - '0' : tolower(b) - 'a' + 10;
    return expr_const(p, 64, (uint64_t)v);
  }
  if (base <= 10)
    return expr_zext(p, expr_sub(p, e, expr_const(p, 8, '0')), 64);
  uint64_t entries[256];
  for (int i = 0; i < 256; i++)
    entries[i] = (uint64_t)(isdigit(i)   ? i - '0'
                            : isalpha(i) ? tolower(i) - 'a' + 10
                                         : 0);
  ExprTable table = expr_new_table(p, 8, entries, 256);
  return expr_zext(p, expr_table(p, table, e), 64);
}

// 0x, 0: as strtol takes them. Only where it is there for certain.
static unsigned read_prefix(TextReader *t, unsigned base) {
  Expr e;
  if ((base == 0 || base == 16) && text_peek(t, &e) == '0') {
    TextReader second = *t;
    Stream saved;
    if (t->stream) {
      saved = *t->stream;
      second.stream = &saved;
    }
    text_next(&second);
    bool set[256];
    set_of(set, "xX");
    bool hex = text_is(&second, set);
    if (hex) {
      bool zero[256];
      set_of(zero, "0");
      text_is(t, zero);
      text_next(t);
      text_next(t);
      return 16;
    }
    return base ? base : 8;
  }
  return base ? base : 10;
}

bool text_integer(TextReader *t, unsigned base, uint64_t most, Expr *out) {
  ExprPool *p = t->replay->pool;
  bool sign[256], minus[256];
  set_of(sign, "+-");
  set_of(minus, "-");
  if (base == 1 || base > 36)
    return false;
  text_skip_space(t);
  bool negative = false;
  uint64_t n = 0;
  if (!t->unknown && text_is(t, sign)) {
    negative = text_is(t, minus);
    text_next(t);
    n++;
  }
  base = read_prefix(t, base);
  Expr value = expr_const(p, 64, 0);
  for (; n < most && !t->unknown && is_digit(t, base); n++) {
    value = expr_add(p, expr_mul(p, value, expr_const(p, 64, base)),
                     digit_value(t, base));
    text_next(t);
    t->any = true;
  }
  *out = negative ? expr_neg(p, value) : value;
  return !t->unknown;
}

// Appends the digits at hand to *value; returns how many.
static unsigned read_digits(TextReader *t, Expr *value) {
  ExprPool *p = t->replay->pool;
  unsigned n = 0;
  while (!t->unknown && is_digit(t, 10)) {
    *value = expr_add(p, expr_mul(p, *value, expr_const(p, 64, 10)),
                      digit_value(t, 10));
    text_next(t);
    n++;
  }
  return n;
}

// A whole number below 10^15 divided by a power of ten up to 10^15, both exact
// as doubles, is rounded once: that is what strtod must give.
bool text_decimal(TextReader *t, Expr *e) {
  enum { MOST_DIGITS = 15 };
  ExprPool *p = t->replay->pool;
  bool set[256];
  text_skip_space(t);
  set_of(set, "-");
  bool negative = !t->unknown && text_is(t, set);
  set_of(set, "+-");
  if (text_is(t, set))
    text_next(t);
  Expr value = expr_const(p, 64, 0);
  unsigned whole = read_digits(t, &value), behind = 0;
  set_of(set, ".");
  if (!t->unknown && text_is(t, set)) {
    text_next(t);
    behind = read_digits(t, &value);
  }
  t->any = whole + behind > 0;
  set_of(set, "eE");
  if (t->unknown || !t->any || whole + behind > MOST_DIGITS || text_is(t, set))
    return false;
  double scale = 1;
  for (unsigned i = 0; i < behind; i++)
    scale *= 10;
  *e = expr_fp_of_sint(p, value, 64);
  if (behind)
    *e = expr_fdiv(p, *e, expr_const_double(p, scale));
  if (negative)
    *e = expr_fneg(p, *e);
  return true;
}
