// What `culprit near` found out: the passing run nearest to a failing one, and
// the branches at which the two part. As a localizer (`rank --method near`):
// the first branch scores 1, the second 1/2, the third 1/3, ...; all else 0.
//
// The facts of its notes (note_file.h):
//
//   near       1
//   signature  exit status 1                   of the failure
//   command    ./f 1                           that passes
//   source     /src/f.c  1f0c...               hash of its text, hexadecimal
//   branch     /src/f.c  5  1  false  true  1  line, instance, taken, needed,
//                                              is it decisive; best first.
//                                              May be followed by a sentence,
//                                              which variables matter there
//                                              (or nothing), and the condition
//                                              as it is written
#ifndef CULPRIT_LOCATE_NEAR_NOTE_H
#define CULPRIT_LOCATE_NEAR_NOTE_H

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
  uint32_t instance;          // which execution of it, from 1
  const char *taken, *needed; // "true", "case 3", ...
  bool decisive;
  const char *matters; // which variables, one sentence; "": not known
  const char *written; // the condition; "": not known, or a switch
} NoteBranch;

typedef struct {
  NoteHead head;
  const char *command;        // of the nearest passing run
  ARRAY(NoteBranch) branches; // best first
} NearNote;

extern const NoteKind near_note_kind;

// The notes about the session, loaded by the first call. NULL: that failed.
const Notes *near_notes(SessionEvidence *s, Err *err);

#endif
