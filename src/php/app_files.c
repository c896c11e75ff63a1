// The application's files as its workers see them: see app_files.h.
//
// Absolute links would lead out of the view if we followed them as usual:
// openat2 resolves them below the view's own root.
#include "php/app_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"

struct AppFiles {
  int root; // the view's
};

int app_files_open(AppFiles **out, const Confine *c, Err *err) {
  AppFiles *f = mem_new(AppFiles);
  char *path = c ? confine_outside(c, "/") : mem_strdup("/");
  f->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int rc = 0;
  if (f->root < 0)
    rc = err_set(err, "%s, the file system of a worker: %s", path,
                 strerror(errno));
  free(path);
  *out = f;
  return rc;
}

void app_files_close(AppFiles *f) {
  if (!f)
    return;
  if (f->root >= 0)
    close(f->root);
  free(f);
}

int app_file_open(const AppFiles *f, const char *path, int flags) {
  if (!f)
    return open(path, flags | O_CLOEXEC);
  struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                         .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, f->root, path, &how, sizeof how);
}

static int name_of(int fd, char real[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, real, PATH_MAX - 1);
  if (n < 0)
    return -1;
  real[n] = '\0';
  return 0;
}

int app_file_look(const AppFiles *f, const char *path, char real[PATH_MAX],
                  struct stat *st) {
  if (!f)
    return !realpath(path, real) || stat(real, st) ? -1 : 0;
  int fd = app_file_open(f, path, O_PATH);
  if (fd < 0)
    return -1;
  int rc = fstat(fd, st) || name_of(fd, real) ? -1 : 0;
  close(fd);
  return rc;
}

// --- directories ------------------------------------------------------------

// The first `n` bytes of the path, a directory, reached without any link.
static int open_plainly(const AppFiles *f, const char *path, size_t n) {
  char dir[PATH_MAX];
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                         .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
  snprintf(dir, sizeof dir, "%.*s", (int)n, path);
  return (int)syscall(SYS_openat2, f->root, n ? dir : "/", &how, sizeof how);
}

bool app_parent_is_sound(const AppFiles *f, const char *path) {
  int fd = open_plainly(f, path, (size_t)(path_base(path) - path));
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

// Puts a directory where the first `n` bytes of the path name none.
static int put_directory(const AppFiles *f, const char *path, size_t n) {
  char whole[PATH_MAX];
  snprintf(whole, sizeof whole, "%.*s", (int)n, path);
  const char *name = path_base(whole);
  int parent = open_plainly(f, path, (size_t)(name - whole));
  if (parent < 0)
    return -1;
  unlinkat(parent, name, 0);
  int rc = mkdirat(parent, name, 0777);
  close(parent);
  return rc;
}

int app_parent_mend(const AppFiles *f, const char *path) {
  const char *base = path_base(path);
  for (const char *p = path; p < base; p++) {
    size_t n = (size_t)(p - path);
    if (*p != '/' || !n)
      continue;
    int fd = open_plainly(f, path, n);
    if (fd < 0 && put_directory(f, path, n))
      return -1;
    if (fd >= 0)
      close(fd);
  }
  return 0;
}
