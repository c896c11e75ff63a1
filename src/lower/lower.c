// Writes a unit down as lowered IR: functions, constants, globals, and the
// file. See lower.h; lower_inst.c does the instructions.
#include "lower/lower.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_format.h"
#include "lower/lower_internal.h"
#include "plan/place.h"

// --- marks ------------------------------------------------------------------

const char *const lower_mark_names[3] = {"culprit.block", "culprit.condition",
                                         "culprit.call"};

static unsigned mark_kind(LLVMContextRef c, MarkKind kind) {
  const char *name = lower_mark_names[kind];
  return LLVMGetMDKindIDInContext(c, name, (unsigned)strlen(name));
}

void lower_keep_marks(LLVMModuleRef m, const Plan *p) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
  for (size_t i = 0; i < p->marks.len; i++) {
    const Mark *k = &p->marks.items[i];
    LLVMMetadataRef parts[3] = {
        LLVMValueAsMetadata(LLVMConstInt(i32, k->first, false)),
        LLVMValueAsMetadata(LLVMConstInt(i32, k->n, false)),
        LLVMValueAsMetadata(LLVMConstInt(i32, k->site, false))};
    LLVMSetMetadata(k->inst, mark_kind(c, k->kind),
                    LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, parts, 3)));
  }
}

bool lower_get_mark(LLVMValueRef inst, MarkKind kind, Mark *out) {
  LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(inst));
  LLVMValueRef node = LLVMGetMetadata(inst, mark_kind(c, kind));
  if (!node || LLVMGetMDNodeNumOperands(node) != 3)
    return false;
  LLVMValueRef parts[3];
  LLVMGetMDNodeOperands(node, parts);
  *out = (Mark){inst, kind, (uint32_t)LLVMConstIntGetZExtValue(parts[0]),
                (uint32_t)LLVMConstIntGetZExtValue(parts[1]),
                (uint32_t)LLVMConstIntGetZExtValue(parts[2])};
  return true;
}

// --- tables -----------------------------------------------------------------

uint8_t lower_kind(const Scalar *s) {
  bool pointer = s->type && LLVMGetTypeKind(s->type) == LLVMPointerTypeKind;
  return s->fp ? IR_FP : pointer ? IR_POINTER : 0;
}

uint32_t lower_name(Lowerer *l, const char *text, size_t n) {
  uint64_t fresh = l->out.names.len;
  uint64_t at = hashmap_intern(&l->names, text, n, fresh);
  if (at == fresh) {
    for (size_t i = 0; i < n; i++)
      array_push(&l->out.names, text[i] ? text[i] : '?');
    array_push(&l->out.names, '\0');
  }
  return (uint32_t)at;
}

uint32_t lower_symbol(Lowerer *l, const char *name, size_t n) {
  if (n && *name == '\1')
    name++, n--;
  uint64_t fresh = l->out.symbols.len;
  uint64_t at = hashmap_intern(&l->symbols, name, n, fresh);
  if (at == fresh)
    array_push(&l->out.symbols, (IrSymbol){lower_name(l, name, n), IR_NONE, 0});
  return (uint32_t)at;
}

static uint32_t add_constant(Lowerer *l, IrConstant c) {
  uint64_t fresh = l->out.constants.len;
  uint64_t at = hashmap_intern(&l->constants, &c, sizeof c, fresh);
  if (at == fresh)
    array_push(&l->out.constants, c);
  return (uint32_t)at | IR_CONST;
}

uint32_t lower_number(Lowerer *l, uint64_t value) {
  return add_constant(l, (IrConstant){value, IR_NONE, 0});
}

uint32_t lower_link(Lowerer *l, uint32_t link) {
  return add_constant(l, (IrConstant){0, link, 0});
}

// --- constants --------------------------------------------------------------

static uint64_t real_bits(LLVMValueRef v) {
  LLVMBool lossy;
  double d = LLVMConstRealGetDouble(v, &lossy);
  uint64_t bits = 0;
  if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMFloatTypeKind) {
    float f = (float)d;
    memcpy(&bits, &f, sizeof f);
  } else {
    memcpy(&bits, &d, sizeof d);
  }
  return bits;
}

static LLVMValueRef element(LLVMValueRef v, unsigned i) {
  return LLVMGetAggregateElement(v, i);
}

static unsigned element_count(LLVMTypeRef t) {
  return LLVMGetTypeKind(t) == LLVMStructTypeKind
             ? LLVMCountStructElementTypes(t)
             : (unsigned)LLVMGetArrayLength2(t);
}

static bool is_aggregate(LLVMTypeRef t) {
  LLVMTypeKind k = LLVMGetTypeKind(t);
  return k == LLVMStructTypeKind || k == LLVMArrayTypeKind;
}

// Scalar `k` of a constant; moves *k down over the elements it passes.
static LLVMValueRef constant_scalar(const Lowerer *l, LLVMValueRef v,
                                    uint32_t *k) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (!is_aggregate(t)) {
    if (*k == 0)
      return v;
    --*k;
    return NULL;
  }
  for (unsigned i = 0; i < element_count(t); i++) {
    LLVMValueRef found = constant_scalar(l, element(v, i), k);
    if (found)
      return found;
  }
  return NULL;
}

static uint32_t constant_operand(Lowerer *l, LLVMValueRef v, uint32_t k) {
  v = constant_scalar(l, v, &k);
  if (!v || LLVMIsNull(v) || LLVMIsUndef(v))
    return lower_number(l, 0);
  if (LLVMIsAConstantInt(v)) {
    if (LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
      return lower_number(l, 0);
    return lower_number(l, LLVMConstIntGetZExtValue(v));
  }
  if (LLVMIsAConstantFP(v))
    return lower_number(l, real_bits(v));
  uint32_t link = trace_code_constant(l->code, v);
  if (link != UINT32_MAX &&
      (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind ||
       LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 64))
    return lower_link(l, link);
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(v));
  if (kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind)
    l->refused = "a constant expression";
  return lower_number(l, 0);
}

uint32_t lower_first_reg(Lowerer *l, LLVMValueRef v) {
  uint64_t r;
  if (hashmap_get(&l->regs, &v, sizeof v, &r))
    return (uint32_t)r;
  return 0;
}

uint32_t lower_new_reg(Lowerer *l) { return l->nregs++; }

uint32_t lower_operand(Lowerer *l, LLVMValueRef v, uint32_t k) {
  if (LLVMIsAInstruction(v) || LLVMIsAArgument(v))
    return lower_first_reg(l, v) + k;
  if (LLVMIsConstant(v))
    return constant_operand(l, v, k);
  return lower_number(l, 0); // metadata, inline assembly
}

// --- globals ----------------------------------------------------------------

typedef struct {
  const Lowerer *lowerer;
  uint8_t *bytes, *known;
} Image;

static void put_bytes(Image *im, uint64_t at, uint64_t value, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    im->bytes[at + i] = (uint8_t)(value >> 8 * i);
    im->known[at + i] = 1;
  }
}

static void put_text(Image *im, uint64_t at, LLVMValueRef v) {
  size_t n;
  const char *text = LLVMGetAsString(v, &n);
  memcpy(im->bytes + at, text, n);
  memset(im->known + at, 1, n);
}

static void put_constant(Image *im, uint64_t at, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  LLVMTargetDataRef layout = im->lowerer->code->layout;
  uint64_t size = LLVMStoreSizeOfType(layout, t);
  if (LLVMIsNull(v) || LLVMIsUndef(v)) {
    memset(im->known + at, 1, size);
  } else if (LLVMIsAConstantInt(v) && size <= 8) {
    put_bytes(im, at, LLVMConstIntGetZExtValue(v), size);
  } else if (LLVMIsAConstantFP(v) && size <= 8 &&
             LLVMGetTypeKind(t) != LLVMHalfTypeKind) {
    put_bytes(im, at, real_bits(v), size);
  } else if (LLVMIsConstantString(v)) {
    put_text(im, at, v);
  } else if (is_aggregate(t)) {
    bool array = LLVMGetTypeKind(t) == LLVMArrayTypeKind;
    uint64_t step =
        array ? LLVMABISizeOfType(layout, LLVMGetElementType(t)) : 0;
    for (unsigned i = 0; i < element_count(t); i++)
      put_constant(im,
                   at + (array ? i * step : LLVMOffsetOfElement(layout, t, i)),
                   element(v, i));
  } // else an address: unknown
}

static void lower_global(Lowerer *l, LLVMValueRef g) {
  uint32_t link = trace_code_constant(l->code, g);
  LLVMValueRef init = LLVMGetInitializer(g);
  if (link == UINT32_MAX || !init)
    return;
  size_t n;
  const char *name = LLVMGetValueName2(g, &n);
  IrGlobal out = {.name = lower_name(l, name, n),
                  .link = link,
                  .flags = LLVMIsGlobalConstant(g) ? IR_READ_ONLY : 0,
                  .size = LLVMABISizeOfType(l->code->layout, LLVMTypeOf(init)),
                  .first_byte = l->out.bytes.len};
  if (!LLVMIsNull(init)) {
    out.nbytes = out.size;
    array_reserve(&l->out.bytes, out.nbytes);
    array_reserve(&l->out.known, out.nbytes);
    Image im = {l, l->out.bytes.items + l->out.bytes.len,
                l->out.known.items + l->out.known.len};
    memset(im.bytes, 0, out.nbytes);
    memset(im.known, 0, out.nbytes);
    put_constant(&im, 0, init);
    l->out.bytes.len += out.nbytes;
    l->out.known.len += out.nbytes;
  }
  array_push(&l->out.globals, out);
}

// --- functions --------------------------------------------------------------

static void number_values(Lowerer *l, Scalars *s) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(l->function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      trace_code_scalars(l->code, LLVMTypeOf(i), s);
      hashmap_put(&l->regs, &i, sizeof i, l->nregs);
      l->nregs += (uint32_t)s->len;
    }
}

// Loops that may be unrecorded: one register each says whether they are.
static void number_ranges(Lowerer *l) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(l->function); b;
       b = LLVMGetNextBasicBlock(b))
    if (trace_loops_behind(&l->code->loops, b))
      hashmap_put(&l->ranges, &b, sizeof b, lower_new_reg(l));
}

static uint64_t by_value_size(const Lowerer *l, unsigned param) {
  unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
  LLVMAttributeRef a =
      LLVMGetEnumAttributeAtIndex(l->function, param + 1, kind);
  return a ? LLVMABISizeOfType(l->code->layout, LLVMGetTypeAttributeValue(a))
           : 0;
}

static void lower_params(Lowerer *l, IrFunction *f) {
  Scalars s = {0};
  f->first_scalar = (uint32_t)l->out.scalars.len;
  f->first_by_value = (uint32_t)l->out.by_values.len;
  for (unsigned i = 0; i < LLVMCountParams(l->function); i++) {
    LLVMValueRef p = LLVMGetParam(l->function, i);
    trace_code_scalars(l->code, LLVMTypeOf(p), &s);
    hashmap_put(&l->regs, &p, sizeof p, l->nregs);
    uint64_t size = by_value_size(l, i);
    if (size)
      array_push(&l->out.by_values, (IrByValue){l->nregs, (uint32_t)size});
    for (size_t k = 0; k < s.len; k++)
      array_push(&l->out.scalars, (IrScalar){(uint8_t)s.items[k].width,
                                             lower_kind(&s.items[k])});
    l->nregs += (uint32_t)s.len;
  }
  f->nparams = l->nregs;
  f->nby_value = (uint32_t)l->out.by_values.len - f->first_by_value;
  number_values(l, &s);
  array_release(&s);
}

static uint32_t function_entity(const Lowerer *l, const char *name) {
  if (*name == '\1')
    name++;
  for (size_t i = 0; i < l->plan->entities.len; i++) {
    const Entity *e = &l->plan->entities.items[i];
    if (e->kind == ENTITY_FUNCTION && !strcmp(e->name, name))
      return (uint32_t)i;
  }
  return ENTITY_NONE;
}

static IrFunction function_head(Lowerer *l) {
  size_t n;
  const char *name = LLVMGetValueName2(l->function, &n);
  LLVMLinkage linkage = LLVMGetLinkage(l->function);
  bool weak = linkage == LLVMWeakAnyLinkage || linkage == LLVMWeakODRLinkage ||
              linkage == LLVMLinkOnceAnyLinkage ||
              linkage == LLVMLinkOnceODRLinkage;
  bool hidden = linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
  LLVMTypeRef type = LLVMGlobalGetValueType(l->function);
  IrFunction f = {.name = lower_name(l, name, n),
                  .flags = (hidden ? 0 : IR_EXPORTED) | (weak ? IR_WEAK : 0) |
                           (LLVMIsFunctionVarArg(type) ? IR_VARIADIC : 0),
                  .first_block = (uint32_t)l->out.blocks.len,
                  .nblocks = LLVMCountBasicBlocks(l->function),
                  .entity = function_entity(l, name),
                  .address = trace_code_constant(l->code, l->function)};
  return f;
}

static void lower_function(Lowerer *l) {
  IrFunction f = function_head(l);
  l->nregs = 0;
  l->regs = (Hashmap){0};
  l->blocks = (Hashmap){0};
  l->first_block = f.first_block;
  l->ranges = (Hashmap){0};
  lower_params(l, &f);
  number_ranges(l);
  uint32_t k = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(l->function); b;
       b = LLVMGetNextBasicBlock(b))
    hashmap_put(&l->blocks, &b, sizeof b, k++);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(l->function); b;
       b = LLVMGetNextBasicBlock(b))
    lower_block(l, b);
  f.nregs = l->nregs;
  if (f.entity != ENTITY_NONE)
    f.place =
        l->out.insts.items[l->out.blocks.items[f.first_block].first].place;
  array_push(&l->out.functions, f);
  hashmap_release(&l->regs);
  hashmap_release(&l->blocks);
  hashmap_release(&l->ranges);
}

// --- the file ---------------------------------------------------------------

static void write_array(Str *out, const void *items, size_t n, size_t size) {
  str_addn(out, items, n * size);
  static const char zero[8] = {0};
  str_addn(out, zero, (8 - out->len % 8) % 8);
}

static void write_file(Lowerer *l, Str *out) {
  IrFileHeader h = {.magic = IR_MAGIC,
                    .version = IR_VERSION,
                    .nlinks = (uint32_t)l->code->constants.len};
  memcpy(h.id, l->plan->id.bytes, sizeof h.id);
  size_t start = out->len, k = 0;
#define LENGTH(member) h.lengths[k++] = l->out.member.len;
  IR_ARRAYS(LENGTH)
#undef LENGTH
  str_addn(out, &h, sizeof h);
#define WRITE(member)                                                          \
  write_array(out, l->out.member.items, l->out.member.len,                     \
              sizeof *l->out.member.items);
  IR_ARRAYS(WRITE)
#undef WRITE
  h.size = out->len - start;
  memcpy(out->data + start, &h, sizeof h);
}

static void release(Lowerer *l) {
#define RELEASE(member) array_release(&l->out.member);
  IR_ARRAYS(RELEASE)
#undef RELEASE
  hashmap_release(&l->names);
  hashmap_release(&l->symbols);
  hashmap_release(&l->constants);
  hashmap_release(&l->places);
  hashmap_release(&l->variables);
}

int lower_module(const TraceCode *c, Plan *p, Str *out, Err *err) {
  Lowerer l = {.code = c, .plan = p};
  lower_name(&l, "", 0);
  array_push(&l.out.places, (IrPlace){0, 0});
  LLVMSetIsNewDbgInfoFormat(c->module, false); // records cannot be walked
  int rc = 0;
  for (size_t i = 0; i < c->functions.len && !rc; i++) {
    l.function = c->functions.items[i];
    lower_function(&l);
    size_t n;
    if (l.refused)
      rc = err_set(err, "%s: function %s uses %s that only the linker knows",
                   p->name, LLVMGetValueName2(l.function, &n), l.refused);
  }
  for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g;
       g = LLVMGetNextGlobal(g))
    if (!LLVMIsDeclaration(g))
      lower_global(&l, g);
  for (size_t i = 0; i < p->sources.len; i++)
    array_push(&l.out.sources, lower_name(&l, p->sources.items[i].path,
                                          strlen(p->sources.items[i].path)));
  if (!rc)
    write_file(&l, out);
  release(&l);
  return rc;
}
