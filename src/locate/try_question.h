// What tells apart the changes that pass all tests: an input that no test has,
// and what the program prints for it with each of them. A part of the note of
// `culprit try` (try_note.h), with these facts:
//
//   asked      64  3                 inputs that were run, with how many changes
//   question   ./prog -n 3 4  1      the first on which they differ, as a shell
//                                    command; the first line of the output that
//                                    differs
//   argument   -n                    its arguments, in their order
//   stdin      4 5%0A                its standard input
//   file       in.txt  7%0A          a file that it reads
//   answer     0  0    7%0A          number of the change in the note; exit
//                                    status, -signal or "endless"; output from
//                                    the line that differs on
//   answer     unchanged  0  9%0A    of the program as it is
//   answer     reference  0  7%0A    of the session's reference program
//
// Texts are shortened ("..." at the cut); bytes that are no text are \xNN.
#ifndef CULPRIT_LOCATE_TRY_QUESTION_H
#define CULPRIT_LOCATE_TRY_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/array.h"
#include "util/str.h"

// TriedAnswer.change, of programs without a change.
#define ANSWER_UNCHANGED UINT32_MAX
#define ANSWER_REFERENCE (UINT32_MAX - 1)

typedef struct {
  uint32_t change; // in TryNote.changes
  const char *output;
  int status;   // exit status, or -signal
  bool endless; // it was stopped: too many steps, or too much time
} TriedAnswer;

typedef struct {
  const char *name, *text;
} TriedFile;

typedef struct {
  uint32_t inputs;     // that were run; 0: none could be made
  uint32_t asked;      // changes that they were run with
  const char *command; // NULL: none was found on which they differ
  uint32_t line;       // of the output
  ARRAY(const char *) arguments;
  const char *input; // standard input; NULL: none
  ARRAY(TriedFile) files;
  ARRAY(TriedAnswer) answers; // of changes first
} TriedQuestion;

void question_release(TriedQuestion *q);

// Its facts (note_file.h).
void question_write(const TriedQuestion *q, Str *out);
// False: there is no such fact.
bool question_take(TriedQuestion *q, char **fields, size_t n, Arena *arena);
// Two answers at least, and of known changes, each once?
bool question_complete(const TriedQuestion *q, size_t nchanges);

// Do the two differ?
bool answers_differ(const TriedAnswer *a, const TriedAnswer *b);
// For JSON and people: "exit status 1", "SIGSEGV", "endless".
void answer_tell_end(const TriedAnswer *a, Str *out);

#endif
