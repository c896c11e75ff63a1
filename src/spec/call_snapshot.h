// The memory of a process at one call of a function with a contract, and
// patches that put another state into such a call (runtime/snapshot_format.h).
// The file is untrusted.
//
//   CULPRIT_SNAPSHOT=FILE:f:3 ./prog      (without address randomization)
//   Snapshot s;
//   snapshot_read(&s, "FILE", err);
//   snapshot_load(&s, address, &value, sizeof value);
#ifndef CULPRIT_SPEC_CALL_SNAPSHOT_H
#define CULPRIT_SPEC_CALL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/snapshot_format.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  uint64_t start, size;
  const unsigned char *bytes; // NULL: not stored
  uint32_t flags;             // SNAPSHOT_*
  char name[128];
} Region;

typedef struct {
  char function[128];
  uint64_t call;
  uint64_t args_at; // address of the arguments
  const unsigned char *args;
  size_t args_size;
  ARRAY(Region) regions; // by address
  size_t left_out;       // readable regions without bytes, code not counted
  Str file;
} Snapshot;

// Fails on a file that is damaged, cut off or of another version.
int snapshot_read(Snapshot *s, const char *path, Err *err);
// The same from bytes, which are taken over; `path` is for messages.
int snapshot_parse(Snapshot *s, Str *bytes, const char *path, Err *err);
void snapshot_close(Snapshot *s);

// The region that holds the address; NULL: none that is stored.
const Region *snapshot_region(const Snapshot *s, uint64_t address);
// Copies memory; false if not all of it is stored.
bool snapshot_load(const Snapshot *s, uint64_t address, void *out, size_t n);

// Changes to be made at a call.
typedef struct {
  Str args;   // empty: as they are
  Str writes; // as in the file
  uint64_t nwrites;
} Patch;

void patch_set_args(Patch *p, const void *args, size_t n);
void patch_add(Patch *p, uint64_t address, const void *bytes, size_t n);
int patch_write(const Patch *p, const char *path, Err *err);
void patch_release(Patch *p);

#endif
