// The passing test nearest to a failing one by what both executed, and the
// lines that only one of them executed. Looks at stored runs only: `culprit
// near` makes a nearer one, and compares branches instead of lines.
#ifndef CULPRIT_REPORT_NEAR_TEST_H
#define CULPRIT_REPORT_NEAR_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

typedef ARRAY(uint32_t) EntityList;

typedef struct {
  bool found;
  uint32_t failing, passing; // runs: the first of the failure, the nearest
  double similarity;         // statements both executed / either executed
  // Statements that only one of the two executed, in source order.
  EntityList only_failing, only_passing;
} NearTest;

// For the first `most` failures of the suite; `out` has room for all. Of
// equally near tests the first counts. Release even if it fails.
int near_tests_find(NearTest *out, size_t most, Store *store,
                    const Suite *suite, Err *err);
void near_tests_release(NearTest *list, size_t n);

#endif
