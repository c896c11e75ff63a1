// Lists all files, directories and links at some places of the file system,
// sorted by path: a directory comes before its entries. Links are not followed;
// sockets, pipes and devices are left out; a missing place is no error.
#ifndef CULPRIT_PHP_FILE_WALK_H
#define CULPRIT_PHP_FILE_WALK_H

#include <stdbool.h>
#include <sys/stat.h>

#include "php/child.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *path;
  struct stat st;
} FileWalkItem;

typedef struct {
  TextList places;
  // Is it to be listed, with what is in it? depth 0: a place. NULL: all is.
  bool (*takes)(void *ctx, const char *path, int depth);
  void *ctx;
  bool tolerant;             // a directory that may not be read counts as empty
  ARRAY(FileWalkItem) items; // of the last file_walk_run, once each
  Arena arena;               // of it
} FileWalk;

void file_walk_add(FileWalk *w, const char *place); // an absolute path
int file_walk_run(FileWalk *w, Err *err);
void file_walk_release(FileWalk *w);

#endif
