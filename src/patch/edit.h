// A change of the program (runtime/try_format.h) as a change of its source.
//
//   site: the comparison at line 11, column 9; change: `<` to `<=`
//   text: ... while (i < n) ...
//   edit: replace one byte by "<=": "`<` to `<=`"
//
// Debug information gives one column, and constants not even that, so there may
// be several places, best first: the caller compiles and tests each of them.
// There is no edit where the place cannot be found: code from a macro, code that
// the source does not spell out. Then there are words only.
#ifndef CULPRIT_PATCH_EDIT_H
#define CULPRIT_PATCH_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "program/site_table.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/str.h"

typedef struct {
  TryChange change;
  int64_t a, b;
} EditChange;

typedef struct {
  size_t at, len;    // the bytes that are replaced
  const char *text;  // by this
  const char *words; // "`<` to `<=`"
} SourceEdit;

typedef ARRAY(SourceEdit) SourceEdits;

// Appends the edits of the text of a source file, best first. Their memory is
// that of `arena`.
void edits_find(const Site *site, EditChange change, const char *text,
                size_t len, Arena *arena, SourceEdits *out);

// The statement that CHANGE_LEAVE or CHANGE_ASSIGN puts in front, on one line.
void edit_inserted(const Site *site, EditChange change, Str *out);

// Appends the whole text with the edit.
void edit_apply(const SourceEdit *e, const char *text, size_t len, Str *out);
// Appends it as a unified diff (diff.h).
void edit_diff(const SourceEdit *e, const char *path, const char *text,
               size_t len, Str *out);

#endif
