// A crash inside the library.
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char *p = argc > 5 ? argv[5] : NULL;
  int c = getchar();
  if (c == 'd')
    return (int)strlen(p); // library
  return 0;
}
// stdin: d
// stop: call LINE(library) strlen
