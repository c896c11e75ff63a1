// qsort moves elements through memory of its own while it calls back, and
// nothing of that is recorded. So replay remembers the array as it was,
// recognises the elements that a callback compares by the bytes that it loads,
// and finds in the sorted bytes where each element went. Equal elements cannot
// be distinguished and keep their order.
#include <stdlib.h>
#include <string.h>

#include "replay/models.h"

enum { MOST_ELEMENTS = 4096, LARGEST = 1 << 22 };

static void forget(Sort *s) {
  free(s->bytes);
  free(s->exprs);
  *s = (Sort){0};
}

static uint64_t argument(Replay *r, const IrCall *c, uint32_t i) {
  return get(r, r->program->args.items[c->first_arg + i].operand).value;
}

void sort_begin(Replay *r, const IrCall *c, const char *name) {
  if ((strcmp(name, "qsort") && strcmp(name, "qsort_r")) || c->nargs < 4)
    return;
  Sort s = {.base = argument(r, c, 0),
            .count = argument(r, c, 1),
            .size = argument(r, c, 2),
            .depth = r->frames.len};
  forget(&r->sort);
  if (!s.size || s.count > MOST_ELEMENTS || s.size > LARGEST / MOST_ELEMENTS ||
      !shadow_is_symbolic(r->shadow, s.base, s.count * s.size))
    return;
  uint64_t n = s.count * s.size;
  s.bytes = mem_alloc(n);
  s.exprs = mem_array(Expr, n);
  for (uint64_t i = 0; i < n; i++) {
    shadow_byte(r->shadow, s.base + i, &s.bytes[i]);
    s.exprs[i] = shadow_byte_expr(r->shadow, s.base + i);
  }
  r->sort = s;
}

void sort_called_back(Replay *r, uint32_t nparams) {
  Sort *s = &r->sort;
  if (!s->count || r->frames.len != s->depth + 1 || nparams < 2)
    return;
  for (uint32_t i = 0; i < 2; i++) {
    s->elements[i] = get(r, i).value;
    shadow_forget(r->shadow, s->elements[i], s->size);
  }
}

// Shows the element of the old array that these bytes were loaded from.
static bool recognise(Replay *r, uint64_t element, uint64_t at, unsigned n,
                      uint64_t value) {
  const Sort *s = &r->sort;
  for (uint64_t k = 0; k < s->count; k++) {
    uint64_t first = k * s->size;
    if (memcmp(s->bytes + first + (at - element), &value, n))
      continue;
    for (uint64_t i = 0; i < s->size; i++)
      shadow_store(r->shadow, element + i, 1, s->bytes[first + i],
                   s->exprs[first + i]);
    return true;
  }
  return false;
}

Expr sort_load(Replay *r, uint64_t at, unsigned n, uint64_t value) {
  Sort *s = &r->sort;
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t e = s->elements[i];
    uint8_t known;
    if (!e || at - e >= s->size || n > s->size - (at - e) ||
        shadow_byte(r->shadow, at, &known))
      continue;
    if (recognise(r, e, at, n, value))
      return shadow_load(r->shadow, at, n, value);
  }
  return 0;
}

bool sort_end(Replay *r, uint64_t at, const uint8_t *bytes, uint64_t n) {
  Sort *s = &r->sort;
  if (!s->count || s->base != at || s->count * s->size != n ||
      r->frames.len != s->depth)
    return false;
  bool *used = mem_array(bool, s->count);
  for (uint64_t i = 0; i < s->count; i++) {
    const uint8_t *element = bytes + i * s->size;
    uint64_t k = 0;
    while (k < s->count &&
           (used[k] || memcmp(s->bytes + k * s->size, element, s->size)))
      k++;
    if (k < s->count)
      used[k] = true;
    for (uint64_t j = 0; j < s->size; j++)
      shadow_store(r->shadow, at + i * s->size + j, 1, element[j],
                   k < s->count ? s->exprs[k * s->size + j] : 0);
  }
  free(used);
  forget(s);
  return true;
}

// Done when the bytes came: see sort_end.
bool model_qsort(Replay *r, ModelCall *c) {
  if (r->sort.count && r->frames.len == r->sort.depth)
    forget(&r->sort);
  for (uint32_t i = 0; i < 3; i++)
    model_fixed(r, c, i);
  return true;
}

// What it found was decided by the results of its callback, which are on the
// path, if the callback is one of ours.
bool model_bsearch(Replay *r, ModelCall *c) {
  return program_function_at(r->program, model_arg(c, 4).value) != IR_NONE;
}
