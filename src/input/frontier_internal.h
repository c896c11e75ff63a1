// What frontier.c shares with frontier_make.c, candidates that do not negate a
// condition, and frontier_sites.c, the queue of sites.
#ifndef CULPRIT_INPUT_FRONTIER_INTERNAL_H
#define CULPRIT_INPUT_FRONTIER_INTERNAL_H

#include "input/frontier.h"

typedef ARRAY(FlipCandidate) FlipCandidates;

// Adds the candidate unless another has its path, which the hash of its prefix
// and its own step tell.
void frontier_push(Frontier *f, FlipCandidates *out, FlipCandidate c,
                   uint64_t prefix);

// The step of a candidate from MAKE_OTHER on: its site.
PathStep frontier_own_step(const Frontier *f, const FlipCandidate *c);
// How many runs a step counts as seen by that is no condition of the program; 0:
// it is one, or each of its candidates is for something new.
uint32_t frontier_step_costs(PathStep step);
// Notes where the run's places in tables were fixed.
void frontier_note_values(Frontier *f, uint32_t run);
// Adds the candidate that fixes the place of that event elsewhere.
void frontier_make_others(Frontier *f, uint32_t run, uint32_t event,
                          uint64_t prefix, FlipCandidates *out);
// Adds those that make the run's input longer, and that put texts in.
void frontier_make_more(Frontier *f, uint32_t run, FlipCandidates *out);
SolverResult frontier_solve_other(Frontier *f, const FlipCandidate *c,
                                  Model *model);
// The input of a MAKE_GROW or MAKE_TEXT (caller releases).
void frontier_build(const Frontier *f, const FlipCandidate *c, Inputs *out);

// Is the queue of sites in use, and is it its turn?
bool frontier_has_sites(const Frontier *f);
bool frontier_by_site(const Frontier *f);
// The best of the queue that is not gone; false: there is none.
bool frontier_pop_by_site(Frontier *f, FlipCandidate *out);
// Of the candidate among those of its site; higher comes first.
double frontier_site_score(const Frontier *f, const FlipCandidate *c);

#endif
