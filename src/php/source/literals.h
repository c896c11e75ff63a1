// The literals of PHP scripts: which line of the source holds which bytes of a
// text that the application wrote or sent.
//
//   7  echo "<p>            segment of lines 7-8, literals
//   8  by {$u['name']}</p>";  "<p>\nby " (lines 7, 8), then a value (8),
//                             "</p>" (8)
//
// PHP gives a string the line of its beginning or end; here every byte has its
// own. A literal with directives of printf or placeholders of a query (?, :id)
// is followed by its parts between them. Keys of arrays ($u['name']) are left out: nobody sees them.
#ifndef CULPRIT_PHP_SOURCE_LITERALS_H
#define CULPRIT_PHP_SOURCE_LITERALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "php/source/template_map.h"

typedef struct {
  const char *bytes;     // as PHP sees them: escapes are replaced
  size_t length;         // at least 1
  const uint32_t *lines; // of each byte
  uint32_t segment;      // index
  uint32_t value; // line of the first value behind it and before the next
                  // literal of its segment; 0: there is none
} ScriptLiteral;

// The tokens of a statement, or of a part of it that has no braces.
typedef struct {
  uint32_t first, last; // lines
  uint32_t value;       // of the first value before any literal; 0: none
  bool prints;          // it begins with echo or print
  size_t literal, nliterals;
} ScriptSegment;

// A statement with exit or die in it.
typedef struct {
  uint32_t first, last; // lines
  bool says;            // it prints something, as die('no connection')
} ScriptExit;

typedef struct {
  const Unit *unit;
  const ScriptLiteral *literals;
  size_t nliterals;
  const ScriptSegment *segments; // those that have literals
  size_t nsegments;
  const ScriptExit *exits;
  size_t nexits;
  const TemplateMap *template; // that it was compiled from; NULL: none
} ScriptLiterals;

typedef struct LiteralCache LiteralCache;

// `maps`: where the extension leaves maps, texts and tokens.
LiteralCache *literal_cache_new(const char *maps);
void literal_cache_free(LiteralCache *c); // NULL is fine

// The literals of a script; NULL: its map or its text cannot be read. They live
// as long as the cache.
const ScriptLiterals *literals_of(LiteralCache *c, const UnitId *script);

#endif
