// Failures that were there before: `--known FILE` or `--known SESSION`. They
// are set aside: neither ranked nor counted as failing.
#ifndef CULPRIT_TALLY_KNOWN_H
#define CULPRIT_TALLY_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/err.h"
#include "util/hashmap.h"

typedef struct {
  Hashmap names; // signatures of failures and names of tests
} KnownFailures;

// What was set aside.
typedef struct {
  size_t failures;
  size_t tests; // that show no other failure
} KnownCounts;

bool known_is_session(const char *given); // digits; a file: ./7

// `given` is the number of a session of `store`, or a file: the output of
// `culprit rank --json`, or one signature or name of a test per line (blank
// lines and lines that begin with # are skipped).
int known_load(KnownFailures *k, const char *given, Store *store, Err *err);
void known_release(KnownFailures *k); // zeroed: does nothing

// Takes known failures out of the suite; of names, the runs of these tests.
KnownCounts known_set_aside(const KnownFailures *k, Suite *suite);

#endif
