// Writes the expressions of a contract as C. Every token of the source comes
// out at its own line and column (by #line and blanks), so that what clang says
// about it points into the contract.
//
//   0 <= i < n ==> p   ->  (!((0 <= i) && (i < n)) || (p))
//   \forall integer i; 0 <= i < n ==> p
//       ->  ({ int r = 1; for (long long i = 0; r && i < n; i++)
//              if (!(p)) r = 0; r; })
//   \old(e)            ->  __culprit_old_3, filled before the call
#ifndef CULPRIT_CONTRACT_CONTRACT_EMIT_H
#define CULPRIT_CONTRACT_CONTRACT_EMIT_H

#include "contract/contract_expr.h"
#include "util/hashmap.h"
#include "util/str.h"

typedef enum {
  EMIT_BEFORE, // in the state before the call: \old(e) is e
  EMIT_AFTER,  // \old(e) was kept
  EMIT_INSIDE, // in the body: there is no \old
} EmitState;

typedef struct {
  Str *out;
  const char *file; // for #line; NULL: the file we are in anyway
  const char *text; // of the source
  const Token *tokens;
  const Hashmap *logic; // names of predicates and logic functions
  EmitState state;
  NodePool *pool; // messages
  Diags *diags;
  // Where the next byte written stands for the reader of messages.
  bool placed;
  uint32_t line, col;
  uint32_t unique; // for names
} Emitter;

// Our own text: has no place in the source.
void emit_own(Emitter *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
// The token at its place.
void emit_token(Emitter *e, const Token *t);
// The tokens [first, end), which are C.
void emit_tokens(Emitter *e, uint32_t first, uint32_t end);
// The name in token number `token`, without its place.
void emit_name(Emitter *e, uint32_t token);
// Reports an error at token number `at`.
void emit_error(Emitter *e, uint32_t at, const char *text);
// From here on the text stands at this place.
void emit_place(Emitter *e, uint32_t line, uint32_t col);

// The expression, in parentheses.
void emit_expr(Emitter *e, const ContractExpr *n);

typedef ARRAY(const char *) EmittedNames;

// Declares a variable for every \old in `n`, in the state before the call
// (contract_old.c).
// `stable`: names whose value does not change, the parameters. They tell when
// a value is needed at all: `l != \null ==> l->size == \old(l->size)`. `when`:
// a further condition, C; NULL: none.
void emit_olds(Emitter *e, ContractExpr *n, const EmittedNames *stable,
               const char *when);

// A type of logic ("integer") or of C.
void emit_type(Emitter *e, uint32_t first, uint32_t end);

#endif
