// Input for one request of a PHP application that inverts one of its branches
// and keeps the outcomes of those before it.
//
//   path: isset(GET.n), !(10 < (int)GET.n * 2)
//   branch 1 inverted: GET.n = "6"
//   branch 0 inverted: GET.n absent
//
// Candidates first: the value that a term needs is followed down to its inputs
// (input_proposals.c), and branches that this breaks are repaired in the same
// way, a few steps deep. Then Z3 (branch_smt.c). Every answer is evaluated by
// PHP's rules (php/record/term.h) before it counts, so the question to Z3 may
// approximate them.
//
// What a visitor cannot choose keeps its value: results of the database, and
// the session unless the caller can change that too (`session`).
#ifndef CULPRIT_EXPLORE_SOLVE_BRANCH_SOLVER_H
#define CULPRIT_EXPLORE_SOLVE_BRANCH_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/record/term.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

// VAIN_MOST: unanswered questions about one place after which Z3 is not asked
// about it any more.
enum { CHANGES_MOST = 6, ANSWERS_MOST = 4, GUESSES_MOST = 10, VAIN_MOST = 3 };

typedef struct {
  uint32_t var;   // a VAR term
  PhpValue value; // php_null: absent
} InputChange;
typedef ARRAY(InputChange) InputChanges;

typedef struct {
  InputChange items[CHANGES_MOST];
  size_t n;
} InputAnswer;
typedef ARRAY(InputAnswer) InputAnswers;

// Results of opaque functions: md5("x") = "9dd4...". Valid for all requests of
// an exploration.
typedef struct {
  const char *key; // function and result
  size_t len;
  PhpValue argument;
} KnownCall;
typedef struct {
  Hashmap index; // key -> number
  ARRAY(KnownCall) calls;
  Arena arena;
} KnownCalls;

void known_calls_add(KnownCalls *k, const PhpShadows *sh);
// Those of `from` from number `first` on; what is known stays.
void known_calls_copy(KnownCalls *to, const KnownCalls *from, size_t first);
void known_calls_release(KnownCalls *k);
// The argument with which `function` gave `result`; false: not known.
bool known_call_find(const KnownCalls *k, const char *function, PhpValue result,
                     PhpValue *argument);

// Answers of Z3 by question: valid for all requests of an exploration.
typedef struct {
  const char *name;
  PhpValue value;
} NamedChange;
typedef struct {
  uint64_t question;
  uint64_t place; // where it was decided
  bool hopeless;  // nothing at all answered it
  NamedChange items[CHANGES_MOST];
  size_t n; // 0: no answer
} CachedAnswer;
typedef struct {
  Hashmap index;    // question -> number
  Hashmap hopeless; // likewise
  Hashmap vain;     // place -> questions without an answer; 0: one had one
  ARRAY(CachedAnswer) answers;
  Arena arena;
} SolveCache;

void solve_cache_copy(SolveCache *to, const SolveCache *from, size_t first);
void solve_cache_release(SolveCache *c);

typedef struct {
  size_t branches;             // asked for
  size_t by_candidates, by_z3; // answered
  size_t guessed;              // answered by what cannot be evaluated here: an
                               // opaque call with another argument
  size_t fixed;                // depend on nothing that can be chosen
  size_t unsolved;             // no answer was found
  size_t timeouts;             // among these: Z3 took too long
  size_t wrong;                // branches that their own run contradicts
  size_t cached;               // questions that were asked before
  size_t spared;               // Z3 was not asked: it never knew anything there
  size_t late;                 // not tried: the request's time was up,
  size_t late_requests;        // of so many requests
  double z3_seconds;
} SolveStats;

void solve_stats_add(SolveStats *to, const SolveStats *more);

typedef struct {
  const PhpShadows *sh;
  TermEval *ev;
  const KnownCalls *known;
  SolveCache *cache; // may be NULL
  SolveStats *stats; // counted up
  bool session;      // SESSION values may be chosen
  bool no_z3;
  double seconds; // of Z3 for one question; 0: 1
  double until;   // when it has to end (clock_now); 0: never
  Arena *arena;   // of the answers
} BranchSolver;

// Appends the answers to `out`, best first, at most ANSWERS_MOST.
void branch_solve(const BranchSolver *s, uint32_t branch, InputAnswers *out);

// Can the input be chosen by a visitor (or be kept by a session)?
bool input_is_free(const char *name, bool session);

// --- inside -----------------------------------------------------------------

// What `term` would have to be made of so that its truth is `outcome`, under
// the evaluator's present input: one input each.
void propose(const BranchSolver *s, uint32_t term, bool outcome,
             InputChanges *out);
// ... so that its value is `value`.
void propose_value(const BranchSolver *s, uint32_t term, PhpValue value,
                   InputChanges *out);
// Texts that a pattern of preg_match is meant to match; "" if it is too hard.
enum { EXAMPLES_MOST = 6 };
size_t pattern_examples(PhpValue pattern, PhpValue *out, Arena *arena);

typedef struct {
  uint32_t term;
  bool outcome;
} Demand;
typedef ARRAY(Demand) Demands;

// Asks Z3 for input that meets all demands, as far as it can be told. False:
// it knows none.
bool smt_solve(const BranchSolver *s, const Demands *demands, InputAnswer *out);

#endif
