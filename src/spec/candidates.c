// Made tests: see candidates.h.
#include "spec/candidates.h"

#include "util/clock.h"

enum { RUN_SHARE = 4 }; // running a brood: times what making it may take

void candidates_open(StateCandidates *c, Inquiry *q, double make_seconds) {
  *c = (StateCandidates){.inquiry = q, .make_seconds = make_seconds};
}

static void candidate_release(StateCandidate *c) {
  state_release(&c->state);
  subject_run_release(&c->run);
  bitset_release(&c->broken);
}

void candidates_close(StateCandidates *c) {
  for (size_t i = 0; i < c->items.len; i++)
    candidate_release(&c->items.items[i]);
  array_release(&c->items);
  array_release(&c->turned);
}

// --- running ----------------------------------------------------------------

void candidates_broken(const Inquiry *q, const SubjectRun *run, Bitset *out) {
  for (size_t i = 0; i < run->violations.items.len; i++) {
    const Violation *v = &run->violations.items.items[i];
    if (!violation_is_of(v, q->contract->function, q->call))
      continue;
    for (size_t k = 0; k < v->nbroken; k++) {
      uint32_t number = contracts_number(&q->subject->contracts,
                                         &v->table.clauses[v->broken[k]]);
      if (number != UINT32_MAX)
        bitset_add(out, number);
    }
  }
}

// Is the run one that the contract can judge?
static bool is_judged(const Inquiry *q, const StateCandidate *c) {
  const Violations *v = &c->run.violations;
  const ContractTables *t = &q->subject->contracts;
  for (uint32_t i = 0; bitset_next(&c->broken, &i); i++)
    if (contracts_clause(t, i)->kind == CLAUSE_REQUIRES)
      return false;
  if (v->items.len)
    return bitset_count(&c->broken) > 0; // else another call broke something
  return c->run.outcome.end == END_EXIT &&
         c->run.outcome.status != PATCH_FAILED;
}

static int try_state(StateCandidates *c, MadeState *s, size_t position,
                     Err *err) {
  StateCandidate made = {.state = *s, .position = position};
  *s = (MadeState){0};
  if (inquiry_run(c->inquiry, &made.state, &made.run, err)) {
    candidate_release(&made);
    return -1;
  }
  c->made++;
  candidates_broken(c->inquiry, &made.run, &made.broken);
  if (is_judged(c->inquiry, &made)) {
    array_push(&c->items, made);
  } else {
    c->rejected++;
    candidate_release(&made);
  }
  return 0;
}

// Runs them all, as far as there is time; takes the states over. Those of a
// long path are many, and each may run as long.
static int try_all(StateCandidates *c, StateList *states, double start,
                   Brood *out, Err *err) {
  int rc = 0;
  *out = (Brood){.made = true, .first = c->items.len};
  double deadline = start + RUN_SHARE * c->make_seconds;
  for (size_t i = 0; i < states->len && !rc && clock_now() < deadline; i++)
    rc = try_state(c, &states->items[i], i, err);
  out->n = c->items.len - out->first;
  out->seconds = clock_now() - start;
  states_release(states);
  return rc;
}

// --- making -----------------------------------------------------------------

static StateMaker maker_of(const StateCandidates *c) {
  Inquiry *q = c->inquiry;
  return (StateMaker){.program = &q->subject->ir,
                      .wrapper = q->wrapper,
                      .table = q->contract,
                      .known = &q->encoder.pointees,
                      .seconds = c->make_seconds};
}

static const MadeState *state_of(const StateCandidates *c, size_t of) {
  return of == CANDIDATE_GIVEN ? &c->inquiry->given : &c->items.items[of].state;
}

static Brood *brood_of(StateCandidates *c, size_t of) {
  size_t place = of == CANDIDATE_GIVEN ? 0 : of + 1;
  while (c->turned.len <= place)
    array_push(&c->turned, (Brood){0});
  return &c->turned.items[place];
}

int candidates_turn(StateCandidates *c, size_t of, Brood *out, Err *err) {
  *out = *brood_of(c, of);
  if (out->made)
    return 0;
  StateMaker maker = maker_of(c);
  StateList made = {0};
  Err ignored; // a path that cannot be followed has no neighbours
  double start = clock_now();
  states_make(&maker, state_of(c, of), &made, &ignored);
  int rc = try_all(c, &made, start, out, err);
  *brood_of(c, of) = *out;
  return rc;
}

int candidates_random(StateCandidates *c, size_t n, uint64_t *random,
                      Brood *out, Err *err) {
  StateMaker maker = maker_of(c);
  StateList made = {0};
  Err ignored;
  double start = clock_now();
  states_random(&maker, &c->inquiry->given, n, random, &made, &ignored);
  return try_all(c, &made, start, out, err);
}
