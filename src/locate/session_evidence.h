// The evidence of one session: which entities its runs covered and where they
// died. It is loaded from the store once and shared by all localizers.
//
//   SessionEvidence evidence;
//   session_evidence_init(&evidence, store, &suite);
//   session_evidence_load(&evidence, kinds, ENTITY_STATEMENT, &err);
//   ... evidence.tally, evidence.deaths ...
//   session_evidence_release(&evidence);
#ifndef CULPRIT_LOCATE_SESSION_EVIDENCE_H
#define CULPRIT_LOCATE_SESSION_EVIDENCE_H

#include <stdbool.h>

#include "model/suite.h"
#include "store/store.h"
#include "tally/deaths.h"
#include "tally/tally.h"
#include "util/array.h"
#include "util/err.h"

// What a localizer loaded, and the function that releases it.
typedef struct {
  void *state;
  const void *key;
  void (*close)(void *state);
} LocalizerState;

typedef struct {
  Store *store;
  const Suite *suite;
  unsigned present; // kinds of entities the session has
  unsigned loaded;  // kinds whose spectra are in the tally
  Tally tally;
  Deaths deaths;
  bool has_deaths;              // deaths are loaded,
  EntityKind death_by;          // for this kind
  ARRAY(LocalizerState) states; // localizer_state() in localizer.h
} SessionEvidence;

void session_evidence_init(SessionEvidence *s, Store *store,
                           const Suite *suite);
void session_evidence_release(SessionEvidence *s); // zeroed: does nothing

// Loads the spectra of these kinds (a set of 1u << EntityKind) and the deaths
// for entities of kind `by`. What is loaded already is not loaded again.
int session_evidence_load(SessionEvidence *s, unsigned kinds, EntityKind by,
                          Err *err);

#endif
