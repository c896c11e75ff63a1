// The files below a directory: see file_tree.h.
#include "capture/file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_format.h"
#include "util/fs.h"

// --- bytes ------------------------------------------------------------------

// FNV-1a with 64 bits.
uint64_t bytes_hash(const void *data, size_t n, uint64_t hash) {
  const unsigned char *p = data;
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

void bytes_put(Str *out, const void *data, size_t n) { str_addn(out, data, n); }

bool bytes_take(const char **at, const char *end, void *data, size_t n) {
  if ((size_t)(end - *at) < n)
    return false;
  memcpy(data, *at, n);
  *at += n;
  return true;
}

void text_put(Str *out, const void *data, size_t n) {
  uint64_t size = n;
  bytes_put(out, &size, sizeof size);
  str_addn(out, data, n);
}

bool text_take(const char **at, const char *end, Str *out) {
  uint64_t size;
  if (!bytes_take(at, end, &size, sizeof size) || size > (size_t)(end - *at))
    return false;
  str_addn(out, *at, size);
  *at += size;
  return true;
}

// --- reading ----------------------------------------------------------------

void tree_release(FileTree *t) {
  for (size_t i = 0; i < t->entries.len; i++) {
    free(t->entries.items[i].path);
    str_release(&t->entries.items[i].data);
  }
  array_release(&t->entries);
  t->bytes = 0;
}

static bool is_before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
                                : a->tv_nsec < b->tv_nsec;
}

static void set_time(TreeEntry *e, const struct stat *st,
                     const struct timespec *since) {
  e->nanoseconds = -1;
  if (e->kind != ENTRY_FILE || (since && !is_before(&st->st_mtim, since)))
    return;
  e->seconds = st->st_mtim.tv_sec;
  e->nanoseconds = (int32_t)st->st_mtim.tv_nsec;
}

static int read_symlink(TreeEntry *e, const char *path, Err *err) {
  char target[PATH_MAX];
  ssize_t n = readlink(path, target, sizeof target);
  if (n <= 0)
    return err_set(err, "%s: %s", path, strerror(errno));
  str_addn(&e->data, target, (size_t)n);
  return 0;
}

static int read_directory(FileTree *t, const char *root, const char *below,
                          const struct timespec *since, Err *err);

static int read_entry(FileTree *t, const char *root, char *below,
                      const struct timespec *since, Err *err) {
  char *path = mem_printf("%s/%s", root, below);
  TreeEntry e = {.path = below};
  struct stat st;
  int rc = lstat(path, &st) ? err_set(err, "%s: %s", path, strerror(errno)) : 0;
  if (!rc && t->entries.len >= CAPTURE_FILES)
    rc = err_set(err, "%s has too many files", root);
  if (!rc) {
    e.device = st.st_dev;
    e.inode = st.st_nlink > 1 ? st.st_ino : 0;
    e.mode = st.st_mode & 07777;
    e.kind = S_ISDIR(st.st_mode)   ? ENTRY_DIRECTORY
             : S_ISLNK(st.st_mode) ? ENTRY_SYMLINK
                                   : ENTRY_FILE;
    set_time(&e, &st, since);
    if (S_ISLNK(st.st_mode))
      rc = read_symlink(&e, path, err);
    else if (S_ISREG(st.st_mode))
      rc = fs_read_regular(path, CAPTURE_BYTES - t->bytes, &e.data, err);
    else if (!S_ISDIR(st.st_mode))
      rc = err_set(err, "%s is not a file or directory", path);
  }
  t->bytes += e.data.len;
  array_push(&t->entries, e);
  free(path);
  if (!rc && t->bytes >= CAPTURE_BYTES)
    rc = err_set(err, "the files in %s are too large", root);
  return !rc && e.kind == ENTRY_DIRECTORY
             ? read_directory(t, root, below, since, err)
             : rc;
}

static bool is_skipped(const char *name) {
  return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, ".culprit");
}

static int read_directory(FileTree *t, const char *root, const char *below,
                          const struct timespec *since, Err *err) {
  char *path = mem_printf("%s/%s", root, below);
  DIR *d = opendir(path);
  int rc = d || (errno == ENOENT && !*below)
               ? 0
               : err_set(err, "%s: %s", path, strerror(errno));
  for (struct dirent *e; d && !rc && (e = readdir(d));)
    if (!is_skipped(e->d_name))
      rc = read_entry(t, root,
                      mem_printf("%s%s%s", below, *below ? "/" : "", e->d_name),
                      since, err);
  if (d)
    closedir(d);
  free(path);
  return rc;
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const TreeEntry *)a)->path, ((const TreeEntry *)b)->path);
}

// The second and later names of a file are links to the first.
static void find_hardlinks(FileTree *t) {
  for (size_t i = 0; i < t->entries.len; i++) {
    TreeEntry *e = &t->entries.items[i];
    for (size_t k = 0; k < i && e->inode && e->kind == ENTRY_FILE; k++) {
      const TreeEntry *first = &t->entries.items[k];
      if (first->kind != ENTRY_FILE || first->inode != e->inode ||
          first->device != e->device)
        continue;
      e->kind = ENTRY_HARDLINK;
      e->nanoseconds = -1;
      str_clear(&e->data);
      str_add(&e->data, first->path);
    }
  }
}

int tree_read(FileTree *t, const char *root, const struct timespec *since,
              Err *err) {
  int rc = read_directory(t, root, "", since, err);
  if (t->entries.len)
    qsort(t->entries.items, t->entries.len, sizeof *t->entries.items, by_path);
  if (!rc)
    find_hardlinks(t);
  return rc;
}

size_t tree_inodes(const FileTree *t) {
  size_t n = 0;
  for (size_t i = 0; i < t->entries.len; i++)
    n += t->entries.items[i].kind != ENTRY_HARDLINK;
  return n;
}

// --- comparing --------------------------------------------------------------

static bool same_data(const TreeEntry *a, const TreeEntry *b) {
  return a->kind == b->kind && a->data.len == b->data.len &&
         (!a->data.len || !memcmp(a->data.data, b->data.data, a->data.len));
}

static bool same_time(const TreeEntry *a, const TreeEntry *b) {
  return a->nanoseconds == b->nanoseconds &&
         (a->nanoseconds < 0 || a->seconds == b->seconds);
}

bool tree_same(const FileTree *a, const FileTree *b) {
  bool same = a->entries.len == b->entries.len;
  for (size_t i = 0; same && i < a->entries.len; i++) {
    const TreeEntry *x = &a->entries.items[i], *y = &b->entries.items[i];
    same = !strcmp(x->path, y->path) && x->mode == y->mode && same_data(x, y) &&
           same_time(x, y);
  }
  return same;
}

uint64_t tree_hash(const FileTree *t, uint64_t hash) {
  for (size_t i = 0; i < t->entries.len; i++) {
    const TreeEntry *e = &t->entries.items[i];
    int64_t numbers[] = {e->kind, e->mode, e->nanoseconds < 0 ? 0 : e->seconds,
                         e->nanoseconds, (int64_t)e->data.len};
    hash = bytes_hash(e->path, strlen(e->path) + 1, hash);
    hash = bytes_hash(numbers, sizeof numbers, hash);
    hash = bytes_hash(str_text(&e->data), e->data.len, hash);
  }
  return hash;
}

// --- on disk ----------------------------------------------------------------

void tree_put(const FileTree *t, Str *out) {
  uint64_t n = t->entries.len;
  bytes_put(out, &n, sizeof n);
  for (size_t i = 0; i < n; i++) {
    const TreeEntry *e = &t->entries.items[i];
    uint8_t kind = (uint8_t)e->kind;
    text_put(out, e->path, strlen(e->path));
    bytes_put(out, &kind, sizeof kind);
    bytes_put(out, &e->mode, sizeof e->mode);
    bytes_put(out, &e->seconds, sizeof e->seconds);
    bytes_put(out, &e->nanoseconds, sizeof e->nanoseconds);
    text_put(out, str_text(&e->data), e->data.len);
  }
}

static bool take_entry(TreeEntry *e, const char **at, const char *end) {
  Str path = {0};
  uint8_t kind = 0;
  bool good = text_take(at, end, &path) &&
              bytes_take(at, end, &kind, sizeof kind) &&
              bytes_take(at, end, &e->mode, sizeof e->mode) &&
              bytes_take(at, end, &e->seconds, sizeof e->seconds) &&
              bytes_take(at, end, &e->nanoseconds, sizeof e->nanoseconds) &&
              text_take(at, end, &e->data);
  e->kind = (TreeEntryKind)kind;
  e->path = mem_strdup(str_text(&path));
  str_release(&path);
  return good;
}

int tree_take(FileTree *t, const char **at, const char *end) {
  uint64_t n = 0;
  bool good = bytes_take(at, end, &n, sizeof n) && n <= CAPTURE_FILES;
  for (uint64_t i = 0; good && i < n; i++) {
    TreeEntry e = {0};
    good = take_entry(&e, at, end);
    array_push(&t->entries, e);
  }
  return good ? 0 : -1;
}

// --- bringing back ----------------------------------------------------------

static int set_file_time(const char *path, const TreeEntry *e) {
  struct timespec now = {.tv_nsec = UTIME_NOW};
  struct timespec then = {e->seconds, e->nanoseconds};
  struct timespec times[] = {now, e->nanoseconds < 0 ? now : then};
  return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static int write_file(const char *path, const TreeEntry *e, Err *err) {
  return fs_write(path, str_text(&e->data), e->data.len, err);
}

static int make_entry(const char *root, const TreeEntry *e, Err *err) {
  char *path = mem_printf("%s/%s", root, e->path);
  char *first = mem_printf("%s/%s", root, str_text(&e->data));
  int rc = 0;
  if (e->kind == ENTRY_FILE)
    rc = write_file(path, e, err) || chmod(path, e->mode) ||
         set_file_time(path, e);
  else if (e->kind == ENTRY_DIRECTORY)
    rc = mkdir(path, 0700) && errno != EEXIST;
  else if (e->kind == ENTRY_SYMLINK)
    rc = symlink(str_text(&e->data), path);
  else
    rc = link(first, path);
  if (rc)
    err_set(err, "%s: %s", path, strerror(errno));
  free(first);
  free(path);
  return rc ? -1 : 0;
}

static void remove_entry(const char *root, const TreeEntry *e) {
  char *path = mem_printf("%s/%s", root, e->path);
  if (e->kind == ENTRY_DIRECTORY)
    fs_remove_tree(path);
  else
    unlink(path);
  free(path);
}

static int touch_entry(const char *root, const TreeEntry *e) {
  char *path = mem_printf("%s/%s", root, e->path);
  int rc = set_file_time(path, e);
  free(path);
  return rc;
}

// Directories last: one that may not be written to is filled before.
static int set_modes(const char *root, const FileTree *want, Err *err) {
  int rc = 0;
  for (size_t i = want->entries.len; i-- && !rc;) {
    const TreeEntry *e = &want->entries.items[i];
    char *path = mem_printf("%s/%s", root, e->path);
    if (e->kind == ENTRY_DIRECTORY && chmod(path, e->mode))
      rc = err_set(err, "%s: %s", path, strerror(errno));
    free(path);
  }
  return rc;
}

// Is a file as wanted? Its names may have to be the same file.
static bool is_kept(const TreeEntry *have, const TreeEntry *want) {
  return same_data(have, want) &&
         (have->mode == want->mode || want->kind == ENTRY_DIRECTORY);
}

static const TreeEntry *find(const FileTree *t, const char *path) {
  TreeEntry key = {.path = (char *)path};
  return t->entries.len ? bsearch(&key, t->entries.items, t->entries.len,
                                  sizeof key, by_path)
                        : NULL;
}

static void remove_others(const char *root, const FileTree *have,
                          const FileTree *want) {
  for (size_t i = have->entries.len; i--;) {
    const TreeEntry *e = &have->entries.items[i];
    const TreeEntry *wanted = find(want, e->path);
    if (!wanted || !is_kept(e, wanted))
      remove_entry(root, e);
  }
}

// With links a change of one name would be one of all: everything anew.
static bool has_hardlinks(const FileTree *t) {
  for (size_t i = 0; i < t->entries.len; i++)
    if (t->entries.items[i].kind == ENTRY_HARDLINK)
      return true;
  return false;
}

int tree_apply(const char *root, const FileTree *have, const FileTree *want,
               bool touch, Err *err) {
  static const FileTree nothing;
  bool same = !touch && tree_same(have, want);
  bool anew = !same && (has_hardlinks(have) || has_hardlinks(want));
  int rc = 0;
  if (same)
    return 0;
  remove_others(root, have, anew ? &nothing : want);
  for (size_t i = 0; i < want->entries.len && !rc; i++) {
    const TreeEntry *e = &want->entries.items[i];
    const TreeEntry *old = anew ? NULL : find(have, e->path);
    if (!old || !is_kept(old, e))
      rc = make_entry(root, e, err);
    else if (e->kind != ENTRY_SYMLINK && (touch || !same_time(old, e)))
      touch_entry(root, e);
  }
  return rc ? rc : set_modes(root, want, err);
}
