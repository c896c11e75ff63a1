// Where the source files are that coverage files name: see places.h.
#include "import/places.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"

void places_release(Places *p) {
  array_release(&p->roots);
  array_release(&p->maps);
}

static const char *absolute(const char *path, Arena *arena) {
  char *full = path_absolute(path, NULL);
  const char *copy = arena_strdup(arena, full);
  free(full);
  return copy;
}

int places_add_map(Places *p, const char *text, Arena *arena) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return -1;
  const char *from = arena_strndup(arena, text, (size_t)(equals - text));
  array_push(&p->maps,
             (PathMap){absolute(from, arena), absolute(equals + 1, arena)});
  return 0;
}

char *places_map(const Places *p, const char *path) {
  char *full = path_absolute(path, NULL);
  for (size_t i = 0; i < p->maps.len; i++) {
    const PathMap *map = &p->maps.items[i];
    const char *below = path_below(full, map->from);
    if (below == full && strcmp(full, map->from) != 0)
      continue;
    char *moved = path_absolute(below == full ? "." : below, map->to);
    free(full);
    return moved;
  }
  return full;
}

// The path below `dir`; NULL if it is not there.
static char *look_below(const Places *p, const char *path, const char *dir) {
  char *joined = path_absolute(path, dir);
  char *full = places_map(p, joined);
  free(joined);
  if (fs_exists(full))
    return full;
  free(full);
  return NULL;
}

char *places_find(const Places *p, const char *path, const char *const *dirs) {
  if (*path == '/')
    return places_map(p, path);
  char *found = NULL;
  const char *first = dirs && *dirs ? *dirs : NULL;
  for (; dirs && *dirs && !found; dirs++)
    found = look_below(p, path, *dirs);
  for (size_t i = 0; i < p->roots.len && !found; i++)
    found = look_below(p, path, p->roots.items[i]);
  if (found)
    return found;
  if (p->roots.len)
    first = p->roots.items[0];
  char *joined = path_absolute(path, first);
  char *full = places_map(p, joined);
  free(joined);
  return full;
}
