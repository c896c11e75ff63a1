// The results of a session in words: see summary.h.
#include "run/summary.h"

#include <string.h>

#include "oracle/oracle.h"
#include "util/array.h"
#include "util/escape.h"
#include "util/hashmap.h"

enum { LISTED = 5 }; // tests or reasons, then "and N more"

VerdictCounts suite_count(const Suite *s) {
  VerdictCounts t = {.tests = s->nruns};
  for (size_t i = 0; i < s->nruns; i++) {
    const RunInfo *run = &s->runs[i];
    t.verdicts[run->verdict]++;
    if (run->verdict != VERDICT_PASS && run->verdict != VERDICT_FAIL)
      continue;
    t.judged++;
    t.no_spectrum += !run->has_spectrum;
  }
  return t;
}

static void add_counts(const VerdictCounts *t, Str *out) {
  static const char *const words[VERDICTS] = {
      [VERDICT_PASS] = "passed",    [VERDICT_FAIL] = "failed",
      [VERDICT_SKIP] = "skipped",   [VERDICT_FLAKY] = "flaky",
      [VERDICT_ERROR] = "in error",
  };
  str_addf(out, "%zu test%s: ", t->tests, t->tests == 1 ? "" : "s");
  for (int v = 0; v < VERDICTS; v++)
    if (t->verdicts[v] || v == VERDICT_PASS || v == VERDICT_FAIL)
      str_addf(out, "%s%zu %s", v ? ", " : "", t->verdicts[v], words[v]);
}

// Of skipped and failing tests only those the user would not expect there.
static bool is_listed(const RunInfo *run) {
  if (run->verdict == VERDICT_FAIL)
    return run_note_varies(run->note);
  if (run->verdict == VERDICT_SKIP)
    return run->note && strstr(run->note, NOTE_REFERENCE);
  return true;
}

static void add_listed(const Suite *s, Verdict verdict, Str *out) {
  size_t n = 0;
  for (size_t i = 0; i < s->nruns; i++) {
    const RunInfo *run = &s->runs[i];
    if (run->verdict != verdict || !is_listed(run) || ++n > LISTED)
      continue;
    str_addf(out, "  %s ", verdict_name(verdict));
    escape_add(out, run->test);
    str_add(out, ": ");
    escape_add(out, run->note ? run->note : "no reason known");
    str_addc(out, '\n');
  }
  if (n > LISTED)
    str_addf(out, "  ... and %zu more %s\n", n - LISTED, verdict_name(verdict));
}

static bool is_judged(const RunInfo *run) {
  return run->verdict == VERDICT_PASS || run->verdict == VERDICT_FAIL;
}

// The notes of judged runs with or without a spectrum, each with the number of
// runs that have it.
static void add_reasons(const Suite *s, bool has_spectrum, Str *out) {
  Hashmap index = {0};
  ARRAY(struct {
    const char *note;
    size_t n;
  })
  reasons = {0};
  for (size_t i = 0; i < s->nruns; i++) {
    const RunInfo *run = &s->runs[i];
    if (run->has_spectrum != has_spectrum || !is_judged(run) ||
        (has_spectrum && !run->note))
      continue;
    const char *note = run->note ? run->note : "reason unknown";
    size_t at = hashmap_intern(&index, note, strlen(note), reasons.len);
    if (at == reasons.len) {
      array_reserve(&reasons, 1);
      reasons.items[reasons.len].note = note;
      reasons.items[reasons.len++].n = 0;
    }
    reasons.items[at].n++;
  }
  for (size_t i = 0; i < reasons.len && i < LISTED; i++) {
    str_addf(out, "    %zu: ", reasons.items[i].n);
    escape_add(out, reasons.items[i].note);
    str_addc(out, '\n');
  }
  if (reasons.len > LISTED)
    str_addf(out, "    ... and %zu more\n", reasons.len - LISTED);
  array_release(&reasons);
  hashmap_release(&index);
}

void summary_missing_spectra(const Suite *s, Str *out) {
  VerdictCounts t = suite_count(s);
  if (!t.no_spectrum)
    return;
  str_addf(out, "  %zu of %zu runs cannot be ranked:\n", t.no_spectrum,
           t.judged);
  add_reasons(s, false, out);
}

void summary_notes(const Suite *s, Str *out) {
  size_t n = 0;
  for (size_t i = 0; i < s->nruns; i++)
    n += s->runs[i].has_spectrum && is_judged(&s->runs[i]) && s->runs[i].note;
  if (!n)
    return;
  str_addf(out, "  %zu run%s:\n", n,
           n == 1 ? " has a remark" : "s have remarks");
  add_reasons(s, true, out);
}

void summary_write(const Suite *s, double seconds, Str *out) {
  VerdictCounts t = suite_count(s);
  add_counts(&t, out);
  str_addf(out, seconds < 10 ? " (%.1f s)\n" : " (%.0f s)\n", seconds);
  add_listed(s, VERDICT_FAIL, out);
  add_listed(s, VERDICT_SKIP, out);
  add_listed(s, VERDICT_FLAKY, out);
  add_listed(s, VERDICT_ERROR, out);
}
