// The suite on disk: one SQLite file, .culprit/store.db. Sessions hold runs,
// runs hold failures and spectra; units are shared by all sessions. Several
// processes may use it at once; a killed one loses at most the runs it had not
// yet committed. docs/reference/store.md describes the file.
//
// A Store is for one thread, and not to be carried over a fork. Nothing else in
// the process may open store.db: closing it would drop SQLite's locks.
//
// A session is one `culprit run` (or input, web, import). It is unfinished
// until session_finish; an unfinished one with the same key is continued.
#ifndef CULPRIT_STORE_STORE_H
#define CULPRIT_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "model/run.h"
#include "model/suite.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

#define STORE_VERSION 9

typedef struct Store Store;

typedef enum {
  STORE_CREATE,  // made if it is not there
  STORE_EXISTING // an error that says which command makes one. If we may not
                 // write to it (read-only file system, another user's), it
                 // can be read all the same
} StoreMode;

// `where` is the .culprit directory or the address of a PostgreSQL database
// (store_address.h). Refuses a corrupt store and one written by a newer version,
// naming the remedy.
int store_open(Store **s, const char *where, StoreMode mode, Err *err);
// Commits what is left; store_flush first to hear whether that works.
void store_close(Store *s); // NULL is fine
// The directory of notes, failing pages and builds: .culprit itself, or one in
// the user's cache.
const char *store_dir(const Store *s);
// For messages: the directory, or the address without what is secret in it.
const char *store_name(const Store *s);

// Where the store is: `option` (--store) if not NULL, else CULPRIT_STORE,
// else ".culprit". Caller frees.
char *store_find(const char *option);

// --- sessions -------------------------------------------------------------

// `key`: what makes two invocations the same work: program (by content: after a
// rebuild there is nothing to continue), tests, oracle, options.
// Continues the newest session if it is unfinished, has this key and no living
// process is at work on it (*continued = true), else starts a new one.
int session_begin(Store *s, const char *key, const char *command,
                  const char *cwd, int64_t *session, bool *continued, Err *err);
// Continues the newest session whatever its key (--failed, --add); one without
// runs only if there is no other.
int session_reopen(Store *s, int64_t *session, Err *err);
// Continues the newest session with this key even if it is finished, else
// begins one.
int session_extend(Store *s, const char *key, const char *command,
                   const char *cwd, int64_t *session, Err *err);
// Also removes the oldest sessions: the newest 10 stay, or CULPRIT_KEEP.
int session_finish(Store *s, int64_t session, Err *err);

// --- writing --------------------------------------------------------------

// Registers a unit (a no-op if this session has it) and writes the id of
// unit->entities[i] to ids[i]. Ids are dense within the session, from 0, and
// are what Run.hits and Suite.entities speak of; a statement or function has
// the same id in all units of the session. Refuses a unit that brings another
// text of a source file the session already has.
int store_add_unit(Store *s, int64_t session, const Unit *unit, uint32_t *ids,
                   Err *err);
// The same for a unit that store_each_unit gave: it keeps its id, and so is the
// same unit in both stores.
int store_copy_unit(Store *s, int64_t session, const Unit *unit, uint32_t *ids,
                    Err *err);
// Adds a run, replacing an earlier one of the same test in this session. Its
// hits are kept if run->processes > 0. Committed in batches, at the latest by
// the first store_add_run after half a second; store_flush commits now.
int store_add_run(Store *s, int64_t session, const Run *run, Err *err);
int store_flush(Store *s, Err *err);
// Adds what a closer look saw of a run: its hits of CLOSE_KINDS and the first
// wrong byte of its output (RunInfo.wrong), replacing those of an earlier look.
// The other kinds of `hits` are not read.
int store_add_close(Store *s, int64_t session, const char *test,
                    CloseStratum stratum, const Bitset hits[ENTITY_KINDS],
                    const char *wrong, Err *err);
// Takes what an earlier look saw out of the session.
int store_forget_close(Store *s, int64_t session, Err *err);

// The key of a session. Caller frees; NULL after an error.
char *store_session_key(Store *s, int64_t session, Err *err);

// The directory of the project, if that is not the session's: Suite.project.
int session_set_project(Store *s, int64_t session, const char *dir, Err *err);

// The directory of the application: code outside of it (Source.outside) is
// ranked last.
int session_set_root(Store *s, int64_t session, const char *dir, Err *err);

// How the closer look ended: Suite.close.
int session_set_close(Store *s, int64_t session, const char *close, Err *err);
// Has this test a run in the session already? (for continuing)
bool store_has_run(Store *s, int64_t session, const char *test);

// Everything written between these two, sessions included, is stored at once if
// `keep`, else not at all; so it is if writing any of it failed, or if the
// process dies. Other writers wait meanwhile. Nothing can be loaded inside.
int store_bulk_begin(Store *s, Err *err);
int store_bulk_end(Store *s, bool keep, Err *err);

// --- reading --------------------------------------------------------------

// Loads a session without spectra; session 0 is the newest (one without runs
// only if there is no other).
int store_load(Store *s, int64_t session, Suite *out, Err *err);

// Calls `each` with the spectrum of every run of the suite that has one, in the
// order of Suite.runs. A member that is not an entity of that kind in the suite
// is a corrupt store. `each` must not use the Store.
typedef void EachSpectrum(void *ctx, size_t run, const Bitset *hits);
int store_each_spectrum(Store *s, const Suite *suite, EntityKind kind,
                        EachSpectrum *each, void *ctx, Err *err);

// Calls `each` with the counts of every run that has some: how often each
// condition outcome and return class was seen, by entity. Only programs built
// with CULPRIT_MODE=counts have them.
typedef void EachCounts(void *ctx, size_t run, const EntityCount *counts,
                        size_t n);
int store_each_counts(Store *s, const Suite *suite, EachCounts *each, void *ctx,
                      Err *err);

// Adds a sum of Suite.kept to the counts in `out`, by entity. Each count is
// right, and none below 0, once all sums of that kind, verdict and signature are
// added.
int store_kept_sum(Store *s, const Suite *suite, const KeptSum *sum,
                   uint32_t *out, Err *err);

// Several kinds, and the counts, of one run at the same time.
typedef struct {
  Bitset hits[ENTITY_KINDS]; // empty for kinds that were not asked for
  const EntityCount *counts; // by entity
  size_t ncounts;            // 0: none asked for, or none there
} Spectra;

#define STORE_COUNTS (1u << ENTITY_KINDS)

// As store_each_spectrum, for a set of 1u << EntityKind and STORE_COUNTS.
typedef void EachSpectra(void *ctx, size_t run, const Spectra *spectra);
int store_each_spectra(Store *s, const Suite *suite, unsigned what,
                       EachSpectra *each, void *ctx, Err *err);

// Calls `each` for every unit of the suite's session, in the order they were
// added. ids[i] is the id of unit->entities[i]. The names lie in `names`, all
// else lives until `each` returns; sources have no hash (the suite's do).
// `each` must not use the Store.
typedef int EachUnit(void *ctx, const Unit *unit, const uint32_t *ids,
                     Err *err);
int store_each_unit(Store *s, const Suite *suite, Arena *names, EachUnit *each,
                    void *ctx, Err *err);

// Where the runs of this suite died: one call per recorded death.
typedef void EachDeath(void *ctx, size_t run, const Death *death);
int store_each_death(Store *s, const Suite *suite, EachDeath *each, void *ctx,
                     Err *err);

// The failures of this suite's runs, as each run shows them, without places:
// one call per failure, by run, in order.
typedef void EachFailure(void *ctx, size_t run, const Failure *f);
int store_each_failure(Store *s, const Suite *suite, EachFailure *each,
                       void *ctx, Err *err);

// Where in their output the failures of this suite show: one call per place, by
// run. `signature` is the failure's.
typedef void EachPlace(void *ctx, size_t run, const char *signature,
                       const FailurePlace *place);
int store_each_place(Store *s, const Suite *suite, EachPlace *each, void *ctx,
                     Err *err);

// --- housekeeping (culprit store) -------------------------------------------

typedef struct {
  int64_t id;
  char started[32]; // ISO 8601, UTC
  char *command;
  bool finished;
  size_t runs, failing;
} SessionInfo;

// Newest first. Caller frees with store_list_free.
int store_list(Store *s, SessionInfo **out, size_t *n, Err *err);
void store_list_free(SessionInfo *list, size_t n);
// Removes all but the newest `keep` sessions and what only they used, and makes
// the file smaller. Sessions that other processes are at work on stay.
int store_prune(Store *s, size_t keep, size_t *removed, Err *err);
// The number that CULPRIT_KEEP asks for, or 10.
size_t store_keep(const Store *s);
// Writes at least this session to `dir`, a directory without a store, for
// store_open: to try something out.
int store_copy(Store *s, int64_t session, const char *dir, Err *err);
// Appends the SQL that makes two roles for a store on a server: one that can only
// add runs, one that can only read.
int store_roles(const Store *s, Str *out, Err *err);
// Of the file and its write-ahead log, or of the tables on the server.
int store_size(Store *s, int64_t *bytes, Err *err);

#endif
