// Inputs that differ little from one: see variations.h.
#include "input/variations.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/str.h"

enum { NUMBERS_MOST = 8, DIGITS_MOST = 15 };

// A number in the bytes of a source.
typedef struct {
  size_t at, size;
  long long value;
} NumberAt;

static bool is_full(const InputVariations *out) {
  return out->len >= VARIATIONS_MOST;
}

// --- numbers ----------------------------------------------------------------

// The first number from `at` on.
static bool find_number(const InputSource *s, size_t at, NumberAt *out) {
  const char *text = (const char *)s->bytes;
  while (at < s->size && !isdigit((unsigned char)text[at]))
    at++;
  if (at >= s->size)
    return false;
  size_t end = at;
  while (end < s->size && isdigit((unsigned char)text[end]))
    end++;
  if (at && text[at - 1] == '-' &&
      (at < 2 || !isalnum((unsigned char)text[at - 2])))
    at--;
  *out = (NumberAt){.at = at, .size = end - at};
  if (out->size <= DIGITS_MOST)
    out->value = strtoll(text + at, NULL, 10);
  return true;
}

static void replace_number(const Inputs *in, size_t source, const NumberAt *n,
                           long long value, InputVariations *out) {
  const InputSource *s = &in->sources.items[source];
  Str bytes = {0};
  Inputs made;
  if (value == n->value || is_full(out))
    return;
  str_addn(&bytes, s->bytes, n->at);
  str_addf(&bytes, "%lld", value);
  str_addn(&bytes, s->bytes + n->at + n->size, s->size - n->at - n->size);
  inputs_copy(&made, in);
  inputs_set(&made, source, str_text(&bytes), bytes.len);
  array_push(out, made);
  str_release(&bytes);
}

static void vary_numbers(const Inputs *in, size_t source,
                         InputVariations *out) {
  const InputSource *s = &in->sources.items[source];
  NumberAt n;
  size_t at = 0;
  for (size_t i = 0; i < NUMBERS_MOST && find_number(s, at, &n); i++) {
    at = n.at + n.size;
    if (n.size > DIGITS_MOST)
      continue;
    replace_number(in, source, &n, n.value + 1, out);
    replace_number(in, source, &n, n.value - 1, out);
    replace_number(in, source, &n, 0, out);
    replace_number(in, source, &n, -n.value, out);
    replace_number(in, source, &n, 2 * n.value, out);
  }
}

// --- arguments and text -----------------------------------------------------

static void exchange(const Inputs *in, size_t a, size_t b,
                     InputVariations *out) {
  const InputSource *x = &in->sources.items[a], *y = &in->sources.items[b];
  Inputs made;
  if (is_full(out))
    return;
  inputs_copy(&made, in);
  inputs_set(&made, a, y->bytes, y->size);
  inputs_set(&made, b, x->bytes, x->size);
  array_push(out, made);
}

static void leave_out(const Inputs *in, size_t source, InputVariations *out) {
  bool *keep = mem_array(bool, in->sources.len + 1);
  Inputs made;
  for (size_t i = 0; i < in->sources.len; i++)
    keep[i] = i != source;
  inputs_pick(&made, in, keep);
  array_push(out, made);
  free(keep);
}

static void cut(const Inputs *in, size_t source, size_t size,
                InputVariations *out) {
  Inputs made;
  if (size >= in->sources.items[source].size || is_full(out))
    return;
  inputs_copy(&made, in);
  inputs_resize(&made, source, size, 0);
  array_push(out, made);
}

static void vary_text(const Inputs *in, size_t source, InputVariations *out) {
  const InputSource *s = &in->sources.items[source];
  size_t line = s->size;
  cut(in, source, s->size ? s->size - 1 : 0, out);
  while (line > 1 && s->bytes[line - 2] != '\n')
    line--;
  cut(in, source, line ? line - 1 : 0, out);
}

void variations_of(const Inputs *in, InputVariations *out) {
  size_t last = SIZE_MAX;
  InputVariations own = {0};
  for (size_t i = 0; i < in->sources.len; i++)
    if (in->sources.items[i].kind != INPUT_ENV &&
        !inputs_named(in, &in->sources.items[i]))
      vary_numbers(in, i, &own);
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    bool argument = s->kind == INPUT_ARG && !inputs_named(in, s);
    if (argument && last != SIZE_MAX)
      exchange(in, last, i, &own);
    if (argument)
      last = i;
    else if (s->kind == INPUT_STDIN || s->kind == INPUT_FILE)
      vary_text(in, i, &own);
  }
  if (last != SIZE_MAX)
    leave_out(in, last, &own);
  for (size_t i = 0; i < own.len; i++)
    array_push(out, own.items[i]);
  array_release(&own);
}
