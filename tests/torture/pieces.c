// readv and pread; ungetc and fseek go back.
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char a[3] = "", b[4] = "", c;
  struct iovec list[2] = {{a, 2}, {b, 3}};
  int fd = open(argv[argc - 1], O_RDONLY);
  if (readv(fd, list, 2) != 5) // all
    return 1;
  if (a[1] == 'q' && b[2] == 'q') // both
    return 2;
  if (pread(fd, &c, 1, 3) == 1 && c == 'x') // placed
    return 3;
  FILE *f = fopen(argv[argc - 1], "r");
  int d = fgetc(f);
  ungetc(d, f);
  if (fgetc(f) == 'u') // again
    return 4;
  fseek(f, 4, SEEK_SET);
  if (fgetc(f) == 's') // sought
    return 5;
  return 0;
}
// args: stdin.txt
// stdin: hello
// stop: end
// path: LINE(both) branch file:stdin.txt[1] != 'q'
// path: LINE(placed) branch file:stdin.txt[3] != 'x'
// path: LINE(again) branch file:stdin.txt[0] != 'u'
// path: LINE(sought) branch file:stdin.txt[4] != 's'
// lost: nothing
