// Boolean circuits in an incremental SAT solver (CaDiCaL). Equal gates exist
// once; each becomes a variable with its clauses when it is made.
//
// Every literal has a value under the run, and its sign says which: a literal
// is true in the run exactly if it is negative. A new variable is false in the
// run by construction (its gate is the variable or its negation, as needed).
// So the solver, which tries false first, starts from the run and departs from
// it only where the question makes it: models change few inputs.
//
//   Gates *g = gates_new();
//   Lit a = gate_input(g, true), b = gate_input(g, false);
//   gates_assume(g, gate_and(g, a, b));
//   if (gates_solve(g, 1000, deadline) == GATES_SAT) gates_model(g, b) ...
#ifndef CULPRIT_SOLVE_GATES_H
#define CULPRIT_SOLVE_GATES_H

#include <stdbool.h>
#include <stdint.h>

typedef int Lit; // negation is -
#define LIT_TRUE (-1)
#define LIT_FALSE 1

typedef struct Gates Gates;
typedef enum { GATES_SAT, GATES_UNSAT, GATES_UNKNOWN } GatesResult;

Gates *gates_new(void);
void gates_free(Gates *g);

static inline bool lit_in_run(Lit l) { return l < 0; }
static inline bool lit_is_const(Lit l) { return l == 1 || l == -1; }

Lit gate_input(Gates *g, bool run); // a free variable
Lit gate_and(Gates *g, Lit a, Lit b);
Lit gate_or(Gates *g, Lit a, Lit b);
Lit gate_xor(Gates *g, Lit a, Lit b);
Lit gate_mux(Gates *g, Lit c, Lit a, Lit b); // c ? a : b
Lit gate_majority(Gates *g, Lit a, Lit b, Lit c);
// `a or b` holds in every model from now on.
void gates_require(Gates *g, Lit a, Lit b);

// Assumptions count for the next solve only.
void gates_assume(Gates *g, Lit l);
// `deadline`: seconds of clock_now().
GatesResult gates_solve(Gates *g, uint32_t conflicts, double deadline);
bool gates_model(const Gates *g, Lit l); // after GATES_SAT

uint32_t gates_count(const Gates *g);
uint64_t gates_clauses(const Gates *g);

#endif
