// What `culprit import` and `culprit store merge` share: what they say about the
// session they made, and merging, which both can do.
#ifndef CULPRIT_CLI_IMPORTED_H
#define CULPRIT_CLI_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>

#include "import/coverage_format.h"
#include "import/places.h"
#include "model/suite.h"
#include "store/store.h"

// "4 passed, 1 failed": of so many runs of each verdict.
void imported_print_verdicts(const size_t counts[VERDICTS]);
// The code, what was replaced, the store, and what to type next. `store`: the
// option, NULL: none was given.
void imported_print_code(const Suite *suite);
void imported_print_end(const Suite *suite, Store *store, const char *option,
                        bool added, size_t replaced);

typedef struct {
  ImportArgs inputs;
  const Places *places;
  const char *store;   // the output; NULL: the usual one
  const char *command; // as it was typed
  bool add, quiet;
} MergeRequest;

// Merges, and says what came of it. Returns an exit status.
int store_merge(const MergeRequest *r);

#endif
