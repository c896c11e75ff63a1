// Inputs that differ little from one, made without looking at the program:
// numbers off by one, 0, negated, doubled; two arguments exchanged, the last
// left out; the last line or byte of standard input and files left out.
#ifndef CULPRIT_INPUT_VARIATIONS_H
#define CULPRIT_INPUT_VARIATIONS_H

#include "model/input.h"
#include "util/array.h"

typedef ARRAY(Inputs) InputVariations;

enum { VARIATIONS_MOST = 60 }; // of one input

// Appends them; each is to be released.
void variations_of(const Inputs *in, InputVariations *out);

#endif
