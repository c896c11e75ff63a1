// The supervisor decides about system calls of confined runs that neither
// namespaces nor Landlock rules cover: connecting, signalling, writing. A
// seccomp filter stops the caller, a thread of culprit inspects the call and
// allows or refuses it. The supervisor remembers what it refused.
//
// It protects against programs that do damage by accident. A hostile program
// can change the arguments from another thread after they were inspected.
#ifndef CULPRIT_CONFINE_SUPERVISOR_H
#define CULPRIT_CONFINE_SUPERVISOR_H

#include <stdbool.h>

#include "confine/confine.h"
#include "util/err.h"

typedef struct {
  const ConfinePlan *plan;
  bool private_network; // loopback is the run's own
  bool signals;         // to processes outside: refuse
  bool files;           // refuse to write outside of what may be written
} SupervisorPlan;

typedef struct Supervisor Supervisor;

// Returns NULL with a message if the kernel lacks such filters, or if the
// thread cannot be started.
Supervisor *supervisor_open(const SupervisorPlan *plan, Err *err);
void supervisor_close(Supervisor *s); // NULL is fine

// In the new process, after PR_SET_NO_NEW_PRIVS; only system calls.
int supervisor_enter(const Supervisor *s);

void supervisor_take_refused(Supervisor *s,
                             void (*take)(void *ctx, const Refused *r),
                             void *ctx);

#endif
