// How suspicious statements are, from a core and from tests judged by the
// contract (docs/methods.md): susp = Tarantula + 1 for suspects of the core;
// confidence is Tarantula's; ordered by susp, then confidence.
//
//   Score s;
//   score_open(&s, nlines, &suspects, &broken);   // of the given failure
//   score_add(&s, &test);                         // one test after the other
//   s.items                                       // best first
//   score_close(&s);
//
// Feedback. A failing test that breaks only other clauses is set aside. If a
// failing test that breaks the same clauses lowers both susp and confidence of
// a statement, the statement loses its bonus and is no longer a suspect. A test
// that breaks some of them, or others as well, only counts.
//
// Corrections (ours, not published). If it is known which lines could alone be
// wrong (corrections.h), the other suspects get half of the bonus, and come
// later among lines of the same rating. Of the remaining ties the line that the
// failing call executed last, nearest to the broken clause, comes first
// (score_order).
#ifndef CULPRIT_SPEC_SCORE_H
#define CULPRIT_SPEC_SCORE_H

#include "util/array.h"
#include "util/bitset.h"

typedef struct {
  const Bitset *hits;   // lines
  const Bitset *broken; // clauses; empty: it passes
} ScoreTest;

typedef enum {
  TEST_PASSES,
  TEST_SAME,   // breaks the same clauses as the given failure
  TEST_PARTLY, // some of them, or others too
  TEST_APART,  // only others: set aside
} TestRelation;

typedef struct {
  uint32_t line;
  uint32_t ef, ep;
  bool suspect;   // of the core, and not dropped
  bool corrected; // could alone be wrong
  uint32_t order; // of executing it, later ones first; 0: not known
  double susp, confidence;
  uint32_t rank, rank_best;
} ScoredLine;

typedef struct {
  size_t nlines;
  Bitset suspects;  // that were not dropped
  Bitset broken;    // of the given failure
  Bitset corrected; // those that could alone be wrong
  bool bonus;
  uint32_t *ef, *ep; // of each line
  uint32_t *order;   // of each line: when it was executed; NULL: not known
  uint32_t failing, passing;
  ARRAY(ScoredLine) items; // executed lines, best first
  size_t unchanged;        // tests in a row that changed no suspect's rating
} Score;

void score_open(Score *s, size_t nlines, const Bitset *suspects,
                const Bitset *broken, bool bonus);
void score_close(Score *s);
// The lines that could alone be wrong; none: not known.
void score_correct(Score *s, const Bitset *lines);

// `order` of each line: the later, the nearer to the failure. Copied.
void score_order(Score *s, const uint32_t *order);

TestRelation score_relation(const Score *s, const Bitset *broken);
// Counts the test, unless it is set aside, and updates the rating.
TestRelation score_add(Score *s, const ScoreTest *t);

#endif
