// A helper small enough to be inlined everywhere: its line stays its own.
#include <stdio.h>
#include <string.h>

static inline char lower(char c) {
  if (c >= 'A' && c <= 'Y') // BUG
    c += 'a' - 'A'; // SHIFT
  return c;
}

static int same(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (lower(*a) != lower(*b))
      return 0; // DIFFERENT
  return *a == *b;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  puts(same(argv[1], argv[2]) ? "same" : "different");
  return 0;
}

// run: abc abc -> same
// run: abc ABC -> same
// run: abc abd -> different
// run: z Z -> same
// run: fizz FIZZ -> same
// run: ab abc -> different
// run: ZOO ZOO -> same
// fails: 2
// cover: BUG 2 5
// cover: SHIFT 1 2
// rank: ochiai --entities statement DIFFERENT first
