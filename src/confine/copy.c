// Copies of directories: see copy.h.
#include "confine/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

enum { FILES_MOST = 200000 };
static const uint64_t BYTES_MOST = 1ull << 30;

typedef struct {
  const char *from, *to;
  uint64_t files, bytes;
} Copying;

static int copy_bytes(int from, int to) {
  if (!ioctl(to, FICLONE, from))
    return 0;
  for (;;) {
    ssize_t n = sendfile(to, from, NULL, 1 << 30);
    if (n == 0)
      return 0;
    if (n < 0 && errno != EINTR)
      return -1;
  }
}

static void set_times(const char *path, const struct stat *st) {
  const struct timespec times[] = {st->st_atim, st->st_mtim};
  utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static int copy_file(const char *from, const char *to, const struct stat *st) {
  int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (in < 0)
    return errno == EACCES ? 0 : -1; // nor could the run have read it
  int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int rc = out < 0 ? -1 : copy_bytes(in, out);
  if (!rc)
    rc = fchmod(out, st->st_mode & 07777);
  if (out >= 0)
    close(out);
  close(in);
  if (!rc)
    set_times(to, st);
  return rc;
}

int copy_link(const char *from, const char *to) {
  char text[4096];
  ssize_t n = readlink(from, text, sizeof text - 1);
  if (n < 0)
    return -1;
  text[n] = '\0';
  return symlink(text, to);
}

static int copy_entry(Copying *c, const FTSENT *e, const char *to) {
  switch (e->fts_info) {
  case FTS_D:
    return mkdir(to, 0700);
  case FTS_DP:
    chmod(to, e->fts_statp->st_mode & 07777);
    set_times(to, e->fts_statp);
    return 0;
  case FTS_F:
    c->files++;
    c->bytes += (uint64_t)e->fts_statp->st_size;
    return copy_file(e->fts_path, to, e->fts_statp);
  case FTS_SL:
  case FTS_SLNONE:
    return copy_link(e->fts_path, to);
  default:
    return 0;
  }
}

static bool is_left_out(const FTSENT *e) {
  return e->fts_info == FTS_D && e->fts_level > 0 &&
         !strcmp(e->fts_name, ".culprit");
}

static int copy_all(Copying *c, FTS *walk, Err *err) {
  for (FTSENT *e; (e = fts_read(walk));) {
    if (is_left_out(e)) {
      fts_set(walk, e, FTS_SKIP);
      continue;
    }
    char *to = mem_printf("%s%s", c->to, e->fts_path + strlen(c->from));
    int rc = copy_entry(c, e, to);
    free(to);
    if (rc)
      return err_set(err, "cannot copy %s: %s", e->fts_path, strerror(errno));
    if (c->files > FILES_MOST || c->bytes > BYTES_MOST)
      return err_set(err, "%s is too large to be copied", c->from);
  }
  return 0;
}

int copy_tree(const char *from, const char *to, Err *err) {
  char *const paths[] = {(char *)from, NULL};
  FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  if (!walk)
    return err_set(err, "cannot read %s: %s", from, strerror(errno));
  Copying c = {.from = from, .to = to};
  int rc = copy_all(&c, walk, err);
  fts_close(walk);
  return rc;
}

// --- changes ----------------------------------------------------------------

// File times are those of the last tick, a few milliseconds ago at most.
struct timespec copy_moment(void) {
  const struct timespec tick = {.tv_nsec = 20 * 1000 * 1000};
  struct timespec moment;
  clock_gettime(CLOCK_REALTIME, &moment);
  nanosleep(&tick, NULL);
  return moment;
}

static bool is_after(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

bool copy_changed(const char *path, struct timespec moment) {
  char *const paths[] = {(char *)path, NULL};
  FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  bool changed = !walk;
  for (FTSENT *e; !changed && (e = fts_read(walk));)
    changed = e->fts_info == FTS_DNR || e->fts_info == FTS_NS ||
              is_after(e->fts_statp->st_ctim, moment);
  if (walk)
    fts_close(walk);
  return changed;
}
