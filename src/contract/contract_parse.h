// What one annotation says: the clauses of a function, definitions of logic, or
// a statement's assertion. What is right ACSL but cannot be checked at run time
// is left out with a warning; what is wrong is an error.
//
//   /*@ requires ok: list_ok(l);
//       behavior there: assumes has(l, k);
//                       ensures \result == 1; */
#ifndef CULPRIT_CONTRACT_CONTRACT_PARSE_H
#define CULPRIT_CONTRACT_CONTRACT_PARSE_H

#include "contract/contract_expr.h"
#include "runtime/contract_format.h"

// A clause without a name gets one: "ensures_1".
typedef struct {
  ClauseKind kind;
  const char *name;
  ContractExpr *expr;
  int behavior;            // index, -1: none
  uint32_t from, end;      // tokens, with the keyword
  uint32_t only, only_end; // tokens: the behaviors it is for; empty: all
} Clause;

typedef struct {
  const char *name;
  ARRAY(ContractExpr *) assumes;
} Behavior;

// predicate name(params) = body;  logic type name(params) = body;
typedef struct {
  uint32_t keyword;        // tokens
  uint32_t type, type_end; // empty: a predicate
  uint32_t name;
  uint32_t params, params_end; // between the parentheses
  TokenList labels;
  uint32_t arity;
  uint32_t end; // behind it
  ContractExpr *body;
} Logic;

typedef enum {
  ANNOTATION_NONE, // a comment for another tool, or nothing to check
  ANNOTATION_FUNCTION,
  ANNOTATION_LOGIC,
  ANNOTATION_CODE,  // assert, loop invariant
  ANNOTATION_GHOST, // code or a label that only contracts see
} AnnotationKind;

typedef struct {
  AnnotationKind kind;
  Token whole;
  Tokens tokens;
  ARRAY(Clause) clauses;
  ARRAY(Behavior) behaviors;
  ARRAY(Logic) logics;
  bool loop;       // ANNOTATION_CODE: stands before a loop
  bool open_frame; // some `assigns` could not be used: anything may change
} Annotation;

// `whole` is a TOK_ANNOTATION of `text`.
void annotation_parse(Annotation *a, const char *text, Token whole,
                      NodePool *pool, Diags *diags);
void annotation_release(Annotation *a);

bool annotation_has(const Annotation *a, uint32_t line, uint32_t col);

// Leaves out the clause or definition that has something at this place: it
// cannot be used. False: there is none.
bool annotation_drop(Annotation *a, uint32_t line, uint32_t col);

#endif
