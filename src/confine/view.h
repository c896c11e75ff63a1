// The view of a confined run: every directory is an overlay whose upper layer
// is in a tmpfs of its own, /dev holds only harmless devices and the directories of
// /dev/shm, and /proc and /sys can be read.
//
// Made inside a fresh user and mount namespace, by a process that does nothing
// else (namespaces.h).
#ifndef CULPRIT_CONFINE_VIEW_H
#define CULPRIT_CONFINE_VIEW_H

#include "confine/confine.h"
#include "util/err.h"

// Makes the view the root and the current directory of the calling process,
// which must be alone in its mount namespace. `base` is an empty directory.
int view_enter(const ConfinePlan *plan, const char *base, Err *err);

#endif
