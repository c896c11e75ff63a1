// An evaluation as a page of Markdown: see tables.h.
#include "eval/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/curve.h"
#include "eval/published.h"
#include "eval/ranges.h"
#include "util/mem.h"

static const EvaluatedMethod *method_at(const Evaluation *e, size_t i) {
  return &e->methods->items.items[i];
}

static const Version *version_at(const Evaluation *e, size_t i) {
  return &e->manifest->versions.items[i];
}

// --- cells -----------------------------------------------------------------

static void put_number(double x, int digits, FILE *out) {
  if (isnan(x))
    fputs(" - |", out);
  else
    fprintf(out, " %.*f |", digits, x);
}

// "| a | b |" and the line below it; the first column holds text.
static void put_header(const char *columns, FILE *out) {
  size_t n = 0;
  for (const char *c = columns; *c; c++)
    n += *c == '|';
  fprintf(out, "%s\n| --- |", columns);
  for (size_t i = 2; i < n; i++)
    fputs(" ---: |", out);
  fputc('\n', out);
}

static void put_within(const Spread *s, FILE *out) {
  for (int i = 0; i < LIMITS; i++)
    put_number(s->within[i], 1, out);
}

// --- what was measured -----------------------------------------------------

static size_t count_versions(const Evaluation *e, const char *subject) {
  size_t n = 0;
  for (size_t i = 0; i < e->nversions; i++)
    n += !strcmp(version_at(e, i)->subject, subject);
  return n;
}

static void put_subject(const Evaluation *e, const Subject *s, FILE *out) {
  size_t tests = 0, statements = 0;
  double failing = 0, executed = 0;
  for (size_t i = 0; i < s->nversions; i++) {
    const VersionOutcome *o = &e->outcomes[s->versions[i]];
    tests = o->tests > tests ? o->tests : tests;
    statements = o->executable > statements ? o->executable : statements;
    executed += (double)o->executed / (double)s->nversions;
    failing += 100 * (double)o->failing / (double)(o->failing + o->passing) /
               (double)s->nversions;
  }
  fprintf(out, "| %s | %zu | %zu | %zu | %zu | %.0f | %.1f |\n", s->name,
          count_versions(e, s->name), s->nversions, tests, statements, executed,
          failing);
}

static void put_excluded(const Evaluation *e, VersionState state,
                         const char *why, FILE *out) {
  size_t n = 0;
  for (size_t i = 0; i < e->nversions; i++) {
    if (e->states[i] != state)
      continue;
    if (n++)
      fprintf(out, ", %s", version_at(e, i)->name);
    else
      fprintf(out, "\nLeft out because %s: %s", why, version_at(e, i)->name);
  }
  if (n)
    fputs(".\n", out);
}

static void put_several_failures(const Evaluation *e, FILE *out) {
  size_t n = 0;
  for (size_t i = 0; i < e->nkept; i++)
    n += e->outcomes[e->kept[i]].failures > 1;
  if (n)
    fprintf(out,
            "\n%zu of the %zu versions show more than one failure. The failure "
            "with the\nmost failing runs counts; among equally frequent ones, "
            "the first by signature.\n",
            n, e->nkept);
}

static void put_versions(const Evaluation *e, FILE *out) {
  fprintf(
      out,
      "%zu faulty version%s of %zu program%s %s counted, of %zu listed.\n\n",
      e->nkept, plural(e->nkept), e->nsubjects, plural(e->nsubjects),
      e->nkept == 1 ? "is" : "are", e->nversions);
  put_header("| program | versions | counted | tests | statements | executed | "
             "% failing |",
             out);
  for (size_t i = 0; i < e->nsubjects; i++)
    put_subject(e, &e->subjects[i], out);
  put_excluded(e, EXCLUDED_NO_FAILING, "no test fails", out);
  put_excluded(e, EXCLUDED_NO_PASSING, "no test passes", out);
  put_excluded(e, EXCLUDED_PROBLEM, "they could not be measured", out);
  if (e->max_failing < 1) {
    char why[64];
    snprintf(why, sizeof why, "more than %g %% of the tests fail",
             100 * e->max_failing);
    put_excluded(e, EXCLUDED_SHARE, why, out);
  }
  put_several_failures(e, out);
}

static void put_words(FILE *out) {
  fputs("\n"
        "A method is named as in `culprit rank --method`; `:statement` means "
        "`--entities\n"
        "statement`, the formula as published.\n"
        "\n"
        "- \"Examined\" is the share of the statements up to and including the "
        "first faulty\n"
        "  one in the ranking. Among equal scores the faulty one comes last "
        "(worst), at\n"
        "  its expected place (average) or first (best). The default is the "
        "worst case.\n"
        "- \"By fault\" gives every fault the same weight; \"by program\" is "
        "the mean of the\n"
        "  figures of the programs.\n"
        "- \"Well-localized\" means less than 1 % of the executed statements, "
        "for the first\n"
        "  and for all faulty ones.\n"
        "- Deviations are sample deviations.\n",
        out);
}

static void put_unapplied(const Evaluation *e, FILE *out) {
  for (size_t i = 0; i < e->methods->items.len; i++) {
    const EvaluatedMethod *m = method_at(e, i);
    if (m->dropped || !e->unapplied[i])
      continue;
    if (!e->applied[i])
      fprintf(out, "\n`%s` does not apply to any version.\n", m->name);
    else
      fprintf(out,
              "\n`%s` does not apply to %zu version%s; it counts as finding "
              "nothing there.\n",
              m->name, e->unapplied[i], plural(e->unapplied[i]));
  }
}

// --- tables of all methods -------------------------------------------------

typedef void PutRow(const Evaluation *e, size_t method, FILE *out);

static void put_rows(const Evaluation *e, PutRow *put, FILE *out) {
  for (size_t i = 0; i < e->methods->items.len; i++) {
    if (!evaluation_shows(e, i))
      continue;
    fprintf(out, "| `%s` |", method_at(e, i)->name);
    put(e, i, out);
    fputc('\n', out);
  }
}

static void put_top_of(const Summary *s, FILE *out) {
  for (int k = 0; k < FAULT_TOPS; k++)
    put_number(s->top[k], 1, out);
  put_number(s->well_first, 1, out);
  put_number(s->well_all, 1, out);
  for (int ties = 0; ties < TIES; ties++)
    put_number(s->spread[OVER_EXECUTED][ties].mean, 2, out);
}

static void put_top(const Evaluation *e, size_t method, FILE *out) {
  put_top_of(&e->by_fault[method], out);
  put_number(e->by_fault[method].unranked, 1, out);
}

static void put_tops(const Evaluation *e, FILE *out) {
  fputs(
      "\n## Faults among the first lines\n\n% of the faults expected among the "
      "first 1, 3, 5, 10 lines of the ranking, %\nwell-localized, and mean "
      "% of the executed statements examined, by fault:\n\n",
      out);
  put_header("| method | top 1 | top 3 | top 5 | top 10 | well: first | all | "
             "worst | average | best | not listed |",
             out);
  put_rows(e, put_top, out);
}

static void put_top_subjects(const Evaluation *e, size_t method, FILE *out) {
  put_top_of(&e->by_subject[method], out);
}

static void put_tops_by_subject(const Evaluation *e, FILE *out) {
  fputs("\nThe same, by program:\n\n", out);
  put_header("| method | top 1 | top 3 | top 5 | top 10 | well: first | all | "
             "worst | average | best |",
             out);
  put_rows(e, put_top_subjects, out);
}

static void put_within_executed(const Evaluation *e, size_t m, FILE *out) {
  put_within(&e->by_fault[m].spread[OVER_EXECUTED][TIES_WORST], out);
  put_within(&e->by_subject[m].spread[OVER_EXECUTED][TIES_WORST], out);
}

static void put_within_all(const Evaluation *e, size_t m, FILE *out) {
  put_within(&e->by_fault[m].spread[OVER_ALL][TIES_WORST], out);
  put_within(&e->by_subject[m].spread[OVER_ALL][TIES_WORST], out);
}

static const char within_header[] =
    "| method | by fault: 1 % | 2 % | 5 % | 10 % | 20 % | by program: 1 % | "
    "2 % | 5 % | 10 % | 20 % |";

static void put_published_within(FILE *out) {
  size_t n;
  const PublishedSpread *p = published_spreads(&n);
  for (size_t i = 0; i < n; i++) {
    fprintf(out, "| published: %s | - | - | - | - | - |", p[i].method);
    put_within(&p[i].spread, out);
    fputc('\n', out);
  }
}

static void put_withins(const Evaluation *e, FILE *out) {
  fputs("\n## Faults located within a share of the code\n\n% of the faults "
        "located within N % of the **executed** statements:\n\n",
        out);
  put_header(within_header, out);
  put_rows(e, put_within_executed, out);
  fputs("\nThe same for **all** executable statements. The published rows are "
        "for flex, grep,\ngzip and sed, 110 faults (Zhang et al. 2009), as the "
        "mean of the four programs.\n\n",
        out);
  put_header(within_header, out);
  put_rows(e, put_within_all, out);
  put_published_within(out);
}

static void put_spread(const Spread *s, FILE *out) {
  put_number(s->min, 2, out);
  put_number(s->max, 2, out);
  put_number(s->median, 2, out);
  put_number(s->mean, 2, out);
  put_number(s->deviation, 2, out);
}

static void put_spread_all(const Evaluation *e, size_t m, FILE *out) {
  put_spread(&e->by_fault[m].spread[OVER_ALL][TIES_WORST], out);
  put_number(e->by_subject[m].spread[OVER_ALL][TIES_WORST].mean, 2, out);
}

static void put_spread_executed(const Evaluation *e, size_t m, FILE *out) {
  put_spread(&e->by_fault[m].spread[OVER_EXECUTED][TIES_WORST], out);
  put_number(e->by_subject[m].spread[OVER_EXECUTED][TIES_WORST].mean, 2, out);
}

static void put_published_spreads(FILE *out) {
  size_t n;
  const PublishedSpread *p = published_spreads(&n);
  for (size_t i = 0; i < n; i++) {
    fprintf(out, "| published: %s |", p[i].method);
    put_spread(&p[i].spread, out);
    fputs(" - |\n", out);
  }
}

static void put_spreads(const Evaluation *e, FILE *out) {
  static const char header[] = "| method | min | max | median | mean | "
                               "deviation | mean by program |";
  fputs("\n## Code examined\n\n% of the **executed** statements, by fault:\n\n",
        out);
  put_header(header, out);
  put_rows(e, put_spread_executed, out);
  fputs("\n% of **all** executable statements:\n\n", out);
  put_header(header, out);
  put_rows(e, put_spread_all, out);
  put_published_spreads(out);
}

// --- one column per subject ------------------------------------------------

static void put_subject_header(const Evaluation *e, FILE *out) {
  fputs("| method |", out);
  for (size_t i = 0; i < e->nsubjects; i++)
    fprintf(out, " %s |", e->subjects[i].name);
  fputs("\n| --- |", out);
  for (size_t i = 0; i < e->nsubjects; i++)
    fputs(" ---: |", out);
  fputc('\n', out);
}

static const Summary *subject_summary(const Evaluation *e, size_t subject,
                                      size_t method) {
  return &e->subject[subject * e->methods->items.len + method];
}

static void put_subject_means(const Evaluation *e, size_t method, FILE *out) {
  for (size_t i = 0; i < e->nsubjects; i++)
    put_number(
        subject_summary(e, i, method)->spread[OVER_EXECUTED][TIES_WORST].mean,
        1, out);
}

static void put_subject_tops(const Evaluation *e, size_t method, FILE *out) {
  for (size_t i = 0; i < e->nsubjects; i++)
    put_number(subject_summary(e, i, method)->top[2], 0, out);
}

static void put_subjects(const Evaluation *e, FILE *out) {
  fputs("\n## Program by program\n\nMean % of the executed statements "
        "examined:\n\n",
        out);
  put_subject_header(e, out);
  put_rows(e, put_subject_means, out);
  fputs("\n% of the faults expected among the first 5 lines:\n\n", out);
  put_subject_header(e, out);
  put_rows(e, put_subject_tops, out);
}

// --- dependence graph ------------------------------------------------------

static bool has_graph(const Evaluation *e) {
  for (size_t i = 0; i < e->nkept; i++)
    for (size_t m = 0; m < e->methods->items.len; m++)
      if (!isnan(e->outcomes[e->kept[i]].measurements[m].graph))
        return true;
  return false;
}

static void put_graph_score(const Evaluation *e, size_t method, FILE *out) {
  double *scores = mem_array(double, e->nkept);
  GraphSummary s;
  for (size_t i = 0; i < e->nkept; i++)
    scores[i] = e->outcomes[e->kept[i]].measurements[method].graph;
  summarize_graph(scores, e->nkept, &s);
  put_number(s.mean, 2, out);
  for (int i = 0; i < SCORES; i++)
    put_number(s.above[i], 1, out);
  free(scores);
}

static void put_published_graphs(FILE *out) {
  size_t n;
  const PublishedGraph *p = published_graphs(&n);
  for (size_t i = 0; i < n; i++) {
    fprintf(out, "| published: %s | - | - |", p[i].method);
    put_number(p[i].above90, 1, out);
    put_number(p[i].above80, 1, out);
    fputs(" - |\n", out);
  }
}

static void put_graph(const Evaluation *e, FILE *out) {
  if (!has_graph(e))
    return;
  fputs(
      "\n## Score over the dependence graph\n\nThe T-score follows control "
      "and data dependences in both directions from the first\nfive "
      "statements of the ranking, layer by layer, until it meets a faulty "
      "statement. It\nis the % of the program outside these layers. The table "
      "has its mean, and the % of the\nfaults with at least a given score. "
      "Data "
      "dependences through memory come from a\nunification-based points-to "
      "analysis. The published rows are for the Siemens programs,\n107 "
      "versions.\n\n",
      out);
  put_header("| method | mean | >= 95 | >= 90 | >= 80 | >= 50 |", out);
  put_rows(e, put_graph_score, out);
  put_published_graphs(out);
}

// --- pairs -----------------------------------------------------------------

static void put_difference(const Evaluation *e, size_t a, size_t b, FILE *out) {
  double *x = evaluation_examined(e, a, OVER_ALL, TIES_WORST);
  double *y = evaluation_examined(e, b, OVER_ALL, TIES_WORST);
  double share = 100 / (double)e->nkept;
  for (int i = 0; i < MARGINS; i++) {
    PairedDifference d = compare(x, y, e->nkept, margins[i]);
    fprintf(out, " %.1f / %.1f / %.1f |", share * (double)d.less,
            share * (double)d.same, share * (double)d.more);
  }
  free(y);
  free(x);
}

static void put_published_difference(const char *method, FILE *out) {
  const PublishedDifference *p = published_difference(method);
  if (!p)
    return;
  fprintf(out, "| published: %s |", method);
  for (int i = 0; i < MARGINS; i++)
    fprintf(out, " %.1f / %.1f / %.1f |", p->less[i], p->same[i], p->more[i]);
  fputc('\n', out);
}

static void put_pairs_of(const Evaluation *e, size_t a, FILE *out) {
  const char *name = method_at(e, a)->name;
  fprintf(out, "\n`%s` against\n\n", name);
  put_header("| method | +-1 %: less / same / more | +-5 % | +-10 % |", out);
  for (size_t b = 0; b < e->methods->items.len; b++) {
    if (b == a || !evaluation_shows(e, b))
      continue;
    fprintf(out, "| `%s` |", method_at(e, b)->name);
    put_difference(e, a, b, out);
    fputc('\n', out);
  }
  size_t n;
  const PublishedSpread *p = published_spreads(&n);
  for (size_t i = 0; i < n && !strcmp(name, "cp"); i++)
    put_published_difference(p[i].method, out);
}

static void put_pairs(const Evaluation *e, const char *against, FILE *out) {
  fputs("\n## Pair by pair\n\n% of the versions for which a method examines "
        "less code than another, about the\nsame, or more. Differences of up "
        "to 1, 5 or 10 % of all statements count as the same.\n"
        "`pairs.csv` has all pairs.\n",
        out);
  for (size_t i = 0; i < e->methods->items.len; i++) {
    const char *name = method_at(e, i)->name;
    if (evaluation_shows(e, i) &&
        (!strcmp(name, "cp") || !strcmp(name, against)))
      put_pairs_of(e, i, out);
  }
}

// --- ablation --------------------------------------------------------------

static void put_kept(const EvaluatedMethod *m, FILE *out) {
  Str names = {0};
  if (m->dropped)
    kinds_add(m->dropped, ", ", "s", &names);
  fprintf(out, "| `%s`, %s%s |", m->name,
          m->dropped ? "without " : "everything that it takes",
          str_text(&names));
  str_release(&names);
}

static void put_variant(const Evaluation *e, size_t i, FILE *out) {
  const EvaluatedMethod *m = method_at(e, i);
  const Summary *s = &e->by_fault[i];
  put_kept(m, out);
  put_top_of(s, out);
  fputc('\n', out);
}

static bool has_variants(const Evaluation *e, size_t of) {
  for (size_t i = 0; i < e->methods->items.len; i++)
    if (method_at(e, i)->dropped && method_at(e, i)->of == of && e->applied[i])
      return true;
  return false;
}

static void put_ablation(const Evaluation *e, FILE *out) {
  size_t n = e->methods->items.len, shown = 0;
  for (size_t of = 0; of < n; of++) {
    if (!evaluation_shows(e, of) || !has_variants(e, of))
      continue;
    if (!shown++) {
      fputs("\n## Ablation: kinds of entities left out\n\nBy fault, with the "
            "mean "
            "% of the executed statements examined.\n\n",
            out);
      put_header("| method | top 1 | top 3 | top 5 | top 10 | well: first | "
                 "all | worst | average | best |",
                 out);
    }
    put_variant(e, of, out);
    for (size_t i = 0; i < n; i++)
      if (method_at(e, i)->dropped && method_at(e, i)->of == of &&
          e->applied[i])
        put_variant(e, i, out);
  }
}

// --- the page --------------------------------------------------------------

static void put_curves(const char *dir, FILE *out) {
  size_t n;
  const Curve *c = curve_table(&n);
  fputs(
      "\n## Curves\n\nThe share of the faults located within a given share of "
      "the code.\n",
      out);
  for (size_t i = 0; i < n; i++)
    fprintf(
        out,
        "\n%s ([PNG](%s/%s.png), [numbers](%s/%s.csv)):\n\n![%s](%s/%s.svg)\n",
        c[i].title, dir, c[i].name, dir, c[i].name, c[i].title, dir, c[i].name);
}

void tables_write(const Evaluation *e, const TableOptions *o, FILE *out) {
  fprintf(out,
          "# %s\n\nWritten by `culprit eval`. The terms are explained below "
          "the first table.\n\n",
          o->title);
  put_versions(e, out);
  if (!e->nkept)
    return;
  put_words(out);
  put_unapplied(e, out);
  put_tops(e, out);
  put_tops_by_subject(e, out);
  ranges_write(e, out);
  put_withins(e, out);
  put_spreads(e, out);
  put_subjects(e, out);
  put_graph(e, out);
  put_pairs(e, o->against, out);
  put_ablation(e, out);
  if (o->curves)
    put_curves(o->curves, out);
}
