// The smallest pieces of the code that records definition-use pairs, shared by
// pairs.c and pairs_call.c.
#ifndef CULPRIT_CLOSE_PAIRS_EMIT_H
#define CULPRIT_CLOSE_PAIRS_EMIT_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "close/close_unit.h"
#include "util/array.h"
#include "util/hashmap.h"

typedef struct {
  LLVMValueRef function;
  LLVMTypeRef type;
} PairHelper;

// What statements may define one variable: numbered from 1.
enum { DEFINERS = 255 };
typedef struct {
  uint32_t statements[DEFINERS]; // entities
  unsigned n;
  uint32_t number; // in the plan
} PairDefiners;

// A local variable or temporary of the function being instrumented.
typedef struct {
  LLVMValueRef alloca;
  LLVMValueRef def; // the alloca of its definition; NULL: it has shadow memory
  bool named;       // the source declares it
  bool given;       // it holds an argument
  unsigned nstores;
  PairDefiners *definers; // its definition is a number of these; NULL: an id
} PairLocal;

// Loads that are recorded together, by the first of them (pairs_group.h).
typedef enum {
  GROUP_COUNTER, // `first`: a counter
  GROUP_ROW,     // the first counter of a row
  GROUP_CHECK,   // the counter that is the site of the statements
} PairGroupKind;

typedef struct {
  PairGroupKind kind;
  uint32_t first;
  ARRAY(uint32_t) statements; // GROUP_CHECK: that use it
} PairGroup;

// Memory that only the recording code touches.
typedef enum { OUR_SHADOW, OUR_LAST, OUR_CALLS, OURS } PairMemory;

typedef struct {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  LLVMTypeRef i8, i32, i64, ptr, nothing;
  CloseUnit *unit;
  // Of the runtime.
  LLVMValueRef shadow, mask;
  LLVMValueRef call, callee, returned, returner;
  // Made here, inlined.
  PairHelper record, record_memory, given_by, after, outside, use_if;
  PairHelper define, define_text, use, use_text;
  PairHelper fresh, freed, moved, size, cut, token;
  LLVMValueRef last; // stands for the unit's array until it is known how long
  uint64_t nlast;
  Hashmap changes; // store -> counter of its first outcome (pairs_change.h)
  Hashmap single;  // statement -> number of the definers that are it alone
  unsigned alias_scope, noalias; // kinds of metadata
  LLVMValueRef own[OURS], others[OURS], all;
  // Of the function.
  LLVMValueRef function;
  bool shared; // others than this unit may call it
  ARRAY(PairLocal) locals;
  Hashmap numbers;    // alloca -> number in locals
  LLVMValueRef given; // the definition of its arguments; NULL: not needed
  Hashmap again;      // its loads that record nothing new (pairs_again.h)
  Hashmap firsts;     // load -> number of the group that it is the first of
  ARRAY(PairGroup) groups;
} Pairs;

void pairs_open(Pairs *p, CloseUnit *u);
void pairs_close(Pairs *p);

LLVMValueRef pairs_number(const Pairs *p, uint64_t v);
uint64_t pairs_size_of(const Pairs *p, LLVMTypeRef type);
// The id of the statement of an instruction, a constant; 0: none.
LLVMValueRef pairs_id(const Pairs *p, LLVMValueRef inst);
// The same, by the counter that is its site.
LLVMValueRef pairs_site_id(const Pairs *p, uint32_t counter);
LLVMValueRef pairs_none(const Pairs *p);
bool pairs_has_id(LLVMValueRef id);
LLVMValueRef pairs_invoke(Pairs *p, PairHelper h, LLVMValueRef *args,
                          unsigned n);

// The definition in memory of the first byte at `at`.
LLVMValueRef pairs_load_shadow(Pairs *p, LLVMValueRef at);
// The definition of a variable, or of memory.
LLVMValueRef pairs_definition(Pairs *p, LLVMValueRef at);
// The same, but 0 if memory has no shadow.
LLVMValueRef pairs_known_definition(Pairs *p, LLVMValueRef at);
// `size` bytes at `at` are now defined by `id`.
void pairs_store_shadow(Pairs *p, LLVMValueRef at, uint64_t size,
                        LLVMValueRef id);
// `use` has met the definition `def`; the second: as the shadow says.
void pairs_record(Pairs *p, LLVMValueRef def, LLVMValueRef use);
void pairs_record_memory(Pairs *p, LLVMValueRef def, LLVMValueRef use);
LLVMValueRef pairs_next_last(Pairs *p);
// All bytes from `at` are used, or defined.
void pairs_use_range(Pairs *p, LLVMValueRef use, LLVMValueRef at,
                     LLVMValueRef size);
void pairs_define_range(Pairs *p, LLVMValueRef id, LLVMValueRef at,
                        LLVMValueRef size);
// The thread-local variables of the runtime.
LLVMValueRef pairs_get(Pairs *p, LLVMTypeRef type, LLVMValueRef variable);
void pairs_set(Pairs *p, LLVMValueRef variable, LLVMValueRef value);
// An access of the program's own: it never touches memory of ours.
void pairs_mark_program(const Pairs *p, LLVMValueRef access);

// The object that a pointer points into, as far as the code says.
LLVMValueRef pairs_object(LLVMValueRef pointer);
// Its size in bytes; 0: not known.
uint64_t pairs_object_size(const Pairs *p, LLVMValueRef pointer);
// NULL: the pointer does not lead to a local.
const PairLocal *pairs_local(const Pairs *p, LLVMValueRef object);
// Is reading there no use: of a constant, of what the compiler put aside, or of
// a variadic argument?
bool pairs_is_hidden(const Pairs *p, LLVMValueRef pointer);

// The number of the store's statement among those that define the variable, to
// which it is added; 0: it has none; -1: there are too many.
int pairs_definer(const Pairs *p, PairDefiners *d, LLVMValueRef store);
// Does the load use a definition?
bool pairs_is_recorded(const Pairs *p, LLVMValueRef load);

// Puts the code that follows behind a call; false: there is no such place.
bool pairs_stand_behind(Pairs *p, LLVMValueRef call);
void pairs_stand_before(Pairs *p, LLVMValueRef inst);

// pairs_call.c: everything about one call.
void pairs_insert_call(Pairs *p, LLVMValueRef call);
// Is it called by this unit only, and always by name?
bool pairs_is_private(LLVMValueRef function);
bool pairs_covers(LLVMValueRef function);

#endif
