// Bounds of a contract's loops: see clause_bounds.h.
#include "spec/clause_bounds.h"

#include <stdlib.h>
#include <string.h>

#include "util/bitset.h"

enum { BLOCKS = 6000 }; // of a run; the loops of a longer one stay as they are

// --- whose code it is -------------------------------------------------------

static bool has_line(const Encoder *e, const char *file, uint32_t line) {
  size_t n = strlen(file);
  char *key = mem_alloc(n + sizeof line);
  uint64_t found;
  memcpy(key, file, n);
  memcpy(key + n, &line, sizeof line);
  bool has = hashmap_get(&e->statement_index, key, n + sizeof line, &found);
  free(key);
  return has;
}

static bool is_own_block(const Encoder *e, const IrBlock *b) {
  const Program *p = e->target.program;
  for (uint32_t i = 0; i < b->n; i++) {
    const IrInst *inst = &p->insts.items[b->first + i];
    IrPlace place = p->places.items[inst->place];
    if (inst->place && inst->flags & IR_STATEMENT &&
        has_line(e, program_name(p, p->sources.items[place.source]),
                 place.line))
      return true;
  }
  return false;
}

// Did the call itself execute some of it?
static bool is_own(const Encoder *e, uint32_t function) {
  const Program *p = e->target.program;
  const IrFunction *f = &p->functions.items[function];
  for (uint32_t b = 0; b < f->nblocks; b++)
    if (is_own_block(e, &p->blocks.items[f->first_block + b]))
      return true;
  return false;
}

// --- what the contract calls ------------------------------------------------

typedef struct {
  const Program *program;
  ARRAY(uint32_t) functions; // in the order they were found
  Bitset found;
} Reach;

static void reach(Reach *r, uint32_t function) {
  const Program *p = r->program;
  if (function == IR_NONE || bitset_has(&r->found, function) ||
      text_starts(program_name(p, p->functions.items[function].name),
                  "__culprit_body_"))
    return;
  bitset_add(&r->found, function);
  array_push(&r->functions, function);
}

static void reach_calls(Reach *r, const IrBlock *b) {
  const Program *p = r->program;
  for (uint32_t i = 0; i < b->n; i++) {
    const IrInst *inst = &p->insts.items[b->first + i];
    if (inst->op != IR_CALL || p->calls.items[inst->a].symbol == IR_NONE)
      continue;
    reach(r, p->symbols.items[p->calls.items[inst->a].symbol].function);
  }
}

// The wrapper and all it calls, but not by way of the body.
static void reach_all(Reach *r, uint32_t wrapper) {
  const Program *p = r->program;
  reach(r, wrapper);
  for (size_t i = 0; i < r->functions.len; i++) {
    const IrFunction *f = &p->functions.items[r->functions.items[i]];
    for (uint32_t b = 0; b < f->nblocks; b++)
      reach_calls(r, &p->blocks.items[f->first_block + b]);
  }
}

// --- bounds -----------------------------------------------------------------

typedef struct {
  uint32_t rounds, calls;
} Most;

static Most most_in_run(const Encoder *e, const Reach *r) {
  Most most = {.rounds = (uint32_t)e->pointees.objects.len};
  for (size_t i = 0; i < e->target.program->functions.len; i++) {
    const UnrollFlow *f = e->flows[i];
    for (uint32_t k = 0; f && k < f->nloops; k++)
      if (f->loops[k].rounds > most.rounds)
        most.rounds = f->loops[k].rounds;
    if (f && bitset_has(&r->found, (uint32_t)i) && f->calls > most.calls)
      most.calls = f->calls;
  }
  return most;
}

void clause_bounds_widen(Encoder *e) {
  Reach r = {.program = e->target.program};
  if (e->blocks > BLOCKS)
    return;
  reach_all(&r, e->target.wrapper);
  Most most = most_in_run(e, &r);
  for (size_t i = 0; i < r.functions.len; i++) {
    uint32_t function = r.functions.items[i];
    if (is_own(e, function))
      continue;
    if (!e->flows[function])
      e->flows[function] = unroll_flow_new(r.program, function, &e->arena);
    UnrollFlow *f = e->flows[function];
    f->calls = most.calls;
    for (uint32_t k = 0; k < f->nloops; k++)
      f->loops[k].rounds = most.rounds;
  }
  array_release(&r.functions);
  bitset_release(&r.found);
}
