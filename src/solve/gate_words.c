// Arithmetic on words of gates: see gate_words.h.
#include "solve/gate_words.h"

#include <assert.h>
#include <stdlib.h>

#include "util/mem.h"

// --- making -----------------------------------------------------------------

static Lit const_lit(bool v) { return v ? LIT_TRUE : LIT_FALSE; }

Word word_const(unsigned width, uint64_t value) {
  Word w = {.width = width};
  for (unsigned i = 0; i < width; i++)
    w.bit[i] = const_lit(i < 64 && (value >> i & 1));
  return w;
}

Word word_input(Gates *g, unsigned width, uint64_t run) {
  Word w = {.width = width};
  for (unsigned i = 0; i < width; i++)
    w.bit[i] = gate_input(g, i < 64 && (run >> i & 1));
  return w;
}

uint64_t word_in_run(const Word *w) {
  uint64_t v = 0;
  for (unsigned i = 0; i < w->width && i < 64; i++)
    v |= (uint64_t)lit_in_run(w->bit[i]) << i;
  return v;
}

bool word_is_const(const Word *w) {
  for (unsigned i = 0; i < w->width; i++)
    if (!lit_is_const(w->bit[i]))
      return false;
  return true;
}

Word word_not(const Word *a) {
  Word w = {.width = a->width};
  for (unsigned i = 0; i < a->width; i++)
    w.bit[i] = -a->bit[i];
  return w;
}

Word word_resize(const Word *a, unsigned width, bool sign) {
  Word w = {.width = width};
  Lit fill = sign ? a->bit[a->width - 1] : LIT_FALSE;
  for (unsigned i = 0; i < width; i++)
    w.bit[i] = i < a->width ? a->bit[i] : fill;
  return w;
}

Word word_extract(const Word *a, unsigned lo, unsigned width) {
  assert(lo + width <= a->width);
  Word w = {.width = width};
  for (unsigned i = 0; i < width; i++)
    w.bit[i] = a->bit[lo + i];
  return w;
}

Word word_mux(Gates *g, Lit c, const Word *a, const Word *b) {
  Word w = {.width = a->width};
  for (unsigned i = 0; i < a->width; i++)
    w.bit[i] = gate_mux(g, c, a->bit[i], b->bit[i]);
  return w;
}

// --- sums and products ------------------------------------------------------

Word word_add(Gates *g, const Word *a, const Word *b, Lit carry) {
  Word w = {.width = a->width};
  for (unsigned i = 0; i < w.width; i++) {
    Lit x = a->bit[i], y = b->bit[i];
    w.bit[i] = gate_xor(g, gate_xor(g, x, y), carry);
    if (i + 1 < w.width)
      carry = gate_majority(g, x, y, carry);
  }
  return w;
}

Word word_sub(Gates *g, const Word *a, const Word *b) {
  Word n = word_not(b);
  return word_add(g, a, &n, LIT_TRUE);
}

Word word_neg(Gates *g, const Word *a) {
  Word zero = word_const(a->width, 0);
  return word_sub(g, &zero, a);
}

static Word shifted(const Word *a, unsigned by) {
  Word w = {.width = a->width};
  for (unsigned i = 0; i < a->width; i++)
    w.bit[i] = i < by ? LIT_FALSE : a->bit[i - by];
  return w;
}

// Digits of k in {-1, 0, 1}, no two neighbours nonzero: 15 = 16 - 1 takes one
// subtraction instead of three additions.
static Word multiply_const(Gates *g, const Word *a, uint64_t k) {
  unsigned __int128 k3 = (unsigned __int128)k * 3;
  unsigned __int128 plus = (k3 & ~(unsigned __int128)k) >> 1;
  unsigned __int128 minus = ((unsigned __int128)k & ~k3) >> 1;
  Word sum = word_const(a->width, 0);
  for (unsigned i = 0; i < a->width && i < 66; i++) {
    Word s = shifted(a, i);
    if (plus >> i & 1)
      sum = word_add(g, &sum, &s, LIT_FALSE);
    if (minus >> i & 1)
      sum = word_sub(g, &sum, &s);
  }
  return sum;
}

static unsigned count_free(const Word *a) {
  unsigned n = 0;
  for (unsigned i = 0; i < a->width; i++)
    n += a->bit[i] != LIT_FALSE;
  return n;
}

// Constants above 64 bits (extended signs) take the general way.
static bool is_short_const(const Word *a) {
  for (unsigned i = 64; i < a->width; i++)
    if (a->bit[i] != LIT_FALSE)
      return false;
  return word_is_const(a);
}

Word word_mul(Gates *g, const Word *a, const Word *b) {
  if (is_short_const(b))
    return multiply_const(g, a, word_in_run(b));
  if (is_short_const(a))
    return multiply_const(g, b, word_in_run(a));
  if (count_free(a) < count_free(b)) {
    const Word *t = a;
    a = b;
    b = t;
  }
  Word sum = word_const(a->width, 0);
  for (unsigned i = 0; i < a->width; i++) {
    if (b->bit[i] == LIT_FALSE)
      continue;
    Word s = shifted(a, i);
    for (unsigned j = i; j < a->width; j++)
      s.bit[j] = gate_and(g, s.bit[j], b->bit[i]);
    sum = word_add(g, &sum, &s, LIT_FALSE);
  }
  return sum;
}

// --- quotients --------------------------------------------------------------

static unsigned bits_of(uint64_t v) {
  return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static void require_equal(Gates *g, Lit unless, const Word *a, const Word *b) {
  Lit same = word_eq(g, a, b);
  gates_require(g, same, unless);
}

// Divisor unknown, possibly zero. `zero`: it is.
static void define_division(Gates *g, const Word *a, const Word *b, Lit zero,
                            const Word *q, const Word *r, unsigned wide) {
  Word q2 = word_resize(q, wide, false), b2 = word_resize(b, wide, false);
  Word r2 = word_resize(r, wide, false), a2 = word_resize(a, wide, false);
  Word product = word_mul(g, &q2, &b2);
  Word sum = word_add(g, &product, &r2, LIT_FALSE);
  require_equal(g, zero, &sum, &a2);
  gates_require(g, word_ult(g, r, b), zero);
}

#define LONG_DIVISION 4 // bits of quotient

// By a constant, as on paper: for few bits of quotient smaller than requiring
// a = q * b + r, and what the dividend is decides what the remainder is.
static void divide_long(Gates *g, const Word *a, uint64_t by, unsigned steps,
                        Word *quotient, Word *remainder) {
  Word q = word_const(a->width, 0), r = *a;
  for (unsigned i = steps; i-- > 0;) {
    Word part = word_const(a->width, by << i);
    Lit fits = -word_ult(g, &r, &part);
    Word less = word_sub(g, &r, &part);
    r = word_mux(g, fits, &less, &r);
    q.bit[i] = fits;
  }
  *quotient = q;
  *remainder = r;
}

// q and r are the only numbers with a = q * b + r and r < b, so requiring that
// of two fresh words for good takes no solution away.
void word_divide(Gates *g, const Word *a, const Word *b, Word *quotient,
                 Word *remainder) {
  unsigned w = a->width;
  uint64_t x = word_in_run(a), y = word_in_run(b);
  Lit zero = -word_nonzero(g, b);
  if (zero == LIT_TRUE) {
    Word copy = *a;
    *quotient = word_const(w, ~0ull);
    *remainder = copy;
    return;
  }
  bool fixed = word_is_const(b);
  // A constant divisor of n bits leaves w - n + 1 bits of quotient.
  unsigned wq = fixed ? (bits_of(y) <= w ? w - bits_of(y) + 1 : 1) : w;
  unsigned wide = fixed ? w + 1 : 2 * w;
  if (fixed && wq <= LONG_DIVISION && bits_of(y) + wq == w + 1) {
    divide_long(g, a, y, wq, quotient, remainder);
    return;
  }
  Word q = word_input(g, wq, y ? x / y : ~0ull);
  Word r = word_input(g, w, y ? x % y : x);
  q = word_resize(&q, w, false);
  define_division(g, a, b, zero, &q, &r, wide);
  Word ones = word_const(w, ~0ull);
  if (zero != LIT_FALSE) {
    require_equal(g, -zero, &q, &ones);
    require_equal(g, -zero, &r, a);
  }
  *quotient = q;
  *remainder = r;
}

static Word negate_if(Gates *g, Lit c, const Word *a) {
  if (c == LIT_FALSE)
    return *a;
  Word n = word_neg(g, a);
  return word_mux(g, c, &n, a);
}

void word_divide_signed(Gates *g, const Word *a, const Word *b, Word *quotient,
                        Word *remainder) {
  Lit sa = a->bit[a->width - 1], sb = b->bit[b->width - 1];
  Word x = negate_if(g, sa, a), y = negate_if(g, sb, b), q, r;
  word_divide(g, &x, &y, &q, &r);
  *quotient = negate_if(g, gate_xor(g, sa, sb), &q);
  *remainder = negate_if(g, sa, &r);
}

// --- shifts and tables ------------------------------------------------------

static Lit shifted_bit(Shift how, const Word *a, unsigned i, unsigned by,
                       Lit fill) {
  if (how == SHIFT_LEFT)
    return i < by ? LIT_FALSE : a->bit[i - by];
  return i + by < a->width ? a->bit[i + by] : fill;
}

// Is `by` at least the width?
static Lit shifts_out(Gates *g, const Word *by) {
  Word limit = word_const(by->width, by->width);
  return -word_ult(g, by, &limit);
}

Word word_shift(Gates *g, Shift how, const Word *a, const Word *by) {
  unsigned w = a->width;
  Lit fill = how == SHIFT_RIGHT_SIGNED ? a->bit[w - 1] : LIT_FALSE;
  Lit out = shifts_out(g, by);
  Word r = *a;
  for (unsigned k = 0; 1u << k < w; k++) {
    Word s = {.width = w};
    for (unsigned i = 0; i < w; i++)
      s.bit[i] = shifted_bit(how, &r, i, 1u << k, fill);
    r = word_mux(g, by->bit[k], &s, &r);
  }
  for (unsigned i = 0; i < w; i++)
    r.bit[i] = gate_mux(g, out, fill, r.bit[i]);
  return r;
}

// One bit of a table: halves the list with each bit of the index.
static Lit table_bit(Gates *g, const Word *index, unsigned used, Lit *lits) {
  for (unsigned k = 0; k < used; k++)
    for (uint32_t i = 0; i < 1u << (used - 1 - k); i++)
      lits[i] = gate_mux(g, index->bit[k], lits[2 * i + 1], lits[2 * i]);
  return lits[0];
}

Word word_table(Gates *g, const Word *index, const uint64_t *entries,
                uint32_t n, unsigned width) {
  unsigned used = bits_of(n - 1);
  used = used < index->width ? used : index->width;
  Lit inside = LIT_TRUE;
  for (unsigned i = used; i < index->width; i++)
    inside = gate_and(g, inside, -index->bit[i]);
  uint32_t leaves = 1u << used;
  Lit *lits = mem_array(Lit, leaves);
  Word w = {.width = width};
  for (unsigned b = 0; b < width; b++) {
    for (uint32_t i = 0; i < leaves; i++)
      lits[i] = const_lit(i < n && (entries[i] >> b & 1));
    w.bit[b] = gate_and(g, inside, table_bit(g, index, used, lits));
  }
  free(lits);
  return w;
}

// --- comparisons ------------------------------------------------------------

Lit word_eq(Gates *g, const Word *a, const Word *b) {
  Lit r = LIT_TRUE;
  for (unsigned i = 0; i < a->width; i++)
    r = gate_and(g, r, -gate_xor(g, a->bit[i], b->bit[i]));
  return r;
}

Lit word_ult(Gates *g, const Word *a, const Word *b) {
  Lit less = LIT_FALSE; // on the bits so far
  for (unsigned i = 0; i < a->width; i++)
    less = gate_majority(g, -a->bit[i], b->bit[i], less);
  return less;
}

Lit word_slt(Gates *g, const Word *a, const Word *b) {
  Word x = *a, y = *b;
  unsigned top = a->width - 1;
  x.bit[top] = -a->bit[top];
  y.bit[top] = -b->bit[top];
  return word_ult(g, &x, &y);
}

Lit word_nonzero(Gates *g, const Word *a) {
  Lit r = LIT_FALSE;
  for (unsigned i = 0; i < a->width; i++)
    r = gate_or(g, r, a->bit[i]);
  return r;
}
