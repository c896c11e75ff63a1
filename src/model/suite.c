// A session as localizers and reports see it: see suite.h.
#include "model/suite.h"

#include <string.h>

#include "util/fs.h"
#include "util/str.h"

void suite_release(Suite *s) {
  arena_release(&s->arena);
  *s = (Suite){0};
}

const char *suite_path(const Suite *s, uint32_t source) {
  return path_below(s->sources[source].path, s->cwd);
}

bool suite_path_matches(const Suite *s, uint32_t source, const char *file) {
  const char *path = s->sources[source].path;
  while (text_starts(file, "./"))
    file += 2;
  if (!strcmp(path, file) || !strcmp(suite_path(s, source), file))
    return true;
  size_t n = strlen(path), m = strlen(file);
  return m && n > m && !strcmp(path + n - m, file) && path[n - m - 1] == '/';
}
