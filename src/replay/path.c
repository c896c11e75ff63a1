// From a solution of a query about a path to the input of another run: see
// replay.h.
#include <stdlib.h>

#include "replay/replay.h"

void path_release(Path *p) {
  array_release(&p->events);
  for (size_t i = 0; i < p->texts.len; i++)
    free(p->texts.items[i].text);
  array_release(&p->texts);
  array_release(&p->stats.losses);
  array_release(&p->first_var);
  array_release(&p->size_var);
}

static bool is_text(const InputSource *s) {
  return s->kind == INPUT_ARG || s->kind == INPUT_ENV;
}

static void apply_size(Inputs *in, size_t source, uint64_t size) {
  enum { LARGEST = 1 << 26 };
  if (!is_text(&in->sources.items[source]) && size <= LARGEST)
    inputs_resize(in, source, size, '0');
}

// `text`: all bytes that a text could have, its slack included.
static void apply_bytes(const Path *p, Inputs *in, size_t source,
                        const Binding *bindings, size_t n) {
  InputSource *s = &in->sources.items[source];
  VarId first = p->first_var.items[source];
  size_t room = s->size + (is_text(s) ? 1 + INPUT_SLACK : 0);
  uint8_t *bytes = mem_dup(s->bytes, room ? room : 1);
  bool any = false;
  for (size_t i = 0; i < n; i++)
    if (bindings[i].var - first < room) {
      bytes[bindings[i].var - first] = (uint8_t)bindings[i].value;
      any = true;
    }
  if (any)
    inputs_set(in, source, bytes, room);
  free(bytes);
}

void path_apply(const Path *p, const Inputs *from, const Model *m,
                Inputs *out) {
  inputs_copy(out, from);
  for (size_t s = 0; s < out->sources.len && s < p->first_var.len; s++) {
    apply_bytes(p, out, s, m->items, m->len);
    for (size_t i = 0; i < m->len; i++)
      if (m->items[i].var == p->size_var.items[s])
        apply_size(out, s, m->items[i].value);
  }
}
