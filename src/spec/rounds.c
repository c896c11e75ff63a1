// Rounds of made tests: see rounds.h.
#include "spec/rounds.h"

#include <stdlib.h>

#include "util/clock.h"

enum {
  RANDOM_STATES = 8, // made at a time
  OFFERS_MAX = 2000,
  CORRECTED = 3, // failing tests that corrections must explain
  PATIENCE = 4,  // broods in a row of which none is taken
};

void rounds_open(Rounds *r, StateCandidates *c, const RoundsOptions *o) {
  const Inquiry *q = c->inquiry;
  Bitset broken = {0};
  *r = (Rounds){.candidates = c, .options = *o, .random = o->seed};
  candidates_broken(q, &q->first, &broken);
  score_open(&r->score, q->subject->lines.len, &q->suspects, &broken, o->bonus);
  score_add(&r->score, &(ScoreTest){&q->first.hits, &broken});
  if (o->correct) {
    uint32_t *order = inquiry_order(q);
    score_correct(&r->score, &q->corrected);
    score_order(&r->score, order);
    free(order);
  }
  bitset_release(&broken);
}

void rounds_close(Rounds *r) {
  for (size_t i = 0; i < r->taken.len; i++)
    array_release(&r->taken.items[i].rating);
  array_release(&r->taken);
  array_release(&r->offers);
  score_close(&r->score);
}

static const StateCandidate *candidate(const Rounds *r, size_t k) {
  return &r->candidates->items.items[k];
}

const StateCandidate *rounds_last(const Rounds *r) {
  return r->taken.len ? candidate(r, array_last(&r->taken).candidate) : NULL;
}

// --- offers -----------------------------------------------------------------

static void offer(Rounds *r, const Brood *b) {
  r->seconds += b->seconds;
  for (size_t i = 0; i < b->n; i++)
    array_push(&r->offers, (Offer){.candidate = b->first + i});
}

static bool was_taken(const Rounds *r, size_t k) {
  for (size_t i = 0; i < r->taken.len; i++)
    if (r->taken.items[i].candidate == k)
      return true;
  return false;
}

// What to expand next: tests that were taken come before the others.
// SIZE_MAX: nothing is left.
static size_t next_to_expand(const Rounds *r) {
  size_t other = SIZE_MAX;
  for (size_t i = 0; i < r->offers.len; i++) {
    if (r->offers.items[i].expanded)
      continue;
    if (was_taken(r, r->offers.items[i].candidate))
      return i;
    other = other == SIZE_MAX ? i : other;
  }
  return other;
}

static int make_brood(Rounds *r, Brood *b, bool *any, Err *err) {
  if (r->options.pick == PICK_RANDOM)
    return candidates_random(r->candidates, RANDOM_STATES, &r->random, b, err);
  if (!r->given_expanded) {
    r->given_expanded = true;
    return candidates_turn(r->candidates, CANDIDATE_GIVEN, b, err);
  }
  size_t k = next_to_expand(r);
  *any = k != SIZE_MAX;
  if (!*any)
    return 0;
  r->offers.items[k].expanded = true;
  return candidates_turn(r->candidates, r->offers.items[k].candidate, b, err);
}

static bool is_over(const Rounds *r) {
  return r->offers.len > OFFERS_MAX || r->idle >= PATIENCE ||
         (r->options.seconds > 0 && r->seconds > r->options.seconds);
}

// More offers; *any is false if there are none.
static int make_more(Rounds *r, bool *any, Err *err) {
  size_t before = r->offers.len;
  *any = true;
  while (*any && r->offers.len == before) {
    Brood b = {0};
    if (is_over(r))
      *any = false;
    else if (make_brood(r, &b, any, err))
      return -1;
    r->idle++;
    offer(r, &b);
    if (r->options.pick == PICK_RANDOM && !b.n)
      *any = false; // there is no valid state, or no time
  }
  return 0;
}

// --- picking ----------------------------------------------------------------

static size_t covered(const Rounds *r, const StateCandidate *c) {
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(&r->score.suspects, &i); i++)
    n += bitset_has(&c->run.hits, i);
  return n;
}

static bool is_same(const Rounds *r, const Bitset *a, const Bitset *b) {
  if (!r->switched)
    return bitset_equal(a, b);
  for (uint32_t i = 0; bitset_next(&r->score.suspects, &i); i++)
    if (bitset_has(a, i) != bitset_has(b, i))
      return false;
  return true;
}

static bool is_new_coverage(const Rounds *r, const StateCandidate *c) {
  if (is_same(r, &c->run.hits, &r->candidates->inquiry->first.hits))
    return false;
  for (size_t i = 0; i < r->taken.len; i++)
    if (is_same(r, &c->run.hits,
                &candidate(r, r->taken.items[i].candidate)->run.hits))
      return false;
  return true;
}

static size_t worth(const Rounds *r, const StateCandidate *c) {
  switch (r->options.pick) {
  case PICK_RANDOM:
    return 1;
  case PICK_NEAREST:
    return c->position + 1;
  default:
    return covered(r, c);
  }
}

// The best offer that is worth something; SIZE_MAX: there is none.
static size_t pick(Rounds *r) {
  size_t best = SIZE_MAX, most = 0;
  for (size_t i = 0; i < r->offers.len; i++) {
    Offer *o = &r->offers.items[i];
    const StateCandidate *c = candidate(r, o->candidate);
    if (o->used)
      continue;
    if (r->options.pick == PICK_SUSPECTS && !is_new_coverage(r, c)) {
      o->used = true;
      continue;
    }
    size_t value = worth(r, c);
    if (value > most) {
      most = value;
      best = i;
    }
  }
  return best;
}

// --- rounds -----------------------------------------------------------------

// A line whose change alone explains the given failure, but not this one of the
// same kind, is not what is wrong.
static void correct(Rounds *r, const StateCandidate *c) {
  double start = clock_now();
  Bitset lines = {0};
  if (r->corrected >= CORRECTED || is_over(r))
    return;
  r->corrected++;
  bitset_union(&lines, &r->score.corrected);
  inquiry_correct(r->candidates->inquiry, &c->state,
                  r->candidates->make_seconds, &lines);
  score_correct(&r->score, &lines);
  bitset_release(&lines);
  r->seconds += clock_now() - start;
}

// Nor is a line that a failing call does not execute at all.
static void correct_by_coverage(Rounds *r, const StateCandidate *c) {
  Bitset lines = {0};
  for (uint32_t i = 0; bitset_next(&r->score.corrected, &i); i++)
    if (bitset_has(&c->run.hits, i))
      bitset_add(&lines, i);
  if (bitset_count(&lines))
    score_correct(&r->score, &lines);
  bitset_release(&lines);
}

static void take(Rounds *r, size_t k) {
  const StateCandidate *c = candidate(r, k);
  Round round = {.candidate = k, .switched = r->switched};
  round.relation = score_add(&r->score, &(ScoreTest){&c->run.hits, &c->broken});
  if (round.relation == TEST_SAME && r->options.correct) {
    correct_by_coverage(r, c);
    correct(r, c);
  }
  for (size_t i = 0; i < r->score.items.len; i++)
    array_push(&round.rating, r->score.items.items[i]);
  r->apart += round.relation == TEST_APART;
  r->switched |= r->score.unchanged >= ROUNDS_STALE;
  r->idle = 0;
  array_push(&r->taken, round);
}

int rounds_next(Rounds *r, bool *more, Err *err) {
  size_t i;
  *more = true;
  while ((i = pick(r)) == SIZE_MAX)
    if (make_more(r, more, err) || !*more)
      return *more ? -1 : 0;
  r->offers.items[i].used = true;
  take(r, r->offers.items[i].candidate);
  return 0;
}
