// A comparison with the wrong operator: the score just at the limit.
#include <stdio.h>
#include <stdlib.h>

static const char *grade(int points) {
  if (points > 100 || points < 0)
    return "invalid";
  if (points > 90) // BUG
    return "excellent";
  if (points >= 50)
    return "passed"; // INFECTED
  return "failed";
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    puts(grade(atoi(argv[i])));
  return 0;
}

// run: 100 -> excellent
// run: 95 -> excellent
// run: 90 -> excellent
// run: 89 -> passed
// run: 50 -> passed
// run: 49 -> failed
// run: 101 -> invalid
// run: -1 -> invalid
// fails: 1
// cover: BUG 1 5
// cover: INFECTED 1 2
// rank: tarantula --entities statement INFECTED first
// rank: tarantula --entities statement BUG within 3
