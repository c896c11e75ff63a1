// The files below a directory, in memory: read, kept on disk, brought back,
// compared.
//
//   FileTree before = {0};
//   tree_read(&before, "/tmp/t", NULL, &err);
//   ...
//   tree_apply("/tmp/t", &now, &before, &err);
//   tree_release(&before);
//
// Kept are files, directories, symbolic and hard links, with modes; of files the
// times of their last change. A time from `since` on is just "new": it differs
// from run to run. Not kept: owners, other times, what is named .culprit.
// Trees with anything else (pipes, sockets) or more than CAPTURE_FILES files of
// CAPTURE_BYTES cannot be read.
#ifndef CULPRIT_CAPTURE_FILE_TREE_H
#define CULPRIT_CAPTURE_FILE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef enum {
  ENTRY_FILE = 'f',
  ENTRY_DIRECTORY = 'd',
  ENTRY_SYMLINK = 'l',
  ENTRY_HARDLINK = 'h', // to a file before it
} TreeEntryKind;

typedef struct {
  char *path; // below the root
  TreeEntryKind kind;
  uint32_t mode;
  int64_t seconds;
  int32_t nanoseconds; // -1: new, or of no interest
  Str data;            // of links: the target
  dev_t device;        // while it is read, of a file with several names
  ino_t inode;
} TreeEntry;

typedef struct {
  ARRAY(TreeEntry) entries; // sorted by path
  size_t bytes;
} FileTree;

// `since` NULL: all times count. A root that does not exist is empty.
int tree_read(FileTree *t, const char *root, const struct timespec *since,
              Err *err);
void tree_release(FileTree *t);
// How many inodes it takes.
size_t tree_inodes(const FileTree *t);
bool tree_same(const FileTree *a, const FileTree *b);
uint64_t tree_hash(const FileTree *t, uint64_t hash);

// As bytes, and back. -1: damaged.
void tree_put(const FileTree *t, Str *out);
int tree_take(FileTree *t, const char **at, const char *end);

// What is below `root`, which exists, is `have`; makes it `want`. `touch`: sets the times of
// files that are as wanted, too.
int tree_apply(const char *root, const FileTree *have, const FileTree *want,
               bool touch, Err *err);

uint64_t bytes_hash(const void *data, size_t n, uint64_t hash);
void bytes_put(Str *out, const void *data, size_t n);
bool bytes_take(const char **at, const char *end, void *data, size_t n);
// A text with its length before it.
void text_put(Str *out, const void *data, size_t n);
bool text_take(const char **at, const char *end, Str *out);

#endif
