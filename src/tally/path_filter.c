// Which source files are listed and ranked: see path_filter.h.
#include "tally/path_filter.h"

#include <fnmatch.h>
#include <string.h>

#include "util/fs.h"
#include "util/str.h"

static bool is_above(const char *pattern, const char *path) {
  size_t n = strlen(pattern);
  while (n > 1 && pattern[n - 1] == '/')
    n--;
  if (n == 1 && *pattern == '.')
    return *path != '/';
  if (n == 1 && *pattern == '/')
    return *path == '/';
  return n && !strncmp(path, pattern, n) && (!path[n] || path[n] == '/');
}

static bool matches(const char *pattern, const char *path) {
  while (text_starts(pattern, "./") && pattern[2])
    pattern += 2;
  return is_above(pattern, path) || !fnmatch(pattern, path, 0) ||
         !fnmatch(pattern, path_base(path), 0);
}

static bool any_matches(const char *const *patterns, size_t n,
                        const char *path) {
  for (size_t i = 0; i < n; i++)
    if (matches(patterns[i], path))
      return true;
  return false;
}

bool filter_takes(const PathFilter *f, const char *path) {
  if (any_matches(f->exclude, f->nexclude, path))
    return false;
  return !f->nonly || any_matches(f->only, f->nonly, path);
}
