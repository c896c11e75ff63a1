// Mutations of inputs: see havoc.h.
#include "input/havoc.h"

#include <stdbool.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

enum { LONGEST = 1 << 16, PIECE_MOST = 64 };

// --- choices ----------------------------------------------------------------

// splitmix64
static uint64_t draw(Mutator *m) {
  uint64_t z = m->seed += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// A number below n.
static size_t below(Mutator *m, size_t n) { return n ? draw(m) % n : 0; }

// --- words ------------------------------------------------------------------

void mutator_add_word(Mutator *m, const void *text, size_t n) {
  MutatorWord w = {.len = (uint32_t)n};
  uint64_t fresh = m->words.len;
  if (!n || n > WORD_LONGEST || m->words.len >= WORDS_MOST ||
      hashmap_intern(&m->known, text, n, fresh) != fresh)
    return;
  memcpy(w.text, text, n);
  array_push(&m->words, w);
}

static bool is_word(const uint8_t *text, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (text[i] < ' ' || text[i] > '~')
      return false;
  return true;
}

void mutator_add_constants(Mutator *m, const Program *p) {
  enum { SHORTEST = 2, LONG = 17 };
  for (size_t i = 0; i < p->globals.len; i++) {
    const IrGlobal *g = &p->globals.items[i];
    const uint8_t *text = p->bytes.items + g->first_byte;
    size_t n = g->nbytes;
    while (n && !text[n - 1])
      n--;
    if ((g->flags & IR_READ_ONLY) && n >= SHORTEST && n < g->size &&
        g->size <= LONG && is_word(text, n))
      mutator_add_word(m, text, n);
  }
}

void mutator_release(Mutator *m) {
  array_release(&m->words);
  hashmap_release(&m->known);
}

// --- one change -------------------------------------------------------------

typedef struct {
  Mutator *m;
  Str *text; // of one source
  const Inputs *other;
  size_t source;
} Mutation;

// Puts `n` bytes in the place of `old` ones.
static void replace(Str *text, size_t at, size_t old, const void *bytes,
                    size_t n) {
  Str all = {0};
  str_addn(&all, str_text(text), at);
  str_addn(&all, bytes, n);
  str_addn(&all, str_text(text) + at + old, text->len - at - old);
  str_release(text);
  *text = all;
}

static void flip_bit(Mutation *x) {
  if (x->text->len)
    x->text->data[below(x->m, x->text->len)] ^= (char)(1 << below(x->m, 8));
}

// Text has printable bytes; others now and then.
static char any_byte(Mutator *m) {
  return below(m, 4) ? (char)(' ' + below(m, 95)) : (char)below(m, 256);
}

static void set_byte(Mutation *x) {
  if (x->text->len)
    x->text->data[below(x->m, x->text->len)] = any_byte(x->m);
}

static void add_to_byte(Mutation *x) {
  if (!x->text->len)
    return;
  size_t at = below(x->m, x->text->len);
  int by = (int)below(x->m, 35) - 17;
  x->text->data[at] = (char)(x->text->data[at] + by);
}

static void insert_byte(Mutation *x) {
  char byte = any_byte(x->m);
  replace(x->text, below(x->m, x->text->len + 1), 0, &byte, 1);
}

// A piece of the text: where, and how long.
static size_t choose_piece(Mutator *m, size_t len, size_t *n) {
  size_t at = below(m, len), most = len - at;
  *n = 1 + below(m, most < PIECE_MOST ? most : PIECE_MOST);
  return at;
}

static void leave_out(Mutation *x) {
  size_t n;
  if (x->text->len < 2)
    return;
  size_t at = choose_piece(x->m, x->text->len, &n);
  replace(x->text, at, n, "", 0);
}

static void double_piece(Mutation *x) {
  size_t n;
  if (!x->text->len)
    return;
  size_t at = choose_piece(x->m, x->text->len, &n);
  char *piece = mem_dup(str_text(x->text) + at, n);
  replace(x->text, below(x->m, x->text->len + 1), 0, piece, n);
  free(piece);
}

static void put_word(Mutation *x) {
  if (!x->m->words.len)
    return;
  const MutatorWord *w = &x->m->words.items[below(x->m, x->m->words.len)];
  size_t at = below(x->m, x->text->len + 1), n = x->text->len - at;
  bool over = below(x->m, 2);
  replace(x->text, at, over ? (n < w->len ? n : w->len) : 0, w->text, w->len);
}

// A piece of another input, or all behind a place.
static void splice(Mutation *x) {
  if (x->source >= x->other->sources.len)
    return;
  const InputSource *s = &x->other->sources.items[x->source];
  size_t n, place = below(x->m, x->text->len + 1);
  if (!s->size)
    return;
  size_t at = choose_piece(x->m, s->size, &n);
  if (below(x->m, 2))
    replace(x->text, place, x->text->len - place, s->bytes + at, s->size - at);
  else
    replace(x->text, place, 0, s->bytes + at, n);
}

typedef void HavocStep(Mutation *x);
static HavocStep *const changes[] = {
    flip_bit,  set_byte,     add_to_byte, insert_byte, insert_byte,
    leave_out, double_piece, put_word,    put_word,    splice};

// --- an input ---------------------------------------------------------------

static bool can_change(const Inputs *in, size_t i) {
  const InputSource *s = &in->sources.items[i];
  return s->kind != INPUT_ENV && !inputs_named(in, s) && s->size < LONGEST;
}

// Files and standard input are changed more often than arguments. The number of
// sources: none can be changed.
static size_t choose_source(Mutator *m, const Inputs *in) {
  size_t n = in->sources.len, at = n;
  for (unsigned tries = 0; n && tries < 16; tries++) {
    at = below(m, n);
    bool text = in->sources.items[at].kind != INPUT_ARG;
    if (can_change(in, at) && (text || n == 1 || !below(m, 4)))
      return at;
  }
  for (at = 0; at < n && !can_change(in, at);)
    at++;
  return at;
}

static size_t choose_input(Mutator *m, size_t n) {
  size_t a = below(m, n), b = below(m, n);
  return a > b ? a : b;
}

void mutate(Mutator *m, const Inputs *const *inputs, size_t n, Inputs *out) {
  const Inputs *from = inputs[choose_input(m, n)];
  size_t source = choose_source(m, from);
  inputs_copy(out, from);
  if (source == from->sources.len)
    return;
  const InputSource *s = &from->sources.items[source];
  Str text = {0};
  str_addn(&text, s->bytes, s->size);
  Mutation x = {m, &text, inputs[below(m, n)], source};
  size_t times = (size_t)1 << below(m, 4);
  for (size_t i = 0; i < times; i++)
    changes[below(m, sizeof changes / sizeof *changes)](&x);
  inputs_set(out, source, str_text(&text),
             text.len < LONGEST ? text.len : LONGEST);
  str_release(&text);
}
