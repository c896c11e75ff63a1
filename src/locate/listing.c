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

// --- one failure ------------------------------------------------------------

void scoring_begin(Scoring *s, const Tally *t) {
  s->tally = t;
  s->suite = t->suite;
  comparison_init(&s->runs, t, s->failure, s->options->others_pass);
  scores_init(&s->scores, t->suite);
}

void scoring_release(Scoring *s) {
  comparison_release(&s->runs);
  comparison_release(&s->more);
  scores_release(&s->scores);
  arena_release(&s->arena);
}

void scoring_clear(Scoring *s) {
  for (size_t i = 0; i < s->suite->nentities; i++)
    s->scores.score[i] = 0;
}

// --- ranking ----------------------------------------------------------------

// Per function: its best statement, or ENTITY_NONE.
static uint32_t *best_statements(const Scoring *s) {
  const Suite *suite = s->suite;
  uint32_t *best = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nentities; i++)
    best[i] = ENTITY_NONE;
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind != ENTITY_STATEMENT || e->function >= suite->nentities ||
        !bitset_has(&s->tally->executed, i))
      continue;
    uint32_t *b = &best[e->function];
    if (*b == ENTITY_NONE || is_better(s->scores.score[i], s->scores.score[*b]))
      *b = i;
  }
  return best;
}

// `e`: the entity that gives `listed` its score.
static void push(const Scoring *from, uint32_t listed, uint32_t e,
                 Ranking *out) {
  if (e == ENTITY_NONE || !bitset_has(&from->tally->executed, e))
    return;
  const Comparison *c = &from->runs;
  uint32_t carrier = e == listed ? from->scores.carrier[e] : e;
  Suspect s = {
      .entity = listed,
      .score = from->scores.score[e],
      .confidence = confidence_of(comparison_counts(c, e)),
      .prior = deaths_nearness(from->deaths, from->suite, out->failure, listed),
      .test = suite_comes_last(from->suite, listed),
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

static int push_all(const Scoring *from, Ranking *out, Err *err) {
  Spectrum s;
  SpectrumOptions o = {.by = from->options->by,
                       .filter = from->options->filter};
  if (spectrum_init(&s, from->suite, &o, err))
    return -1;
  uint32_t *best = o.by == ENTITY_FUNCTION ? best_statements(from) : NULL;
  for (size_t i = 0; i < s.nlisted; i++)
    push(from, s.listed[i], best ? best[s.listed[i]] : s.listed[i], out);
  free(best);
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

static void order(const Scoring *s, Ranking *r) {
  SuspectKey *const keys[] = {suspect_score, suspect_prior};
  if (s->deaths && !s->options->confidence)
    ranking_order_by(r, keys, sizeof keys / sizeof *keys);
  else
    ranking_order(r, s->options->confidence);
}

int listing_rank(const Scoring *s, Ranking *out, Err *err) {
  *out = (Ranking){.failure = s->failure,
                   .failing = s->runs.failing,
                   .passing = s->runs.passing,
                   .close = s->runs.close,
                   .sliced = s->runs.sliced,
                   .stand_in = s->runs.stand_in};
  if (!out->failing || !out->passing)
    return 0;
  if (push_all(s, out, err)) {
    ranking_release(out);
    return -1;
  }
  settle_scores(out);
  order(s, out);
  return 0;
}

// --- sentences --------------------------------------------------------------

void suspect_note(Suspect *s, const char *kind, char *text) {
  array_push(&s->evidence, (Evidence){kind, text});
}

void suspect_explain(Suspect *s, const char *kind, char *text) {
  suspect_note(s, kind, text);
  s->explained = true;
}

void ranking_note(Ranking *r, const char *kind, char *text) {
  array_push(&r->notes, (Evidence){kind, text});
}
