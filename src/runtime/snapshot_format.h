// The memory of a process at one call of a function with a contract, and the
// changes to be made there in another run. Written and read by both halves.
//
// Snapshot: SnapshotHeader, the arguments (a struct of the parameters in their
// order), then for every readable region a SnapshotRegion and `stored` bytes. A
// region of code, of the kernel or a huge one has no bytes.
//
// Patch: PatchHeader, new arguments (args_size 0: as they are), then `writes`
// times a PatchWrite and its bytes.
#ifndef CULPRIT_RUNTIME_SNAPSHOT_FORMAT_H
#define CULPRIT_RUNTIME_SNAPSHOT_FORMAT_H

#include <stdint.h>

#define SNAPSHOT_MAGIC 0x50414e5350554c43ull // "CLUPSNAP"
#define PATCH_MAGIC 0x4843545050554c43ull    // "CLUPPTCH"
#define SNAPSHOT_VERSION 1u
#define SNAPSHOT_REGION_MAX (256ull << 20)
#define PATCH_FAILED 120 // exit status: the patch could not be applied

enum { SNAPSHOT_READ = 1, SNAPSHOT_WRITE = 2, SNAPSHOT_EXECUTE = 4 };

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t args_size;
  uint64_t args; // address of the arguments
  uint64_t call; // number of the call, from 1
  char function[128];
} SnapshotHeader;

typedef struct {
  uint64_t start, size;
  uint64_t stored; // bytes that follow: size, or 0
  uint32_t flags;  // SNAPSHOT_*
  uint32_t reserved;
  char name[128]; // file, "[heap]", "[stack]" or empty
} SnapshotRegion;

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t args_size;
  uint64_t writes;
} PatchHeader;

typedef struct {
  uint64_t address, size;
} PatchWrite;

#endif
