// Tests without a recording: when the run of the given input cannot be replayed,
// or not in time, inputs that differ little from it (variations.h) and mutations
// (havoc.h) are run and judged all the same, so that there is something to
// compare with.
#include <stdlib.h>

#include "input/search_internal.h"
#include "input/variations.h"
#include "util/clock.h"
#include "util/mem.h"

enum { AT_ONCE = 8 };

// Inputs to start from: the given one, and those that reached something new.
typedef ARRAY(Inputs) NativeInputs;

static void release_all(NativeInputs *list) {
  for (size_t i = 0; i < list->len; i++)
    inputs_release(&list->items[i]);
  array_release(list);
}

static void mutate_some(InputSearch *s, const NativeInputs *from, size_t n,
                        Inputs *out) {
  const Inputs **list = mem_array(const Inputs *, from->len);
  for (size_t i = 0; i < from->len; i++)
    list[i] = &from->items[i];
  for (size_t i = 0; i < n; i++)
    mutate(&s->mutator, list, from->len, &out[i]);
  free(list);
}

static void note_results(InputSearch *s, const Inputs *inputs,
                         const InputResult *results, size_t n,
                         NativeInputs *from) {
  for (size_t i = 0; i < n; i++) {
    search_count_verdict(s, &results[i]);
    s->stats.guessed++;
    if (!results[i].fresh)
      continue;
    Inputs copy;
    inputs_copy(&copy, &inputs[i]);
    array_push(from, copy);
  }
}

// `first`: those that are left of the variations; the others are mutations.
static int run_some(InputSearch *s, InputVariations *first, size_t *next,
                    NativeInputs *from, Err *err) {
  Inputs inputs[AT_ONCE];
  InputResult results[AT_ONCE];
  size_t left = s->options.max_tests - s->planned, n = 0;
  size_t want = left < AT_ONCE ? left : AT_ONCE;
  for (; n < want && *next < first->len; n++)
    inputs_copy(&inputs[n], &first->items[(*next)++]);
  mutate_some(s, from, want - n, inputs + n);
  s->planned += want;
  int rc = search_run_inputs(s, "made", inputs, want, results, err);
  if (!rc)
    note_results(s, inputs, results, want, from);
  for (size_t i = 0; i < want; i++)
    inputs_release(&inputs[i]);
  return rc;
}

// Beyond the budget as well, by a quarter of it, if it is a budget at all.
static bool goes_on(const InputSearch *s, double start) {
  double now = clock_now(), whole = s->options.seconds;
  double more = whole >= 1 ? whole / 4 : 0;
  return !s->runner->interrupted && s->planned < s->options.max_tests &&
         (search_goes_on(s) || now - start < more);
}

int search_make_natively(InputSearch *s, Err *err) {
  NativeInputs from = {0};
  InputVariations first = {0};
  Inputs given;
  size_t next = 0;
  double start = clock_now();
  int rc = 0;
  inputs_copy(&given, &s->given);
  array_push(&from, given);
  variations_of(&s->given, &first);
  while (!rc && goes_on(s, start)) {
    rc = run_some(s, &first, &next, &from, err);
    if (!rc && s->options.after)
      rc = s->options.after(s->options.context, s, err);
  }
  for (size_t i = 0; i < first.len; i++)
    inputs_release(&first.items[i]);
  array_release(&first);
  release_all(&from);
  return rc;
}
