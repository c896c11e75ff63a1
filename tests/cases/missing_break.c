// A switch whose case falls through into the next.
#include <stdio.h>
#include <string.h>

static int weight(char unit) {
  int grams = 0;
  switch (unit) {
  case 'g':
    grams = 1;
    break;
  case 'k':
    grams = 1000; // BUG
  case 't':
    grams = 1000000; // NEXT
    break;
  default:
    grams = -1;
  }
  return grams;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%d\n", weight(argv[i][0]));
  return argc < 2;
}

// flags: -Wno-implicit-fallthrough
// run: g -> 1
// run: k -> 1000
// run: t -> 1000000
// run: x -> -1
// run: g k -> 1\n1000
// run: t g -> 1000000\n1
// fails: 2
// cover: BUG 2 0
// cover: NEXT 2 2
// rank: ochiai --entities statement BUG first
// rank: tarantula --entities statement NEXT rank 3
