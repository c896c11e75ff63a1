// Inputs near those of tests, made to tell programs apart. A test is recorded
// and replayed (input/recorder.h), and the solver makes inputs that
//
//   reach a changed line with both sides of its comparison equal, off by one or
//   far apart,
//   take another way through the program, at the changed lines first
//                                                      (input/frontier.h),
//
// in turns with inputs made without it (variations.h), which are all there is if
// the program cannot be recorded.
//
//   NearInputs n;
//   near_inputs_open(&n, &options);
//   near_inputs_add_seed(&n, &inputs, true);
//   while (near_inputs_make(&n, 8)) {
//     ... n.made.items[i].line ...
//     near_inputs_learn(&n, worth);
//   }
//   near_inputs_close(&n);
//
// The same seeds make the same inputs in the same order.
#ifndef CULPRIT_INPUT_NEAR_INPUTS_H
#define CULPRIT_INPUT_NEAR_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/frontier.h"
#include "input/recorder.h"
#include "model/input.h"
#include "model/suite.h"
#include "run/runner.h"
#include "util/array.h"

typedef struct {
  Runner *runner;      // its pool must be idle
  const char *program; // built by culprit-cc
  const char *cache;   // where its trace build is kept
  const char *dir;     // for files of inputs
  const char *cwd;     // of the tests; NULL: where all run
  char *const *env;    // likewise; NULL: none of their own
  const Suite *suite;
  const uint32_t *statements; // that are changed
  size_t nstatements;
  bool (*go_on)(void *context);
  void *context;
} NearInputOptions;

typedef struct {
  Inputs inputs;
  char *dir;  // of its files
  char *line; // shell words after the program
} NearInput;

typedef struct {
  ARRAY(Inputs) items;
  size_t next;
} WaitingInputs;

typedef struct {
  NearInputOptions options;
  Recorder recorder;
  bool records; // the program can be recorded, and its runs fit in memory
  size_t bytes; // of expressions
  Frontier frontier;
  Inputs originals; // files of all seeds
  ARRAY(Inputs) seeds;
  WaitingInputs near, varied; // made, not handed out: by the solver at the
                              // changed lines, and without it
  bool vary;                  // it is the turn of those
  unsigned number;            // of the next input
  ARRAY(NearInput) made;      // the last batch
} NearInputs;

void near_inputs_open(NearInputs *n, const NearInputOptions *o);
void near_inputs_close(NearInputs *n);

void near_inputs_add_seed(NearInputs *n, const Inputs *in, bool fails);
// Makes the next inputs, `most` at most, and writes their files; returns how
// many. 0: there are no more, or go_on() said no.
size_t near_inputs_make(NearInputs *n, size_t most);
// Records those of the batch with worth[i]: what they do leads to more inputs.
void near_inputs_learn(NearInputs *n, const bool *worth);

// Writes the input's files below `dir`; appends the shell words to `line`.
int near_inputs_write(const NearInputs *n, const Inputs *in, const char *dir,
                      Str *line, Err *err);

// Nothing in it but text: no control characters, no broken UTF-8.
bool inputs_are_text(const Inputs *in);
// Does it look like one of the seeds: numbers where that has numbers, words
// where it has words?
bool near_inputs_like_seed(const NearInputs *n, const Inputs *in);
size_t inputs_size(const Inputs *in);

#endif
