// The ranking of a session as it stands now, for who wants one answer while the
// session still grows: statements, by one method, for its most frequent
// failure.
//
//   Snapshot s;
//   if (snapshot_take(&s, store, session, "ochiai", &err)) ...
//   if (s.ranked) use(&s.ranking);
//   snapshot_release(&s);
#ifndef CULPRIT_LOCATE_SNAPSHOT_H
#define CULPRIT_LOCATE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "locate/localizer.h"

typedef struct {
  Suite suite;
  Workbench bench;
  Locator locator;
  Ranking ranking;
  bool ranked; // false: nothing failed yet, or the method cannot be applied
} Snapshot;

// -1: the store cannot be read. To be released even then.
int snapshot_take(Snapshot *s, Store *store, int64_t session,
                  const char *method, Err *err);
void snapshot_release(Snapshot *s);

#endif
