// Verdicts of the tests inside a test (program/segments.h). Segments of a test
// that passed have passed, or were skipped. One that failed blames some of its
// segments by, in this order:
//
//   its framework  the result that it knows, its line of TAP, or a line that
//                  names the test and says that it failed
//   its end        the process ended in it: a signal, exit, a timeout
//   its result     what it returned differs from what most of them returned
//   its output     a line that was written while it ran says that it failed
//
// If none is to blame, the segments are undecided and the test counts as one.
#ifndef CULPRIT_RUN_SEGMENT_VERDICT_H
#define CULPRIT_RUN_SEGMENT_VERDICT_H

#include <regex.h>
#include <stdbool.h>

#include "model/run.h"
#include "oracle/oracle.h"
#include "program/segments.h"

// Sets verdict, failures and title of every segment. `also`: lines that say that a test
// failed (NULL: the usual ones only). False: none is to blame.
bool segments_judge(Segments *s, const Run *whole, const Trial *t,
                    const regex_t *also);

// Gives every segment its name as a test, unique among them: "NAME/segment", or
// "segment" if `name` is NULL.
void segments_name(Segments *s, const char *name);

#endif
