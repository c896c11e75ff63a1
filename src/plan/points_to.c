// Which memory a pointer may point to: see points_to.h.
#include "plan/points_to.h"

#define NONE UINT32_MAX

static uint32_t new_node(PointsTo *p) {
  uint32_t n = (uint32_t)p->parent.len;
  array_push(&p->parent, n);
  array_push(&p->pointee, NONE);
  return n;
}

static uint32_t find(PointsTo *p, uint32_t n) {
  while (p->parent.items[n] != n) {
    p->parent.items[n] = p->parent.items[p->parent.items[n]];
    n = p->parent.items[n];
  }
  return n;
}

// Makes two classes one, and what they point to as well.
static void unite(PointsTo *p, uint32_t a, uint32_t b) {
  while ((a = find(p, a)) != (b = find(p, b))) {
    p->parent.items[b] = a;
    uint32_t x = p->pointee.items[a], y = p->pointee.items[b];
    if (x == NONE)
      p->pointee.items[a] = y;
    if (x == NONE || y == NONE)
      return;
    a = x;
    b = y;
  }
}

static uint32_t pointee(PointsTo *p, uint32_t n) {
  n = find(p, n);
  if (p->pointee.items[n] == NONE) {
    uint32_t fresh = new_node(p); // may move the arrays
    p->pointee.items[n] = fresh;
  }
  return find(p, p->pointee.items[n]);
}

// Constant expressions stand for the global they are computed from.
static LLVMValueRef plain(LLVMValueRef v) {
  while (LLVMIsAConstantExpr(v) && LLVMGetNumOperands(v))
    v = LLVMGetOperand(v, 0);
  return v;
}

static uint32_t node(PointsTo *p, LLVMValueRef v) {
  v = plain(v);
  uint64_t n = p->parent.len;
  if (hashmap_intern(&p->nodes, &v, sizeof v, n) == n)
    new_node(p);
  hashmap_get(&p->nodes, &v, sizeof v, &n);
  return find(p, (uint32_t)n);
}

// Both point to the same memory from now on.
static void assign(PointsTo *p, LLVMValueRef to, LLVMValueRef from) {
  uint32_t a = pointee(p, node(p, to)), b = pointee(p, node(p, from));
  unite(p, a, b);
}

static bool is_pointer(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

bool function_is_taken(LLVMValueRef function) {
  for (LLVMUseRef u = LLVMGetFirstUse(function); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function)
      return true;
  }
  return false;
}

static void returned(PointsTo *p, LLVMValueRef call, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    if (LLVMIsAReturnInst(end) && LLVMGetNumOperands(end))
      assign(p, call, LLVMGetOperand(end, 0));
  }
}

static void call_known(PointsTo *p, LLVMValueRef call, LLVMValueRef function) {
  unsigned n = LLVMGetNumArgOperands(call);
  unsigned params = LLVMCountParams(function);
  for (unsigned i = 0; i < n && i < params; i++)
    if (is_pointer(LLVMGetOperand(call, i)))
      assign(p, LLVMGetParam(function, i), LLVMGetOperand(call, i));
  if (is_pointer(call))
    returned(p, call, function);
}

// What we cannot see may return any pointer it was given, and nothing worse.
static void call_unknown(PointsTo *p, LLVMValueRef call) {
  unsigned n = LLVMGetNumArgOperands(call);
  for (unsigned i = 0; i < n && is_pointer(call); i++)
    if (is_pointer(LLVMGetOperand(call, i)))
      assign(p, call, LLVMGetOperand(call, i));
}

static void call_pointer(PointsTo *p, LLVMModuleRef m, LLVMValueRef call) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && function_is_taken(f) &&
        LLVMCountParams(f) == LLVMGetNumArgOperands(call))
      call_known(p, call, f);
}

static void visit(PointsTo *p, LLVMModuleRef m, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMLoad: {
    uint32_t from = pointee(p, pointee(p, node(p, LLVMGetOperand(i, 0))));
    if (is_pointer(i))
      unite(p, pointee(p, node(p, i)), from);
    break;
  }
  case LLVMStore:
    if (is_pointer(LLVMGetOperand(i, 0))) {
      uint32_t to = pointee(p, pointee(p, node(p, LLVMGetOperand(i, 1))));
      unite(p, to, pointee(p, node(p, LLVMGetOperand(i, 0))));
    }
    break;
  case LLVMGetElementPtr:
  case LLVMBitCast:
    assign(p, i, LLVMGetOperand(i, 0));
    break;
  case LLVMSelect:
  case LLVMPHI:
    for (int k = LLVMIsASelectInst(i) ? 1 : 0; k < LLVMGetNumOperands(i); k++)
      if (is_pointer(i) && is_pointer(LLVMGetOperand(i, (unsigned)k)))
        assign(p, i, LLVMGetOperand(i, (unsigned)k));
    break;
  case LLVMCall: {
    LLVMValueRef f = LLVMGetCalledValue(i);
    if (!LLVMIsAFunction(f))
      call_pointer(p, m, i);
    else if (LLVMIsDeclaration(f))
      call_unknown(p, i);
    else
      call_known(p, i, f);
    break;
  }
  default:
    break;
  }
}

// Pointers in the initial value of a global.
static void initial(PointsTo *p, LLVMValueRef global, LLVMValueRef v) {
  v = plain(v);
  if (LLVMIsAGlobalValue(v)) {
    uint32_t content = pointee(p, pointee(p, node(p, global)));
    unite(p, content, pointee(p, node(p, v)));
    return;
  }
  if (LLVMIsAConstantStruct(v) || LLVMIsAConstantArray(v))
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
      initial(p, global, LLVMGetOperand(v, (unsigned)i));
}

void points_to_build(PointsTo *p, LLVMModuleRef m) {
  for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
    if (LLVMGetInitializer(g))
      initial(p, g, LLVMGetInitializer(g));
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
           i = LLVMGetNextInstruction(i))
        visit(p, m, i);
}

void points_to_release(PointsTo *p) {
  hashmap_release(&p->nodes);
  array_release(&p->parent);
  array_release(&p->pointee);
}

uint32_t points_to_class(PointsTo *p, LLVMValueRef pointer) {
  return pointee(p, node(p, pointer));
}
