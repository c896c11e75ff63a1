// Tests inside a test program: calls of the runtime are put around each of
// them, so that every one can have a spectrum of its own (runtime/segment.c).
//
//   int main(void) {
//     test_empty();             three functions of test names that one function
//     test_words();             calls, or whose addresses the unit takes
//     test_trim();
//   }
//
// Such a function is reached through a thunk (begin; call it; end): the program
// does the same in the same order. Names of tests are test*, *_test, t_*; tests
// of known frameworks are found by the function that registers them or by the
// type of their table, whatever they are called; and CULPRIT_SEGMENT, a regular
// expression of `culprit run --segment`, names functions that are tests. A
// struct of several functions is a table of callbacks, not of tests.
//
// Where main of a test file (model/testcode.h) runs no such functions but calls
// functions like check(), assertSum(), expect_word() four times or more, each call
// is a test, named by its line: check:31.
//
// Comes after planning: thunks are no part of the program under test.
#ifndef CULPRIT_INSTRUMENT_BOUNDARIES_H
#define CULPRIT_INSTRUMENT_BOUNDARIES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "util/err.h"

// Fails if `regex` (NULL: none) is not one. *used: the module calls the runtime.
int boundaries_insert(LLVMModuleRef m, const char *regex, bool *used, Err *err);

#endif
