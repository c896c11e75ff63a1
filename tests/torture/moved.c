// Bytes keep their expressions through memcpy, realloc and struct assignment.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct {
  char name[16];
  int n;
} Item;
int main(void) {
  Item a = {.n = 1}, b;
  if (!fgets(a.name, sizeof a.name, stdin))
    return 1;
  b = a;
  char *p = malloc(16);
  memcpy(p, b.name, 16);
  p = realloc(p, 100000);
  if (p[1] == 'q') // moved
    return 2;
  memset(p, p[0], 8);
  if (p[7] == 'r') // set
    return 3;
  free(p);
  return 0;
}
// stdin: abc\n
// stop: end
// path: LINE(moved) branch stdin[1] != 'q'
// path: LINE(set) branch stdin[0] != 'r'
// lost: nothing
