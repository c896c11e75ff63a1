// Landlock: rules that a process without privileges can set and the kernel
// enforces. Used for signals, which namespaces do not cover, and for files on
// systems without namespaces.
#ifndef CULPRIT_CONFINE_LANDLOCK_H
#define CULPRIT_CONFINE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version that the kernel supports; 0: none. Version 2 adds renaming
// between directories, 3 truncating, 4 TCP, 6 signals and abstract sockets.
int landlock_abi(void);

typedef struct {
  bool files;                  // writing is refused...
  const char *const *writable; // ...but below these; NULL-terminated
  const char *scratch;         // ...and this
  bool network;                // TCP is refused but to these ports
  const uint16_t *ports;
  size_t nports;
} LandlockPlan;

// A set of rules for landlock_enter; -1: there is nothing to restrict, or the
// kernel cannot. The caller closes it.
int landlock_rules(const LandlockPlan *plan);
// In the process to restrict, after PR_SET_NO_NEW_PRIVS; only a system call.
int landlock_enter(int rules);

#endif
