// exit() deep in a call: what follows in the callers was not executed.
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *why) {
  puts(why);
  exit(0);
}

static int parse(const char *text) {
  char *end;
  long v = strtol(text, &end, 10);
  if (*end)
    fail("not a number"); // CALL
  if (v > 99)
    fail("too small"); // BUG
  return (int)v; // AFTER
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 1; i < argc; i++)
    sum += parse(argv[i]);
  printf("%d\n", sum); // END
  return 0;
}

// run: 1 2 -> 3
// run: x -> not a number
// run: 1 x -> not a number
// run: 100 -> too large
// run: 1 2 100 -> too large
// fails: 2
// cover: CALL 0 2
// cover: AFTER 1 2
// cover: END 0 1
// rank: ochiai --entities statement BUG first
