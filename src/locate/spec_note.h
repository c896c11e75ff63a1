// What `culprit spec` found out, kept beside the store for later: the broken
// promise, its core, and how its lines were rated. As a localizer (`rank
// --method spec`): that rating.
//
// A note is a text file, STORE/spec/SESSION.tsv (note_file.h):
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

#include "locate/listing.h"
#include "locate/note_file.h"
#include "model/ranking.h"
#include "model/suite.h"
#include "tally/tally.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

#define SPEC_NOTE_VERSION 1

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
  int64_t session; // in which it was found
  uint32_t version;
  const char *signature;
  ARRAY(const char *) violated;
  NoteSources sources;
  ARRAY(SpecCore) core;
  ARRAY(SpecLine) lines; // best first
} SpecNote;

typedef struct {
  ARRAY(SpecNote) items; // the newest first
  Arena arena;
} SpecNotes;

// Writes or replaces the note of its session. `dir`: the store's.
int spec_note_write(const char *dir, const SpecNote *note, Err *err);
// What a file holds: the untrusted part. Texts live in `arena`; the note is to
// be released even if it fails.
int spec_note_parse(SpecNote *note, const char *path, char *text, Arena *arena,
                    Err *err);
void spec_note_release(SpecNote *note); // its arrays

// Those that are about the suite.
int spec_notes_load(SpecNotes *n, const char *dir, const Suite *suite,
                    Err *err);
void spec_notes_release(SpecNotes *n);
// The newest one about a failure; NULL: there is none.
const SpecNote *spec_notes_find(const SpecNotes *n, const char *signature);

// Rates as the note does, with what is known of each line as evidence.
int spec_notes_rank(const SpecNotes *n, const Tally *t, size_t failure,
                    const ListOptions *o, Ranking *out, Err *err);

#endif
