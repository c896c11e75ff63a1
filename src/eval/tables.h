// An evaluation as a page of Markdown. It holds no times and no paths of this
// machine: the same programs give the same page.
#ifndef CULPRIT_EVAL_TABLES_H
#define CULPRIT_EVAL_TABLES_H

#include <stdio.h>

#include "eval/evaluation.h"

typedef struct {
  const char *title;   // of the page
  const char *curves;  // where the curves lie, relative to the page, or NULL
  const char *against; // the method that pairs are formed with beside cp
} TableOptions;

void tables_write(const Evaluation *e, const TableOptions *o, FILE *out);

#endif
