// Arithmetic on words of gates: bit 0 first. Widths up to 128, so that a
// product of two 64-bit words fits. Results may overwrite operands.
#ifndef CULPRIT_SOLVE_GATE_WORDS_H
#define CULPRIT_SOLVE_GATE_WORDS_H

#include "solve/gates.h"

#define WORD_MAX 128
typedef struct {
  Lit bit[WORD_MAX];
  unsigned width;
} Word;

Word word_const(unsigned width, uint64_t value);
Word word_input(Gates *g, unsigned width, uint64_t run);
uint64_t word_in_run(const Word *w); // low 64 bits
bool word_is_const(const Word *w);

Word word_not(const Word *a);
Word word_resize(const Word *a, unsigned width, bool sign);
Word word_extract(const Word *a, unsigned lo, unsigned width);
Word word_mux(Gates *g, Lit c, const Word *a, const Word *b);
// a + b + carry
Word word_add(Gates *g, const Word *a, const Word *b, Lit carry);
Word word_sub(Gates *g, const Word *a, const Word *b);
Word word_neg(Gates *g, const Word *a);
Word word_mul(Gates *g, const Word *a, const Word *b);
// Unsigned; by zero: all ones and the dividend.
void word_divide(Gates *g, const Word *a, const Word *b, Word *quotient,
                 Word *remainder);
void word_divide_signed(Gates *g, const Word *a, const Word *b, Word *quotient,
                        Word *remainder);
typedef enum { SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_SIGNED } Shift;
Word word_shift(Gates *g, Shift how, const Word *a, const Word *by);
// entries[index], 0 beyond the end
Word word_table(Gates *g, const Word *index, const uint64_t *entries,
                uint32_t n, unsigned width);

Lit word_eq(Gates *g, const Word *a, const Word *b);
Lit word_ult(Gates *g, const Word *a, const Word *b);
Lit word_slt(Gates *g, const Word *a, const Word *b);
Lit word_nonzero(Gates *g, const Word *a);

#endif
