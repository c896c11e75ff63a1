// The variables in scope: see scope.h.
#include "hook/scope.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "plan/place.h"
#include "util/str.h"

// Operands of LLVM's metadata nodes.
enum {
  VARIABLE_SCOPE = 0,
  VARIABLE_NAME = 1,
  VARIABLE_TYPE = 3,
  BLOCK_SCOPE = 1,
  DERIVED_BASE = 3,
};

ValueKind value_kind(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind:
    return LLVMGetIntTypeWidth(type) <= 64 ? VALUE_SIGNED : VALUE_NONE;
  case LLVMPointerTypeKind:
    return VALUE_POINTER;
  case LLVMFloatTypeKind:
  case LLVMDoubleTypeKind:
    return VALUE_REAL;
  default:
    return VALUE_NONE;
  }
}

static LLVMMetadataKind kind_of(LLVMValueRef node) {
  return LLVMGetMetadataKind(LLVMValueAsMetadata(node));
}

LLVMValueRef plain_type(LLVMValueRef type) {
  enum { DEEP = 16 };
  for (int i = 0; type && i < DEEP; i++) {
    if (kind_of(type) != LLVMDIDerivedTypeMetadataKind)
      return type;
    type = metadata_part(type, DERIVED_BASE);
  }
  return type;
}

static bool is_unsigned(LLVMValueRef type) {
  LLVMValueRef plain = plain_type(type);
  size_t n = 0;
  if (!plain || kind_of(plain) != LLVMDIBasicTypeMetadataKind)
    return false;
  const char *name = LLVMDITypeGetName(LLVMValueAsMetadata(plain), &n);
  return n >= 5 && (!strncmp(name, "unsig", 5) || !strncmp(name, "_Bool", 5));
}

static void add_variable(Scope *s, ScopeVariable v, LLVMValueRef type) {
  if (v.kind == VALUE_SIGNED && type && is_unsigned(type))
    v.kind = VALUE_UNSIGNED;
  v.written = type;
  v.plain = type ? plain_type(type) : NULL;
  if (hashmap_intern(&s->index, &v.address, sizeof v.address,
                     s->variables.len) == s->variables.len)
    array_push(&s->variables, v);
}

static bool is_declaration(LLVMValueRef inst) {
  static const char declare[] = "llvm.dbg.declare";
  size_t n;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(inst), &n);
  return n == sizeof declare - 1 && !memcmp(name, declare, n);
}

// llvm.dbg.declare(ADDRESS, VARIABLE, ...)
static void add_local(Scope *s, LLVMValueRef inst, uint32_t number) {
  LLVMValueRef wrapped = LLVMGetOperand(inst, 0), address = NULL;
  LLVMValueRef variable = LLVMGetOperand(inst, 1);
  LLVMValueRef text = metadata_part(variable, VARIABLE_NAME);
  unsigned n = 0;
  const char *name = text ? LLVMGetMDString(text, &n) : NULL;
  if (LLVMGetMetadataKind(LLVMValueAsMetadata(wrapped)) ==
      LLVMLocalAsMetadataMetadataKind)
    LLVMGetMDNodeOperands(wrapped, &address);
  if (!address || !n || !LLVMIsAAllocaInst(address))
    return;
  LLVMTypeRef type = LLVMGetAllocatedType(address);
  add_variable(s,
               (ScopeVariable){.address = address,
                               .name = arena_strndup(s->arena, name, n),
                               .type = type,
                               .kind = value_kind(type),
                               .block = metadata_part(variable, VARIABLE_SCOPE),
                               .declared = number},
               metadata_part(variable, VARIABLE_TYPE));
}

// Names that the compiler made have a dot in them.
static void add_global(Scope *s, LLVMValueRef g) {
  size_t n;
  const char *name = LLVMGetValueName2(g, &n);
  LLVMTypeRef type = LLVMGlobalGetValueType(g);
  if (n && !memchr(name, '.', n) && !LLVMIsThreadLocal(g) &&
      strncmp(name, "__culprit", 9) != 0)
    add_variable(s,
                 (ScopeVariable){.address = g,
                                 .name = arena_strndup(s->arena, name, n),
                                 .type = type,
                                 .kind = value_kind(type)},
                 NULL);
}

static void read_instruction(Scope *s, LLVMValueRef i, uint32_t number) {
  hashmap_put(&s->numbers, &i, sizeof i, number);
  if (is_debug_call(i)) {
    if (is_declaration(i))
      add_local(s, i, number);
    return;
  }
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
    if (v && LLVMIsAGlobalVariable(v))
      add_global(s, v);
  }
}

void scope_read(Scope *s, LLVMValueRef function, Arena *arena) {
  uint32_t number = 0;
  *s = (Scope){.arena = arena};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      read_instruction(s, i, ++number);
}

void scope_release(Scope *s) {
  array_release(&s->variables);
  hashmap_release(&s->index);
  hashmap_release(&s->numbers);
}

const ScopeVariable *scope_find(const Scope *s, LLVMValueRef address) {
  uint64_t at;
  return hashmap_get(&s->index, &address, sizeof address, &at)
             ? &s->variables.items[at]
             : NULL;
}

// Is `block` the scope of the instruction, or around it?
static bool is_within(LLVMValueRef inst, LLVMValueRef block) {
  enum { DEEP = 64 };
  LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(inst);
  if (!loc)
    return false;
  LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(inst));
  LLVMValueRef at = LLVMMetadataAsValue(c, LLVMDILocationGetScope(loc));
  for (int i = 0; at && i < DEEP; i++) {
    if (at == block)
      return true;
    if (kind_of(at) == LLVMDISubprogramMetadataKind)
      return false;
    at = metadata_part(at, BLOCK_SCOPE);
  }
  return false;
}

bool scope_reaches(const Scope *s, const ScopeVariable *v, LLVMValueRef inst) {
  uint64_t number = 0;
  if (!v->block)
    return true;
  hashmap_get(&s->numbers, &inst, sizeof inst, &number);
  return v->declared < number && is_within(inst, v->block);
}
