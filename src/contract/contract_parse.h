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
  int behavior; // index, -1: none
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
  ContractExpr *body;
} Logic;

typedef enum {
  ANNOTATION_NONE, // a comment of somebody else, or nothing that is checked
  ANNOTATION_FUNCTION,
  ANNOTATION_LOGIC,
  ANNOTATION_CODE, // assert, loop invariant
} AnnotationKind;

typedef struct {
  AnnotationKind kind;
  Token whole;
  Tokens tokens;
  ARRAY(Clause) clauses;
  ARRAY(Behavior) behaviors;
  ARRAY(Logic) logics;
  bool loop; // ANNOTATION_CODE: stands before a loop
} Annotation;

// `whole` is a TOK_ANNOTATION of `text`.
void annotation_parse(Annotation *a, const char *text, Token whole,
                      NodePool *pool, Diags *diags);
void annotation_release(Annotation *a);

#endif
