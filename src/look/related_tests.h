// Which passing tests have something to do with the failing ones. In a suite of
// many programs most do not: they run other programs, which share no more than a
// few functions of a library with those that fail. Close builds of these take
// long, and tell nothing.
//
// A passing test is apart if it ran no program that a failing test ran, and
// executed little of what any failing one did (close_sample.h). Where nobody kept
// which test ran which program, none is.
#ifndef CULPRIT_LOOK_RELATED_TESTS_H
#define CULPRIT_LOOK_RELATED_TESTS_H

#include "look/close_sample.h"
#include "run/runner.h"

// Moves the runs that are apart from the sample to `apart`; the others keep their
// order.
void related_tests_part(const Suite *suite, const SeenModule *modules, size_t n,
                        CloseSample *sample, CloseSample *apart);

typedef ARRAY(SeenModule) NeededModules; // they belong to the session

// The modules that tests of the sample ran.
void related_tests_modules(const Suite *suite, const SeenModule *modules,
                           size_t n, const CloseSample *sample,
                           NeededModules *out);

#endif
