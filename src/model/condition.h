// What an outcome of a condition means, in words: the one place where
// conditions become text.
#ifndef CULPRIT_MODEL_CONDITION_H
#define CULPRIT_MODEL_CONDITION_H

#include "model/entity.h"
#include "util/str.h"

// Appends "`!x` is true", "no case of `switch (c)` is taken", "`case 'x'` of
// the switch is taken"; where the source does not tell, "the condition is
// false", "branch 1 of the line is taken". `column`: where it stands if the
// line has others like it, else 0.
void condition_add(const Entity *e, uint32_t column, Str *out);

#endif
