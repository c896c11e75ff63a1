// Mutations of inputs, for what no solver sees: bits, bytes, numbers, pieces that
// are left out, doubled or taken from other inputs, and words. Several of them
// at once, as in the "havoc" stage of AFL.
//
//   Mutator m = {.seed = 1};
//   mutator_add_word(&m, "true", 4);
//   mutate(&m, inputs, 3, &made);             // of one of the three
//
// The same calls make the same inputs.
#ifndef CULPRIT_INPUT_HAVOC_H
#define CULPRIT_INPUT_HAVOC_H

#include <stddef.h>
#include <stdint.h>

#include "model/input.h"
#include "replay/replay.h"
#include "util/array.h"
#include "util/hashmap.h"

enum { WORDS_MOST = 256, WORD_LONGEST = 32 };

typedef struct {
  uint32_t len;
  char text[WORD_LONGEST];
} MutatorWord;

typedef struct {
  uint64_t seed; // moves on with every choice
  ARRAY(MutatorWord) words;
  Hashmap known; // words
} Mutator;

// Each word is kept once, and WORDS_MOST at most.
void mutator_add_word(Mutator *m, const void *text, size_t n);
// The short texts among the program's constants.
void mutator_add_constants(Mutator *m, const Program *p);
// Changes a copy of one of the inputs, of later ones more often. Environment
// variables, and arguments that name an input file, stay. Sources keep below
// 64 KB. The caller releases `out`.
void mutate(Mutator *m, const Inputs *const *inputs, size_t n, Inputs *out);
void mutator_release(Mutator *m);

#endif
