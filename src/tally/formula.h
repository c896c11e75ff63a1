// Suspiciousness formulas: how strongly executing an entity correlates with failing,
// as a pure function of four counts. A new formula is one function and one row
// of the table in formula.c.
//
// Every formula is finite for every Counts: a ratio with nothing below the
// line is 0, unless its comment says otherwise. Scores are compared only within
// one failure, where F = ef + nf and P = ep + np are the same for all entities.
#ifndef CULPRIT_TALLY_FORMULA_H
#define CULPRIT_TALLY_FORMULA_H

#include <stddef.h>
#include <stdint.h>

// How many failing (f) and passing (p) runs executed an entity (e) or did
// not (n).
typedef struct {
  double ef, ep, nf, np; // whole, unless runs are weighted (tally.h)
} Counts;

typedef double Formula(Counts c);

typedef struct {
  const char *name; // on the command line and in JSON
  Formula *score;
  const char *doc; // one line: the formula
} FormulaInfo;

// All formulas, in the order they are listed to the user.
const FormulaInfo *formula_table(size_t *n);
const FormulaInfo *formula_find(const char *name); // NULL: no such formula

// Those that other localizers build upon.
Formula formula_op2, formula_ochiai;

// max(ef/F, ep/P): how much of the evidence there could be there is. It orders
// equal scores where that is asked for.
double confidence_of(Counts c);

#endif
