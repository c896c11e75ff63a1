// Text that a library function reads byte by byte, from memory or from a stream
// of the input: what it finds out about each byte becomes a condition.
#ifndef CULPRIT_REPLAY_MODELS_TEXT_H
#define CULPRIT_REPLAY_MODELS_TEXT_H

#include "replay/models.h"

typedef struct {
  Replay *replay;
  uint64_t at;    // address, if it is memory
  Stream *stream; // else
  bool any;       // text_integer: there was a number
  bool unknown;   // a byte was not known
} TextReader;

// The byte at hand, -1 at the end (of a stream; a string ends with NUL). *e is
// its expression, 0 if it is concrete.
int text_peek(TextReader *t, Expr *e);
void text_next(TextReader *t);
// Is the byte at hand in the set? Adds the condition.
bool text_is(TextReader *t, const bool set[256]);
// Skips what isspace() skips.
void text_skip_space(TextReader *t);
// Reads [space][sign]digits as strtol does; `most` characters at most (counted
// from the sign). *e: the number, BV(64). False: a byte is not known, or a form
// that we have no expression for.
bool text_integer(TextReader *t, unsigned base, uint64_t most, Expr *e);
// Reads [space][sign]digits[.digits] as strtod does, up to 15 digits: *e is
// FP(64), exact. False as above, and for exponents, hexadecimal and names.
bool text_decimal(TextReader *t, Expr *e);

#endif
