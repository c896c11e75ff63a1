// Conditions as the source writes them. The front end tests the operand of `!`
// and swaps the successors, so a branch alone does not show for which successor
// the written condition is true.
//
//   if (!x) f();        br (x != 0), after, then      `!x`, inverted
//   while (!x) f();     br !(x != 0), body, after     `!x`
//
// A column in debug information leads to the expression whose value is tested
// (expression.h); each `!` around it is an inversion. Code from a macro has the
// column of the macro's name: then the macro is expanded, and its conditions
// are matched, in order, with those that the code has at this place. If that is
// ambiguous, or the macro's text is not known, the order of blocks decides: it
// follows the source, so the next block is entered if the condition holds.
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
