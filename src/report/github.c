// GitHub Actions: at most ten annotations (more are not shown), which GitHub
// puts beside the lines of a pull request, and the whole list in the summary
// of the step, as Markdown.
//
//   ::warning file=src/a.c,line=12,col=3,title=Suspect 1::27 of 27 failing, ...
#include <string.h>

#include "report/hints.h"
#include "report/report.h"
#include "report/tried.h"
#include "util/escape.h"
#include "util/str.h"

enum { ANNOTATIONS = 10, SHOWN = 25 };

// In a property also "," and ":" have a meaning.
static void put_command_text(const char *text, bool property, FILE *out) {
  Str s = {0};
  escape_add(&s, text);
  for (const char *p = str_text(&s); *p; p++) {
    if (*p == '%' || (property && strchr(",:", *p)))
      fprintf(out, "%%%02X", (unsigned char)*p);
    else
      fputc(*p, out);
  }
  str_release(&s);
}

// Markdown takes HTML: what could be read as either is escaped.
static void put_markdown(const char *text, FILE *out) {
  Str s = {0};
  escape_add(&s, text);
  for (const char *p = str_text(&s); *p; p++) {
    if (strchr("<>&", *p))
      fprintf(out, "&#%d;", *p);
    else
      fprintf(out, strchr("\\`*_{}[]()#+!|~@", *p) ? "\\%c" : "%c", *p);
  }
  str_release(&s);
}

static void begin(Report *r, FILE *out) {
  (void)out;
  if (!r->summary)
    return;
  size_t failing = report_verdicts(r, VERDICT_FAIL);
  fprintf(r->summary, "## culprit: %zu of %zu test%s fail%s\n\n", failing,
          r->suite->nruns, plural(r->suite->nruns), verb_s(failing));
  if (!failing)
    fputs("Nothing failed, so there is nothing to localize.\n", r->summary);
}

static void add_evidence(const Report *r, const Ranking *ranking,
                         const Suspect *s, Str *out) {
  EvidenceList list = {0};
  evidence_gather(r->suite, r->deaths, ranking, s, &list);
  for (size_t i = 0; i < list.len; i++)
    str_addf(out, "%s%s", i ? "; " : "", list.items[i].text);
  evidence_release(&list);
}

static void annotate(Report *r, const Ranking *ranking, const Suspect *s,
                     FILE *out) {
  const Entity shown = report_entity(r, s), *e = &shown;
  const FailureGroup *g = &r->suite->failures[ranking->failure];
  Str text = {0};
  fputs("::warning file=", out);
  put_command_text(report_path(r, e->source), true, out);
  fprintf(out, ",line=%u", e->line);
  if (e->col_lo)
    fprintf(out, ",col=%u", e->col_lo);
  str_add(&text, "Suspect ");
  report_rank(s, &text);
  str_addf(&text, " of %zu: %s", ranking->suspects.len, g->message);
  fputs(",title=", out);
  put_command_text(str_text(&text), true, out);
  str_clear(&text);
  add_evidence(r, ranking, s, &text);
  fputs("::", out);
  put_command_text(str_text(&text), false, out);
  fputc('\n', out);
  str_release(&text);
}

static void put_row(Report *r, const Ranking *ranking, const Suspect *s) {
  const Entity shown = report_entity(r, s), *e = &shown;
  Str text = {0};
  report_rank(s, &text);
  fprintf(r->summary, "| %s | ", str_text(&text));
  str_clear(&text);
  report_score(s->score, &text);
  fprintf(r->summary, "%s | ", str_text(&text));
  put_markdown(report_path(r, e->source), r->summary);
  fprintf(r->summary, ":%u | ", e->line);
  put_markdown(report_function(r->suite, e), r->summary);
  fprintf(r->summary, " | %u/%u | %u/%u | ", s->ef, ranking->failing, s->ep,
          ranking->passing);
  str_clear(&text);
  add_evidence(r, ranking, s, &text);
  put_markdown(str_text(&text), r->summary);
  fputs(" |\n", r->summary);
  str_release(&text);
}

// A fence that no line of the text can close.
static int fence_width(const char *text) {
  size_t widest = 2;
  for (const char *p = text; (p = strchr(p, '`'));) {
    size_t n = strspn(p, "`");
    widest = n > widest ? n : widest;
    p += n;
  }
  return (int)widest + 1;
}

static void put_fence(int width, const char *language, FILE *out) {
  for (int i = 0; i < width; i++)
    fputc('`', out);
  fprintf(out, "%s\n", language);
}

static void put_hint(const Report *r, const TryNote *n, const TriedChange *c,
                     const char *title) {
  Str text = {0};
  tried_sentence(r, n, c, true, &text);
  fputs(title, r->summary);
  put_markdown(str_text(&text), r->summary);
  fputs("\n\n", r->summary);
  if (c->diff) {
    int width = fence_width(c->diff);
    put_fence(width, "diff", r->summary);
    hints_put_diff(c->diff, 0, false, r->summary);
    put_fence(width, "\n", r->summary);
  }
  str_release(&text);
}

// The changes that pass all tests, as diffs.
static void put_hints(const Report *r, const Ranking *ranking) {
  const TryNote *n = report_tried(r, ranking->failure);
  ChangeList hints = {0};
  Str question = {0};
  if (!n)
    return;
  tried_survivor_list(n, ranking, &hints);
  for (size_t i = 0; i < hints.len; i++)
    put_hint(r, n, hints.items[i], i ? "Another hint: " : "Hint: ");
  if (tried_ask(n, &question)) {
    put_markdown(str_text(&question), r->summary);
    fputs("\n\n", r->summary);
  }
  str_release(&question);
  array_release(&hints);
}

static void summarize(Report *r, const Ranking *ranking, size_t shown) {
  const FailureGroup *g = &r->suite->failures[ranking->failure];
  fprintf(r->summary, "### Failure %zu of %zu: ", ranking->failure + 1,
          r->suite->nfailures);
  put_markdown(g->message, r->summary);
  fprintf(r->summary, "\n\n%zu failing run%s, first ", g->nruns,
          plural(g->nruns));
  put_markdown(g->nruns ? r->suite->runs[g->runs[0]].test : "", r->summary);
  fputs(".\n\n", r->summary);
  if (!shown) {
    fputs("Not ranked: there is nothing to compare with.\n\n", r->summary);
    return;
  }
  for (size_t i = 0; i < ranking->notes.len; i++) {
    put_markdown(ranking->notes.items[i].text, r->summary);
    fputs(".\n\n", r->summary);
  }
  fputs("| rank | score | line | function | failing | passing | evidence |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n",
        r->summary);
  for (size_t i = 0; i < shown; i++)
    put_row(r, ranking, &ranking->suspects.items[i]);
  fprintf(r->summary, "\n%zu of %zu lines.\n\n", shown, ranking->suspects.len);
  put_hints(r, ranking);
}

// With --since: lines of the diff.
static bool is_in_diff(const Suspect *s) {
  for (size_t i = 0; i < s->evidence.len; i++)
    if (text_starts(s->evidence.items[i].text, "changed since "))
      return true;
  return false;
}

// Every failure gets its share of the annotations, the first ones at least one.
static void failure(Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = report_shown(r, &report_github, ranking);
  size_t share = ANNOTATIONS / r->suite->nfailures;
  if (!share)
    share = 1;
  size_t given = 0;
  for (int rest = 0; rest < 2; rest++) // lines of the diff, then the others
    for (size_t i = 0; i < shown && given < share; i++) {
      const Suspect *s = &ranking->suspects.items[i];
      if (r->printed == ANNOTATIONS || is_in_diff(s) == (rest > 0))
        continue;
      annotate(r, ranking, s, out);
      r->printed++;
      given++;
    }
  if (r->summary)
    summarize(r, ranking, shown);
}

const ReportFormat report_github = {"github", SHOWN, begin, failure, NULL};
