// Where the output of a failing run is first wrong, and who wrote that: a fact
// about the run, kept as one line of text.
//
//   17 35 33 90 printf /src/f.c     offset, expected, printed (hexadecimal; -:
//                                   the end of the output), line, function that
//                                   was called to write it (-: the run ended
//                                   there), file
#ifndef CULPRIT_MODEL_WRONG_BYTE_H
#define CULPRIT_MODEL_WRONG_BYTE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/str.h"

enum { BYTE_END = -1 }; // no byte: the output ends

typedef struct {
  uint64_t offset;
  int expected, printed; // BYTE_END: the end
  const char *source;    // absolute
  uint32_t line;         // 0: not known where
} WrongByte;

void wrong_byte_write(const WrongByte *b, const char *by, Str *out);
// False: the text says nothing, or is damaged. `source` points into it.
bool wrong_byte_read(const char *text, WrongByte *out);

// "`3` where `5` was expected"; of an end "where `5` was expected"
void wrong_byte_tell(const WrongByte *b, Str *out);

#endif
