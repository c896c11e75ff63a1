// Names of the source's variables, from debug information: see lower_internal.h
//
//   llvm.dbg.value(n, "n")        n has this value from here on
//   llvm.dbg.declare(p, "n")      n lies at this address
//
// Only scalars of up to 64 bits are listed, and of those only what an
// operand says without an expression on top.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "lower/lower_internal.h"
#include "plan/place.h"

enum {
  TAG_ENUMERATION = 0x04,
  TAG_POINTER = 0x0f,
  TAG_TYPEDEF = 0x16,
  TAG_BASE = 0x24,
  TAG_CONST = 0x26,
  TAG_VOLATILE = 0x35,
  TAG_ATOMIC = 0x47,
};

static bool is_named(LLVMMetadataRef type, const char *const *names) {
  size_t n;
  const char *name = LLVMDITypeGetName(type, &n);
  for (; *names; names++)
    if (n >= strlen(*names) && !memcmp(name, *names, strlen(*names)))
      return true;
  return false;
}

// IR_FP, IR_UNSIGNED or nothing, of a base type.
static uint8_t base_flags(LLVMMetadataRef type) {
  static const char *const fp[] = {"float", "double", NULL};
  static const char *const without_sign[] = {"unsigned", "_Bool", "bool", NULL};
  return is_named(type, fp)             ? IR_FP
         : is_named(type, without_sign) ? IR_UNSIGNED
                                        : 0;
}

// Width and flags of a scalar type. False: it is none.
static bool describe(LLVMValueRef type, IrVariable *out) {
  enum { BASE_TYPE = 3, DEEPEST = 16 };
  for (int i = 0; type && i < DEEPEST; i++) {
    LLVMMetadataRef node = LLVMValueAsMetadata(type);
    unsigned tag = LLVMGetDINodeTag(node);
    uint64_t bits = LLVMDITypeGetSizeInBits(node);
    switch (tag) {
    case TAG_TYPEDEF:
    case TAG_CONST:
    case TAG_VOLATILE:
    case TAG_ATOMIC:
      type = metadata_part(type, BASE_TYPE);
      continue;
    case TAG_BASE:
    case TAG_ENUMERATION:
    case TAG_POINTER:
      out->width = (uint8_t)(bits <= 64 ? bits : 0);
      out->flags = tag == TAG_POINTER ? IR_POINTER
                   : tag == TAG_BASE  ? base_flags(node)
                                      : 0;
      return out->width > 0;
    default:
      return false;
    }
  }
  return false;
}

// The operand that the first argument is. False: it is more than a value.
static bool operand_of(Lowerer *l, LLVMValueRef wrapped, uint32_t *out) {
  LLVMMetadataKind kind = LLVMGetMetadataKind(LLVMValueAsMetadata(wrapped));
  LLVMValueRef v;
  if (kind != LLVMLocalAsMetadataMetadataKind &&
      kind != LLVMConstantAsMetadataMetadataKind)
    return false;
  LLVMGetMDNodeOperands(wrapped, &v);
  if (kind == LLVMConstantAsMetadataMetadataKind && !LLVMIsAConstantInt(v) &&
      !LLVMIsAConstantFP(v) && !LLVMIsAConstantPointerNull(v))
    return false;
  if (kind == LLVMLocalAsMetadataMetadataKind &&
      LLVMIsAInstruction(v) == NULL && LLVMIsAArgument(v) == NULL)
    return false;
  *out = lower_operand(l, v, 0);
  return *out & IR_CONST || *out < l->nregs;
}

// There is one empty expression in a context.
static LLVMMetadataRef no_expression(Lowerer *l) {
  if (!l->no_expression) {
    LLVMDIBuilderRef b = LLVMCreateDIBuilderDisallowUnresolved(l->code->module);
    l->no_expression = LLVMDIBuilderCreateExpression(b, NULL, 0);
    LLVMDisposeDIBuilder(b);
  }
  return l->no_expression;
}

void lower_variable(Lowerer *l, LLVMValueRef inst) {
  enum { VARIABLE = 1, EXPRESSION = 2, NAME = 1, TYPE = 3 };
  const char *name = trace_code_intrinsic(inst);
  bool declares = !strcmp(name, "llvm.dbg.declare");
  if (!declares && strcmp(name, "llvm.dbg.value"))
    return;
  IrVariable out = {.inst = (uint32_t)l->out.insts.len,
                    .function = (uint32_t)l->out.functions.len};
  LLVMValueRef variable = LLVMGetOperand(inst, VARIABLE);
  LLVMValueRef text = metadata_part(variable, NAME);
  unsigned n;
  const char *s = text ? LLVMGetMDString(text, &n) : NULL;
  bool plain =
      LLVMValueAsMetadata(LLVMGetOperand(inst, EXPRESSION)) == no_expression(l);
  if (!s || !n || !plain || !describe(metadata_part(variable, TYPE), &out) ||
      !operand_of(l, LLVMGetOperand(inst, 0), &out.operand))
    return;
  LLVMMetadataRef key = LLVMValueAsMetadata(variable);
  out.name = lower_name(l, s, n);
  out.flags |= declares ? IR_IN_MEMORY : 0;
  out.variable = (uint32_t)hashmap_intern(&l->variables, &key, sizeof key,
                                          l->out.variables.len);
  array_push(&l->out.variables, out);
}
