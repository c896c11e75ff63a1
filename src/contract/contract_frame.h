// The memory before a call, in its wrapper: kept for clauses that speak of it,
// and compared with what `assigns` allows to change.
#ifndef CULPRIT_CONTRACT_CONTRACT_FRAME_H
#define CULPRIT_CONTRACT_CONTRACT_FRAME_H

#include "contract/contract_emit.h"
#include "contract/contract_scan.h"

// Do clauses of the function read the memory before the call? Call it after
// emit_olds().
bool emit_needs_state(const Emitter *e, const Annotation *a);

// Declares __culprit_pre, and fills it with what the parameters (e->params) and
// the clauses name.
void emit_state(Emitter *e, const Annotation *a, const ContractSource *s);

// What may change, evaluated before the call: __culprit_frame_K for the first
// `assigns` of each behavior, number K.
void emit_frames(Emitter *e, const Annotation *a);
// After the call. Nothing for clauses that are part of another's frame.
void emit_frame_check(Emitter *e, const Annotation *a, size_t k,
                      const char *function);

#endif
