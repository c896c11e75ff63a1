// Expands macros as far as the source text allows: debug information gives all
// code from a macro the place of the macro's name.
//
//   #define BAD(x) (!(x))
//   if (BAD(n))                  `BAD(n)` expands to `(!(n))`
//
// Definitions are read from the file itself and from the files it includes by
// `#include "..."`, looked for beside it, in the directories above and in their
// include/. Of definitions from elsewhere (-D, <...>), only assert is known.
// Conditional directives are not evaluated: of several definitions the last in
// front of the use counts.
#ifndef CULPRIT_SOURCE_MACRO_H
#define CULPRIT_SOURCE_MACRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"
#include "util/hashmap.h"
#include "util/str.h"

typedef struct {
  const char *name, *params, *body; // params: "a,b"; NULL: it has none
  uint32_t line;                    // 0: of an included file
  size_t before; // the definition of the same name in front, plus 1; 0: none
} Macro;

typedef struct {
  ARRAY(Macro) items;
  Hashmap last; // name -> the last definition of it
  Hashmap seen; // files read
  Arena arena;
} Macros;

// Reads what `text`, the file `path`, defines and includes.
void macros_read(Macros *m, const char *path, const char *text, size_t len);
void macros_release(Macros *m);

// The definition that counts in this line; NULL: not known.
const Macro *macros_find(const Macros *m, const char *name, size_t len,
                         uint32_t line);

// Replaces the macros of `text` by what they stand for, again and again. False
// if that becomes too long, or a macro is used otherwise than it was defined.
bool macros_expand(const Macros *m, const char *text, uint32_t line, Str *out);

#endif
