// A null pointer from a look-up that finds nothing: the run dies where it is
// used, and the lines executed before are there all the same. (Volatile, because
// an optimizer that sees the null may take the whole path for impossible.)
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *name;
  int value;
} Entry;

static const Entry entries[] = {{"one", 1}, {"two", 2}, {"three", 3}};

static const Entry *look_up(const char *name) {
  for (int i = 0; i < 3; i++)
    if (!strcmp(entries[i].name, name))
      return &entries[i];
  return NULL; // BUG
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 1; i < argc; i++) {
    const Entry *volatile found = look_up(argv[i]);
    sum += found->value;
  }
  printf("%d\n", sum); // AFTER
  return 0;
}

// run: one -> 1
// run: one two -> 3
// run: three -> 3
// run: four -> 0
// run: one four -> 1
// fails: 2
// cover: BUG 2 0
// cover: AFTER 0 3
// rank: ochiai --entities statement BUG first
