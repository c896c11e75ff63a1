// The outcomes of comparisons: which ones requests have shown, and which ones
// culprit has solved for and wants to see.
//
//   n = outcome_goals_aim(g, c)    c was false, and true was never shown
//   outcome_goals_try(g, n)        a request for it is made
//   outcome_goals_show(g, c2)      another request has shown it, or this one
//
// A goal comes first until GOAL_TRIES requests were made for it in vain. A line
// whose goals bring nothing new GOAL_BARREN times in a row loses its
// precedence, because it may have goals without end (a comparison with each row
// of a table). Its goals stay in the queue.
#ifndef CULPRIT_EXPLORE_OUTCOME_GOALS_H
#define CULPRIT_EXPLORE_OUTCOME_GOALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/record/php_record.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

enum { GOAL_TRIES = 3, GOAL_BARREN = 16, GOAL_TEXT = 160 };

// A comparison, in whatever request.
typedef struct {
  uint64_t compare;  // compare_hash
  uint32_t shown;    // bit 0: it was false; bit 1: it was true
  uint32_t goals[2]; // to see it false, to see it true; 0: none
} ComparedSides;

typedef struct {
  uint32_t sides; // number of the comparison
  bool outcome;   // the one to be shown
  const char *file;
  uint32_t line;
  const char *text; // the condition, at most GOAL_TEXT bytes
  uint32_t place;   // number of its line
  uint32_t tries;   // requests made for it
} OutcomeGoal;

typedef struct {
  ARRAY(ComparedSides) sides;
  ARRAY(OutcomeGoal) goals;
  ARRAY(uint32_t) barren; // by place: requests in a row without anything new
  Hashmap index;          // compare_hash -> number in `sides`
  Hashmap places;         // file and line -> number in `barren`
  Arena arena;
} OutcomeGoals;

// The comparison had its outcome. True: it is new.
bool outcome_goals_show(OutcomeGoals *g, const PhpCompare *c);
// Has it had one outcome only?
bool outcome_goals_one_sided(const OutcomeGoals *g, const PhpCompare *c);
// The goal of its other outcome, from 1; 0: that was shown already.
uint32_t outcome_goals_aim(OutcomeGoals *g, const PhpCompare *c);
// Is it still to be shown? False for goal 0.
bool outcome_goals_is_open(const OutcomeGoals *g, uint32_t goal);
bool outcome_goals_comes_first(const OutcomeGoals *g, uint32_t goal);
void outcome_goals_try(OutcomeGoals *g, uint32_t goal);
// The request for it covered that many new lines and outcomes.
void outcome_goals_learn(OutcomeGoals *g, uint32_t goal, size_t news);
void outcome_goals_release(OutcomeGoals *g);

// --- for the checkpoint -----------------------------------------------------

// Adds a comparison that is not there yet.
void outcome_goals_add_sides(OutcomeGoals *g, uint64_t compare, uint32_t shown);
// Adds a goal: `like` without its place; `barren` as the line's count.
void outcome_goals_add(OutcomeGoals *g, const OutcomeGoal *like,
                       uint32_t barren);

#endif
