// Files, directories and path names: see fs.h.
#include "util/fs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

int fs_read_fd(int fd, const char *path, size_t max, Str *out, Err *err) {
  char buf[65536];
  size_t total = 0;
  for (;;) {
    size_t want = sizeof buf;
    if (max && max - total < want)
      want = max - total;
    ssize_t n = want ? read(fd, buf, want) : 0;
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return err_set(err, "%s: %s", path, strerror(errno));
    if (n == 0)
      return 0;
    str_addn(out, buf, (size_t)n);
    total += (size_t)n;
  }
}

int fs_read(const char *path, size_t max, Str *out, Err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return err_set(err, "%s: %s", path, strerror(errno));
  int rc = fs_read_fd(fd, path, max, out, err);
  close(fd);
  return rc;
}

int fs_open_regular(int dir, const char *path, bool follow, Err *err) {
  struct stat st;
  int fd = openat(dir, path,
                  O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
                      (follow ? 0 : O_NOFOLLOW));
  if (fd < 0 && errno == ELOOP && !follow)
    return err_set(err, "%s: a symbolic link, which is not followed", path);
  if (fd < 0)
    return err_set(err, "%s: %s", path, strerror(errno));
  if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
    close(fd);
    return err_set(err, "%s: not a regular file", path);
  }
  return fd;
}

int fs_read_regular(const char *path, size_t max, Str *out, Err *err) {
  struct stat st;
  int fd = fs_open_regular(AT_FDCWD, path, false, err);
  if (fd < 0)
    return -1;
  int rc = max && !fstat(fd, &st) && (uint64_t)st.st_size > max
               ? err_set(err, "%s: larger than %zu bytes", path, max)
               : fs_read_fd(fd, path, max, out, err);
  close(fd);
  return rc;
}

char *fs_match(const char *path, const char *pattern) {
  enum { MOST = 4 << 20 };
  Str text = {0};
  Err ignored;
  regex_t regex;
  regmatch_t at[2];
  char *found = NULL;
  int fd = fs_open_regular(AT_FDCWD, path, true, &ignored);
  if (fd < 0)
    return NULL;
  int bad = regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE);
  assert(!bad);
  fs_read_fd(fd, path, MOST, &text, &ignored);
  close(fd);
  if (!regexec(&regex, str_text(&text), 2, at, 0)) {
    const regmatch_t *m = &at[at[1].rm_so >= 0];
    found = mem_printf("%.*s", (int)(m->rm_eo - m->rm_so),
                       str_text(&text) + m->rm_so);
  }
  regfree(&regex);
  str_release(&text);
  return found;
}

int fs_write(const char *path, const void *data, size_t n, Err *err) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return err_set(err, "%s: %s", path, strerror(errno));
  const char *p = data;
  while (n) {
    ssize_t k = write(fd, p, n);
    if (k < 0 && errno == EINTR)
      continue;
    if (k < 0) {
      int saved = errno;
      close(fd);
      return err_set(err, "%s: %s", path, strerror(saved));
    }
    p += k;
    n -= (size_t)k;
  }
  if (close(fd))
    return err_set(err, "%s: %s", path, strerror(errno));
  return 0;
}

int fs_mkdirs(const char *path, Err *err) {
  if (!mkdir(path, 0777)) // mostly only the last one is missing
    return 0;
  char *copy = mem_strdup(path);
  int rc = 0;
  for (char *p = copy + 1; !rc && *p; p++) {
    if (*p != '/')
      continue;
    *p = '\0';
    if (mkdir(copy, 0777) && errno != EEXIST)
      rc = err_set(err, "%s: %s", copy, strerror(errno));
    *p = '/';
  }
  if (!rc && mkdir(copy, 0777) && errno != EEXIST)
    rc = err_set(err, "%s: %s", copy, strerror(errno));
  free(copy);
  return rc;
}

static int remove_one(const char *path, const struct stat *st, int flag,
                      struct FTW *ftw) {
  (void)st, (void)flag, (void)ftw;
  remove(path);
  return 0;
}

void fs_remove_tree(const char *path) {
  nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

static int unlock_one(const char *path, const struct stat *st, int flag,
                      struct FTW *ftw) {
  (void)flag, (void)ftw;
  if (S_ISDIR(st->st_mode))
    chmod(path, 0700);
  return 0;
}

// A test may have taken our rights away, level by level.
void fs_remove_stubborn_tree(const char *path) {
  struct stat st;
  fs_remove_tree(path);
  for (int level = 0; level < 16 && !lstat(path, &st); level++) {
    nftw(path, unlock_one, 32, FTW_PHYS);
    fs_remove_tree(path);
  }
}

bool fs_exists(const char *path) { return access(path, F_OK) == 0; }

bool fs_executable(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static char *current_dir(void) {
  char *dir = getcwd(NULL, 0);
  return dir ? dir : mem_strdup("/");
}

char *path_absolute(const char *path, const char *dir) {
  char *full;
  if (*path == '/') {
    full = mem_strdup(path);
  } else {
    char *base = dir ? path_absolute(dir, NULL) : current_dir();
    full = mem_printf("%s/%s", base, path);
    free(base);
  }
  char *out = full; // rewritten in place: it only shrinks
  for (char *p = full; *p;) {
    while (*p == '/')
      p++;
    size_t n = strcspn(p, "/");
    if (n == 2 && p[0] == '.' && p[1] == '.') {
      while (out > full && *--out != '/')
        ;
    } else if (n && !(n == 1 && *p == '.')) {
      *out++ = '/';
      memmove(out, p, n);
      out += n;
    }
    p += n;
  }
  if (out == full)
    *out++ = '/';
  *out = '\0';
  return full;
}

const char *path_below(const char *path, const char *dir) {
  size_t n = strlen(dir);
  while (n && dir[n - 1] == '/')
    n--;
  if (strncmp(path, dir, n) == 0 && path[n] == '/' && path[n + 1])
    return path + n + 1;
  return path;
}

const char *path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool path_lies_in(const char *path, const char *dir) {
  size_t n = strlen(dir);
  while (n && dir[n - 1] == '/')
    n--;
  return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

char *path_of_self(void) {
  char buf[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", buf, sizeof buf - 1);
  if (n < 0)
    return mem_strdup(".");
  buf[n] = '\0';
  char *slash = strrchr(buf, '/');
  if (slash)
    *slash = '\0';
  return mem_strdup(buf);
}

char *path_of_part(const char *name) {
  char *self = path_of_self();
  char *path = mem_printf("%s/%s", self, name);
  if (!fs_exists(path)) {
    free(path);
    path = mem_printf("%s/../lib/culprit/%s", self, name);
  }
  free(self);
  return path;
}
