// The ranking of a session as it stands now, while the session still grows:
// statements, by one method, for the most frequent failure.
//
//   CurrentRanking s;
//   if (current_ranking_make(&s, store, session, "ochiai", &err)) ...
//   if (s.ranked) use(&s.ranking);
//   current_ranking_release(&s);
#ifndef CULPRIT_LOCATE_CURRENT_RANKING_H
#define CULPRIT_LOCATE_CURRENT_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "locate/localizer.h"

typedef struct {
  Suite suite;
  SessionEvidence evidence;
  OpenLocalizer localizer;
  Ranking ranking;
  bool ranked; // false: nothing failed yet, or the method cannot be applied
} CurrentRanking;

// `method`: NULL: method_standard. -1: the store cannot be read. To be released even then.
int current_ranking_make(CurrentRanking *s, Store *store, int64_t session,
                         const char *method, Err *err);
void current_ranking_release(CurrentRanking *s);

#endif
