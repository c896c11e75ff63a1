// Why a suspect is suspected, in sentences. Made only for what is shown: a
// ranking may have a hundred thousand suspects.
#ifndef CULPRIT_REPORT_EVIDENCE_H
#define CULPRIT_REPORT_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ranking.h"
#include "model/suite.h"
#include "store/store.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

// One run died at one place that may be listed.
typedef struct {
  uint32_t source, line; // of the listed entity
  uint32_t run;
  const char *how; // SIGSEGV, ...
  bool exact;
} DeathAt;

// Where runs died, to be looked up by place.
typedef struct {
  ARRAY(DeathAt) items;
  Arena arena; // the texts
} Deaths;

// `by`: statement or function; deaths are not looked up for other kinds.
int deaths_load(Deaths *d, Store *store, const Suite *suite, EntityKind by,
                Err *err);
void deaths_release(Deaths *d);

typedef ARRAY(Evidence) EvidenceList;

// What the localizer left in the suspect, then
//   coverage   "2 of 2 failing, 1 of 5 passing runs": those that execute it
//   death      "1 run died here: SIGSEGV" (runs that show this failure)
void evidence_gather(const Suite *suite, const Deaths *deaths, const Ranking *r,
                     const Suspect *s, EvidenceList *out);
void evidence_release(EvidenceList *list);

#endif
