// The files of an application's state: see state_files.h.
//
// The clock of file times ticks every few milliseconds, so a file written twice
// within a tick may look unchanged. A time is therefore trusted only if it was
// in the past when it was read (`settled`): any later write gets a later one.
// After a restore it always is, because old times are restored.
#include "php/state/state_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "php/app_files.h"
#include "php/child.h"
#include "php/file_walk.h"
#include "php/state/file_blobs.h"
#include "php/state/file_entries.h"
#include "util/arena.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"

// A larger file of the tree is no state unless the user names it.
enum { TREE_FILE = 16 << 20 };
#define TREE_KEPT ((off_t)1 << 30) // of all contents of the tree

// What is known about a file as it was when its stat was this.
typedef struct {
  struct stat st;
  XXH128_hash_t hash;
  bool settled;
} KnownFile;

// The application's own tree.
typedef struct {
  const Confine *confine;
  char *name, *place; // outside; where we find it in the view; NULL: no state
  FileEntries base;   // outside, by their names in the view
  bool based;         // that is known
  bool walked;        // by the last walk
  TextList excluded;  // names outside
  TextList counted;   // named by the user, outside
  off_t kept;         // bytes that were read and kept
} AppTree;

struct FileState {
  Arena arena;
  FileWalk walk;     // over all places
  TextList names_of; // them: as they are called without a view
  Hashmap paths;     // to indexes of known
  Hashmap names;     // to copies of paths in the arena
  ARRAY(KnownFile) known;
  FileBlobs blobs;
  AppFiles *view; // NULL: not confined
  char *prefix;   // of paths in the view; "": they are ours
  char *own;
  AppTree tree;
};

static int fail(const char *path, Err *err) {
  return err_set(err, "state of the application: %s: %s", path,
                 strerror(errno));
}

// --- what is known ----------------------------------------------------------

static struct timespec tick(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

static bool is_before(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static bool same_time(struct timespec a, struct timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_stat(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
         a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
         same_time(a->st_ctim, b->st_ctim);
}

// Shared memory of SQLite is written through a mapping, which some file systems
// do not give a time to.
static bool is_mapped(const char *path) { return text_ends(path, "-shm"); }

static const KnownFile *known_of(const FileState *f, const char *path,
                                 const struct stat *st) {
  uint64_t i;
  if (!hashmap_get(&f->paths, path, strlen(path), &i))
    return NULL;
  const KnownFile *k = &f->known.items[i];
  return k->settled && same_stat(&k->st, st) ? k : NULL;
}

static void remember(FileState *f, const char *path, const struct stat *st,
                     struct timespec before, XXH128_hash_t hash) {
  uint64_t i = hashmap_intern(&f->paths, path, strlen(path), f->known.len);
  if (i == f->known.len)
    array_push(&f->known, (KnownFile){0});
  f->known.items[i] = (KnownFile){.st = *st,
                                  .hash = hash,
                                  .settled = is_before(st->st_mtim, before) &&
                                             !is_mapped(path)};
}

// One copy of each path for all snapshots.
static const char *name_of(FileState *f, const char *path) {
  uint64_t at;
  if (hashmap_get(&f->names, path, strlen(path), &at))
    return (const char *)(uintptr_t)at;
  const char *copy = arena_strdup(&f->arena, path);
  hashmap_put(&f->names, path, strlen(path), (uintptr_t)copy);
  return copy;
}

// --- the view ---------------------------------------------------------------

// The path as the application has it.
static const char *in_view(const FileState *f, const char *path) {
  size_t n = strlen(f->prefix);
  return strncmp(path, f->prefix, n) || path[n] != '/' ? path : path + n;
}

// TextList are walked without following links; so must be the way to them, or
// we would write where the application was not let.
static bool is_sound(const FileState *f, const char *place) {
  return !f->view || app_parent_is_sound(f->view, in_view(f, place));
}

static bool may_mend(const FileState *f, const char *place) {
  size_t n = strlen(f->own);
  return *f->prefix || (n && !strncmp(place, f->own, n) && place[n] == '/');
}

static int mend_places(const FileState *f, Err *err) {
  for (size_t i = 0; i < f->walk.places.len; i++) {
    const char *place = f->walk.places.items[i];
    if (is_sound(f, place))
      continue;
    errno = ELOOP;
    if (!may_mend(f, place) || app_parent_mend(f->view, in_view(f, place)))
      return fail(in_view(f, place), err);
  }
  return 0;
}

static int open_view(FileState *f, const StatePlaces *places, Err *err) {
  const Confine *c = places->confine;
  f->own = mem_strdup(places->own ? places->own : "");
  f->prefix = c ? confine_outside(c, "/") : mem_strdup("");
  for (size_t n = strlen(f->prefix); n && f->prefix[n - 1] == '/';)
    f->prefix[--n] = '\0';
  return c ? app_files_open(&f->view, c, err) : 0;
}

// --- the application's tree -------------------------------------------------

static bool lies_in_any(const char *path, const TextList *dirs) {
  for (size_t i = 0; i < dirs->len; i++)
    if (path_lies_in(path, dirs->items[i]))
      return true;
  return false;
}

// What a path in the view is called outside. `room` holds PATH_MAX bytes.
static const char *name_outside(const AppTree *t, const char *path,
                                char *room) {
  snprintf(room, PATH_MAX, "%s%s", t->name, path + strlen(t->place));
  return room;
}

// Does no state of the tree begin here? Our own files, what stays real for the
// application, what we may not read.
static bool is_excluded(const AppTree *t, const char *name) {
  for (size_t i = 0; i < t->excluded.len; i++)
    if (!strcmp(name, t->excluded.items[i]))
      return true;
  return !strcmp(path_base(name), ".culprit");
}

static bool is_in_tree(const FileState *f, const char *path) {
  char room[PATH_MAX];
  return f->tree.place && path_lies_in(path, f->tree.place) &&
         !lies_in_any(name_outside(&f->tree, path, room), &f->tree.excluded);
}

static bool takes(void *ctx, const char *path, int depth) {
  const FileState *f = ctx;
  const AppTree *t = &f->tree;
  char room[PATH_MAX];
  if (depth)
    return !t->place || !path_lies_in(path, t->place) ||
           !is_excluded(t, name_outside(t, path, room));
  if (t->place && !strcmp(path, t->place) && !t->walked)
    return false;
  return is_sound(f, path);
}

static bool takes_outside(void *ctx, const char *path, int depth) {
  const FileState *f = ctx;
  return !depth || !is_excluded(&f->tree, path);
}

// Only what may be read is looked at outside, where nothing is changed for it.
static bool is_readable(const FileWalkItem *item) {
  return !S_ISREG(item->st.st_mode) || !access(item->path, R_OK);
}

// --- contents ---------------------------------------------------------------

// A file that the application forbade itself to read is read all the same.
static int open_file(const FileState *f, const char *path, int flags) {
  flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = open(path, flags, 0600);
  struct stat st;
  if (fd >= 0 || errno != EACCES || !f->view || lstat(path, &st) ||
      !S_ISREG(st.st_mode) || chmod(path, 0600))
    return fd;
  fd = open(path, flags, 0600);
  chmod(path, st.st_mode & 07777);
  return fd;
}

static int read_content(FileState *f, const char *path, XXH128_hash_t *hash,
                        Err *err) {
  struct timespec before = tick();
  struct stat st;
  int fd = open_file(f, path, O_RDONLY);
  if (fd < 0 || fstat(fd, &st)) {
    fail(path, err);
    if (fd >= 0)
      close(fd);
    return -1;
  }
  int rc = blobs_keep(&f->blobs, fd, path, hash, err);
  close(fd);
  if (!rc)
    remember(f, path, &st, before, *hash);
  return rc;
}

// --- saving -----------------------------------------------------------------

static int save_link(FileState *f, FileEntry *e, Err *err) {
  char target[PATH_MAX];
  ssize_t n = readlink(e->path, target, sizeof target - 1);
  if (n < 0)
    return fail(e->path, err);
  target[n] = '\0';
  e->target = name_of(f, target);
  return 0;
}

// A file that was removed since it was listed is not there.
static bool is_gone(const char *path) {
  struct stat st;
  return lstat(path, &st) && errno == ENOENT;
}

static int save_one(FileState *f, const FileWalkItem *item, FileEntries *out,
                    Err *err) {
  FileEntry e = {.path = name_of(f, item->path),
                 .mode = item->st.st_mode,
                 .mtime = item->st.st_mtim};
  if (S_ISREG(e.mode)) {
    const KnownFile *k = known_of(f, e.path, &item->st);
    if (k)
      e.hash = k->hash;
    else if (read_content(f, e.path, &e.hash, err))
      return is_gone(e.path) ? 0 : -1;
  } else if (S_ISLNK(e.mode) && save_link(f, &e, err)) {
    return is_gone(e.path) ? 0 : -1;
  }
  array_push(out, e);
  return 0;
}

static bool is_counted(const FileState *f, const char *path) {
  char room[PATH_MAX];
  return lies_in_any(name_outside(&f->tree, path, room), &f->tree.counted);
}

// An application must not fill our disk by filling its own.
static bool is_too_large(FileState *f, const FileWalkItem *item) {
  AppTree *t = &f->tree;
  off_t size = item->st.st_size;
  if (!S_ISREG(item->st.st_mode) || !is_in_tree(f, item->path) ||
      known_of(f, item->path, &item->st) || is_counted(f, item->path))
    return false;
  if (size > TREE_FILE || t->kept + size > TREE_KEPT)
    return true;
  t->kept += size;
  return false;
}

static const FileEntry *find_base(const FileState *f, const char *path) {
  FileEntry like = {.path = path};
  const FileEntries *base = &f->tree.base;
  return base->len ? bsearch(&like, base->items, base->len, sizeof like,
                             file_entry_order)
                   : NULL;
}

// What is too large to be kept is as it was at first.
static int save_some(FileState *f, const FileWalkItem *item, FileEntries *out,
                     Err *err) {
  if (!is_too_large(f, item))
    return save_one(f, item, out, err);
  const FileEntry *base = find_base(f, item->path);
  if (base)
    array_push(out, *base);
  return 0;
}

// The tree outside, as the view had it at first.
static int make_base(FileState *f, Err *err) {
  AppTree *t = &f->tree;
  FileWalk walk = {.takes = takes_outside, .ctx = f, .tolerant = true};
  size_t n = strlen(t->name);
  char room[PATH_MAX];
  file_walk_add(&walk, t->name);
  int rc = file_walk_run(&walk, err);
  for (size_t i = 0; !rc && i < walk.items.len; i++) {
    const FileWalkItem *item = &walk.items.items[i];
    if (!is_readable(item)) {
      array_push(&t->excluded, mem_strdup(item->path));
      continue;
    }
    rc = save_one(f, item, &t->base, err);
    snprintf(room, sizeof room, "%s%s", t->place, item->path + n);
    if (!rc)
      t->base.items[t->base.len - 1].path = name_of(f, room);
  }
  file_walk_release(&walk);
  t->based = !rc;
  return rc;
}

// All places, the tree only if something was written.
static int walk_places(FileState *f, Err *err) {
  AppTree *t = &f->tree;
  t->walked = t->place && confine_is_dirty(t->confine);
  if (t->walked && !t->based && make_base(f, err))
    return -1;
  return file_walk_run(&f->walk, err);
}

// Those in the tree, or the others.
static void add_entries(const FileState *f, const FileEntries *from,
                        bool in_tree, FileEntries *to) {
  for (size_t i = 0; i < from->len; i++)
    if (is_in_tree(f, from->items[i].path) == in_tree)
      array_push(to, from->items[i]);
}

static void settle_entries(const FileState *f, FileEntries *all,
                           FileEntries *out) {
  FileEntries now = {0};
  add_entries(f, all, false, out);
  add_entries(f, all, true, &now);
  if (f->tree.walked)
    file_entries_diff(&f->tree.base, &now, out);
  file_entries_sort(out);
  array_release(&now);
}

int file_state_save(FileState *f, FileEntries *out, Err *err) {
  FileEntries all = {0};
  int rc = walk_places(f, err);
  *out = (FileEntries){0};
  for (size_t i = 0; !rc && i < f->walk.items.len; i++)
    rc = save_some(f, &f->walk.items.items[i], &all, err);
  if (!rc)
    settle_entries(f, &all, out);
  array_release(&all);
  return rc;
}

static bool is_session(const char *path, const char *sessions) {
  size_t n = sessions ? strlen(sessions) : 0;
  return n && !strncmp(path, sessions, n) &&
         text_starts(path + n, "/" SESSION_FILE);
}

// By the name that we have for the place, not by that of a view or copy.
static void add_name(const FileState *f, const char *path, const char *dir,
                     Str *key) {
  for (size_t i = 0; i < f->names_of.len; i++) {
    const char *place = f->walk.places.items[i];
    if (!path_lies_in(path, place))
      continue;
    str_addf(key, "%s%s", path_below(f->names_of.items[i], dir),
             path + strlen(place));
    return;
  }
}

// A log tells nothing that the application goes by.
static bool is_volatile(const FileState *f, const char *path) {
  static const char *const dirs[] = {"/cache/", "/log/", "/logs/", "/tmp/",
                                     "/temp/"};
  if (!is_in_tree(f, path) || is_counted(f, path))
    return false;
  const char *below = path + strlen(f->tree.place);
  for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
    if (strstr(below, dirs[i]))
      return true;
  return text_ends(below, ".log");
}

static uint64_t entry_digest(const FileState *f, const FileEntry *e,
                             const char *dir, const char *sessions) {
  Str key = {0};
  if (!is_session(e->path, sessions))
    add_name(f, e->path, dir, &key);
  str_addf(&key, " %o ", (unsigned)e->mode);
  if (S_ISREG(e->mode))
    str_addn(&key, &e->hash, sizeof e->hash);
  if (e->target)
    str_add(&key, e->target);
  uint64_t digest = XXH3_64bits(key.data, key.len);
  str_release(&key);
  return digest;
}

uint64_t file_entries_digest(const FileState *f, const FileEntries *entries,
                             const char *dir, const char *sessions) {
  uint64_t sum = 0;
  for (size_t i = 0; i < entries->len; i++)
    if (!is_volatile(f, entries->items[i].path))
      sum += entry_digest(f, &entries->items[i], dir, sessions);
  return sum;
}

// --- restoring --------------------------------------------------------------

static int restore_file(FileState *f, const FileEntry *e, bool *changed,
                        Err *err) {
  struct stat st;
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, e->mtime};
  struct timespec before = tick();
  int fd = open_file(f, e->path, O_RDWR | O_CREAT);
  int rc = fd < 0 || blobs_restore(&f->blobs, fd, e->hash, changed) ||
           fchmod(fd, e->mode & 07777) || futimens(fd, times) || fstat(fd, &st);
  if (rc)
    fail(e->path, err);
  else
    remember(f, e->path, &st, before, e->hash);
  if (fd >= 0)
    close(fd);
  return rc ? -1 : 0;
}

static int make_one(FileState *f, const FileEntry *e, size_t *restored,
                    Err *err) {
  bool changed = true;
  if (S_ISDIR(e->mode)) {
    if ((mkdir(e->path, 0700) && errno != EEXIST) ||
        chmod(e->path, e->mode & 07777))
      return fail(e->path, err);
    return 0;
  }
  *restored += 1;
  if (S_ISLNK(e->mode))
    return symlink(e->target, e->path) ? fail(e->path, err) : 0;
  return restore_file(f, e, &changed, err);
}

static bool same_link(const FileEntry *e) {
  char target[PATH_MAX];
  ssize_t n = readlink(e->path, target, sizeof target - 1);
  return n >= 0 && (size_t)n == strlen(e->target) &&
         !memcmp(target, e->target, (size_t)n);
}

static int update_link(const FileEntry *e, size_t *restored, Err *err) {
  if (same_link(e))
    return 0;
  *restored += 1;
  if (unlink(e->path) || symlink(e->target, e->path))
    return fail(e->path, err);
  return 0;
}

// Both are there, and of the same kind.
static int update_one(FileState *f, const FileWalkItem *item,
                      const FileEntry *e, size_t *restored, Err *err) {
  bool changed = false;
  if (S_ISLNK(e->mode))
    return update_link(e, restored, err);
  if (S_ISREG(e->mode)) {
    const KnownFile *k = known_of(f, e->path, &item->st);
    bool clean =
        k && XXH128_isEqual(k->hash, e->hash) && item->st.st_mode == e->mode;
    if (!clean && restore_file(f, e, &changed, err))
      return -1;
    *restored += changed;
    return 0;
  }
  if (item->st.st_mode != e->mode && chmod(e->path, e->mode & 07777))
    return fail(e->path, err);
  return 0;
}

static bool same_kind(const FileWalkItem *item, const FileEntry *e) {
  return (item->st.st_mode & S_IFMT) == (e->mode & S_IFMT);
}

// Removes what the target does not have, or has as another kind: backwards, so
// that directories are empty when their turn comes.
static int remove_others(FileState *f, const FileEntries *target,
                         size_t *restored, Err *err) {
  size_t j = target->len;
  for (size_t i = f->walk.items.len; i-- > 0;) {
    const FileWalkItem *item = &f->walk.items.items[i];
    while (j && strcmp(target->items[j - 1].path, item->path) > 0)
      j--;
    const FileEntry *e = j ? &target->items[j - 1] : NULL;
    if (e && !strcmp(e->path, item->path) && same_kind(item, e))
      continue;
    *restored += !S_ISDIR(item->st.st_mode);
    if (remove(item->path) && errno == ENOTEMPTY)
      fs_remove_tree(item->path); // sockets and pipes, which we do not list
    if (!access(item->path, F_OK))
      return err_set(err, "state of the application: %s: cannot be removed",
                     item->path);
  }
  return 0;
}

// What the places are to hold.
static FileEntries whole_of(const FileState *f, const FileEntries *target) {
  FileEntries all = {0}, diff = {0};
  add_entries(f, target, false, &all);
  add_entries(f, target, true, &diff);
  if (f->tree.walked)
    file_entries_patch(&f->tree.base, &diff, &all);
  file_entries_sort(&all);
  array_release(&diff);
  return all;
}

static int restore_all(FileState *f, const FileEntries *target,
                       size_t *restored, Err *err) {
  if (remove_others(f, target, restored, err))
    return -1;
  size_t i = 0, n = f->walk.items.len;
  int rc = 0;
  for (size_t j = 0; !rc && j < target->len; j++) {
    const FileEntry *e = &target->items[j];
    const FileWalkItem *items = f->walk.items.items;
    while (i < n && strcmp(items[i].path, e->path) < 0)
      i++;
    bool there = i < n && !strcmp(items[i].path, e->path);
    if (there && same_kind(&items[i], e))
      rc = update_one(f, &items[i], e, restored, err);
    else
      rc = make_one(f, e, restored, err);
  }
  return rc;
}

int file_state_restore(FileState *f, const FileEntries *target,
                       size_t *restored, Err *err) {
  *restored = 0;
  if (mend_places(f, err) || walk_places(f, err))
    return -1;
  FileEntries all = whole_of(f, target);
  int rc = restore_all(f, &all, restored, err);
  array_release(&all);
  return rc;
}

// --- opening and closing ----------------------------------------------------

// `name` as we have it, where the application has it.
static void add_named(FileState *f, const char *name, const Confine *c) {
  char *inside = c ? confine_inside(c, name) : mem_strdup(name);
  char *place = c ? confine_outside(c, inside) : mem_strdup(inside);
  file_walk_add(&f->walk, place);
  array_push(&f->names_of, mem_strdup(name));
  free(inside);
  free(place);
}

static void add_place(FileState *f, const char *path, const Confine *c) {
  static const char *const companions[] = {"-wal", "-shm", "-journal"};
  struct stat st;
  char real[PATH_MAX];
  char *place =
      realpath(path, real) ? mem_strdup(real) : path_absolute(path, NULL);
  add_named(f, place, c);
  bool is_dir = !stat(place, &st) && S_ISDIR(st.st_mode);
  for (size_t i = 0; !is_dir && i < sizeof companions / sizeof *companions;
       i++) {
    char *name = mem_printf("%s%s", place, companions[i]);
    add_named(f, name, c);
    free(name);
  }
  free(place);
}

// A place of the user's: one in the tree is there already.
static void add_file(FileState *f, const char *path, const Confine *c) {
  char real[PATH_MAX];
  const char *name = realpath(path, real) ? real : path;
  if (f->tree.place && path_lies_in(name, f->tree.name) &&
      !lies_in_any(name, &f->tree.excluded))
    array_push(&f->tree.counted, mem_strdup(name));
  else
    add_place(f, path, c);
}

static void open_tree(FileState *f, const StatePlaces *places) {
  AppTree *t = &f->tree;
  const Confine *c = places->confine;
  if (!c || !places->tree)
    return;
  char *inside = confine_inside(c, places->tree);
  t->confine = c;
  t->name = mem_strdup(places->tree);
  t->place = confine_outside(c, inside);
  for (const char *const *p = places->excluded; p && *p; p++)
    array_push(&t->excluded, mem_strdup(*p));
  file_walk_add(&f->walk, t->place);
  array_push(&f->names_of, mem_strdup(t->name));
  free(inside);
}

int file_state_open(FileState **out, const StatePlaces *places,
                    const char *scratch, Err *err) {
  FileState *f = mem_new(FileState);
  *out = f;
  if (open_view(f, places, err) || blobs_open(&f->blobs, scratch, err))
    return -1;
  f->walk.tolerant = f->view;
  f->walk.takes = takes;
  f->walk.ctx = f;
  open_tree(f, places);
  if (places->session_dir)
    add_place(f, places->session_dir, NULL); // ours, in any view
  for (const char *const *p = places->files; p && *p; p++)
    add_file(f, *p, places->confine);
  return 0;
}

void file_state_close(FileState *f) {
  if (!f)
    return;
  free(f->tree.name);
  free(f->tree.place);
  array_release(&f->tree.base);
  text_list_release(&f->tree.excluded);
  text_list_release(&f->tree.counted);
  file_walk_release(&f->walk);
  text_list_release(&f->names_of);
  hashmap_release(&f->paths);
  hashmap_release(&f->names);
  array_release(&f->known);
  app_files_close(f->view);
  free(f->prefix);
  free(f->own);
  blobs_close(&f->blobs);
  arena_release(&f->arena);
  free(f);
}
