// The scratch area: see scratch.h.
#include "run/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"

#define PREFIX "culprit-"
#define WANTED (512ull << 20) // bytes free
#define FULL (1ull << 20)
enum { STALE_AGE = 60 }; // seconds: a younger area may not be locked yet

static uint64_t bytes_free(const struct statfs *fs) {
  return (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize;
}

static bool is_roomy_tmpfs(const char *dir) {
  struct statfs fs;
  return !statfs(dir, &fs) && fs.f_type == TMPFS_MAGIC &&
         bytes_free(&fs) >= WANTED && !access(dir, W_OK | X_OK);
}

static char *choose_base(const char *store_dir) {
  const char *wish = getenv("CULPRIT_TMPDIR");
  if (wish && *wish)
    return path_absolute(wish, NULL);
  if (is_roomy_tmpfs("/dev/shm"))
    return mem_strdup("/dev/shm");
  return path_absolute("tmp", store_dir);
}

static int lock_area(const char *dir, int flags) {
  char *path = mem_printf("%s/lock", dir);
  int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
  free(path);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
    close(fd);
    fd = -1;
  }
  return fd;
}

// Removes an area whose owner is gone: nobody holds its lock.
static void remove_if_stale(const char *dir) {
  struct stat st;
  if (lstat(dir, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
      time(NULL) - st.st_mtime < STALE_AGE)
    return;
  int lock = lock_area(dir, 0);
  if (lock < 0)
    return;
  fs_remove_tree(dir);
  close(lock);
}

static void remove_stale_areas(const char *base) {
  DIR *d = opendir(base);
  if (!d)
    return;
  for (struct dirent *e; (e = readdir(d));) {
    if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0)
      continue;
    char *dir = mem_printf("%s/%s", base, e->d_name);
    remove_if_stale(dir);
    free(dir);
  }
  closedir(d);
}

int scratch_open(Scratch *s, const char *store_dir, Err *err) {
  char *base = choose_base(store_dir);
  *s = (Scratch){NULL, -1};
  int rc = fs_mkdirs(base, err);
  if (!rc) {
    remove_stale_areas(base);
    s->dir = mem_printf("%s/" PREFIX "XXXXXX", base);
    // Others may pass, not look: tests that change their user need that.
    if (!mkdtemp(s->dir) || chmod(s->dir, 0711) ||
        (s->lock = lock_area(s->dir, O_CREAT)) < 0)
      rc = err_set(err,
                   "cannot make a scratch directory in %s: %s; set "
                   "CULPRIT_TMPDIR to a directory with room",
                   base, strerror(errno));
  }
  free(base);
  return rc;
}

static int unlock_one(const char *path, const struct stat *st, int flag,
                      struct FTW *ftw) {
  (void)flag, (void)ftw;
  if (S_ISDIR(st->st_mode))
    chmod(path, 0700);
  return 0;
}

// A test may have taken our rights away, level by level.
static void remove_stubborn_tree(const char *path) {
  struct stat st;
  fs_remove_tree(path);
  for (int level = 0; level < 16 && !lstat(path, &st); level++) {
    nftw(path, unlock_one, 32, FTW_PHYS);
    fs_remove_tree(path);
  }
}

void scratch_close(Scratch *s) {
  if (s->dir && s->lock >= 0)
    remove_stubborn_tree(s->dir);
  if (s->lock >= 0)
    close(s->lock);
  free(s->dir);
  *s = (Scratch){NULL, -1};
}

bool scratch_full(const Scratch *s) {
  struct statfs fs;
  return !statfs(s->dir, &fs) && bytes_free(&fs) < FULL;
}

// True if everything in it could simply be unlinked.
static bool unlink_all(const char *path) {
  DIR *d = opendir(path);
  if (!d)
    return false;
  bool ok = true;
  for (struct dirent *e; (e = readdir(d));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      ok = unlinkat(dirfd(d), e->d_name, 0) == 0 && ok;
  closedir(d);
  return ok;
}

static bool is_open_dir(const char *path) {
  struct stat st;
  return !lstat(path, &st) && S_ISDIR(st.st_mode) &&
         (st.st_mode & 07777) == 01777;
}

int dir_make_empty(const char *path, Err *err) {
  if (is_open_dir(path) && unlink_all(path))
    return 0;
  remove_stubborn_tree(path);
  if (mkdir(path, 0777) || chmod(path, 01777))
    return err_set(err, "cannot make the directory %s: %s", path,
                   strerror(errno));
  return 0;
}
