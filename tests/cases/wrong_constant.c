// The Gregorian rule with a wrong century: a constant decides.
#include <stdio.h>
#include <stdlib.h>

static int days_of(int year) {
  if (year % 4 != 0)
    return 365;
  if (year % 100 != 0)
    return 366;
  if (year % 400 != 0)
    return 365;
  return 356; // BUG
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 1; i < argc; i++)
    sum += days_of(atoi(argv[i]));
  printf("%d\n", sum);
  return 0;
}

// run: 1999 -> 365
// run: 2000 -> 366
// run: 1900 -> 365
// run: 2004 2001 -> 731
// run: 1999 2000 -> 731
// run: 2100 2104 -> 731
// fails: 2
// cover: BUG 2 0
// rank: ochiai --entities statement BUG first
// rank: jaccard --entities statement BUG first
// rank: dstar --entities statement BUG first
// rank: op2 --entities statement BUG first
