// The files below a directory: see files.h.
#include "verdict/files.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "util/str.h"

enum { DEPTH_MOST = 24 }; // symbolic links may lead in circles

bool is_directory(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool ends_in_one(const char *name, const char *const *endings) {
  for (; *endings; endings++)
    if (text_ends(name, *endings) && strlen(name) > strlen(*endings))
      return true;
  return false;
}

static void walk(const char *dir, const char *const *endings, int depth,
                 Arena *arena, Paths *out) {
  DIR *d = depth < DEPTH_MOST ? opendir(dir) : NULL;
  if (!d)
    return;
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.')
      continue;
    bool slash = text_ends(dir, "/");
    const char *path =
        arena_printf(arena, "%s%s%s", dir, slash ? "" : "/", e->d_name);
    if (is_directory(path))
      walk(path, endings, depth + 1, arena, out);
    else if (ends_in_one(e->d_name, endings))
      array_push(out, path);
  }
  closedir(d);
}

static int by_name(const void *a, const void *b) {
  return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

void files_below(const char *dir, const char *const *endings, Arena *arena,
                 Paths *out) {
  size_t before = out->len;
  walk(dir, endings, 0, arena, out);
  if (out->len > before)
    qsort(out->items + before, out->len - before, sizeof *out->items, by_name);
}
