// Orphans: descendants whose parents have died become children of this process
// (stop_adopt). These functions list and identify them.
#ifndef CULPRIT_PROCESS_ORPHAN_H
#define CULPRIT_PROCESS_ORPHAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/array.h"
#include "util/descent.h"

typedef ARRAY(pid_t) Pids;

// Replaces `out` with the pids of this process's children, zombies included.
// The kernel may miss one that is created meanwhile: look again.
void children_list(Pids *out);

// Did the process start with this entry ("NAME=value") in its environment?
bool process_has_env(pid_t pid, const char *entry);

// All processes of the machine, threads included; -1 if that is unknown. Cheap.
long processes_total(void);
// How many processes belong to this session. Looks at every process.
size_t processes_in_session(pid_t session);
// Adds the pids of the session's processes.
void session_list(pid_t session, Pids *out);
// Sends the signal to those of the session that handle it, to the thread that has
// worked most. Returns how many.
size_t session_ask(pid_t session, int signal);

#endif
