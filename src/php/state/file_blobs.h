// Contents of files, each kept once in a directory under its hash.
#ifndef CULPRIT_PHP_STATE_FILE_BLOBS_H
#define CULPRIT_PHP_STATE_FILE_BLOBS_H

#include <stdbool.h>
#include <xxhash.h>

#include "util/err.h"

typedef struct {
  char *dir;
  char *piece[2]; // buffers
} FileBlobs;

// Makes the directory scratch/blobs.
int blobs_open(FileBlobs *b, const char *scratch, Err *err);
void blobs_close(FileBlobs *b); // and removes it

// Keeps what `fd` holds. `path`: its name for messages.
int blobs_keep(FileBlobs *b, int fd, const char *path, XXH128_hash_t *hash,
               Err *err);
// Makes `fd` hold that content; only pieces that differ are written. -1 with
// errno.
int blobs_restore(FileBlobs *b, int fd, XXH128_hash_t hash, bool *changed);

#endif
