// Compares files byte by byte, of any size and content.
#ifndef CULPRIT_ORACLE_COMPARE_H
#define CULPRIT_ORACLE_COMPARE_H

#include <stdbool.h>

#include "util/err.h"

int files_equal(const char *a, const char *b, bool *equal, Err *err);

#endif
