// The text of source files: see source_text.h.
#include "source/source_text.h"

#include <ctype.h>
#include <string.h>
#include <xxhash.h>

#include "compile/changed_file.h"
#include "util/fs.h"

void source_text_load(SourceText *s, const char *path) {
  Err err;
  *s = (SourceText){0};
  if (fs_read(changed_file_of(path), 0, &s->text, &err))
    return;
  s->hash = XXH3_64bits(str_text(&s->text), s->text.len);
  array_push(&s->lines, 0);
  for (size_t i = 0; i < s->text.len; i++)
    if (s->text.data[i] == '\n')
      array_push(&s->lines, (uint32_t)(i + 1));
}

void source_text_release(SourceText *s) {
  str_release(&s->text);
  array_release(&s->lines);
  code_release(&s->code);
  macros_release(&s->macros);
}

const Code *source_text_code(SourceText *s) {
  if (!s->cut)
    code_lex(&s->code, str_text(&s->text), s->text.len);
  s->cut = true;
  return &s->code;
}

const Macros *source_text_macros(SourceText *s, const char *path) {
  if (!s->looked)
    macros_read(&s->macros, path, str_text(&s->text), s->text.len);
  s->looked = true;
  return &s->macros;
}

const char *source_text_at(const SourceText *s, unsigned line, unsigned col) {
  if (!line || !col || line > s->lines.len)
    return "";
  size_t at = s->lines.items[line - 1] + (size_t)(col - 1);
  size_t end = line < s->lines.len ? s->lines.items[line] : s->text.len;
  return at < end ? s->text.data + at : "";
}

bool source_word_is(const char *text, const char *word) {
  size_t n = strlen(word);
  return !strncmp(text, word, n) && !isalnum((unsigned char)text[n]) &&
         text[n] != '_';
}
