// Delta debugging: minimises a failing input while it still fails (Zeller and
// Hildebrandt 2002, "Simplifying and isolating failure-inducing input"). The
// input is a list of parts (lines, arguments, bytes); what fails is asked.
//
//   bool keep[n];                              // all true
//   ddmin(n, keep, still_fails, ctx, &budget); // some true: 1-minimal
#ifndef CULPRIT_UTIL_DDMIN_H
#define CULPRIT_UTIL_DDMIN_H

#include <stdbool.h>
#include <stddef.h>

// Does the input made of the parts with keep[i] still fail the same way?
typedef bool StillFails(void *ctx, const bool *keep, size_t n);

// Returns how many parts are left. Asks at most *budget times and counts it
// down; at 0 what has been reached is the answer.
size_t ddmin(size_t n, bool *keep, StillFails *fails, void *ctx,
             size_t *budget);

#endif
