// Rounds of made tests: see rounds.h.
#include "spec/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "sym/gates.h"

enum {
  RANDOM_STATES = 40, // tried at a time
  STALE = 3,          // rounds without change, then tests that differ
  CANDIDATES_MAX = 2000,
};

static void broken_at_call(const Inquiry *q, const SubjectRun *run,
                           Bitset *out) {
  for (size_t i = 0; i < run->violations.items.len; i++) {
    const Violation *v = &run->violations.items.items[i];
    if (v->call != q->violation->call ||
        strcmp(v->table.function, q->violation->table.function))
      continue;
    for (size_t k = 0; k < v->nbroken; k++)
      bitset_add(out, v->broken[k]);
  }
}

void rounds_open(Rounds *r, Inquiry *q, const RoundsOptions *o) {
  *r = (Rounds){
      .inquiry = q, .options = *o, .start = gates_clock(), .random = o->seed};
  Bitset broken = {0};
  broken_at_call(q, &q->first, &broken);
  score_open(&r->score, q->subject->lines.len, &q->suspects, &broken, o->bonus);
  score_add(&r->score, &(ScoreTest){&q->first.hits, &broken});
  score_correct(&r->score, &q->corrected);
  bitset_release(&broken);
}

static void candidate_release(Candidate *c) {
  state_release(&c->state);
  subject_run_release(&c->run);
  bitset_release(&c->broken);
}

void rounds_close(Rounds *r) {
  for (size_t i = 0; i < r->candidates.len; i++)
    candidate_release(&r->candidates.items[i]);
  array_release(&r->candidates);
  array_release(&r->taken);
  score_close(&r->score);
}

const Candidate *rounds_last(const Rounds *r) {
  return r->taken.len ? &r->candidates.items[array_last(&r->taken)] : NULL;
}

size_t rounds_failing(const Rounds *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->taken.len; i++)
    n += bitset_count(&r->candidates.items[r->taken.items[i]].broken) > 0;
  return n;
}

// --- candidates -------------------------------------------------------------

// Is the run one that the contract can judge?
static bool is_judged(const Rounds *r, const Candidate *c) {
  const Violations *v = &c->run.violations;
  const ContractTable *t = &r->inquiry->violation->table;
  for (uint32_t i = 0; bitset_next(&c->broken, &i); i++)
    if (i < t->nclauses && t->clauses[i].kind == CLAUSE_REQUIRES)
      return false;
  if (v->items.len)
    return bitset_count(&c->broken) > 0; // else another call broke something
  return c->run.outcome.end == END_EXIT &&
         c->run.outcome.status != PATCH_FAILED;
}

static int try_state(Rounds *r, State *s, size_t position, Err *err) {
  Candidate c = {.state = *s, .position = position};
  *s = (State){0};
  if (inquiry_run(r->inquiry, &c.state, &c.run, err)) {
    candidate_release(&c);
    return -1;
  }
  r->made++;
  broken_at_call(r->inquiry, &c.run, &c.broken);
  if (is_judged(r, &c)) {
    array_push(&r->candidates, c);
  } else {
    r->rejected++;
    candidate_release(&c);
  }
  return 0;
}

static int expand(Rounds *r, const State *from, Err *err) {
  Inquiry *q = r->inquiry;
  StateMaker maker = {.program = &q->subject->ir,
                      .wrapper = q->wrapper,
                      .table = &q->violation->table,
                      .known = &q->encoder.pointees,
                      .seconds = r->options.make_seconds};
  StateList made = {0};
  Err ignored;
  int rc = 0;
  // A path that cannot be followed has no neighbours; others may have.
  if (!states_make(&maker, from, &made, &ignored))
    for (size_t i = 0; i < made.len && !rc; i++)
      rc = try_state(r, &made.items[i], i, err);
  states_release(&made);
  return rc;
}

static int make_random(Rounds *r, Err *err) {
  StateList made = {0};
  int rc = 0;
  states_random(&r->inquiry->encoder, &r->inquiry->given, RANDOM_STATES,
                &r->random, &made);
  for (size_t i = 0; i < made.len && !rc; i++)
    rc = try_state(r, &made.items[i], i, err);
  states_release(&made);
  return rc;
}

// More candidates: of the given call first, then of the tests taken.
static int make_more(Rounds *r, bool *any, Err *err) {
  size_t before = r->candidates.len;
  int rc = 0;
  if (r->options.pick == PICK_RANDOM) {
    rc = make_random(r, err);
  } else if (!r->given_expanded) {
    r->given_expanded = true;
    rc = expand(r, &r->inquiry->given, err);
  } else {
    for (size_t i = 0; i < r->taken.len && !rc; i++) {
      size_t k = r->taken.items[i];
      if (r->candidates.items[k].expanded)
        continue;
      r->candidates.items[k].expanded = true;
      State from = r->candidates.items[k].state; // the list may move
      rc = expand(r, &from, err);
      if (r->candidates.len > before)
        break;
    }
  }
  *any = r->candidates.len > before;
  return rc;
}

// --- picking ----------------------------------------------------------------

static size_t covered(const Rounds *r, const Candidate *c) {
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(&r->score.suspects, &i); i++)
    n += bitset_has(&c->run.hits, i);
  return n;
}

static bool is_new_coverage(const Rounds *r, const Candidate *c) {
  if (bitset_equal(&c->run.hits, &r->inquiry->first.hits) &&
      bitset_count(&c->broken))
    return false;
  for (size_t i = 0; i < r->taken.len; i++) {
    const Candidate *t = &r->candidates.items[r->taken.items[i]];
    if (bitset_equal(&t->run.hits, &c->run.hits) &&
        bitset_equal(&t->broken, &c->broken))
      return false;
  }
  return true;
}

// How many suspects it covers and the tests before did not, or the other way
// round.
static size_t difference(const Rounds *r, const Candidate *c) {
  const Candidate *last = rounds_last(r);
  const Bitset *other = last ? &last->run.hits : &r->inquiry->first.hits;
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(&r->score.suspects, &i); i++)
    n += bitset_has(&c->run.hits, i) != bitset_has(other, i);
  return n;
}

static size_t worth(const Rounds *r, const Candidate *c) {
  if (r->options.pick == PICK_RANDOM)
    return 1;
  if (r->options.pick == PICK_NEAREST)
    return c->position + 1;
  return r->score.unchanged >= STALE ? difference(r, c) + 1 : covered(r, c);
}

// The best that is worth something; SIZE_MAX: there is none.
static size_t pick(Rounds *r) {
  size_t best = SIZE_MAX, most = 0;
  for (size_t i = 0; i < r->candidates.len; i++) {
    Candidate *c = &r->candidates.items[i];
    if (c->used)
      continue;
    if (r->options.pick != PICK_RANDOM && !is_new_coverage(r, c)) {
      c->used = true;
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

static bool is_over(const Rounds *r) {
  return r->candidates.len > CANDIDATES_MAX ||
         (r->options.seconds > 0 &&
          gates_clock() - r->start > r->options.seconds);
}

int rounds_next(Rounds *r, bool *more, Err *err) {
  size_t k;
  *more = false;
  while ((k = pick(r)) == SIZE_MAX) {
    bool any;
    if (is_over(r) || make_more(r, &any, err))
      return is_over(r) ? 0 : -1;
    if (!any)
      return 0;
  }
  Candidate *c = &r->candidates.items[k];
  c->used = true;
  array_push(&r->taken, k);
  if (score_add(&r->score, &(ScoreTest){&c->run.hits, &c->broken}) ==
      TEST_APART)
    r->apart++;
  *more = true;
  return 0;
}
