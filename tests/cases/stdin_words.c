// Input from files, the classical way.
#include <ctype.h>
#include <stdio.h>

int main(void) {
  int lines = 0, words = 0, inside = 0, c;
  while ((c = getchar()) != EOF) {
    if (c == '\n')
      lines++;
    if (c == ' ' || c == '\n') {
      inside = 0;
    } else if (c == '\t') {
      inside = 1; // BUG
    } else if (!inside) {
      inside = 1;
      words++;
    }
  }
  printf("%d %d\n", lines, words);
  return 0;
}

// file: one hello
// file: two hello world\nagain
// file: tab hello\tworld
// file: tabs a b\tc d\te
// file: ends word\t
// run: < /dev/null -> 0 0
// run: < one -> 1 1
// run: < two -> 2 3
// run: < tab -> 1 2
// run: < tabs -> 1 5
// run: < ends -> 1 1
// fails: 2
// cover: BUG 2 1
// rank: ochiai --entities statement BUG first
