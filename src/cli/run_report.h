// What `culprit run` says beside the ranking: how the tests were taken, and why
// there is nothing to rank.
#ifndef CULPRIT_CLI_RUN_REPORT_H
#define CULPRIT_CLI_RUN_REPORT_H

#include <stdbool.h>

#include "model/suite.h"
#include "run/runner.h"
#include "util/str.h"

// Adds lines about tests inside of tests, limits, and tests that disturb each
// other. `built`: by us.
void run_describe(const RunOptions *o, bool built, const Runner *r, Str *out);

// `make test` builds, too. True: the compiler ended it, and the message says so.
bool run_report_failed_build(const Suite *suite);

// No program left a spectrum: says why. `makes`: make started the tests. Returns
// the exit status.
int run_report_no_map(const RunOptions *o, bool makes, const Suite *suite);

// What --bisect ends with: `git bisect run` skips a version without a verdict.
int run_bisect_status(int status);

#endif
