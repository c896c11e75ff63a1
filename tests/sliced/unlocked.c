// The functions without locks, which a header defines inline as well.
#include <stdio.h>

int main(int argc, char **argv) {
  int c = 'a'; // in
  int other = argc;
  c += 2; // in
  putc_unlocked('x', stdout);
  other++;
  putchar_unlocked(c); // in
  putchar_unlocked('\n');
  return other > 9 && !argv;
}
// expect: xb\n
// at: 1 putchar_unlocked
