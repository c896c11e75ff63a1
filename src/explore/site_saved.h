// An exploration on disk, so that it can be gone on with: after its budget was
// spent, after it was interrupted or killed, or after the database server went
// away. One file, written anew every few seconds and renamed into its place, so
// a killed exploration leaves a whole one; runs are in the store.
//
//   "culprit-explore\n", version, checksum of the rest; then numbers (LEB128)
//   and texts (length, bytes): requests that were made, worlds, the queue,
//   coverage, failures
//
// States of the application are not kept: worlds are reached again by the way
// that led to them (site_desk.h).
#ifndef CULPRIT_EXPLORE_SITE_SAVED_H
#define CULPRIT_EXPLORE_SITE_SAVED_H

#include "explore/site_atlas.h"
#include "explore/site_queue.h"
#include "util/bitset.h"
#include "util/err.h"

// A failure and the shortest known way to show it.
typedef struct {
  const char *signature;
  uint32_t number; // of the request
} Shown;

typedef struct {
  Atlas *atlas;
  Queue *queue;
  Bitset *lines, *conditions; // that were executed
  ARRAY(Shown) shown;
  ARRAY(const char *) scripts; // that were executed, 32 hex digits each
  uint64_t statements;         // of all scripts
  uint64_t given;              // requests of the user's list that were made
  uint64_t failing, dropped;
  const char *target; // signature of the failure to be explained; "": none
  uint64_t ntargets;
  const uint32_t *targets; // requests that show it
} Saved;

// `extra`: items that were taken out of the queue and are not answered yet.
int saved_write(const Saved *s, const QueueItem *extra, size_t nextra,
                const char *path, Err *err);
// Into an empty atlas and queue (its seed and mode must be set). Texts and
// arrays lie in the atlas' arena (no array_release). Any bytes are either
// dropped with a message or read within bounds.
int saved_read(Saved *s, const char *path, Err *err);

#endif
