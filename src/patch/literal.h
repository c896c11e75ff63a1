// Constants as C writes them: reading their value and writing another one in
// the same style.
#ifndef CULPRIT_PATCH_LITERAL_H
#define CULPRIT_PATCH_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

// The value of `10`, `0x1fUL`, `'a'`, `'\n'`. False: it is no such constant.
bool literal_integer(const char *text, size_t len, int64_t *value);
// The value of `2.5`, `1e3f`. False: it is no such constant.
bool literal_real(const char *text, size_t len, double *value);

// Appends the value with base and suffix of the constant `like` ("": decimal).
void literal_write(Str *out, int64_t value, const char *like, size_t len);
// Appends the shortest text that gives the value, with the suffix of `like`.
void literal_write_real(Str *out, double value, const char *like, size_t len);

#endif
