// One line per suspect, fields quoted as RFC 4180 says, lines ended by a
// newline. The first line names the columns.
#include <string.h>

#include "report/report.h"
#include "report/tried.h"

static void put_field(const char *text, FILE *out) {
  if (!text[strcspn(text, ",\"\r\n")]) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static void begin(Report *r, FILE *out) {
  (void)r;
  fputs("failure,kind,signature,rank,rank_best,score,confidence,file,line,col,"
        "function,ef,ep,failing,passing,change\n",
        out);
}

// The best that `culprit try` found there, in words; else nothing.
static void put_change(const Report *r, size_t failure, const Suspect *s,
                       FILE *out) {
  const TryNote *n = report_tried(r, failure);
  const TriedChange *c = n ? tried_best(n, s->entity) : NULL;
  Str text = {0};
  if (c)
    tried_sentence(r, n, c, false, &text);
  put_field(str_text(&text), out);
  str_release(&text);
}

static void put_suspect(const Report *r, const Ranking *ranking,
                        const Suspect *s, FILE *out) {
  const FailureGroup *failure = &r->suite->failures[ranking->failure];
  const Entity shown = report_entity(r, s), *e = &shown;
  fprintf(out, "%zu,", ranking->failure + 1);
  put_field(failure->kind, out);
  fputc(',', out);
  put_field(failure->signature, out);
  fprintf(out, ",%u,%u,%.12g,%.12g,", s->rank, s->rank_best, s->score,
          s->confidence);
  put_field(suite_path(r->suite, e->source), out);
  fprintf(out, ",%u,%u,", e->line, e->col_lo);
  put_field(report_function(r->suite, e), out);
  fprintf(out, ",%u,%u,%u,%u,", s->ef, s->ep, ranking->failing,
          ranking->passing);
  put_change(r, ranking->failure, s, out);
  fputc('\n', out);
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = report_shown(r, &report_csv, ranking);
  for (size_t i = 0; i < shown; i++) {
    const Suspect *s = &ranking->suspects.items[i];
    sources_check(r->sources, r->suite->entities[s->entity].source);
    put_suspect(r, ranking, s, out);
  }
}

const ReportFormat report_csv = {"csv", SIZE_MAX, begin, failure, NULL};
