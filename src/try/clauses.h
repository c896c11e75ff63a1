// Clauses for a condition: `c && n > 0`, `c || p == NULL`, over what can be
// named where it is evaluated. From what was seen there in runs that must change
// and in runs that must not:
//
//   failing:  c true, n 0                  c && n != 0, c && n > 0 change the
//   passing:  c true, n 3; c false, n 0    failing run and no passing one
//
// A clause must leave every evaluation in passing runs as it was (if there is no
// such clause, three in four), and change one in a failing run. Of clauses with the same effect on everything that was seen
// the simplest counts.
#ifndef CULPRIT_TRY_CLAUSES_H
#define CULPRIT_TRY_CLAUSES_H

#include "try/changes.h"
#include "util/array.h"

// One evaluation of a condition: its outcome, and the values of the names.
typedef struct {
  const int64_t *words; // outcome, then the site's names
  bool fails;           // in a failing run
} SeenCondition;

typedef ARRAY(SeenCondition) SeenConditions;

enum { CLAUSES_MOST = 40 };

// Adds clauses for the site, the simplest first. `constants`: those of the
// function.
void clauses_find(const Site *site, const SeenConditions *seen,
                  const int64_t *constants, size_t nconstants, Changes *out);

// The same for statements in front of a SITE_BEFORE, which must do nothing in
// passing runs: `if (n < 0) n = 0;` and `if (n < 0) return VALUE;`.
enum { GUARDS_MOST = 20 };
void clauses_find_limits(const Site *site, const SeenConditions *seen,
                         const int64_t *constants, size_t nconstants,
                         Changes *out);
void clauses_find_leaves(const Site *site, const SeenConditions *seen,
                         int32_t value, const int64_t *constants,
                         size_t nconstants, Changes *out);

#endif
