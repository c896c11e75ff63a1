// What tells apart the changes that pass all tests: see try_question.h.
#include "locate/try_question.h"

#include <stdlib.h>
#include <string.h>

#include "locate/note_file.h"

#define UNCHANGED "unchanged"
#define REFERENCE "reference"
#define ENDLESS "endless"

enum { STATUS_MOST = 255 };

void question_release(TriedQuestion *q) {
  array_release(&q->arguments);
  array_release(&q->files);
  array_release(&q->answers);
}

// --- facts ------------------------------------------------------------------

static void write_answer(const TriedAnswer *a, Str *out) {
  if (a->change == ANSWER_UNCHANGED || a->change == ANSWER_REFERENCE)
    str_addf(out, "answer\t%s",
             a->change == ANSWER_UNCHANGED ? UNCHANGED : REFERENCE);
  else
    str_addf(out, "answer\t%u", a->change);
  if (a->endless)
    str_add(out, "\t" ENDLESS);
  else
    str_addf(out, "\t%d", a->status);
  note_add_field(out, a->output);
  str_addc(out, '\n');
}

void question_write(const TriedQuestion *q, Str *out) {
  if (q->inputs)
    str_addf(out, "asked\t%u\t%u\n", q->inputs, q->asked);
  if (!q->command)
    return;
  str_add(out, "question");
  note_add_field(out, q->command);
  str_addf(out, "\t%u\n", q->line);
  for (size_t i = 0; i < q->arguments.len; i++)
    note_add_fact(out, "argument", q->arguments.items[i]);
  if (q->input)
    note_add_fact(out, "stdin", q->input);
  for (size_t i = 0; i < q->files.len; i++) {
    str_add(out, "file");
    note_add_field(out, q->files.items[i].name);
    note_add_field(out, q->files.items[i].text);
    str_addc(out, '\n');
  }
  for (size_t i = 0; i < q->answers.len; i++)
    write_answer(&q->answers.items[i], out);
}

static bool take_status(const char *text, TriedAnswer *a) {
  uint32_t number;
  bool negative = *text == '-';
  a->endless = !strcmp(text, ENDLESS);
  if (a->endless)
    return true;
  if (!note_number(text + negative, &number) || number > STATUS_MOST)
    return false;
  a->status = negative ? -(int)number : (int)number;
  return true;
}

static bool take_answer(TriedQuestion *q, char **f, Arena *arena) {
  TriedAnswer a = {.output = arena_strdup(arena, f[3])};
  if (!strcmp(f[1], UNCHANGED))
    a.change = ANSWER_UNCHANGED;
  else if (!strcmp(f[1], REFERENCE))
    a.change = ANSWER_REFERENCE;
  else if (!note_number(f[1], &a.change))
    return false;
  if (!take_status(f[2], &a))
    return false;
  array_push(&q->answers, a);
  return true;
}

bool question_take(TriedQuestion *q, char **f, size_t n, Arena *arena) {
  if (n == 3 && !strcmp(f[0], "asked"))
    return note_number(f[1], &q->inputs) && note_number(f[2], &q->asked);
  if (n == 3 && !strcmp(f[0], "question")) {
    q->command = arena_strdup(arena, f[1]);
    return note_number(f[2], &q->line) && q->line;
  }
  if (n == 2 && !strcmp(f[0], "argument")) {
    array_push(&q->arguments, arena_strdup(arena, f[1]));
    return true;
  }
  if (n == 2 && !strcmp(f[0], "stdin")) {
    q->input = arena_strdup(arena, f[1]);
    return true;
  }
  if (n == 3 && !strcmp(f[0], "file")) {
    array_push(&q->files, ((TriedFile){arena_strdup(arena, f[1]),
                                       arena_strdup(arena, f[2])}));
    return true;
  }
  return n == 4 && !strcmp(f[0], "answer") && take_answer(q, f, arena);
}

bool answers_differ(const TriedAnswer *a, const TriedAnswer *b) {
  return a->endless != b->endless || a->status != b->status ||
         strcmp(a->output, b->output) != 0;
}

bool question_complete(const TriedQuestion *q, size_t nchanges) {
  size_t changes = 0;
  for (size_t i = 0; i < q->answers.len; i++) {
    uint32_t change = q->answers.items[i].change;
    bool other = change == ANSWER_UNCHANGED || change == ANSWER_REFERENCE;
    if (!other && change >= nchanges)
      return false;
    for (size_t k = 0; k < i; k++)
      if (q->answers.items[k].change == change)
        return false;
    changes += !other;
  }
  return q->command ? changes >= 2 : !q->answers.len;
}

// --- words ------------------------------------------------------------------

void answer_tell_end(const TriedAnswer *a, Str *out) {
  const char *name = a->status < 0 ? sigabbrev_np(-a->status) : NULL;
  if (a->endless)
    str_add(out, ENDLESS);
  else if (name)
    str_addf(out, "SIG%s", name);
  else if (a->status < 0)
    str_addf(out, "signal %d", -a->status);
  else
    str_addf(out, "exit status %d", a->status);
}
