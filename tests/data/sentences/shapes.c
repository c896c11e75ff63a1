// Conditions of every shape, for tests/e2e/sentences: what culprit says about
// them is compared with what llvm-cov counts. Arguments: x, y and a word.
#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define unlikely(x) __builtin_expect(!!(x), 0)
#define BAD(x) (!(x))
#define GOOD(x) (!BAD(x))
#define EITHER(a, b) ((a) || !(b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define ALWAYS 1
#define FLAG seen

static int seen;
static int calls;

static int f(int x) {
  calls++;
  return x;
}

static bool negative(int x) { return x < 0; }

static int negations(int x, int y, const char *s) {
  int r = 0;
  if (!x)
    r += 1;
  if (!!x)
    r += 2;
  if (!!!(x))
    r += 4;
  if (!(x == 3))
    r += 8;
  if (!(x != y))
    r += 16;
  if (!s[0])
    r += 32;
  if (!strcmp(s, "word"))
    r += 64;
  if ((!x))
    r += 128;
  if (!x == 0)
    r += 256;
  if (-!x)
    r += 512;
  if ((bool)!x)
    r += 1024;
  if (!(bool)x)
    r += 2048;
  if (!(x & 1))
    r += 4096;
  if (!(r = f(y)))
    r += 1;
  return r;
}

static int operators(int x, int y, const char *s) {
  int r = 0;
  if (!(x && y))
    r += 1;
  if (!x || (!y && !*s))
    r += 2;
  if (!(x || !y) || !s[0])
    r += 4;
  if ((x && !y) || !(x || y))
    r += 8;
  if (x > 1 &&
      !negative(y) &&
      y != 7)
    r += 16;
  bool a = !x && y, b = !(x && !y), c = x || !y;
  r += a + b + c;
  r += !x ? 3 : 4;
  r += !y ? f(1) : f(2);
  r += (x ? !y : y > 3) ? 1 : 0;
  r += !x && !y && !*s;
  if (ALWAYS && !x)
    r += 32;
  if (unlikely(!x))
    r += 64;
  if (__builtin_expect(!y, 0))
    r += 128;
  return r;
}

static int kinds(int x, double d, const char *p, bool b) {
  int r = 0;
  if (!d)
    r += 1;
  if (d)
    r += 2;
  if (!(d < 1.5))
    r += 4;
  if (!p)
    r += 8;
  if (p)
    r += 16;
  if (!b)
    r += 32;
  if (b)
    r += 64;
  if ((r = x), !r)
    r += 128;
  if (!r--)
    r += 256;
  if (!negative(x))
    r += 512;
  return r;
}

static int macros(int x, int y) {
  int r = 0;
  if (BAD(x))
    r += 1;
  if (!BAD(x))
    r += 2;
  if (GOOD(x))
    r += 4;
  if (BAD(x) && y)
    r += 8;
  if (x || BAD(y))
    r += 16;
  if (!(x || BAD(y)))
    r += 32;
  if (!FLAG)
    r += 64;
  if (!isdigit(x))
    r += 128;
  if (isdigit(x) || !isalpha(y))
    r += 256;
  while (BAD(r))
    r++;
  return r;
}

static int loops(int x, int y) {
  int n = x < 0 ? -x : x, r = 0;
  while (n)
    n--;
  while (!(n > 3))
    n++;
  do
    n--;
  while (n);
  do {
    n++;
  } while (!(n >= y) && n < 9);
  for (int i = 0; !(i == 4); i++)
    r += i;
  for (const char *p = "ab"; *p; p++)
    r++;
  for (int i = 0; i < 5 && !(i > y); i++)
    r++;
  while (r > 3 && (x || !y))
    r--;
  return r;
}

static int cases(int x, int y) {
  int r = 0;
  switch (x) {
  case 0:
    r = 1;
    break;
  case 'a':
  case 3:
    switch (y) {
    case 2:
      r = 2;
      break;
    case 1000:
      r = 3;
    }
    break;
  case 7 + 1:
    r = 4;
    break;
  default:
    r = 5;
  }
  switch (y) {
  case 1:
    r++;
  }
  return r;
}

int main(int argc, char **argv) {
  int x = argc > 1 ? atoi(argv[1]) : 0;
  int y = argc > 2 ? atoi(argv[2]) : 0;
  const char *s = argc > 3 ? argv[3] : "";
  seen = y > 2;
  assert(!x || argc > 1);
  printf("%d %d %d %d %d %d\n", negations(x, y, s), operators(x, y, s),
         kinds(x, x / 2.0, argc > 2 ? s : NULL, y > 1), macros(x, y),
         loops(x, y), cases(x, y));
  return EITHER(x, y) ? LARGER(x, y) != 3 : 0;
}
