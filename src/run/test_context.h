// The tests of a session that no file lists: `culprit input` and `near` make
// them. They are kept with the runner, for a closer look (TestContext).
#ifndef CULPRIT_RUN_TEST_CONTEXT_H
#define CULPRIT_RUN_TEST_CONTEXT_H

#include "run/runner.h"
#include "run/testfile.h"
#include "util/arena.h"

// Keeps the name, the words and the variables of the test.
void test_context_keep(Runner *r, const Test *t);
// The test as it was kept. Its text belongs to `c`; all else is in `arena`.
Test test_context_read(const TestContext *c, Arena *arena);

#endif
