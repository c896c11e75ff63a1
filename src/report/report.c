// Rankings as people and programs read them: see report.h.
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

static const ReportFormat *const formats[] = {
    &report_text,  &report_json,   &report_csv,   &report_quickfix,
    &report_sarif, &report_github, &report_junit, &report_gitlab,
};
enum { NFORMATS = sizeof formats / sizeof *formats };

const ReportFormat *report_find(const char *name) {
  for (int i = 0; i < NFORMATS; i++)
    if (!strcmp(name, formats[i]->name))
      return formats[i];
  return NULL;
}

size_t report_shown(const Report *r, const ReportFormat *format,
                    const Ranking *ranking) {
  size_t top = r->top ? r->top : format->top;
  return top < ranking->suspects.len ? top : ranking->suspects.len;
}

size_t report_verdicts(const Report *r, Verdict verdict) {
  size_t n = 0;
  for (size_t i = 0; i < r->suite->nruns; i++)
    n += r->suite->runs[i].verdict == verdict;
  return n;
}

const char *report_function(const Suite *suite, const Entity *e) {
  if (e->function >= suite->nentities)
    return "";
  const char *name = suite->entities[e->function].name;
  return name ? name : "";
}

bool report_blamed(const Suite *suite, size_t failure, uint32_t *source,
                   uint32_t *line) {
  const char *place = suite->failures[failure].place;
  const char *colon = strrchr(place, ':');
  if (!colon)
    return false;
  *line = (uint32_t)strtoul(colon + 1, NULL, 10);
  char *file = mem_printf("%.*s", (int)(colon - place), place);
  uint32_t i = 0;
  while (i < suite->nsources && !suite_path_matches(suite, i, file))
    i++;
  free(file);
  *source = i;
  return *line && i < suite->nsources;
}

Entity report_entity(const Report *r, const Suspect *s) {
  Entity e = r->suite->entities[s->entity];
  if (suspect_line(s, &e) != e.line)
    e.col_lo = e.col_hi = 0;
  e.line = suspect_line(s, &e);
  return e;
}

void report_places(const Report *r, size_t failure, PlaceList *out) {
  const OutputPlaces *places = r->places;
  for (size_t i = 0; places && i < places->items.len; i++) {
    const PlaceAt *p = &places->items.items[i];
    bool first = !out->len || out->items[0]->run == p->run;
    if (first && p->role != PLACE_BETWEEN && place_shows(r->suite, p, failure))
      array_push(out, p);
  }
}

void report_escaped(const char *text, FILE *out) {
  Str s = {0};
  escape_add(&s, text);
  fputs(str_text(&s), out);
  str_release(&s);
}

void report_wrapped(const char *text, size_t at, int indent, FILE *out) {
  for (bool first = true; *text; first = false) {
    size_t n = strcspn(text, " ");
    bool fits = at + !first + n <= REPORT_COLUMNS;
    if (!first && !fits)
      fprintf(out, "\n%*s", indent, "");
    else if (!first)
      fputc(' ', out);
    at = first || fits ? at + !first + n : (size_t)indent + n;
    fprintf(out, "%.*s", (int)n, text);
    text += n + (text[n] == ' ');
  }
  fputc('\n', out);
}

const char *report_path(const Report *r, uint32_t source) {
  const char *shown = suite_path(r->suite, source);
  if (!r->root)
    return shown;
  const char *path = r->suite->sources[source].path;
  const char *below = path_below(path, r->root);
  return below == path ? shown : below;
}

void report_branch(const NoteBranch *b, Str *out) {
  if (*b->written)
    str_addf(out, "`%s` ", b->written);
  str_addf(out, "was %s, would have to be %s", b->taken, b->needed);
  if (b->instance > 1)
    str_addf(out, " (execution %u)", b->instance);
}

static void add_block_line(const Suite *suite, uint32_t block, const char *none,
                           Str *out) {
  if (block >= suite->nentities)
    str_add(out, none);
  else
    str_addf(out, "%u", suite->entities[block].line);
}

void report_describe(const Suite *suite, const Entity *e, Str *out) {
  const char *function = report_function(suite, e);
  const char *link = "of ";
  if (e->kind == ENTITY_BLOCK) {
    str_addf(out, "block %u ", e->index);
  } else if (e->kind == ENTITY_EDGE) {
    str_add(out, "edge ");
    add_block_line(suite, e->from, "entry", out);
    str_add(out, " -> ");
    add_block_line(suite, e->to, "leave", out);
    str_addc(out, ' ');
  } else {
    link = e->kind == ENTITY_FUNCTION ? "" : "in ";
  }
  if (*function) {
    str_add(out, link);
    escape_add(out, function);
  }
}

const char *report_request(const char *command) {
  if (!command)
    return NULL;
  size_t method = strspn(command, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return method && command[method] == ' ' && command[method + 1] == '/'
             ? command + method + 1
             : NULL;
}

void report_rank(const Suspect *s, Str *out) {
  if (s->rank_best != s->rank)
    str_addf(out, "%u-", s->rank_best);
  str_addf(out, "%u", s->rank);
}

void report_score(double score, Str *out) {
  bool plain = score == 0 || (fabs(score) >= 0.001 && fabs(score) < 1e5);
  str_addf(out, plain ? "%.3f" : "%.2e", score);
}
