// Makes one session out of the newest sessions of several stores: shards of a
// suite that ran on many machines (run/shard.h), or any other runs of the same
// sources.
//
//   culprit store merge all host1/.culprit host2/.culprit
//
// A unit keeps its identity: what two stores know of the same build is one
// entity afterwards. Runs are copied with everything the stores have of them,
// those of a closer look too; notes and pages kept beside a store are not.
//
// Everything is checked before anything is stored: two texts of one source
// file and two tests of one name are refused. It is stored in one transaction.
//
// Memory: one session's entities and failures; spectra are streamed.
#ifndef CULPRIT_FLEET_MERGE_H
#define CULPRIT_FLEET_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/coverage_format.h"
#include "import/places.h"
#include "store/store.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  ImportArgs inputs; // stores; the tests of one with a name are NAME/...
  const Places *places;
  const char *command, *cwd; // of the session, unless it is made of shards:
                             // then those of the first, without --shard ...
  const char *store;         // ... and with this --store
  bool add;                  // to the newest session of the output
  int64_t session;           // out
  size_t replaced;           // out: runs of tests the session had already
  Str warnings; // out: what the shards lack, a line each; caller releases
} StoreMerge;

int stores_merge(StoreMerge *m, Store *out, Err *err);

#endif
