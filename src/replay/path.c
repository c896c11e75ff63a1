// The path of a replayed run: showing it, and from a solution of a query about
// it to the input of another run. See replay.h.
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

const char *path_kind_name(PathKind kind) {
  static const char *const names[] = {"branch", "switch", "address", "libc",
                                      "divide", "bounds", "eof"};
  return kind < PATH_KINDS ? names[kind] : "?";
}

const char *stop_kind_name(StopKind kind) {
  static const char *const names[] = {"end", "crash", "call", "cut", "limit"};
  return kind <= STOP_LIMIT ? names[kind] : "?";
}

void path_release(Path *p) {
  array_release(&p->events);
  array_release(&p->stats.losses);
  array_release(&p->first_var);
  array_release(&p->size_var);
}

void path_show_losses(const Path *p, Str *out) {
  for (size_t i = 0; i < p->stats.losses.len; i++) {
    const PathLoss *l = &p->stats.losses.items[i];
    str_add(out, i ? "; " : "precision lost at: ");
    if (l->count == 1)
      str_addf(out, "%s, once", l->name);
    else
      str_addf(out, "%s, %llu times", l->name, (unsigned long long)l->count);
  }
}

void path_show(const Path *p, const Program *program, const ExprPool *pool,
               Str *out) {
  for (size_t i = 0; i < p->events.len; i++) {
    const PathEvent *e = &p->events.items[i];
    uint32_t line = 0;
    const char *file = e->place < program->places.len
                           ? program_place(program, e->place, &line)
                           : "";
    const char *slash = strrchr(file, '/');
    str_addf(out, "%s:%u %s ", slash ? slash + 1 : file, line,
             path_kind_name(e->kind));
    expr_show_outcome(pool, e->cond, e->outcome, 0, out);
    str_addc(out, '\n');
  }
}

// --- from a solution to an input
// ----------------------------------------------

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
