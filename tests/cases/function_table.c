// Operations behind a table of function pointers; one of them is wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long add(long a, long b) { return a + b; }
static long sub(long a, long b) { return a - b; }
static long mul(long a, long b) { return a * b; }
static long mod(long a, long b) {
  if (!b)
    return a;
  return a / b; // BUG
}

static const struct {
  const char *name;
  long (*apply)(long, long);
} operations[] = {{"add", add}, {"sub", sub}, {"mul", mul}, {"mod", mod}};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 3 && i < sizeof operations / sizeof *operations;
       i++)
    if (!strcmp(argv[1], operations[i].name))
      printf("%ld\n", operations[i].apply(atol(argv[2]), atol(argv[3])));
  return 0;
}

// run: add 3 4 -> 7
// run: sub 3 4 -> -1
// run: mul 3 4 -> 12
// run: mod 7 0 -> 7
// run: mod 17 5 -> 2
// run: mod 10 7 -> 3
// run: nop 1 1 ->
// fails: 2
// cover: BUG 2 0
// rank: ochiai --entities statement BUG first
// rank: ochiai --entities statement --only function_table.c BUG first
