// From scores of entities to a ranking: see listing.h.
#include "locate/listing.h"

#include <math.h>
#include <stdlib.h>

#include "locate/spectrum.h"
#include "tally/formula.h"
#include "tally/order.h"
#include "util/mem.h"

// --- scores -----------------------------------------------------------------

void scores_init(Scores *s, const Suite *suite) {
  s->score = mem_array(double, suite->nentities);
  s->carrier = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nentities; i++) {
    s->score[i] = NAN;
    s->carrier[i] = ENTITY_NONE;
  }
}

void scores_release(Scores *s) {
  free(s->score);
  free(s->carrier);
  *s = (Scores){0};
}

// Is the first score the better one? None is the worst.
static bool is_better(double a, double b) {
  return isnan(b) ? !isnan(a) : a > b;
}

void scores_offer(Scores *s, uint32_t entity, double score, uint32_t carrier) {
  double old = s->score[entity];
  if (!is_better(score, old) || (!isnan(old) && score_same(score, old)))
    return;
  s->score[entity] = score;
  s->carrier[entity] = carrier;
}

// --- ranking ----------------------------------------------------------------

typedef struct {
  const Tally *tally;
  const Comparison *comparison;
  const Scores *scores;
  const ListOptions *options;
  uint32_t *best; // per function: its best statement, or ENTITY_NONE
} Lister;

static uint32_t *best_statements(const Lister *l) {
  const Suite *suite = l->tally->suite;
  uint32_t *best = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nentities; i++)
    best[i] = ENTITY_NONE;
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind != ENTITY_STATEMENT || e->function >= suite->nentities ||
        !bitset_has(&l->tally->executed, i))
      continue;
    uint32_t *b = &best[e->function];
    if (*b == ENTITY_NONE ||
        is_better(l->scores->score[i], l->scores->score[*b]))
      *b = i;
  }
  return best;
}

static void push(const Lister *l, uint32_t listed, Ranking *out) {
  uint32_t e = l->best ? l->best[listed] : listed; // who speaks for it
  if (e == ENTITY_NONE || !bitset_has(&l->tally->executed, e))
    return;
  const Comparison *c = l->comparison;
  Counts n = comparison_counts(c, e);
  uint32_t carrier = e == listed ? l->scores->carrier[e] : e;
  Suspect s = {.entity = listed,
               .score = l->scores->score[e],
               .confidence = confidence_of(n),
               .prior = deaths_any(l->options->deaths, l->tally->suite,
                                   out->failure, listed),
               .test = suite_is_test(l->tally->suite, listed),
               .ef = c->ef[e],
               .ep = c->ep[e],
               .carried = carrier != ENTITY_NONE};
  if (s.carried) {
    s.carrier = carrier;
    s.carrier_ef = c->ef[carrier];
    s.carrier_ep = c->ep[carrier];
  }
  array_push(&out->suspects, s);
}

static unsigned kinds_of(const Suite *suite) {
  unsigned kinds = 0;
  for (size_t i = 0; i < suite->nentities; i++)
    kinds |= 1u << suite->entities[i].kind;
  return kinds;
}

static int push_kind(Lister *l, EntityKind kind, Ranking *out, Err *err) {
  Spectrum s;
  SpectrumOptions o = {.by = kind, .filter = l->options->filter};
  if (spectrum_init(&s, l->tally->suite, &o, err))
    return -1;
  l->best = kind == ENTITY_FUNCTION ? best_statements(l) : NULL;
  for (size_t i = 0; i < s.nlisted; i++)
    push(l, s.listed[i], out);
  free(l->best);
  spectrum_release(&s);
  return 0;
}

// Entities without a score come clearly below those with one.
static void settle_scores(Ranking *r) {
  double lowest = 0;
  bool any = false;
  for (size_t i = 0; i < r->suspects.len; i++) {
    double score = r->suspects.items[i].score;
    if (isnan(score))
      continue;
    lowest = any ? fmin(lowest, score) : score;
    any = true;
  }
  double below = any ? lowest - fmax(1, fabs(lowest)) : 0;
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    if (isnan(s->score))
      s->score = below;
    s->own = s->score;
  }
}

static void order(Ranking *r, const ListOptions *o) {
  SuspectKey *const keys[] = {suspect_score, suspect_prior};
  if (o->deaths && !o->confidence)
    ranking_order_by(r, keys, sizeof keys / sizeof *keys);
  else
    ranking_order(r, o->confidence);
}

int listing_rank_kinds(const Tally *t, const Comparison *c, size_t failure,
                       const Scores *scores, unsigned kinds,
                       const ListOptions *o, Ranking *out, Err *err) {
  *out = (Ranking){.failure = failure,
                   .failing = c->failing,
                   .passing = c->passing,
                   .stand_in = c->stand_in};
  if (!c->failing || !c->passing)
    return 0;
  Lister l = {.tally = t, .comparison = c, .scores = scores, .options = o};
  if (kinds & kinds_of(t->suite))
    kinds &= kinds_of(t->suite);
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (kinds & 1u << k && push_kind(&l, (EntityKind)k, out, err)) {
      ranking_release(out);
      return -1;
    }
  settle_scores(out);
  order(out, o);
  return 0;
}

int listing_rank(const Tally *t, const Comparison *c, size_t failure,
                 const Scores *scores, const ListOptions *o, Ranking *out,
                 Err *err) {
  return listing_rank_kinds(t, c, failure, scores, 1u << o->by, o, out, err);
}

// --- sentences --------------------------------------------------------------

void suspect_explain(Suspect *s, const char *kind, char *text) {
  array_push(&s->evidence, (Evidence){kind, text});
}

void ranking_note(Ranking *r, const char *kind, char *text) {
  array_push(&r->notes, (Evidence){kind, text});
}
