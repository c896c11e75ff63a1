// Boolean circuits in an incremental SAT solver: see gates.h.
#include "solve/gates.h"

#include <assert.h>
#include <ccadical.h>
#include <stdlib.h>
#include <time.h>

#include "util/clock.h"
#include "util/mem.h"

typedef enum { KIND_AND = 1, KIND_XOR, KIND_MUX, KIND_MAJORITY } Kind;

typedef struct {
  int kind; // 0: free slot
  Lit in[3], out;
} Gate;

struct Gates {
  CCaDiCaL *sat;
  Gate *slots;
  size_t len, cap; // cap is a power of two
  int vars;
  uint64_t clauses;
  double deadline;
};

// --- solver -----------------------------------------------------------------

static int past_deadline(void *state) {
  const Gates *g = state;
  return clock_now() > g->deadline;
}

static void clause(Gates *g, const Lit *lits, int n) {
  for (int i = 0; i < n; i++)
    ccadical_add(g->sat, lits[i]);
  ccadical_add(g->sat, 0);
  g->clauses++;
}

#define CLAUSE(g, ...)                                                         \
  clause(g, (const Lit[]){__VA_ARGS__},                                        \
         (int)(sizeof((const Lit[]){__VA_ARGS__}) / sizeof(Lit)))

// Queries are many and small: no rewriting of the clauses between them, and
// the run's values first, always.
static void configure(CCaDiCaL *sat) {
  static const struct {
    const char *name;
    int value;
  } options[] = {
      {"phase", 0}, {"forcephase", 1}, {"inprocessing", 0}, {"quiet", 1},
      {"lucky", 0}, {"walk", 0},       {"rephase", 0},
  };
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    ccadical_set_option(sat, options[i].name, options[i].value);
}

Gates *gates_new(void) {
  Gates *g = mem_new(Gates);
  g->sat = ccadical_init();
  configure(g->sat);
  g->cap = 1024;
  g->slots = mem_array(Gate, g->cap);
  g->vars = 1;
  CLAUSE(g, LIT_TRUE);
  return g;
}

void gates_free(Gates *g) {
  if (!g)
    return;
  ccadical_release(g->sat);
  free(g->slots);
  free(g);
}

void gates_require(Gates *g, Lit a, Lit b) { CLAUSE(g, a, b); }
void gates_assume(Gates *g, Lit l) { ccadical_assume(g->sat, l); }

GatesResult gates_solve(Gates *g, uint32_t conflicts, double deadline) {
  g->deadline = deadline;
  ccadical_set_terminate(g->sat, g, past_deadline);
  ccadical_limit(g->sat, "conflicts", (int)conflicts);
  int r = ccadical_solve(g->sat);
  return r == 10 ? GATES_SAT : r == 20 ? GATES_UNSAT : GATES_UNKNOWN;
}

bool gates_model(const Gates *g, Lit l) { return ccadical_val(g->sat, l) > 0; }

uint32_t gates_count(const Gates *g) { return (uint32_t)g->vars; }
uint64_t gates_clauses(const Gates *g) { return g->clauses; }

// --- gates that exist -------------------------------------------------------

static size_t slot_of(const Gates *g, const Gate *gate) {
  uint64_t h = (uint64_t)gate->kind;
  for (int i = 0; i < 3; i++)
    h = (h ^ h >> 29 ^ (uint32_t)gate->in[i]) * 0x9e3779b97f4a7c15ull;
  size_t i = h >> 32 & (g->cap - 1);
  for (;; i = (i + 1) & (g->cap - 1)) {
    const Gate *s = &g->slots[i];
    if (!s->kind || (s->kind == gate->kind && s->in[0] == gate->in[0] &&
                     s->in[1] == gate->in[1] && s->in[2] == gate->in[2]))
      return i;
  }
}

static void grow(Gates *g) {
  Gate *old = g->slots;
  size_t n = g->cap;
  g->cap *= 2;
  g->slots = mem_array(Gate, g->cap);
  for (size_t i = 0; i < n; i++)
    if (old[i].kind)
      g->slots[slot_of(g, &old[i])] = old[i];
  free(old);
}

Lit gate_input(Gates *g, bool run) {
  int v = ++g->vars;
  return run ? -v : v;
}

// The output of this gate; *fresh if its clauses are still to be written.
static Lit output(Gates *g, Gate gate, bool run, bool *fresh) {
  if (g->len * 4 >= g->cap * 3)
    grow(g);
  Gate *s = &g->slots[slot_of(g, &gate)];
  *fresh = !s->kind;
  if (*fresh) {
    gate.out = gate_input(g, run);
    *s = gate;
    g->len++;
  }
  return s->out;
}

// --- gates ------------------------------------------------------------------

static void swap_if(bool wanted, Lit *a, Lit *b) {
  if (wanted) {
    Lit t = *a;
    *a = *b;
    *b = t;
  }
}

Lit gate_and(Gates *g, Lit a, Lit b) {
  if (a == LIT_FALSE || b == LIT_FALSE || a == -b)
    return LIT_FALSE;
  if (a == LIT_TRUE || a == b)
    return b;
  if (b == LIT_TRUE)
    return a;
  swap_if(a > b, &a, &b);
  bool fresh, run = lit_in_run(a) && lit_in_run(b);
  Lit o = output(g, (Gate){KIND_AND, {a, b, 0}, 0}, run, &fresh);
  if (fresh) {
    CLAUSE(g, -o, a);
    CLAUSE(g, -o, b);
    CLAUSE(g, o, -a, -b);
  }
  return o;
}

Lit gate_or(Gates *g, Lit a, Lit b) { return -gate_and(g, -a, -b); }

static Lit fresh_xor(Gates *g, Lit a, Lit b) {
  bool fresh, run = lit_in_run(a) != lit_in_run(b);
  Lit o = output(g, (Gate){KIND_XOR, {a, b, 0}, 0}, run, &fresh);
  if (fresh) {
    CLAUSE(g, -o, a, b);
    CLAUSE(g, -o, -a, -b);
    CLAUSE(g, o, -a, b);
    CLAUSE(g, o, a, -b);
  }
  return o;
}

Lit gate_xor(Gates *g, Lit a, Lit b) {
  if (lit_is_const(a))
    return a == LIT_TRUE ? -b : b;
  if (lit_is_const(b))
    return b == LIT_TRUE ? -a : a;
  if (a == b)
    return LIT_FALSE;
  if (a == -b)
    return LIT_TRUE;
  bool negate = (a < 0) != (b < 0);
  a = abs(a);
  b = abs(b);
  swap_if(a > b, &a, &b);
  Lit o = fresh_xor(g, a, b);
  return negate ? -o : o;
}

static Lit fresh_mux(Gates *g, Lit c, Lit a, Lit b) {
  bool fresh, run = lit_in_run(c) ? lit_in_run(a) : lit_in_run(b);
  Lit o = output(g, (Gate){KIND_MUX, {c, a, b}, 0}, run, &fresh);
  if (fresh) {
    CLAUSE(g, -c, -a, o);
    CLAUSE(g, -c, a, -o);
    CLAUSE(g, c, -b, o);
    CLAUSE(g, c, b, -o);
    CLAUSE(g, -a, -b, o); // these two follow, and help to propagate
    CLAUSE(g, a, b, -o);
  }
  return o;
}

Lit gate_mux(Gates *g, Lit c, Lit a, Lit b) {
  if (c == LIT_TRUE || a == b)
    return a;
  if (c == LIT_FALSE)
    return b;
  if (c < 0) {
    c = -c;
    swap_if(true, &a, &b);
  }
  if (a == -b)
    return -gate_xor(g, c, a);
  if (a == LIT_TRUE || a == c)
    return gate_or(g, c, b);
  if (a == LIT_FALSE || a == -c)
    return gate_and(g, -c, b);
  if (b == LIT_TRUE || b == -c)
    return gate_or(g, -c, a);
  if (b == LIT_FALSE || b == c)
    return gate_and(g, c, a);
  if (a < 0)
    return -fresh_mux(g, c, -a, -b);
  return fresh_mux(g, c, a, b);
}

static Lit fresh_majority(Gates *g, Lit a, Lit b, Lit c) {
  bool fresh, run = lit_in_run(a) + lit_in_run(b) + lit_in_run(c) >= 2;
  Lit o = output(g, (Gate){KIND_MAJORITY, {a, b, c}, 0}, run, &fresh);
  if (fresh) {
    CLAUSE(g, -o, a, b);
    CLAUSE(g, -o, a, c);
    CLAUSE(g, -o, b, c);
    CLAUSE(g, o, -a, -b);
    CLAUSE(g, o, -a, -c);
    CLAUSE(g, o, -b, -c);
  }
  return o;
}

Lit gate_majority(Gates *g, Lit a, Lit b, Lit c) {
  swap_if(a > b, &a, &b);
  swap_if(b > c, &b, &c);
  swap_if(a > b, &a, &b);
  if (a == LIT_TRUE || b == LIT_TRUE || c == LIT_TRUE)
    return a == LIT_TRUE   ? gate_or(g, b, c)
           : b == LIT_TRUE ? gate_or(g, a, c)
                           : gate_or(g, a, b);
  if (a == LIT_FALSE || b == LIT_FALSE || c == LIT_FALSE)
    return a == LIT_FALSE   ? gate_and(g, b, c)
           : b == LIT_FALSE ? gate_and(g, a, c)
                            : gate_and(g, a, b);
  if (a == b || a == -c)
    return a == b ? a : b;
  if (b == c || a == -b)
    return b == c ? b : c;
  if (b == -c)
    return a;
  return fresh_majority(g, a, b, c);
}
