// The contracts that a program carries, and the records that its runs write
// when a contract is broken (contract_format.h). Both are untrusted.
//
//   ContractTables t;
//   contracts_read(&t, "prog", err);
//   const ContractTable *c = contracts_find(&t, "list_delete");
#ifndef CULPRIT_PROGRAM_CONTRACT_TABLE_H
#define CULPRIT_PROGRAM_CONTRACT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/contract_format.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  ClauseKind kind;
  const char *name;
  const char *file; // absolute
  uint32_t line, col;
  const char *text; // as it was written, on one line
} ContractClause;

// The contract of a function, or one assertion inside it.
typedef struct {
  const char *function, *body; // symbol of the code; its own if not wrapped
  const char *file;
  uint32_t line;
  ContractClause *clauses;
  size_t nclauses;
} ContractTable;

typedef struct {
  ARRAY(ContractTable) tables;
  Arena arena;
} ContractTables;

// Program, library or object. One without contracts gives none.
int contracts_read(ContractTables *t, const char *path, Err *err);
void contracts_release(ContractTables *t);
// One chunk, as a process has it in its memory: what follows its header. False:
// it is none. Memory: arena.
bool contract_parse(ContractTable *t, const void *strings, size_t size,
                    Arena *arena);
// The contract of a function (not an assertion in it); NULL: there is none.
const ContractTable *contracts_find(const ContractTables *t,
                                    const char *function);
// Clauses of the whole program are numbered, those of assertions too: the
// number of one that was written at the same place; UINT32_MAX: it has none.
uint32_t contracts_number(const ContractTables *t, const ContractClause *c);
// Were they written at the same place?
bool clause_same(const ContractClause *a, const ContractClause *b);
// NULL: there is no such number.
const ContractClause *contracts_clause(const ContractTables *t,
                                       uint32_t number);

// One call that broke clauses.
typedef struct {
  ContractTable table;
  uint64_t call; // number of the call, from 1; 0: an assertion
  // Of an assertion: the innermost function with a contract whose code was
  // running, and the number of its call. NULL, 0: none was.
  const char *within;
  uint64_t within_call;
  uint32_t pid;
  uint32_t *broken; // clauses, ascending
  size_t nbroken;
} Violation;

typedef struct {
  ARRAY(Violation) items; // in the order of their happening, per process
  bool damaged;           // some record could not be read
  Arena arena;
} Violations;

// All records in a directory of run files (CULPRIT_RUN).
void violations_read(Violations *v, const char *dir);
// The same of one file's bytes.
void violations_parse(Violations *v, const void *data, size_t size);
void violations_release(Violations *v);

// Was it this call of the function that broke it, or its code an assertion?
bool violation_is_of(const Violation *v, const char *function, uint64_t call);

const char *clause_kind_name(ClauseKind kind);

// The names of the broken clauses as one word: "size_ok, remove_ok". Caller
// frees.
char *violation_names(const Violation *v);

#endif
