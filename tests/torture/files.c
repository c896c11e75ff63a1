// A file named on the command line, by descriptor and by stream, with its size.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (argc < 2)
    return 1;
  FILE *f = fopen(argv[1], "r");
  char b;
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  char *text = malloc((size_t)size + 1);
  if (fread(text, 1, (size_t)size, f) && text[2] == 'q') // stream
    return 2;
  if (size > 100) // size
    return 3;
  fclose(f);
  int fd = open(argv[1], O_RDONLY);
  if (read(fd, &b, 1) == 1 && b == 'q') // descriptor
    return 4;
  close(fd);
  return 0;
}
// args: stdin.txt
// stdin: hello\n
// stop: end
// path: LINE(stream) branch file:stdin.txt[2] != 'q'
// path: LINE(size) branch
// path: LINE(descriptor) branch file:stdin.txt[0] != 'q'
