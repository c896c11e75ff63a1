// What `culprit try` found out, as the formats show it: the changes at a line,
// and a diff taken apart.
#ifndef CULPRIT_REPORT_TRIED_H
#define CULPRIT_REPORT_TRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "locate/try_note.h"
#include "report/report.h"
#include "util/array.h"
#include "util/str.h"

typedef ARRAY(const TriedChange *) ChangeList;

// What was found for this failure; NULL: nothing was tried.
const TryNote *report_tried(const Report *r, size_t failure);
// The changes at a statement that repaired something, those that pass all tests
// first, then the best; ENTITY_NONE: those of all statements.
void tried_list(const TryNote *n, uint32_t statement, ChangeList *out);

// The changes that pass all tests, in the order of the ranking: one of each
// line, then the others.
void tried_survivor_list(const TryNote *n, const Ranking *r, ChangeList *out);

// The sentence about a change, for its line: "`<` to `<=`: 27 of 27 ...". With
// `place`: "`<` to `<=` at f.c:11: ...".
void tried_sentence(const Report *r, const TryNote *n, const TriedChange *c,
                    bool place, Str *out);

// Members of an object: "runs", "cut" and "stopped".
void tried_json_runs(const TryNote *n, FILE *out);
// The member "changes" of a suspect, if there are any.
void tried_json(const Report *r, size_t failure, uint32_t statement, FILE *out);
// The items of that list.
void tried_json_items(const ChangeList *changes, FILE *out);
// The member "question", if inputs were made to tell the changes apart that pass
// all tests: what was found, or how many were tried.
void question_json(const Report *r, const TryNote *n, FILE *out);

// --- diffs ------------------------------------------------------------------

typedef enum {
  DIFF_HEAD, // "--- a/f.c", and whatever else is outside of hunks
  DIFF_HUNK, // "@@ -9,5 +9,6 @@"
  DIFF_SAME,
  DIFF_DELETED,
  DIFF_ADDED,
  DIFF_REMARK, // "\ No newline at end of file"
} DiffKind;

// A unified diff, read line by line. Set `rest` to begin.
typedef struct {
  const char *rest;
  DiffKind kind; // of the line that was read:
  const char *line;
  size_t length;
  uint32_t at;                 // its number in the old file, or that of the
                               // line it comes before
  uint32_t old_left, new_left; // of the hunk
} DiffReader;

bool diff_next(DiffReader *d); // false: there is no further line

// Lines [first, first + deleted) of the old file are replaced by `inserted`,
// lines ended by a line break each; deleted 0: they come before line `first`.
typedef struct {
  uint32_t first, deleted;
  const char *last; // the last deleted line
  size_t last_length;
  Str inserted;
} DiffEdit;
typedef ARRAY(DiffEdit) DiffEdits;

// The edits of a diff of one file. False: it is none, or of several.
bool diff_edits(const char *diff, DiffEdits *out);
void diff_edits_release(DiffEdits *edits);

#endif
