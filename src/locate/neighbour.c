// The classical baselines: see neighbour.h.
#include "locate/neighbour.h"

#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "tally/deaths.h"
#include "tally/owner.h"
#include "util/array.h"
#include "util/mem.h"

#define NOBODY UINT32_MAX

// --- sets -------------------------------------------------------------------

static uint64_t word(const Bitset *b, size_t i) {
  return i < b->nwords ? b->words[i] : 0;
}

// How many are in one of them only.
static size_t difference(const Bitset *a, const Bitset *b) {
  size_t words = a->nwords > b->nwords ? a->nwords : b->nwords, n = 0;
  for (size_t i = 0; i < words; i++)
    n += (size_t)__builtin_popcountll(word(a, i) ^ word(b, i));
  return n;
}

static void copy(Bitset *to, const Bitset *from) {
  bitset_release(to);
  bitset_union(to, from);
}

// --- sequences --------------------------------------------------------------

static int by_count(const void *a, const void *b) {
  const EntityCount *x = a, *y = b;
  if (x->count != y->count)
    return x->count < y->count ? -1 : 1;
  return x->entity < y->entity ? -1 : x->entity > y->entity;
}

static Sequence make_sequence(const Spectra *spectra) {
  Sequence s = {.items = mem_array(uint32_t, spectra->ncounts)};
  if (!spectra->ncounts)
    return s;
  EntityCount *sorted =
      mem_dup(spectra->counts, spectra->ncounts * sizeof *sorted);
  qsort(sorted, spectra->ncounts, sizeof *sorted, by_count);
  for (size_t i = 0; i < spectra->ncounts; i++) {
    if (bitset_has(&s.set, sorted[i].entity))
      continue; // said twice
    bitset_add(&s.set, sorted[i].entity);
    s.items[s.len++] = sorted[i].entity;
  }
  free(sorted);
  return s;
}

static Sequence copy_sequence(const Sequence *s) {
  Sequence c = {.items = mem_dup(s->items, s->len * sizeof *s->items),
                .len = s->len};
  copy(&c.set, &s->set);
  return c;
}

static void sequence_release(Sequence *s) {
  free(s->items);
  bitset_release(&s->set);
  *s = (Sequence){0};
}

// The longest part of `a` that comes in the same order in `b`: patience
// sorting over the places in b. `kept`, if not NULL, gets its members.
static size_t common_order(const Sequence *a, const Sequence *b,
                           uint32_t *where, Bitset *kept) {
  uint32_t *last = mem_array(uint32_t, a->len); // by length: a's item that ends
  uint32_t *before = mem_array(uint32_t, a->len); // the best; its predecessor
  size_t best = 0;
  for (uint32_t i = 0; i < b->len; i++)
    where[b->items[i]] = i;
  for (uint32_t i = 0; i < a->len; i++) {
    if (!bitset_has(&b->set, a->items[i]))
      continue;
    size_t lo = 0, hi = best;
    while (lo < hi) {
      size_t mid = lo + (hi - lo) / 2;
      if (where[a->items[last[mid]]] < where[a->items[i]])
        lo = mid + 1;
      else
        hi = mid;
    }
    before[i] = lo ? last[lo - 1] : NOBODY;
    last[lo] = i;
    best += lo == best;
  }
  if (kept && best)
    for (uint32_t i = last[best - 1]; i != NOBODY; i = before[i])
      bitset_add(kept, a->items[i]);
  free(last);
  free(before);
  return best;
}

// Put in, taken out, and moved.
static size_t sequence_distance(const Sequence *a, const Sequence *b,
                                uint32_t *where) {
  size_t one = difference(&a->set, &b->set);
  size_t both = (a->len + b->len - one) / 2;
  return one + both - common_order(a, b, where, NULL);
}

// --- runs -------------------------------------------------------------------

void neighbours_init(Neighbours *n, const Suite *suite) {
  *n = (Neighbours){.suite = suite};
  tally_init(&n->tally, suite);
  n->owner = owners_find(suite, ENTITY_STATEMENT, TUPLE_KINDS);
  n->sequences = mem_array(Sequence, suite->nruns);
  n->binary = mem_array(Nearest, suite->nruns);
  n->permutation = mem_array(Nearest, suite->nruns);
  n->where = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nruns; i++)
    n->binary[i].run = n->permutation[i].run = NOBODY;
}

static void nearest_release(Nearest *n) {
  bitset_release(&n->hits);
  sequence_release(&n->sequence);
}

void neighbours_release(void *state) {
  Neighbours *n = state;
  for (size_t i = 0; n->suite && i < n->suite->nruns; i++) {
    sequence_release(&n->sequences[i]);
    nearest_release(&n->binary[i]);
    nearest_release(&n->permutation[i]);
  }
  free(n->sequences);
  free(n->binary);
  free(n->permutation);
  free(n->owner);
  free(n->where);
  tally_release(&n->tally);
  *n = (Neighbours){0};
}

static bool has_verdict(const Suite *suite, size_t run, Verdict verdict) {
  const RunInfo *info = &suite->runs[run];
  return info->has_spectrum && info->verdict == verdict;
}

void neighbours_add_failing(void *state, size_t run, const Spectra *spectra) {
  Neighbours *n = state;
  if (!has_verdict(n->suite, run, VERDICT_FAIL))
    return;
  tally_add(&n->tally, run, &spectra->hits[ENTITY_STATEMENT]);
  n->sequences[run] = make_sequence(spectra);
}

static bool is_nearer(const Nearest *n, size_t distance) {
  return n->run == NOBODY || distance < n->distance;
}

static void compare_hits(Neighbours *n, size_t failing, size_t run,
                         const Bitset *hits) {
  Nearest *best = &n->binary[failing];
  size_t d = difference(&n->tally.hits[failing], hits);
  if (!is_nearer(best, d))
    return;
  best->run = (uint32_t)run;
  best->distance = d;
  copy(&best->hits, hits);
}

static void compare_sequences(Neighbours *n, size_t failing, size_t run,
                              const Sequence *sequence) {
  Nearest *best = &n->permutation[failing];
  const Sequence *f = &n->sequences[failing];
  // At least what is not in both must be put in or taken out.
  if (!f->len || !is_nearer(best, difference(&f->set, &sequence->set)))
    return;
  size_t d = sequence_distance(f, sequence, n->where);
  if (!is_nearer(best, d))
    return;
  sequence_release(&best->sequence);
  best->run = (uint32_t)run;
  best->distance = d;
  best->sequence = copy_sequence(sequence);
}

void neighbours_add_run(void *state, size_t run, const Spectra *spectra) {
  Neighbours *n = state;
  const Bitset *hits = &spectra->hits[ENTITY_STATEMENT];
  if (has_verdict(n->suite, run, VERDICT_FAIL))
    return; // is there
  tally_add(&n->tally, run, hits);
  if (!has_verdict(n->suite, run, VERDICT_PASS))
    return;
  Sequence sequence = make_sequence(spectra);
  for (size_t f = 0; f < n->suite->nruns; f++) {
    if (!has_verdict(n->suite, f, VERDICT_FAIL))
      continue;
    compare_hits(n, f, run, hits);
    if (sequence.len)
      compare_sequences(n, f, run, &sequence);
  }
  sequence_release(&sequence);
}

// --- reports ----------------------------------------------------------------

typedef enum {
  REPORT_UNION,
  REPORT_INTERSECTION,
  NEAREST_BINARY,
  NEAREST_PERMUTATION,
} NeighbourMethod;

// The report for one failure.
typedef struct {
  Scoring *s;
  const Neighbours *n;
  bool others;                 // runs with other failures may be neighbours
  uint32_t *failing, *nearest; // per reported statement: the first such pair
  size_t *distance;
  uint32_t by_hits; // failing runs without counts, or without a neighbour that
                    // has them
} Reporter;

static void report(Reporter *r, uint32_t statement, uint32_t failing,
                   uint32_t nearest, size_t distance) {
  if (r->s->scores.score[statement] == 1)
    return;
  r->s->scores.score[statement] = 1;
  r->failing[statement] = failing;
  r->nearest[statement] = nearest;
  r->distance[statement] = distance;
}

// Is run `o` one that stands beside the passing ones?
static bool is_other(const Reporter *r, uint32_t o) {
  const Suite *suite = r->n->suite;
  return r->others && has_verdict(suite, o, VERDICT_FAIL) &&
         !run_shows(suite, r->s->failure, o);
}

// Of equally near runs the first.
static bool replaces(size_t d, uint32_t run, size_t best, uint32_t best_run) {
  return best_run == NOBODY || d < best || (d == best && run < best_run);
}

static void report_binary(Reporter *r, uint32_t failing) {
  const Neighbours *n = r->n;
  const Bitset *f = &n->tally.hits[failing], *p = &n->binary[failing].hits;
  uint32_t run = n->binary[failing].run;
  size_t d = n->binary[failing].distance;
  for (uint32_t o = 0; o < n->suite->nruns; o++) {
    if (!is_other(r, o))
      continue;
    size_t distance = difference(f, &n->tally.hits[o]);
    if (!replaces(distance, o, d, run))
      continue;
    d = distance;
    run = o;
    p = &n->tally.hits[o];
  }
  for (uint32_t e = 0; run != NOBODY && bitset_next(f, &e); e++)
    if (!bitset_has(p, e))
      report(r, e, failing, run, d);
}

static void report_permutation(Reporter *r, uint32_t failing) {
  const Neighbours *n = r->n;
  const Sequence *f = &n->sequences[failing];
  const Sequence *p = &n->permutation[failing].sequence;
  uint32_t run = n->permutation[failing].run;
  size_t d = n->permutation[failing].distance;
  for (uint32_t o = 0; o < n->suite->nruns && f->len; o++) {
    if (!is_other(r, o) || !n->sequences[o].len)
      continue;
    size_t distance = sequence_distance(f, &n->sequences[o], n->where);
    if (!replaces(distance, o, d, run))
      continue;
    d = distance;
    run = o;
    p = &n->sequences[o];
  }
  if (run == NOBODY) {
    r->by_hits++;
    report_binary(r, failing);
    return;
  }
  Bitset kept = {0};
  common_order(f, p, n->where, &kept);
  for (size_t i = 0; i < f->len; i++) {
    uint32_t e = f->items[i];
    if (!bitset_has(&kept, e) && n->owner[e] != ENTITY_NONE)
      report(r, n->owner[e], failing, run, d);
  }
  bitset_release(&kept);
}

static void report_nearest(Reporter *r) {
  const Suite *suite = r->n->suite;
  const FailureGroup *group = &suite->failures[r->s->failure];
  for (size_t i = 0; i < group->nruns; i++) {
    if (!has_verdict(suite, group->runs[i], VERDICT_FAIL))
      continue;
    if (r->s->variant == NEAREST_BINARY)
      report_binary(r, group->runs[i]);
    else
      report_permutation(r, group->runs[i]);
  }
}

static void report_sets(Reporter *r) {
  const Suite *suite = r->n->suite;
  const Comparison *c = &r->s->runs;
  for (uint32_t e = 0; e < suite->nentities; e++) {
    if (suite->entities[e].kind != ENTITY_STATEMENT)
      continue;
    bool reported = r->s->variant == REPORT_UNION
                        ? c->ef[e] && !c->ep[e]
                        : c->ep[e] == c->passing && c->ef[e] < c->failing;
    if (reported)
      report(r, e, NOBODY, NOBODY, 0);
  }
}

static void explain_suspect(const Reporter *r, Suspect *s) {
  const Suite *suite = r->n->suite;
  uint32_t e = suite->entities[s->entity].kind == ENTITY_FUNCTION && s->carried
                   ? s->carrier
                   : s->entity;
  if (r->s->scores.score[e] != 1)
    return;
  if (r->failing[e] == NOBODY) {
    suspect_explain(s, "set",
                    mem_strdup(r->s->variant == REPORT_UNION
                                   ? "failing runs execute it, no passing run "
                                     "does"
                                   : "all passing runs execute it, not all "
                                     "failing runs do"));
    return;
  }
  suspect_explain(s, "neighbour",
                  mem_printf("here test %s differs from test %s, the nearest "
                             "that passes (distance %zu)",
                             suite->runs[r->failing[e]].test,
                             suite->runs[r->nearest[e]].test, r->distance[e]));
}

static void explain(const Scoring *s, Ranking *out) {
  const Reporter *r = s->work;
  for (size_t i = 0; i < out->suspects.len && i < s->options->explain; i++)
    explain_suspect(r, &out->suspects.items[i]);
  if (r->by_hits && out->suspects.len)
    ranking_note(out, "hits",
                 mem_printf("%u of %u failing runs have no counts, or no "
                            "passing run has: their nearest neighbour is the "
                            "one by binary distance; build with "
                            "CULPRIT_MODE=counts",
                            r->by_hits, out->failing));
}

// --- the localizers ---------------------------------------------------------

static void rank(Scoring *s) {
  const Neighbours *n = s->state;
  size_t size = n->suite->nentities;
  Reporter *r = arena_new(&s->arena, Reporter);
  scoring_begin(s, &n->tally);
  scoring_clear(s);
  *r = (Reporter){.s = s,
                  .n = n,
                  .others = s->options->others_pass || s->runs.stand_in,
                  .failing = arena_array(&s->arena, uint32_t, size),
                  .nearest = arena_array(&s->arena, uint32_t, size),
                  .distance = arena_array(&s->arena, size_t, size)};
  s->work = r;
  if (s->variant == REPORT_UNION || s->variant == REPORT_INTERSECTION)
    report_sets(r);
  else
    report_nearest(r);
}

// Reads the spectra twice: first the failing runs, then the passing runs, which
// are compared with them.
static int load(Neighbours *n, SessionEvidence *s, unsigned what, Err *err) {
  neighbours_init(n, s->suite);
  if (store_each_spectra(s->store, s->suite, what, neighbours_add_failing, n,
                         err))
    return -1;
  return store_each_spectra(s->store, s->suite, what, neighbours_add_run, n,
                            err);
}

static int open_binary(void *state, SessionEvidence *s, Err *err) {
  return load(state, s, 1u << ENTITY_STATEMENT, err);
}

static int open_permutation(void *state, SessionEvidence *s, Err *err) {
  return load(state, s, 1u << ENTITY_STATEMENT | STORE_COUNTS, err);
}

#define NEIGHBOURS                                                             \
  .all_kinds = 1u << ENTITY_STATEMENT, .lists = LIST_LINES,                    \
  .state_size = sizeof(Neighbours), .close = neighbours_release, .rank = rank, \
  .explain = explain

const Localizer neighbour_localizers[] = {
    {.name = "set-union",
     .doc = "executed by a failing run and by no passing run",
     .variant = REPORT_UNION,
     .open = open_binary,
     NEIGHBOURS},
    {.name = "set-intersection",
     .doc = "executed by every passing run, but not by a failing run",
     .variant = REPORT_INTERSECTION,
     .open = open_binary,
     NEIGHBOURS},
    {.name = "nn",
     .doc = "executed by a failing run, but not by the nearest passing one",
     .variant = NEAREST_BINARY,
     .open = open_binary,
     NEIGHBOURS},
    {.name = "nn-perm",
     .doc = "the same; near is what was seen equally often",
     .counts = true,
     .variant = NEAREST_PERMUTATION,
     .open = open_permutation,
     NEIGHBOURS},
    {0}};
