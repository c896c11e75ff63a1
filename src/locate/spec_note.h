// What `culprit spec` found out: the broken contract, its core, and how its
// lines were rated. As a localizer (`rank --method spec`): that rating.
//
// The facts of its notes (note_file.h):
//
//   spec       1
//   signature  list_delete: size_ok          of the failure
//   violated   size_ok                       every broken clause
//   source     /src/f.c  1f0c...             hash of its text
//   core       size_ok  /src/f.c  23         cannot hold together with it
//   line       /src/f.c  29  2  1  1  1      rating, is it of the core still,
//                                            could it alone be wrong, its rank
//                                            if it wins all ties; best first
#ifndef CULPRIT_LOCATE_SPEC_NOTE_H
#define CULPRIT_LOCATE_SPEC_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/note_file.h"
#include "locate/session_evidence.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *clause;
  const char *file; // absolute
  uint32_t line;
} SpecCore;

typedef struct {
  const char *file; // absolute
  uint32_t line;
  double susp;
  bool core, alone;
  uint32_t rank_best;
} SpecLine;

typedef struct {
  NoteHead head;
  ARRAY(const char *) violated;
  ARRAY(SpecCore) core;
  ARRAY(SpecLine) lines; // best first
} SpecNote;

extern const NoteKind spec_note_kind;

// The notes about the session, loaded by the first call. NULL: that failed.
const Notes *spec_notes(SessionEvidence *s, Err *err);

#endif
