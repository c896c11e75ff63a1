// exit() from deep inside, with a handler that runs afterwards.
#include <stdio.h>
#include <stdlib.h>
static int seen;
static void bye(void) {
  if (seen == 'd') // handler
    puts("bye");
}
static void leave(int n) {
  if (n == 0)
    exit(3);
  leave(n - 1);
}
int main(void) {
  seen = getchar();
  atexit(bye);
  leave(3);
  return 0;
}
// stdin: d
// path: LINE(handler) branch stdin[0] == 'd'
