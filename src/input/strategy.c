// Strategies: which test to make next. See frontier.h; docs/methods.md.
#include <math.h>
#include <stdlib.h>

#include "input/frontier.h"
#include "util/clock.h"
#include "util/mem.h"

static PathStep candidate_step(const Frontier *f, const FlipCandidate *c) {
  const Explored *e = &f->runs.items[c->run];
  PathStep step = e->steps[c->event];
  step.outcome = e->path.events.items[c->event].branch != IR_NONE
                     ? c->edge
                     : !step.outcome;
  return step;
}

// --- coverage ---------------------------------------------------------------

// An edge that no run took: 100; else less the more often its branch was seen.
static double coverage(const Frontier *f, const FlipCandidate *c) {
  if (c->make >= MAKE_SAME)
    return 0;
  const PathEvent *e = &f->runs.items[c->run].path.events.items[c->event];
  if (e->branch != IR_NONE) {
    const IrBranch *b = &f->program->branches.items[e->branch];
    if (c->edge < b->nedges &&
        !bitset_has(&f->covered, b->first_edge + c->edge))
      return 100;
  }
  return 1.0 / (2.0 + e->instance);
}

static void score_coverage(Frontier *f, uint32_t run, FlipCandidate *c,
                           size_t n) {
  (void)run;
  for (size_t i = 0; i < n; i++)
    c[i].score = coverage(f, &c[i]);
}

// --- similarity of paths ----------------------------------------------------

// What is predicted: one condition goes the other way, and all else stays as it
// was in the run (six conditions, the third differs: 83.3 %). To take what
// comes behind the flip for lost would mean to flip the last conditions first,
// which tells nothing about the beginning of the run (docs/internals/input.md).

static uint64_t times(const Hashmap *counts, PathStep step) {
  uint64_t n = 0;
  hashmap_get(counts, &step, sizeof step, &n);
  return n;
}

// How often each step is on the path. Returns how many of them `other` has too.
static size_t count_steps(const Explored *e, Hashmap *counts,
                          const Hashmap *other) {
  size_t same = 0;
  for (size_t i = 0; i < e->nsteps; i++) {
    uint64_t n = times(counts, e->steps[i]) + 1;
    hashmap_put(counts, &e->steps[i], sizeof(PathStep), n);
    same += n <= times(other, e->steps[i]);
  }
  return same;
}

static void raise_to(FlipCandidate *c, double score) {
  c->score = score > c->score ? score : c->score;
}

static void offer(FlipCandidate *c, size_t same, const Explored *e,
                  const Explored *other) {
  raise_to(c, similarity_share(same, e->nsteps, other->nsteps));
}

static void raise_pcs(Frontier *f, uint32_t run, FlipCandidate *c, size_t n,
                      const Explored *failing) {
  const Explored *e = &f->runs.items[run];
  Hashmap ours = {0}, theirs = {0};
  count_steps(failing, &theirs, &ours);
  size_t same = count_steps(e, &ours, &theirs);
  for (size_t i = 0; i < n; i++) {
    if (c[i].make >= MAKE_SAME)
      continue;
    PathStep old = e->steps[c[i].event], new = candidate_step(f, &c[i]);
    bool less = times(&ours, old) <= times(&theirs, old);
    bool more = times(&ours, new) < times(&theirs, new);
    offer(&c[i], same - less + more, e, failing);
  }
  hashmap_release(&ours);
  hashmap_release(&theirs);
}

typedef void Raise(Frontier *f, uint32_t run, FlipCandidate *c, size_t n,
                   const Explored *failing);

// Against all failing runs. Another input for a failing path is quite like it.
static void score_by(Raise *raise, Frontier *f, uint32_t run, FlipCandidate *c,
                     size_t n) {
  for (size_t i = 0; i < n; i++)
    c[i].score = c[i].make == MAKE_SAME ? 100 : 0;
  for (size_t i = 0; i < f->runs.len; i++)
    if (f->runs.items[i].shows)
      raise(f, run, c, n, &f->runs.items[i]);
}

static void score_pcs(Frontier *f, uint32_t run, FlipCandidate *c, size_t n) {
  score_by(raise_pcs, f, run, c, n);
}

// --- the longest stretch ----------------------------------------------------

static PathStep step_at(const Explored *e, size_t i, bool backwards) {
  return e->steps[backwards ? e->nsteps - 1 - i : i];
}

static bool same_steps(PathStep a, PathStep b) {
  return a.condition == b.condition && a.outcome == b.outcome;
}

// best[i]: the longest stretch among the first i steps that the other path has,
// from the beginning or from the end. Paths that are too long for a table are
// compared as far as they agree.
static uint32_t *longest_stretches(const Explored *e, const Explored *other,
                                   bool backwards) {
  const double most = 5e7;
  bool table = (double)e->nsteps * (double)other->nsteps < most;
  uint32_t *best = mem_array(uint32_t, e->nsteps + 1);
  uint32_t *row = mem_array(uint32_t, other->nsteps + 1);
  bool agree = true;
  for (size_t i = 0; i < e->nsteps; i++) {
    PathStep step = step_at(e, i, backwards);
    uint32_t diagonal = 0, longest = best[i];
    agree = agree && i < other->nsteps &&
            same_steps(step, step_at(other, i, backwards));
    for (size_t j = 1; table && j <= other->nsteps; j++) {
      uint32_t above = row[j];
      bool same = same_steps(step, step_at(other, j - 1, backwards));
      row[j] = same ? diagonal + 1 : 0;
      longest = row[j] > longest ? row[j] : longest;
      diagonal = above;
    }
    best[i + 1] = table ? longest : best[i] + agree;
  }
  free(row);
  return best;
}

// One condition differs: the longest stretch is before it or behind it.
static void raise_stretch(Frontier *f, uint32_t run, FlipCandidate *c, size_t n,
                          const Explored *failing) {
  const Explored *e = &f->runs.items[run];
  uint32_t *before = longest_stretches(e, failing, false);
  uint32_t *behind = longest_stretches(e, failing, true);
  for (size_t i = 0; i < n; i++) {
    if (c[i].make >= MAKE_SAME)
      continue;
    uint32_t a = before[c[i].event], b = behind[e->nsteps - 1 - c[i].event];
    offer(&c[i], a > b ? a : b, e, failing);
  }
  free(before);
  free(behind);
}

static void score_subsequence(Frontier *f, uint32_t run, FlipCandidate *c,
                              size_t n) {
  score_by(raise_stretch, f, run, c, n);
}

// --- ties -------------------------------------------------------------------

// On a path with hundreds of conditions all flips are about equally like it.
// So similarity is compared in steps, and among equals comes first what goes
// where no run went; then the site that had fewest tests; then what leaves the
// run early: what fails early has not yet done what most of the lines do.
static double like_now(const Frontier *f, const FlipCandidate *c) {
  enum { STEP = 20, LEVEL = 1000, NEW = 500, TRIED_MAX = 400 };
  uint32_t tried = f->sites.items[c->site].tried;
  double steps = (double)f->runs.items[c->run].nsteps + 1;
  double place = c->make == MAKE_SAME ? 1 : (double)c->event / steps;
  return LEVEL * ceil(c->score / STEP - 1e-9) + NEW * frontier_is_new(f, c) -
         (tried > TRIED_MAX ? TRIED_MAX : tried) - place;
}

// --- similarity of inputs ---------------------------------------------------

static double compare_inputs(const Inputs *a, const Inputs *b) {
  double same = 0, all = 0;
  for (size_t i = 0; i < a->sources.len && i < b->sources.len; i++) {
    const InputSource *x = &a->sources.items[i], *y = &b->sources.items[i];
    size_t longer = x->size > y->size ? x->size : y->size;
    same += similarity_inputs(x->bytes, x->size, y->bytes, y->size) / 100 *
            (double)longer;
    all += (double)longer;
  }
  return all > 0 ? 100 * same / all : 100;
}

enum { SOLVED_AHEAD = 200 }; // candidates of one run whose input is known

static bool is_over(const Frontier *f) {
  return f->deadline > 0 && clock_now() > f->deadline;
}

static void raise_is(Frontier *f, uint32_t run, FlipCandidate *c, size_t n,
                     const Explored *failing) {
  (void)run;
  for (size_t i = 0; i < n; i++) {
    Inputs made;
    if (!c[i].model)
      continue;
    frontier_preview(f, &c[i], &made);
    raise_to(&c[i], compare_inputs(&failing->inputs, &made));
    inputs_release(&made);
  }
}

// Their inputs must be known: each is solved for, and kept.
static void score_is(Frontier *f, uint32_t run, FlipCandidate *c, size_t n) {
  size_t stride = n / SOLVED_AHEAD + 1;
  for (size_t i = 0; i < n; i++) {
    c[i].score = -1;
    if (i % stride == 0 && !is_over(f))
      frontier_solve_ahead(f, &c[i]);
  }
  for (size_t i = 0; i < f->runs.len; i++)
    if (f->runs.items[i].shows)
      raise_is(f, run, c, n, &f->runs.items[i]);
}

// --- splitting the first tie group ------------------------------------------

static double ties_now(const Frontier *f, const FlipCandidate *c) {
  return like_now(f, c) + 1e6 * f->sites.items[c->site].suspect;
}

// --- in turns ---------------------------------------------------------------

// Near tests tell apart what the failing run alone does; tests that go
// elsewhere clear what all near ones have in common. Each second test is one of
// those.
static double mix_now(const Frontier *f, const FlipCandidate *c) {
  return f->solved % 2 ? coverage(f, c) : like_now(f, c);
}

// --- the table --------------------------------------------------------------

static const Strategy strategies[] = {
    {.name = "mix",
     .doc = "pcs and coverage in turns",
     .score = score_pcs,
     .raise = raise_pcs,
     .sites = true,
     .now = mix_now},
    {.name = "pcs",
     .doc = "path most like a failing one: share of conditions in common",
     .score = score_pcs,
     .raise = raise_pcs,
     .now = like_now},
    {.name = "pcs-seq",
     .doc = "the same: longest stretch of conditions in common",
     .score = score_subsequence,
     .raise = raise_stretch,
     .now = like_now},
    {.name = "is",
     .doc = "input most like a failing one",
     .score = score_is,
     .raise = raise_is,
     .now = like_now},
    {.name = "ties",
     .wants_suspects = true,
     .doc = "conditions among the lines that tie for the first place, then pcs",
     .score = score_pcs,
     .raise = raise_pcs,
     .now = ties_now},
    {.name = "coverage",
     .doc = "branches not taken yet, from the failing input",
     .by_coverage = true,
     .sites = true,
     .score = score_coverage},
    {.name = "base",
     .doc = "branches not taken yet, from the empty input",
     .from_empty = true,
     .by_coverage = true,
     .score = score_coverage},
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

const Strategy *strategy_at(size_t i) {
  return i < STRATEGIES ? &strategies[i] : NULL;
}
