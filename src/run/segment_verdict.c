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
} OutputPart;

// What is between two places; a place that is not known is the text's end.
static OutputPart cut(const Str *text, int64_t from, int64_t to) {
  size_t begin = from < 0 ? text->len : (size_t)from;
  size_t end = to < 0 || (size_t)to > text->len ? text->len : (size_t)to;
  begin = begin < end ? begin : end;
  return (OutputPart){str_text(text) + begin, end - begin};
}

// --- blaming ----------------------------------------------------------------

// Which of them failed, and in which words of the framework (NULL: it names
// none). `died`: by the end of their process.
typedef struct {
  bool *died, *failed;
  char **words;
} Blame;

typedef struct {
  const Str *out, *err;
  const regex_t *also; // lines that say so too; NULL: none
  const char *root;    // places are relative to it
} BlameSources;

// Its process ended in it. `left`: or perhaps the test jumped out of itself.
static bool blame_end(const Segments *s, bool left, bool *blamed) {
  bool any = false;
  for (size_t i = 0; i < s->len; i++) {
    const Segment *g = &s->items[i];
    blamed[i] = g->died || (left && *g->name && g->last && !g->returned);
    any |= blamed[i];
  }
  return any;
}

typedef struct {
  TapLine says;
  char *line; // that says so; NULL: none
} LastTap;

static bool keep_tap(void *last, const char *line) {
  LastTap *l = last;
  TapLine t = message_tap(line);
  if (t != TAP_NOTHING) {
    free(l->line);
    *l = (LastTap){t, mem_strdup(line)};
  }
  return true;
}

// The line of TAP that reports a check.
static LastTap tap_of(const Segment *g, const Str *out) {
  LastTap l = {TAP_NOTHING, NULL};
  OutputPart o = cut(out, g->begin.out, g->end.out);
  if (g->tap)
    message_lines(o.text, o.n, keep_tap, &l);
  return l;
}

// The verdict of its framework. False: it says nothing.
static bool framework_verdict(const Segment *g, const Str *out, Verdict *v) {
  TapLine t = TAP_NOTHING;
  if (g->has_verdict)
    t = g->result == SEGMENT_PASSED    ? TAP_OK
        : g->result == SEGMENT_SKIPPED ? TAP_SKIPPED
                                       : TAP_NOT_OK;
  LastTap l = tap_of(g, out);
  t = l.line ? l.says : t;
  free(l.line);
  *v = t == TAP_SKIPPED ? VERDICT_SKIP
       : t == TAP_OK    ? VERDICT_PASS
                        : VERDICT_FAIL;
  return t != TAP_NOTHING;
}

static bool blame_verdicts(const Segments *s, const Str *out, bool *blamed) {
  bool any = false;
  for (size_t i = 0; i < s->len; i++) {
    Verdict v;
    blamed[i] = framework_verdict(&s->items[i], out, &v) && v == VERDICT_FAIL;
    any |= blamed[i];
  }
  return any;
}

// --- by name ----------------------------------------------------------------

typedef struct {
  const Segments *segments;
  Blame *blame;
  bool any, unclear;
} Naming;

// Several of the same name: the one of that iteration, if it is said.
static void blame_named(Naming *n, const char *name, long iteration,
                        const char *line) {
  size_t same = 0, chosen = 0;
  for (size_t i = 0; i < n->segments->len; i++) {
    if (strcmp(n->segments->items[i].name, name) != 0)
      continue;
    if (!same || (long)same == iteration)
      chosen = i;
    same++;
  }
  if (!same)
    return;
  n->unclear |= same > 1 && (iteration < 0 || (size_t)iteration >= same);
  n->any = n->blame->failed[chosen] = true;
  free(n->blame->words[chosen]);
  n->blame->words[chosen] = mem_strdup(line);
}

static bool take_line(void *naming, const char *line) {
  char *name;
  long iteration;
  if (message_names_failed(line, &name, &iteration)) {
    blame_named(naming, name, iteration, line);
    free(name);
  }
  return true;
}

// The framework says which of its tests failed, perhaps only in the end.
static bool blame_names(const Segments *s, const BlameSources *e, Blame *b) {
  Naming n = {s, b, false, false};
  message_lines(str_text(e->out), e->out->len, take_line, &n);
  message_lines(str_text(e->err), e->err->len, take_line, &n);
  return n.any && !n.unclear;
}

// --- skipped ----------------------------------------------------------------

typedef struct {
  const Segments *segments;
  size_t only; // the segment that wrote it; SIZE_MAX: it may be any one's
  bool *skipped;
} Skipping;

// A name that several have says nothing, unless it is known who wrote it.
static bool take_skipped(void *skipping, const char *line) {
  Skipping *k = skipping;
  char *name;
  if (!message_names_skipped(line, &name))
    return true;
  size_t same = 0, chosen = 0;
  for (size_t i = 0; i < k->segments->len; i++)
    if (!strcmp(k->segments->items[i].name, name) &&
        (k->only == SIZE_MAX || k->only == i)) {
      same++;
      chosen = i;
    }
  if (same == 1)
    k->skipped[chosen] = true;
  free(name);
  return true;
}

// Those that the framework says it has skipped, by name.
static void find_skipped(const Segments *s, const BlameSources *e,
                         bool *skipped) {
  Skipping k = {s, SIZE_MAX, skipped};
  message_lines(str_text(e->out), e->out->len, take_skipped, &k);
  message_lines(str_text(e->err), e->err->len, take_skipped, &k);
  for (k.only = 0; k.only < s->len; k.only++) {
    const Segment *g = &s->items[k.only];
    OutputPart out = cut(e->out, g->begin.out, g->end.out);
    OutputPart err = cut(e->err, g->begin.err, g->end.err);
    if (*g->name && !g->overlaps && !skipped[k.only]) {
      message_lines(out.text, out.n, take_skipped, &k);
      message_lines(err.text, err.n, take_skipped, &k);
    }
  }
}

// --- by result and output ---------------------------------------------------

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
// After the last one, it must name a place: what sums up all names none.
static bool text_blames(const Segment *g, const Str *text, int64_t begin,
                        int64_t done, int64_t end, const regex_t *also) {
  bool ended = g->last && g->returned && done >= 0;
  OutputPart own = cut(text, begin, ended ? done : end);
  if (message_says_failed(own.text, own.n, also))
    return true;
  OutputPart after = cut(text, done, end);
  return ended && message_blames_place(after.text, after.n);
}

static bool says_failed(const Segment *g, const BlameSources *v) {
  return text_blames(g, v->out, g->begin.out, g->done.out, g->end.out,
                     v->also) ||
         text_blames(g, v->err, g->begin.err, g->done.err, g->end.err, v->also);
}

static bool is_of_processes(const Segments *s) {
  return !*s->items[0].name && !s->items[0].returned;
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

// Some drivers sum up every test: those that count a failure for most of them
// sum up all that came before, too.
static bool blame_counts(const Segments *s, const BlameSources *v,
                         bool *blamed) {
  size_t n = 0;
  for (size_t i = 0; i < s->len; i++) {
    const Segment *g = &s->items[i];
    OutputPart o = cut(v->out, g->begin.out, g->end.out);
    blamed[i] =
        !g->last && !g->overlaps && message_counts_failures(o.text, o.n);
    n += blamed[i];
  }
  return n && n * 2 < s->len;
}

// The mark that the runner wrote after the i-th process, "." or "F", as Python's
// unittest does; '\0': it wrote something else. What it writes after the last one
// is a report.
static char mark_of(const Segments *s, size_t i, const Str *text, bool err) {
  const Segment *g = &s->items[i];
  OutputPart o = cut(text, err ? g->begin.err : g->begin.out,
                     err ? g->end.err : g->end.out);
  bool only = o.n == 1 || (o.n > 1 && (i + 1 == s->len || o.text[1] == '\n'));
  return only && strchr(".FEsx", o.text[0]) ? o.text[0] : '\0';
}

// Every process has a mark, and some mean failure. The reports at the end are
// not laid against them, unless there is only one.
static bool blame_marks(const Segments *s, const Str *text, bool err,
                        Blame *b) {
  size_t failed = 0, at = 0;
  for (size_t i = 0; i < s->len; i++) {
    char mark = s->items[i].overlaps ? '\0' : mark_of(s, i, text, err);
    if (!mark)
      return false;
    b->failed[i] = mark == 'F' || mark == 'E';
    failed += b->failed[i];
    at = b->failed[i] ? i : at;
  }
  Message m;
  if (failed == 1 && message_find(str_text(text), text->len, false, &m)) {
    b->words[at] = mem_strdup(m.text);
    message_release(&m);
  }
  for (size_t i = 0; failed > 1 && i < s->len; i++)
    if (b->failed[i])
      b->words[i] = mem_strdup("FAIL: so its runner says");
  return failed > 0;
}

static bool blame_output(const Segments *s, const BlameSources *e,
                         bool *blamed) {
  bool any = false;
  if (is_of_processes(s) && !is_in_time(s))
    return false;
  for (size_t i = 0; i < s->len; i++) {
    const Segment *g = &s->items[i];
    blamed[i] = says_failed(g, e);
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
    Failure *copy = &array_last(&run->failures);
    copy->excerpt = f->excerpt ? mem_strdup(f->excerpt) : NULL;
    copy->output = f->output ? mem_strdup(f->output) : NULL;
  }
}

// What a segment wrote, without what sums all of them up.
static void own_words(const Segment *g, const BlameSources *v, Str *text) {
  OutputPart o = cut(v->out, g->begin.out, g->end.out);
  OutputPart e = cut(v->err, g->begin.err, g->end.err);
  if (g->overlaps)
    return;
  str_addn(text, o.text, g->last ? message_summary(o.text, o.n) : o.n);
  str_addn(text, e.text, g->last ? message_summary(e.text, e.n) : e.n);
}

// In its own words, those of its framework, by its death or its result.
static void add_failure(Segment *g, const BlameSources *e, const char *words) {
  Message m;
  Str text = {0};
  own_words(g, e, &text);
  bool says = message_says_failed(str_text(&text), text.len, e->also);
  if (!says && (words || g->died))
    str_clear(&text);
  if (!says && words)
    str_add(&text, words);
  if (message_find(str_text(&text), text.len, false, &m)) {
    failure_add(&g->run, "exit", m.place, m.signature, m.line);
    failure_add_words(&g->run, text.data, text.len, &m);
    message_release(&m);
  } else {
    char *message = g->has_result ? mem_printf("returned %" PRId64, g->result)
                                  : mem_strdup("ended the process");
    failure_add_exit(&g->run, e->root, NULL, message);
    free(message);
  }
  str_release(&text);
}

// The test ended with a status of its own, though a child of it may have died.
static bool has_ended_by_itself(const Run *whole, const Trial *t) {
  for (size_t i = 0; i < whole->failures.len; i++) {
    const char *kind = whole->failures.items[i].kind;
    if (strcmp(kind, "exit") != 0 && strcmp(kind, "output") != 0 &&
        (strcmp(kind, "signal") != 0 || t->outcome->end != END_EXIT))
      return false;
  }
  return true;
}

static bool find_blame(const Segments *s, bool by_itself, const BlameSources *e,
                       Blame *b) {
  bool died = blame_end(s, !by_itself, b->died);
  if (!died && !by_itself)
    return false;
  if (blame_verdicts(s, e->out, b->failed))
    return true;
  if (blame_names(s, e, b)) {
    // A framework that goes on knows which deaths were expected.
    if (by_itself)
      memset(b->died, 0, s->len * sizeof *b->died);
    return true;
  }
  memset(b->failed, 0, s->len * sizeof *b->failed);
  if (is_of_processes(s) &&
      (blame_marks(s, e->err, true, b) || blame_marks(s, e->out, false, b)))
    return true;
  memset(b->failed, 0, s->len * sizeof *b->failed);
  if (blame_results(s, b->failed) || blame_output(s, e, b->failed) ||
      blame_counts(s, e, b->failed))
    return true;
  memset(b->failed, 0, s->len * sizeof *b->failed);
  return died || blame_end(s, true, b->died);
}

static void set_verdicts(Segments *s, const Run *whole, bool by_itself,
                         const BlameSources *e, const Blame *b) {
  bool *skips = mem_array(bool, s->len + 1);
  find_skipped(s, e, skips);
  for (size_t i = 0; i < s->len; i++) {
    Segment *g = &s->items[i];
    Verdict v;
    bool failed = b->died[i] || b->failed[i];
    bool skipped =
        skips[i] || (framework_verdict(g, e->out, &v) && v == VERDICT_SKIP);
    g->run.verdict = failed    ? VERDICT_FAIL
                     : skipped ? VERDICT_SKIP
                               : VERDICT_PASS;
    if (b->died[i] && !by_itself)
      copy_failures(whole, &g->run);
    else if (failed)
      add_failure(g, e, b->words[i]);
  }
  free(skips);
}

// By number and description, as the lines of TAP have them.
static void set_titles(Segments *s, const Str *out) {
  for (size_t i = 0; i < s->len; i++) {
    LastTap l = tap_of(&s->items[i], out);
    if (l.line && !s->items[i].title)
      s->items[i].title = message_tap_title(l.line, i + 1);
    free(l.line);
  }
}

static void blame_release(Blame *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    free(b->words[i]);
  free(b->died);
  free(b->failed);
  free(b->words);
}

bool segments_judge(Segments *s, const Run *whole, const Trial *t,
                    const regex_t *also) {
  bool passed = whole->verdict == VERDICT_PASS;
  if (!passed && whole->verdict != VERDICT_FAIL)
    return false;
  Str out = {0}, err = {0};
  Err ignored;
  BlameSources e = {&out, &err, also, t->root};
  Blame b = {mem_array(bool, s->len + 1), mem_array(bool, s->len + 1),
             mem_array(char *, s->len + 1)};
  fs_read_regular(t->out, OUTPUT_MOST, &out, &ignored);
  if (!t->merged)
    fs_read_regular(t->err, OUTPUT_MOST, &err, &ignored);
  bool by_itself = has_ended_by_itself(whole, t);
  bool decided = passed || find_blame(s, by_itself, &e, &b);
  if (decided) {
    set_verdicts(s, whole, by_itself, &e, &b);
    set_titles(s, &out);
  }
  blame_release(&b, s->len);
  str_release(&out);
  str_release(&err);
  return decided;
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
    if (*g->name || g->title)
      str_add(&test, g->title ? g->title : g->name);
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
