// Which calls may not return (apart from fatal signals): exit, longjmp, and any
// function whose code is not known.
//
// Code after such a call has a counter of its own, so that a run that ends
// inside the call does not count as having executed it. Calls that always
// return, like most of the C library, need no such counter.
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
