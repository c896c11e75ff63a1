// What `culprit near` found out, kept beside the store for later: the passing
// run nearest to a failing one, and the branches at which the two part. As a
// localizer (`rank --method near`): those branches, in order.
//
// A note is a text file, STORE/near/SESSION.tsv (note_file.h):
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
//
// It is about every session that has these texts and shows this failure.
#ifndef CULPRIT_LOCATE_NEAR_H
#define CULPRIT_LOCATE_NEAR_H

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
  int64_t session; // in which it was found
  const char *signature, *command;
  NoteSources sources;
  ARRAY(NoteBranch) branches; // best first
} NearNote;

typedef struct {
  ARRAY(NearNote) items; // the newest first
  Arena arena;
} NearNotes;

// Writes or replaces the note of its session. `dir`: the store's.
int near_note_write(const char *dir, const NearNote *note, Err *err);
// What a file holds: the untrusted part. Texts live in `arena`; the note is to
// be released even if it fails.
int near_note_parse(NearNote *note, const char *path, char *text, Arena *arena,
                    Err *err);
void near_note_release(NearNote *note); // its arrays

// All notes that are about the suite's program.
int near_notes_load(NearNotes *n, const char *dir, const Suite *suite,
                    Err *err);
void near_notes_release(NearNotes *n);
// The newest one about that failure; NULL: there is none.
const NearNote *near_notes_find(const NearNotes *n, const char *signature);

// The first branch scores 1, the second 1/2, the third 1/3, ...; all else 0. A
// failure without a note has no scores, and a note of the ranking says so.
int near_notes_rank(const NearNotes *n, const Tally *t, size_t failure,
                    const ListOptions *o, Ranking *out, Err *err);

#endif
