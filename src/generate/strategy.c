// Strategies: which test to make next. See frontier.h; METHODS section 4.
#include <stdlib.h>
#include <string.h>

#include "generate/frontier.h"
#include "generate/made.h"
#include "util/mem.h"

static PathStep candidate_step(const Frontier *f, const Candidate *c) {
  const Explored *e = &f->runs.items[c->run];
  PathStep step = e->steps[c->event];
  step.outcome = e->path.events.items[c->event].branch != IR_NONE
                     ? c->edge
                     : !step.outcome;
  return step;
}

// The first few other inputs for the whole path come between the last flips.
static double same_score(const Candidate *c) { return 97.0 - 4.0 * c->event; }

// --- coverage ---------------------------------------------------------------

// An edge that no run took: 100; else less the more often its branch was seen.
static double coverage(const Frontier *f, const Candidate *c) {
  if (c->make == MAKE_SAME)
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

static void score_coverage(Frontier *f, uint32_t run, Candidate *c, size_t n) {
  (void)run;
  for (size_t i = 0; i < n; i++)
    c[i].score = coverage(f, &c[i]);
}

// --- similarity of paths ----------------------------------------------------

// How many steps of `other` are still to be met, by step.
static void count_steps(const Explored *other, Hashmap *left) {
  for (size_t i = 0; i < other->nsteps; i++) {
    uint64_t n = 0;
    hashmap_get(left, &other->steps[i], sizeof(PathStep), &n);
    hashmap_put(left, &other->steps[i], sizeof(PathStep), n + 1);
  }
}

static bool take_step(Hashmap *left, PathStep step) {
  uint64_t n = 0;
  if (!hashmap_get(left, &step, sizeof step, &n) || !n)
    return false;
  hashmap_put(left, &step, sizeof step, n - 1);
  return true;
}

static bool has_step(const Hashmap *left, PathStep step) {
  uint64_t n;
  return hashmap_get(left, &step, sizeof step, &n) && n;
}

static void offer(Candidate *c, size_t same, size_t length,
                  const Explored *other) {
  size_t longer = length > other->nsteps ? length : other->nsteps;
  double score = longer ? 100.0 * (double)same / (double)longer : 100;
  c->score = score > c->score ? score : c->score;
}

static int by_event(const void *a, const void *b) {
  const Candidate *const *x = a, *const *y = b;
  return (*x)->event < (*y)->event ? -1 : (*x)->event > (*y)->event;
}

static void reset_scores(Candidate *c, size_t n) {
  for (size_t i = 0; i < n; i++)
    c[i].score = c[i].make == MAKE_SAME ? same_score(&c[i]) : 0;
}

// The flips among the candidates, by their place on the path.
static Candidate **sorted_flips(Candidate *c, size_t n, size_t *out) {
  Candidate **list = mem_array(Candidate *, n);
  *out = 0;
  for (size_t i = 0; i < n; i++)
    if (c[i].make != MAKE_SAME)
      list[(*out)++] = &c[i];
  if (*out)
    qsort(list, *out, sizeof *list, by_event);
  return list;
}

// The prefix up to each flip and the flip itself against one failing path, in
// one pass.
static void score_subset(Frontier *f, const Explored *e, Candidate **flips,
                         size_t n, const Explored *other) {
  Hashmap left = {0};
  size_t same = 0, at = 0;
  count_steps(other, &left);
  for (size_t k = 0; k < n; k++) {
    for (; at < flips[k]->event; at++)
      same += take_step(&left, e->steps[at]);
    bool more = has_step(&left, candidate_step(f, flips[k]));
    offer(flips[k], same + more, at + 1, other);
  }
  hashmap_release(&left);
}

static void raise_pcs(Frontier *f, uint32_t run, Candidate *c, size_t n,
                      const Explored *failing) {
  size_t nflips;
  Candidate **flips = sorted_flips(c, n, &nflips);
  score_subset(f, &f->runs.items[run], flips, nflips, failing);
  free(flips);
}

static void score_pcs(Frontier *f, uint32_t run, Candidate *c, size_t n) {
  reset_scores(c, n);
  for (size_t i = 0; i < f->runs.len; i++)
    if (f->runs.items[i].shows)
      raise_pcs(f, run, c, n, &f->runs.items[i]);
}

// The longest stretch of the prefix that the other path has; paths that are too
// long for a table are compared from their beginning.
static void score_stretch(const Explored *e, Candidate **flips, size_t n,
                          const Explored *other) {
  const double most = 5e7;
  bool table = (double)e->nsteps * (double)other->nsteps < most;
  uint32_t *row = mem_array(uint32_t, other->nsteps + 1);
  size_t best = 0, at = 0;
  bool begins = true;
  for (size_t k = 0; k < n; k++) {
    for (; at < flips[k]->event; at++) {
      uint32_t diagonal = 0;
      begins = begins && at < other->nsteps &&
               !memcmp(&e->steps[at], &other->steps[at], sizeof(PathStep));
      if (!table)
        best += begins;
      for (size_t j = 1; table && j <= other->nsteps; j++) {
        uint32_t above = row[j];
        bool same =
            !memcmp(&e->steps[at], &other->steps[j - 1], sizeof(PathStep));
        row[j] = same ? diagonal + 1 : 0;
        best = row[j] > best ? row[j] : best;
        diagonal = above;
      }
    }
    offer(flips[k], best, at + 1, other);
  }
  free(row);
}

static void raise_stretch(Frontier *f, uint32_t run, Candidate *c, size_t n,
                          const Explored *failing) {
  size_t nflips;
  Candidate **flips = sorted_flips(c, n, &nflips);
  score_stretch(&f->runs.items[run], flips, nflips, failing);
  free(flips);
}

static void score_subsequence(Frontier *f, uint32_t run, Candidate *c,
                              size_t n) {
  reset_scores(c, n);
  for (size_t i = 0; i < f->runs.len; i++)
    if (f->runs.items[i].shows)
      raise_stretch(f, run, c, n, &f->runs.items[i]);
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

enum { SOLVED_AHEAD = 1000 }; // candidates of one run whose input is known

// Their inputs must be known: each is solved for, and forgotten again.
static void score_is(Frontier *f, uint32_t run, Candidate *c, size_t n) {
  (void)run;
  size_t stride = n / SOLVED_AHEAD + 1;
  for (size_t i = 0; i < n; i++) {
    Inputs made;
    c[i].score = -1;
    if (i % stride || frontier_preview(f, &c[i], &made) != SOLVER_SAT)
      continue;
    for (size_t k = 0; k < f->runs.len; k++) {
      const Explored *e = &f->runs.items[k];
      double score = e->shows ? compare_inputs(&e->inputs, &made) : -1;
      c[i].score = score > c[i].score ? score : c[i].score;
    }
    inputs_release(&made);
  }
}

// --- splitting the first tie group ------------------------------------------

static bool is_suspect(const Frontier *f, const PathEvent *e) {
  uint32_t line;
  const char *file = program_place(f->program, e->place, &line);
  return frontier_suspects(f, file, line);
}

static void score_ties(Frontier *f, uint32_t run, Candidate *c, size_t n) {
  score_pcs(f, run, c, n);
  const Explored *e = &f->runs.items[run];
  for (size_t i = 0; i < n; i++)
    if (c[i].make != MAKE_SAME &&
        is_suspect(f, &e->path.events.items[c[i].event]))
      c[i].score += 100;
}

// --- in turns ---------------------------------------------------------------

// Near tests tell apart what the failing run alone does; tests that go
// elsewhere clear what all near ones have in common. Each second test is one of
// those.
static double mix_now(const Frontier *f, const Candidate *c) {
  return f->taken % 2 ? c->score : coverage(f, c);
}

// --- the table --------------------------------------------------------------

static const Strategy strategies[] = {
    {.name = "mix",
     .doc = "pcs and coverage in turns",
     .score = score_pcs,
     .raise = raise_pcs,
     .now = mix_now},
    {.name = "pcs",
     .doc = "path most like a failing one: share of conditions in common",
     .score = score_pcs,
     .raise = raise_pcs},
    {.name = "pcs-seq",
     .doc = "the same: longest stretch of conditions in common",
     .score = score_subsequence,
     .raise = raise_stretch},
    {.name = "is", .doc = "input most like a failing one", .score = score_is},
    {.name = "ties",
     .wants_suspects = true,
     .doc = "conditions among the lines that tie for the first place, then pcs",
     .score = score_ties},
    {.name = "coverage",
     .doc = "branches not taken yet, from the failing input",
     .by_coverage = true,
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

const Strategy *strategy_find(const char *name) {
  for (size_t i = 0; i < STRATEGIES; i++)
    if (!strcmp(strategies[i].name, name))
      return &strategies[i];
  return NULL;
}
