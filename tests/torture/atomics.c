// Atomic updates.
#include <stdatomic.h>
#include <stdio.h>
static _Atomic int counter = 1;
int main(void) {
  int c = getchar();
  atomic_fetch_add(&counter, c);
  int expected = 101;
  if (atomic_compare_exchange_strong(&counter, &expected, 7)) // exchange
    puts("yes");
  return atomic_load(&counter) == 7;
}
// stdin: d
// stop: end
// path: LINE(exchange) branch
