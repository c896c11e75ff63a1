// PHP 8.2's scalars outside of PHP: conversions and comparisons. See term.h.
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "php/record/term.h"

PhpValue php_null(void) { return (PhpValue){.type = VALUE_NULL, .s = ""}; }

PhpValue php_bool(bool b) {
  return (PhpValue){.type = b ? VALUE_TRUE : VALUE_FALSE, .s = ""};
}

PhpValue php_int(int64_t i) {
  return (PhpValue){.type = VALUE_INT, .i = i, .s = ""};
}

PhpValue php_sign(int64_t i) {
  PhpValue v = php_int((i > 0) - (i < 0));
  v.sign_only = i != 0;
  return v;
}

PhpValue php_float(double d) {
  return (PhpValue){.type = VALUE_FLOAT, .d = d, .s = ""};
}

PhpValue php_string(const char *s, size_t n) {
  return (PhpValue){.type = VALUE_STRING, .s = s, .n = n};
}

PhpValue php_unknown(void) {
  return (PhpValue){.type = VALUE_UNKNOWN, .s = ""};
}

// --- numeric strings --------------------------------------------------------

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' ||
         c == '\f';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How many bytes a number takes from `s` on; *real: with a point or exponent.
static size_t scan_number(const char *s, size_t n, bool *real) {
  size_t i = n && (*s == '-' || *s == '+'), digits = 0;
  *real = false;
  for (; i < n && is_digit(s[i]); i++)
    digits++;
  if (i < n && s[i] == '.' && (digits || (i + 1 < n && is_digit(s[i + 1])))) {
    *real = true;
    for (i++; i < n && is_digit(s[i]); i++)
      digits++;
  }
  if (!digits)
    return 0;
  if (i < n && (s[i] == 'e' || s[i] == 'E')) {
    size_t k = i + 1 + (i + 1 < n && (s[i + 1] == '-' || s[i + 1] == '+'));
    if (k < n && is_digit(s[k])) {
      *real = true;
      for (i = k; i < n && is_digit(s[i]); i++)
        ;
    }
  }
  return i;
}

int php_numeric(const char *s, size_t n, bool whole, int64_t *i, double *d) {
  char room[128];
  bool real;
  while (n && is_blank(*s))
    s++, n--;
  size_t used = scan_number(s, n, &real), end = used;
  while (end < n && is_blank(s[end]))
    end++;
  if (!used || used >= sizeof room || (whole && end < n))
    return VALUE_NULL;
  memcpy(room, s, used);
  room[used] = '\0';
  errno = 0;
  if (!real) {
    *i = strtoll(room, NULL, 10);
    if (!errno)
      return VALUE_INT;
  }
  *d = strtod(room, NULL);
  return VALUE_FLOAT;
}

// --- conversions ------------------------------------------------------------

bool php_truth(PhpValue v) {
  switch (v.type) {
  case VALUE_TRUE:
    return true;
  case VALUE_INT:
    return v.i != 0;
  case VALUE_FLOAT:
    return v.d != 0;
  case VALUE_STRING:
    return v.n > 1 || (v.n == 1 && *v.s != '0');
  default:
    return false;
  }
}

static PhpValue int_of_string(PhpValue v) {
  int64_t i;
  double d;
  switch (php_numeric(v.s, v.n, false, &i, &d)) {
  case VALUE_INT:
    return php_int(i);
  case VALUE_FLOAT:
    if (!isfinite(d))
      return php_int(0);
    if (d >= 9223372036854775807.0)
      return php_int(INT64_MAX);
    return php_int(d <= -9223372036854775808.0 ? INT64_MIN : (int64_t)d);
  default:
    return php_int(0);
  }
}

// Beyond 64 bits PHP takes the low ones.
static PhpValue int_of_float(double d) {
  if (!isfinite(d))
    return php_int(0);
  if (fabs(d) < 9.2e18)
    return php_int((int64_t)d);
  double rest = fmod(d, 18446744073709551616.0);
  if (rest < 0)
    rest += 18446744073709551616.0;
  return php_int((int64_t)(uint64_t)rest);
}

PhpValue php_to_int(PhpValue v) {
  switch (v.type) {
  case VALUE_INT:
    return v;
  case VALUE_FLOAT:
    return int_of_float(v.d);
  case VALUE_STRING:
    return int_of_string(v);
  case VALUE_UNKNOWN:
    return v;
  default:
    return php_int(v.type == VALUE_TRUE);
  }
}

PhpValue php_to_number(PhpValue v) {
  int64_t i;
  double d;
  switch (v.type) {
  case VALUE_INT:
  case VALUE_FLOAT:
  case VALUE_UNKNOWN:
    return v;
  case VALUE_STRING:
    switch (php_numeric(v.s, v.n, false, &i, &d)) {
    case VALUE_INT:
      return php_int(i);
    case VALUE_FLOAT:
      return php_float(d);
    default:
      return php_unknown(); // TypeError
    }
  default:
    return php_int(v.type == VALUE_TRUE);
  }
}

PhpValue php_to_float(PhpValue v) {
  if (v.type == VALUE_STRING) {
    int64_t i;
    double d;
    int type = php_numeric(v.s, v.n, false, &i, &d);
    return php_float(type == VALUE_INT     ? (double)i
                     : type == VALUE_FLOAT ? d
                                           : 0);
  }
  PhpValue n = php_to_number(v);
  if (n.sign_only)
    return php_unknown();
  return n.type == VALUE_INT ? php_float((double)n.i) : n;
}

// As PHP prints it with precision=14: 0.1, 1.0E+25.
static PhpValue float_text(double d, Arena *arena) {
  if (isnan(d))
    return php_string("NAN", 3);
  if (isinf(d))
    return d > 0 ? php_string("INF", 3) : php_string("-INF", 4);
  char *text = arena_printf(arena, "%.14G", d);
  char *e = strchr(text, 'E');
  if (!e)
    return php_string(text, strlen(text));
  int exponent = atoi(e + 1);
  *e = '\0';
  text = arena_printf(arena, "%s%sE%+d", text, strchr(text, '.') ? "" : ".0",
                      exponent);
  return php_string(text, strlen(text));
}

PhpValue php_to_string(PhpValue v, Arena *arena) {
  switch (v.type) {
  case VALUE_TRUE:
    return php_string("1", 1);
  case VALUE_INT: {
    if (v.sign_only)
      return php_unknown();
    char *text = arena_printf(arena, "%lld", (long long)v.i);
    return php_string(text, strlen(text));
  }
  case VALUE_FLOAT:
    return float_text(v.d, arena);
  case VALUE_STRING:
  case VALUE_UNKNOWN:
    return v;
  default:
    return php_string("", 0);
  }
}

// --- comparison -------------------------------------------------------------

bool php_same(PhpValue a, PhpValue b) {
  if (a.type != b.type)
    return false;
  switch (a.type) {
  case VALUE_INT:
    return a.i == b.i;
  case VALUE_FLOAT:
    return a.d == b.d;
  case VALUE_STRING:
    return a.n == b.n && !memcmp(a.s, b.s, a.n);
  default:
    return true;
  }
}

static int order_bytes(PhpValue a, PhpValue b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = memcmp(a.s, b.s, n);
  if (c)
    return c < 0 ? -1 : 1;
  return (a.n > b.n) - (a.n < b.n);
}

static int order_numbers(PhpValue a, PhpValue b) {
  if (a.type == VALUE_INT && b.type == VALUE_INT)
    return (a.i > b.i) - (a.i < b.i);
  double x = a.type == VALUE_INT ? (double)a.i : a.d;
  double y = b.type == VALUE_INT ? (double)b.i : b.d;
  if (isnan(x) || isnan(y))
    return 1;
  return (x > y) - (x < y);
}

// The number that the whole string is; its type is NULL if it is none.
static PhpValue whole_number(PhpValue v) {
  PhpValue n = php_null();
  n.type = php_numeric(v.s, v.n, true, &n.i, &n.d);
  return n;
}

static int order_strings(PhpValue a, PhpValue b) {
  PhpValue x = whole_number(a), y = whole_number(b);
  if (x.type == VALUE_NULL || y.type == VALUE_NULL)
    return order_bytes(a, b);
  if (x.type == VALUE_FLOAT && y.type == VALUE_FLOAT && x.d == y.d &&
      fabs(x.d) >= 9.2e18) // too large to be told apart as numbers
    return order_bytes(a, b);
  return order_numbers(x, y);
}

static bool is_number(PhpValue v) {
  return v.type == VALUE_INT || v.type == VALUE_FLOAT;
}

static int order_mixed(PhpValue number, PhpValue text, Arena *arena) {
  PhpValue y = whole_number(text);
  if (y.type != VALUE_NULL)
    return order_numbers(number, y);
  return order_bytes(php_to_string(number, arena), text);
}

// Is the order the same for the least and the greatest number of this sign?
static int order_sign(PhpValue a, PhpValue b, Arena *arena) {
  int least = php_order(php_int(a.i), b, arena);
  int most = php_order(php_int(a.i * INT32_MAX), b, arena);
  return least == most ? least : 2;
}

int php_order(PhpValue a, PhpValue b, Arena *arena) {
  if (a.sign_only)
    return order_sign(a, b, arena);
  if (b.sign_only) {
    int order = order_sign(b, a, arena);
    return order == 2 ? 2 : -order;
  }
  if (a.type == VALUE_UNKNOWN || b.type == VALUE_UNKNOWN)
    return 2;
  if (a.type == VALUE_STRING && b.type == VALUE_STRING)
    return order_strings(a, b);
  if (is_number(a) && is_number(b))
    return order_numbers(a, b);
  if (is_number(a) && b.type == VALUE_STRING)
    return order_mixed(a, b, arena);
  if (a.type == VALUE_STRING && is_number(b))
    return -order_mixed(b, a, arena);
  if (a.type == VALUE_NULL && b.type == VALUE_STRING)
    return b.n ? -1 : 0;
  if (a.type == VALUE_STRING && b.type == VALUE_NULL)
    return a.n ? 1 : 0;
  return (int)php_truth(a) - (int)php_truth(b);
}
