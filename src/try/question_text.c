// What programs answer, shortened: see question_text.h.
#include "try/question_text.h"

#include <string.h>

#include "util/escape.h"

enum {
  TEXT_MOST = 400,  // bytes that are shown
  COLUMN_MOST = 40, // a difference behind is shown without what is before
  BEFORE = 10,      // bytes before it that are shown then
};

bool answer_equals(const QuestionAnswer *a, const QuestionAnswer *b) {
  if (a->endless || b->endless)
    return a->endless && b->endless;
  return a->status == b->status && a->output.len == b->output.len &&
         !memcmp(str_text(&a->output), str_text(&b->output), a->output.len);
}

const char *question_text(const void *bytes, size_t n, Arena *arena) {
  const char *text = bytes;
  Str out = {0};
  size_t at = 0, step;
  for (; at < n && at < TEXT_MOST; at += step) {
    unsigned char c = (unsigned char)text[at];
    step = utf8_length(text + at, n - at);
    if (!step || ((c < ' ' || c == 127) && c != '\n' && c != '\t')) {
      str_addf(&out, "\\x%02x", c);
      step = 1;
    } else {
      str_addn(&out, text + at, step);
    }
  }
  str_add(&out, at < n ? "..." : "");
  return arena_take(arena, &out);
}

// Are all outputs equal at this byte? Behind its end one is equal to none.
static bool agree_at(const QuestionAnswer *a, size_t n, size_t at) {
  for (size_t i = 0; i < n; i++)
    if (at >= a[i].output.len || a[i].output.data[at] != a[0].output.data[at])
      return false;
  return true;
}

AnswerPlace answers_place(const QuestionAnswer *a, size_t n) {
  AnswerPlace place = {.line = 1};
  size_t at = 0, column = 0;
  for (; agree_at(a, n, at); at++) {
    bool ends = a[0].output.data[at] == '\n';
    place.line += ends;
    column = ends ? 0 : column + 1;
  }
  if (at == a[0].output.len && at == a[n - 1].output.len) {
    bool all = true;
    for (size_t i = 0; i < n; i++)
      all &= a[i].output.len == at;
    if (all)
      return (AnswerPlace){.line = 1};
  }
  place.column = column > COLUMN_MOST ? column - BEFORE : 0;
  return place;
}

// Where its line begins; its end, if it has fewer.
static size_t line_at(const Str *text, uint32_t line) {
  size_t at = 0;
  for (; line > 1 && at < text->len; at++)
    line -= text->data[at] == '\n';
  return at;
}

TriedAnswer answer_told(const QuestionAnswer *a, uint32_t change,
                        const AnswerPlace *place, Arena *arena) {
  const Str *out = &a->output;
  if (a->endless)
    return (TriedAnswer){.change = change, .output = "", .endless = true};
  size_t at = line_at(out, place->line);
  size_t left = place->column < out->len - at ? place->column : out->len - at;
  const char *text =
      question_text(str_text(out) + at + left, out->len - at - left, arena);
  return (TriedAnswer){.change = change,
                       .output =
                           left ? arena_printf(arena, "...%s", text) : text,
                       .status = a->status};
}
