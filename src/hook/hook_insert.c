// Putting hooks into a unit: see hook_insert.h.
#include "hook/hook_insert.h"

#include <ctype.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hook_before.h"
#include "hook/hook_calls.h"
#include "hook/hook_logic.h"
#include "plan/probe.h"

// --- wrapped calls of the runtime -------------------------------------------

// The runtime's function for values of this type: NAME or NAME_real.
static LLVMValueRef call_runtime(Hooks *h, const char *name, LLVMTypeRef type,
                                 LLVMValueRef *args, unsigned n) {
  char full[64];
  LLVMTypeRef types[HOOK_PARAMS];
  bool real = value_kind(type) == VALUE_REAL;
  snprintf(full, sizeof full, "__culprit_try_%s%s", name, real ? "_real" : "");
  for (unsigned i = 0; i < n; i++)
    types[i] = LLVMTypeOf(args[i]);
  bool truth = !strcmp(name, "compare") || !strcmp(name, "test");
  LLVMTypeRef result = truth || !real ? h->i64 : h->real;
  LLVMValueRef f = hooks_declare(h, full, result, types, n);
  return LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, args, n, "");
}

// Leaves the values of names where the runtime looks for them.
static void store_names(Hooks *h, LLVMValueRef function, unsigned first,
                        unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    LLVMValueRef at = LLVMConstInt(h->i64, i, false);
    LLVMValueRef to = LLVMConstInBoundsGEP2(h->i64, h->values, &at, 1);
    LLVMValueRef v = LLVMGetParam(function, first + i);
    if (value_kind(LLVMTypeOf(v)) == VALUE_REAL)
      v = LLVMBuildBitCast(h->builder, hooks_widen(h, v, false), h->i64, "");
    else
      v = hooks_widen(h, v, false);
    LLVMBuildStore(h->builder, v, to);
  }
}

static LLVMValueRef count_of(Hooks *h, unsigned n) {
  return LLVMConstInt(h->i64, n, false);
}

// --- the shapes of hooks ----------------------------------------------------
// Each builds the rare part of its function, between hook_begin and hook_end.

static void rare_value(Hooks *h, HookFunction *f) {
  LLVMValueRef v = LLVMGetParam(f->function, 1);
  LLVMValueRef args[] = {hooks_widen(h, v, false)};
  LLVMTypeRef type = LLVMTypeOf(v);
  f->changed = hooks_narrow(h, call_runtime(h, "value", type, args, 1), type);
}

static void rare_store(Hooks *h, HookFunction *f) {
  LLVMValueRef v = LLVMGetParam(f->function, 1);
  LLVMTypeRef type = LLVMTypeOf(v);
  LLVMValueRef old =
      LLVMBuildLoad2(h->builder, type, LLVMGetParam(f->function, 2), "");
  LLVMSetAlignment(old, 1);
  LLVMValueRef args[] = {hooks_widen(h, v, false), hooks_widen(h, old, false)};
  f->changed = hooks_narrow(h, call_runtime(h, "store", type, args, 2), type);
}

static void rare_swap(Hooks *h, HookFunction *f) {
  LLVMValueRef args[] = {LLVMConstInt(h->i64, 0, false)};
  call_runtime(h, "swapped", h->i64, args, 1);
  f->changed = LLVMGetParam(f->function, 2);
}

static void rare_arith(Hooks *h, HookFunction *f) {
  LLVMValueRef v = LLVMGetParam(f->function, 1);
  LLVMTypeRef type = LLVMTypeOf(v);
  bool is_unsigned = f->variant;
  LLVMValueRef args[] = {
      hooks_widen(h, v, is_unsigned),
      hooks_widen(h, LLVMGetParam(f->function, 2), is_unsigned),
      hooks_widen(h, LLVMGetParam(f->function, 3), is_unsigned),
      count_of(h, is_unsigned)};
  f->changed = hooks_narrow(h, call_runtime(h, "arith", type, args, 4), type);
}

static void rare_compare(Hooks *h, HookFunction *f) {
  enum { FIRST = 4 };
  LLVMValueRef a = LLVMGetParam(f->function, 2);
  bool is_unsigned = f->variant;
  unsigned n = LLVMCountParams(f->function) - FIRST;
  store_names(h, f->function, FIRST, n);
  LLVMValueRef args[] = {
      hooks_widen(h, LLVMGetParam(f->function, 1), false),
      hooks_widen(h, a, is_unsigned),
      hooks_widen(h, LLVMGetParam(f->function, 3), is_unsigned),
      count_of(h, is_unsigned), count_of(h, n)};
  LLVMTypeRef truth = LLVMInt1TypeInContext(h->context);
  f->changed = hooks_narrow(
      h, call_runtime(h, "compare", LLVMTypeOf(a), args, 5), truth);
}

static void rare_test(Hooks *h, HookFunction *f) {
  enum { FIRST = 2 };
  unsigned n = LLVMCountParams(f->function) - FIRST;
  LLVMValueRef v = LLVMGetParam(f->function, 1);
  store_names(h, f->function, FIRST, n);
  LLVMValueRef args[] = {hooks_widen(h, v, false), count_of(h, n)};
  f->changed =
      hooks_narrow(h, call_runtime(h, "test", h->i64, args, 2), LLVMTypeOf(v));
}

static void rare_name(Hooks *h, HookFunction *f) {
  enum { FIRST = 2 };
  LLVMValueRef v = LLVMGetParam(f->function, 1);
  LLVMTypeRef type = LLVMTypeOf(v);
  unsigned n = LLVMCountParams(f->function) - FIRST;
  store_names(h, f->function, FIRST, n);
  LLVMValueRef args[] = {hooks_widen(h, v, false), count_of(h, n)};
  f->changed = hooks_narrow(h, call_runtime(h, "name", type, args, 2), type);
}

// --- one site ---------------------------------------------------------------

static void before(Hooks *h, LLVMValueRef inst) {
  LLVMPositionBuilderBefore(h->builder, inst);
  LLVMSetCurrentDebugLocation2(h->builder, LLVMInstructionGetDebugLoc(inst));
}

static LLVMValueRef invoke(Hooks *h, HookShape shape, LLVMValueRef *args,
                           unsigned n, unsigned variant, uint32_t number) {
  args[0] = LLVMConstInt(h->i32, number, false);
  return hooks_call(h, shape, args, n, variant);
}

static LLVMValueRef read_name(Hooks *h, const HookName *name) {
  LLVMValueRef address = name->address;
  if (!address)
    return name->value;
  if (name->structure)
    address = LLVMBuildStructGEP2(h->builder, name->structure, address,
                                  name->field, "");
  return LLVMBuildLoad2(h->builder, name->type, address, "");
}

// The values of a site's names, from args[n] on.
static unsigned add_names(Hooks *h, const HookSites *all, const HookSite *s,
                          LLVMValueRef *args, unsigned n) {
  for (uint32_t i = 0; i < s->nnames; i++)
    args[n++] = read_name(h, &all->names.items[s->first_name + i]);
  return n;
}

// All uses of the instruction, but for its hook, take the hook's value.
static void replace(LLVMValueRef inst, LLVMValueRef hook, unsigned argument) {
  LLVMReplaceAllUsesWith(inst, hook);
  LLVMSetOperand(hook, argument, inst);
}

static void insert_behind(Hooks *h, const HookSites *all, const HookSite *s,
                          uint32_t number) {
  LLVMValueRef args[HOOK_PARAMS] = {NULL, s->inst};
  unsigned n = 2;
  before(h, LLVMGetNextInstruction(s->inst));
  LLVMSetCurrentDebugLocation2(h->builder, LLVMInstructionGetDebugLoc(s->inst));
  HookShape shape = rare_name;
  if (s->kind != SITE_VARIABLE && s->kind != SITE_FIELD) {
    args[n++] = LLVMGetOperand(s->inst, 0);
    args[n++] = LLVMGetOperand(s->inst, 1);
    shape = s->kind == SITE_ARITH ? rare_arith : rare_compare;
  }
  n = add_names(h, all, s, args, n);
  LLVMValueRef hook =
      invoke(h, shape, args, n, s->flags & SITE_UNSIGNED, number);
  replace(s->inst, hook, 1);
}

static void insert_test(Hooks *h, const HookSites *all, const HookSite *s,
                        uint32_t number) {
  LLVMValueRef args[HOOK_PARAMS] = {NULL, LLVMGetCondition(s->inst)};
  before(h, s->inst);
  unsigned n = add_names(h, all, s, args, 2);
  LLVMSetCondition(s->inst, invoke(h, rare_test, args, n, 0, number));
}

// The constant of a phi is changed where the value comes from.
static void stand_before_operand(Hooks *h, const HookSite *s) {
  if (!LLVMIsAPHINode(s->inst)) {
    before(h, s->inst);
    return;
  }
  LLVMBasicBlockRef from = LLVMGetIncomingBlock(s->inst, s->operand);
  before(h, LLVMGetBasicBlockTerminator(from));
}

static void insert_operand(Hooks *h, const HookSites *all, const HookSite *s,
                           unsigned operand, uint32_t number) {
  LLVMValueRef args[HOOK_PARAMS] = {NULL, LLVMGetOperand(s->inst, operand)};
  stand_before_operand(h, s);
  unsigned n = add_names(h, all, s, args, 2);
  HookShape shape = s->nnames ? rare_name : rare_value;
  LLVMSetOperand(s->inst, operand, invoke(h, shape, args, n, 0, number));
}

static void insert_store(Hooks *h, const HookSite *s, uint32_t number) {
  LLVMValueRef args[HOOK_PARAMS] = {NULL, LLVMGetOperand(s->inst, 0),
                                    LLVMGetOperand(s->inst, 1)};
  before(h, s->inst);
  LLVMSetOperand(s->inst, 0, invoke(h, rare_store, args, 3, 0, number));
}

static void insert_swap(Hooks *h, const HookSite *s, uint32_t number) {
  unsigned a = s->operand, b = (unsigned)s->value;
  LLVMValueRef x = LLVMGetOperand(s->inst, a), y = LLVMGetOperand(s->inst, b);
  LLVMValueRef first[HOOK_PARAMS] = {NULL, x, y};
  LLVMValueRef second[HOOK_PARAMS] = {NULL, y, x};
  before(h, s->inst);
  LLVMSetOperand(s->inst, a, invoke(h, rare_swap, first, 3, 0, number));
  LLVMSetOperand(s->inst, b, invoke(h, rare_swap, second, 3, 0, number));
}

static void insert_site(Hooks *h, const HookSites *all, const HookSite *s,
                        uint32_t number) {
  switch (s->kind) {
  case SITE_COMPARE:
  case SITE_ARITH:
  case SITE_VARIABLE:
  case SITE_FIELD:
    insert_behind(h, all, s, number);
    break;
  case SITE_TEST:
    insert_test(h, all, s, number);
    break;
  case SITE_STORE:
    insert_store(h, s, number);
    break;
  case SITE_RETURN:
    insert_operand(h, all, s, 0, number);
    break;
  case SITE_CONSTANT:
  case SITE_ARGUMENT:
  case SITE_INDEX:
    insert_operand(h, all, s, s->operand, number);
    break;
  case SITE_LOGIC:
    hook_logic_insert(h, s, number);
    break;
  case SITE_SWAP:
    insert_swap(h, s, number);
    break;
  default:
    break;
  }
}

// --- steps ------------------------------------------------------------------

typedef struct {
  Hashmap state; // block -> 1 being visited, 2 done
  ARRAY(LLVMBasicBlockRef) heads;
} LoopHeads;

typedef struct {
  LLVMBasicBlockRef block;
  unsigned next;
} Visit;

static uint64_t state_of(const LoopHeads *l, LLVMBasicBlockRef b) {
  uint64_t state = 0;
  hashmap_get(&l->state, &b, sizeof b, &state);
  return state;
}

// Blocks that a path from themselves leads back to, first in their loop.
static void find_heads(LoopHeads *l, LLVMBasicBlockRef entry) {
  ARRAY(Visit) stack = {0};
  array_push(&stack, ((Visit){entry, 0}));
  hashmap_put(&l->state, &entry, sizeof entry, 1);
  while (stack.len) {
    Visit *v = &stack.items[stack.len - 1];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(v->block);
    if (v->next == LLVMGetNumSuccessors(end)) {
      hashmap_put(&l->state, &v->block, sizeof v->block, 2);
      stack.len--;
      continue;
    }
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, v->next++);
    uint64_t state = state_of(l, to);
    if (state == 1)
      array_push(&l->heads, to);
    if (state)
      continue;
    hashmap_put(&l->state, &to, sizeof to, 1);
    array_push(&stack, ((Visit){to, 0}));
  }
  array_release(&stack);
}

static LLVMValueRef first_plain(LLVMBasicBlockRef b) {
  LLVMValueRef i = LLVMGetFirstInstruction(b);
  while (LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

static void count_steps(Hooks *h, LLVMValueRef function) {
  LoopHeads l = {0};
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  find_heads(&l, entry);
  array_push(&l.heads, entry);
  for (size_t i = 0; i < l.heads.len; i++) {
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again |= l.heads.items[k] == l.heads.items[i];
    if (again)
      continue;
    before(h, first_plain(l.heads.items[i]));
    hooks_step(h);
  }
  hashmap_release(&l.state);
  array_release(&l.heads);
}

// --- the unit ---------------------------------------------------------------

void hooks_insert(LLVMModuleRef module, const HookSites *sites,
                  const UnitId *id) {
  Hooks h;
  hooks_open(&h, module, id);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (plan_covers(f))
      count_steps(&h, f);
  // First: blocks are split.
  for (uint32_t i = 0; i < sites->sites.len; i++)
    if (sites->sites.items[i].kind == SITE_BEFORE)
      hook_before_insert(&h, sites, &sites->sites.items[i], i + 1);
  for (uint32_t i = 0; i < sites->sites.len; i++)
    insert_site(&h, sites, &sites->sites.items[i], i + 1);
  // Last: a call that is wrapped is another instruction then.
  for (uint32_t i = 0; i < sites->sites.len; i++)
    if (sites->sites.items[i].kind == SITE_CALL)
      hooks_wrap_call(&h, sites->sites.items[i].inst, i + 1);
  hooks_close(&h);
}

// --- the section ------------------------------------------------------------

static uint32_t add_text(Str *strings, Hashmap *known, const char *text) {
  size_t n = strlen(text);
  if (!n)
    return 0;
  uint64_t at = hashmap_intern(known, text, n, strings->len);
  if (at == strings->len)
    str_addn(strings, text, n + 1);
  return (uint32_t)at;
}

static uint32_t add_names_text(Str *strings, Hashmap *known,
                               const HookSites *all, const HookSite *s) {
  static const char letters[] = {[VALUE_SIGNED] = 'i',
                                 [VALUE_UNSIGNED] = 'u',
                                 [VALUE_POINTER] = 'p',
                                 [VALUE_REAL] = 'r'};
  Str text = {0};
  for (uint32_t i = 0; i < s->nnames; i++) {
    const HookName *name = &all->names.items[s->first_name + i];
    char letter = letters[name->kind];
    str_addf(&text, "%c:%s\n", name->fixed ? toupper(letter) : letter,
             name->name);
  }
  uint32_t at = add_text(strings, known, str_text(&text));
  str_release(&text);
  return at;
}

void hook_sites_write(const HookSites *sites, const Plan *plan,
                      const UnitId *id, Str *out) {
  Str strings = {0}, records = {0};
  Hashmap known = {0};
  str_addc(&strings, '\0');
  for (size_t i = 0; i < sites->sites.len; i++) {
    const HookSite *s = &sites->sites.items[i];
    const char *path = plan->sources.items[s->source].path;
    TrySite r = {.kind = (uint8_t)s->kind,
                 .op = s->op,
                 .width = s->width,
                 .flags = s->flags,
                 .file = add_text(&strings, &known, path),
                 .function = add_text(&strings, &known, s->function),
                 .line = s->line,
                 .column = s->column,
                 .operand = s->operand,
                 .owner = s->kind == SITE_CONSTANT ? s->owner : 0,
                 .value = s->value,
                 .names = add_names_text(&strings, &known, sites, s),
                 .nnames = s->nnames,
                 .text = add_text(&strings, &known, s->text)};
    str_addn(&records, (const char *)&r, sizeof r);
  }
  while (strings.len % 8)
    str_addc(&strings, '\0');
  TrySitesHeader head = {.magic = TRY_MAGIC,
                         .version = TRY_VERSION,
                         .nsites = (uint32_t)sites->sites.len,
                         .strings = (uint32_t)strings.len};
  memcpy(head.id, id->bytes, sizeof head.id);
  str_addn(out, (const char *)&head, sizeof head);
  str_addn(out, str_text(&records), records.len);
  str_addn(out, strings.data, strings.len);
  hashmap_release(&known);
  str_release(&records);
  str_release(&strings);
}
