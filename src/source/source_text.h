// The text of source files, by line and column. Planning needs it to
// distinguish a closing brace or the head of a loop from a statement. Its hash
// reveals later changes of the source.
#ifndef CULPRIT_SOURCE_SOURCE_TEXT_H
#define CULPRIT_SOURCE_SOURCE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "source/expression.h"
#include "source/macro.h"
#include "util/array.h"
#include "util/str.h"

typedef struct {
  Str text;
  ARRAY(uint32_t) lines; // offset of each line
  uint64_t hash;         // 0: could not be read
  bool cut, looked;      // are `code` and `macros` there?
  Code code;
  Macros macros;
} SourceText;

// An unreadable file gives an empty text and hash 0.
void source_text_load(SourceText *s, const char *path);
void source_text_release(SourceText *s);

// The text from (line, column), both counted from 1, to the end of the file; ""
// if there is no such place.
const char *source_text_at(const SourceText *s, unsigned line, unsigned col);

// Its tokens, and the macros that the file `path`, which this is, defines.
const Code *source_text_code(SourceText *s);
const Macros *source_text_macros(SourceText *s, const char *path);

// Does the word (letters, digits, _) at `text` equal `word`?
bool source_word_is(const char *text, const char *word);

#endif
