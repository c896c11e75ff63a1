// What programs answer to the input of a question (question.h), compared and
// shortened for people.
#ifndef CULPRIT_TRY_QUESTION_TEXT_H
#define CULPRIT_TRY_QUESTION_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/try_note.h"
#include "util/arena.h"
#include "util/str.h"

typedef struct {
  Str output;
  int status; // exit status, or -signal
  bool endless, ran;
} QuestionAnswer;

// Where outputs differ first.
typedef struct {
  uint32_t line; // from 1
  size_t column; // bytes of it that are left out
} AnswerPlace;

bool answer_equals(const QuestionAnswer *a, const QuestionAnswer *b);
// Of all of them; if all outputs are equal their beginning.
AnswerPlace answers_place(const QuestionAnswer *answers, size_t n);
TriedAnswer answer_told(const QuestionAnswer *a, uint32_t change,
                        const AnswerPlace *place, Arena *arena);

// The beginning of it as text: bytes that are none are \xNN, "..." at the cut.
const char *question_text(const void *bytes, size_t n, Arena *arena);

#endif
