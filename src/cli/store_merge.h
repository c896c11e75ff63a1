// culprit store merge and culprit import store: the same under two names.
#ifndef CULPRIT_CLI_STORE_MERGE_H
#define CULPRIT_CLI_STORE_MERGE_H

#include <stdbool.h>

#include "import/coverage_format.h"
#include "import/places.h"

typedef struct {
  ImportArgs inputs;
  const Places *places;
  const char *store;   // the output; NULL: the usual one
  const char *command; // as it was typed
  bool add, quiet;
} MergeRequest;

// Merges, and says what came of it. Returns an exit status.
int store_merge(const MergeRequest *r);

#endif
