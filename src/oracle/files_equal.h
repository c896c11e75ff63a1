// Compares files byte by byte, of any size and content.
#ifndef CULPRIT_ORACLE_FILES_EQUAL_H
#define CULPRIT_ORACLE_FILES_EQUAL_H

#include <stdbool.h>

#include "util/err.h"

int files_equal(const char *a, const char *b, bool *equal, Err *err);

#endif
