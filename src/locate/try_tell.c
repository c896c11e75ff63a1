// What experiments found, as sentences: see try_note.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "locate/try_note.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/str.h"

// --- sentences --------------------------------------------------------------

void tried_tell(const TryNote *n, const TriedChange *c, Str *out) {
  bool all = c->failing == n->failing && c->passing == n->passing;
  const char *tried = all ? "" : " tried";
  str_addf(out, "%u of %u failing test%s%s pass%s", c->repaired, c->failing,
           plural(c->failing), tried, c->repaired == 1 ? "es" : "");
  if (c->passing)
    str_addf(out, ", %u of %u passing test%s%s still do%s", c->kept, c->passing,
             plural(c->passing), tried, c->kept == 1 ? "es" : "");
  else if (n->passing)
    str_add(out, ", no passing test was tried");
  if (!all)
    str_addf(out, " (of %u failing and %u passing test%s)", n->failing,
             n->passing, plural(n->passing));
}

void tried_tell_none(uint32_t tried, Str *out) {
  str_addf(out, "no small change here repairs a failing test (%u tried)",
           tried);
}

static const char *sep(const Str *out, const char *text) {
  return out->len ? text : "";
}

// "13 of 334 runs were stopped by the step limit", or with several reasons
// "15 of 334 runs were stopped: 13 by the step limit, 2 by the time limit".
static void tell_stopped(const TriedStops *s, uint64_t runs, Str *out) {
  const struct {
    uint32_t n;
    const char *why;
  } reasons[] = {{s->steps, "by the step limit"},
                 {s->time, "by the time limit"},
                 {s->limits, "for what they wrote or started"}};
  enum { REASONS = sizeof reasons / sizeof *reasons };
  uint64_t n = (uint64_t)s->steps + s->time + s->limits;
  Str list = {0};
  const char *only = "";
  for (size_t i = 0; i < REASONS; i++)
    if (reasons[i].n == n)
      only = reasons[i].why;
    else if (reasons[i].n)
      str_addf(&list, "%s%u %s", sep(&list, ", "), reasons[i].n,
               reasons[i].why);
  if (n)
    str_addf(out, "%llu of %llu run%s %s stopped%s%s", (unsigned long long)n,
             (unsigned long long)runs, plural(runs), n == 1 ? "was" : "were",
             list.len ? ": " : " ", list.len ? str_text(&list) : only);
  str_release(&list);
}

static void tell_refused(uint32_t n, const char *what, Str *out) {
  if (n)
    str_addf(out, "%s%u run%s %s refused %s", sep(out, "; "), n, plural(n),
             n == 1 ? "was" : "were", what);
}

bool tried_tell_stops(const TriedStops *s, uint64_t runs, Str *out) {
  Str text = {0};
  tell_stopped(s, runs, &text);
  tell_refused(s->memory, "memory (--memory)", &text);
  tell_refused(s->confine, "what confinement forbids", &text);
  str_add(out, str_text(&text));
  bool any = text.len > 0;
  str_release(&text);
  return any;
}

// --- the question as a sentence ---------------------------------------------

void answer_tell_end(const TriedAnswer *a, Str *out) {
  const char *name = a->status < 0 ? sigabbrev_np(-a->status) : NULL;
  if (a->endless)
    str_add(out, "endless");
  else if (name)
    str_addf(out, "SIG%s", name);
  else if (a->status < 0)
    str_addf(out, "signal %d", -a->status);
  else
    str_addf(out, "exit status %d", a->status);
}

enum { QUOTED = 60 }; // bytes of an output or input in the sentence

// In quotes, on one line, cut if it is long.
static void quote(const char *text, size_t n, Str *out) {
  size_t at = 0, step;
  str_addc(out, '"');
  for (; at < n && at < QUOTED; at += step) {
    step = utf8_length(text + at, n - at);
    step = step ? step : 1;
    if (text[at] == '\n' || text[at] == '\t')
      str_add(out, text[at] == '\n' ? "\\n" : "\\t");
    else
      str_addn(out, text + at, step);
  }
  str_add(out, at < n ? "...\"" : "\"");
}

static size_t first_line(const char *text) { return strcspn(text, "\n"); }

static bool same_first_line(const TriedAnswer *a, const TriedAnswer *b) {
  size_t n = first_line(a->output);
  return n == first_line(b->output) && !strncmp(a->output, b->output, n);
}

// Does one line of the outputs tell the answers apart?
static bool is_line_enough(const TriedQuestion *q) {
  for (size_t i = 0; i < q->answers.len; i++)
    for (size_t k = 0; k < i; k++) {
      const TriedAnswer *a = &q->answers.items[i], *b = &q->answers.items[k];
      if (strcmp(a->output, b->output) != 0 && same_first_line(a, b))
        return false;
    }
  return true;
}

// Do programs that end by themselves exit otherwise?
static bool is_status_told(const TriedQuestion *q) {
  int first = -1;
  for (size_t i = 0; i < q->answers.len; i++) {
    const TriedAnswer *a = &q->answers.items[i];
    if (a->endless || a->status < 0)
      continue;
    if (first >= 0 && a->status != first)
      return true;
    first = a->status;
  }
  return false;
}

// "prints "7"", "dies of SIGSEGV".
static void tell_answer(const TriedQuestion *q, const TriedAnswer *a,
                        Str *out) {
  size_t n = is_line_enough(q) ? first_line(a->output) : strlen(a->output);
  if (a->endless) {
    str_add(out, "does not end");
    return;
  }
  if (a->status < 0) {
    str_add(out, "dies of ");
    answer_tell_end(a, out);
    return;
  }
  str_add(out, "prints ");
  if (*a->output)
    quote(a->output, n, out);
  else
    str_add(out, q->line > 1 ? "nothing there" : "nothing");
  if (is_status_told(q))
    str_addf(out, " and exits with status %d", a->status);
}

static bool is_of_change(const TriedAnswer *a) {
  return a->change != ANSWER_UNCHANGED && a->change != ANSWER_REFERENCE;
}

// Is there an equal one of a change before it?
static bool is_told(const TriedQuestion *q, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (!answers_differ(&q->answers.items[k], &q->answers.items[i]))
      return true;
  return false;
}

static void tell_change(const TryNote *n, const TriedAnswer *a, Str *out) {
  const TriedChange *c = &n->changes.items[a->change];
  str_addf(out, "%s at %s:%u", c->text, path_base(c->file), c->line);
}

// One answer, and all changes that give it.
static void tell_group(const TryNote *n, size_t first, Str *out) {
  const TriedQuestion *q = &n->question;
  const TriedAnswer *a = &q->answers.items[first];
  tell_answer(q, a, out);
  str_add(out, " with the change ");
  tell_change(n, a, out);
  for (size_t i = first + 1; i < q->answers.len; i++) {
    const TriedAnswer *b = &q->answers.items[i];
    if (is_of_change(b) && !answers_differ(a, b)) {
      str_add(out, " or ");
      tell_change(n, b, out);
    }
  }
}

static void tell_input(const TriedQuestion *q, Str *out) {
  str_addf(out, "`%s` ", q->command);
  if (q->input && *q->input) {
    str_add(out, "(standard input ");
    quote(q->input, strlen(q->input), out);
    str_add(out, ") ");
  }
  for (size_t i = 0; i < q->files.len; i++) {
    str_addf(out, "(%s ", q->files.items[i].name);
    quote(q->files.items[i].text, strlen(q->files.items[i].text), out);
    str_add(out, ") ");
  }
  if (q->line > 1)
    str_addf(out, "in line %u of its output ", q->line);
}

static const TriedAnswer *answer_of(const TriedQuestion *q, uint32_t who) {
  for (size_t i = 0; i < q->answers.len; i++)
    if (q->answers.items[i].change == who)
      return &q->answers.items[i];
  return NULL;
}

static void tell_question(const TryNote *n, Str *out) {
  const TriedQuestion *q = &n->question;
  const TriedAnswer *unchanged = answer_of(q, ANSWER_UNCHANGED);
  const TriedAnswer *reference = answer_of(q, ANSWER_REFERENCE);
  size_t groups = 0;
  tell_input(q, out);
  for (size_t i = 0; i < q->answers.len; i++) {
    if (!is_of_change(&q->answers.items[i]) || is_told(q, i))
      continue;
    str_add(out, groups++ ? ", and " : "");
    tell_group(n, i, out);
  }
  str_addc(out, '.');
  if (unchanged) {
    str_add(out, " Unchanged, it ");
    tell_answer(q, unchanged, out);
    str_addc(out, '.');
  }
  str_add(out, reference ? " The reference " : " Which is right?");
  if (reference) {
    tell_answer(q, reference, out);
    str_addc(out, '.');
  }
}

static void tell_none(const TryNote *n, size_t survivors, Str *out) {
  const TriedQuestion *q = &n->question;
  str_add(out, "no input was found on which ");
  if (q->asked < survivors)
    str_addf(out, "the first %u of them", q->asked);
  else
    str_add(out, "they");
  str_addf(out, " differ (%u tried)", q->inputs);
}

bool tried_ask(const TryNote *n, Str *out) {
  size_t survivors = tried_survivors(n);
  if (survivors < 2 || (!n->question.command && !n->question.inputs))
    return false;
  if (n->question.command)
    tell_question(n, out);
  else
    tell_none(n, survivors, out);
  return true;
}
