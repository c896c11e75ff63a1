// Finds the extent of a C expression from one of its tokens: clang's debug
// information gives a condition only one column, that of its operator, of the
// called function or of the variable.
//
//   if (!(a == b) && p->q)      at `==`: `a == b`; as condition `!(a == b)`
//                               at `q`: `p->q`
//
// There is no parser and no type behind it: a parenthesis is taken for a cast
// if it holds nothing but words and stars and one of the words names a type.
#ifndef CULPRIT_SOURCE_EXPRESSION_H
#define CULPRIT_SOURCE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/contract_lex.h"
#include "util/str.h"

// Source without its directives and comments.
typedef struct {
  const char *text;
  Tokens tokens; // the last is a TOK_END
} Code;

// Tokens first..last, both included.
typedef struct {
  size_t first, last;
} Extent;

#define CODE_NONE SIZE_MAX

// `text` must live as long as the code.
void code_lex(Code *c, const char *text, size_t len);
void code_release(Code *c);

// The token that starts at this place, or CODE_NONE.
size_t code_find(const Code *c, uint32_t line, uint32_t col);
bool code_is(const Code *c, size_t token, const char *text);
// The bracket that belongs to this opening or closing one, or CODE_NONE.
size_t code_partner(const Code *c, size_t token);

// The expression whose operator, or any token of whose operand, this is.
Extent code_expression(const Code *c, size_t token);
// `a ? b : c`, of which this is the first token.
Extent code_choice(const Code *c, size_t token);

// The operand behind a binary operator.
Extent code_right(const Code *c, size_t operator);
// The condition in the head of the if, while or for that begins here; of a do,
// any token of whose last statement this is. False: there is none.
bool code_head(const Code *c, size_t keyword, Extent *out);
bool code_do_head(const Code *c, size_t token, Extent *out);

// The condition that this expression is written as: with what negates it, but
// without parentheses around all of it. `negations`: how many `!` that added.
Extent code_condition(const Code *c, Extent e, unsigned *negations);
// Which block is entered next if a condition, given without its parentheses,
// decides: one that is entered if it is true, or one that is entered if it is
// false. Blocks come in the order of the source.
//
//   if (c) next ...     if (c && next) ...     if (!(c || next)) ...
bool code_true_is_next(const Code *c, Extent condition);
// The && or || of which it is the last operand, of several the outermost, as a
// condition. False: it is the operand of none.
bool code_whole(const Code *c, Extent operand, Extent *out,
                unsigned *negations);
// The && or || behind the condition that this token belongs to, with the
// parentheses and negations around it in `operand`. CODE_NONE: there is none.
size_t code_connective(const Code *c, size_t token, Extent *operand);
// Without parentheses around all of it.
Extent code_bare(const Code *c, Extent e);
// What is left of the condition without them and without negations.
Extent code_strip(const Code *c, Extent e, unsigned *negations);

// Appended, each run of blanks and comments as one blank.
void code_show(const Code *c, Extent e, Str *out);

// --- for changing the source ------------------------------------------------

// How tightly operators bind: the lower, the weaker.
enum {
  CODE_COMMA = 1,
  CODE_ASSIGNS,
  CODE_CHOOSES,
  CODE_OR,
  CODE_AND,
  CODE_EQUALS = 9,
  CODE_ORDERS,
  CODE_SHIFTS,
  CODE_ADDS,
  CODE_MULTIPLIES,
  CODE_UNARY = 20 // also an operand without operators
};

// Of a binary operator; 0: it is none.
int code_level(const Code *c, size_t token);
// Of the weakest operator of an expression.
int code_weakest(const Code *c, Extent e);
// The expression that begins with this token, up to an operator of `level` or a
// weaker one.
Extent code_from(const Code *c, size_t first, int level);
// Is it a unary operator in front of its operand, or the parenthesis of a cast?
bool code_is_prefix(const Code *c, size_t token);
bool code_is_cast(const Code *c, size_t open);

// --- for macros, whose inside has no columns --------------------------------

typedef ARRAY(Extent) Extents;

// Every condition of `e` that is decided by itself: operands of && and ||, what
// stands in front of `?`, in the head of if, while and for; in the order of
// execution. Constants are left out.
void code_conditions(const Code *c, Extent e, Extents *out);
// Is it, without parentheses and negations, an && or an ||?
bool code_is_logical(const Code *c, Extent e);

#endif
