// Which process descends from which, read from /proc.
#ifndef CULPRIT_UTIL_DESCENT_H
#define CULPRIT_UTIL_DESCENT_H

#include <sys/types.h>

// The parent of a process, also of a zombie; 0: unknown. Signal-safe.
pid_t process_parent(pid_t pid);
// The child of this process that `pid` is or descends from; 0: it is no
// descendant, or has been reaped. Signal-safe.
pid_t process_ancestor(pid_t pid);

#endif
