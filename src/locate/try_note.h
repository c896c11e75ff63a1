// What `culprit try` found out: for each line that was tried, the changes that
// were made there and what became of the tests. As a localizer (`rank --method
// try`): lines with a change that repairs every failing test and breaks no
// passing one come first; then by the best change's share of failing tests
// repaired minus share of passing tests broken, if that is above 0; within
// equals, and behind these, in the order of the default method (cascade), ties
// included.
//
// Scores: 2 of a line whose change passes all tests; else that difference, above
// 0; else the default method's score, scaled to -1 ... 0.
//
// A note is about the session whose tests were run, and no other.
//
// The facts of its notes (note_file.h):
//
//   try        1
//   signature  output differs                  of the failure
//   source     /src/f.c  1f0c...               hash of its text
//   tests      27  181                         failing, passing
//   runs       4312  1                         how many were made; was the
//                                              search ended early (0, 1)
//   stopped    300  12  0  112  3              of these runs (TriedStops); no
//                                              such fact: none
//   line       /src/f.c  11  31                changes tried there
//   change     /src/f.c  11  compare  27  27  181  181  1  `<` to `<=`
//              kind, failing tests repaired of tried, passing tests that still
//              pass of tried, were all tests tried; in words. Not more of a
//              kind than `tests` says, and if all were, as many
//   diff       --- a/f.c...                    of the change before it: it was
//                                              applied, compiled and tested
//
// and what tells the survivors apart, an input that no test has:
//
//   asked      64  3                           inputs that were run, with how
//                                              many changes
//   question   ./prog -n 3 4  1                the one on which they differ, as a
//                                              shell command; the first line of
//                                              the output that differs
//   argument   -n                              its arguments, in their order
//   stdin      4 5%0A                          its standard input
//   file       in.txt  7%0A                    a file that it reads
//   answer     0  0  7%0A                      number of the change in the note;
//                                              exit status, -signal or
//                                              "endless"; output from the line
//                                              that differs on
//   answer     unchanged  0  9%0A              of the program as it is
//   answer     reference  0  7%0A              of the session's reference program
//
// Texts are shortened ("..." at the cut); bytes that are no text are \xNN.
#ifndef CULPRIT_LOCATE_TRY_NOTE_H
#define CULPRIT_LOCATE_TRY_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/note_file.h"
#include "locate/session_evidence.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  const char *file; // absolute
  uint32_t line;
  const char *kind;           // compare, constant, call, ... (JSON: "kind")
  const char *text;           // "`<` to `<=`"
  const char *diff;           // unified; NULL: there is none
  uint32_t repaired, failing; // of the failing tests that were tried
  uint32_t kept, passing;     // of the passing ones: those that still pass
  bool all_tests;             // every test of the session was tried
  uint32_t statement; // set by try_notes(): the one on the line, or nearest
                      // above; ENTITY_NONE: the session has none
} TriedChange;

// A line with at least one change that was tried.
typedef struct {
  const char *file;
  uint32_t line;
  uint32_t tried;     // changes
  uint32_t statement; // as above
} TriedLine;

// TriedAnswer.change, of programs without a change.
#define ANSWER_UNCHANGED UINT32_MAX
#define ANSWER_REFERENCE (UINT32_MAX - 1)

typedef struct {
  uint32_t change; // in TryNote.changes
  const char *output;
  int status;   // exit status, or -signal
  bool endless; // it was stopped: too many steps, or too much time
} TriedAnswer;

typedef struct {
  const char *name, *text;
} TriedFile;

typedef struct {
  uint32_t inputs;     // that were run; 0: none could be made
  uint32_t asked;      // changes that they were run with
  const char *command; // NULL: none was found on which they differ
  uint32_t line;       // of the output
  ARRAY(const char *) arguments;
  const char *input; // standard input; NULL: none
  ARRAY(TriedFile) files;
  ARRAY(TriedAnswer) answers; // of changes first
} TriedQuestion;

// Runs of changed programs that did not go on by themselves. Those that were
// stopped count once; those that were refused something went on, and may count
// as stopped, too.
typedef struct {
  uint32_t steps;           // stopped: too many turns of loops and calls
  uint32_t time;            // stopped: took too long
  uint32_t limits;          // stopped: wrote or started too much
  uint32_t memory, confine; // refused memory; what confinement forbids
} TriedStops;

// The same of one run.
enum {
  RUN_OUT_OF_STEPS = 1,
  RUN_OUT_OF_TIME = 2,
  RUN_OUT_OF_LIMITS = 4, // output, files, processes
  RUN_REFUSED_MEMORY = 8,
  RUN_REFUSED_CONFINE = 16,
  RUN_STOPS = 32 // all are below
};

void stops_count(TriedStops *to, unsigned stops); // one more run
TriedStops stops_since(TriedStops now, TriedStops before);
void stops_add(TriedStops *to, TriedStops more);

typedef struct {
  NoteHead head;
  uint32_t failing, passing; // tests
  uint32_t runs;             // of the program that were made
  TriedStops stops;          // of these
  bool cut;                  // not everything was tried
  ARRAY(TriedLine) lines;
  ARRAY(TriedChange) changes; // that repaired something, best first
  TriedQuestion question;     // what tells the survivors apart
} TryNote;

extern const NoteKind try_note_kind;

// The notes about the session, loaded by the first call. NULL: that failed.
const Notes *try_notes(SessionEvidence *s, Err *err);

// (repaired / failing) - (1 - kept / passing); of no passing test: the first.
double tried_score(const TriedChange *c);
// Does it repair all failing tests and break none, of all tests?
bool tried_survives(const TriedChange *c);
// Of all changes, those that do.
size_t tried_survivors(const TryNote *n);

// How many changes were tried at the statement.
uint32_t tried_at(const TryNote *n, uint32_t statement);
// The best change at the statement, or with ENTITY_NONE of all; NULL: none
// there repaired a failing test.
const TriedChange *tried_best(const TryNote *n, uint32_t statement);

// Do the two differ?
bool answers_differ(const TriedAnswer *a, const TriedAnswer *b);
// For JSON and people: "exit status 1", "SIGSEGV", "endless".
void answer_tell_end(const TriedAnswer *a, Str *out);

// --- sentences --------------------------------------------------------------

#define EVIDENCE_TRY "try" // the kind of what is said of a line
// The note of a ranking with several changes that pass all tests: "2 changes
// pass all 208 tests; " and the question, if there is one.
#define EVIDENCE_ALTERNATIVES "alternatives"

// "27 of 27 failing tests pass, 181 of 181 passing tests still do". Where not
// all tests were tried: "10 of 10 failing tests tried pass, 9 of 20 passing
// tests tried still do (of 27 failing and 181 passing tests)".
void tried_tell(const TryNote *n, const TriedChange *c, Str *out);
// "no small change here repairs a failing test (31 tried)"
void tried_tell_none(uint32_t tried, Str *out);
// "312 of 5000 runs were stopped: 300 by the step limit, 12 by the time limit;
// 112 runs were refused memory (--memory)". False: none was.
bool tried_tell_stops(const TriedStops *s, uint64_t runs, Str *out);
// "`./prog 3 4` prints "7" with the change `<` to `<=` at f.c:3, and prints ...
// Which is right?", or "no input was found on which they differ (64 tried)"
// False: there is nothing to ask.
bool tried_ask(const TryNote *n, Str *out);

#endif
