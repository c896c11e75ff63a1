// The classical curves: x is how much of the code is examined, y how many of
// the faults are located by then. Numbers as CSV, pictures by gnuplot.
#ifndef CULPRIT_EVAL_CURVE_H
#define CULPRIT_EVAL_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "eval/evaluation.h"
#include "util/err.h"

typedef struct {
  const char *name; // of its files
  const char *title;
  Base base;
  bool by_subject; // the mean over subjects, not over faults
} Curve;

const Curve *curve_table(size_t *n);

// % of the faults that a method has located when x % are examined, worst case.
double curve_at(const Evaluation *e, const Curve *c, size_t method, double x);

// Writes NAME.csv, NAME.svg and NAME.png of every curve into `dir`, which is
// there. Without gnuplot only the numbers are written and *drawn is false.
int curves_write(const Evaluation *e, const char *dir, bool *drawn, Err *err);

#endif
