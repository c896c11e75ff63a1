// What `culprit try` found out: for each line that was tried, the changes that
// were made there and what became of the tests. As a localizer (`rank --method
// try`): lines with a change that repairs every failing test and breaks no
// passing one come first; then by the best change's share of failing tests
// repaired minus share of passing tests broken; within equals in the order of
// the method that is the session's default without experiments.
//
// The facts of its notes (note_file.h):
//
//   try        1
//   signature  output differs                  of the failure
//   tests      27  181                         failing, passing
//   runs       4312  1                         how many were made; was the
//                                              search ended early (0, 1)
//   source     /src/f.c  1f0c...               hash of its text
//   line       /src/f.c  11  31                changes tried there
//   change     /src/f.c  11  compare  27  27  181  181  1  `<` to `<=`
//              kind, failing tests repaired of tried, passing tests that still
//              pass of tried, were all tests tried; in words
//   diff       --- a/f.c...                    of the change before it: it was
//                                              applied, compiled and tested
//   question   -n 3 4                          an input on which the survivors
//                                              differ, if one was found
#ifndef CULPRIT_LOCATE_TRY_NOTE_H
#define CULPRIT_LOCATE_TRY_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/note_file.h"
#include "locate/session_evidence.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *file; // absolute
  uint32_t line;
  const char *kind;           // compare, constant, call, ... (JSON: "kind")
  const char *text;           // "`<` to `<=`"
  const char *diff;           // unified; NULL: there is none
  uint32_t repaired, failing; // of the failing tests that were tried
  uint32_t kept, passing;     // of the passing ones: those that still pass
  bool all_tests;             // every test of the session was tried
} TriedChange;

// A line with at least one change that was tried.
typedef struct {
  const char *file;
  uint32_t line;
  uint32_t tried; // changes
} TriedLine;

typedef struct {
  NoteHead head;
  uint32_t failing, passing; // tests
  uint32_t runs;             // of the program that were made
  bool cut;                  // not everything was tried
  ARRAY(TriedLine) lines;
  ARRAY(TriedChange) changes; // that repaired something, best first
  const char *question;       // NULL: none
} TryNote;

extern const NoteKind try_note_kind;

// The notes about the session, loaded by the first call. NULL: that failed.
const Notes *try_notes(SessionEvidence *s, Err *err);
// (repaired / failing) - (1 - kept / passing); of no passing test: the first.
double tried_score(const TriedChange *c);
// Does it repair all failing tests and break none, of all tests?
bool tried_survives(const TriedChange *c);

#endif
