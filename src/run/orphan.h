// Processes that fled: descendants whose parents have died become children of
// this process, and can be found and told apart here.
#ifndef CULPRIT_RUN_ORPHAN_H
#define CULPRIT_RUN_ORPHAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/array.h"

typedef ARRAY(pid_t) Pids;

// Makes orphans of our descendants our children, or not.
void orphans_adopt(bool on);

// Ends all our children and, adopting still, theirs. For when we want none.
void orphans_end(void);

// Replaces `out` by the pids of our present children, zombies included. The
// kernel may miss one that is born meanwhile: look again.
void children_list(Pids *out);

// Did the process start with this entry ("NAME=value") in its environment?
bool process_has_env(pid_t pid, const char *entry);

// The parent of a process, also of a zombie; 0: unknown. Signal-safe.
pid_t process_parent(pid_t pid);
// The child of this process that `pid` is or descends from; 0: it is no
// descendant, or has been reaped. Signal-safe.
pid_t process_ancestor(pid_t pid);

// All processes of the machine, threads included; -1 if that is unknown. Cheap.
long processes_total(void);
// How many processes belong to this session. Looks at every process.
size_t processes_in_session(pid_t session);

#endif
