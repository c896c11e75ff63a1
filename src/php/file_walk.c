// Lists files: see file_walk.h.
#include "php/file_walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 200 };

void file_walk_add(FileWalk *w, const char *place) {
  array_push(&w->places, mem_strdup(place));
}

void file_walk_release(FileWalk *w) {
  text_list_release(&w->places);
  array_release(&w->items);
  arena_release(&w->arena);
}

static int visit(FileWalk *w, const char *path, int depth, Err *err);

static int visit_entries(FileWalk *w, const char *path, int depth, Err *err) {
  DIR *dir = opendir(path);
  int rc = 0;
  if (!dir && errno == EACCES && w->tolerant)
    return 0;
  if (!dir)
    return err_set(err, "%s: %s", path, strerror(errno));
  for (struct dirent *d; !rc && (d = readdir(dir));) {
    if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
      continue;
    rc = visit(w, arena_printf(&w->arena, "%s/%s", path, d->d_name), depth + 1,
               err);
  }
  closedir(dir);
  return rc;
}

static int visit(FileWalk *w, const char *path, int depth, Err *err) {
  FileWalkItem item = {.path = path};
  if (w->takes && !w->takes(w->ctx, path, depth))
    return 0;
  if (lstat(path, &item.st))
    return errno == ENOENT || errno == ENOTDIR
               ? 0
               : err_set(err, "%s: %s", path, strerror(errno));
  mode_t m = item.st.st_mode;
  if (!S_ISREG(m) && !S_ISDIR(m) && !S_ISLNK(m))
    return 0;
  if (depth > DEEPEST)
    return err_set(err, "%s: directories deeper than %d", path, DEEPEST);
  array_push(&w->items, item);
  return S_ISDIR(m) ? visit_entries(w, path, depth, err) : 0;
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const FileWalkItem *)a)->path,
                ((const FileWalkItem *)b)->path);
}

// A place may lie below another one.
static void drop_doubles(FileWalk *w) {
  size_t kept = 0;
  for (size_t i = 0; i < w->items.len; i++)
    if (!kept || by_path(&w->items.items[kept - 1], &w->items.items[i]))
      w->items.items[kept++] = w->items.items[i];
  w->items.len = kept;
}

int file_walk_run(FileWalk *w, Err *err) {
  int rc = 0;
  w->items.len = 0;
  arena_release(&w->arena);
  for (size_t i = 0; !rc && i < w->places.len; i++)
    rc = visit(w, w->places.items[i], 0, err);
  if (w->items.len)
    qsort(w->items.items, w->items.len, sizeof *w->items.items, by_path);
  drop_doubles(w);
  return rc;
}
