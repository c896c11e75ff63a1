// What statements write and read: see accesses.h. More may be listed than pairs
// are recorded of (pairs.h): then a name is not told that could be. Less may
// not: then a wrong one might.
#include "close/accesses.h"

#include <stdlib.h>
#include <string.h>

#include "close/relation_text.h"
#include "model/access.h"
#include "model/library_effects.h"
#include "util/str.h"

typedef struct {
  CloseUnit *unit;
  LLVMValueRef function;
  const char *function_name;
  Hashmap numbers; // alloca -> its number in the function
  Str *lists;      // by entity
} AccessLister;

static const char *name_of(LLVMValueRef v) {
  size_t n;
  return LLVMGetValueName2(v, &n);
}

static void add(AccessLister *l, LLVMValueRef inst, AccessRole role,
                AccessKind kind, const char *identity, const char *name) {
  uint32_t statement = close_unit_statement(l->unit, inst);
  if (statement != ENTITY_NONE)
    access_add(&l->lists[statement], role, kind, identity, name);
}

// --- variables --------------------------------------------------------------

static bool is_step(LLVMValueRef v) {
  return LLVMIsAGetElementPtrInst(v) ||
         (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

// `count` of a static variable that is called main.count.
static const char *shown_name(const CloseUnit *u, LLVMValueRef object) {
  const char *name = close_unit_variable(u, object);
  const char *dot = name ? strrchr(name, '.') : NULL;
  return dot ? dot + 1 : name;
}

static bool is_call_of(LLVMValueRef inst, const char *prefix) {
  return LLVMIsACallInst(inst) && LLVMIsAFunction(LLVMGetCalledValue(inst)) &&
         !strncmp(name_of(LLVMGetCalledValue(inst)), prefix, strlen(prefix));
}

// Does its address go nowhere?
static bool is_unreached(LLVMValueRef alloca) {
  for (LLVMUseRef u = LLVMGetFirstUse(alloca); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    bool plain = LLVMIsALoadInst(user) ||
                 (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != alloca);
    if (!plain && !is_call_of(user, "llvm.lifetime."))
      return false;
  }
  return true;
}

// Is the value an argument, or made from one and nothing else?
static bool is_argument(LLVMValueRef v) {
  while (LLVMIsACastInst(v))
    v = LLVMGetOperand(v, 0);
  return LLVMIsAArgument(v);
}

static bool holds_argument(LLVMValueRef alloca) {
  for (LLVMUseRef u = LLVMGetFirstUse(alloca); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef store = LLVMGetUser(u);
    if (LLVMIsAStoreInst(store) && is_argument(LLVMGetOperand(store, 0)))
      return true;
  }
  return false;
}

// --- places -----------------------------------------------------------------

typedef struct {
  AccessKind kind;
  char *identity;     // caller frees
  LLVMValueRef local; // the alloca, if it is directly in one; or NULL
} AccessPlace;

// Is it a struct by whose name its fields are known in all units?
static const char *struct_name(LLVMTypeRef type) {
  static const char prefix[] = "struct.", anonymous[] = "struct.anon";
  const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind
                         ? LLVMGetStructName(type)
                         : NULL;
  if (!name || strncmp(name, prefix, sizeof prefix - 1) != 0 ||
      !strncmp(name, anonymous, sizeof anonymous - 1))
    return NULL;
  return name + sizeof prefix - 1;
}

static bool is_union(LLVMTypeRef type) {
  const char *name = type && LLVMGetTypeKind(type) == LLVMStructTypeKind
                         ? LLVMGetStructName(type)
                         : NULL;
  return name && !strncmp(name, "union.", 6);
}

// Where a step leads from its base.
typedef struct {
  bool field; // else a cell of an array
  LLVMTypeRef owner;
  uint64_t index;
  LLVMTypeRef type; // of what is there; NULL: not known
} AccessStep;

static AccessStep read_step(LLVMValueRef gep) {
  int n = LLVMGetNumOperands(gep);
  AccessStep s = {.type = LLVMGetGEPSourceElementType(gep)};
  for (int i = 2; i < n && s.type; i++) {
    LLVMTypeKind kind = LLVMGetTypeKind(s.type);
    LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
    s.field = kind == LLVMStructTypeKind;
    if (s.field) {
      s.owner = s.type;
      s.index = LLVMConstIntGetZExtValue(index);
      s.type = LLVMStructGetTypeAtIndex(s.type, (unsigned)s.index);
    } else {
      s.type = kind == LLVMArrayTypeKind ? LLVMGetElementType(s.type) : NULL;
    }
  }
  return s;
}

// LLVM adds numbers to names that a module has twice.
static char *field_identity(const char *owner, uint64_t index) {
  size_t n = strlen(owner), end = n;
  while (end && owner[end - 1] >= '0' && owner[end - 1] <= '9')
    end--;
  n = end < n && end && owner[end - 1] == '.' ? end - 1 : n;
  return mem_printf("%.*s/%llu", (int)n, owner, (unsigned long long)index);
}

static LLVMTypeRef type_at(LLVMValueRef address) {
  if (LLVMIsAAllocaInst(address))
    return LLVMGetAllocatedType(address);
  if (LLVMIsAGlobalVariable(address))
    return LLVMGlobalGetValueType(address);
  return is_step(address) ? read_step(address).type : NULL;
}

// Of a struct that is read or written at once, any field is.
static bool is_struct(LLVMTypeRef type) {
  return type && LLVMGetTypeKind(type) == LLVMStructTypeKind;
}

static AccessPlace in_memory(void) {
  return (AccessPlace){ACCESS_MEMORY, mem_strdup(""), NULL};
}

static AccessPlace place_of_object(AccessLister *l, LLVMValueRef object) {
  uint64_t number;
  if (LLVMIsAGlobalVariable(object))
    return (AccessPlace){ACCESS_OBJECT, mem_strdup(name_of(object)), NULL};
  if (!LLVMIsAAllocaInst(object) ||
      !hashmap_get(&l->numbers, &object, sizeof object, &number))
    return in_memory();
  return (AccessPlace){
      is_unreached(object) ? ACCESS_LOCAL : ACCESS_OBJECT,
      mem_printf("%s/%llu", l->function_name, (unsigned long long)number),
      object};
}

static AccessPlace place_at(AccessLister *l, LLVMValueRef address) {
  if (is_struct(type_at(address)))
    return in_memory();
  if (!is_step(address))
    return place_of_object(l, address);
  AccessStep s = read_step(address);
  LLVMValueRef base = LLVMGetOperand(address, 0);
  if (!s.field)
    return place_at(l, base);
  const char *owner = struct_name(s.owner);
  if (!owner || is_union(type_at(base)))
    return in_memory();
  return (AccessPlace){ACCESS_FIELD, field_identity(owner, s.index), NULL};
}

static LLVMValueRef root_of(LLVMValueRef address) {
  while (is_step(address))
    address = LLVMGetOperand(address, 0);
  return address;
}

// `buf`, `*p` of what a function was given; NULL: it has no short name.
static const char *given_name(const CloseUnit *u, LLVMValueRef address) {
  while (is_step(address) && !read_step(address).field)
    address = LLVMGetOperand(address, 0);
  if (!LLVMIsALoadInst(address))
    return shown_name(u, address);
  const char *name = shown_name(u, LLVMGetOperand(address, 0));
  return name ? arena_printf(&u->plan->arena, "*%s", name) : NULL;
}

// --- loads and stores -------------------------------------------------------

static void list_load(AccessLister *l, LLVMValueRef load) {
  LLVMValueRef root = root_of(LLVMGetOperand(load, 0));
  AccessPlace p = place_at(l, LLVMGetOperand(load, 0));
  bool hidden =
      (LLVMIsAGlobalVariable(root) && LLVMIsGlobalConstant(root)) ||
      (LLVMIsAAllocaInst(root) && !close_unit_variable(l->unit, root));
  if (!hidden)
    add(l, load, ACCESS_USES, p.kind, p.identity, NULL);
  if (!hidden && p.local && holds_argument(p.local))
    add(l, load, ACCESS_USES, ACCESS_ARGUMENT, l->function_name,
        shown_name(l->unit, p.local));
  free(p.identity);
}

static void list_store(AccessLister *l, LLVMValueRef store) {
  LLVMValueRef to = LLVMGetOperand(store, 1);
  AccessPlace p = place_at(l, to);
  const char *name = is_step(to) ? NULL : shown_name(l->unit, to);
  if (!name)
    name = stored_text(l->unit, store);
  add(l, store, ACCESS_DEFINES, p.kind, p.identity, name);
  // Where a function returns in several places, each stores what it returns.
  if (p.local && !close_unit_variable(l->unit, p.local))
    add(l, store, ACCESS_DEFINES, ACCESS_RESULT, l->function_name,
        arena_printf(&l->unit->plan->arena, "%s()", l->function_name));
  free(p.identity);
}

// --- calls ------------------------------------------------------------------

// May a pointer lead to one of its parameters? Of a function that is elsewhere
// it is not known.
static bool has_reached_parameter(LLVMValueRef function) {
  if (!LLVMIsAFunction(function) || LLVMIsDeclaration(function))
    return true;
  unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    if (LLVMGetEnumAttributeAtIndex(function, i + 1, byval))
      return true;
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i;
       i = LLVMGetNextInstruction(i))
    if (LLVMIsAStoreInst(i) && is_argument(LLVMGetOperand(i, 0)) &&
        !(LLVMIsAAllocaInst(LLVMGetOperand(i, 1)) &&
          is_unreached(LLVMGetOperand(i, 1))))
      return true;
  return false;
}

static bool is_variable_pointer(LLVMValueRef v) {
  LLVMValueRef root = root_of(v);
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind &&
         !(LLVMIsAGlobalVariable(root) && LLVMIsGlobalConstant(root));
}

// May the call read what one of its arguments from this one on points to?
static bool passes_pointer(LLVMValueRef call, int first) {
  for (int i = first < 0 ? 0 : first; i < (int)LLVMGetNumArgOperands(call); i++)
    if (is_variable_pointer(LLVMGetOperand(call, (unsigned)i)))
      return true;
  return false;
}

static bool only_reads(EffectKind kind) {
  return kind == READS_TEXT || kind == READS_BYTES || kind == PRINTS;
}

static void list_effect(AccessLister *l, LLVMValueRef call,
                        const LibraryEffect *e) {
  bool given = e->arg >= 0 && e->arg < (int)LLVMGetNumArgOperands(call);
  bool one = e->kind != SCANS && e->kind != MOVES_BLOCK && given;
  if (!only_reads(e->kind))
    add(l, call, ACCESS_DEFINES, ACCESS_MEMORY, "",
        one ? given_name(l->unit, LLVMGetOperand(call, (unsigned)e->arg))
            : NULL);
  if (passes_pointer(call, e->kind == PRINTS ? e->size : 0))
    add(l, call, ACCESS_USES, ACCESS_MEMORY, "", NULL);
}

static bool passes_struct(LLVMValueRef call) {
  unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
    if (LLVMGetCallSiteEnumAttribute(call, i + 1, byval))
      return true;
  return false;
}

static void list_call(AccessLister *l, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  bool known = LLVMIsAFunction(callee);
  const char *name = known ? name_of(callee) : ACCESS_ANY;
  if (is_call_of(call, "llvm.mem")) {
    add(l, call, ACCESS_DEFINES, ACCESS_MEMORY, "",
        given_name(l->unit, LLVMGetOperand(call, 0)));
    add(l, call, ACCESS_USES, ACCESS_MEMORY, "", NULL);
    return;
  }
  if (known && LLVMGetIntrinsicID(callee))
    return;
  const LibraryCall *c =
      known && LLVMIsDeclaration(callee) ? library_call(name) : NULL;
  for (int i = 0; c && i < c->n; i++)
    list_effect(l, call, &c->effects[i]);
  if (c)
    return;
  add(l, call, ACCESS_DEFINES,
      has_reached_parameter(callee) ? ACCESS_REACHED : ACCESS_ARGUMENT, name,
      NULL);
  add(l, call, ACCESS_USES, ACCESS_RESULT, name, NULL);
  if (passes_struct(call))
    add(l, call, ACCESS_USES, ACCESS_MEMORY, "", NULL);
}

static void list_inst(AccessLister *l, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMLoad:
    list_load(l, i);
    return;
  case LLVMStore:
    list_store(l, i);
    return;
  case LLVMRet:
    add(l, i, ACCESS_DEFINES, ACCESS_RESULT, l->function_name,
        arena_printf(&l->unit->plan->arena, "%s()", l->function_name));
    return;
  case LLVMCall:
  case LLVMInvoke:
  case LLVMCallBr:
    list_call(l, i);
    return;
  default:
    return;
  }
}

// --- the unit ---------------------------------------------------------------

static void list_function(AccessLister *l, LLVMValueRef function) {
  l->function = function;
  l->function_name = name_of(function);
  hashmap_release(&l->numbers);
  uint64_t n = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsAAllocaInst(i))
        hashmap_put(&l->numbers, &i, sizeof i, n++);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      list_inst(l, i);
}

void accesses_list(CloseUnit *u) {
  Plan *p = u->plan;
  size_t n = p->entities.len;
  AccessLister l = {.unit = u, .lists = mem_array(Str, n + 1)};
  for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f;
       f = LLVMGetNextFunction(f))
    if (plan_covers(f))
      list_function(&l, f);
  for (size_t i = 0; i < n; i++) {
    if (l.lists[i].len)
      p->entities.items[i].text =
          arena_strdup(&p->arena, str_text(&l.lists[i]));
    str_release(&l.lists[i]);
  }
  hashmap_release(&l.numbers);
  free(l.lists);
}
