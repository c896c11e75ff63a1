// Which changes can be made at a site (program/site_table.h), the likeliest
// first. The order is by what faults usually are: boundaries of comparisons and
// constants that are off by one, then other conditions, operators and
// variables, then statements that should not be there.
#ifndef CULPRIT_TRY_CHANGES_H
#define CULPRIT_TRY_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "program/site_table.h"
#include "util/array.h"
#include "util/str.h"

typedef struct {
  const Site *site;
  TryChange change;
  int64_t a, b;
  unsigned cost; // the likelier, the less
} Change;

typedef ARRAY(Change) Changes;

// Adds all changes of the site but clauses (clauses.h). `others`: constants of
// the same function, which may be what a wrong one should be.
void changes_of(const Site *site, const int64_t *others, size_t nothers,
                Changes *out);

// For JSON: compare, condition, operator, constant, store, return, call,
// arguments, index, variable, clause, insertion.
const char *change_kind(const Change *c);
// In words, without the source: "`<` to `<=`".
void change_describe(const Change *c, Str *out);

// The outcomes of a comparison under the change, for less, equal and greater (a
// bit each, as TryReport.relations). -1: the change is not one of outcomes.
int change_outcomes(const Change *c);

const char *compare_text(TryCompare op);

#endif
