// What the subjects lack, for tests/e2e/close-records: values of every kind.
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef union {
  int whole;
  unsigned char part[4];
  float real;
  struct {
    short low, high;
  } halves;
} Mixed;

typedef struct {
  unsigned a : 3;
  signed b : 5;
  unsigned long c : 40;
  bool d : 1;
} Bits;

typedef struct {
  int x, y;
} Small;

typedef struct {
  long a[5];
  char name[24];
} Large;

typedef struct {
  float u, v;
} Reals;

typedef enum { NONE, ONE, TWO, MANY = 9 } Count;

static int changed;
static unsigned char row[8];
static Small pair_of[3] = {{1, 2}, {3, 4}};
static double total;
static const char *kept = "start";
static bool flag;
static Large store_of;
static _Thread_local int own;

static void unions(int n) {
  Mixed m;
  m.whole = n;
  m.part[1] = 7;
  m.halves.high = (short)n;
  int sum = 0;
  for (int i = 0; i < 4; i++)
    sum += m.part[i];
  printf("%d %d %d\n", sum, m.halves.low, m.whole);
  m.real = (float)n;
  printf("%d\n", m.whole == 0);
}

static void bits(int n) {
  Bits b = {0};
  b.a = (unsigned)n;
  b.b = n;
  b.c = (unsigned long)n << 20;
  b.d = n > 3;
  if (b.a > 2)
    b.b--;
  b.a++;
  printf("%u %d %lu %d\n", b.a, b.b, (unsigned long)b.c, b.d);
}

static void reals(int n) {
  double none = n > 2 ? NAN : n * 0.5, one = 1;
  float f = (float)none;
  long double wide = n;
  int less = none < one, more = none > one, same = none == one;
  int other = none != one, not_less = !(none < one);
  printf("%d %d %d %d %d\n", less, more, same, other, not_less);
  if (none < 0)
    puts("negative");
  if (f >= 1.5f)
    puts("float");
  if (none != none)
    puts("nan");
  wide = wide / 2;
  if (wide > 1)
    puts("wide");
  total = total + one;
  double size = fabs(n - 2.0), root = sqrt(n + 2);
  if (fabs(n - 2.0) == 0)
    puts("zero");
  int distance = abs(n - 2);
  if (abs(n - 3) > 0)
    printf("%g %.3f %d\n", size, root, distance);
  total = none == one ? total : -0.0;
  printf("%d %d\n", isnan(none) != 0, total == 0);
}

static void integers(int n) {
  unsigned u = (unsigned)n;
  signed char c = (signed char)(n * 50);
  unsigned char byte = (unsigned char)c;
  unsigned short s = (unsigned short)-n;
  uint64_t big = UINT64_MAX - (unsigned)n;
  int64_t least = INT64_MIN + (n & 7);
  if (u > (unsigned)-1 - 2)
    puts("wraps");
  if (n < (int)sizeof n)
    puts("small");
  if ((size_t)n < sizeof n)
    puts("small, without a sign");
  printf("%d %d %d\n", c < byte, c == byte, s > n);
  printf("%d %d\n", big > 10, least < 0);
  if (big == UINT64_MAX)
    puts("most");
  if (u >= 0)
    puts("always");
  if (big != (uint64_t)least)
    puts("different");
  changed = n;
  changed = n;
  changed += 0;
  changed++;
  changed <<= 2;
  changed = changed > 4 ? changed : -changed;
  row[n & 7] = (unsigned char)n;
  row[n & 7] |= 1;
  flag = n;
  flag = !flag;
  own = n;
  own--;
  printf("%d %d %d\n", changed, row[n & 7], own);
}

static void pointers(int n) {
  int cells[6] = {0}, *p = cells, *end = cells + 6, *none = NULL;
  const char *text = n > 1 ? "abc" : NULL;
  for (; p < end; p++)
    *p = (int)(p - cells) * n;
  for (p = end; p-- > cells;)
    if (*p == n)
      none = p;
  if (none)
    *none = 5;
  if (!text)
    text = kept;
  if (none == cells + 1)
    puts("first");
  int **q = &none;
  if (*q != NULL && **q == 5)
    puts("five");
  kept = text;
  kept = text;
  p = none ? none : cells;
  *p += 2;
  printf("%d %s %d\n", *p, text, kept == text);
}

static Small swap(Small s) {
  Small t = {s.y, s.x};
  return t;
}

static Small choose(Small a, Small b, int n) {
  if (n > 2)
    return a;
  return b;
}

static Large enlarge(Large l, int n) {
  l.a[1] = n;
  snprintf(l.name, sizeof l.name, "%s-%d", l.name[0] ? "x" : "", n);
  return l;
}

static Reals halves(Reals r) {
  Reals h = {r.u / 2, r.v / 2};
  return h;
}

static void structs(int n) {
  Small a = {n, 1}, b = swap(a), c;
  c = b;
  c.x++;
  a = choose(b, c, n);
  pair_of[1] = a;
  pair_of[2] = pair_of[n > 1];
  Large l = {.a = {1, 2, 3}}, m;
  m = enlarge(l, n);
  store_of = m;
  l = enlarge(m, m.a[1] > 2 ? 1 : 2);
  memmove(&l.a[1], &l.a[0], 3 * sizeof l.a[0]);
  Reals r = halves((Reals){(float)n, 3});
  Small *heap = malloc(2 * sizeof *heap);
  heap[0] = (Small){.x = n};
  heap[1] = heap[0];
  heap = realloc(heap, 3 * sizeof *heap);
  heap[2] = pair_of[2];
  printf("%d %d %d %d %ld %s %g\n", a.x, b.y, c.x, pair_of[2].x, l.a[2],
         l.name, r.u + r.v);
  printf("%d %d\n", heap[1].x, heap[2].y);
  free(heap);
  int *zeros = calloc(4, sizeof *zeros);
  zeros[1] = n;
  printf("%d\n", zeros[0] + zeros[1]);
  free(zeros);
}

static Count count(int n) {
  switch (n) {
  case 0:
    return NONE;
  case 1:
    return ONE;
  case 2:
    return TWO;
  default:
    break;
  }
  return MANY;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  unions(n);
  bits(n);
  reals(n);
  integers(n);
  pointers(n);
  structs(n);
  return count(n);
}
