// Which tests execute which statements, small enough to be put into a page.
//
// Statements that exactly the same tests execute (those of a basic block, and
// many more) form a class; the tests of a class are kept as runs of indexes.
//
//   tests 3, 4, 5 and 9 of 12:   skip 3, take 3, skip 3, take 1
//
// Two passes over the spectra: one finds the classes by a 128-bit hash of the
// tests of each statement, one writes their tests down.
#ifndef CULPRIT_REPORT_HTML_COVER_H
#define CULPRIT_REPORT_HTML_COVER_H

#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  uint32_t *class_of; // per entity; ENTITY_NONE: no test executes it
  Str *tests;         // per class: LEB128 numbers, skip and take by turns
  size_t nclasses;
} Cover;

// Classes are numbered by the first of their statements in `order`, then by
// entity. To be released even if it fails.
int cover_load(Cover *c, Store *store, const Suite *suite,
               const uint32_t *order, size_t norder, Err *err);
void cover_release(Cover *c);

#endif
