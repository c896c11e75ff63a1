// The expressions of a contract: C expressions with what ACSL adds to them.
// C's own operators are kept as text; a node of its own has only what must be
// written differently in C, or is looked at (conjunctions, ranges).
//
//   0 <= i < n ==> a[i] == \old(x)
//   gives:  IMPLIES( CHAIN(0, i, n), PLAIN(a[i] == OLD(x)) )
//
// Only clang knows types; here a word or two with stars in parentheses is taken
// for a cast.
#ifndef CULPRIT_CONTRACT_CONTRACT_EXPR_H
#define CULPRIT_CONTRACT_CONTRACT_EXPR_H

#include "contract/contract_lex.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/str.h"

typedef enum {
  NODE_PLAIN,   // tokens as they are, with kids among them
  NODE_PAREN,   // ( kid ); with two kids a range ( kid .. kid ), each of which
                // may be missing (NODE_NONE)
  NODE_NONE,    // nothing stands here
  NODE_ARITH,   // kid op kid op ...: + - or * / %
  NODE_APPLY,   // name{labels}(kids), name(kids)
  NODE_CALL,    // kid 0(kids)
  NODE_INDEX,   // kid[kid]
  NODE_MEMBER,  // kid.name, kid->name
  NODE_DEREF,   // *kid
  NODE_AND,     // a && b
  NODE_OR,      // a || b
  NODE_IMPLIES, // a ==> b
  NODE_IFF,     // a <==> b
  NODE_XOR,     // a ^^ b
  NODE_CHAIN,   // a <= b < c, two or more comparisons in one direction; also
                // a single one
  NODE_FORALL,  // kid: the body; `binders`
  NODE_EXISTS,
  NODE_LET,       // \let x = kid 0; kid 1
  NODE_OLD,       // \old(kid), \at(kid, Pre)
  NODE_AT,        // \at(kid, LABEL); `fields`: the label
  NODE_RESULT,    // \result
  NODE_VALID,     // \valid(kid), or with a range: kid + (kid .. kid)
  NODE_REACH,     // \reach(kid, fields): a set
  NODE_IN,        // kid 0 \in set
  NODE_SIZE,      // \size(set)
  NODE_DISJOINT,  // \disjoint(set, set)
  NODE_ACYCLIC,   // \acyclic(kid, fields)
  NODE_EXTREME,   // \min(a, b), \max(a, b), \abs(a)
  NODE_SEPARATED, // \separated(kids)
  NODE_FOLD,      // \sum, \product, \numof(low, high, \lambda integer k; kid)
  NODE_PLACES,    // of `assigns`: kids
  NODE_BEHAVIORS, // complete or disjoint behaviors `fields`; none: all
} NodeKind;

typedef ARRAY(uint32_t) TokenList;

// Variables that one type binds: "integer i, j".
typedef struct {
  uint32_t type, type_end; // tokens
  uint32_t name;
} Binder;

typedef struct ContractExpr ContractExpr;
struct ContractExpr {
  NodeKind kind;
  uint32_t first, end; // tokens
  ARRAY(ContractExpr *) kids;
  TokenList ops;    // NODE_CHAIN, NODE_ARITH: the operators between the
                    // kids
  TokenList fields; // NODE_REACH, NODE_ACYCLIC: links; NODE_APPLY, NODE_AT:
                    // labels
  ARRAY(Binder) binders; // NODE_FORALL, NODE_EXISTS; NODE_LET: the name
  uint32_t number;       // NODE_OLD: which one, counted over the annotation
  uint32_t binder;       // NODE_OLD: the quantified variable (token) its value
                         // depends on; 0: none
  bool in_state;         // NODE_OLD: read from the memory kept before the call
};

// The nodes of one source file.
typedef struct {
  Arena arena;
  ARRAY(ContractExpr *) nodes;
} NodePool;
void node_pool_release(NodePool *pool);

// A message about a contract, with its place.
// What has an error or cannot be checked is left out; a note is about what is
// not checked at run time at all.
typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagKind;
typedef struct {
  DiagKind kind;
  uint32_t line, col;
  char *text;   // of the pool
  bool handled; // what it is about was left out
} Diag;
typedef ARRAY(Diag) Diags;

// Parses the tokens of one annotation. Nodes and messages live in the pool.
typedef struct {
  const char *text; // of the source
  const Token *tokens;
  uint32_t at; // the next token
  NodePool *pool;
  Diags *diags;
  bool failed;      // an error was reported: the rest is skipped
  bool unsupported; // a warning says: this clause cannot be checked
  int depth;
  uint32_t nolds; // \old() seen so far
} ContractParser;

// A node of the caller's own for the tokens [first, p->at).
ContractExpr *contract_node(ContractParser *p, NodeKind kind, uint32_t first);

// NULL: not an expression; a message says why.
ContractExpr *contract_parse_expr(ContractParser *p);

// Reports at the token `at`, once per clause. Returns NULL.
void *contract_error(ContractParser *p, uint32_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// The clause is right, but not one of those that can be checked.
void *contract_unsupported(ContractParser *p, uint32_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

// The names in { } here, if there are any.
bool contract_labels(ContractParser *p, TokenList *out);

bool contract_at(const ContractParser *p, const char *mark);
// Takes the token if it is this one.
bool contract_take(ContractParser *p, const char *mark);
// The same; reports what stands there instead.
bool contract_expect(ContractParser *p, const char *mark);

// Same text?
bool token_same(const char *text, const Token *a, const Token *b);

// Does the tree use the variable named by token `name`?
bool node_mentions(const char *text, const Token *tokens, const ContractExpr *n,
                   uint32_t name);

#endif
