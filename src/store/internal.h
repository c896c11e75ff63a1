// What the files of this folder share: the open store, and how units are read.
#ifndef CULPRIT_STORE_INTERNAL_H
#define CULPRIT_STORE_INTERNAL_H

#include "store/db.h"
#include "store/store.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"
#include "util/str.h"

// The id of every entity of a unit.
typedef struct {
  uint32_t *items;
  size_t len;
} IdList;

// What store_add_unit remembers of the session it last wrote to, so that a unit
// linked into thirty programs costs one lookup in memory. `revision` says which
// state of the session this is: another process may have added units since.
typedef struct {
  int64_t session; // 0: empty
  int64_t revision;
  uint32_t nentities;
  Hashmap sources; // path -> index into hashes
  ARRAY(uint64_t) hashes;
  Hashmap units; // UnitId -> index into ids
  ARRAY(IdList) ids;
  Hashmap shared; // statement or function -> id
} Registry;

void registry_release(Registry *r);

// A run that waits to be written, its spectra already in their form on disk.
typedef struct {
  int64_t session;
  Run run; // without hits and counts
  Str hits[ENTITY_KINDS];
  Str counts;
} PendingRun;

struct Store {
  Db db;
  char *dir, *name; // store_dir, store_name
  bool open;        // with tables of this version
  bool dir_is_ours; // made for this store, and removed with it
  size_t keep;      // sessions that session_finish leaves
  Registry registry;
  ARRAY(PendingRun) pending;
  size_t pending_bytes;
  double pending_since;
  int may_replace; // may we delete runs? 0: not asked yet, -1: no
  size_t flushes;
};

void pending_release(PendingRun *p);

// May we delete what is stored? On a server there are roles that may not.
int store_may_remove(Store *s, bool *may, Err *err);

// Every index of `u` points into its arrays. Maps and stores are both
// untrusted.
bool unit_sound(const Unit *u);

// Calls `each` for every unit of the session, in the order they were added.
// ids[i] is the id of unit->entities[i]; together the units of a session give
// the ids 0, 1, ... without holes, each unit continuing where those before it
// ended. The names lie in `names`, all else lives until `each` returns.
int session_each_unit(Store *s, int64_t session, Arena *names, EachUnit *each,
                      void *ctx, Err *err);

// Calls `each` for every source file of the session, in order, from 0.
typedef void EachSource(void *ctx, const char *path, uint64_t hash);
int session_each_source(Store *s, int64_t session, EachSource *each, void *ctx,
                        Err *err);

// Runs an UPDATE of a session, a literal: its parameters are a text and the
// session.
int session_update(Store *s, const char *sql, const char *text, int64_t session,
                   Err *err);

// Removes all but the newest `keep` sessions and `except`, but none that is
// held. Leaves the file as large as it is.
int prune_sessions(Store *s, size_t keep, int64_t except, size_t *removed,
                   Err *err);

// The newest session, one that has runs if there is any; 0: there is none.
int session_newest(Store *s, int64_t *session, Err *err);

#endif
