// The keeper: a small process that owns the user, network and IPC namespaces of
// confined runs and makes views in them, one for each request. It ends with us,
// however we end.
#ifndef CULPRIT_CONFINE_KEEPER_H
#define CULPRIT_CONFINE_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "confine/confine.h"
#include "util/err.h"

typedef struct {
  pid_t pid;   // 0: there is none
  int pidfd;   // its namespaces: setns takes it
  int control; // socket to it
  int spaces;  // CLONE_NEW... flags of the namespaces it owns
} Keeper;

// Where a view is reached.
typedef struct {
  int mount; // its namespace
  int root;  // its root directory
} ViewFiles;

// `network`: with a network namespace. `plan` must stay as it is.
int keeper_open(Keeper *k, const ConfinePlan *plan, bool network, Err *err);
void keeper_close(Keeper *k);

// Makes a view. The caller closes its files.
int keeper_make_view(const Keeper *k, ViewFiles *out, Err *err);

#endif
