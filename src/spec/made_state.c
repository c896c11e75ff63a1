// States before a call: see made_state.h.
#include "spec/made_state.h"

#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

enum { CELLS_MAX = 4096, TARGETS_MAX = 256 };

void state_release(MadeState *s) {
  array_release(&s->changes);
  free(s->args);
}

void states_release(StateList *l) {
  for (size_t i = 0; i < l->len; i++)
    state_release(&l->items[i]);
  array_release(l);
}

// --- reading ----------------------------------------------------------------

static void overlay(const CellChange *c, uint64_t at, unsigned char *out,
                    size_t n) {
  for (unsigned i = 0; i < c->size; i++) {
    uint64_t byte = c->address + i - at; // wraps if it lies before
    if (byte < n)
      out[byte] = (unsigned char)(c->value >> (8 * i));
  }
}

bool state_read(void *state, uint64_t at, void *out, size_t n) {
  const MadeState *s = state;
  if (!snapshot_load(s->snapshot, at, out, n))
    return false;
  for (size_t i = 0; i < s->changes.len; i++)
    if (!s->changes.items[i].argument)
      overlay(&s->changes.items[i], at, out, n);
  return true;
}

const unsigned char *state_args(const MadeState *s) {
  return s->args ? s->args : s->snapshot->args;
}

void state_patch(const MadeState *s, Patch *out) {
  patch_set_args(out, state_args(s), s->snapshot->args_size);
  for (size_t i = 0; i < s->changes.len; i++) {
    const CellChange *c = &s->changes.items[i];
    if (!c->argument)
      patch_add(out, c->address, &c->value, c->size);
  }
}

EncodeTarget state_target(const MadeState *s, Program *program,
                          uint32_t wrapper) {
  return (EncodeTarget){.program = program,
                        .wrapper = wrapper,
                        .read = state_read,
                        .context = (void *)s,
                        .args = state_args(s),
                        .nargs = s->snapshot->args_size};
}

void state_show(const MadeState *s, Str *out) {
  for (size_t i = 0; i < s->changes.len; i++) {
    const CellChange *c = &s->changes.items[i];
    str_addf(
        out, c->argument ? "%sargument byte %llu = %lld" : "%s0x%llx = %lld",
        i ? ", " : "", (unsigned long long)c->address, (long long)c->value);
  }
}

// --- symbolic cells ---------------------------------------------------------

typedef struct {
  uint64_t address;
  bool argument;
  uint8_t width;
  VarId var;
  Targets targets; // of a pointer
} StateCell;

typedef struct {
  const StateMaker *maker;
  const MadeState *from;
  Encoder encoder;
  double deadline; // for following; 0: none
  ARRAY(StateCell) cells;
  size_t nextra;
  Constraint extra[2 * CONTRACT_CLAUSES_MAX + 4];
} Making;

static bool is_writable(const Snapshot *s, uint64_t at) {
  const Region *r = snapshot_region(s, at);
  return r && r->flags & SNAPSHOT_WRITE;
}

static bool is_data(const Snapshot *s, uint64_t at) {
  return snapshot_load(s, at, &(char){0}, 1);
}

// Objects that only the encoding has cannot be put into a process.
static void keep_real(const Snapshot *s, Targets *t) {
  size_t n = 0;
  for (size_t i = 0; i < t->len; i++)
    if (!t->items[i] || is_data(s, t->items[i]))
      t->items[n++] = t->items[i];
  t->len = n;
}

static Val symbolic_pointer(Making *m, StateCell *c, uint64_t key,
                            uint64_t now) {
  Encoder *e = &m->encoder;
  if (now && !is_data(m->from->snapshot, now))
    return 0;
  pointees_of(&e->pointees, 0, key, now, &c->targets);
  keep_real(m->from->snapshot, &c->targets);
  if (c->targets.len < 2 || c->targets.len > TARGETS_MAX)
    return 0;
  size_t run = 0;
  for (size_t i = 0; i < c->targets.len; i++)
    run = c->targets.items[i] == now ? i : run;
  return val_any_of(&e->values, c->targets.items, c->targets.len, run);
}

// What memory asks for: the value of a cell that may be changed, or 0.
static Val symbolic(void *context, const PreCell *cell, uint64_t now) {
  Making *m = context;
  Encoder *e = &m->encoder;
  uint64_t offset = cell->address - e->args;
  StateCell c = {.argument = e->args && offset < m->from->snapshot->args_size,
                 .width = cell->width,
                 .var = expr_var_count(e->pool)};
  c.address = c.argument ? offset : cell->address;
  if (m->cells.len >= CELLS_MAX || cell->width % 8 ||
      (!c.argument && !is_writable(m->from->snapshot, cell->address)))
    return 0;
  Val v = 0;
  if (cell->pointer)
    v = symbolic_pointer(m, &c, encode_cell_name(e, cell->address), now);
  else if (cell->width < 64 || !is_data(m->from->snapshot, now))
    v = val_free(&e->values, cell->width, now);
  if (v)
    array_push(&m->cells, c);
  else
    array_release(&c.targets);
  return v;
}

// --- solving ----------------------------------------------------------------

static uint64_t cell_value(const StateCell *c, uint64_t model) {
  if (!c->targets.len)
    return model;
  return c->targets.items[model < c->targets.len ? model : c->targets.len - 1];
}

static const StateCell *cell_of(const Making *m, VarId var) {
  for (size_t i = 0; i < m->cells.len; i++)
    if (m->cells.items[i].var == var)
      return &m->cells.items[i];
  return NULL;
}

static void apply_args(const MadeState *from, MadeState *to) {
  size_t n = from->snapshot->args_size;
  to->args = mem_dup(state_args(from), n + !n);
  for (size_t i = 0; i < to->changes.len; i++)
    if (to->changes.items[i].argument)
      overlay(&to->changes.items[i], 0, to->args, n);
}

static MadeState changed(const Making *m, const Model *model, uint32_t line) {
  MadeState s = {.snapshot = m->from->snapshot, .turned = line};
  for (size_t i = 0; i < m->from->changes.len; i++)
    array_push(&s.changes, m->from->changes.items[i]);
  for (size_t i = 0; i < model->len; i++) {
    const StateCell *c = cell_of(m, model->items[i].var);
    if (c)
      array_push(&s.changes,
                 (CellChange){c->address, cell_value(c, model->items[i].value),
                              c->width / 8, c->argument});
  }
  apply_args(m->from, &s);
  return s;
}

static void add_extra(Making *m, Expr cond, bool outcome) {
  if (cond && !expr_is_const(m->encoder.pool, cond) &&
      m->nextra < 2 * CONTRACT_CLAUSES_MAX)
    m->extra[m->nextra++] = (Constraint){cond, outcome};
}

static void require(Making *m) {
  for (uint32_t k = 0; k < m->maker->table->nclauses; k++)
    if (m->maker->table->clauses[k].kind == CLAUSE_REQUIRES) {
      add_extra(m, encoder_clause(&m->encoder, k), true);
      add_extra(m, encoder_clause_dead(&m->encoder, k), false);
    }
}

static void turn_branches(Making *m, double deadline, StateList *out) {
  Encoder *e = &m->encoder;
  Solver *s = solver_new(e->pool, (SolverLimits){.seconds = 2});
  Model model = {0};
  require(m);
  size_t fixed = m->nextra;
  for (size_t i = 0; i < e->path.len && clock_now() < deadline; i++) {
    Constraint c = e->path.items[i];
    m->nextra = fixed;
    add_extra(m, e->path_dead.items[i], false);
    m->extra[m->nextra++] = (Constraint){c.cond, !c.outcome};
    uint32_t statement = e->path_statement.items[i];
    if (!expr_is_const(e->pool, c.cond) &&
        solver_query(s, solver_len(s), m->extra, m->nextra, &model) ==
            SOLVER_SAT)
      array_push(out, changed(m, &model,
                              statement == UINT32_MAX
                                  ? 0
                                  : e->statements.items[statement].line));
    solver_add(s, c.cond, c.outcome);
  }
  model_release(&model);
  solver_free(s);
}

static void learn(const StateMaker *m, Encoder *e) {
  for (size_t i = 0; m->known && i < m->known->uses.len; i++) {
    PointerUse u = m->known->uses.items[i];
    pointees_note(&e->pointees, u.site, u.cell, u.target);
  }
}

static void making_release(Making *m) {
  for (size_t i = 0; i < m->cells.len; i++)
    array_release(&m->cells.items[i].targets);
  array_release(&m->cells);
  encoder_release(&m->encoder);
}

// The encoder, after the concrete run, with the state symbolic from now on.
static int begin_making(Making *m, ExprPool *pool, Err *err) {
  EncodeTarget target =
      state_target(m->from, m->maker->program, m->maker->wrapper);
  encoder_init(&m->encoder, &target, pool);
  learn(m->maker, &m->encoder);
  if (m->deadline > 0)
    m->encoder.deadline = m->deadline;
  int rc = encoder_run(&m->encoder, err);
  m->encoder.memory.symbolic = symbolic;
  m->encoder.memory.symbolic_context = m;
  return rc;
}

// The call from its symbolic state, along the path it took.
static int follow_call(Making *m, ExprPool *pool, Err *err) {
  m->deadline = clock_now() + m->maker->seconds;
  return begin_making(m, pool, err) ? -1 : encoder_follow(&m->encoder, err);
}

int states_make(const StateMaker *maker, const MadeState *from, StateList *out,
                Err *err) {
  Making m = {.maker = maker, .from = from};
  ExprPool *pool = expr_pool_new();
  int rc = follow_call(&m, pool, err);
  if (!rc)
    turn_branches(&m, clock_now() + maker->seconds, out);
  making_release(&m);
  expr_pool_free(pool);
  return rc;
}

// --- bounded verification ---------------------------------------------------

// Some clause does not hold, where it can be evaluated and the end is reached;
// or an assertion does not, wherever the call goes then.
static Expr any_broken(Making *m) {
  const ContractTable *t = m->maker->table;
  ExprPool *p = m->encoder.pool;
  Expr any = expr_bool(p, false);
  for (uint32_t k = 0; k < t->nclauses; k++) {
    Expr holds = t->clauses[k].kind == CLAUSE_ENSURES
                     ? encoder_clause(&m->encoder, k)
                     : 0;
    Expr dead = holds ? encoder_clause_dead(&m->encoder, k) : 0;
    if (dead)
      any = expr_or(p, any, expr_not(p, expr_or(p, holds, dead)));
  }
  any = expr_and(p, any, expr_not(p, encoder_dead(&m->encoder)));
  return expr_or(p, any, encoder_breaks_assertion(&m->encoder));
}

static SolverResult search(Making *m, MadeState *out) {
  enum { CONFLICTS = 50000000, GATES = 60000000, NODES = 4000000 };
  ExprPool *pool = m->encoder.pool;
  Expr broken = any_broken(m);
  Model model = {0};
  require(m);
  if (expr_is_const(pool, broken) && !expr_value(pool, broken))
    return SOLVER_UNSAT;
  add_extra(m, broken, true);
  Solver *s = solver_new(pool, (SolverLimits){.seconds = m->maker->seconds,
                                              .conflicts = CONFLICTS,
                                              .gates = GATES,
                                              .nodes = NODES});
  SolverResult r = solver_query(s, 0, m->extra, m->nextra, &model);
  if (r == SOLVER_SAT)
    *out = changed(m, &model, 0);
  model_release(&model);
  solver_free(s);
  return r;
}

SolverResult state_search(const StateMaker *maker, const MadeState *from,
                          uint32_t bound, MadeState *out, Err *err) {
  Making m = {.maker = maker, .from = from};
  ExprPool *pool = expr_pool_new();
  SolverResult r = SOLVER_UNKNOWN;
  if (!begin_making(&m, pool, err) && !encoder_check(&m.encoder, bound, err))
    r = search(&m, out);
  making_release(&m);
  expr_pool_free(pool);
  return r;
}

// --- random states ----------------------------------------------------------

enum { RANDOM_CELLS = 8 }; // that are given a value

// What a cell holds in the state it is made from.
static uint64_t value_now(const Making *m, const StateCell *c) {
  uint64_t v = 0;
  size_t n = c->width / 8;
  if (c->argument)
    memcpy(&v, state_args(m->from) + c->address, n);
  else
    state_read((void *)m->from, c->address, &v, n);
  return v;
}

// Near what some cell of that size holds: numbers that mean something to each
// other, keys that are equal, sizes that are off by one.
static uint64_t random_number(const Making *m, const StateCell *c,
                              uint64_t *random) {
  const StateCell *other = &m->cells.items[dice_next(random) % m->cells.len];
  uint64_t base = !other->targets.len && other->width == c->width
                      ? value_now(m, other)
                      : dice_next(random) % 8;
  return base + dice_next(random) % 3 - 1;
}

static Expr random_condition(Making *m, const StateCell *c, uint64_t *random) {
  ExprPool *p = m->encoder.pool;
  Expr input = expr_input(p, c->var);
  unsigned width = expr_width(p, input);
  uint64_t value = c->targets.len ? dice_next(random) % c->targets.len
                                  : random_number(m, c, random);
  uint64_t mask = width < 64 ? (1ull << width) - 1 : ~0ull;
  return expr_eq(p, input, expr_const(p, width, value & mask));
}

// One state; false if there is none, or no answer.
static bool random_state(Making *m, Solver *s, uint64_t *random,
                         MadeState *out) {
  Constraint ask[2 * CONTRACT_CLAUSES_MAX + 4 + RANDOM_CELLS];
  size_t n = m->nextra;
  Model model = {0}, best = {0};
  memcpy(ask, m->extra, n * sizeof *ask);
  bool found = false;
  for (int i = 0; i < RANDOM_CELLS; i++) {
    const StateCell *c = &m->cells.items[dice_next(random) % m->cells.len];
    Expr cond = random_condition(m, c, random);
    if (expr_is_const(m->encoder.pool, cond))
      continue;
    ask[n] = (Constraint){cond, true};
    if (solver_query(s, 0, ask, n + 1, &model) != SOLVER_SAT)
      continue;
    n++;
    found = true;
    Model old = best;
    best = model;
    model = old;
  }
  if (found)
    *out = changed(m, &best, 0);
  model_release(&model);
  model_release(&best);
  return found;
}

static void fill_random(Making *m, size_t n, uint64_t *random, StateList *out) {
  double deadline = clock_now() + m->maker->seconds;
  Solver *s = solver_new(m->encoder.pool, (SolverLimits){.seconds = 1});
  require(m);
  for (size_t i = 0; i < n && m->cells.len && clock_now() < deadline; i++) {
    MadeState made = {0};
    if (random_state(m, s, random, &made))
      array_push(out, made);
  }
  solver_free(s);
}

int states_random(const StateMaker *maker, const MadeState *from, size_t n,
                  uint64_t *random, StateList *out, Err *err) {
  Making m = {.maker = maker, .from = from};
  ExprPool *pool = expr_pool_new();
  int rc = follow_call(&m, pool, err);
  if (!rc)
    fill_random(&m, n, random, out);
  making_release(&m);
  expr_pool_free(pool);
  return rc;
}
