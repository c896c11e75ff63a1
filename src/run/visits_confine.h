// How the application that requests are made to is confined.
#ifndef CULPRIT_RUN_VISITS_CONFINE_H
#define CULPRIT_RUN_VISITS_CONFINE_H

#include "confine/confine.h"
#include "run/visits.h"
#include "util/arena.h"
#include "util/err.h"

// Fills in what the settings have of confinement: `confine`, `tree_is_state` and
// `has_view`. The store and the scratch directory are there. `allowed`: what it
// may write and connect to.
int visits_confine(Visits *v, const ConfinePlan *allowed, Arena *arena,
                   Err *err);
// Does what the application does stay?
bool visits_have_effects(const Visits *v);

#endif
