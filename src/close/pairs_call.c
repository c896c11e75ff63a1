// Definition-use pairs across calls: of functions that are instrumented, too,
// of the C library (model/library_effects.h), and of functions nothing is known of.
//
// A caller tells which statement calls, and whom; the function compares that
// with itself. When it returns it tells that it was it, and which statement
// returned. So calls through functions that are not instrumented (qsort) are not
// mistaken for others.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "close/pairs_emit.h"
#include "model/library_effects.h"

enum { UNKNOWN_SIZE = 256 }; // bytes that an unknown function may have written

static LLVMValueRef argument(LLVMValueRef call, int i) {
  return LLVMGetOperand(call, (unsigned)i);
}

static bool is_pointer(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static bool is_used(LLVMValueRef call) { return LLVMGetFirstUse(call) != NULL; }

// --- functions that nothing is known of -------------------------------------

static unsigned attribute(const char *name) {
  return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static bool has_attribute(LLVMValueRef call, unsigned arg, const char *name) {
  LLVMValueRef f = LLVMGetCalledValue(call);
  unsigned kind = attribute(name);
  return LLVMGetCallSiteEnumAttribute(call, arg + 1, kind) ||
         (LLVMIsAFunction(f) && LLVMGetEnumAttributeAtIndex(f, arg + 1, kind));
}

// May the function write through this argument?
static bool may_write(LLVMValueRef call, unsigned arg) {
  LLVMValueRef v = LLVMGetOperand(call, arg);
  if (!is_pointer(v) || LLVMIsNull(v) || LLVMIsAFunction(v) ||
      has_attribute(call, arg, "readonly") ||
      has_attribute(call, arg, "readnone") || has_attribute(call, arg, "byval"))
    return false;
  LLVMValueRef object = pairs_object(v);
  return !LLVMIsAGlobalVariable(object) || !LLVMIsGlobalConstant(object);
}

static LLVMValueRef reach(const Pairs *p, LLVMValueRef pointer) {
  uint64_t size = pairs_object_size(p, pointer);
  return pairs_number(p, size ? size : UNKNOWN_SIZE);
}

static void forget(Pairs *p, LLVMValueRef pointer) {
  LLVMValueRef args[] = {pairs_none(p), pointer, reach(p, pointer)};
  pairs_invoke(p, p->define, args, 3);
}

// What such a function may have written is unknown, unless it turns out that it
// is instrumented.
static void forget_arguments(Pairs *p, LLVMValueRef call, LLVMValueRef callee) {
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
    LLVMValueRef v = LLVMGetOperand(call, i);
    if (!may_write(call, i))
      continue;
    if (!callee) {
      forget(p, v);
      continue;
    }
    LLVMValueRef args[] = {callee, v, reach(p, v)};
    pairs_invoke(p, p->outside, args, 3);
  }
}

// --- functions that may be instrumented -------------------------------------

// A struct passed by value is read by the call.
static void use_structs(Pairs *p, LLVMValueRef call, LLVMValueRef use) {
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
    LLVMAttributeRef a =
        LLVMGetCallSiteEnumAttribute(call, i + 1, attribute("byval"));
    LLVMValueRef v = LLVMGetOperand(call, i);
    if (!a || !pairs_has_id(use) || pairs_is_hidden(p, v))
      continue;
    uint64_t size = LLVMABISizeOfType(p->layout, LLVMGetTypeAttributeValue(a));
    pairs_use_range(p, use, v, pairs_number(p, size));
  }
}

static void call_known(Pairs *p, LLVMValueRef call, LLVMValueRef callee) {
  LLVMValueRef id = pairs_id(p, call);
  pairs_stand_before(p, call);
  use_structs(p, call, id);
  if (LLVMGetNumArgOperands(call))
    pairs_set(p, p->call, id);
  if (!pairs_is_private(callee) && LLVMGetNumArgOperands(call))
    pairs_set(p, p->callee, callee);
  if (is_used(call) && pairs_has_id(id) && pairs_stand_behind(p, call))
    pairs_record(p, pairs_get(p, p->i32, p->returned), id);
}

static void call_unknown(Pairs *p, LLVMValueRef call, LLVMValueRef callee) {
  LLVMValueRef id = pairs_id(p, call);
  pairs_stand_before(p, call);
  use_structs(p, call, id);
  pairs_set(p, p->call, id);
  pairs_set(p, p->callee, callee);
  pairs_set(p, p->returner, LLVMConstNull(p->ptr));
  if (!pairs_stand_behind(p, call))
    return;
  if (is_used(call) && pairs_has_id(id)) {
    LLVMValueRef args[] = {callee, id, pairs_next_last(p)};
    pairs_invoke(p, p->after, args, 3);
  }
  forget_arguments(p, call, callee);
}

// --- the C library ----------------------------------------------------------

typedef struct {
  Pairs *pairs;
  LLVMValueRef call, id;
} LibraryUse;

static LLVMValueRef to_size(Pairs *p, LLVMValueRef v) {
  return LLVMBuildIntCast2(p->builder, v, p->i64, true, "");
}

// size * factor; everything if there is no size.
static LLVMValueRef amount(const LibraryUse *u, const LibraryEffect *e) {
  Pairs *p = u->pairs;
  if (e->size < 0)
    return pairs_number(p, UINT64_MAX);
  LLVMValueRef n = to_size(p, argument(u->call, e->size));
  if (e->factor >= 0)
    n = LLVMBuildMul(p->builder, n, to_size(p, argument(u->call, e->factor)),
                     "");
  return n;
}

static void invoke3(Pairs *p, PairHelper h, LLVMValueRef a, LLVMValueRef b,
                    LLVMValueRef c) {
  LLVMValueRef args[] = {a, b, c};
  pairs_invoke(p, h, args, 3);
}

// The result of a call that tells how much it has read, or 0.
static LLVMValueRef bytes_read(const LibraryUse *u, const LibraryEffect *e) {
  Pairs *p = u->pairs;
  LLVMValueRef n = to_size(p, u->call), zero = pairs_number(p, 0);
  LLVMValueRef good = LLVMBuildICmp(p->builder, LLVMIntSGT, n, zero, "");
  n = LLVMBuildSelect(p->builder, good, n, zero, "");
  if (e->factor >= 0)
    n = LLVMBuildMul(p->builder, n, to_size(p, argument(u->call, e->factor)),
                     "");
  return n;
}

// `pointer`, or null if the call has failed.
static LLVMValueRef unless_failed(const LibraryUse *u, LLVMValueRef pointer) {
  LLVMBuilderRef b = u->pairs->builder;
  LLVMValueRef bad =
      is_pointer(u->call)
          ? LLVMBuildIsNull(b, u->call, "")
          : LLVMBuildICmp(b, LLVMIntSLT, u->call,
                          LLVMConstNull(LLVMTypeOf(u->call)), "");
  return LLVMBuildSelect(b, bad, LLVMConstNull(u->pairs->ptr), pointer, "");
}

// --- formats ----------------------------------------------------------------

// The text of a constant; NULL: it is not known.
static const char *constant_text(LLVMValueRef v, size_t *n) {
  LLVMValueRef init = LLVMIsAGlobalVariable(v) && LLVMIsGlobalConstant(v)
                          ? LLVMGetInitializer(v)
                          : NULL;
  if (!init || !LLVMIsConstantString(init))
    return NULL;
  return LLVMGetAsString(init, n);
}

typedef struct {
  bool suppressed;    // scanf: `*`
  bool limited, star; // a precision; a width or precision that is an argument
  uint64_t width;     // or precision
  char length[3], conversion;
  bool star_width;
} Directive;

// Reads what follows a `%`; returns where it ends.
static const char *read_directive(const char *s, bool scans, Directive *d) {
  *d = (Directive){0};
  while (*s && strchr("-+ #0'I", *s) && !scans)
    s++;
  if (*s == '*') {
    d->suppressed = scans;
    d->star_width = !scans;
    s++;
  }
  for (; *s >= '0' && *s <= '9'; s++)
    d->width = d->width * 10 + (uint64_t)(*s - '0');
  if (*s == '.' && !scans) {
    d->limited = true;
    d->width = 0;
    s++;
    d->star = *s == '*';
    s += d->star;
    for (; *s >= '0' && *s <= '9'; s++)
      d->width = d->width * 10 + (uint64_t)(*s - '0');
  }
  for (int i = 0; *s && strchr("hlLqjzt", *s); s++)
    if (i < 2)
      d->length[i++] = *s;
  d->conversion = *s;
  if (scans && *s == '[') {
    s += s[1] == '^' ? 2 : 1;
    s += *s == ']';
    while (*s && *s != ']')
      s++;
  }
  return *s ? s + 1 : s;
}

static void use_printed(const LibraryUse *u, const Directive *d, int arg) {
  Pairs *p = u->pairs;
  LLVMValueRef most = pairs_number(p, d->limited ? d->width : UINT64_MAX);
  if (d->star)
    most = to_size(p, argument(u->call, arg - 1));
  invoke3(p, p->use_text, u->id, argument(u->call, arg), most);
}

// Texts among the values are read.
static void use_format(const LibraryUse *u, const LibraryEffect *e) {
  size_t n;
  int nargs = (int)LLVMGetNumArgOperands(u->call), arg = e->size;
  const char *s = constant_text(argument(u->call, e->arg), &n);
  while (s && (s = strchr(s, '%'))) {
    Directive d;
    s = read_directive(s + 1, false, &d);
    if (d.conversion == '%' || d.conversion == 'm' || !d.conversion)
      continue;
    arg += d.star_width + d.star;
    if (arg >= nargs)
      return;
    if (d.conversion == 's' && !d.length[0] &&
        is_pointer(argument(u->call, arg)))
      use_printed(u, &d, arg);
    arg++;
  }
}

static uint64_t number_size(const Directive *d) {
  bool real = strchr("aefgAEFG", d->conversion);
  if (d->length[0] == 'L')
    return real ? 10 : 8;
  if (d->conversion == 'p' || (d->length[0] && strchr("lqjzt", d->length[0])))
    return 8;
  if (d->length[0] == 'h')
    return d->length[1] == 'h' ? 1 : 2;
  return 4;
}

// `pointer`, or null if fewer than `nth` values were read.
static LLVMValueRef if_read(const LibraryUse *u, int nth,
                            LLVMValueRef pointer) {
  LLVMBuilderRef b = u->pairs->builder;
  LLVMValueRef least =
      LLVMConstInt(LLVMTypeOf(u->call), (unsigned long long)nth, true);
  LLVMValueRef is = LLVMBuildICmp(b, LLVMIntSGE, u->call, least, "");
  return LLVMBuildSelect(b, is, pointer, LLVMConstNull(u->pairs->ptr), "");
}

static void define_scanned(const LibraryUse *u, const Directive *d, int nth,
                           LLVMValueRef pointer) {
  Pairs *p = u->pairs;
  if (d->conversion == 'n' || d->length[0] == 'm' ||
      (d->length[0] == 'l' && strchr("s[c", d->conversion))) {
    forget(p, pointer);
    return;
  }
  LLVMValueRef at = if_read(u, nth, pointer);
  if (d->conversion == 's' || d->conversion == '[')
    invoke3(p, p->define_text, u->id, at, pairs_number(p, UINT64_MAX));
  else if (d->conversion == 'c')
    invoke3(p, p->define, u->id, at, pairs_number(p, d->width ? d->width : 1));
  else
    invoke3(p, p->define, u->id, at, pairs_number(p, number_size(d)));
}

// What was read is written; of the places that were not reached nothing.
static void define_format(const LibraryUse *u, const LibraryEffect *e) {
  size_t n;
  int nargs = (int)LLVMGetNumArgOperands(u->call), arg = e->size, nth = 0;
  const char *s = constant_text(argument(u->call, e->arg), &n);
  if (!s)
    forget_arguments(u->pairs, u->call, NULL);
  while (s && (s = strchr(s, '%'))) {
    Directive d;
    s = read_directive(s + 1, true, &d);
    if (d.conversion == '%' || !d.conversion || d.suppressed)
      continue;
    if (arg >= nargs || !is_pointer(argument(u->call, arg)))
      return;
    nth += d.conversion != 'n';
    define_scanned(u, &d, nth, argument(u->call, arg++));
  }
}

// --- effects ----------------------------------------------------------------

static LLVMValueRef argument_or_null(const LibraryUse *u, int i) {
  return i < 0 ? LLVMConstNull(u->pairs->ptr) : argument(u->call, i);
}

static void before_call(const LibraryUse *u, const LibraryEffect *e) {
  Pairs *p = u->pairs;
  LLVMValueRef at = e->arg >= 0 ? argument(u->call, e->arg) : NULL;
  bool use = pairs_has_id(u->id);
  switch (e->kind) {
  case READS_TEXT:
    if (use && !pairs_is_hidden(p, at))
      invoke3(p, p->use_text, u->id, at, amount(u, e));
    return;
  case READS_BYTES:
    if (use && !pairs_is_hidden(p, at))
      invoke3(p, p->use, u->id, at, amount(u, e));
    return;
  case SORTS:
    if (use)
      invoke3(p, p->use, u->id, at, amount(u, e));
    invoke3(p, p->define, u->id, at, amount(u, e));
    return;
  case PRINTS:
    if (use)
      use_format(u, e);
    return;
  case FREES_BLOCK:
    pairs_invoke(p, p->freed, &at, 1);
    return;
  case RETURNS_TOKEN: {
    LLVMValueRef args[] = {argument_or_null(u, e->arg),
                           argument_or_null(u, e->size)};
    pairs_invoke(p, p->cut, args, 2);
    return;
  }
  default:
    return;
  }
}

static void define_pointed(const LibraryUse *u, LLVMValueRef at) {
  Pairs *p = u->pairs;
  LLVMValueRef text = LLVMBuildLoad2(p->builder, p->ptr, at, "");
  invoke3(p, p->define, u->id, at, pairs_number(p, 8));
  invoke3(p, p->define_text, u->id, unless_failed(u, text),
          pairs_number(p, UINT64_MAX));
}

static void after_call(const LibraryUse *u, const LibraryEffect *e,
                       LLVMValueRef had) {
  Pairs *p = u->pairs;
  LLVMValueRef at = e->arg >= 0 ? argument(u->call, e->arg) : NULL;
  LLVMValueRef all = pairs_number(p, UINT64_MAX);
  switch (e->kind) {
  case WRITES_TEXT:
    invoke3(p, p->define_text, u->id, at, amount(u, e));
    return;
  case WRITES_TEXT_IF:
    invoke3(p, p->define_text, u->id, unless_failed(u, at), all);
    return;
  case WRITES_BYTES:
    invoke3(p, p->define, u->id, at, amount(u, e));
    return;
  case WRITES_RESULT:
    invoke3(p, p->define, u->id, at, bytes_read(u, e));
    return;
  case WRITES_POINTER:
    invoke3(p, p->define, u->id, at, pairs_number(p, 8));
    return;
  case WRITES_UNKNOWN:
    forget(p, at);
    return;
  case RETURNS_BLOCK:
    invoke3(p, p->fresh, pairs_none(p), u->call, amount(u, e));
    return;
  case RETURNS_ZEROS:
    invoke3(p, p->fresh, u->id, u->call, amount(u, e));
    return;
  case RETURNS_TEXT:
    invoke3(p, p->define_text, u->id, u->call, all);
    return;
  case RETURNS_TOKEN: {
    LLVMValueRef args[] = {u->id, u->call};
    pairs_invoke(p, p->token, args, 2);
    return;
  }
  case MOVES_BLOCK: {
    LLVMValueRef args[] = {at, had, u->call, amount(u, e)};
    pairs_invoke(p, p->moved, args, 4);
    return;
  }
  case READS_LINE:
    define_pointed(u, at);
    invoke3(p, p->define, u->id, argument(u->call, e->size),
            pairs_number(p, 8));
    return;
  case NEW_TEXT:
    define_pointed(u, at);
    return;
  case SCANS:
    define_format(u, e);
    return;
  default:
    return;
  }
}

static bool is_integer(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind;
}

static bool is_of(LLVMValueRef call, int arg, bool (*kind)(LLVMValueRef)) {
  return arg < 0 ||
         (arg < (int)LLVMGetNumArgOperands(call) && kind(argument(call, arg)));
}

static bool has_arguments(LLVMValueRef call, const LibraryEffect *e) {
  bool formats = e->kind == PRINTS || e->kind == SCANS;
  bool pointed = e->kind == READS_LINE || e->kind == RETURNS_TOKEN;
  return is_of(call, e->arg, is_pointer) &&
         (formats || is_of(call, e->size, pointed ? is_pointer : is_integer)) &&
         is_of(call, e->factor, is_integer);
}

static bool has_result(LLVMValueRef call, EffectKind kind) {
  if (kind == WRITES_RESULT || kind == SCANS || kind == READS_LINE ||
      kind == NEW_TEXT)
    return is_integer(call);
  return kind < RETURNS_BLOCK || kind > MOVES_BLOCK || is_pointer(call);
}

// Is the call one that the table describes? A program may declare what it likes.
static bool fits(LLVMValueRef call, const LibraryCall *c) {
  for (int i = 0; i < c->n; i++)
    if (!has_arguments(call, &c->effects[i]) ||
        !has_result(call, c->effects[i].kind))
      return false;
  return true;
}

static void call_library(Pairs *p, LLVMValueRef call, const LibraryCall *c) {
  LibraryUse u = {p, call, pairs_id(p, call)};
  LLVMValueRef had = NULL;
  pairs_stand_before(p, call);
  for (int i = 0; i < c->n; i++) {
    before_call(&u, &c->effects[i]);
    if (c->effects[i].kind == MOVES_BLOCK) {
      LLVMValueRef at = argument(call, c->effects[i].arg);
      had = pairs_invoke(p, p->size, &at, 1);
    }
  }
  if (!pairs_stand_behind(p, call))
    return;
  for (int i = 0; i < c->n; i++)
    after_call(&u, &c->effects[i], had);
}

// --- intrinsics -------------------------------------------------------------

static void copy_memory(Pairs *p, LLVMValueRef call, bool reads) {
  LLVMValueRef id = pairs_id(p, call);
  LLVMValueRef size = to_size(p, argument(call, 2));
  if (reads && pairs_has_id(id) && !pairs_is_hidden(p, argument(call, 1)))
    pairs_use_range(p, id, argument(call, 1), size);
  pairs_define_range(p, id, argument(call, 0), size);
}

static void insert_intrinsic(Pairs *p, LLVMValueRef call, const char *name) {
  pairs_stand_before(p, call);
  if (!strncmp(name, "llvm.memcpy.", 12) || !strncmp(name, "llvm.memmove.", 13))
    copy_memory(p, call, true);
  else if (!strncmp(name, "llvm.memset.", 12))
    copy_memory(p, call, false);
}

void pairs_insert_call(Pairs *p, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t n;
  const char *name =
      LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &n) : NULL;
  if (LLVMIsADbgInfoIntrinsic(call))
    return;
  if (name && LLVMGetIntrinsicID(callee)) {
    insert_intrinsic(p, call, name);
    return;
  }
  if (LLVMIsAInlineAsm(callee)) {
    if (!LLVMIsACallBrInst(call) && pairs_stand_behind(p, call))
      forget_arguments(p, call, NULL);
    return;
  }
  if (name && pairs_covers(callee)) {
    call_known(p, call, callee);
    return;
  }
  bool elsewhere = name && LLVMIsDeclaration(callee);
  const LibraryCall *c = elsewhere ? library_call(name) : NULL;
  if (c && fits(call, c))
    call_library(p, call, c);
  else
    call_unknown(p, call, callee);
}
