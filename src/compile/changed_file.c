// One source file with a change: see changed_file.h.
#include "compile/changed_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"

const char *changed_file(const char **text) {
  const char *path = getenv(CHANGED_VARIABLE);
  *text = getenv(CHANGED_TEXT_VARIABLE);
  return path && *path && *text && **text ? path : NULL;
}

const char *changed_file_of(const char *path) {
  const char *text, *changed = changed_file(&text);
  if (!changed)
    return path;
  char *full = path_absolute(path, NULL);
  bool same = !strcmp(full, changed);
  free(full);
  return same ? text : path;
}
