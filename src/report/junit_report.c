// JUnit XML, as CI servers show it: a testcase per run; a failing one has the
// first suspects in its text. Failing tests come first, by failure.
#include <string.h>

#include "report/html_page.h"
#include "report/tried.h"

enum { SHOWN = 5 };

static size_t count(const Report *r, Verdict a, Verdict b) {
  return report_verdicts(r, a) + report_verdicts(r, b);
}

static double seconds(const Suite *suite) {
  double sum = 0;
  for (size_t i = 0; i < suite->nruns; i++)
    sum += suite->runs[i].seconds;
  return sum;
}

static void begin(Report *r, FILE *out) {
  fprintf(out,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuites>\n<testsuite name=\"culprit session %lld\" "
          "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
          "time=\"%.3f\">\n",
          (long long)r->suite->session, r->suite->nruns,
          report_verdicts(r, VERDICT_FAIL), report_verdicts(r, VERDICT_ERROR),
          count(r, VERDICT_SKIP, VERDICT_FLAKY), seconds(r->suite));
}

static void put_attribute(const char *name, const char *value, FILE *out) {
  fprintf(out, " %s=\"", name);
  html_text(value, out);
  fputc('"', out);
}

static void begin_case(const RunInfo *run, FILE *out) {
  fputs("<testcase", out);
  put_attribute("name", run->test, out);
  put_attribute("classname", "culprit", out);
  fprintf(out, " time=\"%.3f\"", run->seconds);
}

// What a change there does, if it does more good than harm.
static void add_hint(const Report *r, size_t failure, const Suspect *s,
                     Str *out) {
  const TryNote *n = report_tried(r, failure);
  const TriedChange *c = n ? tried_best(n, s->entity) : NULL;
  if (!c || tried_score(c) <= 0)
    return;
  str_add(out, "; hint: ");
  tried_sentence(r, n, c, false, out);
}

static void put_suspects(Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = report_shown(r, &report_junit, ranking);
  for (size_t i = 0; i < shown; i++) {
    const Suspect *s = &ranking->suspects.items[i];
    const Entity at = report_entity(r, s), *e = &at;
    Str text = {0};
    str_add(&text, "suspect ");
    report_rank(s, &text);
    str_addf(&text, ": %s:%u ", report_path(r, e->source), e->line);
    report_describe(r->suite, e, &text);
    str_addf(&text, " (%u of %u failing, %u of %u passing runs)", s->ef,
             ranking->failing, s->ep, ranking->passing);
    add_hint(r, ranking->failure, s, &text);
    html_text(str_text(&text), out);
    fputc('\n', out);
    str_release(&text);
  }
  if (!shown)
    fputs("not ranked: there is nothing to compare with\n", out);
}

// A run that shows several failures belongs to the first of them.
static bool is_first(const Suite *suite, size_t failure, uint32_t run) {
  for (size_t i = 0; i < failure; i++)
    if (run_shows(suite, i, run))
      return false;
  return true;
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  const FailureGroup *g = &r->suite->failures[ranking->failure];
  for (size_t i = 0; i < g->nruns; i++) {
    const RunInfo *run = &r->suite->runs[g->runs[i]];
    if (run->verdict != VERDICT_FAIL ||
        !is_first(r->suite, ranking->failure, g->runs[i]))
      continue;
    begin_case(run, out);
    fputs("><failure", out);
    put_attribute("message", g->message, out);
    put_attribute("type", g->kind, out);
    fputc('>', out);
    html_text(run->command ? run->command : "", out);
    fputc('\n', out);
    html_text(g->output ? g->output : "", out);
    put_suspects(r, ranking, out);
    fputs("</failure></testcase>\n", out);
  }
}

static void put_other(const RunInfo *run, FILE *out) {
  begin_case(run, out);
  if (run->verdict == VERDICT_PASS) {
    fputs("/>\n", out);
    return;
  }
  fprintf(out, "><%s", run->verdict == VERDICT_ERROR ? "error" : "skipped");
  put_attribute(
      "message",
      run->note && *run->note ? run->note : verdict_name(run->verdict), out);
  fputs("/></testcase>\n", out);
}

static void end(Report *r, FILE *out) {
  for (size_t i = 0; i < r->suite->nruns; i++)
    if (r->suite->runs[i].verdict != VERDICT_FAIL)
      put_other(&r->suite->runs[i], out);
  fputs("</testsuite>\n</testsuites>\n", out);
}

const ReportFormat report_junit = {"junit", SHOWN, begin, failure, end};
