// Verdicts of the tests inside a test: see segment_verdict.h.
#include "run/segment_verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/failure.h"
#include "oracle/message.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"

enum { OUTPUT_MOST = 64 << 20, SIBLINGS = 3 };

typedef struct {
  const char *text;
  size_t n;
} Slice;

// What is between two places; a place that is not known is the text's end.
static Slice cut(const Str *text, int64_t from, int64_t to) {
  size_t begin = from < 0 ? text->len : (size_t)from;
  size_t end = to < 0 || (size_t)to > text->len ? text->len : (size_t)to;
  begin = begin < end ? begin : end;
  return (Slice){str_text(text) + begin, end - begin};
}

static bool is_over(const Segment *s) {
  return s->returned.out >= 0 || s->returned.err >= 0 || s->has_result;
}

// --- blaming ----------------------------------------------------------------

// The process ended while it ran, however.
static bool blame_end(const Segments *s, bool *blamed) {
  bool any = false;
  for (size_t i = 0; i < s->len; i++) {
    const Segment *g = &s->items[i];
    blamed[i] = g->died || (*g->name && g->last && !is_over(g));
    any |= blamed[i];
  }
  return any;
}

// How many returned the same as the i-th?
static size_t same_result(const Segments *s, size_t i) {
  size_t n = 0;
  for (size_t k = 0; k < s->len; k++)
    n += s->items[k].has_result && s->items[k].result == s->items[i].result;
  return n;
}

static bool blame_results(const Segments *s, bool *blamed) {
  size_t n = 0, usual = 0, most = 0;
  bool any = false;
  for (size_t i = 0; i < s->len; i++) {
    size_t same = s->items[i].has_result ? same_result(s, i) : 0;
    n += s->items[i].has_result;
    if (same > most) {
      most = same;
      usual = i;
    }
  }
  if (n < SIBLINGS || most * 2 <= n)
    return false;
  for (size_t i = 0; i < s->len; i++) {
    const Segment *g = &s->items[i];
    blamed[i] = g->has_result && g->result != s->items[usual].result;
    any |= blamed[i];
  }
  return any;
}

// What the driver of the tests writes after one, before the next, is about it.
// Processes say nothing of their own: the script writes when one is over.
static bool says_failed(const Segment *g, const Str *out, const Str *err,
                        const regex_t *also) {
  Slice o = cut(out, g->begin.out, g->end.out);
  Slice e = cut(err, g->begin.err, g->end.err);
  return message_says_failed(o.text, o.n, also) ||
         message_says_failed(e.text, e.n, also);
}

// A script that keeps its output back until it ends tells nothing about its
// processes: some of it must have come in between.
static bool is_in_time(const Segments *s) {
  int64_t first_out = s->items[0].begin.out, first_err = s->items[0].begin.err;
  for (size_t i = 1; i < s->len; i++)
    if (s->items[i].begin.out > first_out || s->items[i].begin.err > first_err)
      return true;
  return false;
}

static bool blame_output(const Segments *s, const Str *out, const Str *err,
                         const regex_t *also, bool *blamed) {
  bool any = false, processes = !*s->items[0].name && !s->items[0].has_result;
  if (processes && !is_in_time(s))
    return false;
  for (size_t i = 0; i < s->len; i++) {
    const Segment *g = &s->items[i];
    blamed[i] = says_failed(g, out, err, also);
    if (blamed[i] && g->overlaps)
      return false; // it may be another one's
    any |= blamed[i];
  }
  return any;
}

// --- failures ---------------------------------------------------------------

static void copy_failures(const Run *whole, Run *run) {
  for (size_t i = 0; i < whole->failures.len; i++) {
    const Failure *f = &whole->failures.items[i];
    failure_add(run, f->kind, f->place, f->signature, f->message);
  }
}

// In its own words, or by what it returned.
static void add_failure(Segment *g, const Str *out, const Str *err) {
  Slice e = cut(err, g->begin.err, g->end.err);
  Slice o = cut(out, g->begin.out, g->end.out);
  Message m;
  Str text = {0};
  str_addn(&text, o.text, o.n);
  str_addn(&text, e.text, e.n);
  if (message_find(str_text(&text), text.len, false, &m)) {
    failure_add(&g->run, "exit", m.place, m.signature, m.line);
    message_release(&m);
  } else {
    char *message = mem_printf("returned %" PRId64, g->result);
    failure_add(&g->run, "exit", "", NULL, message);
    free(message);
  }
  str_release(&text);
}

static bool has_ended_by_itself(const Run *whole) {
  for (size_t i = 0; i < whole->failures.len; i++)
    if (strcmp(whole->failures.items[i].kind, "exit"))
      return false;
  return true;
}

// Which of them ended the process, and which failed otherwise.
typedef struct {
  bool *ended, *failed;
} Blame;

static bool find_blame(const Segments *s, const Run *whole, const Str *out,
                       const Str *err, const regex_t *also, Blame *b) {
  bool ended = blame_end(s, b->ended);
  if (!ended && !has_ended_by_itself(whole))
    return false;
  if (blame_results(s, b->failed) || blame_output(s, out, err, also, b->failed))
    return true;
  memset(b->failed, 0, s->len * sizeof *b->failed);
  return ended;
}

static void blame_all(Segments *s, const Run *whole, const Str *out,
                      const Str *err, const Blame *b) {
  for (size_t i = 0; i < s->len; i++) {
    Run *run = &s->items[i].run;
    run->verdict = b->ended[i] || b->failed[i] ? VERDICT_FAIL : VERDICT_PASS;
    if (b->ended[i] && !has_ended_by_itself(whole))
      copy_failures(whole, run);
    else if (run->verdict == VERDICT_FAIL)
      add_failure(&s->items[i], out, err);
  }
}

bool segments_judge(Segments *s, const Run *whole, const Trial *t,
                    const regex_t *also) {
  if (whole->verdict == VERDICT_PASS) {
    for (size_t i = 0; i < s->len; i++)
      s->items[i].run.verdict = VERDICT_PASS;
    return true;
  }
  if (whole->verdict != VERDICT_FAIL)
    return false;
  Str out = {0}, err = {0};
  Err ignored;
  Blame b = {mem_array(bool, s->len + 1), mem_array(bool, s->len + 1)};
  fs_read_regular(t->out, OUTPUT_MOST, &out, &ignored);
  if (!t->merged)
    fs_read_regular(t->err, OUTPUT_MOST, &err, &ignored);
  bool any = find_blame(s, whole, &out, &err, also, &b);
  if (any)
    blame_all(s, whole, &out, &err, &b);
  free(b.ended);
  free(b.failed);
  str_release(&out);
  str_release(&err);
  return any;
}

// --- names ------------------------------------------------------------------

void segments_name(Segments *s, const char *name) {
  Hashmap seen = {0};
  Str test = {0};
  for (size_t i = 0; i < s->len; i++) {
    Segment *g = &s->items[i];
    uint64_t n = 0;
    str_clear(&test);
    if (name)
      str_addf(&test, "%s/", name);
    if (*g->name)
      str_add(&test, g->name);
    else
      str_addf(&test, "%zu", i + 1);
    if (hashmap_get(&seen, test.data, test.len, &n)) {
      hashmap_put(&seen, test.data, test.len, n + 1);
      str_addf(&test, "#%" PRIu64, n + 1);
    } else {
      hashmap_put(&seen, test.data, test.len, 1);
    }
    free(g->run.test);
    g->run.test = mem_strdup(test.data);
  }
  hashmap_release(&seen);
  str_release(&test);
}
