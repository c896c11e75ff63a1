// Turns of tests under make: see turns.h.
#include "adapter/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "util/mem.h"

typedef enum { BEGUN, STEADY } TurnCount; // places in the file `turns`

static int open_file(const char *spool, const char *name, int *fd, Err *err) {
  char *path = mem_printf("%s/%s", spool, name);
  *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int rc = *fd < 0 ? err_set(err, "%s: %s", path, strerror(errno)) : 0;
  free(path);
  return rc;
}

int turns_open(TestTurns *t, const char *spool, Err *err) {
  *t = (TestTurns){.gate = -1, .turn = -1, .counts = -1};
  bool bad = open_file(spool, "gate", &t->gate, err) ||
             open_file(spool, "turn", &t->turn, err) ||
             open_file(spool, "turns", &t->counts, err);
  if (bad)
    turns_close(t);
  return bad ? -1 : 0;
}

void turns_close(TestTurns *t) {
  int *const fds[] = {&t->gate, &t->turn, &t->counts};
  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
    if (*fds[i] >= 0) {
      close(*fds[i]);
      *fds[i] = -1;
    }
}

static uint32_t get_count(const TestTurns *t, TurnCount which) {
  uint32_t n = 0;
  off_t at = (off_t)(which * sizeof n);
  return pread(t->counts, &n, sizeof n, at) == sizeof n ? n : 0;
}

static void set_count(const TestTurns *t, TurnCount which, uint32_t n) {
  ssize_t ignored = pwrite(t->counts, &n, sizeof n, (off_t)(which * sizeof n));
  (void)ignored;
}

static int lock(int fd, int how, Err *err) {
  while (flock(fd, how))
    if (errno != EINTR)
      return err_set(err, "cannot lock a file of the temporary directory: %s",
                     strerror(errno));
  return 0;
}

int turns_begin(TestTurns *t, bool alone, Err *err) {
  if (lock(t->gate, LOCK_EX, err))
    return -1;
  t->alone = alone;
  t->beside = flock(t->turn, LOCK_EX | LOCK_NB) != 0;
  if (lock(t->turn, alone ? LOCK_EX : LOCK_SH, err))
    return -1;
  t->beside &= !alone;
  t->number = get_count(t, BEGUN) + 1;
  set_count(t, BEGUN, t->number);
  if (!alone)
    flock(t->gate, LOCK_UN);
  return 0;
}

bool turns_end(TestTurns *t) {
  t->beside |= get_count(t, BEGUN) != t->number;
  flock(t->turn, LOCK_UN);
  if (t->alone)
    flock(t->gate, LOCK_UN);
  return t->beside;
}

uint32_t turns_steady(const TestTurns *t) { return get_count(t, STEADY); }

void turns_set_steady(TestTurns *t, uint32_t n) { set_count(t, STEADY, n); }
