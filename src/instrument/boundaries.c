// Tests inside a test program: see boundaries.h.
#include "instrument/boundaries.h"

#include <llvm-c/DebugInfo.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/testcode.h"
#include "runtime/segment_format.h"
#include "util/array.h"
#include "util/mem.h"
#include "util/str.h"

// So many functions of test names make a list of tests; more in a function that
// itself does not look like one that runs tests. Calls of one function in the
// main of a test file are a list of checks.
enum { ENOUGH = 2, ENOUGH_ELSEWHERE = 3, ENOUGH_CHECKS = 4 };
// Of a test, and of a check.
enum { PARAMETERS = 3, CHECK_PARAMETERS = 8, NONE = -1 };

typedef struct {
  LLVMValueRef function, thunk;
} Thunk;

typedef ARRAY(LLVMValueRef) ValueSet;

typedef struct {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMTypeRef i32, i64, pointer;
  const regex_t *regex; // NULL: none
  ARRAY(Thunk) thunks;
  ValueSet addressed; // tests whose addresses the unit takes
  bool used;
} Boundaries;

// --- what is a test ---------------------------------------------------------

static const char *function_name(LLVMValueRef f) {
  size_t n;
  return LLVMGetValueName2(f, &n);
}

// Functions around tests are often named like them.
static bool is_fixture(const char *name) {
  static const char *const words[] = {"setup",     "set_up", "teardown",
                                      "tear_down", "init",   "main",
                                      "free",      "cleanup"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcasestr(name, words[i]))
      return true;
  return false;
}

static bool is_test_name(const char *name) {
  size_t n = strlen(name);
  bool begins = text_starts(name, "test") || text_starts(name, "Test") ||
                text_starts(name, "t_");
  bool ends = (n > 5 && !strcmp(name + n - 5, "_test")) ||
              (n > 6 && !strcmp(name + n - 6, "_tests"));
  return (begins || ends) && !is_fixture(name);
}

static bool is_plain_type(LLVMTypeRef t) {
  LLVMTypeKind kind = LLVMGetTypeKind(t);
  return kind == LLVMPointerTypeKind ||
         (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) <= 64);
}

static bool is_plain_parameter(LLVMTypeRef t) {
  LLVMTypeKind kind = LLVMGetTypeKind(t);
  return is_plain_type(t) || kind == LLVMFloatTypeKind ||
         kind == LLVMDoubleTypeKind;
}

// Can it be called through a thunk? At most so many parameters, and plain ones.
static bool is_callable_with(LLVMValueRef f, unsigned most) {
  LLVMTypeRef type = LLVMGlobalGetValueType(f);
  LLVMTypeRef result = LLVMGetReturnType(type), parameters[CHECK_PARAMETERS];
  unsigned n = LLVMCountParamTypes(type);
  if (LLVMIsFunctionVarArg(type) || n > most || LLVMGetIntrinsicID(f))
    return false;
  LLVMGetParamTypes(type, parameters);
  for (unsigned i = 0; i < n; i++) {
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned sret = LLVMGetEnumAttributeKindForName("sret", 4);
    if (!is_plain_parameter(parameters[i]) ||
        LLVMGetEnumAttributeAtIndex(f, i + 1, byval) ||
        LLVMGetEnumAttributeAtIndex(f, i + 1, sret))
      return false;
  }
  return LLVMGetTypeKind(result) == LLVMVoidTypeKind || is_plain_type(result);
}

static bool is_callable(LLVMValueRef f) {
  return is_callable_with(f, PARAMETERS);
}

static bool is_test(const Boundaries *s, LLVMValueRef f) {
  if (!LLVMIsAFunction(f) || !is_callable(f))
    return false;
  const char *name = function_name(f);
  return s->regex ? !regexec(s->regex, name, 0, NULL, 0) : is_test_name(name);
}

// --- thunks -----------------------------------------------------------------

static LLVMValueRef runtime_function(Boundaries *s, const char *name,
                                     LLVMTypeRef first, LLVMTypeRef second,
                                     LLVMTypeRef *type) {
  LLVMTypeRef types[] = {first, second};
  *type = LLVMFunctionType(LLVMVoidTypeInContext(s->context), types,
                           second ? 2 : 1, false);
  s->used = true;
  LLVMValueRef f = LLVMGetNamedFunction(s->module, name);
  if (f)
    return f;
  f = LLVMAddFunction(s->module, name, *type);
  LLVMSetVisibility(f, LLVMHiddenVisibility);
  return f;
}

static LLVMValueRef text_constant(Boundaries *s, const char *text) {
  LLVMValueRef value =
      LLVMConstStringInContext2(s->context, text, strlen(text), false);
  LLVMValueRef g =
      LLVMAddGlobal(s->module, LLVMTypeOf(value), "__culprit_test_name");
  LLVMSetInitializer(g, value);
  LLVMSetGlobalConstant(g, true);
  LLVMSetLinkage(g, LLVMPrivateLinkage);
  return g;
}

// Not as a tail call: the frame tells begin and end of a test from others.
static void call_runtime(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef f,
                         LLVMValueRef *words, unsigned n) {
  LLVMSetTailCallKind(LLVMBuildCall2(b, type, f, words, n, ""),
                      LLVMTailCallKindNoTail);
}

static void call_begin(Boundaries *s, LLVMBuilderRef b, LLVMValueRef name) {
  LLVMTypeRef type;
  LLVMValueRef f =
      runtime_function(s, "__culprit_segment_begin", s->pointer, NULL, &type);
  call_runtime(b, type, f, &name, 1);
}

// What the results of a framework's tests mean.
typedef struct {
  bool known;
  int skip, fail, error;
} Convention;
static const Convention no_convention = {0}, of_greatest = {true, 1, -1, -1},
                        of_munit = {true, 2, 1, 3};

static LLVMValueRef select_if(Boundaries *s, LLVMBuilderRef b, LLVMValueRef v,
                              int is, SegmentVerdict then, LLVMValueRef other) {
  LLVMValueRef constant = LLVMConstInt(s->i64, (uint64_t)(int64_t)is, true);
  return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, v, constant, ""),
                         LLVMConstInt(s->i64, then, false), other, "");
}

static LLVMValueRef as_verdict(Boundaries *s, LLVMBuilderRef b, LLVMValueRef v,
                               const Convention *c) {
  LLVMValueRef verdict = LLVMConstInt(s->i64, SEGMENT_PASSED, false);
  verdict = select_if(s, b, v, c->skip, SEGMENT_SKIPPED, verdict);
  verdict = select_if(s, b, v, c->error, SEGMENT_FAILED, verdict);
  return select_if(s, b, v, c->fail, SEGMENT_FAILED, verdict);
}

// `result`: NULL if the test returns nothing.
static void call_end(Boundaries *s, LLVMBuilderRef b, LLVMValueRef result,
                     const Convention *c) {
  LLVMTypeRef type;
  LLVMValueRef f =
      runtime_function(s, "__culprit_segment_end", s->i64, s->i32, &type);
  uint32_t flags = result ? SEGMENT_HAS_RESULT : 0;
  LLVMValueRef word = LLVMConstInt(s->i64, 0, false);
  if (result && LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMPointerTypeKind)
    word = LLVMBuildPtrToInt(b, result, s->i64, "");
  else if (result)
    word = LLVMBuildIntCast2(b, result, s->i64, true, "");
  if (result && c->known) {
    word = as_verdict(s, b, word, c);
    flags = SEGMENT_HAS_VERDICT;
  }
  LLVMValueRef words[] = {word, LLVMConstInt(s->i32, flags, false)};
  call_runtime(b, type, f, words, 2);
}

static void set_function_attribute(LLVMValueRef f, const char *name,
                                   uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(c, kind, value));
}

static LLVMValueRef build_thunk(Boundaries *s, LLVMValueRef f,
                                LLVMValueRef name, const Convention *c) {
  LLVMTypeRef type = LLVMGlobalGetValueType(f);
  char *symbol = mem_printf("__culprit_test_%s", function_name(f));
  LLVMValueRef thunk = LLVMAddFunction(s->module, symbol, type);
  free(symbol);
  LLVMSetLinkage(thunk, LLVMInternalLinkage);
  LLVMSetFunctionCallConv(thunk, LLVMGetFunctionCallConv(f));
  set_function_attribute(thunk, "noinline", 0);
  set_function_attribute(thunk, "uwtable", 2); // asynchronous
  LLVMBuilderRef b = LLVMCreateBuilderInContext(s->context);
  LLVMPositionBuilderAtEnd(
      b, LLVMAppendBasicBlockInContext(s->context, thunk, ""));
  LLVMValueRef words[CHECK_PARAMETERS];
  LLVMGetParams(thunk, words);
  call_begin(s, b, name);
  LLVMValueRef result =
      LLVMBuildCall2(b, type, f, words, LLVMCountParams(thunk), "");
  LLVMSetInstructionCallConv(result, LLVMGetFunctionCallConv(f));
  LLVMSetTailCallKind(result, LLVMTailCallKindNoTail);
  bool is_void = LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMVoidTypeKind;
  call_end(s, b, is_void ? NULL : result, c);
  if (is_void)
    LLVMBuildRetVoid(b);
  else
    LLVMBuildRet(b, result);
  LLVMDisposeBuilder(b);
  return thunk;
}

// The thunk of a function under its own name.
static LLVMValueRef thunk_of(Boundaries *s, LLVMValueRef f) {
  for (size_t i = 0; i < s->thunks.len; i++)
    if (s->thunks.items[i].function == f)
      return s->thunks.items[i].thunk;
  LLVMValueRef name = text_constant(s, function_name(f));
  Thunk t = {f, build_thunk(s, f, name, &no_convention)};
  array_push(&s->thunks, t);
  return t.thunk;
}

// --- uses -------------------------------------------------------------------

// Calls `visit` for every instruction of the module as it was: thunks come
// last.
static void each_instruction(Boundaries *s,
                             void visit(Boundaries *s, LLVMValueRef inst)) {
  LLVMValueRef last = LLVMGetLastFunction(s->module);
  for (LLVMValueRef f = LLVMGetFirstFunction(s->module); f;
       f = f == last ? NULL : LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        visit(s, i);
      }
}

static void add_once(ValueSet *values, LLVMValueRef v) {
  for (size_t i = 0; i < values->len; i++)
    if (values->items[i] == v)
      return;
  array_push(values, v);
}

// The tests that one function calls by name.
static void direct_tests(const Boundaries *s, LLVMValueRef f, ValueSet *out) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsACallInst(i) && is_test(s, LLVMGetCalledValue(i)))
        add_once(out, LLVMGetCalledValue(i));
}

// How many of them have the type of `f`?
static size_t count_alike(const ValueSet *values, LLVMValueRef f) {
  size_t n = 0;
  for (size_t i = 0; i < values->len; i++)
    n += LLVMGlobalGetValueType(values->items[i]) == LLVMGlobalGetValueType(f);
  return n;
}

static void call_thunk(LLVMValueRef call, LLVMValueRef thunk) {
  LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, thunk);
  LLVMSetTailCall(call, false);
}

// Those of a type that enough of them have.
static void wrap_calls(Boundaries *s, LLVMValueRef f, const ValueSet *tests,
                       size_t enough) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      if (!LLVMIsACallInst(i) || !is_test(s, LLVMGetCalledValue(i)) ||
          count_alike(tests, LLVMGetCalledValue(i)) < enough)
        continue;
      call_thunk(i, thunk_of(s, LLVMGetCalledValue(i)));
    }
}

static size_t enough_in(const Boundaries *s, LLVMValueRef f) {
  const char *name = function_name(f);
  if (s->regex)
    return 1;
  return !strcmp(name, "main") || strcasestr(name, "test") ? ENOUGH
                                                           : ENOUGH_ELSEWHERE;
}

// A function that calls several tests by name runs them.
static void wrap_drivers(Boundaries *s) {
  LLVMValueRef last = LLVMGetLastFunction(s->module);
  for (LLVMValueRef f = LLVMGetFirstFunction(s->module); f;
       f = f == last ? NULL : LLVMGetNextFunction(f)) {
    ValueSet tests = {0};
    direct_tests(s, f, &tests);
    if (tests.len >= enough_in(s, f))
      wrap_calls(s, f, &tests, enough_in(s, f));
    array_release(&tests);
  }
}

// --- checks: one function that main calls again and again --------------------

static bool is_check_name(const char *name) {
  static const char *const words[] = {"assert", "check",  "expect", "test",
                                      "verify", "should", "ensure"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcasestr(name, words[i]))
      return !is_fixture(name);
  return false;
}

// The function that a call checks something with; NULL: it is no check.
static LLVMValueRef check_of(LLVMValueRef call) {
  LLVMValueRef f = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
  return f && LLVMIsAFunction(f) && !LLVMIsDeclaration(f) &&
                 is_check_name(function_name(f)) &&
                 is_callable_with(f, CHECK_PARAMETERS)
             ? f
             : NULL;
}

// Each under its line: check_sum:31.
static void wrap_check(Boundaries *s, LLVMValueRef call, LLVMValueRef f) {
  char *name = mem_printf("%s:%u", function_name(f), LLVMGetDebugLocLine(call));
  call_thunk(call, build_thunk(s, f, text_constant(s, name), &no_convention));
  free(name);
}

static void wrap_checks(Boundaries *s) {
  LLVMValueRef f = LLVMGetNamedFunction(s->module, "main");
  size_t n;
  ValueSet calls = {0}, tests = {0};
  if (s->regex || !f ||
      !testcode_is_program(LLVMGetSourceFileName(s->module, &n)))
    return;
  direct_tests(s, f, &tests);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      if (check_of(i))
        array_push(&calls, i);
  if (calls.len >= ENOUGH_CHECKS && tests.len < ENOUGH)
    for (size_t i = 0; i < calls.len; i++)
      wrap_check(s, calls.items[i], check_of(calls.items[i]));
  array_release(&calls);
  array_release(&tests);
}

// --- addresses --------------------------------------------------------------

// The types of tables that frameworks have, and which elements are the test,
// its name, and what that name is part of.
typedef struct {
  const char *type;
  int test, title, group; // NONE: it has none
  const Convention *results;
} TestTable;

static const TestTable tables[] = {
    {"struct.CMUnitTest", 1, 0, NONE, &no_convention},    // cmocka
    {"struct.TTest", 1, 0, NONE, &no_convention},         // Check
    {"struct.MunitTest", 1, 0, NONE, &of_munit},          // munit
    {"struct.CU_TestInfo", 1, 0, NONE, &no_convention},   // CUnit
    {"struct.criterion_test", 2, 0, 1, &no_convention},   // Criterion
    {"struct.acutest_test_", 1, 0, NONE, &no_convention}, // Acutest
};

// NULL: of no known framework.
static const TestTable *known_table(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
    return NULL;
  const char *name = LLVMGetStructName(type);
  for (size_t i = 0; name && i < sizeof tables / sizeof *tables; i++)
    if (text_starts(name, tables[i].type))
      return &tables[i];
  return NULL;
}

static bool is_aggregate(LLVMValueRef v) {
  return LLVMIsAConstantStruct(v) || LLVMIsAConstantArray(v);
}

// Is the constant a struct of functions that a library calls back? These have
// different types, or there are several in a struct that is not a row of a
// table: a row has one test.
static bool holds_callbacks(const Boundaries *s, LLVMValueRef v, bool row) {
  LLVMValueRef first = NULL;
  for (unsigned i = 0; LLVMIsAConstantStruct(v) && !s->regex &&
                       i < (unsigned)LLVMGetNumOperands(v);
       i++) {
    LLVMValueRef e = LLVMGetOperand(v, i);
    if (!LLVMIsAFunction(e) || !is_test_name(function_name(e)))
      continue;
    if (first &&
        (!row || LLVMGlobalGetValueType(e) != LLVMGlobalGetValueType(first)))
      return true;
    first = e;
  }
  return false;
}

// The tests among the elements of a constant. `row`: it is one of an array's.
static void constant_tests(const Boundaries *s, LLVMValueRef v, bool row,
                           ValueSet *out) {
  const TestTable *known = known_table(LLVMTypeOf(v));
  if (!known && holds_callbacks(s, v, row))
    return;
  for (unsigned i = 0; is_aggregate(v) && i < (unsigned)LLVMGetNumOperands(v);
       i++) {
    LLVMValueRef e = LLVMGetOperand(v, i);
    if (is_aggregate(e))
      constant_tests(s, e, LLVMIsAConstantArray(v), out);
    else if (LLVMIsAFunction(e) && is_callable(e) &&
             (known ? known->test == (int)i : is_test(s, e)))
      add_once(out, e);
  }
}

static bool is_in(const ValueSet *values, LLVMValueRef v) {
  for (size_t i = 0; i < values->len; i++)
    if (values->items[i] == v)
      return true;
  return false;
}

// The text that a pointer to a constant points to; NULL: none is known.
static const char *constant_text(LLVMValueRef pointer, size_t *n) {
  LLVMValueRef v = pointer && LLVMIsAGlobalVariable(pointer)
                       ? LLVMGetInitializer(pointer)
                       : NULL;
  return v && LLVMIsAConstantDataSequential(v) && LLVMIsConstantString(v)
             ? LLVMGetAsString(v, n)
             : NULL;
}

// The thunk of the test in a row of a known table, under the name it has there.
static LLVMValueRef thunk_of_row(Boundaries *s, LLVMValueRef row,
                                 const TestTable *known) {
  size_t n = 0, m = 0;
  LLVMValueRef f = LLVMGetOperand(row, (unsigned)known->test);
  const char *title =
      constant_text(LLVMGetOperand(row, (unsigned)known->title), &n);
  const char *group =
      known->group >= 0
          ? constant_text(LLVMGetOperand(row, (unsigned)known->group), &m)
          : NULL;
  char *name = !title  ? mem_strdup(function_name(f))
               : group ? mem_printf("%.*s::%.*s", (int)m, group, (int)n, title)
                       : mem_printf("%.*s", (int)n, title);
  LLVMValueRef thunk =
      build_thunk(s, f, text_constant(s, name), known->results);
  free(name);
  return thunk;
}

// The constant with thunks in place of the tests.
static LLVMValueRef with_thunks(Boundaries *s, LLVMValueRef v,
                                const ValueSet *tests) {
  unsigned n = (unsigned)LLVMGetNumOperands(v);
  LLVMTypeRef type = LLVMTypeOf(v);
  const TestTable *known = known_table(type);
  LLVMValueRef *elements = mem_array(LLVMValueRef, n + 1);
  for (unsigned i = 0; i < n; i++) {
    LLVMValueRef e = LLVMGetOperand(v, i);
    elements[i] = is_aggregate(e)         ? with_thunks(s, e, tests)
                  : !is_in(tests, e)      ? e
                  : !known                ? thunk_of(s, e)
                  : known->test == (int)i ? thunk_of_row(s, v, known)
                                          : e;
  }
  LLVMValueRef all;
  if (LLVMIsAConstantArray(v))
    all = LLVMConstArray2(LLVMGetElementType(type), elements, n);
  else if (LLVMGetStructName(type))
    all = LLVMConstNamedStruct(type, elements, n);
  else
    all = LLVMConstStructInContext(s->context, elements, n,
                                   LLVMIsPackedStruct(type));
  free(elements);
  return all;
}

static bool has_known_table(LLVMTypeRef type) {
  while (LLVMGetTypeKind(type) == LLVMArrayTypeKind)
    type = LLVMGetElementType(type);
  return known_table(type) != NULL;
}

static void wrap_tables(Boundaries *s) {
  for (LLVMValueRef g = LLVMGetFirstGlobal(s->module); g;
       g = LLVMGetNextGlobal(g)) {
    LLVMValueRef v = LLVMGetInitializer(g);
    ValueSet tests = {0};
    if (v && is_aggregate(v))
      constant_tests(s, v, false, &tests);
    if (tests.len >= ENOUGH ||
        (tests.len && (s->regex || has_known_table(LLVMTypeOf(v)))))
      LLVMSetInitializer(g, with_thunks(s, v, &tests));
    array_release(&tests);
  }
}

// --- functions that register or run a test ----------------------------------

static const struct {
  const char *name;
  int test, title; // which argument
} registering[] = {
    {"UnityDefaultTestRun", 0, 1},       // Unity
    {"UnityTestRunner", 1, 3},           //   its fixtures
    {"CU_add_test", 2, 1},               // CUnit
    {"g_test_add_func", 1, 0},           // GLib
    {"g_test_add_data_func", 2, 0},      //
    {"g_test_add_data_func_full", 2, 0}, //
    {"g_test_add_vtable", 4, 0},         //
};

static LLVMValueRef argument(LLVMValueRef call, int i) {
  return i >= 0 && (unsigned)i < LLVMGetNumArgOperands(call)
             ? LLVMGetOperand(call, (unsigned)i)
             : NULL;
}

// Under the name it is registered by, if that is a constant.
static void wrap_registered(Boundaries *s, LLVMValueRef call, int test,
                            int title) {
  LLVMValueRef f = argument(call, test), name = argument(call, title);
  if (!f || !LLVMIsAFunction(f) || !is_callable(f))
    return;
  LLVMValueRef thunk = name && LLVMIsAGlobalVariable(name)
                           ? build_thunk(s, f, name, &no_convention)
                           : thunk_of(s, f);
  LLVMSetOperand(call, (unsigned)test, thunk);
}

// greatest says itself when a test begins and how it ended.
static void mark_greatest(Boundaries *s, LLVMValueRef call, bool begins) {
  LLVMBuilderRef b = LLVMCreateBuilderInContext(s->context);
  LLVMPositionBuilderBefore(b, call);
  if (begins)
    call_begin(s, b, LLVMGetOperand(call, 0));
  else
    call_end(s, b, LLVMGetOperand(call, LLVMGetNumArgOperands(call) - 1),
             &of_greatest);
  LLVMDisposeBuilder(b);
}

// A line of TAP closes a test. `result`: NULL if the line says it.
static void mark_point(Boundaries *s, LLVMValueRef call, LLVMValueRef result) {
  LLVMTypeRef type;
  LLVMValueRef f =
      runtime_function(s, "__culprit_segment_point", s->i64, s->i32, &type);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(s->context);
  LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(call));
  LLVMValueRef zero = LLVMConstInt(s->i64, 0, false);
  LLVMValueRef passed = zero;
  if (result) {
    passed = LLVMBuildIntCast2(b, result, s->i64, true, "");
    passed = select_if(s, b, passed, 0, SEGMENT_FAILED,
                       LLVMConstInt(s->i64, SEGMENT_PASSED, false));
  }
  LLVMValueRef words[] = {
      passed, LLVMConstInt(s->i32, result ? SEGMENT_HAS_VERDICT : 0, false)};
  call_runtime(b, type, f, words, 2);
  LLVMDisposeBuilder(b);
}

// Does this call write the beginning of such a line: "ok 1", "not ok %d",
// "%sok %d"?
static bool writes_tap(LLVMValueRef call, const char *name) {
  static const char *const writers[] = {
      "printf", "fprintf", "puts", "fputs", "__printf_chk", "__fprintf_chk"};
  bool writes = false;
  for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
    writes |= !strcmp(name, writers[i]);
  for (unsigned i = 0; writes && i < LLVMGetNumArgOperands(call); i++) {
    size_t n = 0;
    const char *text = constant_text(LLVMGetOperand(call, i), &n);
    if (!text)
      continue;
    if (text_starts(text, "not ") || text_starts(text, "%s"))
      text += text[0] == 'n' ? 4 : 2;
    return text_starts(text, "ok %") || text_starts(text, "ok - ") ||
           (text_starts(text, "ok ") && text[3] >= '0' && text[3] <= '9');
  }
  return false;
}

// libtap's functions say themselves how the check ended.
static bool is_point(LLVMValueRef call, const char *name) {
  static const char *const points[] = {"ok_at_loc",      "is_at_loc",
                                       "isnt_at_loc",    "cmp_ok_at_loc",
                                       "cmp_mem_at_loc", "like_at_loc"};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    if (!strcmp(name, points[i]))
      return LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMIntegerTypeKind;
  return false;
}

static bool is_in_libtap(LLVMValueRef inst) {
  LLVMBasicBlockRef b = LLVMGetInstructionParent(inst);
  const char *name = function_name(LLVMGetBasicBlockParent(b));
  return strstr(name, "_at_loc") != NULL;
}

static bool is_greatest(const char *name, const char *which) {
  char first[32], second[32]; // as it is called now, and before 1.3
  snprintf(first, sizeof first, "greatest_test_%s", which);
  snprintf(second, sizeof second, "greatest_%s_test", which);
  return !strcmp(name, first) || !strcmp(name, second);
}

static void mark_call(Boundaries *s, LLVMValueRef inst) {
  LLVMValueRef f = LLVMIsACallInst(inst) ? LLVMGetCalledValue(inst) : NULL;
  if (!f || !LLVMIsAFunction(f))
    return;
  const char *name = function_name(f);
  for (size_t i = 0; i < sizeof registering / sizeof *registering; i++)
    if (!strcmp(name, registering[i].name))
      wrap_registered(s, inst, registering[i].test, registering[i].title);
  if (is_greatest(name, "pre") && argument(inst, 0))
    mark_greatest(s, inst, true);
  else if (is_greatest(name, "post") && argument(inst, 0))
    mark_greatest(s, inst, false);
  else if (is_point(inst, name) && !is_in_libtap(inst))
    mark_point(s, inst, inst);
  else if (writes_tap(inst, name) && !is_in_libtap(inst))
    mark_point(s, inst, NULL);
}

// --- other addresses: stored, or passed to a function -----------------------

static bool is_callee(LLVMValueRef inst, unsigned operand) {
  return LLVMIsACallInst(inst) &&
         operand + 1 == (unsigned)LLVMGetNumOperands(inst);
}

// Functions of the C library call back what is no test, whatever its name.
static bool is_callback_of_libc(LLVMValueRef inst) {
  static const char *const names[] = {"qsort",   "qsort_r", "bsearch", "lfind",
                                      "lsearch", "tsearch", "tfind",   "twalk",
                                      "atexit",  "signal",  NULL};
  LLVMValueRef f = LLVMIsACallInst(inst) ? LLVMGetCalledValue(inst) : NULL;
  return f && LLVMIsAFunction(f) && text_is_one_of(function_name(f), names);
}

static bool takes_address(LLVMValueRef inst) {
  if (is_callback_of_libc(inst))
    return false;
  return LLVMIsACallInst(inst) || LLVMIsAStoreInst(inst) ||
         LLVMIsAPHINode(inst) || LLVMIsASelectInst(inst);
}

static void find_addresses(const Boundaries *s, LLVMValueRef f, ValueSet *out) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      for (int k = 0; takes_address(i) && k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        if (!is_callee(i, (unsigned)k) && LLVMIsAFunction(v) && is_test(s, v))
          add_once(out, v);
      }
}

static void wrap_address(Boundaries *s, LLVMValueRef inst) {
  for (int k = 0; takes_address(inst) && k < LLVMGetNumOperands(inst); k++) {
    LLVMValueRef v = LLVMGetOperand(inst, (unsigned)k);
    if (!is_callee(inst, (unsigned)k) && LLVMIsAFunction(v) &&
        is_in(&s->addressed, v) &&
        (s->regex || count_alike(&s->addressed, v) >= ENOUGH))
      LLVMSetOperand(inst, (unsigned)k, thunk_of(s, v));
  }
}

static void wrap_addresses(Boundaries *s) {
  for (LLVMValueRef f = LLVMGetFirstFunction(s->module); f;
       f = LLVMGetNextFunction(f))
    find_addresses(s, f, &s->addressed);
  if (s->addressed.len >= (s->regex ? 1 : ENOUGH))
    each_instruction(s, wrap_address);
  array_release(&s->addressed);
}

int boundaries_insert(LLVMModuleRef m, const char *regex, bool *used,
                      Err *err) {
  regex_t compiled;
  LLVMContextRef c = LLVMGetModuleContext(m);
  Boundaries s = {.module = m,
                  .context = c,
                  .i32 = LLVMInt32TypeInContext(c),
                  .i64 = LLVMInt64TypeInContext(c),
                  .pointer = LLVMPointerTypeInContext(c, 0)};
  if (regex && regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB))
    return err_set(err, "--segment: '%s' is not a regular expression", regex);
  s.regex = regex ? &compiled : NULL;
  each_instruction(&s, mark_call);
  wrap_checks(&s);
  wrap_tables(&s);
  wrap_drivers(&s);
  wrap_addresses(&s);
  *used = s.used;
  array_release(&s.thunks);
  if (regex)
    regfree(&compiled);
  return 0;
}
