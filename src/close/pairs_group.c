// Which loads are recorded together: see pairs_group.h. The only possible
// definition of a variable is found as constants are: by what each block leaves,
// beginning with "nothing came here", until nothing changes.
#include "close/pairs_group.h"

#include <stdlib.h>
#include <string.h>

#include "util/hashmap.h"

// The number of a definition (PairDefiners); NOWHERE: no way leads here.
enum { NOWHERE = 0xffff, SEVERAL = 0xfffe };

typedef struct {
  LLVMBasicBlockRef block;
  uint16_t *in, *left; // by local; left: NOWHERE if the block does not store it
} ReachBlock;

// A group that the next load may join.
typedef struct {
  size_t group; // in p->groups
  bool open;
} OpenGroup;

typedef struct {
  Pairs *p;
  ARRAY(ReachBlock) blocks;
  Hashmap numbers; // block -> number
  uint16_t *sets;
  uint16_t *now; // by local, while a block is gone through
  // By local: was what it points to accessed in this block, since it was stored?
  bool *sound;
  // Since the last end of a group (ends_group), or the beginning of the block:
  OpenGroup *of_local; // by local
  OpenGroup given;     // arguments that are never stored to
  OpenGroup certain;   // what has one definition
} Grouping;

// --- the only definition ----------------------------------------------------

static uint16_t *sets_of(const Grouping *g, size_t i) {
  return g->sets + i * g->p->locals.len;
}

static const PairLocal *numbered_store(const Pairs *p, LLVMValueRef inst,
                                       size_t *number) {
  if (!LLVMIsAStoreInst(inst))
    return NULL;
  const PairLocal *l = pairs_local(p, LLVMGetOperand(inst, 1));
  *number = l ? (size_t)(l - p->locals.items) : 0;
  return l && l->definers ? l : NULL;
}

static void list_blocks(Grouping *g, const InstList *insts) {
  LLVMBasicBlockRef block = NULL;
  for (size_t i = 0; i < insts->len; i++) {
    LLVMBasicBlockRef b = LLVMGetInstructionParent(insts->items[i]);
    if (b == block)
      continue;
    block = b;
    hashmap_put(&g->numbers, &b, sizeof b, g->blocks.len);
    array_push(&g->blocks, (ReachBlock){.block = b});
  }
}

static ReachBlock *block_of(const Grouping *g, LLVMBasicBlockRef b) {
  uint64_t n = 0;
  hashmap_get(&g->numbers, &b, sizeof b, &n);
  return &g->blocks.items[n];
}

static void note_stores(Grouping *g, const InstList *insts) {
  for (size_t i = 0; i < insts->len; i++) {
    size_t n;
    const PairLocal *l = numbered_store(g->p, insts->items[i], &n);
    if (l)
      block_of(g, LLVMGetInstructionParent(insts->items[i]))->left[n] =
          (uint16_t)pairs_definer(g->p, l->definers, insts->items[i]);
  }
}

static bool meet(uint16_t *to, uint16_t from) {
  if (from == NOWHERE || *to == from || *to == SEVERAL)
    return false;
  *to = *to == NOWHERE ? from : SEVERAL;
  return true;
}

static bool pass_on(Grouping *g, const ReachBlock *b) {
  bool changed = false;
  size_t n = g->p->locals.len;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b->block);
  for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
    uint16_t *in = block_of(g, LLVMGetSuccessor(end, s))->in;
    for (size_t i = 0; i < n; i++)
      changed |= meet(&in[i], b->left[i] == NOWHERE ? b->in[i] : b->left[i]);
  }
  return changed;
}

// In an enormous function nothing is known at the beginning of a block.
static void find_only(Grouping *g, const InstList *insts) {
  const size_t most = (size_t)1 << 25;
  size_t n = g->p->locals.len, nblocks = g->blocks.len;
  bool large = n && nblocks > most / n;
  size_t rows = large ? 2 : 2 * nblocks;
  g->sets = mem_alloc_array(rows, n * sizeof *g->sets);
  for (size_t i = 0; i < rows * n; i++)
    g->sets[i] = NOWHERE;
  for (size_t i = 0; i < nblocks; i++) {
    g->blocks.items[i].in = sets_of(g, large ? 0 : 2 * i);
    g->blocks.items[i].left = sets_of(g, large ? 1 : 2 * i + 1);
  }
  for (size_t i = 0; i < n; i++)
    g->blocks.items[0].in[i] = large ? SEVERAL : 0;
  if (large)
    return;
  note_stores(g, insts);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < nblocks; i++)
      changed |= pass_on(g, &g->blocks.items[i]);
  }
}

// --- groups -----------------------------------------------------------------

static void keep_first(Grouping *g, LLVMValueRef load, PairGroup group) {
  Pairs *p = g->p;
  hashmap_put(&p->firsts, &load, sizeof load, p->groups.len);
  array_push(&p->groups, group);
}

static void add_use(Grouping *g, uint32_t use, uint32_t definers,
                    uint32_t first) {
  array_push(&g->p->unit->plan->uses,
             (VariableUse){.use = use, .definers = definers, .first = first});
}

static uint32_t single_definer(Grouping *g, uint32_t statement) {
  Plan *plan = g->p->unit->plan;
  uint64_t n = hashmap_intern(&g->p->single, &statement, sizeof statement,
                              plan->definers.len);
  if (n == plan->definers.len) {
    VariableDefiners d = {arena_array(&plan->arena, uint32_t, 1), 1};
    d.statements[0] = statement;
    array_push(&plan->definers, d);
  }
  return (uint32_t)n;
}

// The row of a single definition begins one in front of the counter.
static void use_only(Grouping *g, LLVMValueRef load, uint32_t use,
                     const PairDefiners *d, uint16_t number) {
  Plan *plan = g->p->unit->plan;
  if (!number)
    return;
  if (!g->certain.open) {
    g->certain = (OpenGroup){.group = g->p->groups.len, .open = true};
    keep_first(g, load,
               (PairGroup){.kind = GROUP_COUNTER, .first = plan->ncounters++});
  }
  uint32_t counter = g->p->groups.items[g->certain.group].first;
  add_use(g, use, single_definer(g, d->statements[number - 1]), counter - 1);
}

static void use_row(Grouping *g, LLVMValueRef load, uint32_t use, size_t local,
                    const PairDefiners *d) {
  Plan *plan = g->p->unit->plan;
  OpenGroup *o = &g->of_local[local];
  if (!o->open) {
    *o = (OpenGroup){.group = g->p->groups.len, .open = true};
    keep_first(g, load,
               (PairGroup){.kind = GROUP_ROW, .first = plan->ncounters});
    plan->ncounters += d->n + 1;
  }
  add_use(g, use, d->number, g->p->groups.items[o->group].first);
}

static void use_id(Grouping *g, LLVMValueRef load, uint32_t use, OpenGroup *o) {
  if (!o->open) {
    *o = (OpenGroup){.group = g->p->groups.len, .open = true};
    keep_first(g, load, (PairGroup){.kind = GROUP_CHECK});
  }
  PairGroup *group = &g->p->groups.items[o->group];
  for (size_t i = 0; i < group->statements.len; i++)
    if (group->statements.items[i] == use)
      return;
  array_push(&group->statements, use);
}

static void see_load(Grouping *g, LLVMValueRef load) {
  Pairs *p = g->p;
  uint64_t again;
  const PairLocal *l = pairs_local(p, LLVMGetOperand(load, 0));
  if (!l || !l->def || !pairs_is_recorded(p, load) ||
      hashmap_get(&p->again, &load, sizeof load, &again))
    return;
  uint32_t use = close_unit_statement(p->unit, load);
  size_t n = (size_t)(l - p->locals.items);
  if (!l->definers)
    use_id(g, load, use,
           l->given && l->nstores == 1 ? &g->given : &g->of_local[n]);
  else if (g->now[n] == SEVERAL)
    use_row(g, load, use, n, l->definers);
  else if (g->now[n] != NOWHERE)
    use_only(g, load, use, l->definers, g->now[n]);
}

static void see_store(Grouping *g, LLVMValueRef store) {
  const Pairs *p = g->p;
  const PairLocal *l = pairs_local(p, LLVMGetOperand(store, 1));
  if (!l || !l->def)
    return;
  size_t n = (size_t)(l - p->locals.items);
  g->of_local[n].open = g->sound[n] = false;
  if (l->definers)
    g->now[n] = (uint16_t)pairs_definer(g->p, l->definers, store);
}

static void begin_group(Grouping *g) {
  g->given.open = g->certain.open = false;
  for (size_t i = 0; i < g->p->locals.len; i++)
    g->of_local[i].open = false;
}

// --- where a process may end ------------------------------------------------

// A field that the code names, near to what the pointer points to.
static bool is_field(LLVMValueRef step) {
  if (!LLVMIsAGetElementPtrInst(step))
    return false;
  for (unsigned i = 0; i < LLVMGetNumIndices(step); i++)
    if (!LLVMIsAConstantInt(LLVMGetOperand(step, i + 1)))
      return false;
  return true;
}

// May the access end the process? Of the fields of one object only the first.
static bool may_fault(Grouping *g, LLVMValueRef pointer) {
  const Pairs *p = g->p;
  LLVMValueRef object = pairs_object(pointer);
  while (is_field(pointer))
    pointer = LLVMGetOperand(pointer, 0);
  if (pointer == object &&
      (LLVMIsAAllocaInst(object) || LLVMIsAGlobalVariable(object)))
    return false;
  const PairLocal *l = LLVMIsALoadInst(pointer)
                           ? pairs_local(p, LLVMGetOperand(pointer, 0))
                           : NULL;
  if (!l || !l->def)
    return true;
  bool *sound = &g->sound[l - p->locals.items], known = *sound;
  *sound = true;
  return !known;
}

static bool is_division(LLVMOpcode op) {
  return op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem;
}

// May it be that what follows in the block is not executed?
static bool ends_group(Grouping *g, LLVMValueRef inst) {
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  if (op == LLVMLoad || op == LLVMStore)
    return may_fault(g, LLVMGetOperand(inst, op == LLVMStore));
  if (is_division(op))
    return !LLVMIsAConstantInt(LLVMGetOperand(inst, 1));
  if (op == LLVMCall)
    return !pairs_is_harmless(inst);
  return op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg;
}

static void group_all(Grouping *g, const InstList *insts) {
  LLVMBasicBlockRef block = NULL;
  for (size_t i = 0; i < insts->len; i++) {
    LLVMValueRef inst = insts->items[i];
    LLVMBasicBlockRef b = LLVMGetInstructionParent(inst);
    if (b != block) {
      block = b;
      memcpy(g->now, block_of(g, b)->in, g->p->locals.len * sizeof *g->now);
      memset(g->sound, 0, g->p->locals.len * sizeof *g->sound);
      begin_group(g);
    }
    if (LLVMIsALoadInst(inst))
      see_load(g, inst);
    else if (LLVMIsAStoreInst(inst))
      see_store(g, inst);
    if (ends_group(g, inst))
      begin_group(g);
  }
}

// One statement has its own site, several get one together.
static void end_check(const Pairs *p, PairGroup *group) {
  Plan *plan = p->unit->plan;
  size_t n = group->statements.len;
  if (n == 1) {
    group->first = close_unit_site(p->unit, group->statements.items[0]);
    return;
  }
  UseSite s = {.counter = plan->ncounters++,
               .statements = arena_array(&plan->arena, uint32_t, n),
               .n = (uint32_t)n};
  memcpy(s.statements, group->statements.items, n * sizeof *s.statements);
  array_push(&plan->use_sites, s);
  group->first = s.counter;
}

void pairs_find_groups(Pairs *p, const InstList *insts) {
  Grouping g = {.p = p};
  size_t n = p->locals.len;
  g.now = mem_alloc_array(n + 1, sizeof *g.now);
  g.sound = mem_alloc_array(n + 1, sizeof *g.sound);
  g.of_local = mem_alloc_array(n + 1, sizeof *g.of_local);
  list_blocks(&g, insts);
  find_only(&g, insts);
  group_all(&g, insts);
  for (size_t i = 0; i < p->groups.len; i++)
    if (p->groups.items[i].kind == GROUP_CHECK)
      end_check(p, &p->groups.items[i]);
  array_release(&g.blocks);
  hashmap_release(&g.numbers);
  free(g.sets);
  free(g.now);
  free(g.sound);
  free(g.of_local);
}
