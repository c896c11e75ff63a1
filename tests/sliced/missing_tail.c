// A loop ends one round too early, and so does the output.
#include <stdio.h>

int main(void) {
  char text[] = "abcd";         // in
  int n = 0, seen = 0;          // in
  for (int i = 0; text[i]; i++) // in
    n++;                        // in
  n = n - 1;                    // in
  for (int i = 0; i < n; i++) { // in
    putchar(text[i]);
    seen++;
  }
  return seen == 0; // in
}
// expect: abcd
// at: 3 -
