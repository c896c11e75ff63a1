// Which sources of a session are code of tests: they come last in a ranking.
// What a test program alone executes is executed by its failing run and by no
// passing one, whatever is wrong in the code under test.
//
//   src/parse.c  tests/parse.c  tests/unity/unity.c    the last two
//
// Goes by names, as people do: a directory (tests, t, ...), the beginning or
// the end of a file name (test_parse.c, parse-test.c), or a known framework
// (unity.c). So does a file that holds two tests of the session, checks that are
// tests of it (check:31, check:32), or two functions of libtap. Directories above all sources count for nothing.
#ifndef CULPRIT_MODEL_TESTCODE_H
#define CULPRIT_MODEL_TESTCODE_H

#include <stdbool.h>

#include "model/suite.h"

// Sets Source.test of all sources; of none if they are all tests.
void testcode_mark(Suite *suite);

// `path`: below the directory that all sources are in.
bool testcode_is_named_so(const char *path);
// Is this a test program, by its main source as given to the compiler? Then it
// may be called test.c, too: in a session that is left open, since a program
// may be called `test`.
bool testcode_is_program(const char *path);

#endif
