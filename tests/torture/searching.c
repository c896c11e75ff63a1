// Looking for a byte, from either end.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
int main(void) {
  char text[16];
  size_t n = fread(text, 1, 8, stdin);
  text[n] = 0;
  char *a = memchr(text, ';', n), *b = memrchr(text, ';', n); // chr
  char *c = strrchr(text, 'x'), *d = rawmemchr(text, ';');    // raw
  if (a && b && b - a > 2 && !c && d == a)
    return text[0] == 'q'; // first
  return 3;
}
// stdin: ab;cd;e\n
// stop: end
// path: LINE(chr) libc stdin[2] == ';'
// path: LINE(chr) libc stdin[6] != ';'
// path: LINE(chr) libc stdin[5] == ';'
// path: LINE(raw) libc stdin[7] != 'x'
// lost: nothing
