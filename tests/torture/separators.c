// strsep, strcasestr and memmem.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
int main(void) {
  char line[64], *rest = line, *field;
  size_t n = fread(line, 1, sizeof line - 1, stdin);
  int k = 0;
  line[n] = 0;
  if (strcasestr(line, "Stop")) // case
    return 1;
  if (memmem(line, n, "go", 2)) // memory
    return 2;
  for (; (field = strsep(&rest, ",;")); k++) // fields
    if (!strcmp(field, "on"))                // field
      return 3;
  return k == 3;
}
// stdin: ab;,sTXp
// stop: end
// path: LINE(case) libc
// path: LINE(memory) libc
// path: LINE(fields) libc
// path: LINE(field) branch
// lost: nothing
