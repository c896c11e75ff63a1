// The one failing input that `culprit input` and `culprit near` start from:
// standard input, arguments, files they name, chosen environment variables.
#ifndef CULPRIT_CLI_GIVEN_H
#define CULPRIT_CLI_GIVEN_H

#include <stddef.h>

#include "generate/explore.h"
#include "model/input.h"
#include "util/err.h"

// Reads it: standard input if there is something to read (a file or a pipe),
// the words of `command`, files below 16 MB, and the n variables `env`.
int given_read(char *const *command, const char *cwd, const char *const *env,
               size_t n, Inputs *out, Err *err);

// Says why there is nothing to explore. Returns an exit status.
int given_explain(GivenResult result);

// "[12] 3 failed" on standard error, while it is a terminal and `shown` is set.
extern bool given_progress_shown;
void given_progress(const Runner *r);
void given_progress_end(void);

#endif
