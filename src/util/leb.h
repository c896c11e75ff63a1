// Numbers of any size in as few bytes as they need (LEB128), as the program map
// and the store keep them.
#ifndef CULPRIT_UTIL_LEB_H
#define CULPRIT_UTIL_LEB_H

#include <stdbool.h>
#include <stdint.h>

#include "util/str.h"

void leb_put(Str *out, uint64_t v);
// Reads one number and moves *at past it. False if the bytes end within the
// number or it does not fit; *at is then the end.
bool leb_get(const unsigned char **at, const unsigned char *end, uint64_t *v);

#endif
