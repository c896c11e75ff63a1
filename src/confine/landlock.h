// Landlock: rules for processes that need no rights to make, checked by the
// kernel. Used for what the namespaces do not do (signals), and for files where
// there are no namespaces.
#ifndef CULPRIT_CONFINE_LANDLOCK_H
#define CULPRIT_CONFINE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the kernel knows, 0: it has no Landlock. Since 2: renaming between
// directories, 3: truncating, 4: TCP, 6: signals and abstract sockets.
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
