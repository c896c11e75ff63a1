// A loop that runs off its memory crashes where it does, not when the recorder
// looks ahead; what it had read before is there.
#include <stdio.h>
#include <sys/mman.h>
static long sum(const int *p, long n) {
  long s = 0;
  for (long i = 0; i < n; i++)
    s += p[i]; // crash
  return s;
}
int main(void) {
  int *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(p + 8192, 32768, PROT_NONE);
  long s = 0;
  for (int i = 0; i < 5; i++)
    s += sum(p, 8192);
  if (getchar() == 'x') // choice
    s += sum(p, 8193);
  return (int)s;
}
// stdin: x
// stop: crash LINE(crash)
// path: LINE(choice) branch stdin[0] == 'x'
