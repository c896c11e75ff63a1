// Finds loads that record nothing new: see pairs_again.h. This is the analysis of
// available expressions, of pairs (place, statement that uses it).
#include "close/pairs_again.h"

#include <string.h>

#include "util/bitset.h"
#include "util/str.h"

// What happens in a block, as far as it matters here.
typedef enum { LOADED, LOCAL_STORED, MEMORY_STORED, CALLED } AgainKind;
typedef struct {
  AgainKind kind;
  uint32_t number;   // of the fact or of the local
  LLVMValueRef load; // LOADED
} AgainEvent;

typedef struct {
  size_t begin, end; // of its events
  LLVMBasicBlockRef block;
  uint64_t *in, *out, *gen, *kill; // sets of facts
} AgainBlock;

enum { MOST_LOCALS = 6, DEEPEST = 10 };

// The place of a load as an expression, and what it depends on.
typedef struct {
  Str key;
  uint32_t locals[MOST_LOCALS];
  unsigned nlocals;
  bool memory;
} AgainPlace;

typedef struct {
  Pairs *p;
  ARRAY(AgainEvent) events;
  ARRAY(AgainBlock) blocks;
  Hashmap numbers;      // block -> number
  Hashmap facts;        // place and use -> number
  ARRAY(Bitset) reads;  // by local: the facts that depend on it
  Bitset reads_memory;  // the facts that depend on memory
  size_t nfacts, words; // words of a set
  // While events are listed: a clock, when what was loaded and changed last.
  uint64_t now, began, memory_changed;
  uint64_t *changed; // by local
  Hashmap loaded;    // load -> when
} Again;

// --- places -----------------------------------------------------------------

static void push(AgainPlace *a, char tag, const void *identity) {
  str_addc(&a->key, tag);
  str_addn(&a->key, &identity, sizeof identity);
}

static const PairLocal *plain_local(const Again *g, LLVMValueRef at) {
  const PairLocal *l = pairs_local(g->p, at);
  return l && l->def ? l : NULL;
}

static uint32_t local_number(const Again *g, const PairLocal *l) {
  return (uint32_t)(l - g->p->locals.items);
}

static bool depend(AgainPlace *a, uint32_t local) {
  if (a->nlocals == MOST_LOCALS)
    return false;
  a->locals[a->nlocals++] = local;
  return true;
}

static bool write_place(const Again *g, LLVMValueRef v, AgainPlace *a,
                        int depth);

// A value that was loaded in this block, if it is still what is there.
static bool write_load(const Again *g, LLVMValueRef load, AgainPlace *a,
                       int depth) {
  uint64_t when;
  LLVMValueRef at = LLVMGetOperand(load, 0);
  const PairLocal *l = plain_local(g, at);
  if (LLVMGetVolatile(load) ||
      LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic ||
      !hashmap_get(&g->loaded, &load, sizeof load, &when) || when < g->began)
    return false;
  push(a, 'L', LLVMTypeOf(load));
  if (l) {
    push(a, 'V', l->alloca);
    return when > g->changed[local_number(g, l)] &&
           depend(a, local_number(g, l));
  }
  a->memory = true;
  return when > g->memory_changed && write_place(g, at, a, depth);
}

static bool write_operands(const Again *g, LLVMValueRef v, AgainPlace *a,
                           int depth) {
  int n = LLVMGetNumOperands(v);
  for (int i = 0; i < n; i++)
    if (!write_place(g, LLVMGetOperand(v, (unsigned)i), a, depth))
      return false;
  push(a, ')', NULL);
  return true;
}

// A block of the stack that is one and the same as long as the function runs.
static bool is_lasting(LLVMValueRef alloca) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(alloca);
  return LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) &&
         block == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block));
}

static bool write_place(const Again *g, LLVMValueRef v, AgainPlace *a,
                        int depth) {
  if (!depth)
    return false;
  if (LLVMIsAConstant(v) || LLVMIsAArgument(v) ||
      (LLVMIsAAllocaInst(v) && is_lasting(v))) {
    push(a, 'C', v);
    return true;
  }
  if (LLVMIsALoadInst(v))
    return write_load(g, v, a, depth - 1);
  if (!LLVMIsAGetElementPtrInst(v) && !LLVMIsACastInst(v) &&
      !LLVMIsABinaryOperator(v))
    return false;
  push(a, (char)LLVMGetInstructionOpcode(v), LLVMTypeOf(v));
  if (LLVMIsAGetElementPtrInst(v))
    push(a, 'G', LLVMGetGEPSourceElementType(v));
  return write_operands(g, v, a, depth - 1);
}

// --- events -----------------------------------------------------------------

static void happen(Again *g, AgainKind kind, uint32_t number,
                   LLVMValueRef load) {
  array_push(&g->events, (AgainEvent){kind, number, load});
}

static uint32_t fact(Again *g, AgainPlace *a, LLVMValueRef use) {
  push(a, 'U', use);
  uint64_t n = hashmap_intern(&g->facts, a->key.data, a->key.len, g->nfacts);
  if (n < g->nfacts)
    return (uint32_t)n;
  for (unsigned i = 0; i < a->nlocals; i++)
    bitset_add(&g->reads.items[a->locals[i]], (uint32_t)n);
  if (a->memory)
    bitset_add(&g->reads_memory, (uint32_t)n);
  g->nfacts++;
  return (uint32_t)n;
}

// Arguments that are never stored to have one definition, all of them.
static bool write_what(const Again *g, LLVMValueRef at, AgainPlace *a) {
  const PairLocal *l = plain_local(g, at);
  if (l && l->given && l->nstores == 1) {
    push(a, 'A', NULL);
    return true;
  }
  if (l) {
    push(a, 'D', l->alloca);
    return depend(a, local_number(g, l));
  }
  a->memory = true;
  return write_place(g, at, a, DEEPEST);
}

static void see_load(Again *g, LLVMValueRef load) {
  AgainPlace a = {0};
  if (pairs_is_recorded(g->p, load) &&
      write_what(g, LLVMGetOperand(load, 0), &a))
    happen(g, LOADED, fact(g, &a, pairs_id(g->p, load)), load);
  str_release(&a.key);
  hashmap_put(&g->loaded, &load, sizeof load, g->now);
}

static void see_store(Again *g, LLVMValueRef store) {
  const PairLocal *l = plain_local(g, LLVMGetOperand(store, 1));
  if (l) {
    g->changed[local_number(g, l)] = g->now;
    happen(g, LOCAL_STORED, local_number(g, l), NULL);
    return;
  }
  g->memory_changed = g->now;
  happen(g, MEMORY_STORED, 0, NULL);
}

bool pairs_is_harmless(LLVMValueRef call) {
  LLVMValueRef f = LLVMGetCalledValue(call);
  size_t n;
  const char *name = LLVMIsAFunction(f) && LLVMGetIntrinsicID(f)
                         ? LLVMGetValueName2(f, &n)
                         : "";
  return !strncmp(name, "llvm.expect.", 12) ||
         !strncmp(name, "llvm.lifetime.", 14) || LLVMIsADbgInfoIntrinsic(call);
}

static void see_call(Again *g, LLVMValueRef call) {
  if (pairs_is_harmless(call))
    return;
  g->memory_changed = g->now;
  happen(g, CALLED, 0, NULL);
}

static void see_inst(Again *g, LLVMValueRef inst) {
  g->now++;
  switch (LLVMGetInstructionOpcode(inst)) {
  case LLVMLoad:
    see_load(g, inst);
    return;
  case LLVMStore:
    see_store(g, inst);
    return;
  case LLVMCall:
  case LLVMInvoke:
  case LLVMCallBr:
    see_call(g, inst);
    return;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
  case LLVMFence:
    g->memory_changed = g->now;
    happen(g, CALLED, 0, NULL);
    return;
  default:
    return;
  }
}

static void list_events(Again *g, const InstList *insts) {
  LLVMBasicBlockRef block = NULL;
  for (size_t i = 0; i < insts->len; i++) {
    LLVMBasicBlockRef b = LLVMGetInstructionParent(insts->items[i]);
    if (b != block) {
      block = b;
      g->began = ++g->now;
      hashmap_put(&g->numbers, &b, sizeof b, g->blocks.len);
      array_push(&g->blocks, (AgainBlock){.begin = g->events.len, .block = b});
    }
    see_inst(g, insts->items[i]);
    array_last(&g->blocks).end = g->events.len;
  }
}

// --- sets -------------------------------------------------------------------

static void remove_all(const Again *g, uint64_t *set, const Bitset *which) {
  size_t n = which->nwords < g->words ? which->nwords : g->words;
  for (size_t i = 0; i < n; i++)
    set[i] &= ~which->words[i];
}

static void add_all(const Again *g, uint64_t *set, const Bitset *which) {
  size_t n = which->nwords < g->words ? which->nwords : g->words;
  for (size_t i = 0; i < n; i++)
    set[i] |= which->words[i];
}

// What an event does to the facts that hold; true: it is a load of one of them.
static bool follow(const Again *g, const AgainEvent *e, uint64_t *set) {
  uint64_t bit = 1ull << e->number % 64, *word = &set[e->number / 64];
  switch (e->kind) {
  case LOADED: {
    bool held = *word & bit;
    *word |= bit;
    return held;
  }
  case LOCAL_STORED:
    remove_all(g, set, &g->reads.items[e->number]);
    return false;
  case MEMORY_STORED:
    remove_all(g, set, &g->reads_memory);
    return false;
  default:
    memset(set, 0, g->words * sizeof *set);
    return false;
  }
}

static void sum_up(const Again *g, AgainBlock *b) {
  for (size_t i = b->begin; i < b->end; i++) {
    const AgainEvent *e = &g->events.items[i];
    follow(g, e, b->gen);
    if (e->kind == LOCAL_STORED)
      add_all(g, b->kill, &g->reads.items[e->number]);
    else if (e->kind == MEMORY_STORED)
      add_all(g, b->kill, &g->reads_memory);
    else if (e->kind == CALLED)
      memset(b->kill, 0xff, g->words * sizeof *b->kill);
  }
}

// --- blocks -----------------------------------------------------------------

static AgainBlock *block_at(const Again *g, LLVMBasicBlockRef block) {
  uint64_t n = 0;
  hashmap_get(&g->numbers, &block, sizeof block, &n);
  return &g->blocks.items[n];
}

static void meet(const Again *g, const AgainBlock *from) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(from->block);
  for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
    uint64_t *in = block_at(g, LLVMGetSuccessor(end, i))->in;
    for (size_t k = 0; k < g->words; k++)
      in[k] &= from->out[k];
  }
}

static bool pass(const Again *g, AgainBlock *b) {
  bool moved = false;
  for (size_t k = 0; k < g->words; k++) {
    uint64_t out = b->gen[k] | (b->in[k] & ~b->kill[k]);
    moved |= out != b->out[k];
    b->out[k] = out;
  }
  return moved;
}

// Begins with "everything holds" and takes away what does not.
static void settle(const Again *g) {
  size_t n = g->blocks.len, bytes = g->words * sizeof(uint64_t);
  for (size_t i = 0; i < n; i++)
    memset(g->blocks.items[i].out, 0xff, bytes);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < n; i++)
      memset(g->blocks.items[i].in, i ? 0xff : 0, bytes);
    for (size_t i = 0; i < n; i++)
      meet(g, &g->blocks.items[i]);
    for (size_t i = 0; i < n; i++)
      moved |= pass(g, &g->blocks.items[i]);
  }
}

static void note_again(Again *g, const AgainBlock *b) {
  for (size_t i = b->begin; i < b->end; i++) {
    const AgainEvent *e = &g->events.items[i];
    if (follow(g, e, b->in))
      hashmap_put(&g->p->again, &e->load, sizeof e->load, 1);
  }
}

// In an enormous function each block is for itself.
static void solve(Again *g) {
  const size_t most = (size_t)1 << 25; // words
  g->words = (g->nfacts + 63) / 64;
  size_t n = g->words, nblocks = g->blocks.len;
  bool large = n && nblocks > most / 4 / n;
  uint64_t *sets = mem_alloc_array(large ? 1 : nblocks, 4 * n * sizeof *sets);
  for (size_t i = 0; i < nblocks; i++) {
    AgainBlock *b = &g->blocks.items[i];
    b->in = sets + (large ? 0 : 4 * n * i);
    b->out = b->in + n;
    b->gen = b->out + n;
    b->kill = b->gen + n;
    if (!large)
      sum_up(g, b);
  }
  if (!large)
    settle(g);
  for (size_t i = 0; i < nblocks; i++) {
    if (large)
      memset(sets, 0, n * sizeof *sets);
    note_again(g, &g->blocks.items[i]);
  }
  free(sets);
}

void pairs_find_again(Pairs *p, const InstList *insts) {
  Again g = {.p = p};
  g.changed = mem_alloc_array(p->locals.len + 1, sizeof *g.changed);
  for (size_t i = 0; i < p->locals.len; i++)
    array_push(&g.reads, (Bitset){0});
  list_events(&g, insts);
  if (g.nfacts)
    solve(&g);
  for (size_t i = 0; i < g.reads.len; i++)
    bitset_release(&g.reads.items[i]);
  bitset_release(&g.reads_memory);
  array_release(&g.reads);
  array_release(&g.events);
  array_release(&g.blocks);
  hashmap_release(&g.numbers);
  hashmap_release(&g.facts);
  hashmap_release(&g.loaded);
  free(g.changed);
}
