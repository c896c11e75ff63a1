// Writes a unit in normal form (trace_code.h) down as lowered IR (ir/ir.h).
// Planning has marked which instructions stand for which entities of the map.
#ifndef CULPRIT_LOWER_LOWER_H
#define CULPRIT_LOWER_LOWER_H

#include "plan/plan.h"
#include "trace/trace_code.h"
#include "util/err.h"
#include "util/str.h"

// Before the module is brought into normal form: ties the plan's marks to their
// instructions, which may be replaced.
void lower_keep_marks(LLVMModuleRef m, const Plan *p);

// Appends the file's bytes. Fails, naming function and line, on a constant that
// has no value before the program runs.
int lower_module(const TraceCode *c, Plan *p, Str *out, Err *err);

#endif
