// Runs inputs for what they reach, and nothing else: they are not judged, not
// recorded and not stored. Those that reach what no run of the session has
// reached can become tests.
#ifndef CULPRIT_INPUT_SCREEN_H
#define CULPRIT_INPUT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/input.h"
#include "model/run.h"
#include "run/runner.h"
#include "util/bitset.h"
#include "util/err.h"

typedef struct {
  Runner *runner;
  const char *program;
  const char *dir;           // for their files
  Bitset seen[ENTITY_KINDS]; // what any run has reached
  size_t runs;               // so far
} Screen;

void screen_release(Screen *s);
// Notes what a run of the session reached. True: something new.
bool screen_note(Screen *s, const Run *run);
// Runs the inputs; fresh[i]: it reached something new, in that order. `given`:
// the user's input. Stops early if `go_on` says so or the user interrupts.
int screen_inputs(Screen *s, const Inputs *inputs, size_t n,
                  const Inputs *given, bool *fresh,
                  bool (*go_on)(void *context), void *context, Err *err);

#endif
