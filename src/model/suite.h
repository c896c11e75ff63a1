// What the store knows of one session, as localizers and reports see it: all
// entities, all runs without their spectra, and the failures that group them.
// Spectra are streamed from the store run by run: ten thousand of them need
// not fit in memory.
#ifndef CULPRIT_MODEL_SUITE_H
#define CULPRIT_MODEL_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "model/run.h"
#include "util/arena.h"
#include "util/array.h"

// All runs that show the same failure.
typedef struct {
  const char *kind, *message, *place, *signature;
  // What its first run wrote: the lines that show it, and all; "" or NULL: not
  // kept.
  const char *excerpt, *output;
  uint32_t *runs; // indexes into Suite.runs, ascending
  size_t nruns;
} FailureGroup;

// Was the run looked at closely, and why? A passing run that was taken at
// random stands for those that were not looked at.
typedef enum {
  CLOSE_NONE,
  CLOSE_NEAR,   // it fails, or passes and is near to one that fails
  CLOSE_RANDOM, // it passes
  // It passes, and was not looked at because it has nearly nothing to do with
  // those that fail: it shows nothing of what they do.
  CLOSE_APART,
  CLOSE_STRATA // how many there are
} CloseStratum;

typedef struct {
  const char *test, *command, *note;
  Verdict verdict;
  int status;
  double seconds;
  bool imprecise, has_spectrum;
  CloseStratum close;
  const char *wrong; // where its output is first wrong (model/wrong_byte.h), if
                     // a closer look found that out; "" or NULL: unknown
  int64_t store_id;
} RunInfo;

// How many runs executed each entity of one kind: sums that a server keeps as
// runs come in, of the runs with this verdict or, with `signature`, of those
// that show this failure. Several with the same head add up. store/kept.h reads
// `counts`.
typedef struct {
  EntityKind kind;
  Verdict verdict; // VERDICT_ERROR: any other than pass and fail
  const char *signature;
  const void *counts;
  size_t size;
} KeptSum;

typedef struct {
  int64_t session;     // number of the session in the store
  const char *command; // the culprit command line that made it
  bool endings_alike;  // asked for: see tally/tally.h
  // How the closer look ended: "all" runs were looked at, the order is "decided",
  // the "budget" was spent, it was "interrupted". "": there was none.
  const char *close;
  const char *cwd; // the directory it ran in
  // Paths are shown relative to this directory, or else to the one above. "" or
  // NULL: only to that.
  const char *project;
  const char *root; // of the application's code; "" or NULL: not known
  Source *sources;
  size_t nsources;
  Entity *entities; // index = suite-wide entity id
  size_t nentities;
  Standing *standings; // which statements stand in which blocks; by statement
  size_t nstandings;
  RunInfo *runs; // in test order
  size_t nruns;
  FailureGroup *failures; // most runs first, then by signature; of a PHP
                          // application by place (model/place_group.h)
  size_t nfailures;
  const KeptSum *kept; // of all runs above; none: ask the spectra
  size_t nkept;
  Arena arena; // owns everything above
} Suite;

void suite_release(Suite *s);

// Did `culprit web` make it?
bool is_web_session(const Suite *s);

// Does the failure keep this run?
typedef bool FailureKeeps(const FailureGroup *g, const RunInfo *run,
                          const void *ctx);
// Takes runs out of failures, and failures that have none left out of the
// suite. Such runs are still in the suite, but compared with nothing.
void suite_filter_failures(Suite *s, FailureKeeps *keeps, const void *ctx);

// How a path is shown: relative to the project or, if it lies elsewhere, to the
// session's directory if it lies below that.
const char *suite_shown(const Suite *s, const char *path);
const char *suite_path(const Suite *s, uint32_t source);
// For tools that open the file in the session's directory.
const char *suite_file(const Suite *s, uint32_t source);
// The source with this path, as it is stored; NULL: there is none.
const Source *suite_source(const Suite *s, const char *path);
// Has `s` every source of `other`, with the same text?
bool suite_has_sources(const Suite *s, const Suite *other);
// Where a statement of a template stands in the script that was compiled from
// it, as the suite shows paths: "PATH:LINE". NULL: it is not one.
const char *suite_compiled(const Suite *s, const Entity *e);
// Is the entity code of a test (model/testcode.h), or did a tool write it
// (model/generated.h)? Such code comes last in rankings.
bool suite_comes_last(const Suite *s, uint32_t entity);

// For qsort_r over entities, with the suite as context: by path, then line.
int suite_by_place(const void *a, const void *b, void *suite);

// FILE as a user writes it names `source` if it is the same path, or the shown
// path ends with "/FILE", or equals it.
bool suite_path_matches(const Suite *s, uint32_t source, const char *file);

#endif
