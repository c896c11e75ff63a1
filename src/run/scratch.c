// The scratch area: see scratch.h.
#include "run/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"

#define WANTED (512ull << 20) // bytes free
#define FULL (1ull << 20)

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

int scratch_open(Scratch *s, const char *store_dir, Err *err) {
  char *base = choose_base(store_dir);
  *s = SCRATCH_NONE;
  int rc = fs_mkdirs(base, err);
  if (!rc) {
    areas_sweep(base);
    rc = area_open(&s->area, base, err);
  }
  // Others may pass, not look: tests that change their user need that.
  if (!rc) {
    s->dir = s->area.dir;
    chmod(s->dir, 0711);
    area_watch(&s->area);
  }
  free(base);
  return rc;
}

void scratch_close(Scratch *s) {
  area_close(&s->area);
  *s = SCRATCH_NONE;
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
  fs_remove_stubborn_tree(path);
  if (mkdir(path, 0777) || chmod(path, 01777))
    return err_set(err, "cannot create the directory %s: %s", path,
                   strerror(errno));
  return 0;
}
