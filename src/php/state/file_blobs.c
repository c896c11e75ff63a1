// Contents of files under their hash: see file_blobs.h.
#include "php/state/file_blobs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"

enum { PIECE = 64 << 10 };

static int fail(const char *path, Err *err) {
  return err_set(err, "state of the application: %s: %s", path,
                 strerror(errno));
}

int blobs_open(FileBlobs *b, const char *scratch, Err *err) {
  b->dir = mem_printf("%s/blobs", scratch);
  for (size_t i = 0; i < 2; i++)
    b->piece[i] = mem_alloc(PIECE);
  return fs_mkdirs(b->dir, err);
}

void blobs_close(FileBlobs *b) {
  if (b->dir)
    fs_remove_tree(b->dir);
  free(b->dir);
  free(b->piece[0]);
  free(b->piece[1]);
}

static void blob_path(const FileBlobs *b, XXH128_hash_t h, char out[PATH_MAX]) {
  snprintf(out, PATH_MAX, "%s/%016llx%016llx", b->dir,
           (unsigned long long)h.high64, (unsigned long long)h.low64);
}

static ssize_t read_at(int fd, char *buf, size_t n, off_t at) {
  size_t got = 0;
  while (got < n) {
    ssize_t k = pread(fd, buf + got, n - got, at + (off_t)got);
    if (k < 0 && errno == EINTR)
      continue;
    if (k < 0)
      return -1;
    if (k == 0)
      break;
    got += (size_t)k;
  }
  return (ssize_t)got;
}

static int write_at(int fd, const char *buf, size_t n, off_t at) {
  while (n) {
    ssize_t k = pwrite(fd, buf, n, at);
    if (k < 0 && errno == EINTR)
      continue;
    if (k < 0)
      return -1;
    buf += k;
    n -= (size_t)k;
    at += k;
  }
  return 0;
}

// Hashes a file and copies it to `to` (-1: nowhere) on the way.
static int pass_over(FileBlobs *b, int fd, int to, XXH128_hash_t *hash) {
  XXH3_state_t *state = XXH3_createState();
  off_t at = 0;
  ssize_t n;
  int rc = 0;
  XXH3_128bits_reset(state);
  while ((n = read_at(fd, b->piece[0], PIECE, at)) > 0) {
    XXH3_128bits_update(state, b->piece[0], (size_t)n);
    if (to >= 0 && write_at(to, b->piece[0], (size_t)n, at)) {
      rc = -1;
      break;
    }
    at += n;
  }
  *hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return n < 0 ? -1 : rc;
}

static int keep_new(FileBlobs *b, int fd, XXH128_hash_t *hash, Err *err) {
  char blob[PATH_MAX], fresh[PATH_MAX];
  snprintf(fresh, sizeof fresh, "%s/new", b->dir);
  int to = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (to < 0)
    return fail(fresh, err);
  int rc = pass_over(b, fd, to, hash);
  if (close(to) || rc)
    return fail(fresh, err);
  blob_path(b, *hash, blob);
  return rename(fresh, blob) ? fail(blob, err) : 0;
}

// A file that is written meanwhile has another hash when it is copied.
int blobs_keep(FileBlobs *b, int fd, const char *path, XXH128_hash_t *hash,
               Err *err) {
  char blob[PATH_MAX];
  if (pass_over(b, fd, -1, hash))
    return fail(path, err);
  blob_path(b, *hash, blob);
  return fs_exists(blob) ? 0 : keep_new(b, fd, hash, err);
}

static int write_back(FileBlobs *b, int fd, int blob, bool *changed) {
  off_t at = 0;
  ssize_t n;
  while ((n = read_at(blob, b->piece[0], PIECE, at)) > 0) {
    ssize_t m = read_at(fd, b->piece[1], (size_t)n, at);
    if (m != n || memcmp(b->piece[0], b->piece[1], (size_t)n)) {
      if (write_at(fd, b->piece[0], (size_t)n, at))
        return -1;
      *changed = true;
    }
    at += n;
  }
  struct stat st;
  if (n < 0 || fstat(fd, &st))
    return -1;
  if (st.st_size == at)
    return 0;
  *changed = true;
  return ftruncate(fd, at);
}

int blobs_restore(FileBlobs *b, int fd, XXH128_hash_t hash, bool *changed) {
  char path[PATH_MAX];
  blob_path(b, hash, path);
  int blob = open(path, O_RDONLY | O_CLOEXEC);
  int rc = blob < 0 ? -1 : write_back(b, fd, blob, changed);
  if (blob >= 0)
    close(blob);
  return rc;
}
