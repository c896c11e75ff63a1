// Makes the failing input smaller, as long as the failure is the same: whole
// arguments are left out, then standard input and files lose lines, then large
// pieces, then bytes, and arguments lose bytes. If the failure is an exit
// status and nothing else, arguments are left alone: a program called wrongly
// ends with the same one. Every run on the way is a test of the session.
#include <stdlib.h>
#include <string.h>

#include "input/made.h"
#include "input/search.h"
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
  InputSearch *search;
  Way way;
  size_t source;
  const Inputs *from;
  ARRAY(size_t) start;
  Err *err;
  bool failed;
} Cut;

static void cut_lines(Cut *c, const InputSource *source) {
  array_push(&c->start, 0);
  for (size_t i = 0; i < source->size; i++)
    if (source->bytes[i] == '\n' && i + 1 < source->size)
      array_push(&c->start, i + 1);
  array_push(&c->start, source->size);
}

static void cut_evenly(Cut *c, const InputSource *source, size_t pieces) {
  for (size_t i = 0; i <= pieces; i++)
    array_push(&c->start, source->size * i / pieces);
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
  const InputSource *source = &c->from->sources.items[c->source];
  if (c->way == BY_LINES)
    cut_lines(c, source);
  else
    cut_evenly(c, source, c->way == BY_PIECES ? PIECES : source->size);
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
static void keep_trial(InputSearch *s, CutTrial trial) {
  if (s->trials.len == TRIALS_KEPT) {
    inputs_release(&s->trials.items[0].inputs);
    s->trials.len--;
    memmove(s->trials.items, s->trials.items + 1,
            s->trials.len * sizeof *s->trials.items);
  }
  array_push(&s->trials, trial);
}

static bool still_fails(void *ctx, const bool *keep, size_t n) {
  Cut *c = ctx;
  InputResult result = {0};
  (void)n;
  if (c->failed || !search_goes_on(c->search))
    return false;
  Inputs trial = {0};
  join(c, keep, &trial);
  unsigned number = c->search->number;
  c->search->stats.reduction++;
  c->failed =
      search_run_inputs(c->search, "reduced", &trial, 1, &result, c->err) != 0;
  if (result.shows || c->failed)
    inputs_release(&trial);
  else
    keep_trial(c->search, (CutTrial){number, trial, result.verdict});
  return result.shows;
}

// One pass over one source, or over the arguments; the search's input becomes
// what is left.
static int reduce_by(InputSearch *s, size_t source, Way way, size_t *budget,
                     Err *err) {
  Cut c = {
      .search = s, .way = way, .source = source, .from = &s->given, .err = err};
  size_t n = count_parts(&c);
  bool *keep = mem_array(bool, n + 1);
  memset(keep, 1, n);
  bool all = n > 1 || way == BY_BYTES;
  size_t left = all ? ddmin(n, keep, still_fails, &c, budget) : n;
  if (!c.failed && left < n) {
    Inputs smaller = {0};
    join(&c, keep, &smaller);
    inputs_release(&s->given);
    s->given = smaller;
  }
  free(keep);
  array_release(&c.start);
  return c.failed ? -1 : 0;
}

static size_t size_at(const InputSearch *s, size_t source) {
  return s->given.sources.items[source].size;
}

// Pieces as long as that helps, then bytes.
static int reduce_bytes(InputSearch *s, size_t source, size_t *budget,
                        Err *err) {
  size_t before = SIZE_MAX;
  while (size_at(s, source) > BYTES_MAX && size_at(s, source) < before) {
    before = size_at(s, source);
    if (reduce_by(s, source, BY_PIECES, budget, err))
      return -1;
  }
  if (size_at(s, source) > BYTES_MAX)
    return 0;
  return reduce_by(s, source, BY_BYTES, budget, err);
}

static bool has_lines(const InputSource *source) {
  return source->kind == INPUT_STDIN || source->kind == INPUT_FILE;
}

// An argument that names an input file is left alone.
static bool has_bytes(const InputSearch *s, const InputSource *source) {
  bool argument = source->kind == INPUT_ARG &&
                  !inputs_named(&s->given, source) && !s->vague;
  return source->size > 1 && (has_lines(source) || argument);
}

static int reduce_lines(InputSearch *s, size_t *budget, Err *err) {
  for (size_t i = 0; i < s->given.sources.len; i++)
    if (has_lines(&s->given.sources.items[i]) &&
        reduce_by(s, i, BY_LINES, budget, err))
      return -1;
  return 0;
}

static int reduce_all_bytes(InputSearch *s, size_t *budget, Err *err) {
  for (size_t i = 0; i < s->given.sources.len; i++)
    if (has_bytes(s, &s->given.sources.items[i]) &&
        reduce_bytes(s, i, budget, err))
      return -1;
  return 0;
}

int search_reduce(InputSearch *s, Err *err) {
  size_t budget = s->options.max_reduction;
  double whole = s->options.seconds, used = clock_now() - s->start;
  s->stats.bytes_before = s->stats.bytes_after = made_size(&s->given);
  if (s->options.strategy->from_empty) // the failing input is not used
    return 0;
  s->options.seconds = used + (whole - used) / 3; // the rest is for exploring
  int rc = s->vague ? 0 : reduce_by(s, 0, BY_ARGUMENTS, &budget, err);
  if (!rc)
    rc = reduce_lines(s, &budget, err);
  if (!rc)
    rc = reduce_all_bytes(s, &budget, err);
  s->options.seconds = whole;
  s->stats.bytes_after = made_size(&s->given);
  return rc;
}
