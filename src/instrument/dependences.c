// The dependences between the statements of one unit: see dependences.h.
#include "instrument/dependences.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "plan/contract_wrap.h"
#include "plan/place.h"
#include "plan/points_to.h"
#include "util/bitset.h"
#include "util/graph.h"

typedef struct {
  uint32_t node;  // who
  uint32_t class; // of memory
} Access;

typedef struct {
  Plan *plan;
  Str *out;
  PointsTo points;
  Hashmap nodes; // name -> node
  ARRAY(const char *) names;
  Hashmap edges;               // (from, to, kind) seen
  ARRAY(Access) stores, loads; // of memory other than plain locals
} DependenceWriter;

typedef struct {
  DependenceWriter *pdg;
  LLVMValueRef function;
  uint32_t entry, leave; // nodes
  ARRAY(LLVMBasicBlockRef) blocks;
  Hashmap numbers;
  Graph graph;
  ARRAY(LLVMValueRef) defs; // stores to plain locals
  Hashmap def_numbers;
} Fn;

// --- nodes and edges ----------------------------------------------------------

static uint32_t node_named(DependenceWriter *p, const char *name) {
  uint64_t n = hashmap_intern(&p->nodes, name, strlen(name), p->names.len);
  if (n == p->names.len)
    array_push(&p->names, arena_strdup(&p->plan->arena, name));
  return (uint32_t)n;
}

static uint32_t node_of_function(DependenceWriter *p, char mark,
                                 LLVMValueRef f) {
  Str name = {0};
  size_t n;
  f = contract_face(f);
  str_addc(&name, mark);
  LLVMLinkage linkage = LLVMGetLinkage(f);
  if (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage)
    str_addf(&name, "%s#", p->plan->name);
  str_add(&name, LLVMGetValueName2(f, &n));
  uint32_t node = node_named(p, str_text(&name));
  str_release(&name);
  return node;
}

static uint32_t node_of_place(DependenceWriter *p, const Place *place) {
  Str name = {0};
  str_addf(&name, "%s:%u", p->plan->sources.items[place->source].path,
           place->line);
  uint32_t node = node_named(p, str_text(&name));
  str_release(&name);
  return node;
}

// The node an instruction belongs to. What has no statement of its own belongs
// to the entry (arguments being stored) or, if it returns, to what is returned.
static uint32_t node_of(Fn *f, LLVMValueRef inst) {
  Place place;
  if (LLVMIsAReturnInst(inst))
    return f->leave;
  if (place_of_statement(f->pdg->plan, inst, &place))
    return node_of_place(f->pdg, &place);
  // The value loaded only to be returned.
  LLVMUseRef use = LLVMGetFirstUse(inst);
  if (use && LLVMIsAReturnInst(LLVMGetUser(use)))
    return f->leave;
  return f->entry;
}

static void add_edge(DependenceWriter *p, uint32_t from, uint32_t to,
                     char kind) {
  struct {
    uint32_t from, to, kind;
  } key = {from, to, (uint32_t)kind};
  uint64_t fresh = p->edges.len;
  if (from == to || hashmap_intern(&p->edges, &key, sizeof key, fresh) != fresh)
    return;
  str_addf(p->out, "%s\t%s\t%s\n", p->names.items[from], p->names.items[to],
           kind == 'c' ? "control" : "data");
}

// --- control ------------------------------------------------------------------

static uint32_t number_of(const Fn *f, LLVMBasicBlockRef b) {
  uint64_t n = GRAPH_NONE;
  hashmap_get(&f->numbers, &b, sizeof b, &n);
  return (uint32_t)n;
}

static void build_graph(Fn *f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->function); b;
       b = LLVMGetNextBasicBlock(b)) {
    hashmap_put(&f->numbers, &b, sizeof b, f->blocks.len);
    array_push(&f->blocks, b);
  }
  uint32_t exit = (uint32_t)f->blocks.len;
  graph_init(&f->graph, f->blocks.len + 1);
  for (uint32_t i = 0; i < exit; i++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks.items[i]);
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned k = 0; k < n; k++)
      graph_add(&f->graph, i, number_of(f, LLVMGetSuccessor(end, k)));
    if (!n)
      graph_add(&f->graph, i, exit);
  }
}

// Post-dominators are the dominators of the graph turned round. A loop without
// an end gets an edge to the exit from one of its blocks at a time.
static void find_post_dominators(Fn *f, Dominators *out) {
  uint32_t exit = (uint32_t)f->blocks.len;
  for (;;) {
    Graph back;
    graph_reverse(&f->graph, &back);
    dominators_find(out, &back, exit);
    graph_release(&back);
    uint32_t stuck = 0;
    while (stuck < exit && out->order[stuck] != GRAPH_NONE)
      stuck++;
    if (stuck == exit)
      return;
    dominators_release(out);
    graph_add(&f->graph, stuck, exit);
  }
}

static void block_depends(Fn *f, uint32_t block, uint32_t on) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(f->blocks.items[block]); i;
       i = LLVMGetNextInstruction(i)) {
    Place place;
    if (place_of_statement(f->pdg->plan, i, &place))
      add_edge(f->pdg, on, node_of_place(f->pdg, &place), 'c');
  }
}

static void add_control(Fn *f) {
  Dominators post;
  find_post_dominators(f, &post);
  bool *decided = mem_array(bool, f->blocks.len + 1);
  for (uint32_t a = 0; a < f->blocks.len; a++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks.items[a]);
    Place place;
    if (LLVMGetNumSuccessors(end) < 2 || !place_of(f->pdg->plan, end, &place))
      continue;
    uint32_t on = node_of_place(f->pdg, &place);
    for (size_t k = 0; k < f->graph.succs[a].len; k++)
      for (uint32_t b = f->graph.succs[a].items[k];
           b != post.parent[a] && b < f->blocks.len; b = post.parent[b]) {
        decided[b] = true;
        block_depends(f, b, on);
        if (b == post.parent[b])
          break;
      }
  }
  for (uint32_t b = 0; b < f->blocks.len; b++)
    if (!decided[b])
      block_depends(f, b, f->entry);
  free(decided);
  dominators_release(&post);
}

// --- plain locals -------------------------------------------------------------

// A variable that is only loaded and stored as a whole.
static bool is_plain_local(LLVMValueRef v) {
  if (!LLVMIsAAllocaInst(v))
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (!LLVMIsALoadInst(user) &&
        !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == v) &&
        !is_debug_call(user))
      return false;
  }
  return true;
}

static bool is_def(LLVMValueRef i) {
  return LLVMIsAStoreInst(i) && is_plain_local(LLVMGetOperand(i, 1));
}

static void list_defs(Fn *f) {
  for (size_t b = 0; b < f->blocks.len; b++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(f->blocks.items[b]); i;
         i = LLVMGetNextInstruction(i))
      if (is_def(i)) {
        hashmap_put(&f->def_numbers, &i, sizeof i, f->defs.len);
        array_push(&f->defs, i);
      }
}

// A definition takes the place of all others of its variable.
static void define(const Fn *f, Bitset *reach, LLVMValueRef store) {
  LLVMValueRef variable = LLVMGetOperand(store, 1);
  for (LLVMUseRef u = LLVMGetFirstUse(variable); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    uint64_t n;
    if (hashmap_get(&f->def_numbers, &user, sizeof user, &n) &&
        bitset_has(reach, (uint32_t)n))
      reach->words[n / 64] &= ~((uint64_t)1 << (n % 64));
  }
  uint64_t own = 0;
  hashmap_get(&f->def_numbers, &store, sizeof store, &own);
  bitset_add(reach, (uint32_t)own);
}

static void use_local(Fn *f, const Bitset *reach, LLVMValueRef load) {
  uint32_t to = node_of(f, load);
  LLVMValueRef variable = LLVMGetOperand(load, 0);
  for (LLVMUseRef u = LLVMGetFirstUse(variable); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    uint64_t n;
    if (hashmap_get(&f->def_numbers, &user, sizeof user, &n) &&
        bitset_has(reach, (uint32_t)n))
      add_edge(f->pdg, node_of(f, user), to, 'd');
  }
}

// Walks one block; with `uses`, notes what each load may get.
static void walk(Fn *f, uint32_t block, Bitset *reach, bool uses) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(f->blocks.items[block]); i;
       i = LLVMGetNextInstruction(i)) {
    if (is_def(i))
      define(f, reach, i);
    else if (uses && LLVMIsALoadInst(i) && is_plain_local(LLVMGetOperand(i, 0)))
      use_local(f, reach, i);
  }
}

static void add_locals(Fn *f) {
  list_defs(f);
  Bitset *in = mem_array(Bitset, f->blocks.len + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
      Bitset out = {0};
      bitset_union(&out, &in[b]);
      walk(f, b, &out, false);
      for (size_t k = 0; k < f->graph.succs[b].len; k++) {
        Bitset *to = &in[f->graph.succs[b].items[k]];
        size_t before = bitset_count(to);
        bitset_union(to, &out);
        changed |= bitset_count(to) != before;
      }
      bitset_release(&out);
    }
  }
  for (uint32_t b = 0; b < f->blocks.len; b++) {
    walk(f, b, &in[b], true);
    bitset_release(&in[b]);
  }
  bitset_release(&in[f->blocks.len]);
  free(in);
}

// --- values, memory and calls -------------------------------------------------

static void add_operands(Fn *f, LLVMValueRef inst) {
  uint32_t to = node_of(f, inst);
  for (int k = 0; k < LLVMGetNumOperands(inst); k++) {
    LLVMValueRef v = LLVMGetOperand(inst, (unsigned)k);
    if (LLVMIsAInstruction(v) && !LLVMIsAAllocaInst(v))
      add_edge(f->pdg, node_of(f, v), to, 'd');
    else if (LLVMIsAArgument(v))
      add_edge(f->pdg, f->entry, to, 'd');
  }
}

static void access_memory(Fn *f, LLVMValueRef pointer, uint32_t node,
                          bool store, bool load) {
  Access a = {node, points_to_class(&f->pdg->points, pointer)};
  if (store)
    array_push(&f->pdg->stores, a);
  if (load)
    array_push(&f->pdg->loads, a);
}

static void call_function(Fn *f, LLVMValueRef function, uint32_t node) {
  add_edge(f->pdg, node, node_of_function(f->pdg, '@', function), 'c');
  add_edge(f->pdg, node, node_of_function(f->pdg, '@', function), 'd');
  add_edge(f->pdg, node_of_function(f->pdg, '^', function), node, 'd');
}

static void add_call(Fn *f, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  uint32_t node = node_of(f, call);
  bool known = LLVMIsAFunction(callee);
  if (known && !LLVMGetIntrinsicID(callee)) {
    call_function(f, callee, node);
  } else if (!known) {
    LLVMModuleRef m = LLVMGetGlobalParent(f->function);
    for (LLVMValueRef g = LLVMGetFirstFunction(m); g;
         g = LLVMGetNextFunction(g))
      if (function_is_taken(g) &&
          LLVMCountParams(g) == LLVMGetNumArgOperands(call))
        call_function(f, g, node);
  }
  if (!known || !LLVMIsDeclaration(callee))
    return;
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
    LLVMValueRef v = LLVMGetOperand(call, i);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
      access_memory(f, v, node, true, true);
  }
}

static void add_instruction(Fn *f, LLVMValueRef i) {
  if (is_debug_call(i) || LLVMIsAAllocaInst(i))
    return;
  add_operands(f, i);
  if (LLVMIsACallInst(i) && !LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
    add_call(f, i);
  else if (LLVMIsAStoreInst(i) && !is_plain_local(LLVMGetOperand(i, 1)))
    access_memory(f, LLVMGetOperand(i, 1), node_of(f, i), true, false);
  else if (LLVMIsALoadInst(i) && !is_plain_local(LLVMGetOperand(i, 0)))
    access_memory(f, LLVMGetOperand(i, 0), node_of(f, i), false, true);
}

static void add_values(Fn *f) {
  for (size_t b = 0; b < f->blocks.len; b++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(f->blocks.items[b]); i;
         i = LLVMGetNextInstruction(i))
      add_instruction(f, i);
}

static int by_class(const void *a, const void *b) {
  const Access *x = a, *y = b;
  if (x->class != y->class)
    return x->class < y->class ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

// Every store of a class may give its value to every load of it.
static void add_memory(DependenceWriter *p) {
  for (size_t i = 0, k = 0; i < p->stores.len; i++) {
    uint32_t class = p->stores.items[i].class;
    while (k < p->loads.len && p->loads.items[k].class < class)
      k++;
    for (size_t j = k; j < p->loads.len && p->loads.items[j].class == class;
         j++)
      add_edge(p, p->stores.items[i].node, p->loads.items[j].node, 'd');
  }
}

static void write_function(DependenceWriter *p, LLVMValueRef function) {
  Fn f = {.pdg = p,
          .function = function,
          .entry = node_of_function(p, '@', function),
          .leave = node_of_function(p, '^', function)};
  build_graph(&f);
  add_control(&f);
  add_locals(&f);
  add_values(&f);
  graph_release(&f.graph);
  array_release(&f.blocks);
  array_release(&f.defs);
  hashmap_release(&f.numbers);
  hashmap_release(&f.def_numbers);
}

void dependences_write(Plan *plan, LLVMModuleRef module, Str *out) {
  DependenceWriter p = {.plan = plan, .out = out};
  size_t n;
  const char *name = LLVMGetSourceFileName(module, &n);
  plan->name = arena_strndup(&plan->arena, name, n);
  points_to_build(&p.points, module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (plan_covers(f))
      write_function(&p, f);
  if (p.stores.len)
    qsort(p.stores.items, p.stores.len, sizeof(Access), by_class);
  if (p.loads.len)
    qsort(p.loads.items, p.loads.len, sizeof(Access), by_class);
  add_memory(&p);
  points_to_release(&p.points);
  hashmap_release(&p.nodes);
  hashmap_release(&p.edges);
  array_release(&p.names);
  array_release(&p.stores);
  array_release(&p.loads);
}
