// Failures of a PHP application by place: one line may show several, in hundreds
// of requests. Failures that name no place stand by themselves.
#ifndef CULPRIT_MODEL_PLACE_GROUP_H
#define CULPRIT_MODEL_PLACE_GROUP_H

#include <stddef.h>

#include "model/suite.h"
#include "util/array.h"
#include "util/str.h"

// suite->failures[first, first + n) name the same place.
typedef struct {
  size_t first, n;
  size_t runs; // that show at least one of them
} PlaceGroup;
typedef ARRAY(PlaceGroup) PlaceGroups;

// Sorts the failures: those of one place together, the place that most runs show
// first; at a place the failure that most runs show, then by signature.
void suite_sort_by_place(Suite *s);

// The places, in the order of the failures, which are sorted that way. `out` is
// empty for a session of another command than `culprit web`.
void suite_places(const Suite *s, PlaceGroups *out);

// The group that begins with this failure; NULL: none does.
const PlaceGroup *place_group_at(const PlaceGroups *groups, size_t failure);

// " at 43 places"; "": they are not grouped by place.
void place_groups_count(const PlaceGroups *groups, Str *out);

#endif
