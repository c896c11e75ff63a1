// Ranking a stored session and printing it: what `culprit rank` does, and what
// `culprit run` does at its end.
//
//   RankOptions o;
//   rank_options_init(&o);
//   int status = rank_print(store, &o, stdout);
//   rank_options_release(&o);
#ifndef CULPRIT_CLI_RANK_H
#define CULPRIT_CLI_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "command/options.h"
#include "locate/listing.h"
#include "locate/session_evidence.h"
#include "model/entity.h"
#include "store/store.h"
#include "tally/path_filter.h"
#include "util/array.h"

// Whether failing runs are split by what they executed (locate/cluster.h).
typedef enum {
  CLUSTER_NONE,
  CLUSTER_SIGNATURE, // within each failure
  CLUSTER_ALL,       // over all failures
} RankCluster;

typedef struct RankOptions {
  int64_t session;      // 0: the newest
  const char *method;   // a name of locate/localizer.h; NULL: the session's
  const char *format;   // a name of report/report.h: text, json, ...
  size_t top;           // suspects shown per failure; 0: as the format likes
                        // it (text: 10, the others: all); SIZE_MAX: all
  EntityKind by;        // what is listed
  unsigned entities;    // what scores it: a set of 1u << EntityKind; 0: as the
                        // method likes it
  bool endings_alike;   // passing runs count alike: tally/tally.h
  bool tests_alike;     // code of tests is ranked like the rest
  bool generated_alike; // and what tools wrote
  OtherFailures others; // what becomes of runs that only show other failures
  bool confidence;      // order equal scores by confidence
  bool color;
  RankCluster cluster;
  const char *exit_score; // cp: a formula, or NULL
  FILE *gdb;              // gets breakpoints at the suspects; or NULL
  FILE *summary;          // github: the step's summary, or NULL
  const char *more;       // json: more members, each behind a comma; or NULL
  const char *more_close; // json: the same for the member "close"
  const char *since;      // a version: lines changed since come first; or NULL
  const char *known;      // failures to set aside, see tally/known.h; or NULL
  bool none_ok;           // nothing to rank is no error
  // As the user gave them; the strings are not copied.
  Texts only, exclude; // paths or globs, see tally/path_filter.h
  Texts tests;         // only the failures that these show
  Texts faults;        // FILE:LINE[,LINE]..., see locate/fault.h
} RankOptions;

// The default method over statements, as text, newest session.
void rank_options_init(RankOptions *o);
void rank_options_release(RankOptions *o);

// Options of several commands, of a RankOptions: --only and --exclude; these
// with
// --top and --color; --other-failures and --session; --known; --since.
extern const Option rank_files_options[], rank_shown_options[],
    rank_others_options[], rank_session_options[], rank_known_options[],
    rank_since_options[];
OptionWord rank_method_word; // the methods

PathFilter rank_filter(const RankOptions *o); // --only and --exclude

// Does any run of this verdict have a spectrum? Any verdict: VERDICTS.
bool rank_has_spectra(const Suite *suite, Verdict verdict);
// What is used if nothing is asked for; for a session of `culprit web`, what it
// printed.
OtherFailures rank_own_others(const Suite *suite, OtherFailures asked);
// The method that is used if none is asked for, likewise. NULL: the store cannot be read.
const char *rank_own_method(SessionEvidence *s, Err *err);

// Prints the ranking of every failure of the session to `out`; messages and
// warnings go to stderr. Returns an exit status of cli.h: EXIT_DONE if a
// ranking was printed (tests failed: that is no error here), EXIT_NO_VERDICT if
// nothing failed or nothing passes to compare with (it says what to do next),
// EXIT_USAGE for options that do not fit together or name nothing,
// EXIT_ENVIRONMENT for a store that cannot be read.
int rank_print(Store *store, const RankOptions *options, FILE *out);

#endif
