// Candidates by site: a site is a condition with an outcome, wherever it is on a
// path. Taken is the site whose outcome was seen least often and tried least
// often, then the best of its candidates. So the thousands of candidates of a
// loop cost no more attempts than a condition that is reached once.
//
//   cost = (attempts + 1) * (1 if no run took it, else 4 * (1 + log2 runs))
#ifndef CULPRIT_INPUT_SITE_QUEUE_H
#define CULPRIT_INPUT_SITE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/similarity.h"
#include "solve/solver.h"
#include "util/array.h"

typedef enum {
  MAKE_FLIP,  // as the run up to this event, which has the other outcome
  MAKE_CASE,  // likewise, into this case of a switch
  MAKE_CUT,   // likewise, where the input was read: it has this size
  MAKE_OTHER, // likewise, a place in a table that was fixed: one not seen there
  MAKE_SAME,  // the whole path, but this input byte differs
  // With these it is not known where the run will go.
  MAKE_GROW,   // a source is longer
  MAKE_TEXT,   // a text of the input is what the program compared it with
  MAKE_MUTANT, // mutated, and known to reach something new
} Make;

typedef struct {
  Make make;
  uint32_t run;    // index of the Explored it comes from
  uint32_t event;  // of its path; MAKE_SAME, MAKE_GROW: number of the candidate
  uint32_t edge;   // that would be taken
  uint32_t choice; // MAKE_CASE: case; MAKE_CUT: size; MAKE_SAME: variable;
                   // MAKE_GROW: source; MAKE_TEXT: of Path.texts
  uint32_t site;   // the step it would take: number of a Site
  Model *model;    // its input, if a strategy needed it; owned
  double score;    // the strategy's; higher comes first
  uint32_t number; // in order of creation
  bool alone;      // was solved without its path (PART_OPTIMISTIC)
} FlipCandidate;

// A condition with an outcome, anywhere on a path. The hundreds of candidates
// that a loop over the input has are one site.
typedef struct {
  PathStep step;
  bool taken;           // by some run
  uint32_t tried, vain; // candidates that had an input, and that had none
  uint32_t paid;        // tried and vain, when the last brought something new
  uint32_t alone;       // of `tried`: solved without their paths
  uint32_t place;       // in Program.places; IR_NONE: not known
  bool suspect;         // its line is among Frontier.suspects
} FlipSite;

// The candidates of one site: a heap.
typedef struct {
  FlipCandidate *items;
  size_t len, cap;
} SiteHeap;

typedef struct {
  ARRAY(SiteHeap) sites; // by number
  size_t len;            // candidates
} SiteQueue;

void site_queue_release(SiteQueue *q);
// Keeps a copy of the candidate, without its model; a higher score comes first.
void site_queue_add(SiteQueue *q, const FlipCandidate *c, double score);
// Takes out the best of that site, which has one.
FlipCandidate site_queue_take(SiteQueue *q, size_t site);

// How far back an outcome is that was tried `attempts` times and taken by `runs`
// runs.
double site_cost(uint32_t attempts, uint32_t runs);

#endif
