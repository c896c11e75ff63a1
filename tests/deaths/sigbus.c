// A page of a file that is shorter than it was.
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int first, second;

int main(int argc, char **argv) {
  (void)argv;
  char name[] = "bus-XXXXXX";
  int fd = mkstemp(name);
  unlink(name);
  if (ftruncate(fd, 4096))
    return 2;
  volatile char *page =
      mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (argc > 1 && ftruncate(fd, 0))
    return 2;
  first = 1;   // BEFORE
  page[0] = 1; // BEFORE
  second = 1;  // AFTER
  return 0;
}

// kind: signal
