// abort() two calls deep in the middle of a block, with stdio in use.
#include <stdio.h>
#include <stdlib.h>

static void give_up(const char *why) {
  fprintf(stderr, "%s\n", why); // BEFORE
  abort();                      // BEFORE
}

static int parse(const char *text) {
  int n = 0;
  if (*text == 'd')
    give_up("no number"); // BEFORE
  n = atoi(text);         // AFTER
  return n;               // AFTER
}

int main(int argc, char **argv) {
  printf("working\n");                      // BEFORE
  int n = parse(argc > 1 ? argv[1] : "12"); // BEFORE
  printf("%d\n", n);                        // AFTER
  return 0;
}

// kind: signal
