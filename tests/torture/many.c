// Deep recursion, large frames, a long loop.
#include <stdio.h>
#include <string.h>
static int deep(int n, int c) {
  unsigned char room[256];
  memset(room, c, sizeof room);
  if (n == 0)
    return room[100];
  return deep(n - 1, c) + (room[n % 256] != c);
}
int main(void) {
  int c = getchar();
  long sum = 0;
  for (int i = 0; i < 20000; i++)
    sum += i ^ c;
  if (deep(1000, c) == 'e') // deep
    return 1;
  return sum == 1; // sum
}
// stdin: d
// stop: end
// path: LINE(deep) branch stdin[0] != 'e'
// lost: nothing
