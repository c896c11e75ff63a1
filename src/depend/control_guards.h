// What decides whether a statement is executed: the conditions it is control
// dependent on, within its function.
//
//   if (n == 7)        // guards the next line: both outcomes are listed
//     sum = half(n);
//
// A block guards the statement if it can come before it, and the function can
// end without executing it from that block, but not from one of the block's
// successors. Only the innermost ones are listed: what guards the guard is not,
// and what decides whether a statement is executed again is none.
//
// Limits: calls that do not return are not edges, so a line behind one counts
// as executed. A line that stands in several functions (a macro, a header) has
// no guards here.
#ifndef CULPRIT_DEPEND_CONTROL_GUARDS_H
#define CULPRIT_DEPEND_CONTROL_GUARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/suite.h"
#include "util/array.h"

typedef struct {
  bool known;  // the session has the flow of its function
  bool always; // every way through the function executes it
  ARRAY(uint32_t)
  outcomes; // of the conditions that guard it: entities, in
            // the order of the suite
} Guards;

void guards_find(Guards *g, const Suite *suite, uint32_t statement);
void guards_release(Guards *g);

#endif
