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
  uint32_t loop;     // token of the loop it is of, or in; 0: none
} Check;

// A place whose state assertions speak of, or where a loop begins.
typedef struct {
  uint32_t id; // in the file, from 1
  uint32_t at; // offset in the text
  enum { MARK_LOOP, MARK_ROUND, MARK_LABEL } kind;
  uint32_t function; // head
  bool kept;         // its state is asked for
  struct {
    uint32_t annotation, token;
  } variables[8]; // what \at names there
  size_t nvariables;
} StateMark;

typedef struct {
  char *path; // as the compiler names it
  char *full; // absolute
  Str text;
  Tokens tokens;
  ARRAY(Annotation) annotations;
  ARRAY(Head) heads; // of functions with a contract, and of all definitions
  ARRAY(Check) checks;
  TokenList variables;    // names of those of the file
  ARRAY(StateMark) marks; // in no order (contract_marks.h)
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
