// What an outcome of a condition means, in words: the one place where
// conditions become text.
#ifndef CULPRIT_MODEL_CONDITION_H
#define CULPRIT_MODEL_CONDITION_H

#include "model/entity.h"
#include "util/str.h"

// Which of several on a line that read the same, all 0 if it is the only one:
// its column, or, where columns are not known, its number from 1.
typedef struct {
  uint32_t column, number;
} Which;

// Appends "`!x` is true", "no case of `switch (c)` is taken", "`case 'x'` of
// the switch is taken"; where the source does not tell, "the condition is
// false", "condition 2 of the line is true", "the branch to line 9 is taken".
void condition_add(const Entity *e, Which which, Str *out);

#endif
