// Marks in a unit's code, so that another process (poke.h) can stop the program
// at one execution of one branch, before what it compares is read, and look at
// the variables or change them.
//
//   if (x > f(y)) ...           count the block's executions
//                               trap      <- x and y may be changed
//                               load x, load y, call f, compare
//                               trap      <- with the outcome
//                               branch
//
// There is a number for each block of the unit, in the order of the lowered IR
// (ir/ir.h), in a table named MARKS_TABLE with the unit's number behind. It
// is -1; to stop at the n-th execution of a block that ends in a branch, put n
// there. The traps are int3; where unused, each costs a comparison. The frame
// knows which execution is meant, so recursion from within the condition does
// not confuse it.
//
// A condition that assigns (`(c = getchar()) != EOF`) is stopped in behind the
// assignment, and reads the variable again.
//
// Nothing is promoted to registers and every function has a frame pointer:
// debug information says where each variable lies.
#ifndef CULPRIT_INSTRUMENT_MARKS_H
#define CULPRIT_INSTRUMENT_MARKS_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "poke/poke_format.h" // MARKS_TABLE

// `number`: of the unit in the program.
void marks_insert(LLVMModuleRef m, uint32_t number);

#endif
