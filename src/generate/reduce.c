// Makes the failing input smaller: arguments are left alone, standard input and
// files lose lines, then bytes, as long as the failure is the same. Every run
// on the way is a test of the session.
#include <stdlib.h>
#include <string.h>

#include "generate/ddmin.h"
#include "generate/explore.h"
#include "util/mem.h"

enum { BYTES_MAX = 2000 }; // beyond that, lines only

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

static void cut_bytes(Cut *c, const InputSource *s) {
  for (size_t i = 0; i <= s->size; i++)
    array_push(&c->start, i);
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
static int reduce_source(Explorer *e, size_t source, bool lines, size_t *budget,
                         Err *err) {
  const InputSource *s = &e->given.sources.items[source];
  Cut c = {.explorer = e, .source = source, .from = &e->given, .err = err};
  if (lines)
    cut_lines(&c, s);
  else
    cut_bytes(&c, s);
  size_t n = c.start.len - 1;
  bool *keep = mem_array(bool, n + 1);
  memset(keep, 1, n);
  size_t left = n > 1 || !lines ? ddmin(n, keep, still_fails, &c, budget) : n;
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
    rc = reduce_source(e, i, true, &budget, err);
    if (!rc && e->given.sources.items[i].size <= BYTES_MAX)
      rc = reduce_source(e, i, false, &budget, err);
  }
  e->options.seconds = whole;
  e->stats.bytes_after = size_of(&e->given);
  return rc;
}
