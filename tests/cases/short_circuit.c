// Operands of && and || over several lines: the wrong one is reached only when
// those before it leave the question open.
#include <stdio.h>
#include <stdlib.h>

static int admitted(int age, int member, int hour) {
  return member ||
         (age >= 18 &&
          hour > 22); // BUG
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  puts(admitted(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])) ? "in" : "out");
  return 0;
}

// run: 30 1 23 -> in
// run: 12 1 23 -> in
// run: 12 0 20 -> out
// run: 30 0 20 -> in
// run: 30 0 23 -> out
// run: 17 0 23 -> out
// fails: 2
// cover: BUG 2 0
// rank: ochiai --entities statement BUG first
