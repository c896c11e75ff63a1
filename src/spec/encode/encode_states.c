// The states of memory that contracts speak of, and variables they search a
// value for (runtime/contract_state.h), in the encoding. A state is the Pmap
// that memory was: all of it, without the bounds of a process.
#include <string.h>

#include "spec/encode/encode_internal.h"

enum {
  SPANS_MAX = 64,
  AT_MAX = 1 << 12,
  MET_MAX = 64,
  VALUE_AT = 0, // in struct __culprit_search
  NEXT_AT = 32,
};

typedef struct {
  Encoder *e;
  const IrInst *inst;
  const Val *args;
  Pmap *state;
} StateCall;

static Val number(const StateCall *k, unsigned width, uint64_t v) {
  return val_const(&k->e->values, width, v);
}

static uint64_t fixed(const StateCall *k, int arg) {
  return val_in_run(&k->e->values, k->args[arg]);
}

static uint64_t site(const StateCall *k) {
  return (uint64_t)(k->inst - k->e->target.program->insts.items);
}

static Val plus(const StateCall *k, Val at, uint64_t n) {
  const IrInst add = {.op = IR_ADD, .width = 64};
  return val_apply(&k->e->values, &add, at, number(k, 64, n), 0);
}

// --- states -----------------------------------------------------------------

static KeptState *kept_state(Encoder *e, uint64_t key) {
  for (size_t i = 0; i < e->kept.len; i++)
    if (e->kept.items[i].key == key)
      return &e->kept.items[i];
  return NULL;
}

static void keep(Encoder *e, uint64_t key, Pmap state) {
  KeptState *s = kept_state(e, key);
  if (s)
    s->state = state;
  else
    array_push(&e->kept, (KeptState){key, state});
}

static Val open_state(StateCall *k) {
  k->e->before = fixed(k, 0);
  k->e->frames_of_call.len = 0;
  keep(k->e, k->e->before, *k->state);
  return number(k, 32, 0);
}

static Val add_object(StateCall *k) {
  array_push(&k->e->frames_of_call, (KeptObject){fixed(k, 1), fixed(k, 2)});
  return number(k, 32, 0);
}

// Labels have small numbers; the state before the call is where it is kept.
static Val mark_label(StateCall *k) {
  keep(k->e, fixed(k, 1), *k->state);
  return number(k, 32, 0);
}

static Val find_label(StateCall *k) {
  uint64_t id = fixed(k, 1);
  return number(k, 64, id ? id : k->e->before);
}

// An object with what the state has at the place.
static Val read_state(StateCall *k) {
  Encoder *e = k->e;
  const KeptState *kept = kept_state(e, fixed(k, 0));
  uint64_t n = fixed(k, 2);
  if (!kept || !n || n > AT_MAX)
    return k->args[1];
  Pmap then = kept->state;
  uint64_t at =
      memory_new_heap(&e->memory, n, false, encode_site_key(e, k->inst));
  unsigned step = n == 4 || n == 2 || n == 1 ? (unsigned)n : n % 8 ? 1 : 8;
  for (uint64_t i = 0; i < n; i += step) {
    Val v = encode_load(e, &then, plus(k, k->args[1], i), step * 8, step == 8,
                        site(k));
    encode_store(e, k->state, number(k, 64, at + i), v, false, site(k));
  }
  return number(k, 64, at);
}

// --- frames -----------------------------------------------------------------

typedef struct {
  uint64_t n;
  Expr at[SPANS_MAX], size[SPANS_MAX];
} Spans;

static void read_spans(StateCall *k, Spans *s) {
  Encoder *e = k->e;
  s->n = fixed(k, 2) < SPANS_MAX ? fixed(k, 2) : SPANS_MAX;
  for (uint64_t i = 0; i < s->n; i++) {
    s->at[i] = val_expr(&e->values,
                        encode_load(e, k->state, plus(k, k->args[1], i * 16),
                                    64, true, site(k)));
    s->size[i] = val_expr(
        &e->values, encode_load(e, k->state, plus(k, k->args[1], i * 16 + 8),
                                64, false, site(k)));
  }
}

static Expr is_allowed(Encoder *e, const Spans *s, uint64_t address) {
  Expr any = expr_bool(e->pool, false), at = expr_const(e->pool, 64, address);
  for (uint64_t i = 0; i < s->n; i++)
    any =
        expr_or(e->pool, any,
                expr_ult(e->pool, expr_sub(e->pool, at, s->at[i]), s->size[i]));
  return any;
}

static Expr is_same(Encoder *e, Pmap *then, Pmap *now, const PreCell *c) {
  Val a = memory_load(&e->memory, then, c->address, c->width, false);
  Val b = memory_load(&e->memory, now, c->address, c->width, false);
  return a && b ? expr_eq(e->pool, val_expr(&e->values, a),
                          val_expr(&e->values, b))
                : expr_bool(e->pool, true);
}

static Val compare_frames(StateCall *k) {
  Encoder *e = k->e;
  const KeptState *kept = kept_state(e, fixed(k, 0));
  Expr good = expr_bool(e->pool, true);
  Spans spans;
  if (!kept)
    return number(k, 32, 1);
  read_spans(k, &spans);
  Pmap then = kept->state;
  for (size_t i = 0; i < e->frames_of_call.len; i++) {
    PreCells cells = {0};
    KeptObject o = e->frames_of_call.items[i];
    memory_cells(&e->memory, o.at, o.size < AT_MAX ? o.size : AT_MAX, &cells);
    for (size_t c = 0; c < cells.len; c++)
      good = expr_and(e->pool, good,
                      expr_or(e->pool,
                              is_allowed(e, &spans, cells.items[c].address),
                              is_same(e, &then, k->state, &cells.items[c])));
    array_release(&cells);
  }
  return val_of(&e->values, expr_zext(e->pool, good, 32));
}

// --- searches ---------------------------------------------------------------

static Val open_search(StateCall *k) {
  encode_store(k->e, k->state, plus(k, k->args[0], NEXT_AT), number(k, 64, 0),
               false, site(k));
  return number(k, 32, 0);
}

// Values are those of the run.
static Val meet(StateCall *k) {
  Encoder *first = k->e->first;
  uint64_t value = fixed(k, 0);
  bool known = k->e != first || first->met.len >= MET_MAX;
  for (size_t i = 0; i < first->met.len && !known; i++)
    known = first->met.items[i] == value;
  if (!known)
    array_push(&first->met, value);
  return number(k, 32, 0);
}

static Val next_value(StateCall *k) {
  Encoder *e = k->e;
  Val next = plus(k, k->args[0], NEXT_AT);
  uint64_t i = val_in_run(&e->values,
                          encode_load(e, k->state, next, 64, false, site(k)));
  if (i >= e->first->met.len)
    return number(k, 32, 0);
  encode_store(e, k->state, plus(k, k->args[0], VALUE_AT),
               number(k, 64, e->first->met.items[i]), false, site(k));
  encode_store(e, k->state, next, number(k, 64, i + 1), false, site(k));
  return number(k, 32, 1);
}

// In the run the first value is any: it meets the others.
static Val run_value(StateCall *k) {
  if (k->e == k->e->first && !k->e->first->met.len)
    array_push(&k->e->first->met, 0);
  return next_value(k);
}

static const struct {
  const char *name;
  Val (*model)(StateCall *);
} models[] = {{"__culprit_state_open", open_state},
              {"__culprit_state_add", add_object},
              {"__culprit_mark", mark_label},
              {"__culprit_label", find_label},
              {"__culprit_at", read_state},
              {"__culprit_unchanged", compare_frames},
              {"__culprit_search_open", open_search},
              {"__culprit_search_next", run_value},
              {"__culprit_met", meet}};

bool encode_states(Encoder *e, const char *name, const IrInst *i,
                   const Val *args, Pmap *state, Val *result) {
  StateCall k = {e, i, args, state};
  for (size_t m = 0; m < sizeof models / sizeof *models; m++)
    if (!strcmp(models[m].name, name)) {
      *result = models[m].model(&k);
      return true;
    }
  return false;
}
