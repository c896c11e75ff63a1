// PlaceFinder in front of statements: see hook_places.h.
#include "hook/hook_places.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "plan/place.h"

enum {
  LOCALS_MOST = 6,
  GLOBALS_MOST = 1,
  POINTED_MOST = 4, // *p, a[0]
  FIELDS_MOST = 8,
  DERIVED_BASE = 3, // operands of metadata nodes
  COMPOSITE_ELEMENTS = 4,
  MEMBER_NAME = 2,
  MEMBER_TYPE = 3,
};

typedef struct {
  HookSites *out;
  Plan *plan;
  const Scope *scope;
  LLVMValueRef function;
  const char *name;
  Hashmap seen; // (source, token) of statements
} PlaceFinder;

// --- statements of the text -------------------------------------------------

static bool is_one_of(const Code *c, size_t token, const char *const *words) {
  for (; *words; words++)
    if (code_is(c, token, *words))
      return true;
  return false;
}

// Where the label that begins here ends; CODE_NONE: there is none.
static size_t label_end(const Code *c, size_t token) {
  enum { FAR = 16 };
  if (c->tokens.items[token].kind != TOK_WORD)
    return CODE_NONE;
  if (!code_is(c, token, "case"))
    return code_is(c, token + 1, ":") ? token + 1 : CODE_NONE;
  for (size_t i = token; i < token + FAR && i < c->tokens.len; i++)
    if (code_is(c, i, ":"))
      return i;
  return CODE_NONE;
}

// The braces of an initial value are no block: they are taken as parentheses.
static uint32_t *find_starts(PlaceFinder *p, const Code *c) {
  static const char *const ends[] = {";", "{", "}", NULL};
  size_t n = c->tokens.len, label = CODE_NONE;
  uint32_t *starts = arena_array(&p->out->arena, uint32_t, n + 1);
  uint32_t start = 0;
  unsigned depth = 0;
  bool assigns = false;
  for (size_t i = 0; i < n; i++) {
    if (start == i) {
      label = label_end(c, i);
      assigns = false;
    }
    starts[i] = start;
    assigns |= !depth && (code_is(c, i, "=") || code_is(c, i, "return"));
    bool inner = depth || assigns;
    depth += code_is(c, i, "(") || (inner && code_is(c, i, "{"));
    depth -= depth && (code_is(c, i, ")") || code_is(c, i, "}"));
    if (inner && code_is(c, i, "}"))
      continue;
    if ((!depth && is_one_of(c, i, ends)) || i == label)
      start = (uint32_t)i + 1;
  }
  return starts;
}

static const uint32_t *starts_of(PlaceFinder *p, uint32_t source,
                                 const Code *c) {
  uint64_t known;
  if (!hashmap_get(&p->out->starts, &source, sizeof source, &known)) {
    known = (uintptr_t)find_starts(p, c);
    hashmap_put(&p->out->starts, &source, sizeof source, known);
  }
  return (const uint32_t *)(uintptr_t)known;
}

// Can something be put in front of it that is executed just before its first
// instruction? A loop begins with a jump to its head; what comes behind that is
// executed in each turn.
static bool can_be_preceded(const Code *c, size_t token, LLVMValueRef first) {
  static const char *const never[] = {"else", "case", "default",
                                      "}",    "{",    NULL};
  static const char *const loops[] = {"while", "do", NULL};
  bool loop = is_one_of(c, token, loops) ||
              (code_is(c, token, "for") && code_is(c, token + 2, ";"));
  bool jump = LLVMIsABranchInst(first) && !LLVMIsConditional(first);
  return !is_one_of(c, token, never) && (!loop || jump);
}

// --- types ------------------------------------------------------------------

static bool is_kind(LLVMValueRef node, LLVMMetadataKind kind) {
  return node && LLVMGetMetadataKind(LLVMValueAsMetadata(node)) == kind;
}

static uint64_t bits_of(LLVMValueRef type) {
  return LLVMDITypeGetSizeInBits(LLVMValueAsMetadata(type));
}

// Behind typedefs and qualifiers, which have no size of their own.
static LLVMValueRef unwrapped(LLVMValueRef type) {
  enum { DEEP = 16 };
  for (int i = 0; i < DEEP && is_kind(type, LLVMDIDerivedTypeMetadataKind) &&
                  !bits_of(type);
       i++)
    type = metadata_part(type, DERIVED_BASE);
  return type;
}

static bool is_fixed(LLVMValueRef type) {
  enum { DEEP = 16, CONST = 0x26 }; // DW_TAG_const_type
  for (int i = 0; i < DEEP && is_kind(type, LLVMDIDerivedTypeMetadataKind) &&
                  !bits_of(type);
       i++) {
    if (LLVMGetDINodeTag(LLVMValueAsMetadata(type)) == CONST)
      return true;
    type = metadata_part(type, DERIVED_BASE);
  }
  return false;
}

static bool is_pointer(LLVMValueRef type) {
  return is_kind(type, LLVMDIDerivedTypeMetadataKind);
}

static LLVMValueRef pointed(LLVMValueRef type, bool *fixed) {
  LLVMValueRef base =
      is_pointer(type) ? metadata_part(type, DERIVED_BASE) : NULL;
  *fixed = base && is_fixed(base);
  return base ? unwrapped(base) : NULL;
}

static bool is_enum(LLVMValueRef type) {
  LLVMValueRef parts = is_kind(type, LLVMDICompositeTypeMetadataKind)
                           ? metadata_part(type, COMPOSITE_ELEMENTS)
                           : NULL;
  LLVMValueRef first = parts ? metadata_part(parts, 0) : NULL;
  return is_kind(first, LLVMDIEnumeratorMetadataKind);
}

static bool is_real(LLVMValueRef type) {
  size_t n = 0;
  const char *name = LLVMDITypeGetName(LLVMValueAsMetadata(type), &n);
  return n && (strstr(name, "float") || strstr(name, "double"));
}

// As LLVM has it; NULL: neither a number nor a pointer.
static LLVMTypeRef value_type(const PlaceFinder *p, LLVMValueRef type) {
  LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(p->function));
  if (is_pointer(type))
    return LLVMPointerTypeInContext(c, 0);
  bool number =
      (is_kind(type, LLVMDIBasicTypeMetadataKind) && !is_real(type)) ||
      is_enum(type);
  uint64_t bits = number ? bits_of(type) : 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64
             ? LLVMIntTypeInContext(c, (unsigned)bits)
             : NULL;
}

// --- names ------------------------------------------------------------------

static bool is_clause_kind(ValueKind k) {
  return k == VALUE_SIGNED || k == VALUE_UNSIGNED || k == VALUE_POINTER;
}

static void add_name(PlaceFinder *p, HookSite *s, HookName name) {
  if (s->nnames >= TRY_NAMES_MOST)
    return;
  array_push(&p->out->names, name);
  s->nnames++;
}

static void add_plain(PlaceFinder *p, HookSite *s, const ScopeVariable *v) {
  add_name(p, s,
           (HookName){.address = v->address,
                      .type = v->type,
                      .kind = v->kind,
                      .fixed = v->written && is_fixed(v->written),
                      .name = v->name});
}

static bool add_pointed(PlaceFinder *p, HookSite *s, const ScopeVariable *v) {
  bool fixed = false;
  LLVMValueRef to = v->written ? pointed(unwrapped(v->written), &fixed) : NULL;
  LLVMTypeRef type = to && v->kind == VALUE_POINTER ? value_type(p, to) : NULL;
  if (type)
    add_name(p, s,
             (HookName){.address = v->address,
                        .through = true,
                        .fixed = fixed,
                        .type = type,
                        .kind = value_kind(type),
                        .name = arena_printf(&p->out->arena, "*%s", v->name)});
  return type;
}

static bool add_element(PlaceFinder *p, HookSite *s, const ScopeVariable *v) {
  bool array = LLVMGetTypeKind(v->type) == LLVMArrayTypeKind;
  LLVMTypeRef type = array ? LLVMGetElementType(v->type) : NULL;
  if (!type || !is_clause_kind(value_kind(type)) ||
      (value_kind(type) == VALUE_SIGNED && LLVMGetIntTypeWidth(type) % 8))
    return false;
  add_name(p, s,
           (HookName){.address = v->address,
                      .type = type,
                      .kind = value_kind(type),
                      .name = arena_printf(&p->out->arena, "%s[0]", v->name)});
  return true;
}

static void add_field(PlaceFinder *p, HookSite *s, const ScopeVariable *v,
                      LLVMValueRef member, bool fixed) {
  LLVMValueRef text = metadata_part(member, MEMBER_NAME);
  LLVMValueRef of = metadata_part(member, MEMBER_TYPE);
  LLVMMetadataRef node = LLVMValueAsMetadata(member);
  bool through = v->kind == VALUE_POINTER;
  unsigned n = 0;
  const char *name = text ? LLVMGetMDString(text, &n) : NULL;
  LLVMTypeRef type = of ? value_type(p, unwrapped(of)) : NULL;
  if (!n || !type || LLVMDITypeGetFlags(node) & LLVMDIFlagBitField)
    return;
  add_name(
      p, s,
      (HookName){.address = v->address,
                 .through = through,
                 .fixed = fixed || is_fixed(of),
                 .offset = LLVMDITypeGetOffsetInBits(node) / 8,
                 .type = type,
                 .kind = value_kind(type),
                 .name = arena_printf(&p->out->arena, "%s%s%.*s", v->name,
                                      through ? "->" : ".", (int)n, name)});
}

static void add_fields(PlaceFinder *p, HookSite *s, const ScopeVariable *v,
                       uint32_t most) {
  bool fixed = v->written && is_fixed(v->written);
  LLVMValueRef type = v->written ? unwrapped(v->written) : NULL;
  if (type && v->kind == VALUE_POINTER)
    type = pointed(type, &fixed);
  LLVMValueRef members = is_kind(type, LLVMDICompositeTypeMetadataKind)
                             ? metadata_part(type, COMPOSITE_ELEMENTS)
                             : NULL;
  unsigned n = members ? LLVMGetMDNodeNumOperands(members) : 0;
  for (unsigned i = 0; i < n && s->nnames < most; i++) {
    LLVMValueRef member = metadata_part(members, (int)i);
    if (is_kind(member, LLVMDIDerivedTypeMetadataKind))
      add_field(p, s, v, member, fixed);
  }
}

// What was declared last comes first. `at`: the first instruction of the
// statement, its declarations included.
static void add_names(PlaceFinder *p, HookSite *s, LLVMValueRef at) {
  const Scope *scope = p->scope;
  uint32_t locals = 0, globals = 0, others = 0;
  s->first_name = (uint32_t)p->out->names.len;
  for (size_t i = scope->variables.len; i-- > 0;) {
    const ScopeVariable *v = &scope->variables.items[i];
    uint32_t *n = v->block ? &locals : &globals;
    if (!scope_reaches(scope, v, at))
      continue;
    if (is_clause_kind(v->kind) &&
        *n < (v->block ? (uint32_t)LOCALS_MOST : (uint32_t)GLOBALS_MOST)) {
      add_plain(p, s, v);
      ++*n;
    }
    if (others < POINTED_MOST && v->block)
      others += add_pointed(p, s, v) || add_element(p, s, v);
  }
  uint32_t most = s->nnames + FIELDS_MOST;
  for (size_t i = scope->variables.len; i-- > 0;) {
    const ScopeVariable *v = &scope->variables.items[i];
    if (scope_reaches(scope, v, at))
      add_fields(p, s, v, most);
  }
}

// --- the function -----------------------------------------------------------

// Of the value that is returned: its width and flags.
static void set_result(const PlaceFinder *p, HookSite *s) {
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(p->function));
  unsigned hidden = LLVMGetEnumAttributeKindForName("sret", 4);
  bool nothing = LLVMGetTypeKind(type) == LLVMVoidTypeKind;
  ValueKind kind = nothing ? VALUE_NONE : value_kind(type);
  bool truth = kind == VALUE_SIGNED && LLVMGetIntTypeWidth(type) == 1;
  if ((!nothing && kind == VALUE_NONE) ||
      (LLVMCountParams(p->function) &&
       LLVMGetEnumAttributeAtIndex(p->function, 1, hidden)))
    s->flags |= SITE_STUCK;
  s->flags |= kind == VALUE_POINTER ? SITE_POINTER
              : kind == VALUE_REAL  ? SITE_REAL
                                    : 0;
  s->width = truth ? 1 : kind == VALUE_NONE ? 0 : 64;
}

// The statement that an instruction belongs to, unless nothing can be put in
// front of it. `source`: of the plan.
static bool find_statement(PlaceFinder *p, LLVMValueRef inst, uint32_t *source,
                           Token *token) {
  Place place;
  if (!place_of(p->plan, inst, &place))
    return false;
  const Code *c = source_text_code(&p->plan->texts.items[place.source]);
  size_t at = code_find(c, place.line, place.col_lo);
  if (at == CODE_NONE)
    return false;
  size_t start = starts_of(p, place.source, c)[at];
  *source = place.source;
  *token = c->tokens.items[start];
  return can_be_preceded(c, start, inst);
}

typedef struct {
  uint32_t source, at;
} StatementKey;

// The first declaration of the statement in front of its first instruction, or
// that.
static LLVMValueRef beginning(PlaceFinder *p, LLVMValueRef inst, uint32_t at) {
  LLVMValueRef first = inst, i = inst;
  while ((i = LLVMGetPreviousInstruction(i)) && is_debug_call(i)) {
    uint32_t source;
    Token token;
    if (find_statement(p, i, &source, &token) && token.at == at)
      first = i;
  }
  return first;
}

static void find_place(PlaceFinder *p, LLVMValueRef inst) {
  HookSite s = {.kind = SITE_BEFORE, .inst = inst, .function = p->name};
  Token token;
  uint64_t ignored;
  if (!find_statement(p, inst, &s.source, &token))
    return;
  StatementKey key = {s.source, token.at};
  if (hashmap_get(&p->seen, &key, sizeof key, &ignored))
    return;
  hashmap_put(&p->seen, &key, sizeof key, 1);
  s.line = token.line;
  s.column = token.col;
  s.text = "";
  set_result(p, &s);
  add_names(p, &s, beginning(p, inst, token.at));
  if (s.nnames || !(s.flags & SITE_STUCK))
    array_push(&p->out->sites, s);
}

static void find_in_block(PlaceFinder *p, LLVMBasicBlockRef b) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
       i = LLVMGetNextInstruction(i))
    if (!LLVMIsAPHINode(i) && !LLVMIsAAllocaInst(i) && !is_debug_call(i))
      find_place(p, i);
}

void hook_places_find(HookSites *out, Plan *plan, const Scope *scope,
                      LLVMValueRef function, const char *name) {
  PlaceFinder p = {.out = out,
                   .plan = plan,
                   .scope = scope,
                   .function = function,
                   .name = name};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    find_in_block(&p, b);
  hashmap_release(&p.seen);
}
