// What the reader of the page must know: what is missing or doubtful in the
// session, and how far the answer can be trusted.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_page.h"
#include "report/tried.h"
#include "util/str.h"

__attribute__((format(printf, 3, 4))) static void
add(Notices *out, const char *level, const char *fmt, ...) {
  char text[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  array_push(out, (Notice){level, mem_strdup(text)});
}

void notices_release(Notices *n) {
  for (size_t i = 0; i < n->len; i++)
    free(n->items[i].text);
  array_release(n);
}

// --- the session ------------------------------------------------------------

static size_t count(const Suite *suite, bool (*takes)(const RunInfo *)) {
  size_t n = 0;
  for (size_t i = 0; i < suite->nruns; i++)
    n += takes(&suite->runs[i]);
  return n;
}

static bool is_blind_failure(const RunInfo *r) {
  return r->verdict == VERDICT_FAIL && !r->has_spectrum;
}
static bool is_blind_pass(const RunInfo *r) {
  return r->verdict == VERDICT_PASS && !r->has_spectrum;
}
static bool is_imprecise(const RunInfo *r) {
  return r->imprecise && r->has_spectrum;
}

// Without these there is nothing to show.
static void note_emptiness(const HtmlReport *h, Notices *out) {
  const Suite *suite = h->report.suite;
  size_t failing = report_verdicts(&h->report, VERDICT_FAIL);
  size_t passing = report_verdicts(&h->report, VERDICT_PASS);
  size_t blind = count(suite, is_blind_failure);
  if (!suite->nruns)
    add(out, "bad", "This session has no runs: there is nothing to show.");
  else if (!failing)
    add(out, "bad",
        "Nothing failed in this session, so there is nothing to localize. Add "
        "a test that shows the failure, or tell culprit run what is right "
        "(--expect, --reference, --oracle).");
  else if (blind == failing)
    add(out, "bad",
        "No failing run left a spectrum, so what they executed is unknown. Was "
        "the program built with CC=culprit-cc? culprit doctor checks the "
        "set-up.");
  else if (!passing || count(suite, is_blind_pass) == passing)
    add(out, "bad",
        "No passing run can be compared with the failing ones. Add tests that "
        "pass.");
}

static void note_runs(const HtmlReport *h, Notices *out) {
  const Suite *suite = h->report.suite;
  static const struct {
    Verdict verdict;
    const char *why;
  } left_out[] = {{VERDICT_FLAKY, "flaky: it failed once and not again"},
                  {VERDICT_SKIP, "skipped"},
                  {VERDICT_ERROR, "could not be run or judged"}};
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
    size_t n = report_verdicts(&h->report, left_out[i].verdict);
    if (n)
      add(out, "warn", "%zu test%s left out (%s).", n, n == 1 ? " is" : "s are",
          left_out[i].why);
  }
  size_t blind = count(suite, is_blind_failure) + count(suite, is_blind_pass);
  if (blind && blind < suite->nruns)
    add(out, "warn", "%zu run%s left no spectrum and cannot be compared.",
        blind, plural(blind));
  size_t imprecise = count(suite, is_imprecise);
  if (imprecise)
    add(out, "warn",
        "%zu run%s killed before the last lines could be confirmed: lines just "
        "after the point of death may be marked as executed.",
        imprecise, imprecise == 1 ? " was" : "s were");
  if (!h->finished && suite->nruns)
    add(out, "warn",
        "The session is unfinished: not all tests have been run. The same "
        "command continues it.");
}

static void note_sources(HtmlReport *h, Notices *out) {
  const Suite *suite = h->report.suite;
  size_t changed = 0, unreadable = 0;
  uint32_t example[2] = {0, 0};
  for (uint32_t i = 0; i < suite->nsources; i++) {
    SourceState state = sources_state(h->report.sources, i);
    if (state == SOURCE_CHANGED && !changed++)
      example[0] = i;
    if (state == SOURCE_UNREADABLE && !unreadable++)
      example[1] = i;
  }
  if (changed)
    add(out, "warn",
        "%zu source file%s changed since they were compiled (%s ...): lines "
        "may have moved. Build and run the tests again.",
        changed, plural(changed), suite_path(suite, example[0]));
  if (unreadable)
    add(out, "warn",
        "%zu source file%s cannot be read (%s ...): their lines are listed "
        "without text.",
        unreadable, plural(unreadable), suite_path(suite, example[1]));
}

static void note_cuts(const HtmlReport *h, Notices *out) {
  for (size_t m = 0; m < h->nmethods; m++) {
    const MethodListing *l = &h->methods[m];
    for (size_t i = 0; l->listings && i < h->report.suite->nfailures; i++) {
      if (l->listings[i].n == l->listings[i].total)
        continue;
      add(out, "note",
          "Long rankings are cut in this page: of %zu lines the first %zu are "
          "listed. culprit rank --top all has them all.",
          l->listings[i].total, l->listings[i].n);
      return;
    }
  }
}

void html_notices(HtmlReport *h, Notices *out) {
  note_emptiness(h, out);
  note_runs(h, out);
  note_sources(h, out);
  note_cuts(h, out);
}

// --- how sure ---------------------------------------------------------------

static const char *const words[] = {"a guess", "weak", "fair", "good",
                                    "strong"};

static void grade(Sureness *s, bool good, char *text) {
  s->level += good;
  array_push(&s->reasons, (Notice){good ? "good" : "bad", text});
}

static void grade_runs(Sureness *s, const KeptListing *l) {
  const char *hint = "";
  if (l->failing < 3)
    hint =
        ": with few failing runs, whatever only they execute looks suspicious";
  else if (l->passing < 10)
    hint = ": with few passing runs, little code is cleared";
  grade(s, !*hint,
        mem_printf("%u failing and %u %s run%s are compared%s", l->failing,
                   l->passing, l->stand_in ? "otherwise failing" : "passing",
                   plural(l->passing), hint));
}

static void grade_ties(Sureness *s, const Listed *top) {
  grade(s, top->rank <= 3,
        top->rank == 1
            ? mem_strdup("no other line shares the first place")
            : mem_printf("%u lines share the first place", top->rank));
}

// With a change there all tests pass: more than any split of runs can say.
static bool is_repaired(const HtmlReport *h, size_t failure,
                        const Listed *top) {
  const TryNote *n = report_tried(&h->report, failure);
  const TriedChange *c = n ? tried_best(n, top->entity) : NULL;
  return c && tried_survives(c);
}

static void grade_split(Sureness *s, const KeptListing *l, const Listed *top) {
  bool good = top->ef == l->failing && top->ep * 5 <= l->passing;
  grade(s, good,
        mem_printf("the first line is executed by %u of %u failing and %u of "
                   "%u passing runs",
                   top->ef, l->failing, top->ep, l->passing));
}

static bool has_near_top(const KeptListing *l, uint32_t entity) {
  for (size_t i = 0; i < l->n && l->items[i].rank_best <= 5; i++)
    if (l->items[i].entity == entity)
      return true;
  return false;
}

static void grade_methods(Sureness *s, const HtmlReport *h, size_t failure,
                          uint32_t entity) {
  size_t agree = 0, others = 0;
  for (size_t m = 1; m < h->nmethods; m++) {
    if (!h->methods[m].listings)
      continue;
    others++;
    agree += has_near_top(&h->methods[m].listings[failure], entity);
  }
  if (others)
    grade(s, agree * 2 >= others,
          mem_printf("%zu of %zu other methods have it among their first 5",
                     agree, others));
}

void html_sureness(const HtmlReport *h, size_t failure, Sureness *out) {
  *out = (Sureness){0};
  const KeptListing *l = h->nmethods && h->methods[0].listings
                             ? &h->methods[0].listings[failure]
                             : NULL;
  if (!l || !l->n) {
    out->word = "not ranked";
    return;
  }
  grade_runs(out, l);
  grade_ties(out, &l->items[0]);
  if (is_repaired(h, failure, &l->items[0]))
    grade(out, true,
          mem_strdup("with a change on the first line all tests "
                     "pass"));
  else
    grade_split(out, l, &l->items[0]);
  grade_methods(out, h, failure, l->items[0].entity);
  out->word = words[out->level];
}
