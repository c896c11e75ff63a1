// Which calls may not come back (other than by a fatal signal): exit, longjmp,
// or any function we cannot see into.
//
// Code behind such a call is counted on its own, so that a run that ends inside
// the call is not said to have executed what follows it. Calls that always come
// back need no such counter; most calls of the C library do.
#ifndef CULPRIT_PLAN_LEAVE_H
#define CULPRIT_PLAN_LEAVE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

typedef struct Leavers Leavers;

Leavers *leavers_new(LLVMModuleRef module);
void leavers_free(Leavers *l);
bool call_may_leave(const Leavers *l, LLVMValueRef call);

// Is this C library function one that always returns to its caller?
bool libc_returns(const char *name);

#endif
