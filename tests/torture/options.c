// getopt is not followed but counted; a file in memory is input.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int verbose = 0;
  for (int c; (c = getopt(argc, argv, "vn:")) != -1;)
    if (c == 'v')
      verbose++;
    else if (c == 'n' && atoi(optarg) == 8) // value
      return 1;
  int fd = open(argv[optind], O_RDONLY);
  char *text = mmap(NULL, 5, PROT_READ, MAP_PRIVATE, fd, 0);
  if (text == MAP_FAILED || text[1] == 'q') // mapped
    return 2;
  return verbose;
}
// args: -v -n 7 stdin.txt
// stdin: hello
// stop: end
// path: LINE(value) branch argv[3][0] != '8'
// path: LINE(mapped) branch file:stdin.txt[1] != 'q'
// lost: getopt, once
