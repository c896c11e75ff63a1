// What `culprit why` prints: the account of one line, for people and programs.
#ifndef CULPRIT_REPORT_WHY_H
#define CULPRIT_REPORT_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "locate/account.h"
#include "locate/near.h"
#include "locate/spec_note.h"
#include "report/report.h"

typedef struct {
  Report report;           // suite, deaths, sources, colour
  uint32_t source, line;   // as asked for
  uint32_t statement;      // the one on that line, or the nearest
  const Account *accounts; // one per failure of the suite
  size_t only;             // the failure that was asked for, from 1; 0: all
  const bool *covers;      // per run: it executes the statement
  // Per failure: the passing run near it that is known, or NULL.
  const NearNote *const *notes;
  // What `culprit spec` found out about failures.
  const SpecNotes *cores;
} Why;

// The branch of the note that stands on this line, the best; NULL: none does.
const NoteBranch *why_branch(const Why *w, const NearNote *note);

// How `culprit spec` rated the line; NULL: it did not.
const SpecLine *why_rated(const Why *w, const SpecNote *note);
// Calls `each` with the names of the clauses that cannot hold together with it.
void why_clauses(const Why *w, const SpecNote *note,
                 void each(const char *clause, void *context), void *context);

void why_text(Why *w, FILE *out);
void why_json(Why *w, FILE *out);

#endif
