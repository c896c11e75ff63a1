// One translation unit of a close build: see close_unit.h.
#include "close/close_unit.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "plan/map_write.h"
#include "plan/place.h"
#include "plan/probe.h"
#include "program/map_format.h"

// Another build of the same code: its counters are other ones.
static void change_id(Plan *p) {
  static const uint64_t close_build = 0x636c6f7365; // "close"
  XXH128_hash_t hash =
      XXH3_128bits_withSeed(p->id.bytes, sizeof p->id.bytes, close_build);
  memcpy(p->id.bytes, &hash, sizeof p->id.bytes);
}

static bool is_kept(const Entity *e) {
  return e->kind == ENTITY_FUNCTION || e->kind == ENTITY_STATEMENT;
}

static void keep_entity(CloseUnit *u, Entity e, const uint32_t *numbers) {
  Plan *p = u->plan;
  e.function = e.function == ENTITY_NONE ? ENTITY_NONE : numbers[e.function];
  e.from = e.to = ENTITY_NONE;
  if (e.kind == ENTITY_STATEMENT) {
    const uint32_t key[] = {e.source, e.line};
    hashmap_intern(&u->statements, key, sizeof key, p->entities.len);
    array_push(&p->refs, p->ncounters++);
  }
  array_push(&p->entities, e);
  array_push(&p->first_ref, (uint32_t)p->refs.len);
}

static void keep_lines(CloseUnit *u) {
  Plan *p = u->plan;
  size_t n = p->entities.len;
  Entity *all = mem_dup(p->entities.items, n * sizeof *all);
  uint32_t *numbers = mem_array(uint32_t, n);
  for (uint32_t i = 0, k = 0; i < n; i++)
    numbers[i] = is_kept(&all[i]) ? k++ : ENTITY_NONE;
  p->entities.len = p->refs.len = p->ncounters = 0;
  p->first_ref.len = 1;
  for (size_t i = 0; i < n; i++)
    if (is_kept(&all[i]))
      keep_entity(u, all[i], numbers);
  free(numbers);
  free(all);
}

// --- variables --------------------------------------------------------------

static bool is_declaration(LLVMValueRef inst) {
  static const char declare[] = "llvm.dbg.declare";
  size_t n;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(inst), &n);
  return n == sizeof declare - 1 && !memcmp(name, declare, n);
}

// llvm.dbg.declare(ADDRESS, VARIABLE, ...)
static void note_variable(CloseUnit *u, LLVMValueRef inst) {
  enum { NAME = 1 };
  LLVMValueRef wrapped = LLVMGetOperand(inst, 0), address = NULL;
  LLVMValueRef text = metadata_part(LLVMGetOperand(inst, 1), NAME);
  unsigned n = 0;
  const char *name = text ? LLVMGetMDString(text, &n) : NULL;
  if (LLVMGetMetadataKind(LLVMValueAsMetadata(wrapped)) ==
      LLVMLocalAsMetadataMetadataKind)
    LLVMGetMDNodeOperands(wrapped, &address);
  if (!address || !n)
    return;
  LLVMMetadataRef variable = LLVMValueAsMetadata(LLVMGetOperand(inst, 1));
  hashmap_put(&u->variables, &address, sizeof address,
              (uintptr_t)arena_strndup(&u->plan->arena, name, n));
  hashmap_put(&u->declared, &address, sizeof address,
              LLVMDIVariableGetLine(variable));
}

static void note_variables(CloseUnit *u, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      if (is_debug_call(i) && is_declaration(i))
        note_variable(u, i);
}

const char *close_unit_variable(const CloseUnit *u, LLVMValueRef address) {
  uint64_t name;
  size_t n;
  if (LLVMIsAGlobalVariable(address))
    return LLVMGetValueName2(address, &n);
  return hashmap_get(&u->variables, &address, sizeof address, &name)
             ? (const char *)(uintptr_t)name
             : NULL;
}

unsigned close_unit_declared(const CloseUnit *u, LLVMValueRef alloca) {
  uint64_t line;
  return hashmap_get(&u->declared, &alloca, sizeof alloca, &line)
             ? (unsigned)line
             : 0;
}

// --- the unit ---------------------------------------------------------------

void close_unit_init(CloseUnit *u, LLVMModuleRef module, Plan *plan) {
  *u = (CloseUnit){.module = module, .plan = plan};
  change_id(plan);
  plan->calls.len = plan->probes.len = plan->results.len = 0;
  plan->values.len = plan->standings.len = plan->marks.len = 0;
  keep_lines(u);
  LLVMSetIsNewDbgInfoFormat(module, false); // records cannot be walked
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (plan_covers(f))
      note_variables(u, f);
  LLVMSetIsNewDbgInfoFormat(module, true);
  u->counters =
      LLVMAddGlobal(module, LLVMInt8TypeInContext(LLVMGetModuleContext(module)),
                    "__culprit_counters_");
}

void close_unit_release(CloseUnit *u) {
  hashmap_release(&u->statements);
  hashmap_release(&u->variables);
  hashmap_release(&u->declared);
}

void close_unit_finish(CloseUnit *u) {
  Str map = {0};
  probe_insert(u->module, u->plan, COUNTERS_HITS);
  LLVMReplaceAllUsesWith(u->counters,
                         LLVMGetNamedGlobal(u->module, "__culprit_counters"));
  LLVMDeleteGlobal(u->counters);
  map_write(u->plan, COUNTERS_HITS, &map);
  probe_add_section(u->module, "__culprit_map", MAP_SECTION, map.data, map.len);
  str_release(&map);
}

LLVMValueRef close_unit_counter(const CloseUnit *u, uint32_t counter) {
  LLVMContextRef c = LLVMGetModuleContext(u->module);
  LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(c), counter, false);
  return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(c), u->counters, &at, 1);
}

// Monotonic: see probe.c.
void close_unit_hit(const CloseUnit *u, LLVMBuilderRef b, uint32_t first,
                    LLVMValueRef number) {
  LLVMContextRef c = LLVMGetModuleContext(u->module);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(c);
  LLVMValueRef at = LLVMBuildInBoundsGEP2(b, i8, close_unit_counter(u, first),
                                          &number, 1, "");
  LLVMValueRef store = LLVMBuildStore(b, LLVMConstInt(i8, 1, false), at);
  LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(store, 1);
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(c, "nosanitize", 10),
                  LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0)));
}

uint32_t close_unit_statement(CloseUnit *u, LLVMValueRef inst) {
  Place place;
  if (!place_of(u->plan, inst, &place))
    return ENTITY_NONE;
  const uint32_t key[] = {place.source, place.line};
  uint64_t entity;
  return hashmap_get(&u->statements, key, sizeof key, &entity)
             ? (uint32_t)entity
             : ENTITY_NONE;
}

uint32_t close_unit_site(const CloseUnit *u, uint32_t statement) {
  const Plan *p = u->plan;
  return p->refs.items[p->first_ref.items[statement]];
}
