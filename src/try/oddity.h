// How odd a change is: of changes that pass the same tests those that people
// make come first.
#ifndef CULPRIT_TRY_ODDITY_H
#define CULPRIT_TRY_ODDITY_H

#include "try/changes.h"

// 0: another operator, variable or order of arguments, a constant or index off
//    by one
// 1: another value: another constant or a variable for a constant, a result or
//    argument off by one, a truth value negated, a clause or a new statement
//    with 0, 1, -1 or a variable
// 2: something is taken away: a condition always true or false, a statement, an
//    operand, the rest of a function; or a clause or a new statement with a
//    constant that was only seen in the runs
unsigned change_oddity(const Change *c);

#endif
