// Which source files are listed and ranked: --only and --exclude.
//
// A pattern takes a file if it is the file's path or a directory above it
// ("src/util", "/usr"; "." is the session's directory), its plain file name
// ("getopt.c"), or a glob that matches one of them ("*/gnulib/*", "test_*").
// A "*" also matches "/".
#ifndef CULPRIT_TALLY_PATH_FILTER_H
#define CULPRIT_TALLY_PATH_FILTER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  const char *const *only; // none: everything
  size_t nonly;
  const char *const *exclude; // wins over only
  size_t nexclude;
} PathFilter;

// `path` as it is shown to the user: below the session's directory it is
// relative.
bool filter_takes(const PathFilter *f, const char *path);

#endif
