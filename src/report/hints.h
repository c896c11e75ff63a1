// The changes that pass all tests, below a ranking on a terminal: hints, as
// diffs where there are any.
//
//     Hint: this change makes all 208 tests pass. Whether it is right, they
//     cannot tell.
//       `<` to `<=` at f.c:11
//         --- a/f.c
//         ...
#ifndef CULPRIT_REPORT_HINTS_H
#define CULPRIT_REPORT_HINTS_H

#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

void hints_put(const Report *r, const Ranking *ranking, FILE *out);
// One diff, indented, its added and deleted lines coloured.
void hints_put_diff(const char *diff, int indent, bool color, FILE *out);

#endif
