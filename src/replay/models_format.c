// Models of sprintf and its family. What was written is in memory already, all
// concrete; here its bytes get their expressions back:
//
//   sprintf(out, "<%s:%3d>", word, n)     out[1] = word[0], ...
//
// %s and %c copy. An integer gives its digits: how many there are, and its
// sign, are conditions; each digit is a quotient's remainder. Floats are made
// concrete, and counted. Arguments come from the call, or from a va_list
// (System V x86-64) as replay_va_start() laid it out.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/models.h"

enum { LONGEST = 1 << 24, GP_END = 48, FP_END = 176 };

typedef struct {
  Replay *replay;
  ModelCall *call;
  uint64_t format;     // address
  uint64_t out, limit; // goes on here; nothing is written from there on
  uint32_t arg;        // of the call, the next
  bool listed;         // the arguments are in a va_list:
  uint32_t gp, fp;
  uint64_t stack, saved;
  bool lost; // something was made concrete
} Formatter;

typedef struct {
  bool left, zero, plus, space;
  int64_t width, precision; // precision -1: none
  unsigned bits;            // of an integer
  uint8_t conversion;
} Spec;

// --- arguments --------------------------------------------------------------

static bool open_list(Formatter *f, uint64_t list) {
  uint64_t offsets;
  Shadow *m = f->replay->shadow;
  f->listed = true;
  if (!shadow_word(m, list, &offsets) || !shadow_word(m, list + 8, &f->stack) ||
      !shadow_word(m, list + 16, &f->saved))
    return false;
  f->gp = (uint32_t)offsets;
  f->fp = (uint32_t)(offsets >> 32);
  return true;
}

static uint64_t place_in_list(Formatter *f, bool real) {
  uint64_t at;
  if (real && f->fp < FP_END)
    at = f->saved + f->fp, f->fp += 16;
  else if (!real && f->gp < GP_END)
    at = f->saved + f->gp, f->gp += 8;
  else
    at = f->stack, f->stack += 8;
  return at;
}

// The next argument, of `bits` (32 or 64). Its expression is a bit-vector, or a
// float's. False: it is not known.
static bool next_argument(Formatter *f, bool real, unsigned bits,
                          IrValue *out) {
  Replay *r = f->replay;
  if (!f->listed) {
    if (f->arg >= f->call->nargs)
      return false;
    *out = f->call->args[f->arg++];
    out->value &= expr_mask(bits);
    if (out->expr && !real)
      out->expr = expr_trunc(r->pool, replay_bits(r, *out, bits), bits);
    return true;
  }
  uint64_t at = place_in_list(f, real);
  out->value = 0;
  for (unsigned i = 0; i < bits / 8; i++) {
    uint8_t b;
    if (!shadow_byte(r->shadow, at + i, &b))
      return false;
    out->value |= (uint64_t)b << 8 * i;
  }
  out->expr = shadow_load(r->shadow, at, bits / 8, out->value);
  return true;
}

// --- output -----------------------------------------------------------------

// One byte that was written. False: another one was.
static bool write_byte(Formatter *f, uint8_t byte, Expr e) {
  uint8_t written;
  uint64_t at = f->out++;
  if (at >= f->limit)
    return true;
  if (!shadow_byte(f->replay->shadow, at, &written) || written != byte)
    return false;
  if (e)
    shadow_store(f->replay->shadow, at, 1, byte,
                 expr_is_const(f->replay->pool, e) ? 0 : e);
  return true;
}

static bool write_many(Formatter *f, uint8_t byte, int64_t n) {
  if (n > LONGEST)
    return false;
  for (int64_t i = 0; i < n; i++)
    if (!write_byte(f, byte, 0))
      return false;
  return true;
}

// --- integers ---------------------------------------------------------------

static uint64_t power(unsigned base, unsigned n) {
  uint64_t v = 1;
  while (n--)
    v *= base;
  return v;
}

// The number has n digits.
static void tell_digits(Formatter *f, Expr e, unsigned base, unsigned n) {
  Replay *r = f->replay;
  ExprPool *p = r->pool;
  unsigned w = expr_width(p, e);
  if (n > 1)
    replay_event(r, PATH_LIBC,
                 expr_ult(p, e, expr_const(p, w, power(base, n - 1))), false);
  uint64_t most = expr_mask(w);
  for (unsigned i = 0; i < n; i++)
    most /= base;
  if (most) // else all numbers of this width are smaller
    replay_event(r, PATH_LIBC, expr_ult(p, e, expr_const(p, w, power(base, n))),
                 true);
}

// Digit k, counted from the last.
static Expr digit(ExprPool *p, Expr e, unsigned base, unsigned k, bool upper) {
  unsigned w = expr_width(p, e);
  Expr d;
  if (base == 16) {
    d = expr_zext(p, expr_extract(p, e, 4 * k, 4), 8);
    Expr letter = expr_add(p, d, expr_const(p, 8, (upper ? 'A' : 'a') - 10));
    return expr_ite(p, expr_ult(p, d, expr_const(p, 8, 10)),
                    expr_add(p, d, expr_const(p, 8, '0')), letter);
  }
  d = expr_urem(p, expr_udiv(p, e, expr_const(p, w, power(base, k))),
                expr_const(p, w, base));
  return expr_add(p, expr_trunc(p, d, 8), expr_const(p, 8, '0'));
}

static unsigned base_of(uint8_t conversion) {
  return conversion == 'o'                        ? 8
         : conversion == 'x' || conversion == 'X' ? 16
                                                  : 10;
}

static bool put_integer(Formatter *f, const Spec *s) {
  Replay *r = f->replay;
  ExprPool *p = r->pool;
  IrValue v;
  if (!next_argument(f, false, s->bits > 32 ? 64 : 32, &v) || !s->precision)
    return false;
  uint64_t value = v.value & expr_mask(s->bits);
  Expr e = v.expr ? expr_trunc(p, v.expr, s->bits) : 0;
  bool is_signed = s->conversion == 'd' || s->conversion == 'i';
  bool negative = is_signed && value >> (s->bits - 1);
  if (e && is_signed)
    replay_event(r, PATH_LIBC, expr_slt(p, e, expr_const(p, s->bits, 0)),
                 negative);
  if (negative) {
    value = (0 - value) & expr_mask(s->bits);
    e = e ? expr_neg(p, e) : 0;
  }
  char digits[32];
  unsigned base = base_of(s->conversion);
  int n = snprintf(digits, sizeof digits,
                   base == 8              ? "%" PRIo64
                   : s->conversion == 'x' ? "%" PRIx64
                   : s->conversion == 'X' ? "%" PRIX64
                                          : "%" PRIu64,
                   value);
  if (e)
    tell_digits(f, e, base, (unsigned)n);
  char sign = negative     ? '-'
              : !is_signed ? 0
              : s->plus    ? '+'
              : s->space   ? ' '
                           : 0;
  int64_t zeros = s->precision - n;
  if (s->zero && !s->left && s->precision < 0)
    zeros = s->width - n - !!sign;
  zeros = zeros > 0 ? zeros : 0;
  int64_t pad = s->width - zeros - n - !!sign;
  if ((!s->left && !write_many(f, ' ', pad)) ||
      (sign && !write_byte(f, (uint8_t)sign, 0)) || !write_many(f, '0', zeros))
    return false;
  for (int i = 0; i < n; i++)
    if (!write_byte(
            f, (uint8_t)digits[i],
            e ? digit(p, e, base, (unsigned)(n - 1 - i), s->conversion == 'X')
              : 0))
      return false;
  return !s->left || write_many(f, ' ', pad);
}

// --- others -----------------------------------------------------------------

static bool put_text(Formatter *f, const Spec *s) {
  Replay *r = f->replay;
  IrValue v;
  uint64_t n, most = s->precision < 0 ? LONGEST : (uint64_t)s->precision;
  if (!next_argument(f, false, 64, &v) || !v.value)
    return false;
  if (v.expr)
    replay_fix(r, PATH_LIBC, v);
  if (!model_string(r, v.value, most, &n))
    return false;
  int64_t pad = s->width - (int64_t)n;
  if (!s->left && !write_many(f, ' ', pad))
    return false;
  for (uint64_t i = 0; i < n; i++) {
    uint8_t b;
    if (!shadow_byte(r->shadow, v.value + i, &b) ||
        !write_byte(f, b, shadow_byte_expr(r->shadow, v.value + i)))
      return false;
  }
  return !s->left || write_many(f, ' ', pad);
}

static bool put_character(Formatter *f, const Spec *s) {
  Replay *r = f->replay;
  IrValue v;
  if (!next_argument(f, false, 32, &v))
    return false;
  Expr e = v.expr ? expr_trunc(r->pool, v.expr, 8) : 0;
  return (s->left || write_many(f, ' ', s->width - 1)) &&
         write_byte(f, (uint8_t)v.value, e) &&
         (!s->left || write_many(f, ' ', s->width - 1));
}

static bool put_real(Formatter *f, const Spec *s) {
  enum { MOST = 100 };
  IrValue v;
  double d;
  if (!next_argument(f, true, 64, &v) || s->width > MOST || s->precision > MOST)
    return false;
  if (v.expr) {
    replay_fix(f->replay, PATH_LIBC, v);
    f->lost = true;
  }
  memcpy(&d, &v.value, sizeof d);
  char format[16], text[512];
  snprintf(format, sizeof format, "%%%s%s%s%s*.*%c", s->left ? "-" : "",
           s->zero ? "0" : "", s->plus ? "+" : "", s->space ? " " : "",
           s->conversion);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  int n =
      snprintf(text, sizeof text, format, (int)s->width, (int)s->precision, d);
#pragma GCC diagnostic pop
  for (int i = 0; i < n; i++)
    if (i >= (int)sizeof text || !write_byte(f, (uint8_t)text[i], 0))
      return false;
  return true;
}

// --- the format -------------------------------------------------------------

static uint8_t format_byte(const Formatter *f, uint64_t i) {
  uint8_t b = 0;
  return shadow_byte(f->replay->shadow, f->format + i, &b) ? b : 0;
}

static bool read_number(Formatter *f, uint64_t *i, int64_t *out) {
  *out = 0;
  if (format_byte(f, *i) == '*') {
    IrValue v;
    ++*i;
    if (!next_argument(f, false, 32, &v))
      return false;
    if (v.expr)
      replay_fix(f->replay, PATH_LIBC, v);
    *out = (int32_t)v.value;
    return true;
  }
  for (uint8_t b; (b = format_byte(f, *i)) >= '0' && b <= '9'; ++*i)
    if ((*out = *out * 10 + b - '0') > LONGEST)
      return false;
  return true;
}

static void read_flags(const Formatter *f, uint64_t *i, Spec *s) {
  for (uint8_t b; (b = format_byte(f, *i)) && strchr("-0+ ", b); ++*i) {
    s->left |= b == '-';
    s->zero |= b == '0';
    s->plus |= b == '+';
    s->space |= b == ' ';
  }
}

// What stands behind a %; *i is moved behind it.
static bool read_spec(Formatter *f, uint64_t *i, Spec *s) {
  *s = (Spec){.bits = 32, .precision = -1};
  read_flags(f, i, s);
  if (!read_number(f, i, &s->width))
    return false;
  if (s->width < 0) {
    s->left = true;
    s->width = -s->width;
  }
  if (format_byte(f, *i) == '.') {
    ++*i;
    if (!read_number(f, i, &s->precision))
      return false;
  }
  for (uint8_t b; (b = format_byte(f, *i)) && strchr("hlzjt", b); ++*i)
    s->bits = b == 'h' ? s->bits / 2 : 64;
  s->conversion = format_byte(f, (*i)++);
  return s->bits >= 8;
}

static bool convert(Formatter *f, const Spec *s) {
  switch (s->conversion) {
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
    return put_integer(f, s);
  case 's':
    return s->bits == 32 && put_text(f, s);
  case 'c':
    return s->bits == 32 && put_character(f, s);
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
    return put_real(f, s);
  default:
    return false;
  }
}

static bool run(Formatter *f) {
  for (uint64_t i = 0;;) {
    uint8_t b = format_byte(f, i++);
    if (!b)
      return true;
    if (b != '%' || format_byte(f, i) == '%') {
      i += b == '%';
      if (!write_byte(f, b, 0))
        return false;
      continue;
    }
    Spec s;
    if (!read_spec(f, &i, &s) || !convert(f, &s))
      return false;
  }
}

// Does anything that the call was given depend on the input?
static bool any_symbolic(const Formatter *f) {
  for (uint32_t i = f->arg; i < f->call->nargs; i++) {
    IrValue v = f->call->args[i];
    uint8_t b;
    if (v.expr)
      return true;
    for (uint64_t k = 0;
         k < 4096 && v.value > 4096 && f->call->types[i].width == 64 &&
         shadow_byte(f->replay->shadow, v.value + k, &b) && b;
         k++)
      if (shadow_byte_expr(f->replay->shadow, v.value + k))
        return true;
  }
  return false;
}

// [v][a|s|sn]printf, also as __..._chk: out, [size], [flag, room], format, ...
bool model_format(Replay *r, ModelCall *c) {
  bool check = strstr(c->name, "_chk"), sized = strstr(c->name, "snprintf");
  bool fresh = strstr(c->name, "asprintf");
  uint32_t at = 1 + sized + (check ? 2 - fresh : 0);
  uint64_t out = model_arg(c, 0).value, size = model_arg(c, 1).value;
  if ((int32_t)c->result < 0)
    return true;
  if (fresh && !shadow_word(r->shadow, out, &out))
    return false;
  if (fresh)
    replay_resized(r, out, (uint32_t)c->result + 1); // its bytes are known
  Formatter f = {.replay = r,
                 .call = c,
                 .out = out,
                 .limit = !sized ? UINT64_MAX : out + (size ? size - 1 : 0),
                 .format = model_fixed(r, c, at),
                 .arg = at + 1};
  if (c->name[0] == 'v' || strstr(c->name, "_v")) {
    if (!open_list(&f, model_arg(c, at + 1).value))
      return false;
  } else if (!any_symbolic(&f)) {
    return true;
  }
  if (!run(&f) || f.out - out != (uint32_t)c->result)
    return false;
  if (f.lost)
    replay_lost(r, c->name);
  return true;
}
