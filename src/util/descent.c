// Which process descends from which: see descent.h.
#include "util/descent.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// A number as text, by hand: printf is not for signal handlers.
static char *put_number(char *p, pid_t n) {
  char digits[16];
  int i = 0;
  do
    digits[i++] = (char)('0' + n % 10);
  while (n /= 10);
  while (i)
    *p++ = digits[--i];
  return p;
}

pid_t process_parent(pid_t pid) {
  char path[48] = "/proc/", text[512];
  if (pid <= 0)
    return 0;
  memcpy(put_number(path + strlen(path), pid), "/stat", sizeof "/stat");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    close(fd);
  text[n < 0 ? 0 : n] = '\0';
  const char *p = strrchr(text, ')'); // 12 (name) S 1 ...
  pid_t parent = 0;
  for (p = p && strlen(p) > 4 ? p + 4 : ""; *p >= '0' && *p <= '9'; p++)
    parent = parent * 10 + (*p - '0');
  return parent;
}

pid_t process_ancestor(pid_t pid) {
  pid_t self = getpid();
  for (pid_t parent; pid > 1 && pid != self; pid = parent)
    if ((parent = process_parent(pid)) == self)
      return pid;
  return 0;
}
