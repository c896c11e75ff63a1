// Conditions of the code as the source has them. The front end tests what is
// inside of `!` and exchanges the successors, so a branch alone does not tell
// which way the written condition is true.
//
//   if (!x) f();        br (x != 0), after, then      `!x`, inverted
//   while (!x) f();     br !(x != 0), body, after     `!x`
//
// A column in debug information leads to the expression whose value is tested
// (expression.h); each `!` around that is an inversion. What comes out of a
// macro has the column of the macro's name: then its text is expanded, and its
// conditions are those that the code has at this place, in order. If they
// cannot be told apart, or a macro's text is not known, blocks help: they come
// in the order of the source, so the block behind a condition is the one that
// is entered if it holds.
#ifndef CULPRIT_PLAN_WRITTEN_CONDITION_H
#define CULPRIT_PLAN_WRITTEN_CONDITION_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"

typedef struct {
  bool known;       // which outcome is which
  bool inverted;    // the written condition is true where the code's is false
  const char *text; // as it is written, in the plan's arena; NULL: not known
  uint32_t line, col_lo, col_hi; // where that stands; line 0: not on one line
} Condition;

// Conditions of a function in order: to tell apart those of one macro.
typedef struct {
  uint32_t source, line, col;
  LLVMValueRef value;
} ConditionAt;
typedef ARRAY(ConditionAt) ConditionList;

void conditions_list(Plan *p, LLVMValueRef function, ConditionList *out);

// `branch`: on this value; NULL: the value is used.
Condition condition_read(Plan *p, const ConditionList *list, LLVMValueRef value,
                         LLVMValueRef branch);

// What each successor of a switch is written as: the first the value that is
// looked at (NULL: not known), the others their labels, `case 'x'`.
void condition_cases(Plan *p, LLVMValueRef branch, const char **texts);

#endif
