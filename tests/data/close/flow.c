// What the subjects lack, for tests/e2e/close-records: ways through a program.
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char joined[64];

#define SQUARE(x) ((x) * (x))
#define CLAMP(x, lo, hi) ((x) < (lo) ? (lo) : (x) > (hi) ? (hi) : (x))

static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

static bool is_odd(int n);
static bool is_even(int n) {
  if (n == 0)
    return true;
  return is_odd(n - 1);
}
static bool is_odd(int n) { return n != 0 && is_even(n - 1); }

static int sum(int n, ...) {
  va_list list;
  int s = 0;
  va_start(list, n);
  for (int i = 0; i < n; i++)
    s += va_arg(list, int);
  va_end(list);
  return s;
}

static double blend(const char *kinds, ...) {
  va_list list, again;
  double d = 0;
  va_start(list, kinds);
  va_copy(again, list);
  for (const char *k = kinds; *k; k++)
    if (*k == 'd')
      d += va_arg(list, double);
    else if (*k == 'i')
      d += va_arg(list, int);
    else
      d += (double)strlen(va_arg(list, char *));
  va_end(list);
  va_end(again);
  return d;
}

static void say(const char *form, ...) {
  va_list list;
  va_start(list, form);
  vprintf(form, list);
  va_end(list);
}

static int twice(int x) { return 2 * x; }
static int negated(int x) { return -x; }
static int (*const table[])(int) = {twice, negated, abs};
static int (*chosen)(int) = twice;

static int apply(int (*f)(int), int x) { return f(x); }

static int up(const void *a, const void *b) {
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static int by_length(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  if (strlen(x) != strlen(y))
    return strlen(x) < strlen(y) ? -1 : 1;
  return strcmp(x, y);
}

static void sorting(int n) {
  int cells[7];
  for (int i = 0; i < 7; i++)
    cells[i] = (i * n + 3) % 5;
  qsort(cells, 7, sizeof *cells, up);
  const char *words[] = {"pear", "fig", "apple", "kiwi"};
  qsort(words, 4, sizeof *words, by_length);
  int key = 3;
  int *found = bsearch(&key, cells, 7, sizeof *cells, up);
  printf("%d %d %s %d\n", cells[0], cells[6], words[n & 3], found != NULL);
}

static int gotos(int n) {
  int i = 0, s = 0;
again:
  s += i;
  if (++i < n)
    goto again;
  if (s > 5)
    goto end;
  s = -s;
end:
  return s;
}

static const char *name(int n) {
  static int calls;
  calls++;
  switch (n) {
  case -1:
    return NULL;
  case 0 ... 1:
    return "few";
  case 2:
    calls += 5;
    // fall through
  case 3:
    return calls > 5 ? "some" : "three";
  }
  return "many";
}

static void strings(int n) {
  char word[16], line[40] = "", *p;
  strcpy(word, "ab");
  word[0] = (char)('a' + n % 20);
  strcat(word, "cd");
  for (int i = 0; i < n && i < 3; i++)
    strcat(line, word);
  snprintf(joined, sizeof joined, "%s/%.2s/%d", line, word, n);
  for (p = joined; *p; p++)
    if (*p == '/')
      *p = ':';
  int a = 0, b = 0;
  char tail[8] = "-";
  int got = sscanf("12,34 xyz", "%d,%d %7s", &a, &b, tail);
  char *stop;
  long v = strtol(joined + strlen(joined) - 1, &stop, 10);
  memset(word + 1, 'z', 2);
  if (strncmp(word, "bzz", 3) == 0 || strchr(word, 'q'))
    puts("found");
  char *copy = strdup(word);
  copy[1] = '\0';
  printf("%s %d %d %d %s %ld %d %s\n", joined, got, a, b, tail, v, *stop,
         copy);
  free(copy);
  p = NULL;
  printf("%s\n", p ? p : "none");
}

static void loops(int n) {
  int count = 0, grid[3][4] = {{0}};
  int sized[n + 1];
  do {
    count++;
  } while (count < n);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      if (j == n)
        continue;
      if (i * j > 4)
        break;
      grid[i][j] = i + j;
    }
  for (int i = 0; i <= n; i++)
    sized[i] = i ? sized[i - 1] + grid[i % 3][1] : count;
  int x = (count++, count), y = x > 2 && n != 3, z = CLAMP(x, 1, SQUARE(2));
  printf("%d %d %d %d\n", sized[n], y, z,
         factorial(
             z) +
             count);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  printf("%d %d %d\n", factorial(n), is_even(n), sum(2, n, 4));
  printf("%d\n", sum(9, 1, 2, 3, 4, 5, 6, 7, 8, n));
  printf("%g\n", blend("dis", 0.5 * n, n, "word"));
  say("%d %s %.1f\n", n, argc > 1 ? argv[1] : "-", n / 2.0);
  for (int i = 0; i < 3; i++)
    printf("%d ", apply(table[i], n - 3));
  if (n > 3)
    chosen = negated;
  printf("%d\n", chosen(n));
  sorting(n);
  printf("%d\n", gotos(n));
  const char *s = name(n);
  puts(s ? s : "null");
  name(n);
  strings(n);
  loops(n);
  if (n == 7)
    exit(3);
  return 0;
}
