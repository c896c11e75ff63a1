// A value goes through calls and a loop; what is printed beside it, and what a
// function does for itself, does not matter.
#include <stdio.h>
#include <stdlib.h>

static int sum(const int *a, int n) {
  int s = 1; // in
  int unused = 3;
  for (int i = 0; i < n; i++) // in
    s += a[i];                // in
  unused += n;
  return s; // in
}

int main(int argc, char **argv) {
  int a[8], n = 0; // in
  int other = 5;
  for (int i = 1; i < argc; i++) // in
    a[n++] = atoi(argv[i]);      // in
  printf("sum of %d: ", n);
  other *= 2;
  printf("%d, other %d\n", sum(a, n), other); // in
  return 0;
}
// args: 4 5
// expect: sum of 2: 9, other 10\n
// at: 10 printf
