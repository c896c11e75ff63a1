// Notes: what `culprit near`, `spec` and `try` found out, kept beside the
// store for `rank`, `why` and `report`. A note is a text file
// STORE/KIND/SESSION.tsv (or SESSION-N.tsv) with one fact per line and tabs between its fields (a
// tab, a line break and % inside a field are %09, %0A, %25).
//
//   near       1                       kind and version
//   signature  exit status 1           of the failure
//   source     /src/f.c  1f0c...       hash of its text, hexadecimal
//
// Further facts are the kind's own: near_note.h, spec_note.h, try_note.h. A note
// is about every session that has these source texts and shows this failure,
// unless its kind says that it is about its own session only.
//
//   Notes notes;
//   notes_load(&notes, &near_note_kind, store_dir(store), &suite, &err);
//   const NearNote *note = notes_find(&notes, signature);
//   notes_release(&notes);
#ifndef CULPRIT_LOCATE_NOTE_FILE_H
#define CULPRIT_LOCATE_NOTE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/listing.h"
#include "model/suite.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef ARRAY(Source) NoteSources;

// What every note begins with.
typedef struct {
  int64_t session; // in which it was found
  uint32_t part;   // which of the session's, where each failure has one
  uint32_t version;
  const char *signature; // of the failure
  NoteSources sources;
} NoteHead;

typedef struct {
  const char *name; // folder, first fact, and command that writes it
  uint32_t version;
  size_t size; // of a note: a struct that begins with a NoteHead
  void (*write)(const void *note, Str *out); // its own facts
  // Takes the fields of one of its own facts; false: there is no such fact.
  bool (*take)(void *note, char **fields, size_t n, Arena *arena);
  bool (*complete)(const void *note); // NULL: always
  void (*release)(void *note);        // its own arrays
  bool own_session; // it is about the session in which it was found only
} NoteKind;

enum { NOTE_FIELDS = 10 }; // at most, in one fact

// --- one note ---------------------------------------------------------------

// Writes or replaces the note of its session. `dir`: the store's.
int note_write(const NoteKind *kind, const char *dir, const void *note,
               Err *err);
// Reads an untrusted text, which is changed. Strings live in `arena`; the note
// must be released even if this fails.
int note_parse(const NoteKind *kind, void *note, const char *path, char *text,
               Arena *arena, Err *err);
void note_release(const NoteKind *kind, void *note);

// For the kinds.
void note_add_field(Str *out, const char *text); // with the tab before it
void note_add_fact(Str *out, const char *name, const char *value);
bool note_number(const char *text, uint32_t *out);

// --- all notes of one kind about a session ----------------------------------

typedef struct {
  const NoteKind *kind;
  ARRAY(void *) items; // the newest first
  Arena arena;
} Notes;

int notes_load(Notes *n, const NoteKind *kind, const char *dir,
               const Suite *suite, Err *err);
void notes_release(void *notes);     // Notes; zeroed: does nothing
bool notes_exist(const void *notes); // is there one?
// The newest note about that failure; NULL: there is none.
const void *notes_find(const Notes *n, const char *signature);

// --- a localizer whose state is Notes ---------------------------------------

// The statement on the line; ENTITY_NONE: there is none.
uint32_t note_statement(const Suite *suite, const char *file, uint32_t line);
// The note about the failure; NULL: there is none.
const void *note_of(const Scoring *s);
// Scores the statement on this line, unless that has been done. `fact`: what
// note_fact() returns for it. False: there is no such statement left.
bool note_score(Scoring *s, const char *file, uint32_t line, double score,
                const void *fact);
const void *note_fact(const Scoring *s, uint32_t statement); // or NULL

#endif
