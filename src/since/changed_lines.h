// Lines that were changed since a version: `rank --since REF`.
//
//   ChangedLines c;
//   changed_lines_load(&c, &suite, "v1.2", &err);
//   changed_lines_apply(&c, &evidence.tally, &ranking);
//   changed_lines_release(&c);
//
// Of suspects with the same score, changed lines come first, then lines that
// directly depend on one of them (definition-use pairs that a closer look saw,
// control dependence within a function), then the others. Ranks are counted
// anew within them.
#ifndef CULPRIT_SINCE_CHANGED_LINES_H
#define CULPRIT_SINCE_CHANGED_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "history/version_changes.h"
#include "model/ranking.h"
#include "model/suite.h"

// The kind of an Evidence: "changed since v1.2", or that the line depends on one
// that was.
#define EVIDENCE_SINCE "since"

typedef enum { LINE_CHANGED, LINE_DEPENDS, LINE_OTHER } LineClass;

typedef struct {
  const Suite *suite;
  char *since;            // as the user named it
  Hunks *of;              // per source
  size_t nhunks;          // in all sources of the suite
  unsigned char *classes; // per entity: a LineClass
  Arena arena;
} ChangedLines;

// Compares the files as they are with REF.
int changed_lines_load(ChangedLines *c, const Suite *suite, const char *ref,
                       Err *err);
void changed_lines_release(ChangedLines *c); // zeroed: does nothing

// Orders the ranking, says of each changed or dependent line that it is one, and
// adds a note: how many of the hunks failing runs execute.
void changed_lines_apply(const ChangedLines *c, Ranking *r);
LineClass changed_lines_class(const ChangedLines *c, const Suspect *s);

#endif
