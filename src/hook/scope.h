// The variables that the source can name at an instruction: what a hook may
// read there. Locals and parameters by their declarations, in the order they
// were declared; globals that the function uses.
#ifndef CULPRIT_HOOK_SCOPE_H
#define CULPRIT_HOOK_SCOPE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

// What a hook can hand on: numbers and pointers.
typedef enum {
  VALUE_SIGNED,
  VALUE_UNSIGNED,
  VALUE_POINTER,
  VALUE_REAL,
  VALUE_NONE // a structure, an array
} ValueKind;

typedef struct {
  LLVMValueRef address; // an alloca or a global
  const char *name;
  LLVMTypeRef type;
  ValueKind kind;
  LLVMValueRef plain;   // its declared type, or what it points to in the end,
                        // without typedefs; NULL: not known
  LLVMValueRef written; // its declared type; NULL: not known
  LLVMValueRef block;   // the scope of its declaration; NULL: a global
  uint32_t declared;    // number of the declaring instruction
} ScopeVariable;

typedef struct {
  ARRAY(ScopeVariable) variables;
  Hashmap index;   // address -> variable
  Hashmap numbers; // instruction -> its number in the function
  Arena *arena;    // of the names
} Scope;

// Must be called before anything is inserted into the function, with debug
// information as calls (LLVMSetIsNewDbgInfoFormat(module, false)).
void scope_read(Scope *s, LLVMValueRef function, Arena *arena);
void scope_release(Scope *s);

// NULL: the address is not a variable's.
const ScopeVariable *scope_find(const Scope *s, LLVMValueRef address);
// Can it be named at this instruction?
bool scope_reaches(const Scope *s, const ScopeVariable *v, LLVMValueRef inst);

// Behind typedefs, qualifiers and pointers; NULL: void.
LLVMValueRef plain_type(LLVMValueRef type);

ValueKind value_kind(LLVMTypeRef type); // integers are VALUE_SIGNED

#endif
