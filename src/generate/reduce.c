// Makes the failing input smaller: arguments are left alone; standard input and
// files lose lines, then large pieces, then bytes, as long as the failure is
// the same. Every run on the way is a test of the session.
#include <stdlib.h>
#include <string.h>

#include "generate/ddmin.h"
#include "generate/explore.h"
#include "util/mem.h"

enum {
  BYTES_MAX = 512, // an input above that is first cut into
  PIECES = 64      // so many pieces
};

typedef enum { BY_LINES, BY_PIECES, BY_BYTES } Way;

// A source cut into parts: part i is bytes[start[i] .. start[i + 1]).
typedef struct {
  Explorer *explorer;
  size_t source;
  const Inputs *from;
  ARRAY(size_t) start;
  Err *err;
  bool failed;
} Cut;

static void cut_lines(Cut *c, const InputSource *s) {
  array_push(&c->start, 0);
  for (size_t i = 0; i < s->size; i++)
    if (s->bytes[i] == '\n' && i + 1 < s->size)
      array_push(&c->start, i + 1);
  array_push(&c->start, s->size);
}

static void cut_evenly(Cut *c, const InputSource *s, size_t pieces) {
  for (size_t i = 0; i <= pieces; i++)
    array_push(&c->start, s->size * i / pieces);
}

static void cut(Cut *c, Way way) {
  const InputSource *s = &c->from->sources.items[c->source];
  if (way == BY_LINES)
    cut_lines(c, s);
  else
    cut_evenly(c, s, way == BY_PIECES ? PIECES : s->size);
}

// The input with those parts only.
static void join(const Cut *c, const bool *keep, Inputs *out) {
  inputs_copy(out, c->from);
  const InputSource *from = &c->from->sources.items[c->source];
  InputSource *to = &out->sources.items[c->source];
  size_t n = 0;
  for (size_t i = 0; i + 1 < c->start.len; i++) {
    size_t at = c->start.items[i], size = c->start.items[i + 1] - at;
    if (!keep[i])
      continue;
    memcpy(to->bytes + n, from->bytes + at, size);
    n += size;
  }
  inputs_resize(out, c->source, n, 0);
}

static bool still_fails(void *ctx, const bool *keep, size_t n) {
  Cut *c = ctx;
  bool shows = false;
  (void)n;
  if (c->failed || !explore_goes_on(c->explorer))
    return false;
  Inputs trial = {0};
  join(c, keep, &trial);
  c->explorer->stats.reduction++;
  c->failed =
      explore_run(c->explorer, "reduced", &trial, 1, &shows, c->err) != 0;
  inputs_release(&trial);
  return shows;
}

// One pass over one source; the explorer's input becomes what is left.
static int reduce_source(Explorer *e, size_t source, Way way, size_t *budget,
                         Err *err) {
  Cut c = {.explorer = e, .source = source, .from = &e->given, .err = err};
  cut(&c, way);
  size_t n = c.start.len - 1;
  bool *keep = mem_array(bool, n + 1);
  memset(keep, 1, n);
  bool all = n > 1 || way == BY_BYTES;
  size_t left = all ? ddmin(n, keep, still_fails, &c, budget) : n;
  if (!c.failed && left < n) {
    Inputs smaller = {0};
    join(&c, keep, &smaller);
    inputs_release(&e->given);
    e->given = smaller;
  }
  free(keep);
  array_release(&c.start);
  return c.failed ? -1 : 0;
}

static size_t size_at(const Explorer *e, size_t source) {
  return e->given.sources.items[source].size;
}

// Pieces as long as that helps, then bytes.
static int reduce_bytes(Explorer *e, size_t source, size_t *budget, Err *err) {
  size_t before = SIZE_MAX;
  while (size_at(e, source) > BYTES_MAX && size_at(e, source) < before) {
    before = size_at(e, source);
    if (reduce_source(e, source, BY_PIECES, budget, err))
      return -1;
  }
  if (size_at(e, source) > BYTES_MAX)
    return 0;
  return reduce_source(e, source, BY_BYTES, budget, err);
}

static bool can_shrink(const InputSource *s) {
  return (s->kind == INPUT_STDIN || s->kind == INPUT_FILE) && s->size > 1;
}

static size_t size_of(const Inputs *in) {
  size_t n = 0;
  for (size_t i = 0; i < in->sources.len; i++)
    n += in->sources.items[i].size;
  return n;
}

int explore_reduce(Explorer *e, Err *err) {
  size_t budget = e->options.max_reduction;
  double whole = e->options.seconds;
  e->stats.bytes_before = e->stats.bytes_after = size_of(&e->given);
  e->options.seconds = whole / 3; // the rest is for exploring
  int rc = 0;
  for (size_t i = 0; !rc && i < e->given.sources.len; i++) {
    if (!can_shrink(&e->given.sources.items[i]))
      continue;
    rc = reduce_source(e, i, BY_LINES, &budget, err);
    if (!rc)
      rc = reduce_bytes(e, i, &budget, err);
  }
  e->options.seconds = whole;
  e->stats.bytes_after = size_of(&e->given);
  return rc;
}
