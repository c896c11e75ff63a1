// How the tests of a session can be started once more (TestContext in runner.h),
// kept beside the store for `culprit try`: STORE/contexts/SESSION.
//
//   culprit contexts 1\n
//   LENGTH OF NAME, SIZE OF TEXT\n   name, text       for each test
#ifndef CULPRIT_RUN_CONTEXT_FILE_H
#define CULPRIT_RUN_CONTEXT_FILE_H

#include <stdint.h>

#include "run/runner.h"
#include "util/err.h"

// `dir`: the store's. Without contexts nothing is written.
int contexts_write(const TestContexts *list, const char *dir, int64_t session,
                   Err *err);
// A session without such a file has none.
int contexts_read(TestContexts *out, const char *dir, int64_t session,
                  Err *err);
// The same from memory: the untrusted part. -1: it is damaged.
int contexts_parse(TestContexts *out, const char *text, size_t size);
void contexts_release(TestContexts *list);

#endif
