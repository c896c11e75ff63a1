// sprintf with widths, signs and bases, through a va_list, and into memory of
// its own; fractions are made concrete and counted.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[64];
static void say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  char out[64], *fresh = NULL;
  sprintf(out, "[%5d|%-6x|%03u]", -n, (unsigned)n * 3, (unsigned)n % 7);
  if (!strcmp(out, "[ -431|50d   |004]")) // wide
    return 1;
  say("%s-%c%ld", argv[1], argv[1][0], (long)n * 1000);
  if (text[2] == '9' && text[6] == '4') // list
    return 2;
  if (asprintf(&fresh, "%.2s%hhd", argv[1], (signed char)n) < 0)
    return 3;
  if (fresh[3] == '7') // fresh
    return 4;
  sprintf(out, "%.1f", n / 2.0); // fraction
  return out[0] == '9';
}
// args: 432
// stop: end
// path: LINE(wide) branch
// path: LINE(list) branch
// path: LINE(fresh) branch
// path: LINE(fraction) libc
// lost: sprintf, once
