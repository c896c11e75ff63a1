// Compares files: see files_equal.h.
#include "oracle/files_equal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

// Reads until the block is full or the file ends.
static ssize_t read_block(int fd, char *block) {
  size_t n = 0;
  while (n < BLOCK) {
    ssize_t k = read(fd, block + n, BLOCK - n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k < 0)
      return -1;
    if (k == 0)
      break;
    n += (size_t)k;
  }
  return (ssize_t)n;
}

// Ordinary files of different size need not be read.
static bool sizes_differ(int a, int b) {
  struct stat sa, sb;
  return !fstat(a, &sa) && !fstat(b, &sb) && S_ISREG(sa.st_mode) &&
         S_ISREG(sb.st_mode) && sa.st_size != sb.st_size;
}

static int compare(int a, int b, bool *equal) {
  char block_a[BLOCK], block_b[BLOCK];
  *equal = !sizes_differ(a, b);
  while (*equal) {
    ssize_t na = read_block(a, block_a), nb = read_block(b, block_b);
    if (na < 0 || nb < 0)
      return -1;
    *equal = na == nb && !memcmp(block_a, block_b, (size_t)na);
    if (na == 0)
      break;
  }
  return 0;
}

int files_equal(const char *a, const char *b, bool *equal, Err *err) {
  enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
  int fa = open(a, FLAGS), fb = open(b, FLAGS); // waits for no FIFO
  int rc = fa < 0 || fb < 0 ? -1 : compare(fa, fb, equal);
  if (rc)
    err_set(err, "%s: %s", fa < 0 ? a : b, strerror(errno));
  if (fa >= 0)
    close(fa);
  if (fb >= 0)
    close(fb);
  return rc;
}
