// Runs a program to its end and captures its output: for compilers and other
// tools. Tests are run by process/.
#ifndef CULPRIT_UTIL_CAPTURE_H
#define CULPRIT_UTIL_CAPTURE_H

#include "util/str.h"

// Runs argv with `extra` ("NAME=value" or NULL) in its environment and appends
// what it prints, standard output and errors, to `out`. Returns its exit
// status, -1 if a signal ended it, 127 if it cannot be started. The time limit
// is ten minutes.
int command_capture(char *const argv[], const char *extra, Str *out);

#endif
