// What a program carries of its contracts, and what its runtime writes when one
// is broken. Included by both halves: the tool and the tested program.
//
// Section `culprit_contract` holds a chunk for every contract (of a function,
// or of one assertion inside it), aligned to 8 bytes: a ContractHeader, then
// `size` bytes of NUL-terminated strings:
//
//   function, body (symbol of its code), file, line,
//   then for every clause: kind, name, file, line, column, text
//
// Numbers are decimal, kinds are "requires", "ensures", "assert", "invariant",
// "assigns", "variant", files are absolute.
//
// A run that breaks clauses appends records to DIR/PID.contract: a
// ViolationHeader, `broken` numbers of clauses (u32), the chunk's strings. A
// call that breaks several clauses leaves several records, each with one more:
// the last one counts. That of an assertion is followed by one with another
// magic number, of the innermost call whose code was running: its number, no
// clauses, the strings of its contract; none if there was no such call. Calls
// of functions without a contract, that are wrapped for their assertions, count
// only if there is no other.
#ifndef CULPRIT_RUNTIME_CONTRACT_FORMAT_H
#define CULPRIT_RUNTIME_CONTRACT_FORMAT_H

#include <stdint.h>

#define CONTRACT_SECTION "culprit_contract"
#define CONTRACT_MAGIC 0x52544e4350554c43ull         // "CLUPCNTR"
#define VIOLATION_MAGIC 0x4e4b524250554c43ull        // "CLUPBRKN"
#define VIOLATION_WITHIN_MAGIC 0x4e48545750554c43ull // "CLUPWTHN"
#define CONTRACT_VERSION 1u

typedef enum {
  CLAUSE_REQUIRES,
  CLAUSE_ENSURES,
  CLAUSE_ASSERT,
  CLAUSE_INVARIANT,
  CLAUSE_ASSIGNS, // of a function, checked like an ensures
  CLAUSE_VARIANT, // of a loop
  CLAUSE_KINDS
} ClauseKind;

enum { CONTRACT_CLAUSES_MAX = 256 }; // of one function

typedef struct {
  uint64_t magic;
  uint32_t size;
  uint32_t version;
} ContractHeader;

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t broken; // how many clauses
  uint64_t call;   // number of the call of this function, from 1; 0: no call
  uint32_t size;   // of the strings
  uint32_t pid;
} ViolationHeader;

#endif
