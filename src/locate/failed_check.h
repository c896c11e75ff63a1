// The check: where a failure showed.
//
//   test.c:218: test_pop: Assertion `list->tail->next == NULL' failed.
//
// These statements, as far as they are known:
// - the one that the message names
// - those where runs died of the failure
// and if none is, those whose source text has most in common with the message,
// of what failing runs execute and passing ones do not: a check prints its own
// expression, a program the text that stands in its source.
#ifndef CULPRIT_LOCATE_FAILED_CHECK_H
#define CULPRIT_LOCATE_FAILED_CHECK_H

#include <stddef.h>

#include "tally/deaths.h"
#include "tally/tally.h"
#include "util/graph.h"

// Appends statements. `deaths` may be NULL.
void failed_checks_find(const Comparison *c, const Deaths *deaths,
                        size_t failure, NumberList *out);

#endif
