// Bounds of a contract's loops: see clause_bounds.h.
#include "spec/clause_bounds.h"

#include <string.h>

enum { BLOCKS = 6000 }; // of a run; the loops of a longer one stay as they are

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

static uint32_t most_rounds(const Encoder *e) {
  uint32_t most = (uint32_t)e->pointees.objects.len;
  for (size_t i = 0; i < e->target.program->functions.len; i++) {
    const Flow *f = e->flows[i];
    for (uint32_t k = 0; f && k < f->nloops; k++)
      most = f->loops[k].rounds > most ? f->loops[k].rounds : most;
  }
  return most;
}

void clause_bounds_widen(Encoder *e) {
  uint32_t most = most_rounds(e);
  if (e->blocks > BLOCKS)
    return;
  for (uint32_t i = 0; i < e->target.program->functions.len; i++) {
    Flow *f = e->flows[i];
    if (!f || !f->nloops || is_own(e, i))
      continue;
    for (uint32_t k = 0; k < f->nloops; k++)
      f->loops[k].rounds = most;
  }
}
