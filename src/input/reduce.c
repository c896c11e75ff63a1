// Makes the failing input smaller, as long as the failure is the same: whole
// arguments are left out, then standard input and files lose lines, then large
// pieces, then bytes, and arguments lose bytes. If the failure is an exit
// status and nothing else, arguments are left alone: a program called wrongly
// ends with the same one. Every run on the way is a test of the session.
#include <stdlib.h>
#include <string.h>

#include "input/explore.h"
#include "process/process.h"
#include "util/clock.h"
#include "util/ddmin.h"
#include "util/mem.h"

enum {
  BYTES_MAX = 512, // an input above that is first cut into
  PIECES = 64      // so many pieces
};

typedef enum { BY_LINES, BY_PIECES, BY_BYTES, BY_ARGUMENTS } Way;

// A source cut into parts: part i is bytes[start[i] .. start[i + 1]). Or the
// list of arguments: part i is the i-th.
typedef struct {
  Explorer *explorer;
  Way way;
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

static size_t count_arguments(const Inputs *in) {
  size_t n = 0;
  for (size_t i = 0; i < in->sources.len; i++)
    n += in->sources.items[i].kind == INPUT_ARG;
  return n;
}

static size_t count_parts(Cut *c) {
  if (c->way == BY_ARGUMENTS)
    return count_arguments(c->from);
  const InputSource *s = &c->from->sources.items[c->source];
  if (c->way == BY_LINES)
    cut_lines(c, s);
  else
    cut_evenly(c, s, c->way == BY_PIECES ? PIECES : s->size);
  return c->start.len - 1;
}

static bool *all_of(const Inputs *in) {
  bool *keep = mem_array(bool, in->sources.len + 1);
  memset(keep, 1, in->sources.len);
  return keep;
}

// The input with those arguments only; a file that no argument names any more
// stays, unread.
static void leave_out(const Cut *c, const bool *keep, Inputs *out) {
  bool *sources = all_of(c->from);
  size_t n = 0;
  for (size_t i = 0; i < c->from->sources.len; i++)
    if (c->from->sources.items[i].kind == INPUT_ARG)
      sources[i] = keep[n++];
  inputs_pick(out, c->from, sources);
  free(sources);
}

// The input with those parts only.
static void join(const Cut *c, const bool *keep, Inputs *out) {
  if (c->way == BY_ARGUMENTS) {
    leave_out(c, keep, out);
    return;
  }
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

// Takes the trial over.
static void keep_trial(Explorer *e, unsigned number, const Inputs *trial) {
  if (e->trials.len == TRIALS_KEPT) {
    inputs_release(&e->trials.items[0].inputs);
    e->trials.len--;
    memmove(e->trials.items, e->trials.items + 1,
            e->trials.len * sizeof *e->trials.items);
  }
  array_push(&e->trials, (CutTrial){number, *trial});
}

const Inputs *explore_trial(const Explorer *e, unsigned number) {
  for (size_t i = 0; i < e->trials.len; i++)
    if (e->trials.items[i].number == number)
      return &e->trials.items[i].inputs;
  return NULL;
}

static bool still_fails(void *ctx, const bool *keep, size_t n) {
  Cut *c = ctx;
  bool shows = false;
  (void)n;
  if (c->failed || !explore_goes_on(c->explorer))
    return false;
  Inputs trial = {0};
  join(c, keep, &trial);
  unsigned number = c->explorer->number;
  c->explorer->stats.reduction++;
  c->failed =
      explore_run(c->explorer, "reduced", &trial, 1, &shows, c->err) != 0;
  if (shows || c->failed)
    inputs_release(&trial);
  else
    keep_trial(c->explorer, number, &trial);
  return shows;
}

// One pass over one source, or over the arguments; the explorer's input becomes
// what is left.
static int reduce_by(Explorer *e, size_t source, Way way, size_t *budget,
                     Err *err) {
  Cut c = {.explorer = e,
           .way = way,
           .source = source,
           .from = &e->given,
           .err = err};
  size_t n = count_parts(&c);
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
    if (reduce_by(e, source, BY_PIECES, budget, err))
      return -1;
  }
  if (size_at(e, source) > BYTES_MAX)
    return 0;
  return reduce_by(e, source, BY_BYTES, budget, err);
}

static bool has_lines(const InputSource *s) {
  return s->kind == INPUT_STDIN || s->kind == INPUT_FILE;
}

// An argument that names an input file is left alone.
static bool has_bytes(const Explorer *e, const InputSource *s) {
  bool argument =
      s->kind == INPUT_ARG && !inputs_named(&e->given, s) && !e->vague;
  return s->size > 1 && (has_lines(s) || argument);
}

static int reduce_lines(Explorer *e, size_t *budget, Err *err) {
  for (size_t i = 0; i < e->given.sources.len; i++)
    if (has_lines(&e->given.sources.items[i]) &&
        reduce_by(e, i, BY_LINES, budget, err))
      return -1;
  return 0;
}

static int reduce_all_bytes(Explorer *e, size_t *budget, Err *err) {
  for (size_t i = 0; i < e->given.sources.len; i++)
    if (has_bytes(e, &e->given.sources.items[i]) &&
        reduce_bytes(e, i, budget, err))
      return -1;
  return 0;
}

static size_t size_of(const Inputs *in) {
  size_t n = 0;
  for (size_t i = 0; i < in->sources.len; i++)
    n += in->sources.items[i].size;
  return n;
}

int explore_reduce(Explorer *e, Err *err) {
  size_t budget = e->options.max_reduction;
  double whole = e->options.seconds, used = clock_now() - e->start;
  e->stats.bytes_before = e->stats.bytes_after = size_of(&e->given);
  if (e->options.strategy->from_empty) // the failing input is not looked at
    return 0;
  e->options.seconds = used + (whole - used) / 3; // the rest is for exploring
  int rc = e->vague ? 0 : reduce_by(e, 0, BY_ARGUMENTS, &budget, err);
  if (!rc)
    rc = reduce_lines(e, &budget, err);
  if (!rc)
    rc = reduce_all_bytes(e, &budget, err);
  e->options.seconds = whole;
  e->stats.bytes_after = size_of(&e->given);
  return rc;
}
