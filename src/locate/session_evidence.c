// The evidence of one session: see session_evidence.h.
#include "locate/session_evidence.h"

#include <stdlib.h>

#include "tally/lacking.h"

void session_evidence_init(SessionEvidence *s, Store *store,
                           const Suite *suite) {
  *s = (SessionEvidence){
      .store = store, .suite = suite, .present = kinds_present(suite)};
  tally_init(&s->tally, suite);
}

void session_evidence_release(SessionEvidence *s) {
  for (size_t i = 0; i < s->states.len; i++) {
    s->states.items[i].close(s->states.items[i].state);
    free(s->states.items[i].state);
  }
  array_release(&s->states);
  if (s->suite)
    tally_release(&s->tally);
  deaths_release(&s->deaths);
}

static int load_deaths(SessionEvidence *s, EntityKind by, Err *err) {
  if (s->has_deaths && s->death_by == by)
    return 0;
  deaths_release(&s->deaths);
  s->has_deaths = true;
  s->death_by = by;
  return deaths_load(&s->deaths, s->store, s->suite, by, err);
}

int session_evidence_load(SessionEvidence *s, unsigned kinds, EntityKind by,
                          Err *err) {
  unsigned missing = kinds & ~s->loaded;
  s->loaded |= missing;
  if (missing && tally_load(&s->tally, s->store, missing, err))
    return -1;
  return load_deaths(s, by, err);
}
