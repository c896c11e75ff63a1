// Text from outside (source lines, file and test names, messages) as it may be
// shown on a terminal: control characters, broken UTF-8 and the characters
// that turn the direction of writing are shown as escapes, never sent.
#ifndef CULPRIT_UTIL_ESCAPE_H
#define CULPRIT_UTIL_ESCAPE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "util/str.h"

// How many bytes the UTF-8 character at `s` has; 0 if there is no valid one in
// the n bytes.
size_t utf8_length(const char *s, size_t n);

// The first character of the n > 0 bytes at `s` as it is shown.
typedef struct {
  size_t bytes;  // of the input
  char text[16]; // what is shown
  size_t width;  // columns; every character counts as one
} Glyph;
Glyph glyph_at(const char *s, size_t n);

void escape_add(Str *out, const char *text);

// Prints with everything escaped but line ends and tabs: for messages, into
// which names, arguments and parts of files are put.
void escape_printf(FILE *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void escape_vprintf(FILE *out, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

#endif
