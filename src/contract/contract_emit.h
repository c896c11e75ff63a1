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

#include "contract/contract_parse.h"
#include "util/hashmap.h"
#include "util/str.h"

typedef enum {
  EMIT_BEFORE, // in the state before the call: \old(e) is e
  EMIT_AFTER,  // \old(e) was kept
  EMIT_INSIDE, // in the body: there is no \old
} EmitState;

typedef ARRAY(const char *) EmittedNames;

typedef struct {
  Str *out;
  const char *file; // for #line; NULL: the file we are in anyway
  const char *text; // of the source
  const Token *tokens;
  const Hashmap
      *logic; // names of predicates and logic functions; "NAME/2" with
              // two arguments: how many labels it has
  EmitState state;
  // The state that memory is read in: C; NULL: as it is now.
  const char *label;
  const TokenList *labels;    // of the definition we are in; NULL: in none
  const EmittedNames *params; // names that are values, not memory
  TokenList bound;            // likewise: of quantifiers around us
  const char *(*find_label)(void *context, uint32_t token); // NULL: none
  void *context;
  TokenList watched; // of `bound`: what they are compared with is met
  bool uses_state;   // the memory before the call is needed
  NodePool *pool;    // messages
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

// contract_watch.c: the names of the parameters.
void logic_params(const char *text, const Token *tokens, const Logic *l,
                  TokenList *out);
// Is the variable named by token `name` used only as one side of == or !=, and
// as the argument of logic that does likewise?
bool only_compared(const Hashmap *logic, const char *text, const Token *tokens,
                   const ContractExpr *n, uint32_t name);
// The other side of the comparison `a op b` is what a watched variable has met.
bool emit_is_watched(const Emitter *e, const ContractExpr *n);
// A quantified variable without a range: with all values that it is compared
// with, and another one. False: that does not decide it.
bool emit_search(Emitter *e, const ContractExpr *q, const Binder *b,
                 uint32_t id);

// contract_state.c: an expression that reads memory in the state e->label.
// False: it does not, or is no such expression.
bool emit_from_state(Emitter *e, const ContractExpr *n);
// name{labels}(arguments)
void emit_apply(Emitter *e, const ContractExpr *n);
// The C of label number `token`; NULL after a message.
const char *emit_label(Emitter *e, uint32_t token);
// What the pointer or, `place`, the lvalue stands for, as a struct
// __culprit_span: an object, or a range of them.
void emit_span(Emitter *e, const ContractExpr *n, bool place);

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
