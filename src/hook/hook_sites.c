// Finding the sites of a unit: see hook_sites.h.
#include "hook/hook_sites.h"

#include <ctype.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hook_logic.h"
#include "hook/hook_places.h"
#include "plan/place.h"
#include "util/str.h"

enum {
  LOCALS_MOST = 12, // names of a site: locals, globals, what was read before
  GLOBALS_MOST = 4,
  READ_MOST = 6,
  BLOCKS_BACK = 3,
  OTHERS_MOST = 8,  // variables that may stand in the place of one
  SWAPS_MOST = 3,   // pairs of arguments of a call
  NUMBERS_MOST = 6, // variables in the place of a constant
};

typedef struct {
  HookSites *out;
  Plan *plan;
  LLVMValueRef function;
  const char *name; // of the function
  Scope scope;
} Finder;

static LLVMOpcode opcode(LLVMValueRef inst) {
  return LLVMGetInstructionOpcode(inst);
}

static bool is_number(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(type) > 1 && LLVMGetIntTypeWidth(type) <= 64;
}

static bool is_truth(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(type) == 1;
}

static bool is_real(LLVMTypeRef type) { return value_kind(type) == VALUE_REAL; }

static bool is_pointer(LLVMTypeRef type) {
  return value_kind(type) == VALUE_POINTER;
}

static bool is_value(LLVMTypeRef type) {
  return is_number(type) || is_real(type) || is_pointer(type);
}

static uint8_t width_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind:
    return (uint8_t)LLVMGetIntTypeWidth(type);
  case LLVMFloatTypeKind:
    return 32;
  default:
    return 64;
  }
}

static uint8_t type_flags(LLVMTypeRef type) {
  return is_real(type) ? SITE_REAL : is_pointer(type) ? SITE_POINTER : 0;
}

// --- adding -----------------------------------------------------------------

// False: the instruction has no place in the source.
static bool add(Finder *f, HookSite s) {
  Place place;
  if (!place_of(f->plan, s.inst, &place))
    return false;
  s.source = place.source;
  s.line = place.line;
  s.column = place.col_lo;
  s.function = f->name;
  s.text = s.text ? s.text : "";
  array_push(&f->out->sites, s);
  return true;
}

// The source text at the instruction; "": there is none.
static const char *text_at(Finder *f, LLVMValueRef inst) {
  Place place;
  return place_of(f->plan, inst, &place) ? place_text(f->plan, &place) : "";
}

// --- names ------------------------------------------------------------------

static void add_variable(Finder *f, const ScopeVariable *v) {
  array_push(&f->out->names, (HookName){.address = v->address,
                                        .type = v->type,
                                        .kind = v->kind,
                                        .name = v->name});
}

static bool is_clause_kind(ValueKind k) {
  return k == VALUE_SIGNED || k == VALUE_UNSIGNED || k == VALUE_POINTER;
}

// What was declared last comes first.
static void add_variables(Finder *f, LLVMValueRef inst) {
  const Scope *s = &f->scope;
  size_t locals = 0, globals = 0;
  for (size_t i = s->variables.len; i-- > 0;) {
    const ScopeVariable *v = &s->variables.items[i];
    size_t *n = v->block ? &locals : &globals;
    if (!is_clause_kind(v->kind) || !scope_reaches(s, v, inst) ||
        *n >= (v->block ? LOCALS_MOST : GLOBALS_MOST))
      continue;
    add_variable(f, v);
    ++*n;
  }
}

// What a load reads, as the source writes it; NULL: that is not clear.
static const char *read_text(Finder *f, LLVMValueRef load) {
  Place place;
  if (!place_of(f->plan, load, &place))
    return NULL;
  const Code *code = source_text_code(&f->plan->texts.items[place.source]);
  size_t token = code_find(code, place.line, place.col_lo);
  if (token == CODE_NONE)
    return NULL;
  Extent e = code_expression(code, token);
  Str text = {0};
  code_show(code, e, &text);
  const char *words = str_text(&text);
  bool plain = text.len && text.len < 60 && !strpbrk(words, "=;\n?,\"") &&
               !strstr(words, "++") && !strstr(words, "--") &&
               (strpbrk(words, ".[") || strstr(words, "->") || *words == '*');
  const char *copy = plain ? arena_strdup(&f->out->arena, words) : NULL;
  str_release(&text);
  return copy;
}

static bool has_name(const Finder *f, uint32_t first, const char *name) {
  for (size_t i = first; i < f->out->names.len; i++)
    if (!strcmp(f->out->names.items[i].name, name))
      return true;
  return false;
}

static void add_read(Finder *f, LLVMValueRef load, uint32_t first) {
  LLVMTypeRef type = LLVMTypeOf(load);
  ValueKind kind = value_kind(type);
  if (!is_clause_kind(kind) || is_truth(type) ||
      scope_find(&f->scope, LLVMGetOperand(load, 0)))
    return;
  const char *name = read_text(f, load);
  if (name && !has_name(f, first, name))
    array_push(
        &f->out->names,
        (HookName){.value = load, .type = type, .kind = kind, .name = name});
}

// The block that alone leads to this one; NULL: there is none, or several.
static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef b) {
  LLVMBasicBlockRef found = NULL;
  for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u;
       u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (!LLVMIsATerminatorInst(user))
      return NULL;
    LLVMBasicBlockRef from = LLVMGetInstructionParent(user);
    if (found && from != found)
      return NULL;
    found = from;
  }
  return found == b ? NULL : found;
}

// Values that were read through pointers before the instruction, in its block
// or one that always comes before it.
static void add_reads(Finder *f, LLVMValueRef inst, uint32_t first) {
  size_t most = f->out->names.len + READ_MOST;
  LLVMBasicBlockRef b = LLVMGetInstructionParent(inst);
  LLVMValueRef i = LLVMGetPreviousInstruction(inst);
  for (int back = 0; b && back < BLOCKS_BACK; back++) {
    for (; i && f->out->names.len < most; i = LLVMGetPreviousInstruction(i))
      if (LLVMIsALoadInst(i))
        add_read(f, i, first);
    b = only_predecessor(b);
    i = b ? LLVMGetLastInstruction(b) : NULL;
  }
}

static void add_clause_names(Finder *f, HookSite *s) {
  s->first_name = (uint32_t)f->out->names.len;
  add_variables(f, s->inst);
  add_reads(f, s->inst, s->first_name);
  s->nnames = (uint32_t)f->out->names.len - s->first_name;
  if (s->nnames > TRY_NAMES_MOST)
    s->nnames = TRY_NAMES_MOST;
}

// --- comparisons ------------------------------------------------------------

static uint8_t compare_of(LLVMIntPredicate p) {
  switch (p) {
  case LLVMIntEQ:
    return OP_EQ;
  case LLVMIntNE:
    return OP_NE;
  case LLVMIntUGT:
  case LLVMIntSGT:
    return OP_GT;
  case LLVMIntUGE:
  case LLVMIntSGE:
    return OP_GE;
  case LLVMIntULT:
  case LLVMIntSLT:
    return OP_LT;
  default:
    return OP_LE;
  }
}

static uint8_t real_compare_of(LLVMRealPredicate p) {
  switch (p) {
  case LLVMRealOEQ:
  case LLVMRealUEQ:
    return OP_EQ;
  case LLVMRealONE:
  case LLVMRealUNE:
    return OP_NE;
  case LLVMRealOGT:
  case LLVMRealUGT:
    return OP_GT;
  case LLVMRealOGE:
  case LLVMRealUGE:
    return OP_GE;
  case LLVMRealOLT:
  case LLVMRealULT:
    return OP_LT;
  default:
    return OP_LE;
  }
}

static bool is_unsigned_order(LLVMIntPredicate p) {
  return p >= LLVMIntUGT && p <= LLVMIntULE;
}

static bool is_branched_on(LLVMValueRef condition) {
  LLVMUseRef use = LLVMGetFirstUse(condition);
  return use && !LLVMGetNextUse(use) && LLVMIsABranchInst(LLVMGetUser(use));
}

// Does the source compare here, or only test a value?
static bool has_operator(const char *text) {
  return text_starts(text, "==") || text_starts(text, "!=") || *text == '<' ||
         *text == '>';
}

static void find_compare(Finder *f, LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 0));
  HookSite s = {.kind = SITE_COMPARE, .inst = i, .width = width_of(type)};
  if (!is_value(type))
    return;
  s.flags = type_flags(type);
  if (LLVMIsAICmpInst(i)) {
    LLVMIntPredicate p = LLVMGetICmpPredicate(i);
    s.op = compare_of(p);
    s.flags |= is_unsigned_order(p) ? SITE_UNSIGNED : 0;
  } else {
    s.op = real_compare_of(LLVMGetFCmpPredicate(i));
  }
  if (is_branched_on(i))
    s.flags |= SITE_BRANCHES;
  if (!has_operator(text_at(f, i)))
    s.flags |= SITE_IMPLICIT;
  add_clause_names(f, &s);
  add(f, s);
}

// A truth value that no comparison makes.
static void find_test(Finder *f, LLVMValueRef i) {
  if (!LLVMIsConditional(i))
    return;
  LLVMValueRef c = LLVMGetCondition(i);
  if (LLVMIsAICmpInst(c) || LLVMIsAFCmpInst(c) || LLVMIsConstant(c))
    return;
  HookSite s = {.kind = SITE_TEST, .inst = i, .width = 1};
  add_clause_names(f, &s);
  add(f, s);
}

// --- arithmetic and constants -----------------------------------------------

static const struct {
  LLVMOpcode code;
  uint8_t op, flags;
} ariths[] = {
    {LLVMAdd, OP_ADD, 0},
    {LLVMSub, OP_SUB, 0},
    {LLVMMul, OP_MUL, 0},
    {LLVMSDiv, OP_DIV, 0},
    {LLVMUDiv, OP_DIV, SITE_UNSIGNED},
    {LLVMSRem, OP_REM, 0},
    {LLVMURem, OP_REM, SITE_UNSIGNED},
    {LLVMAnd, OP_AND, 0},
    {LLVMOr, OP_OR, 0},
    {LLVMXor, OP_XOR, 0},
    {LLVMShl, OP_SHL, 0},
    {LLVMAShr, OP_SHR, 0},
    {LLVMLShr, OP_SHR, SITE_UNSIGNED},
    {LLVMFAdd, OP_ADD, 0},
    {LLVMFSub, OP_SUB, 0},
    {LLVMFMul, OP_MUL, 0},
    {LLVMFDiv, OP_DIV, 0},
};
enum { NARITHS = sizeof ariths / sizeof *ariths };

static bool is_arith(LLVMValueRef i, size_t *which) {
  LLVMTypeRef type = LLVMTypeOf(i);
  for (size_t k = 0; k < NARITHS; k++)
    if (opcode(i) == ariths[k].code && (is_number(type) || is_real(type))) {
      *which = k;
      return true;
    }
  return false;
}

static void find_arith(Finder *f, LLVMValueRef i) {
  size_t k;
  if (is_arith(i, &k))
    add(f, (HookSite){.kind = SITE_ARITH,
                      .inst = i,
                      .op = ariths[k].op,
                      .width = width_of(LLVMTypeOf(i)),
                      .flags = ariths[k].flags | type_flags(LLVMTypeOf(i))});
}

static int64_t constant_value(LLVMValueRef c) {
  if (LLVMIsAConstantInt(c))
    return LLVMConstIntGetSExtValue(c);
  LLVMBool lost;
  double d = LLVMConstRealGetDouble(c, &lost);
  int64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

// Numbers that might be meant instead of a constant.
static void add_numbers(Finder *f, HookSite *s) {
  const Scope *scope = &f->scope;
  s->first_name = (uint32_t)f->out->names.len;
  for (size_t k = scope->variables.len; k-- > 0 && s->nnames < NUMBERS_MOST;) {
    const ScopeVariable *v = &scope->variables.items[k];
    if (!is_number(v->type) || !v->block || !scope_reaches(scope, v, s->inst))
      continue;
    add_variable(f, v);
    s->nnames++;
  }
}

static void find_constant(Finder *f, LLVMValueRef i, unsigned operand,
                          SiteKind owner) {
  LLVMValueRef c = LLVMGetOperand(i, operand);
  LLVMTypeRef type = LLVMTypeOf(c);
  bool number = LLVMIsAConstantInt(c) && is_number(type);
  HookSite s = {.kind = SITE_CONSTANT,
                .inst = i,
                .operand = operand,
                .owner = owner,
                .width = width_of(type),
                .flags = type_flags(type)};
  if (!number && !(LLVMIsAConstantFP(c) && is_real(type)))
    return;
  s.value = constant_value(c);
  if (number && !LLVMIsAPHINode(i))
    add_numbers(f, &s);
  add(f, s);
}

static void find_constants(Finder *f, LLVMValueRef i) {
  size_t k;
  if (is_arith(i, &k)) {
    find_constant(f, i, 0, SITE_ARITH);
    find_constant(f, i, 1, SITE_ARITH);
  } else if ((LLVMIsAICmpInst(i) || LLVMIsAFCmpInst(i)) &&
             has_operator(text_at(f, i))) {
    find_constant(f, i, 0, SITE_COMPARE);
    find_constant(f, i, 1, SITE_COMPARE);
  } else if (LLVMIsAPHINode(i)) {
    for (unsigned n = LLVMCountIncoming(i), k2 = 0; k2 < n; k2++)
      find_constant(f, i, k2, SITE_OTHER);
  }
}

// --- memory -----------------------------------------------------------------

// The variable or part of one at an address, as far as it has a name.
static const char *name_of(Finder *f, LLVMValueRef address) {
  const ScopeVariable *v = scope_find(&f->scope, address);
  return v ? v->name : NULL;
}

static bool is_plain_access(LLVMValueRef i) {
  return !LLVMGetVolatile(i) &&
         LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
}

static uint8_t store_flags(const char *text, const char *name) {
  if (name && source_word_is(text, name))
    return SITE_INITIAL;
  return *text != '=' && *text ? SITE_COMPOUND : 0;
}

static void find_store(Finder *f, LLVMValueRef i) {
  LLVMValueRef value = LLVMGetOperand(i, 0), to = LLVMGetOperand(i, 1);
  LLVMTypeRef type = LLVMTypeOf(value);
  const char *name = name_of(f, to), *text = text_at(f, i);
  bool hidden = LLVMIsAAllocaInst(to) && !name;
  bool returns = hidden && source_word_is(text, "return");
  if (!is_value(type) || LLVMIsAArgument(value) || (hidden && !returns) ||
      !is_plain_access(i))
    return;
  HookSite s = {.kind = returns ? SITE_RETURN : SITE_STORE,
                .inst = i,
                .width = width_of(type),
                .flags = type_flags(type),
                .text = name};
  if (LLVMIsAZExtInst(value) && is_truth(LLVMTypeOf(LLVMGetOperand(value, 0))))
    s.width = 1; // a bool
  if (!returns)
    s.flags |= store_flags(text, name);
  if (!returns || !LLVMIsConstant(value))
    add(f, s);
  find_constant(f, i, 0, returns ? SITE_RETURN : SITE_STORE);
}

static void find_return(Finder *f, LLVMValueRef i) {
  if (!LLVMGetNumOperands(i))
    return;
  LLVMValueRef value = LLVMGetOperand(i, 0);
  LLVMTypeRef type = LLVMTypeOf(value);
  if (!is_value(type) || !source_word_is(text_at(f, i), "return"))
    return;
  find_constant(f, i, 0, SITE_RETURN);
  if (!LLVMIsConstant(value))
    add(f, (HookSite){.kind = SITE_RETURN,
                      .inst = i,
                      .width = width_of(type),
                      .flags = type_flags(type)});
}

// Which operand of a GEP is an index into an array; -1: none.
static int index_operand(LLVMValueRef gep) {
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetGEPSourceElementType(gep));
  int n = LLVMGetNumOperands(gep);
  if (kind == LLVMArrayTypeKind)
    return n == 3 ? 2 : -1;
  return n == 2 ? 1 : -1;
}

static void find_index(Finder *f, LLVMValueRef i) {
  int at = index_operand(i);
  if (at < 0 || !is_number(LLVMTypeOf(LLVMGetOperand(i, (unsigned)at))))
    return;
  LLVMValueRef index = LLVMGetOperand(i, (unsigned)at);
  if (LLVMIsAConstantInt(index))
    find_constant(f, i, (unsigned)at, SITE_INDEX);
  else if (strchr("[", *text_at(f, i)) || index_operand(i) > 0)
    add(f, (HookSite){.kind = SITE_INDEX,
                      .inst = i,
                      .operand = (uint32_t)at,
                      .width = width_of(LLVMTypeOf(index))});
}

// --- variables --------------------------------------------------------------

static bool may_replace(const Scope *s, const ScopeVariable *v,
                        const ScopeVariable *other, LLVMValueRef inst) {
  bool pointers = v->kind == VALUE_POINTER;
  return other != v && other->type == v->type &&
         (!pointers || (v->plain && v->plain == other->plain)) &&
         scope_reaches(s, other, inst);
}

static void find_variable(Finder *f, LLVMValueRef i) {
  const Scope *s = &f->scope;
  const ScopeVariable *v = scope_find(s, LLVMGetOperand(i, 0));
  if (!v || v->kind == VALUE_NONE || LLVMTypeOf(i) != v->type ||
      is_truth(v->type) || !is_plain_access(i) ||
      !source_word_is(text_at(f, i), v->name))
    return;
  HookSite site = {.kind = SITE_VARIABLE,
                   .inst = i,
                   .width = width_of(v->type),
                   .flags = type_flags(v->type),
                   .text = v->name,
                   .first_name = (uint32_t)f->out->names.len};
  for (size_t k = s->variables.len; k-- > 0 && site.nnames < OTHERS_MOST;)
    if (may_replace(s, v, &s->variables.items[k], i)) {
      add_variable(f, &s->variables.items[k]);
      site.nnames++;
    }
  if (site.nnames)
    add(f, site);
}

// --- fields -----------------------------------------------------------------

enum { COMPOSITE_ELEMENTS = 4, MEMBER_NAME = 2, MEMBER_TYPE = 3 };

// The declared structure that a part is taken of; NULL: not known.
static LLVMValueRef structure_of(const Finder *f, LLVMValueRef base) {
  LLVMValueRef from = LLVMIsALoadInst(base) ? LLVMGetOperand(base, 0) : base;
  const ScopeVariable *v = scope_find(&f->scope, from);
  bool composite = v && v->plain &&
                   LLVMGetMetadataKind(LLVMValueAsMetadata(v->plain)) ==
                       LLVMDICompositeTypeMetadataKind;
  return composite && (v->kind == VALUE_POINTER) == !!LLVMIsALoadInst(base)
             ? v->plain
             : NULL;
}

static const char *member_name(Finder *f, LLVMValueRef member) {
  LLVMValueRef text = member ? metadata_part(member, MEMBER_NAME) : NULL;
  unsigned n = 0;
  const char *name = text ? LLVMGetMDString(text, &n) : NULL;
  return n ? arena_strndup(&f->out->arena, name, n) : NULL;
}

static LLVMValueRef member_type(LLVMValueRef member) {
  LLVMValueRef type = metadata_part(member, MEMBER_TYPE);
  return type ? plain_type(type) : NULL;
}

static void add_fields(Finder *f, HookSite *s, LLVMValueRef gep,
                       LLVMValueRef members, unsigned own) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
  LLVMTypeRef wanted = LLVMTypeOf(s->inst);
  LLVMValueRef like = member_type(metadata_part(members, (int)own));
  unsigned n = LLVMCountStructElementTypes(type);
  for (unsigned i = 0; i < n && s->nnames < OTHERS_MOST; i++) {
    LLVMValueRef member = metadata_part(members, (int)i);
    const char *name = member_name(f, member);
    if (i == own || !name || LLVMStructGetTypeAtIndex(type, i) != wanted ||
        (is_pointer(wanted) && (!like || member_type(member) != like)))
      continue;
    array_push(&f->out->names, (HookName){.address = LLVMGetOperand(gep, 0),
                                          .structure = type,
                                          .field = i,
                                          .type = wanted,
                                          .kind = value_kind(wanted),
                                          .name = name});
    s->nnames++;
  }
}

// p->f or s.f, where p or s is a variable.
static void find_field(Finder *f, LLVMValueRef i) {
  LLVMValueRef gep = LLVMGetOperand(i, 0);
  LLVMTypeRef type = LLVMTypeOf(i);
  if (!LLVMIsAGetElementPtrInst(gep) || LLVMGetNumOperands(gep) != 3 ||
      LLVMGetTypeKind(LLVMGetGEPSourceElementType(gep)) != LLVMStructTypeKind ||
      !is_value(type) || !is_plain_access(i))
    return;
  LLVMTypeRef structure = LLVMGetGEPSourceElementType(gep);
  unsigned own = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(gep, 2));
  LLVMValueRef declared = structure_of(f, LLVMGetOperand(gep, 0));
  LLVMValueRef members =
      declared ? metadata_part(declared, COMPOSITE_ELEMENTS) : NULL;
  if (!members || LLVMGetMDNodeNumOperands(members) !=
                      LLVMCountStructElementTypes(structure))
    return;
  HookSite s = {.kind = SITE_FIELD,
                .inst = i,
                .width = width_of(type),
                .flags = type_flags(type),
                .first_name = (uint32_t)f->out->names.len};
  s.text = member_name(f, metadata_part(members, (int)own));
  if (!s.text || !source_word_is(text_at(f, i), s.text))
    return;
  add_fields(f, &s, gep, members, own);
  if (s.nnames)
    add(f, s);
}

// --- calls ------------------------------------------------------------------

static bool has_attribute(LLVMValueRef call, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMValueRef callee = LLVMGetCalledValue(call);
  LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  return LLVMGetCallSiteEnumAttribute(call, at, kind) ||
         (LLVMIsAFunction(callee) &&
          LLVMGetEnumAttributeAtIndex(callee, at, kind));
}

static bool is_ours(LLVMValueRef callee) {
  size_t n;
  const char *name = LLVMGetValueName2(callee, &n);
  return n >= 9 && !strncmp(name, "__culprit", 9);
}

// Can the call be left out, and its arguments be changed?
static bool is_free(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  return !LLVMIsAInlineAsm(callee) && !is_ours(callee) &&
         !(LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee)) &&
         !has_attribute(call, "returns_twice") &&
         !has_attribute(call, "noreturn") &&
         LLVMGetTailCallKind(call) != LLVMTailCallKindMustTail;
}

static const char *callee_name(Finder *f, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t n;
  const char *name = LLVMGetValueName2(callee, &n);
  return LLVMIsAFunction(callee) ? arena_strndup(&f->out->arena, name, n)
                                 : NULL;
}

static void find_swaps(Finder *f, LLVMValueRef i) {
  unsigned n = LLVMGetNumArgOperands(i), swaps = 0;
  for (unsigned a = 0; a < n; a++)
    for (unsigned b = a + 1; b < n && swaps < SWAPS_MOST; b++) {
      LLVMValueRef x = LLVMGetOperand(i, a), y = LLVMGetOperand(i, b);
      if (x == y || LLVMTypeOf(x) != LLVMTypeOf(y) || !is_value(LLVMTypeOf(x)))
        continue;
      swaps += add(f, (HookSite){.kind = SITE_SWAP,
                                 .inst = i,
                                 .operand = a,
                                 .value = b,
                                 .width = width_of(LLVMTypeOf(x)),
                                 .flags = type_flags(LLVMTypeOf(x)),
                                 .text = callee_name(f, i)});
    }
}

// Pointers to the same type as the address of a variable that is passed.
static void add_pointers(Finder *f, HookSite *s, LLVMValueRef argument) {
  const Scope *scope = &f->scope;
  const ScopeVariable *of = scope_find(scope, argument);
  s->first_name = (uint32_t)f->out->names.len;
  for (size_t k = scope->variables.len;
       of && of->plain && k-- > 0 && s->nnames < OTHERS_MOST;) {
    const ScopeVariable *v = &scope->variables.items[k];
    if (v->kind != VALUE_POINTER || v->plain != of->plain ||
        !scope_reaches(scope, v, s->inst))
      continue;
    add_variable(f, v);
    s->nnames++;
  }
}

static void find_argument(Finder *f, LLVMValueRef i, unsigned k) {
  LLVMValueRef a = LLVMGetOperand(i, k);
  LLVMTypeRef type = LLVMTypeOf(a);
  HookSite s = {.kind = SITE_ARGUMENT,
                .inst = i,
                .operand = k,
                .width = width_of(type),
                .flags = type_flags(type),
                .text = callee_name(f, i)};
  if (is_pointer(type))
    add_pointers(f, &s, a);
  if (is_number(type) || s.nnames)
    add(f, s);
}

static void find_arguments(Finder *f, LLVMValueRef i) {
  for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
    LLVMValueRef a = LLVMGetOperand(i, k);
    if (LLVMIsAConstantInt(a) || LLVMIsAConstantFP(a))
      find_constant(f, i, k, SITE_CALL);
    else
      find_argument(f, i, k);
  }
}

static void find_call(Finder *f, LLVMValueRef i) {
  if (!is_free(i))
    return;
  LLVMTypeRef type = LLVMTypeOf(i);
  bool nothing = LLVMGetTypeKind(type) == LLVMVoidTypeKind;
  if (nothing || is_value(type) || is_truth(type))
    add(f, (HookSite){.kind = SITE_CALL,
                      .inst = i,
                      .width = nothing ? 0 : width_of(type),
                      .flags = (nothing ? 0 : type_flags(type)) |
                               (LLVMGetFirstUse(i) ? 0 : SITE_VOID),
                      .text = callee_name(f, i)});
  find_swaps(f, i);
  find_arguments(f, i);
}

// --- the unit ---------------------------------------------------------------

static void find_in(Finder *f, LLVMValueRef i) {
  switch (opcode(i)) {
  case LLVMICmp:
  case LLVMFCmp:
    find_compare(f, i);
    find_constants(f, i);
    break;
  case LLVMBr:
    find_test(f, i);
    hook_logic_find(f->out, f->plan, i, f->name);
    break;
  case LLVMStore:
    find_store(f, i);
    break;
  case LLVMLoad:
    find_variable(f, i);
    find_field(f, i);
    break;
  case LLVMGetElementPtr:
    find_index(f, i);
    break;
  case LLVMCall:
    if (!is_debug_call(i))
      find_call(f, i);
    break;
  case LLVMRet:
    find_return(f, i);
    break;
  default:
    find_arith(f, i);
    find_constants(f, i);
  }
}

static void find_function(Finder *f, LLVMValueRef function) {
  size_t n;
  const char *name = LLVMGetValueName2(function, &n);
  f->function = function;
  f->name = arena_strndup(&f->out->arena, name, n);
  scope_read(&f->scope, function, &f->out->arena);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      find_in(f, i);
  hook_places_find(f->out, f->plan, &f->scope, function, f->name);
  scope_release(&f->scope);
}

void hook_sites_find(HookSites *s, LLVMModuleRef module, Plan *plan) {
  Finder f = {.out = s, .plan = plan};
  LLVMSetIsNewDbgInfoFormat(module, false); // records cannot be walked
  for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn;
       fn = LLVMGetNextFunction(fn))
    if (plan_covers(fn))
      find_function(&f, fn);
  LLVMSetIsNewDbgInfoFormat(module, true);
}

void hook_sites_release(HookSites *s) {
  array_release(&s->sites);
  array_release(&s->names);
  hashmap_release(&s->starts);
  arena_release(&s->arena);
}
