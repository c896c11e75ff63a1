// Relations: see relations.h.
#include "close/relations.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "close/pairs_change.h"
#include "close/relation_edges.h"
#include "close/relation_text.h"
#include "plan/place.h"
#include "util/graph.h"

enum { OUTCOMES_MOST = 4 };

// The outcomes of each shape, in the order of their counters.
static const struct {
  unsigned n;
  RelationOutcome outcomes[OUTCOMES_MOST];
} shapes[SHAPES] = {
    [SHAPE_ORDER] = {3, {RELATION_LESS, RELATION_EQUAL, RELATION_GREATER}},
    [SHAPE_EQUALITY] = {4,
                        {RELATION_LESS, RELATION_EQUAL, RELATION_GREATER,
                         RELATION_DIFFERENT}},
    [SHAPE_REALS] = {4,
                     {RELATION_LESS, RELATION_EQUAL, RELATION_GREATER,
                      RELATION_UNORDERED}},
    [SHAPE_SAME] = {2, {RELATION_EQUAL, RELATION_DIFFERENT}},
    [SHAPE_NULL] = {2, {RELATION_NULL, RELATION_NON_NULL}},
    [SHAPE_SIGN] = {3, {RELATION_NEGATIVE, RELATION_ZERO, RELATION_POSITIVE}},
    [SHAPE_REAL_SIGN] = {4,
                         {RELATION_NEGATIVE, RELATION_ZERO, RELATION_POSITIVE,
                          RELATION_UNORDERED}},
    [SHAPE_CHANGE] = {2, {RELATION_SAME, RELATION_CHANGED}},
};

// --- what kind of value -----------------------------------------------------

static LLVMTypeKind kind_of(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v));
}

static bool is_real(LLVMValueRef v) {
  LLVMTypeKind k = kind_of(v);
  return k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind ||
         k == LLVMX86_FP80TypeKind;
}

// The shape of a single value; SHAPES: none is recorded.
static RelationShape shape_of_value(LLVMValueRef v) {
  if (kind_of(v) == LLVMPointerTypeKind)
    return SHAPE_NULL;
  if (kind_of(v) == LLVMIntegerTypeKind &&
      LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64)
    return SHAPE_SIGN;
  return is_real(v) ? SHAPE_REAL_SIGN : SHAPES;
}

static bool is_unsigned_order(LLVMIntPredicate p) {
  return p >= LLVMIntUGT && p <= LLVMIntULE;
}

static RelationShape shape_of_integers(LLVMValueRef compare) {
  LLVMIntPredicate p = LLVMGetICmpPredicate(compare);
  bool order = p != LLVMIntEQ && p != LLVMIntNE;
  LLVMValueRef left = LLVMGetOperand(compare, 0);
  bool null = LLVMIsNull(LLVMGetOperand(compare, 1));
  if (kind_of(left) == LLVMPointerTypeKind)
    return order ? SHAPE_ORDER : null ? SHAPE_NULL : SHAPE_SAME;
  if (kind_of(left) != LLVMIntegerTypeKind)
    return SHAPES;
  if (null && !is_unsigned_order(p))
    return SHAPE_SIGN;
  return order ? SHAPE_ORDER : SHAPE_EQUALITY;
}

// --- finding sites ----------------------------------------------------------

// Is the class of its result recorded at the call? Not of an intrinsic.
static bool is_site(LLVMValueRef call) {
  if (!LLVMIsACallInst(call))
    return false;
  LLVMValueRef callee = LLVMGetCalledValue(call);
  return !LLVMIsAInlineAsm(callee) && LLVMGetFirstUse(call) &&
         LLVMGetTailCallKind(call) != LLVMTailCallKindMustTail &&
         !(LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee));
}

static void add_compare(RelationSites *out, LLVMValueRef i) {
  RelationSite s = {.inst = i,
                    .left = LLVMGetOperand(i, 0),
                    .right = LLVMGetOperand(i, 1),
                    .shape = SHAPES};
  if (LLVMIsAICmpInst(i)) {
    s.shape = shape_of_integers(i);
    s.is_unsigned = is_unsigned_order(LLVMGetICmpPredicate(i));
  } else if (is_real(s.left)) {
    s.shape = LLVMIsNull(s.right) ? SHAPE_REAL_SIGN : SHAPE_REALS;
  }
  if (s.shape == SHAPE_NULL || s.shape == SHAPE_SIGN ||
      s.shape == SHAPE_REAL_SIGN)
    s.right = NULL;
  if (s.right || !is_site(s.left))
    array_push(out, s);
}

// Its class is known without looking: a constant has one, a comparison and a
// call are sites of their own.
static bool is_known(LLVMValueRef value) {
  LLVMValueRef made = LLVMIsAZExtInst(value) ? LLVMGetOperand(value, 0) : value;
  return LLVMIsConstant(value) || is_site(value) || LLVMIsAICmpInst(made) ||
         LLVMIsAFCmpInst(made);
}

static void add_store(const CloseUnit *u, RelationSites *out, LLVMValueRef i) {
  LLVMValueRef value = LLVMGetOperand(i, 0);
  RelationShape shape = shape_of_value(value);
  if (LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic)
    return;
  if (!is_known(value))
    array_push(out, (RelationSite){.inst = i, .left = value, .shape = shape});
  if (shape == SHAPE_SIGN && pairs_may_change(u, i))
    array_push(out,
               (RelationSite){.inst = i, .left = value, .shape = SHAPE_CHANGE});
}

static void add_value(RelationSites *out, LLVMValueRef i, LLVMValueRef value) {
  if (!is_known(value) || value == i)
    array_push(out, (RelationSite){.inst = i,
                                   .left = value,
                                   .shape = shape_of_value(value)});
}

static void add_call(RelationSites *out, LLVMValueRef i) {
  if (is_site(i))
    add_value(out, i, i);
}

static void add_site(const CloseUnit *u, RelationSites *out, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMICmp:
  case LLVMFCmp:
    add_compare(out, i);
    break;
  case LLVMStore:
    add_store(u, out, i);
    break;
  case LLVMRet:
    if (LLVMGetNumOperands(i))
      add_value(out, i, LLVMGetOperand(i, 0));
    break;
  case LLVMCall:
    add_call(out, i);
    break;
  default:
    break;
  }
}

// With several returns in a function, each stores what it returns.
static bool returns(CloseUnit *u, const RelationSite *s) {
  Place place;
  LLVMValueRef to = LLVMGetOperand(s->inst, 1);
  return LLVMIsAAllocaInst(to) && !close_unit_variable(u, to) &&
         place_of(u->plan, s->inst, &place) &&
         source_word_is(place_text(u->plan, &place), "return");
}

static const char *name_of(CloseUnit *u, const RelationSite *s) {
  switch (LLVMGetInstructionOpcode(s->inst)) {
  case LLVMStore:
    return returns(u, s) ? "return" : "store";
  case LLVMRet:
    return "return";
  case LLVMCall:
    return "call";
  default:
    return "compare";
  }
}

// --- entities ---------------------------------------------------------------

static void add_outcomes(CloseUnit *u, RelationSite *s, Entity e) {
  Plan *p = u->plan;
  RelationWords words = relation_words(u, s);
  s->first = p->ncounters;
  if (words.col_lo) {
    e.col_lo = words.col_lo;
    e.col_hi = words.col_hi;
  }
  for (unsigned i = 0; i < shapes[s->shape].n; i++) {
    e.from = shapes[s->shape].outcomes[i];
    e.text = relation_clause(u, s, &words, (RelationOutcome)e.from);
    array_push(&p->refs, p->ncounters++);
    array_push(&p->entities, e);
    array_push(&p->first_ref, (uint32_t)p->refs.len);
  }
  if (s->shape == SHAPE_CHANGE)
    p->ncounters++; // nothing was there
}

// False: the site is not of a statement, and of no use.
static bool plan_site(CloseUnit *u, RelationSite *s, uint32_t index) {
  Place place;
  uint32_t statement = close_unit_statement(u, s->inst);
  s->name = name_of(u, s);
  if (s->shape == SHAPES || statement == ENTITY_NONE ||
      !place_of(u->plan, s->inst, &place))
    return false;
  add_outcomes(u, s,
               (Entity){.kind = ENTITY_RELATION,
                        .source = place.source,
                        .line = place.line,
                        .col_lo = place.col_lo,
                        .col_hi = place.col_hi,
                        .function = u->plan->entities.items[statement].function,
                        .index = index,
                        .to = ENTITY_NONE,
                        .name = s->name});
  return true;
}

static void plan_function(CloseUnit *u, LLVMValueRef function,
                          RelationSites *out) {
  uint32_t index = 0;
  RelationSites found = {0};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      add_site(u, &found, i);
  for (size_t i = 0; i < found.len; i++)
    if (plan_site(u, &found.items[i], index)) {
      array_push(out, found.items[i]);
      index++;
    }
  array_release(&found);
}

void relations_plan(CloseUnit *u, RelationSites *out) {
  for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f;
       f = LLVMGetNextFunction(f))
    if (plan_covers(f))
      plan_function(u, f, out);
}

// --- code -------------------------------------------------------------------

typedef struct {
  CloseUnit *unit;
  LLVMBuilderRef builder;
  LLVMTypeRef i8, i64;
  unsigned nosanitize;
  LLVMValueRef empty;
  Hashmap helpers; // type -> helper
} RelationInserter;

static LLVMValueRef number(const RelationInserter *n, uint64_t value) {
  return LLVMConstInt(n->i64, value, false);
}

static LLVMValueRef widen(const RelationInserter *n, LLVMValueRef bit) {
  return LLVMBuildZExt(n->builder, bit, n->i64, "");
}

// 0 less, 1 equal, 2 greater.
static LLVMValueRef order_of(const RelationInserter *n, LLVMValueRef less,
                             LLVMValueRef greater) {
  LLVMValueRef sum =
      LLVMBuildAdd(n->builder, number(n, 1), widen(n, greater), "");
  return LLVMBuildSub(n->builder, sum, widen(n, less), "");
}

static LLVMValueRef order_integers(const RelationInserter *n, LLVMValueRef a,
                                   LLVMValueRef b, bool is_unsigned) {
  LLVMIntPredicate below = is_unsigned ? LLVMIntULT : LLVMIntSLT;
  LLVMIntPredicate above = is_unsigned ? LLVMIntUGT : LLVMIntSGT;
  return order_of(n, LLVMBuildICmp(n->builder, below, a, b, ""),
                  LLVMBuildICmp(n->builder, above, a, b, ""));
}

// As order_integers; 3: the signs differ, and so who is greater is not known.
static LLVMValueRef order_of_one_sign(const RelationInserter *n, LLVMValueRef a,
                                      LLVMValueRef b) {
  LLVMValueRef mixed = LLVMBuildXor(n->builder, a, b, "");
  LLVMValueRef differ = LLVMBuildICmp(n->builder, LLVMIntSLT, mixed,
                                      LLVMConstNull(LLVMTypeOf(a)), "");
  return LLVMBuildSelect(n->builder, differ, number(n, 3),
                         order_integers(n, a, b, false), "");
}

// A truth value is 0 or 1: as a signed number of one bit it were 0 or -1.
static LLVMValueRef sign_of(const RelationInserter *n, LLVMValueRef a) {
  if (LLVMGetIntTypeWidth(LLVMTypeOf(a)) == 1)
    a = widen(n, a);
  return order_integers(n, a, LLVMConstNull(LLVMTypeOf(a)), false);
}

// 3: one of them is not a number.
static LLVMValueRef order_reals(const RelationInserter *n, LLVMValueRef a,
                                LLVMValueRef b) {
  LLVMValueRef less = LLVMBuildFCmp(n->builder, LLVMRealOLT, a, b, "");
  LLVMValueRef greater = LLVMBuildFCmp(n->builder, LLVMRealOGT, a, b, "");
  LLVMValueRef none = LLVMBuildFCmp(n->builder, LLVMRealUNO, a, b, "");
  return LLVMBuildSelect(n->builder, none, number(n, 3),
                         order_of(n, less, greater), "");
}

static LLVMValueRef is_other(const RelationInserter *n, LLVMValueRef a,
                             LLVMValueRef b) {
  return widen(n, LLVMBuildICmp(n->builder, LLVMIntNE, a, b, ""));
}

// The number of the outcome among those of its shape.
static LLVMValueRef outcome_of(const RelationInserter *n,
                               const RelationSite *s) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(s->left));
  switch (s->shape) {
  case SHAPE_ORDER:
    return order_integers(n, s->left, s->right, s->is_unsigned);
  case SHAPE_EQUALITY:
    return order_of_one_sign(n, s->left, s->right);
  case SHAPE_REALS:
    return order_reals(n, s->left, s->right);
  case SHAPE_SAME:
    return is_other(n, s->left, s->right);
  case SHAPE_NULL:
    return is_other(n, s->left, zero);
  case SHAPE_SIGN:
    return sign_of(n, s->left);
  default:
    return order_reals(n, s->left, zero);
  }
}

// Behind the instruction that makes the value, or in front of the one that uses
// it up.
static void position(const RelationInserter *n, const RelationSite *s) {
  LLVMOpcode op = LLVMGetInstructionOpcode(s->inst);
  bool before = op == LLVMStore || op == LLVMRet;
  LLVMPositionBuilderBefore(n->builder,
                            before ? s->inst : LLVMGetNextInstruction(s->inst));
}

// --- helpers ----------------------------------------------------------------
// Whether a pointer is NULL and whether a number is negative is nearly always the
// same at one place: a branch that is foreseen costs less than working out the
// number of the outcome. One function per type, inlined. Other outcomes depend on
// the data, and what is not foreseen costs more.

static void add_attribute(LLVMContextRef c, LLVMValueRef f, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(c, kind, 0));
}

static void expect_second(LLVMContextRef c, LLVMValueRef branch) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
  LLVMMetadataRef weights[] = {
      LLVMMDStringInContext2(c, "branch_weights", 14),
      LLVMValueAsMetadata(LLVMConstInt(i32, 1, false)),
      LLVMValueAsMetadata(LLVMConstInt(i32, 100, false))};
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "prof", 4),
                  LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, weights, 3)));
}

static LLVMValueRef hit(const RelationInserter *n, LLVMValueRef row,
                        LLVMValueRef number) {
  LLVMBuilderRef b = n->builder;
  LLVMValueRef at = LLVMBuildInBoundsGEP2(b, n->i8, row, &number, 1, "");
  LLVMValueRef store = LLVMBuildStore(b, LLVMConstInt(n->i8, 1, false), at);
  LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic); // see probe.c
  LLVMSetAlignment(store, 1);
  LLVMSetMetadata(store, n->nosanitize, n->empty);
  LLVMBuildRetVoid(b);
  return store;
}

static bool is_pointer(LLVMValueRef v) {
  return kind_of(v) == LLVMPointerTypeKind;
}

// The stores are not of one kind: such two would be made one again, whose address
// is worked out.
static void hit_rarely(const RelationInserter *n, LLVMValueRef row) {
  LLVMSetAtomicSingleThread(hit(n, row, number(n, 0)), true);
}

static void hit_often(const RelationInserter *n, LLVMValueRef value,
                      LLVMValueRef row) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value)), one = number(n, 1);
  LLVMValueRef next =
      LLVMBuildInBoundsGEP2(n->builder, n->i8, row, &one, 1, "");
  hit(n, next, is_pointer(value) ? number(n, 0) : is_other(n, value, zero));
}

// void f(value, row): row[0] is the rare outcome.
static void write_helper(const RelationInserter *n, LLVMValueRef f) {
  LLVMBuilderRef b = n->builder;
  LLVMContextRef c = LLVMGetModuleContext(n->unit->module);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, f, "");
  LLVMBasicBlockRef rare = LLVMAppendBasicBlockInContext(c, f, "");
  LLVMBasicBlockRef often = LLVMAppendBasicBlockInContext(c, f, "");
  LLVMValueRef value = LLVMGetParam(f, 0), row = LLVMGetParam(f, 1);
  LLVMPositionBuilderAtEnd(b, entry);
  LLVMValueRef is_rare =
      LLVMBuildICmp(b, is_pointer(value) ? LLVMIntEQ : LLVMIntSLT, value,
                    LLVMConstNull(LLVMTypeOf(value)), "");
  expect_second(c, LLVMBuildCondBr(b, is_rare, rare, often));
  LLVMPositionBuilderAtEnd(b, rare);
  hit_rarely(n, row);
  LLVMPositionBuilderAtEnd(b, often);
  hit_often(n, value, row);
}

static LLVMValueRef helper_for(RelationInserter *n, LLVMTypeRef type,
                               LLVMTypeRef function_type) {
  uint64_t known;
  if (hashmap_get(&n->helpers, &type, sizeof type, &known))
    return (LLVMValueRef)(uintptr_t)known;
  LLVMContextRef c = LLVMGetModuleContext(n->unit->module);
  LLVMValueRef f =
      LLVMAddFunction(n->unit->module, RELATION_HELPER, function_type);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  add_attribute(c, f, "alwaysinline");
  add_attribute(c, f, "nounwind");
  LLVMBuilderRef outside = n->builder;
  n->builder = LLVMCreateBuilderInContext(c);
  write_helper(n, f);
  LLVMDisposeBuilder(n->builder);
  n->builder = outside;
  hashmap_put(&n->helpers, &type, sizeof type, (uintptr_t)f);
  return f;
}

static bool has_helper(const RelationSite *s) {
  return s->shape == SHAPE_NULL ||
         (s->shape == SHAPE_SIGN &&
          LLVMGetIntTypeWidth(LLVMTypeOf(s->left)) > 1);
}

static void record(RelationInserter *n, const RelationSite *s) {
  if (!has_helper(s)) {
    close_unit_hit(n->unit, n->builder, s->first, outcome_of(n, s));
    return;
  }
  LLVMContextRef c = LLVMGetModuleContext(n->unit->module);
  LLVMTypeRef params[] = {LLVMTypeOf(s->left), LLVMPointerTypeInContext(c, 0)};
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(c), params, 2, false);
  LLVMValueRef args[] = {s->left, close_unit_counter(n->unit, s->first)};
  LLVMBuildCall2(n->builder, type, helper_for(n, params[0], type), args, 2, "");
}

// --- branches ---------------------------------------------------------------

// Only equality is told apart.
static bool is_yes_or_no(RelationShape shape) {
  return shape == SHAPE_SAME || shape == SHAPE_NULL;
}

// The same as outcome_of(), if only these are possible.
static LLVMValueRef outcome_among(const RelationInserter *n,
                                  const RelationSite *s, unsigned possible) {
  LLVMBuilderRef b = n->builder;
  LLVMValueRef left = s->left, right = LLVMGetOperand(s->inst, 1);
  if (is_yes_or_no(s->shape))
    return number(n, possible == ORDER_EQUAL ? 0 : 1);
  switch (possible) {
  case ORDER_LESS:
    return number(n, 0);
  case ORDER_EQUAL:
    return number(n, 1);
  case ORDER_GREATER:
    return number(n, 2);
  case ORDER_LESS | ORDER_EQUAL:
    return widen(n, LLVMBuildICmp(b, LLVMIntEQ, left, right, ""));
  case ORDER_EQUAL | ORDER_GREATER:
    return LLVMBuildAdd(b, number(n, 1),
                        widen(n, LLVMBuildICmp(b, LLVMIntNE, left, right, "")),
                        "");
  default:
    return outcome_of(n, s);
  }
}

static bool decides_branch(const RelationSite *s, RelationBranch *r) {
  return LLVMIsAICmpInst(s->inst) &&
         LLVMTypeOf(s->left) !=
             LLVMInt1TypeInContext(LLVMGetTypeContext(LLVMTypeOf(s->left))) &&
         relation_branch(s->inst, r);
}

static void insert_site(RelationInserter *n, const RelationSite *s) {
  RelationBranch r;
  if (!decides_branch(s, &r)) {
    position(n, s);
    record(n, s);
    return;
  }
  for (int side = 0; side < 2; side++) {
    relation_stand_on(n->builder, &r, side);
    LLVMValueRef outcome =
        outcome_among(n, s, relation_possible(s->inst, side));
    close_unit_hit(n->unit, n->builder, s->first, outcome);
  }
}

void relations_insert(CloseUnit *u, const RelationSites *sites) {
  LLVMContextRef c = LLVMGetModuleContext(u->module);
  RelationInserter n = {
      .unit = u,
      .builder = LLVMCreateBuilderInContext(c),
      .i8 = LLVMInt8TypeInContext(c),
      .i64 = LLVMInt64TypeInContext(c),
      .nosanitize = LLVMGetMDKindIDInContext(c, "nosanitize", 10),
      .empty = LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0))};
  for (size_t i = 0; i < sites->len; i++)
    if (sites->items[i].shape != SHAPE_CHANGE) // pairs_change.h
      insert_site(&n, &sites->items[i]);
  hashmap_release(&n.helpers);
  LLVMDisposeBuilder(n.builder);
}
