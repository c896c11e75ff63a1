// The guard: system calls of confined runs that no namespace and no Landlock
// rule decides about. A filter (seccomp) stops the caller, and a thread of ours
// looks at what it wants: connecting, signalling, writing. What it refuses it
// remembers.
//
// It is for programs that do damage by accident, not for hostile ones: another
// thread of the program could change the arguments after they were looked at.
#ifndef CULPRIT_CONFINE_GUARD_H
#define CULPRIT_CONFINE_GUARD_H

#include <stdbool.h>

#include "confine/confine.h"
#include "util/err.h"

// What it decides.
typedef struct {
  const ConfinePlan *plan;
  bool private_network; // loopback is the run's own
  bool signals;         // to processes outside: refuse
  bool files;           // refuse to write outside of what may be written
} GuardPlan;

typedef struct Guard Guard;

// NULL with a message: the kernel has no such filter, or no thread is to be had.
Guard *guard_open(const GuardPlan *plan, Err *err);
void guard_close(Guard *g); // NULL is fine

// In the new process, after PR_SET_NO_NEW_PRIVS; only system calls.
int guard_enter(const Guard *g);

void guard_take_refused(Guard *g, void (*take)(void *ctx, const Refused *r),
                        void *ctx);

#endif
