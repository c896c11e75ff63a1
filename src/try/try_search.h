// The search for changes that repair one failure: which experiment comes next,
// and on which tests.
//
//   screen      each change on one failing test that executes its line
//   confirm     if that passes: on more failing tests, on ten passing ones that
//               execute the line (half the nearest, half at random)
//   all         if nothing speaks against it: on all tests
//
// The lines of the ranking take turns, the first ones more often; the changes of
// a line come in the order of their cost (changes.h). Comparisons are watched
// once before: changes with the same outcomes for all that the test compared are
// tried once. Where a condition must be otherwise but not always, clauses are
// made for it (clauses.h).
//
// Everything is decided by the session, the seed and the number of runs that may
// be made; only the time limit depends on the machine.
#ifndef CULPRIT_TRY_TRY_SEARCH_H
#define CULPRIT_TRY_TRY_SEARCH_H

#include "model/suite.h"
#include "program/site_table.h"
#include "try/changes.h"
#include "try/try_runs.h"
#include "util/array.h"
#include "util/bitset.h"

// What is known of the session.
typedef struct {
  const Suite *suite;
  const Bitset *executes; // by run: the statements it executes
  const TryTest *tests;
  size_t ntests;
  const size_t *test_of; // by run: in `tests`; SIZE_MAX: it cannot be run
  TryRuns *runs;
  const SiteTable *sites;
  bool *dropped; // by run: it ends otherwise in this build, and is left out
} TrySession;

typedef struct {
  const uint32_t *lines; // statements, the most suspicious first
  size_t nlines;
  size_t failure; // of the suite
  uint64_t most;  // runs of the program
  uint64_t seed;
  bool clauses, variables, statements, constants, insertions; // are tried
  // Called now and then. May be NULL.
  void (*progress)(void *context, uint64_t runs, size_t repairing);
  void *context;
} TrySearchOptions;

// A change that repaired at least one failing test.
typedef struct {
  Change change;
  uint32_t statement;
  uint32_t repaired, failing; // of the failing tests that were tried
  uint32_t kept, passing;     // of the passing ones
  bool all;                   // all tests of the session were
} FoundChange;

typedef struct {
  uint32_t statement;
  uint32_t tried; // changes that were run
} SearchedLine;

typedef struct {
  ARRAY(FoundChange) changes; // best first
  ARRAY(SearchedLine) lines;
  uint32_t failing, passing; // tests of the session for this failure
  uint64_t runs;
  bool cut; // not everything was tried
  Arena arena;
} TryFound;

int try_search(TrySession *s, const TrySearchOptions *o, TryFound *out,
               Err *err);
void try_found_release(TryFound *f);

double found_score(const FoundChange *f);
bool found_survives(const FoundChange *f); // repairs all, breaks none, of all

#endif
