// A place of our own for versions: see checkout.h.
#include "since/checkout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/capture.h"
#include "util/fs.h"
#include "util/mem.h"

enum { UNTRACKED_MOST = 16 << 20 }; // bytes of a file that is taken

// --- opening -----------------------------------------------------------------

static char *inside(const Checkout *c, const char *name) {
  return mem_printf("%s/%s", c->dir, name);
}

static int take_lock(Checkout *c, Err *err) {
  char *path = inside(c, "lock");
  c->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  int rc = 0;
  if (c->lock < 0)
    rc = err_set(err, "%s: %s", path, strerror(errno));
  else if (flock(c->lock, LOCK_EX | LOCK_NB))
    rc = err_set(err,
                 "another `culprit since` is at work in %s: wait for its end",
                 c->dir);
  free(path);
  return rc;
}

static void remove_inside(const Checkout *c, const char *name) {
  char *path = inside(c, name);
  fs_remove_stubborn_tree(path);
  free(path);
}

int checkout_forget(Checkout *c, Err *err) {
  remove_inside(c, "tree");
  remove_inside(c, "tree.index");
  remove_inside(c, "store");
  *c->at = 0;
  return fs_mkdirs(c->store, err);
}

// What a killed step left: git's locks, and files of which nothing is known.
static int recover(Checkout *c, Err *err) {
  static const char *const locks[] = {"tree.index.lock", "now.index.lock",
                                      "edit.index.lock"};
  char *busy = inside(c, "busy"), *at = inside(c, "at");
  Str text = {0};
  Err ignored;
  int rc = 0;
  for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
    remove_inside(c, locks[i]);
  if (fs_exists(busy) || fs_read(at, OID_SIZE - 1, &text, &ignored))
    rc = checkout_forget(c, err);
  else
    strcpy(c->at, str_text(&text));
  unlink(busy);
  str_release(&text);
  free(at);
  free(busy);
  return rc;
}

int checkout_open(Checkout *c, const Repository *user, const char *dir,
                  Err *err) {
  *c = (Checkout){.lock = -1};
  c->dir = mem_strdup(dir);
  c->tree = inside(c, "tree");
  c->store = inside(c, "store");
  c->objects = inside(c, "objects");
  c->repo = *user;
  c->repo.objects = c->objects;
  if (fs_mkdirs(c->dir, err) || take_lock(c, err) || recover(c, err) ||
      fs_mkdirs(c->objects, err) || fs_mkdirs(c->store, err))
    return -1;
  return git_object(user, "HEAD^{commit}", c->head, err);
}

void checkout_close(Checkout *c) {
  if (c->lock >= 0)
    close(c->lock);
  free(c->dir);
  free(c->tree);
  free(c->store);
  free(c->objects);
  free(c->index);
  arena_release(&c->arena);
  *c = (Checkout){.lock = -1};
}

// From here on git uses this index below DIR.
static void use_index(Checkout *c, const char *name) {
  free(c->index);
  c->index = inside(c, name);
  c->repo.index = c->index;
}

static int git_tree(Checkout *c, char out[OID_SIZE], Err *err) {
  const char *words[] = {"write-tree", "--missing-ok", NULL};
  Str line = {0};
  int rc = git_line(&c->repo, words, &line, err);
  if (!rc && line.len < OID_SIZE)
    strcpy(out, line.data);
  str_release(&line);
  return rc;
}

// --- the user's tree as it is ------------------------------------------------

// The index is copied with what git knows of the files' times, so that only
// changed files are read.
static int copy_index(Checkout *c, Err *err) {
  Str path = {0}, data = {0};
  const char *words[] = {"rev-parse", "--path-format=absolute", "--git-path",
                         "index", NULL};
  Err ignored;
  use_index(c, "now.index");
  unlink(c->index);
  c->repo.index = NULL;
  int rc = git_line(&c->repo, words, &path, err);
  c->repo.index = c->index;
  if (!rc && !fs_read(path.data, 0, &data, &ignored))
    rc = fs_write(c->index, data.data, data.len, err);
  else if (!rc)
    rc = git_run(&c->repo, (const char *[]){"read-tree", "HEAD", NULL}, NULL,
                 NULL, err);
  str_release(&path);
  str_release(&data);
  return rc;
}

static bool is_program(const char *path) {
  char head[8] = "";
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, head, sizeof head);
  close(fd);
  return (n >= 4 && !memcmp(head, "\177ELF", 4)) ||
         (n == 8 && !memcmp(head, "!<arch>\n", 8));
}

// Of what is untracked: sources, tests, data. Not the store, nor what a
// compiler made.
static bool is_wanted(const Checkout *c, const char *path) {
  char *full = mem_printf("%s/%s", c->repo.top, path);
  struct stat st;
  bool wanted = !path_lies_in(full, c->dir) && !strstr(full, "/.culprit/") &&
                !lstat(full, &st) &&
                (S_ISLNK(st.st_mode) ||
                 (S_ISREG(st.st_mode) && st.st_size <= UNTRACKED_MOST &&
                  !is_program(full)));
  free(full);
  return wanted;
}

static int add_names(Checkout *c, const Str *names, Err *err) {
  const char *words[] = {"update-index", "--add",   "--remove",
                         "-z",           "--stdin", NULL};
  return names->len ? git_run(&c->repo, words,
                              &(GitInput){names->data, names->len}, NULL, err)
                    : 0;
}

static int add_untracked(Checkout *c, Err *err) {
  Str list = {0}, names = {0};
  const char *words[] = {"ls-files", "-o",       "-z", "--exclude-standard",
                         "-x",       ".culprit", NULL};
  int rc = git_run(&c->repo, words, NULL, &list, err);
  for (size_t at = 0; !rc && at < list.len;) {
    const char *path = list.data + at;
    size_t n = strlen(path);
    if (n && path[n - 1] != '/' && is_wanted(c, path))
      str_addn(&names, path, n + 1);
    at += n + 1;
  }
  rc = rc ? rc : add_names(c, &names, err);
  str_release(&list);
  str_release(&names);
  return rc;
}

static int add_carried(Checkout *c, const Texts *carried, Err *err) {
  Str names = {0};
  for (size_t i = 0; i < carried->len; i++)
    str_addn(&names, carried->items[i], strlen(carried->items[i]) + 1);
  const char *words[] = {"add", "-f", "--pathspec-from-file=-",
                         "--pathspec-file-nul", NULL};
  int rc = !names.len ? 0
                      : git_run(&c->repo, words,
                                &(GitInput){names.data, names.len}, NULL, err);
  str_release(&names);
  return rc;
}

static int find_submodules(Checkout *c, Err *err) {
  Str list = {0};
  const char *words[] = {"ls-files", "-s", "-z", NULL};
  int rc = git_run(&c->repo, words, NULL, &list, err);
  for (size_t at = 0; !rc && at < list.len; at += strlen(list.data + at) + 1)
    c->submodules |= text_starts(list.data + at, "160000 ");
  str_release(&list);
  return rc;
}

int checkout_snapshot(Checkout *c, const Texts *carried, Err *err) {
  char head_tree[OID_SIZE];
  if (git_object(&c->repo, "HEAD^{tree}", head_tree, err) ||
      copy_index(c, err) ||
      git_run(&c->repo, (const char *[]){"add", "-u", NULL}, NULL, NULL, err) ||
      add_untracked(c, err) || add_carried(c, carried, err) ||
      find_submodules(c, err))
    return -1;
  if (git_tree(c, c->now, err))
    return err_prefix(err,
                      "%s: the index cannot be read as a tree (finish the "
                      "merge first)",
                      c->repo.top);
  c->dirty = strcmp(c->now, head_tree) != 0;
  return 0;
}

// --- other trees -------------------------------------------------------------

int checkout_keep(Checkout *c, const void *data, size_t size,
                  char oid[OID_SIZE], Err *err) {
  const char *words[] = {"hash-object", "-w", "--stdin", "--no-filters", NULL};
  Str line = {0};
  int rc = git_run(&c->repo, words, &(GitInput){data, size}, &line, err);
  size_t n = strcspn(str_text(&line), "\n");
  if (!rc && n < OID_SIZE)
    *stpncpy(oid, line.data, n) = 0;
  str_release(&line);
  return rc;
}

int checkout_edit(Checkout *c, const char *tree, const TreeEdits *edits,
                  char out[OID_SIZE], Err *err) {
  const char *read[] = {"read-tree", tree, NULL};
  const char *update[] = {"update-index", "-z", "--index-info", NULL};
  Str list = {0};
  use_index(c, "edit.index");
  for (size_t i = 0; i < edits->len; i++) {
    const TreeEdit *e = &edits->items[i];
    str_addf(&list, "%s %s\t%s",
             !strcmp(e->entry.mode, "000000") ? "0" : e->entry.mode,
             e->entry.oid, e->path);
    str_addc(&list, 0);
  }
  int rc = git_run(&c->repo, read, NULL, NULL, err);
  if (!rc && list.len)
    rc = git_run(&c->repo, update, &(GitInput){list.data, list.len}, NULL, err);
  rc = rc ? rc : git_tree(c, out, err);
  str_release(&list);
  return rc;
}

// --- files -------------------------------------------------------------------

static void set_time(const char *path, const struct timespec *when) {
  const struct timespec both[2] = {*when, *when};
  utimensat(AT_FDCWD, path, both, AT_SYMLINK_NOFOLLOW);
}

// What was written gets one time; what is gone, goes from a copy in the store
// too: it is only ever added to.
static void even_out(Checkout *c, const FileChanges *changed) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  for (size_t i = 0; i < changed->len; i++) {
    const FileChange *f = &changed->items[i];
    char *path = mem_printf("%s/%s", c->tree, f->path);
    char *copy = mem_printf("%s/build/%s", c->store, f->path);
    if (f->status == 'D')
      unlink(copy);
    else
      set_time(path, &now);
    free(copy);
    free(path);
  }
}

// A submodule is as the user has it, in every version.
static int link_submodules(Checkout *c, const FileChanges *changed, Err *err) {
  for (size_t i = 0; i < changed->len; i++) {
    const FileChange *f = &changed->items[i];
    if (!entry_is_submodule(&f->now))
      continue;
    char *from = mem_printf("%s/%s/.", c->repo.top, f->path);
    char *to = mem_printf("%s/%s", c->tree, f->path);
    char *argv[] = {"cp", "-a", "--", from, to, NULL};
    Str said = {0};
    int rc = fs_mkdirs(to, err);
    if (!rc && fs_exists(from))
      command_capture(argv, NULL, &said);
    char *link = mem_printf("%s/.git", to);
    fs_remove_tree(link);
    free(link);
    str_release(&said);
    free(from);
    free(to);
    if (rc)
      return -1;
  }
  return 0;
}

static int mark(Checkout *c, const char *name, const char *text, Err *err) {
  char *path = inside(c, name);
  int rc = fs_write(path, text, strlen(text), err);
  free(path);
  return rc;
}

static int write_files(Checkout *c, const char *tree, Err *err) {
  const char *read[] = {"read-tree", "--reset", "-u", tree, NULL};
  // A directory that looks like a repository: whoever looks for the top of the
  // project stops here.
  char *git = mem_printf("%s/.git", c->tree);
  int rc = fs_mkdirs(git, err);
  free(git);
  use_index(c, "tree.index");
  c->repo.work_tree = c->tree;
  char *top = c->repo.top;
  c->repo.top = c->tree;
  rc = rc ? rc : git_run(&c->repo, read, NULL, NULL, err);
  c->repo.top = top;
  c->repo.work_tree = NULL;
  return rc;
}

// What git remembers of the files must have their new times.
static void refresh(Checkout *c) {
  char *top = c->repo.top;
  c->repo.top = c->tree;
  c->repo.work_tree = c->tree;
  git_asks(&c->repo, (const char *[]){"update-index", "-q", "--refresh", NULL});
  c->repo.top = top;
  c->repo.work_tree = NULL;
}

int checkout_move(Checkout *c, const char *tree, Err *err) {
  static const char *const empty[] = {"mktree", NULL};
  Str none = {0};
  FileChanges changed = {0};
  Arena arena = {0};
  int rc = mark(c, "busy", "", err);
  if (!rc && !*c->at)
    rc = git_line(&c->repo, empty, &none, err);
  const char *from = *c->at ? c->at : str_text(&none);
  if (!rc)
    rc = changes_list(&c->repo, from, tree, false, &changed, &arena, err);
  if (!rc)
    rc =
        write_files(c, tree, err) || link_submodules(c, &changed, err) ? -1 : 0;
  if (!rc) {
    even_out(c, &changed);
    refresh(c);
    *stpncpy(c->at, tree, OID_SIZE - 1) = 0;
    rc = mark(c, "at", tree, err);
  }
  array_release(&changed);
  arena_release(&arena);
  str_release(&none);
  return rc;
}

void checkout_settle(Checkout *c) { remove_inside(c, "busy"); }
