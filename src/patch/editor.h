// What the makers of edits (edit.h) share: the text cut into tokens, pieces of
// new text with the strength of their operators, and putting one into the place
// of an expression, in parentheses where it needs them.
#ifndef CULPRIT_PATCH_EDITOR_H
#define CULPRIT_PATCH_EDITOR_H

#include <stdbool.h>

#include "patch/edit.h"
#include "source/expression.h"

typedef struct {
  const Site *site;
  EditChange change;
  Code code;
  size_t len; // of the text
  size_t at;  // the token of the site; CODE_NONE: there is none
  Arena *arena;
  SourceEdits *out;
} Editor;

// New text, and how tightly its weakest operator binds (CODE_UNARY, ...).
typedef struct {
  const char *text;
  int level;
} EditPiece;

// --- reading ----------------------------------------------------------------

// As it stands in the source.
const char *editor_raw(Editor *ed, Extent e);
// For words: blanks and comments as one blank, a long one shortened.
const char *editor_show(Editor *ed, Extent e);
bool editor_is_word(const Editor *ed, size_t token);
// `++` or `--`.
bool editor_is_step(const Editor *ed, size_t token);
// `=`, `+=`, ...
bool editor_is_assignment(const Editor *ed, size_t token);
// The operands of a binary operator, with their parentheses.
Extent editor_left(const Editor *ed, size_t oper);
Extent editor_right(const Editor *ed, size_t oper);
// Does it assign or count? Does it call a function?
bool editor_assigns(const Editor *ed, Extent e);
bool editor_calls(const Editor *ed, Extent e);
// The arguments between these parentheses.
void editor_arguments(const Editor *ed, size_t open, Extents *out);

// --- pieces -----------------------------------------------------------------

EditPiece piece_of(Editor *ed, Extent e);
EditPiece piece_number(Editor *ed, int64_t value);
EditPiece piece_text(const char *text); // an operand
// In parentheses if it binds weaker than this.
const char *piece_within(Editor *ed, EditPiece p, int level);
EditPiece piece_binary(Editor *ed, EditPiece left, const char *oper, int level,
                       EditPiece right);
// The expression plus a constant: `i - 1` plus 1 is `i`.
EditPiece piece_plus(Editor *ed, Extent e, int64_t value);
EditPiece piece_minus(Editor *ed, Extent e);
EditPiece piece_not(Editor *ed, Extent e);

// --- edits ------------------------------------------------------------------

// Adds an edit, unless it is there already or changes nothing.
void editor_add(Editor *ed, size_t at, size_t end, const char *text,
                const char *words);
// The piece in the place of the expression. `words` NULL: "`old` to `new`".
void editor_replace(Editor *ed, Extent e, EditPiece p, const char *words);
// Another operator in the place of a binary one.
void editor_operator(Editor *ed, size_t oper, const char *text, int level);
// The expression with the change's CHANGE_ADD, _SET, _MINUS, _NEGATE or _NAME.
void editor_value(Editor *ed, Extent e);
// Without the expression, which nothing needs the value of: as a statement, in
// the head of a for, beside a comma. False: it is none of these.
bool editor_remove(Editor *ed, Extent e, const char *words);

// --- kinds of sites ---------------------------------------------------------

void edit_condition(Editor *ed); // SITE_COMPARE, SITE_TEST
void edit_arith(Editor *ed);
void edit_constant(Editor *ed);
void edit_store(Editor *ed);
void edit_return(Editor *ed);
void edit_call(Editor *ed); // SITE_CALL, SITE_SWAP, SITE_ARGUMENT
void edit_index(Editor *ed);
void edit_name(Editor *ed); // SITE_VARIABLE, SITE_FIELD
void edit_before(Editor *ed);
void edit_logic(Editor *ed);

// Operators as C writes them; of a TryCompare or TryArith.
const char *compare_mark(unsigned op);
const char *arith_mark(unsigned op);
int compare_level(unsigned op);
int arith_level(unsigned op);
// "?": there is no such name.
const char *site_name(const Site *site, int64_t number);

#endif
