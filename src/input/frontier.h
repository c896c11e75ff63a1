// What a search knows: the runs it has made, with their paths, and the tests
// that could be made next (the frontier). A strategy says which of those comes
// first; a new one is one function and one row of the table in strategy.c.
//
//   run:        c1 true, c2 false, c3 true
//   candidates: !c1 | c1 && c2 | c1 && !c2 && !c3, each with its predicted path
#ifndef CULPRIT_INPUT_FRONTIER_H
#define CULPRIT_INPUT_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/site_queue.h"
#include "model/input.h"
#include "model/ranking.h"
#include "model/similarity.h"
#include "model/suite.h"
#include "replay/replay.h"
#include "solve/solver.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/hashmap.h"

// What a search may do beside negating conditions in the order of its strategy.
// A strategy that compares paths does it in the tests that go for coverage.
enum {
  PART_SITES = 1,      // the rarest outcome is next (site_queue.h), and runs
                       // that bring nothing are forgotten
  PART_OPTIMISTIC = 2, // a condition that cannot be negated on its path is
                       // negated alone
  PART_GROW = 4,       // inputs get longer
  PART_TEXTS = 8,      // texts that the program compares with are put in
  PART_TABLES = 16,    // places in tables stay open (replay.h, split_tables)
  PART_MUTATE = 32,    // mutations (havoc.h)
  PARTS_ALL = 63
};

typedef struct {
  const char *name, *doc;
  unsigned part;
} SearchPart;
const SearchPart *search_part_at(size_t i); // NULL: no more

// One run with its path.
typedef struct {
  Inputs inputs;
  bool given; // by the user: other inputs for its whole path are made, too
  bool shows; // it shows the failure that is to be explained
  Path path;
  ExprPool *pool;
  Solver *solver;  // constraint i is event i; NULL: freed, to save memory
  PathStep *steps; // step i is event i
  size_t nsteps;
  bool fresh;   // it brought a feature that no run had
  Bitset names; // events about the name of an input file only: a copy of the
                // file has another name
} Explored;

typedef struct Strategy Strategy;

// Values that were seen where a place in a table was fixed.
enum { PINNED_MOST = 64 };
typedef struct {
  uint64_t items[PINNED_MOST];
  uint32_t len;
} PinnedValues;

typedef struct {
  ARRAY(Explored) runs;
  ARRAY(FlipCandidate)
  candidates; // a heap, best first; in no order if the
              // strategy has `now`
  const Program *program;
  const Strategy *strategy;
  unsigned parts;   // PART_*; frontier_init() sets none
  SiteQueue queue;  // candidates by site, if the strategy has `sites`
  Bitset gone;      // numbers of candidates that were taken out of one of
                    // `candidates` and `queue` and may be in the other
  Hashmap features; // edges and how often, of all runs: -> times seen
  Hashmap alike;    // runs with the same features -> how many
  ARRAY(uint32_t) edge_runs; // by edge: how many runs took it
  ARRAY(uint32_t) corpus;    // runs that brought a feature
  Hashmap value_list;        // place -> index in `values`
  ARRAY(PinnedValues) values;
  Bitset covered; // edges that some run took
  bool stale;     // it has grown since the candidates were scored
  Hashmap paths;  // hashes of the paths that were predicted
  Hashmap whole;  // hashes of the paths of the runs
  Hashmap inputs; // hashes of the inputs that were run
  Hashmap
      suspects;    // "file:line" of the statements that tie for the first place
  Hashmap site_of; // PathStep -> number
  ARRAY(FlipSite) sites;
  uint32_t taken;  // candidates taken out
  uint32_t solved; // of those: an input was found
  uint32_t made;   // candidates so far
  size_t raised;   // runs that scores take into account
  double deadline; // clock_now() when nothing more is solved ahead; 0: never
  SolverLimits limits; // of one query; frontier_init() sets the usual ones
} Frontier;

void frontier_init(Frontier *f, const Program *program,
                   const Strategy *strategy);
void frontier_release(Frontier *f);

// Notes edges that a run took.
void frontier_cover(Frontier *f, const Bitset *edges);
// Notes the edges of a run with how often it took them; `counts` has `n`. True
// if that is worth exploring: it is new, or few runs were like it.
bool frontier_learn(Frontier *f, const uint32_t *counts, size_t n, bool *fresh);
// Fills steps and names of a replayed run.
void explored_prepare(Explored *run);
// Takes over the run, which is prepared, and adds its candidates. Conditions on
// its path are added to its solver. False: another run had the same path.
bool frontier_add(Frontier *f, Explored *run);
// Had no run the path of this one? Notes it.
bool frontier_is_other(Frontier *f, const Explored *run);
// A run of the candidate brought something new: its site is worth more.
void frontier_reward(Frontier *f, const FlipCandidate *c);
// Recomputes all scores that may have changed: another run shows the failure,
// or the suspects have changed.
void frontier_rescore(Frontier *f);
// Notes the statements that tie for the first place, and rescores everything.
void frontier_take_suspects(Frontier *f, const Suite *suite, const Ranking *r);
// Would it reach something new: another outcome of a condition, another edge of
// a branch? False if that has often been tried without success.
bool frontier_is_new(const Frontier *f, const FlipCandidate *c);
// Removes the best candidate; false: there is none.
bool frontier_pop(Frontier *f, FlipCandidate *out);

// Solves for the candidate's input: SOLVER_SAT with `out` filled (caller
// releases). An input that was run before is SOLVER_UNSAT.
SolverResult frontier_solve(Frontier *f, FlipCandidate *c, Inputs *out);

// Solves ahead of time and keeps the input in c->model.
SolverResult frontier_solve_ahead(Frontier *f, FlipCandidate *c);
// The input that c->model stands for (caller releases).
void frontier_preview(const Frontier *f, const FlipCandidate *c, Inputs *out);

// Is it known where the candidate's input will go?
bool frontier_predicts(const FlipCandidate *c);
// Does `run`, made of the candidate, begin as predicted? *at: where it left.
bool frontier_confirms(const Frontier *f, const FlipCandidate *c,
                       const Explored *run, size_t *at);

// --- strategies -------------------------------------------------------------

struct Strategy {
  const char *name; // --strategy
  const char *doc;
  bool from_empty;     // starts from the empty input
  bool wants_suspects; // Frontier.suspects must be kept up to date
  bool sites;          // takes candidates from Frontier.queue, too
  bool
      by_coverage; // a score depends on the candidate and Frontier.covered only
  // Scores all candidates of run `run`, which are neighbours in `c`.
  void (*score)(Frontier *f, uint32_t run, FlipCandidate *c, size_t n);
  // Raises scores for another failing run, where it can only raise them. NULL:
  // everything is rescored.
  void (*raise)(Frontier *f, uint32_t run, FlipCandidate *c, size_t n,
                const Explored *failing);
  // The score at this moment, if it depends on more than what `score` computed.
  // May be NULL.
  double (*now)(const Frontier *f, const FlipCandidate *c);
};

const Strategy *strategy_at(size_t i); // NULL: no more

#endif
