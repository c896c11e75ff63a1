// Lays the literals of a statement against the text that it printed.
//
//   "<li>"  $name  "</li>\n"         <li>tea</li>\n<li>cup</li>\n
//                                    1111vvv222222 1111vvv222222
//
// A statement in a loop prints its literals again and again, one with ?: leaves
// some out, and between them are values. The best of all ways to lay them is
// found by dynamic programming: it explains most bytes by literals in their
// order.
#ifndef CULPRIT_ORACLE_TEXT_ALIGN_H
#define CULPRIT_ORACLE_TEXT_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/source/literals.h"
#include "util/array.h"

typedef struct {
  ARRAY(const ScriptLiteral *) list; // in their order
  uint32_t value; // line of a value before the first; 0: there is none
  bool cut;       // the text begins in the middle
} AlignParts;

// Where a byte lies.
typedef struct {
  uint32_t line;   // 0: it cannot be told
  bool is_literal; // a literal holds it; else a value is put in there:
  size_t from, to; // these bytes
} Aligned;

Aligned text_align(const AlignParts *parts, const char *text, size_t n,
                   size_t at);

#endif
