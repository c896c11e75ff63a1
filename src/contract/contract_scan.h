// Finds the contracts of one source file and what they stand before: the
// declaration of a function, a statement, a loop. Works on the text as it is
// written, macros and directives included: what the preprocessor leaves out is
// left out by it (contract_check.h).
//
// Limits: it does not find functions whose name or parameter list comes from a
// macro, nor K&R-style definitions.
#ifndef CULPRIT_CONTRACT_CONTRACT_SCAN_H
#define CULPRIT_CONTRACT_CONTRACT_SCAN_H

#include "contract/contract_parse.h"
#include "util/err.h"

// The head of a function, prototype or definition.
typedef struct {
  uint32_t first; // tokens: where it begins
  uint32_t name;
  uint32_t params, params_end; // between the parentheses
  bool definition;
  int contract; // annotation, -1: none
} Head;

// Where an assertion or a loop's invariant is checked.
typedef struct {
  uint32_t annotation;
  uint32_t function; // head
  uint32_t at;       // offset in the text; the place of the annotation itself
                     // for an assertion
  bool expression;   // it becomes the left of a comma, not a statement
  bool empty;        // ... with nothing to its right
} Check;

typedef struct {
  char *path; // as the compiler names it
  char *full; // absolute
  Str text;
  Tokens tokens;
  ARRAY(Annotation) annotations;
  ARRAY(Head) heads; // of functions with a contract, and of all definitions
  ARRAY(Check) checks;
  Diags diags;
  NodePool pool;
} ContractSource;

// Does the text hold anything that looks like an annotation?
bool contract_suspected(const char *text, size_t len);

// Is it #elif, #else or #endif?
bool contract_ends_branch(const ContractSource *s, const Token *directive);

// Takes the text over.
void contract_scan(ContractSource *s, const char *path, Str *text);
void contract_source_release(ContractSource *s);

#endif
