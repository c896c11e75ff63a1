// Adds the recording of definition-use pairs to a module: see pairs.h.
#include "close/pairs.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "close/pairs_again.h"
#include "close/pairs_change.h"
#include "close/pairs_emit.h"
#include "close/pairs_group.h"
#include "plan/plan.h"

bool pairs_covers(LLVMValueRef function) {
  return !LLVMIsDeclaration(function) && plan_covers(function);
}

static bool is_called_only(LLVMValueRef function) {
  for (LLVMUseRef u = LLVMGetFirstUse(function); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function)
      return false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
      if (LLVMGetOperand(user, i) == function)
        return false;
    if (!pairs_covers(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))))
      return false;
  }
  return true;
}

bool pairs_is_private(LLVMValueRef function) {
  return LLVMGetLinkage(function) == LLVMInternalLinkage &&
         is_called_only(function);
}

// --- locals -----------------------------------------------------------------

static bool is_lifetime(LLVMValueRef inst) {
  if (!LLVMIsACallInst(inst) || !LLVMIsAFunction(LLVMGetCalledValue(inst)))
    return false;
  size_t n;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(inst), &n);
  return !strncmp(name, "llvm.lifetime.", 14);
}

static bool is_whole(const Pairs *p, LLVMValueRef alloca, LLVMTypeRef type) {
  return pairs_size_of(p, type) ==
         LLVMABISizeOfType(p->layout, LLVMGetAllocatedType(alloca));
}

// Is it only loaded and stored, always as a whole?
static bool is_plain_use(const Pairs *p, LLVMValueRef alloca,
                         LLVMValueRef user) {
  if (LLVMIsALoadInst(user))
    return is_whole(p, alloca, LLVMTypeOf(user));
  if (LLVMIsAStoreInst(user))
    return LLVMGetOperand(user, 0) != alloca &&
           is_whole(p, alloca, LLVMTypeOf(LLVMGetOperand(user, 0)));
  return is_lifetime(user);
}

static bool is_plain(const Pairs *p, LLVMValueRef alloca) {
  if (!LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) ||
      LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0)) != 1)
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(alloca); u; u = LLVMGetNextUse(u))
    if (!is_plain_use(p, alloca, LLVMGetUser(u)))
      return false;
  return true;
}

static void list_instructions(LLVMValueRef function, InstList *out) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      array_push(out, i);
}

static bool returns_twice(const InstList *insts) {
  unsigned kind = LLVMGetEnumAttributeKindForName("returns_twice", 13);
  for (size_t i = 0; i < insts->len; i++) {
    LLVMValueRef call = insts->items[i];
    if (!LLVMIsACallInst(call))
      continue;
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (LLVMGetCallSiteEnumAttribute(
            call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) ||
        (LLVMIsAFunction(f) &&
         LLVMGetEnumAttributeAtIndex(
             f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind)))
      return true;
  }
  return false;
}

// Is the value an argument, or made from one and nothing else?
static bool is_argument(LLVMValueRef v) {
  while (LLVMIsACastInst(v))
    v = LLVMGetOperand(v, 0);
  return LLVMIsAArgument(v);
}

int pairs_definer(const Pairs *p, PairDefiners *d, LLVMValueRef store) {
  uint32_t statement = close_unit_statement(p->unit, store);
  if (statement == ENTITY_NONE ||
      LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic)
    return 0;
  for (unsigned i = 0; i < d->n; i++)
    if (d->statements[i] == statement)
      return (int)i + 1;
  if (d->n == DEFINERS)
    return -1;
  d->statements[d->n++] = statement;
  return (int)d->n;
}

// Have all uses room for a counter per definition?
static bool have_room(const Pairs *p, const PairLocal *l,
                      const PairDefiners *d) {
  const uint64_t most = 1 << 20; // counters of a unit
  uint64_t uses = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(l->alloca); u; u = LLVMGetNextUse(u))
    uses += LLVMIsALoadInst(LLVMGetUser(u)) != NULL;
  return p->unit->plan->ncounters + uses * (d->n + 1) <= most;
}

static void keep_definers(Pairs *p, PairLocal *l, PairDefiners *d) {
  Plan *plan = p->unit->plan;
  VariableDefiners kept = {arena_array(&plan->arena, uint32_t, d->n), d->n};
  memcpy(kept.statements, d->statements, d->n * sizeof *d->statements);
  d->number = (uint32_t)plan->definers.len;
  array_push(&plan->definers, kept);
  l->definers = mem_dup(d, sizeof *d);
}

// A variable that no argument is stored to has few definitions, all known.
static void look_at_stores(Pairs *p, PairLocal *l) {
  PairDefiners d = {0};
  bool few = l->def && l->named;
  for (LLVMUseRef u = LLVMGetFirstUse(l->alloca); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef store = LLVMGetUser(u);
    if (!LLVMIsAStoreInst(store))
      continue;
    l->nstores++;
    l->given |= is_argument(LLVMGetOperand(store, 0));
    few = few && pairs_definer(p, &d, store) >= 0;
  }
  if (few && !l->given && d.n && have_room(p, l, &d))
    keep_definers(p, l, &d);
}

static void find_locals(Pairs *p, const InstList *insts) {
  bool twice = returns_twice(insts);
  for (size_t i = 0; i < insts->len; i++) {
    LLVMValueRef a = insts->items[i];
    if (!LLVMIsAAllocaInst(a))
      continue;
    PairLocal local = {.alloca = a,
                       .named = close_unit_variable(p->unit, a) != NULL};
    if (!twice && is_plain(p, a)) {
      pairs_stand_before(p, insts->items[0]);
      local.def = LLVMBuildAlloca(p->builder, p->i32, "");
    }
    look_at_stores(p, &local);
    hashmap_put(&p->numbers, &a, sizeof a, p->locals.len);
    array_push(&p->locals, local);
  }
}

static void clear_local(Pairs *p, LLVMValueRef alloca) {
  LLVMTypeRef type = LLVMGetAllocatedType(alloca);
  LLVMValueRef n = LLVMGetOperand(alloca, 0);
  uint64_t size = LLVMABISizeOfType(p->layout, type);
  if (LLVMIsAConstantInt(n)) {
    size *= LLVMConstIntGetZExtValue(n);
    if (size)
      pairs_store_shadow(p, alloca, size, pairs_none(p));
    return;
  }
  n = LLVMBuildIntCast2(p->builder, n, p->i64, false, "");
  LLVMValueRef args[] = {
      pairs_none(p), alloca,
      LLVMBuildMul(p->builder, n, pairs_number(p, size), "")};
  pairs_invoke(p, p->define, args, 3);
}

static bool is_lasting(LLVMValueRef alloca, LLVMBasicBlockRef entry) {
  return LLVMGetInstructionParent(alloca) == entry &&
         LLVMIsAConstantInt(LLVMGetOperand(alloca, 0));
}

// Nobody has defined a local when the function begins.
static void clear_locals(Pairs *p, LLVMValueRef first) {
  LLVMBasicBlockRef entry = LLVMGetInstructionParent(first);
  for (size_t i = 0; i < p->locals.len; i++) {
    PairLocal *l = &p->locals.items[i];
    pairs_stand_before(p, first);
    if (l->def)
      LLVMBuildStore(p->builder, pairs_none(p), l->def);
    else if (is_lasting(l->alloca, entry))
      clear_local(p, l->alloca);
    else if (pairs_stand_behind(p, l->alloca))
      clear_local(p, l->alloca);
  }
}

// --- arguments --------------------------------------------------------------

// The statement that called, if the caller told that it calls this function.
static void take_arguments(Pairs *p, LLVMValueRef first) {
  pairs_stand_before(p, first);
  p->given = p->shared ? pairs_invoke(p, p->given_by, &p->function, 1)
                       : pairs_get(p, p->i32, p->call);
}

static LLVMTypeRef byval_type(LLVMValueRef function, unsigned i) {
  static const unsigned first = 1;
  LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(
      function, i + first, LLVMGetEnumAttributeKindForName("byval", 5));
  return a ? LLVMGetTypeAttributeValue(a) : NULL;
}

// Structs that are passed by value lie in memory.
static void define_structs(Pairs *p) {
  for (unsigned i = 0; i < LLVMCountParams(p->function); i++) {
    LLVMTypeRef type = byval_type(p->function, i);
    if (type)
      pairs_store_shadow(p, LLVMGetParam(p->function, i),
                         LLVMABISizeOfType(p->layout, type), p->given);
  }
}

// --- instructions -----------------------------------------------------------

static LLVMValueRef definition_of(const Pairs *p, LLVMValueRef store) {
  LLVMValueRef id = pairs_id(p, store);
  if (!pairs_has_id(id) && p->given && is_argument(LLVMGetOperand(store, 0)))
    return p->given;
  return id;
}

// --- loads and stores -------------------------------------------------------

static void insert_store(Pairs *p, LLVMValueRef store) {
  LLVMValueRef at = LLVMGetOperand(store, 1);
  const PairLocal *local = pairs_local(p, at);
  bool atomic = LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic;
  LLVMValueRef id = atomic ? pairs_none(p) : definition_of(p, store);
  pairs_stand_before(p, store);
  pairs_mark_program(p, store);
  pairs_insert_change(p, store);
  if (local && local->definers)
    id = LLVMConstInt(
        p->i32, (unsigned)pairs_definer(p, local->definers, store), false);
  if (local && local->def)
    LLVMBuildStore(p->builder, id, local->def);
  else
    pairs_store_shadow(
        p, at, pairs_size_of(p, LLVMTypeOf(LLVMGetOperand(store, 0))), id);
}

bool pairs_is_recorded(const Pairs *p, LLVMValueRef load) {
  return pairs_has_id(pairs_id(p, load)) &&
         !pairs_is_hidden(p, LLVMGetOperand(load, 0)) &&
         LLVMGetOrdering(load) == LLVMAtomicOrderingNotAtomic;
}

// Of a variable: with others, by the first of them.
static void record_group(Pairs *p, LLVMValueRef load) {
  uint64_t n;
  if (!hashmap_get(&p->firsts, &load, sizeof load, &n))
    return;
  const PairGroup *g = &p->groups.items[n];
  LLVMValueRef at = LLVMGetOperand(load, 0);
  pairs_stand_before(p, load);
  if (g->kind == GROUP_CHECK) {
    pairs_record(p, pairs_definition(p, at), pairs_site_id(p, g->first));
    return;
  }
  LLVMValueRef number = pairs_number(p, 0);
  if (g->kind == GROUP_ROW)
    number = LLVMBuildZExt(p->builder, pairs_definition(p, at), p->i64, "");
  close_unit_hit(p->unit, p->builder, g->first, number);
}

static void insert_load(Pairs *p, LLVMValueRef load) {
  LLVMValueRef at = LLVMGetOperand(load, 0);
  const PairLocal *local = pairs_local(p, at);
  uint64_t again;
  pairs_mark_program(p, load);
  if (local && local->def) {
    record_group(p, load);
    return;
  }
  if (!pairs_is_recorded(p, load) ||
      hashmap_get(&p->again, &load, sizeof load, &again))
    return;
  pairs_stand_before(p, load);
  pairs_record_memory(p, pairs_definition(p, at), pairs_id(p, load));
}

// An atomic change: who was last is not known.
static void insert_atomic(Pairs *p, LLVMValueRef inst) {
  LLVMValueRef at = LLVMGetOperand(inst, 0);
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(inst, 1));
  pairs_stand_before(p, inst);
  pairs_store_shadow(p, at, pairs_size_of(p, type), pairs_none(p));
}

// The statement whose value is returned: where one `ret` serves several, that
// which stored it.
static LLVMValueRef returned_by(Pairs *p, LLVMValueRef ret) {
  LLVMValueRef v = LLVMGetOperand(ret, 0);
  while (LLVMIsACastInst(v))
    v = LLVMGetOperand(v, 0);
  if (LLVMIsALoadInst(v)) {
    LLVMValueRef at = LLVMGetOperand(v, 0);
    const PairLocal *local = pairs_local(p, pairs_object(at));
    if (local && !local->named)
      return pairs_definition(p, at);
  }
  return pairs_id(p, ret);
}

static bool is_must_tail(LLVMValueRef inst) {
  return inst && LLVMIsACallInst(inst) &&
         LLVMGetTailCallKind(inst) == LLVMTailCallKindMustTail;
}

static void insert_return(Pairs *p, LLVMValueRef ret) {
  if (is_must_tail(LLVMGetPreviousInstruction(ret)))
    return;
  pairs_stand_before(p, ret);
  if (LLVMGetNumOperands(ret))
    pairs_set(p, p->returned, returned_by(p, ret));
  if (p->shared)
    pairs_set(p, p->returner, p->function);
}

static void insert_inst(Pairs *p, LLVMValueRef inst) {
  switch (LLVMGetInstructionOpcode(inst)) {
  case LLVMStore:
    insert_store(p, inst);
    return;
  case LLVMLoad:
    insert_load(p, inst);
    return;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    insert_atomic(p, inst);
    return;
  case LLVMRet:
    insert_return(p, inst);
    return;
  case LLVMCall:
  case LLVMInvoke:
  case LLVMCallBr:
    pairs_insert_call(p, inst);
    return;
  default:
    return;
  }
}

static LLVMValueRef first_behind_allocas(const InstList *insts) {
  size_t i = 0;
  while (LLVMIsAAllocaInst(insts->items[i]) &&
         LLVMIsAConstantInt(LLVMGetOperand(insts->items[i], 0)))
    i++;
  return insts->items[i];
}

static void insert_function(Pairs *p, LLVMValueRef function) {
  InstList insts = {0};
  list_instructions(function, &insts);
  p->function = function;
  p->shared = !pairs_is_private(function);
  p->given = NULL;
  p->locals.len = 0;
  hashmap_release(&p->numbers);
  hashmap_release(&p->again);
  hashmap_release(&p->firsts);
  p->groups.len = 0;
  find_locals(p, &insts);
  pairs_find_again(p, &insts);
  pairs_find_groups(p, &insts);
  LLVMValueRef first = first_behind_allocas(&insts);
  if (LLVMCountParams(function))
    take_arguments(p, first);
  if (p->given)
    define_structs(p);
  clear_locals(p, first);
  for (size_t i = 0; i < insts.len; i++)
    insert_inst(p, insts.items[i]);
  for (size_t i = 0; i < p->locals.len; i++)
    free(p->locals.items[i].definers);
  for (size_t i = 0; i < p->groups.len; i++)
    array_release(&p->groups.items[i].statements);
  array_release(&insts);
}

static bool defines(LLVMModuleRef m, const char *name) {
  LLVMValueRef f = LLVMGetNamedFunction(m, name);
  return f && !LLVMIsDeclaration(f);
}

// Tells the runtime that blocks of the heap are not the C library's.
static void tell_own_malloc(Pairs *p) {
  if (!defines(p->module, "malloc") && !defines(p->module, "free"))
    return;
  LLVMValueRef g = LLVMAddGlobal(p->module, p->i8, "__culprit_own_malloc");
  LLVMSetInitializer(g, LLVMConstNull(p->i8));
  LLVMSetVisibility(g, LLVMHiddenVisibility);
  LLVMSetLinkage(g, LLVMWeakAnyLinkage);
}

static void note_changes(Pairs *p, const RelationSites *sites) {
  for (size_t i = 0; i < sites->len; i++) {
    const RelationSite *s = &sites->items[i];
    if (s->shape == SHAPE_CHANGE)
      hashmap_put(&p->changes, &s->inst, sizeof s->inst, s->first);
  }
}

void pairs_insert(CloseUnit *u, const RelationSites *sites) {
  Pairs p;
  InstList functions = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f;
       f = LLVMGetNextFunction(f))
    if (pairs_covers(f))
      array_push(&functions, f);
  pairs_open(&p, u);
  note_changes(&p, sites);
  tell_own_malloc(&p);
  for (size_t i = 0; i < functions.len; i++)
    insert_function(&p, functions.items[i]);
  array_release(&functions);
  pairs_close(&p);
}
