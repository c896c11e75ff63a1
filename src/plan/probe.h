// Puts a plan into the module: counters, probes, the map, the unit's descriptor
// and its bitcode, all as globals in sections of their own.
#ifndef CULPRIT_PLAN_PROBE_H
#define CULPRIT_PLAN_PROBE_H

#include <llvm-c/Core.h>

#include "plan/plan.h"

// Adds the counters and counts every probe of the plan. With COUNTERS_HITS a
// probe is one store of 1.
void probe_insert(LLVMModuleRef module, const Plan *p, CounterSize size);

// Hits only, after loops were rotated: a probe at the head of a loop is moved
// in front of the loop, where it counts the same once instead of every time.
void probe_hoist(LLVMModuleRef module);

// Adds a constant byte array in the given section that no linker drops.
void probe_add_section(LLVMModuleRef module, const char *name,
                       const char *section, const void *data, size_t size);

// Adds `value` to llvm.used: kept by the compiler and the linker.
void probe_keep(LLVMModuleRef module, LLVMValueRef value);

#endif
