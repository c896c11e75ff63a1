// Which changes can be made to the text of a PHP script at a line, the likeliest
// first: comparisons, constants, conditions, operators, tags in text, variables,
// statements left out. A change replaces bytes of the text and adds no line, so
// lines keep their numbers. PHP's own scanner has found the tokens
// (php/record/record_format.h).
//
//   if ($n < 5) echo "<b>$n";    `<` to `<=`; `5` to `6`; the condition
//                                negated; without `<b>`; ...
#ifndef CULPRIT_TRY_WEB_SCRIPT_CHANGES_H
#define CULPRIT_TRY_WEB_SCRIPT_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/record/record_format.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/str.h"

typedef struct {
  const char *text;
  size_t size;
  const PhpToken *tokens; // in the order of the text
  size_t ntokens;
} ScriptText;

typedef struct {
  uint32_t offset, length; // the bytes that are replaced
  const char *with;
  const char *kind; // compare, condition, operator, constant, markup, variable,
                    // call, statement
  const char *words; // "`<` to `<=`"
  unsigned cost;     // the likelier, the less
} ScriptChange;

typedef ARRAY(ScriptChange) ScriptChanges;

// Kinds that can be left out.
typedef struct {
  bool variables, statements, constants;
} ScriptKinds;

// Adds the changes of tokens that begin on the lines [first, last]. Tokens must
// lie in the text (php_tokens_read). Texts live in `arena`.
void script_changes(const ScriptText *s, uint32_t first, uint32_t last,
                    ScriptKinds kinds, ScriptChanges *out, Arena *arena);

// The text with the change in it.
void script_change_apply(const ScriptText *s, const ScriptChange *c, Str *out);
// The same as a unified diff of the file called `name`.
void script_change_diff(const ScriptText *s, const ScriptChange *c,
                        const char *name, Str *out);

#endif
