// What `culprit why` prints: the account of one line, for people and programs.
#ifndef CULPRIT_REPORT_WHY_H
#define CULPRIT_REPORT_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "locate/account.h"
#include "locate/near_note.h"
#include "locate/spec_note.h"
#include "report/report.h"

typedef struct {
  Report report;           // suite, deaths, sources, nearest, places
  uint32_t source, line;   // as asked for
  const char *function;    // asked for; the line is its best ranked one. NULL
  uint32_t statement;      // the one on that line, or the nearest
  const Account *accounts; // one per failure of the suite
  size_t only;             // the failure that was asked for, from 1; 0: all
  const bool *covers;      // per run: it executes the statement
  const bool *sliced;      // per run: its first wrong byte depends on it
  const uint32_t *twins;   // statements that exactly the same runs execute
  size_t ntwins;
  const char *method; // the one `culprit rank` uses for the session
  bool all;           // every method, not only those that matter
  // Per failure: the passing run near it that is known, or NULL.
  const NearNote *const *notes;
  // What `culprit spec` found out about failures.
  const Notes *cores;
  const char
      *change; // when the line was last changed (history/last_changes.h),
               // or NULL
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

// What is known of the line, a sentence each. Kinds: coverage, rank, output,
// guard, slice, function, twins, nearest, death.
void why_facts(const Why *w, const Account *a, EvidenceList *out);

// The main methods: the one `culprit rank` uses for the session, ochiai
// as the yardstick that other tools share (the default where ochiai is that
// one), and of the others the one that ranks the line highest, worst case, if
// it ranks it higher than both; near, spec and try, which made runs to find
// out, also if it is as high. Returns how many there are.
enum { WHY_METHODS = 3 };
size_t why_methods(const Why *w, const Account *a,
                   const MethodScore *out[WHY_METHODS]);

void why_text(Why *w, FILE *out);
void why_json(Why *w, FILE *out);

#endif
