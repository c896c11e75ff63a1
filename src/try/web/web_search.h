// The search for changes of PHP scripts that repair one failure of a session of
// requests, as try_search.h does it for programs:
//
//   screen    each change on one failing request that executes its line
//   confirm   on more failing requests, and on passing ones that execute the
//             line (half the nearest, half at random)
//   all       all visitors that a change can reach, from their first request on
//
// A failing request is repaired if its failure no longer shows and no other one
// does that did not before. A passing one is kept if it shows none. Either must
// still answer as it did: with a status of the same kind, with half of its bytes
// (a passing one with nine tenths), and with all of its words (page_words.h) if
// it passes, or fails by its markup only. Otherwise whatever avoids the faulty
// code would be a repair.
#ifndef CULPRIT_TRY_WEB_WEB_SEARCH_H
#define CULPRIT_TRY_WEB_WEB_SEARCH_H

#include "model/suite.h"
#include "try/web/script_changes.h"
#include "try/web/web_runs.h"
#include "util/bitset.h"

// A script whose tokens are known; tokens NULL: they are not.
typedef struct {
  bool loaded;
  ScriptText text;
} TriedScript;

typedef struct {
  const Suite *suite;
  const Bitset *executes; // by run: the statements it executes
  const uint32_t *run_of; // by test
  const size_t *test_of;  // by run; SIZE_MAX: it cannot be made again
  size_t ntests;
  // By test: the first test of its visitor, the first behind it; does the
  // visitor make requests that are no tests, whose statements are not known?
  const size_t *visitor_first, *visitor_end;
  const bool *has_setup;
  WebRuns *runs;
  const char *maps;
  // As it goes on:
  WebOutcome *base;     // by test: unchanged
  bool *unlike;         // by test: it does not end as it did
  bool *varies;         // by test: its words are not the same each time
  bool *visited;        // by test: made with its visitor, unchanged
  bool has_all;         // all were
  TriedScript *scripts; // by source
  Arena arena;
} WebTrySession;

typedef struct {
  const uint32_t *lines; // statements, the most suspicious first
  size_t nlines;
  size_t failure; // of the suite
  uint64_t most;  // requests
  uint64_t seed;
  ScriptKinds kinds;
  // Called now and then. May be NULL.
  void (*progress)(void *context, uint64_t runs, size_t repairing);
  void *context;
} WebSearchOptions;

// A change that repaired at least one failing request.
typedef struct {
  ScriptChange change;
  uint32_t statement;
  size_t place;               // in the order they were found
  uint32_t repaired, failing; // of the failing requests that were tried
  uint32_t kept, passing;     // of the passing ones
  bool all;                   // all requests of the session were
} WebFoundChange;

typedef struct {
  uint32_t statement, tried;
} WebSearchedLine;

typedef struct {
  ARRAY(WebFoundChange) changes; // best first; texts are the session's
  ARRAY(WebSearchedLine) lines;
  uint32_t failing, passing; // requests of the session for this failure
  uint64_t runs;
  bool cut; // not everything was tried
} WebFound;

int web_search(WebTrySession *s, const WebSearchOptions *o, WebFound *out,
               Err *err);
void web_found_release(WebFound *f);
void web_try_session_release(WebTrySession *s); // what came as it went on

// The script that a statement stands in; NULL: its tokens are not known.
const ScriptText *web_script(WebTrySession *s, uint32_t statement);

#endif
