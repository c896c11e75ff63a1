// Writes a plan as one chunk of the section `culprit_map` (see map_format.h).
#ifndef CULPRIT_PLAN_MAP_WRITE_H
#define CULPRIT_PLAN_MAP_WRITE_H

#include "plan/plan.h"
#include "util/str.h"

void map_write(const Plan *p, CounterSize counter_size, Str *out);

#endif
