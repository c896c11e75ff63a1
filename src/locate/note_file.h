// What commands found out, kept beside the store for later: text files
// STORE/KIND/SESSION.tsv, one fact a line, tabs between (a tab, a line break
// and % inside a field are %09, %0A, %25).
//
//   near       1
//   signature  exit status 1
//   source     /src/f.c  1f0c...       hash of its text, hexadecimal
//
// What facts there are is the kind's own: near.h, spec_note.h. A note is about
// every session that has these texts, not only about its own.
#ifndef CULPRIT_LOCATE_NOTE_FILE_H
#define CULPRIT_LOCATE_NOTE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef ARRAY(Source) NoteSources;

// --- writing ----------------------------------------------------------------

void note_add_field(Str *out, const char *text); // with the tab before it
void note_add_fact(Str *out, const char *name, const char *value);
void note_add_sources(Str *out, const NoteSources *sources);
// `dir`: the store's.
int note_write(const char *dir, const char *kind, int64_t session,
               const Str *text, Err *err);

// --- reading: the text is untrusted -----------------------------------------

// Takes a line apart, in place. 0: there are more fields than `most`.
size_t note_split(char *line, char **fields, size_t most);
bool note_number(const char *text, uint32_t *out);
// The fields of a line "source".
bool note_take_source(NoteSources *out, char **fields, Arena *arena);

// Calls `each` with every note of this kind, the newest first. It may change
// the text; names and text live until it returns.
typedef int EachNote(void *context, int64_t session, const char *path,
                     char *text, Err *err);
int note_each(const char *dir, const char *kind, EachNote *each, void *context,
              Err *err);
// Has the session all these texts? No texts: no.
bool note_is_about(const NoteSources *sources, const Suite *suite);
// The statement on the line; ENTITY_NONE: there is none.
uint32_t note_statement(const Suite *suite, const char *file, uint32_t line);

#endif
