// The user, network and IPC namespaces of confined runs. A small process holds
// them and makes views in them, one per request. It ends when culprit ends,
// even if culprit is killed.
#ifndef CULPRIT_CONFINE_NAMESPACES_H
#define CULPRIT_CONFINE_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

#include "confine/confine.h"
#include "util/err.h"

typedef struct {
  pid_t pid;   // of the process that holds them; 0: none
  int pidfd;   // of that process: setns takes it
  int control; // socket to that process
  int spaces;  // CLONE_NEW... flags of the namespaces
} Namespaces;

// Where a view is reached.
typedef struct {
  int mount; // its namespace
  int root;  // its root directory
} ViewFiles;

// `network`: with a network namespace. `plan` must stay as it is.
int namespaces_open(Namespaces *n, const ConfinePlan *plan, bool network,
                    Err *err);
void namespaces_close(Namespaces *n);

// Makes a view. The caller closes its files.
int namespaces_make_view(const Namespaces *n, ViewFiles *out, Err *err);

#endif
