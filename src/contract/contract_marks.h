// States inside a function's body: those of labels (in C, or `ghost L: ;`), of
// loops before they begin (LoopEntry) and of their rounds (LoopCurrent). Where
// some assertion asks for one, the body tells the runtime that it is there:
//
//   Before: swap(a, b);  ->  Before: __culprit_mark("f", 3, 1, (void *)0); ...
//   for (...) { ... }    ->  if (__culprit_mark("f", 4, 0, ...)) {} else
//                            for (...) { ... }
//
// contract_wrap.h takes the lines from these calls.
#ifndef CULPRIT_CONTRACT_CONTRACT_MARKS_H
#define CULPRIT_CONTRACT_CONTRACT_MARKS_H

#include "contract/contract_writer.h"

// Finds them all: s->marks. Again after clauses were left out.
void marks_collect(ContractSource *s);

// Do assertions in the body read the memory before the call?
bool marks_need_state(const ContractSource *s, const Head *h);

// The assertion being written.
typedef struct {
  ContractWriter *w;
  const Check *check;
  const Annotation *a;
  const Annotation *contract; // of the function; NULL: it has none
  const char *function;
} MarkScope;

// Declares the states that the assertions speak of: what marks_find() names.
void marks_declare(Emitter *e, MarkScope *scope);
// For Emitter.find_label: the context is a MarkScope.
const char *marks_find(void *scope, uint32_t token);
// One clause: "__culprit_assert(...);".
void marks_emit_clause(Emitter *e, MarkScope *scope, size_t k);

// What stands at the place of a mark.
void marks_emit(ContractWriter *w, const StateMark *m);
// The parameters that the function never changes.
void marks_constants(const ContractSource *s, const Head *h, EmittedNames *out);

#endif
