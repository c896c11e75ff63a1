// Makes the failures of a run: see failure.h.
#include "oracle/failure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/contract_failures.h"
#include "oracle/message.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

void failure_add(Run *run, const char *kind, const char *place,
                 const char *signature, const char *message) {
  if (!signature)
    signature = message;
  for (size_t i = 0; i < run->failures.len; i++)
    if (!strcmp(run->failures.items[i].signature, signature))
      return;
  array_push(&run->failures, (Failure){.kind = mem_strdup(kind),
                                       .message = mem_strdup(message),
                                       .place = mem_strdup(place),
                                       .signature = mem_strdup(signature)});
}

char *signal_name(int signal) {
  const char *name = sigabbrev_np(signal);
  return name ? mem_printf("SIG%s", name) : mem_printf("signal %d", signal);
}

// The crash to report: one by this signal if there is one. NULL: none.
static const Death *find_crash(const Run *run, const char *how) {
  const Death *crash = NULL;
  for (size_t i = 0; i < run->deaths.len; i++) {
    const Death *d = &run->deaths.items[i];
    if (how && !strcmp(d->how, how))
      return d;
    if (!crash && !how && text_starts(d->how, "SIG"))
      crash = d;
  }
  return crash;
}

// "SIGSEGV in parse (src/a.c:12)", as far as it is known.
static void add_crash(Run *run, const char *how, const Death *d,
                      const char *root) {
  Str message = {0}, place = {0};
  str_add(&message, how);
  if (d && d->file && *d->file)
    str_addf(&place, "%s:%u", path_below(d->file, root), d->line);
  if (d && d->function && *d->function)
    str_addf(&message, " in %s", d->function);
  if (place.len)
    str_addf(&message, " (%s)", place.data);
  failure_add(run, "signal", str_text(&place), NULL, message.data);
  str_release(&message);
  str_release(&place);
}

static void add_signal(Run *run, int signal, const char *root) {
  char *how = signal_name(signal);
  const Death *d = find_crash(run, how);
  if (!d || !d->exact)
    run->imprecise = true;
  add_crash(run, how, d, root);
  free(how);
}

// 1.5 -> "1.5", 10 -> "10", 1e9 -> "1000000000"
static void add_number(Str *s, double x) {
  if (x >= 1e6)
    str_addf(s, "%.0f", x);
  else
    str_addf(s, "%g", x);
}

// Where it was then, if a process of ours could say so.
static void add_timeout(Run *run, double timeout, const char *root) {
  Str message = {0}, place = {0};
  const Death *d = find_crash(run, "timeout");
  str_add(&message, "still running after ");
  add_number(&message, timeout);
  str_add(&message, " s");
  if (d && *d->file) {
    str_addf(&place, "%s:%u", path_below(d->file, root), d->line);
    str_addf(&message, ", in %s (%s)", d->function, place.data);
  }
  run->imprecise |= !d || !d->exact;
  failure_add(run, "timeout", str_text(&place), "timeout", message.data);
  str_release(&message);
  str_release(&place);
}

bool failure_add_end(Run *run, const Outcome *outcome, const char *root,
                     double timeout, uint64_t max_output) {
  char text[128];
  switch (outcome->end) {
  case END_EXIT:
  case END_UNSTARTED:
    return false;
  case END_SIGNAL:
    add_signal(run, -outcome->status, root);
    return true;
  case END_TIMEOUT:
    add_timeout(run, timeout, root);
    return true;
  case END_OUTPUT:
    snprintf(text, sizeof text,
             "more than %.4g MB of output (--max-output allows more)",
             (double)max_output / (1 << 20));
    failure_add(run, "limit", "", "too much output", text);
    break;
  case END_PROCESSES:
    snprintf(text, sizeof text, "more than %d processes at once",
             PROCESSES_MAX);
    failure_add(run, "limit", "", "too many processes", text);
    break;
  }
  run->imprecise = true; // SIGKILL leaves no trace of where
  return true;
}

void failure_add_exit(Run *run, const char *root, const char *signature,
                      const char *message) {
  const Death *d = find_crash(run, NULL);
  if (contract_failed(run)) // that is the reason
    return;
  if (d)
    add_crash(run, d->how, d, root);
  else
    failure_add(run, "exit", "", signature, message);
}

// --- in the test's own words ------------------------------------------------

enum { OUTPUT_MOST = 64 << 10, FILE_MOST = 64 << 20 };

// Adds the end of what was written to the file.
static void add_end(const char *path, Str *out) {
  Str text = {0};
  Err ignored;
  if (path && !fs_read_regular(path, FILE_MOST, &text, &ignored)) {
    size_t n = text.len < OUTPUT_MOST ? text.len : OUTPUT_MOST;
    str_addn(out, str_text(&text) + text.len - n, n);
  }
  str_release(&text);
}

// The output as text: valid UTF-8, lines kept.
static char *output_text(const char *text, size_t n) {
  Str shown = {0};
  for (size_t at = 0; at < n;) {
    const char *end = memchr(text + at, '\n', n - at);
    size_t length = end ? (size_t)(end - text) - at : n - at;
    char *line = mem_printf("%.*s", (int)length, text + at);
    escape_add(&shown, line);
    str_addc(&shown, '\n');
    free(line);
    at += length + 1;
  }
  char *copy = mem_strdup(str_text(&shown));
  str_release(&shown);
  return copy;
}

void failure_add_words(Run *run, const char *text, size_t n, const Message *m) {
  for (size_t i = 0; i < run->failures.len; i++) {
    Failure *f = &run->failures.items[i];
    if (f->output || !strcmp(f->kind, "output"))
      continue;
    f->output = output_text(text, n);
    if (m)
      f->excerpt = output_text(m->text, strlen(m->text));
    if (m && !*f->place && !strcmp(f->kind, "exit")) {
      free(f->place);
      f->place = mem_strdup(m->place);
    }
  }
}

// Standard error first: what is on standard output may be its result.
static bool find_message(const Trial *t, Str *text, Message *out) {
  if (!t->merged)
    add_end(t->err, text);
  if (text->len && message_find(text->data, text->len, false, out))
    return true;
  size_t before = text->len;
  add_end(t->out, text);
  return message_find(str_text(text) + before, text->len - before, true, out);
}

void failure_add_status(Run *run, const Trial *t, const char *what,
                        const char *signature) {
  Message m;
  Str text = {0};
  if (find_message(t, &text, &m)) {
    char *message = mem_printf("%s: %s", what, m.line);
    failure_add_exit(run, t->root, m.signature, message);
    message_release(&m);
    free(message);
  } else {
    failure_add_exit(run, t->root, signature, what);
  }
  str_release(&text);
}

void failure_add_output(Run *run, const Trial *t) {
  Message m = {0};
  Str text = {0};
  if (!run->failures.len)
    return;
  bool found = find_message(t, &text, &m);
  if (t->stacks && *t->stacks)
    str_addf(&text, "%s%s",
             text.len && text.data[text.len - 1] != '\n' ? "\n" : "",
             t->stacks);
  if (text.len)
    failure_add_words(run, text.data, text.len, found ? &m : NULL);
  message_release(&m);
  str_release(&text);
}
