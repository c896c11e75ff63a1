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

// What `culprit spec` says of this line about a failure: the note, and the
// clause that cannot hold together with it, number `k` from 0. NULL: nothing,
// or there are fewer.
const SpecNote *why_core(const Why *w, const Account *a);
const char *why_clause(const Why *w, const SpecNote *note, size_t k);
// Could the line alone be wrong?
bool why_alone(const Why *w, const SpecNote *note);

void why_text(Why *w, FILE *out);
void why_json(Why *w, FILE *out);

#endif
