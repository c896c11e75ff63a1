// What came out of a session, in numbers and in a few lines of text.
#ifndef CULPRIT_RUN_SUMMARY_H
#define CULPRIT_RUN_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/suite.h"
#include "util/str.h"

typedef struct {
  size_t tests;
  size_t verdicts[VERDICTS];
  size_t judged;      // passed or failed
  size_t no_spectrum; // of these
} VerdictCounts;

VerdictCounts suite_count(const Suite *s);

// "84 tests: 80 passed, 3 failed, 1 flaky (2.1 s)", then which tests were
// flaky or in error and why, which fail in a different way each time, and which
// were skipped because the reference program gave no answer.
void summary_write(const Suite *s, double seconds, Str *out);
// How many runs have no spectrum, and why: for when no ranking follows, which
// says it too. Nothing if all have one.
void summary_missing_spectra(const Suite *s, Str *out);
// What is to be known of runs that have one, in the same case.
void summary_notes(const Suite *s, Str *out);

#endif
