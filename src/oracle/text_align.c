// Lays literals against a text: see text_align.h.
//
// State j of a position of the text: literal j - 1 was laid last, 0: none yet.
// From there either the next literal lies here, or one byte is a value's.
#include "oracle/text_align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { CELLS_MOST = 8 << 20 };

// What a step is worth, in bytes explained.
static const double LAID = 0.5;    // a literal, besides its bytes
static const double SKIPPED = 0.6; // some literals in between are left out
static const double AGAIN = 2;     // back to an earlier one
static const double VALUE = 0.01;  // a byte of a value, where there is one,
static const double STRAY = 1.5;   // or where there is none

typedef struct {
  float score;
  uint16_t before; // state
  bool laid;       // by a literal that ends here; else by one byte
} Cell;

typedef struct {
  const AlignParts *parts;
  const char *text;
  size_t n, states;
  Cell *cells;
} Align;

static Cell *cell(const Align *a, size_t at, size_t state) {
  return &a->cells[at * a->states + state];
}

static void offer(Cell *c, double score, size_t before, bool laid) {
  if (score > c->score)
    *c = (Cell){(float)score, (uint16_t)before, laid};
}

static bool takes_value(const Align *a, size_t state) {
  return state ? a->parts->list.items[state - 1]->value != 0
               : a->parts->value || a->parts->cut;
}

// The best state to come from when literal `i` is laid at `at`.
static double best_before(const Align *a, size_t at, size_t i, size_t *from) {
  double best = -INFINITY;
  for (size_t j = 0; j < a->states; j++) {
    double cost = j == i ? 0 : j < i ? SKIPPED : AGAIN;
    double score = cell(a, at, j)->score - cost;
    if (score > best) {
      best = score;
      *from = j;
    }
  }
  return best;
}

static void lay_all(const Align *a, size_t at) {
  for (size_t i = 0; i + 1 < a->states; i++) {
    const ScriptLiteral *l = a->parts->list.items[i];
    size_t from = 0;
    if (l->length > a->n - at || memcmp(a->text + at, l->bytes, l->length) != 0)
      continue;
    double score = best_before(a, at, i, &from) + (double)l->length + LAID;
    offer(cell(a, at + l->length, i + 1), score, from, true);
  }
}

static void lay(const Align *a) {
  for (size_t at = 0; at < a->n; at++) {
    lay_all(a, at);
    for (size_t j = 0; j < a->states; j++)
      offer(cell(a, at + 1, j),
            cell(a, at, j)->score - (takes_value(a, j) ? VALUE : STRAY), j,
            false);
  }
}

static void begin(const Align *a) {
  for (size_t i = 0; i < (a->n + 1) * a->states; i++)
    a->cells[i].score = -INFINITY;
  for (size_t j = 0; j < (a->parts->cut ? a->states : 1); j++)
    cell(a, 0, j)->score = 0;
}

static size_t best_end(const Align *a) {
  size_t best = 0;
  for (size_t j = 1; j < a->states; j++)
    if (cell(a, a->n, j)->score > cell(a, a->n, best)->score)
      best = j;
  return best;
}

// From the end back to the byte. Bytes of a value between two literals belong
// together.
static Aligned find_byte(const Align *a, size_t at) {
  size_t end = a->n, state = best_end(a);
  Aligned found = {.to = end};
  for (bool passed = false; end > 0;) {
    const Cell *c = cell(a, end, state);
    const ScriptLiteral *l = state ? a->parts->list.items[state - 1] : NULL;
    size_t from = end - (c->laid ? l->length : 1);
    if (passed && c->laid)
      break;
    if (at >= from && c->laid)
      return (Aligned){l->lines[at - from], true, from, end};
    if (at == from) {
      found.line = l ? l->value : a->parts->value;
      passed = true;
    }
    found.from = from;
    state = c->before;
    end = from;
    if (c->laid)
      found.to = from;
  }
  return found;
}

Aligned text_align(const AlignParts *parts, const char *text, size_t n,
                   size_t at) {
  Align a = {
      .parts = parts, .text = text, .n = n, .states = parts->list.len + 1};
  if (at >= n || a.states > UINT16_MAX || (n + 1) > CELLS_MOST / a.states)
    return (Aligned){.to = n};
  a.cells = mem_array(Cell, (n + 1) * a.states);
  begin(&a);
  lay(&a);
  Aligned found = find_byte(&a, at);
  free(a.cells);
  return found;
}
