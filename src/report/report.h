// Rankings as people and programs read them. A format is one file of this
// directory and one row of the table in report.c. Failures are reported one by
// one, so that only one ranking is in memory:
//
//   format->begin(&report, out);
//   for each failure: format->failure(&report, &ranking, out);
//   format->end(&report, out);
#ifndef CULPRIT_REPORT_REPORT_H
#define CULPRIT_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "locate/fault.h"
#include "locate/near_note.h"
#include "locate/outmap.h"
#include "model/place_group.h"
#include "model/ranking.h"
#include "model/suite.h"
#include "report/evidence.h"
#include "report/loops.h"
#include "report/near_test.h"
#include "report/source.h"

// What is reported, the same for every failure.
typedef struct {
  const Suite *suite;
  const char *method;
  EntityKind by;               // what is listed
  unsigned entities;           // what scored it: a set of 1u << EntityKind
  size_t executed, executable; // how many of what is listed there are
  size_t top; // suspects shown per failure; 0: as the format likes it
  bool color;
  const Fault *fault;         // the known fault, or NULL
  const Deaths *deaths;       // where runs died
  const OutputPlaces *places; // where failures show in the output
  Sources *sources;           // notes the state of every file that is shown
  const NearTest *nearest;    // per failure, if the format wants them; or NULL
  const Notes *notes;         // what `culprit near` found; or NULL
  const Notes *tried;         // what `culprit try` found; or NULL
  const char *root;           // paths are named relative to it in files for
                              // others; NULL: to the session's directory
  FILE *summary;          // a second file, of formats that have one; or NULL
  const char *more;       // json: further members, each behind a comma; or NULL
  const char *more_close; // json: the same for the member "close"
  const Ranking *together;   // of all failures, where one line explains them
                             // (locate/cluster.h); or NULL
  const PlaceGroups *groups; // failures by place; empty: they are not grouped
  const SourceLoops *loops;  // of the failure: those that a run never left
  size_t known;              // failures that were set aside
  size_t printed;            // suspects so far, for the formats
} Report;

typedef struct {
  const char *name;
  size_t top; // how many suspects per failure by default
  void (*begin)(Report *r, FILE *out); // NULL: nothing to say
  void (*failure)(Report *r, const Ranking *ranking, FILE *out);
  void (*end)(Report *r, FILE *out); // NULL: nothing to say
  bool nearest;                      // it shows the nearest passing test
} ReportFormat;

// The member "run_notes" of JSON: what is to be known of single runs.
void report_json_notes(const Suite *suite, FILE *out);

extern const ReportFormat report_text, report_json, report_csv, report_quickfix;
extern const ReportFormat report_sarif, report_github, report_junit;
extern const ReportFormat report_gitlab;           // ci/gitlab.c
const ReportFormat *report_find(const char *name); // NULL: no such format

// `rank --gdb`: the suspects that the text shows, as breakpoints, besides the
// report.
void report_gdb_begin(const Report *r, FILE *out);
void report_gdb(const Report *r, const Ranking *ranking, FILE *out);

// --- shared by the formats --------------------------------------------------

// How many suspects of this ranking are shown.
size_t report_shown(const Report *r, const ReportFormat *format,
                    const Ranking *ranking);

// What is listed, at the line to look at (suspect_line).
Entity report_entity(const Report *r, const Suspect *s);

// How many runs have this verdict.
size_t report_verdicts(const Report *r, Verdict verdict);

// The name of the function an entity stands in, "" if that is not known.
const char *report_function(const Suite *suite, const Entity *e);

// Where a failure shows in the output, or in its query, as its first run has
// it; the main place first.
typedef ARRAY(const PlaceAt *) PlaceList;
void report_places(const Report *r, size_t failure, PlaceList *out);

// The source and line that a failure's message names. False: none, or a file
// that is not among the sources.
bool report_blamed(const Suite *suite, size_t failure, uint32_t *source,
                   uint32_t *line);

// A text for a terminal: control characters and the like are escaped.
void report_escaped(const char *text, FILE *out);

// Words, from column `at` on, then the end of the line. Lines are broken before
// a word that does not fit; the next one begins at column `indent`.
enum { REPORT_COLUMNS = 80 };
void report_wrapped(const char *text, size_t at, int indent, FILE *out);

// The path of a source in a file for others.
const char *report_path(const Report *r, uint32_t source);

// "was false, would have to be true": at a branch, against the nearest passing
// run.
void report_branch(const NoteBranch *b, Str *out);

// What an entity is and where it belongs, after its "file:line":
// "in main", "main", "block 3 of main", "edge 12 -> 15 of main".
void report_describe(const Suite *suite, const Entity *e, Str *out);

// The path in "GET /view.php?topic=A": where it begins in the command of a run
// that was a request. NULL: it was none.
const char *report_request(const char *command);

// "3" or, for a tie group, "1-3".
void report_rank(const Suspect *s, Str *out);

// Three decimals where they say something, else three digits.
void report_score(double score, Str *out);

#endif
