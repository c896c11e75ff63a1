// What `culprit import` and `culprit store merge` say about a session they made.
#ifndef CULPRIT_CLI_IMPORTED_H
#define CULPRIT_CLI_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/suite.h"
#include "store/store.h"

// "4 passed, 1 failed": of so many runs of each verdict.
void imported_print_verdicts(const size_t counts[VERDICTS]);
// The code, what was replaced, the store, and what to type next. `store`: the
// option, NULL: none was given.
void imported_print_code(const Suite *suite);
void imported_print_end(const Suite *suite, Store *store, const char *option,
                        bool added, size_t replaced);

#endif
