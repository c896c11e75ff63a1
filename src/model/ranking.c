// The answer: see ranking.h.
#include "model/ranking.h"

#include <math.h>
#include <stdlib.h>

bool score_same(double a, double b) {
  double size = fmax(fabs(a), fabs(b));
  return fabs(a - b) <= SCORE_TOLERANCE * fmax(size, 1e-300);
}

RunCounts ranking_runs(const Ranking *r, EntityKind kind) {
  if (kind == ENTITY_SLICE)
    return r->sliced;
  return CLOSE_KINDS & 1u << kind ? r->close
                                  : (RunCounts){r->failing, r->passing};
}

uint32_t suspect_line(const Suspect *s, const Entity *e) {
  return s->line ? s->line : e->line;
}

void suspect_release(Suspect *s) {
  for (size_t i = 0; i < s->evidence.len; i++)
    free(s->evidence.items[i].text);
  array_release(&s->evidence);
}

void ranking_release(Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++)
    suspect_release(&r->suspects.items[i]);
  for (size_t i = 0; i < r->notes.len; i++)
    free(r->notes.items[i].text);
  array_release(&r->suspects);
  array_release(&r->notes);
}
