// Splits programs that hold many tests (cmocka, Check): every unit test becomes
// a test with a process and a spectrum of its own. Works for programs that
// culprit-cc linked (runtime/unit.c is in them).
#ifndef CULPRIT_ADAPTER_SPLIT_H
#define CULPRIT_ADAPTER_SPLIT_H

#include "adapter/listed.h"

// Adds every test to `out`, or instead of it the tests that its program holds,
// named "TEST/UNIT" (or "UNIT" if there is `only_one` test). `scratch` is a
// directory for the list.
void split_units(const Test *tests, size_t n, const char *cwd,
                 const char *scratch, bool only_one, TestList *out);

#endif
