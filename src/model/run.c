// One execution of one test: see run.h.
#include "model/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static const char *const verdicts[VERDICTS] = {"pass", "fail", "skip", "flaky",
                                               "error"};

const char *verdict_name(Verdict v) { return verdicts[v]; }

int verdict_parse(const char *name) {
  for (int v = 0; v < VERDICTS; v++)
    if (!strcmp(name, verdicts[v]))
      return v;
  return -1;
}

static const char *const roles[PLACE_ROLES] = {
    "output", "text", "printed", "between", "near", "query", "sent"};

const char *place_role_name(PlaceRole r) { return roles[r]; }

int place_role_parse(const char *name) {
  for (int i = 0; i < PLACE_ROLES; i++)
    if (!strcmp(name, roles[i]))
      return i;
  return -1;
}

void failure_place_release(FailurePlace *p) {
  free(p->file);
  free(p->what);
  free(p->excerpt);
}

void failure_release(Failure *f) {
  free(f->kind);
  free(f->message);
  free(f->place);
  free(f->signature);
  free(f->excerpt);
  free(f->output);
  for (size_t i = 0; i < f->places.len; i++)
    failure_place_release(&f->places.items[i]);
  array_release(&f->places);
}

void death_release(Death *d) {
  free(d->file);
  free(d->function);
  free(d->how);
  free(d->callers);
  free(d->turns);
}

bool death_caller(const char **at, DeathCaller *out) {
  if (!*at || !**at)
    return false;
  char *end;
  out->line = (uint32_t)strtoul(*at, &end, 10);
  const char *stop = end + strcspn(end, "\n");
  out->function = end + (*end == ' ');
  out->function_size = strcspn(out->function, " \n");
  out->file = out->function + out->function_size;
  out->file += *out->file == ' ';
  out->file_size = (size_t)(stop - out->file);
  *at = stop + (*stop == '\n');
  return true;
}

void run_release(Run *r) {
  free(r->test);
  free(r->command);
  free(r->note);
  for (size_t i = 0; i < r->failures.len; i++)
    failure_release(&r->failures.items[i]);
  array_release(&r->failures);
  for (size_t i = 0; i < r->deaths.len; i++)
    death_release(&r->deaths.items[i]);
  array_release(&r->deaths);
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&r->hits[k]);
  array_release(&r->counts);
  for (size_t i = 0; i < r->modules.len; i++)
    free(r->modules.items[i]);
  array_release(&r->modules);
  *r = (Run){0};
}

void run_add_module(Run *r, const char *path) {
  for (size_t i = r->modules.len; i--;)
    if (!strcmp(r->modules.items[i], path))
      return;
  array_push(&r->modules, mem_strdup(path));
}

bool run_note_varies(const char *note) {
  return note && strstr(note, NOTE_VARIES);
}

void run_add_note(Run *run, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  char *old = run->note;
  run->note = old ? mem_printf("%s; %s", old, text) : mem_strdup(text);
  free(old);
}

void run_note_signal(Run *run, int signal) {
  const char *name = signal ? sigabbrev_np(signal) : NULL;
  if (signal)
    run_add_note(run, "it sent SIG%s to culprit, which ignored it",
                 name ? name : "?");
}
