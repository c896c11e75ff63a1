// Rating statements: see score.h.
#include "spec/score.h"

#include <math.h>
#include <stdlib.h>

static const double SAME = 1e-9;

void score_open(Score *s, size_t nlines, const Bitset *suspects,
                const Bitset *broken, bool bonus) {
  *s = (Score){.nlines = nlines, .bonus = bonus};
  s->ef = mem_array(uint32_t, nlines + 1);
  s->ep = mem_array(uint32_t, nlines + 1);
  bitset_union(&s->suspects, suspects);
  bitset_union(&s->broken, broken);
}

void score_close(Score *s) {
  bitset_release(&s->suspects);
  bitset_release(&s->broken);
  bitset_release(&s->corrected);
  array_release(&s->items);
  free(s->ef);
  free(s->ep);
  free(s->order);
}

// --- promises ---------------------------------------------------------------

static size_t common(const Bitset *a, const Bitset *b) {
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(a, &i); i++)
    n += bitset_has(b, i);
  return n;
}

TestRelation score_relation(const Score *s, const Bitset *broken) {
  size_t mine = bitset_count(&s->broken), theirs = bitset_count(broken);
  size_t both = common(&s->broken, broken);
  if (!theirs)
    return TEST_PASSES;
  if (!both)
    return TEST_APART;
  return both == mine && both == theirs ? TEST_SAME : TEST_PARTLY;
}

// --- rating -----------------------------------------------------------------

static double share(uint32_t n, uint32_t of) { return of ? (double)n / of : 0; }

// Where there are several faults, no line alone explains all failures: what is
// in the core keeps half of the bonus.
static double bonus(const Score *s, uint32_t line) {
  const double half = 0.5;
  if (!s->bonus)
    return 0;
  if (bitset_has(&s->corrected, line))
    return 1;
  if (!bitset_has(&s->suspects, line))
    return 0;
  return bitset_count(&s->corrected) ? half : 1;
}

static ScoredLine rate(const Score *s, uint32_t line) {
  double f = share(s->ef[line], s->failing), p = share(s->ep[line], s->passing);
  double tarantula = f + p > 0 ? f / (f + p) : 0;
  return (ScoredLine){.line = line,
                      .ef = s->ef[line],
                      .ep = s->ep[line],
                      .suspect = bitset_has(&s->suspects, line),
                      .corrected = bitset_has(&s->corrected, line),
                      .order = s->order ? s->order[line] : 0,
                      .susp = tarantula + bonus(s, line),
                      .confidence = f > p ? f : p};
}

// By rating alone.
static int compare_rating(const ScoredLine *x, const ScoredLine *y) {
  if (fabs(x->susp - y->susp) > SAME)
    return x->susp > y->susp ? -1 : 1;
  if (fabs(x->confidence - y->confidence) > SAME)
    return x->confidence > y->confidence ? -1 : 1;
  return 0;
}

static int compare_evidence(const ScoredLine *x, const ScoredLine *y) {
  int rating = compare_rating(x, y);
  if (rating || x->corrected != y->corrected)
    return rating ? rating : (int)y->corrected - (int)x->corrected;
  return x->order > y->order ? -1 : x->order < y->order;
}

static int compare(const void *a, const void *b) {
  const ScoredLine *x = a, *y = b;
  int evidence = compare_evidence(x, y);
  return evidence ? evidence : x->line < y->line ? -1 : x->line > y->line;
}

// All before it and all like it.
static void number(Score *s) {
  for (size_t i = 0, end; i < s->items.len; i = end) {
    for (end = i + 1;
         end < s->items.len &&
         !compare_evidence(&s->items.items[i], &s->items.items[end]);
         end++)
      ;
    for (size_t k = i; k < end; k++) {
      s->items.items[k].rank_best = (uint32_t)i + 1;
      s->items.items[k].rank = (uint32_t)end;
    }
  }
}

static void rate_all(Score *s) {
  s->items.len = 0;
  for (uint32_t i = 0; i < s->nlines; i++)
    if (s->ef[i] || s->ep[i])
      array_push(&s->items, rate(s, i));
  if (s->items.len)
    qsort(s->items.items, s->items.len, sizeof *s->items.items, compare);
  number(s);
}

void score_correct(Score *s, const Bitset *lines) {
  bitset_release(&s->corrected);
  bitset_union(&s->corrected, lines);
  rate_all(s);
}

void score_order(Score *s, const uint32_t *order) {
  free(s->order);
  s->order = mem_dup(order, s->nlines * sizeof *order);
  rate_all(s);
}

// --- feedback ---------------------------------------------------------------

static void take_out(Bitset *b, uint32_t line) {
  if (bitset_has(b, line))
    b->words[line / 64] &= ~(1ull << line % 64);
}

// Suspects that a test with the same failure made less likely.
static void drop_weaker(Score *s, const ScoredLine *before, size_t n) {
  for (size_t i = 0; i < n; i++) {
    ScoredLine now = rate(s, before[i].line);
    if (now.susp < before[i].susp - SAME &&
        now.confidence < before[i].confidence - SAME) {
      take_out(&s->suspects, before[i].line);
      take_out(&s->corrected, before[i].line);
    }
  }
}

static bool any_changed(const Score *s, const ScoredLine *before, size_t n) {
  for (size_t i = 0; i < n; i++) {
    ScoredLine now = rate(s, before[i].line);
    if (compare_rating(&now, &before[i]))
      return true;
  }
  return false;
}

static void count(Score *s, const ScoreTest *t, bool fails) {
  bitset_tally(t->hits, fails ? s->ef : s->ep, s->nlines);
  s->failing += fails;
  s->passing += !fails;
}

TestRelation score_add(Score *s, const ScoreTest *t) {
  TestRelation relation = score_relation(s, t->broken);
  ARRAY(ScoredLine) before = {0};
  if (relation == TEST_APART)
    return relation;
  for (uint32_t i = 0; bitset_next(&s->suspects, &i); i++)
    if (i < s->nlines)
      array_push(&before, rate(s, i));
  bool first = s->failing == 0;
  count(s, t, relation != TEST_PASSES);
  if (relation == TEST_SAME && !first && s->bonus)
    drop_weaker(s, before.items, before.len);
  s->unchanged =
      any_changed(s, before.items, before.len) ? 0 : s->unchanged + 1;
  rate_all(s);
  array_release(&before);
  return relation;
}
