// Turns contracts into code: rewrites a source file so that it checks them.
//
//   - a comment before a function defines a macro, which shows that the
//     preprocessor did not skip it; at the end of the file a function
//     __culprit_wrap_f checks before and after it calls f. The instrumenter
//     swaps the two names (contract_wrap.h).
//   - an assertion becomes a statement in its place, an invariant the left of
//     a comma in the condition of its loop
//   - definitions of logic become functions __culprit_logic_NAME
//
// Everything else keeps its line and column.
#ifndef CULPRIT_CONTRACT_CONTRACT_CHECK_H
#define CULPRIT_CONTRACT_CONTRACT_CHECK_H

#include "contract/contract_scan.h"
#include "util/hashmap.h"

// The sources of one translation unit, the main one first.
typedef struct {
  ARRAY(ContractSource *) sources;
  Hashmap logic;      // names defined (Emitter.logic)
  Hashmap prototypes; // contracts of functions declared elsewhere: name ->
                      // source number << 32 | head
  ARRAY(Annotation *) refused; // contracts of functions that cannot have any
} ContractUnit;

// Takes the source over; its definitions are known to all from now on.
void contract_unit_add(ContractUnit *u, ContractSource *s);
void contract_unit_release(ContractUnit *u);

// Is there anything to check in this source? Without, it stays as it is.
bool contract_unit_checks(const ContractUnit *u, size_t source);

// The rewritten text of a source. Messages go to its diags.
void contract_unit_rewrite(ContractUnit *u, size_t source, Str *out);
// Before the first, and after definitions were left out.
void contract_unit_begin(ContractUnit *u);

#endif
