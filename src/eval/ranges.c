// The six techniques in eleven ranges: see ranges.h.
#include "eval/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "eval/metrics.h"
#include "util/mem.h"

typedef struct {
  const char *method, *name; // ours, the paper's
  Ranges published;          // 73 or 75 faults of four applications
} Technique;

// clang-format off
static const Technique techniques[] = {
    {"apollo-t", "T", {73, 227.8, 13.2,
      {17.8, 54.8, 12.3, 2.7, 4.1, 1.4, 0.0, 2.7, 0.0, 1.4, 2.7}}},
    {"apollo-o", "O", {73, 465.7, 25.9,
      {75.3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24.7}}},
    {"apollo-t+o", "T+O", {73, 72.7, 5.6,
      {82.2, 9.6, 1.4, 1.4, 1.4, 1.4, 0, 0, 0, 0, 2.7}}},
    {"apollo-tc", "TC", {73, 183.6, 10.4,
      {20.5, 56.2, 12.3, 0.0, 5.5, 0.0, 1.4, 2.7, 0.0, 0.0, 1.4}}},
    {"apollo-tcoro", "TCorO", {73, 352.2, 15.4,
      {74.0, 8.2, 1.4, 0, 1.4, 0, 1.4, 0, 0, 0, 13.7}}},
    {"apollo-tc+o", "TC+O", {73, 20.5, 2.2,
      {87.7, 8.2, 1.4, 0, 1.4, 0, 1.4, 0, 0, 0, 0}}},
};
// clang-format on
enum { TECHNIQUES = sizeof techniques / sizeof *techniques };

// --- numbers ----------------------------------------------------------------

// Below 1 %, below 10 %, ... as "well-localized" has it: 1 % is not within 1 %.
static int range_of(double percent) {
  if (percent < 1)
    return 0;
  int i = 1 + (int)(percent / 10);
  return i < RANGES ? i : RANGES - 1;
}

void ranges_of(const FaultScore *const *scores, const size_t *executed,
               size_t n, Ranges *out) {
  *out = (Ranges){.faults = n};
  for (size_t i = 0; i < n; i++) {
    double percent =
        scores[i] ? examined(scores[i], OVER_EXECUTED, TIES_WORST) : 100;
    bool found = scores[i] && scores[i]->ranked;
    out->statements += found ? scores[i]->rank : (double)executed[i];
    out->percent += percent;
    out->share[range_of(percent)] += 100;
  }
  out->statements /= (double)n;
  out->percent /= (double)n;
  for (int i = 0; i < RANGES; i++)
    out->share[i] /= (double)n;
}

// --- the table --------------------------------------------------------------

static size_t find_method(const Evaluation *e, const char *name) {
  size_t i = 0;
  while (i < e->methods->items.len &&
         (!evaluation_shows(e, i) ||
          strcmp(e->methods->items.items[i].name, name) != 0))
    i++;
  return i;
}

static void put_ranges(const char *program, const char *technique,
                       const Ranges *r, FILE *out) {
  fprintf(out, "| %s | %s | %zu | %.1f | %.1f |", program, technique, r->faults,
          r->statements, r->percent);
  for (int i = 0; i < RANGES; i++)
    fprintf(out, " %.1f |", r->share[i]);
  fputc('\n', out);
}

static void put_rows(const Evaluation *e, const char *program,
                     const size_t *versions, size_t n, FILE *out) {
  const FaultScore **scores = mem_array(const FaultScore *, n);
  size_t *executed = mem_array(size_t, n);
  for (size_t i = 0; i < n; i++)
    executed[i] = e->outcomes[versions[i]].executed;
  for (size_t t = 0; t < TECHNIQUES; t++) {
    size_t method = find_method(e, techniques[t].method);
    if (method == e->methods->items.len)
      continue;
    for (size_t i = 0; i < n; i++)
      scores[i] = evaluation_score(e, versions[i], method);
    Ranges r;
    ranges_of(scores, executed, n, &r);
    put_ranges(program, techniques[t].name, &r, out);
  }
  free(scores);
  free(executed);
}

static bool has_techniques(const Evaluation *e) {
  for (size_t t = 0; t < TECHNIQUES; t++)
    if (find_method(e, techniques[t].method) < e->methods->items.len)
      return true;
  return false;
}

void ranges_write(const Evaluation *e, FILE *out) {
  if (!has_techniques(e))
    return;
  fputs("\n## The six techniques, as the paper has them\n\n"
        "Mean number and % of the executed statements to examine (worst case "
        "of ties), and\n% of the faults in each range of that %. "
        "\"Published\" is Artzi, Dolby, Tip and\nPistoia 2010, over four other "
        "applications with other faults and generated tests;\nthe column 0-1 "
        "is what they call well-localized.\n\n"
        "| application | technique | faults | statements | % | 0-1 | 1-10 | "
        "10-20 | 20-30 | 30-40 | 40-50 | 50-60 | 60-70 | 70-80 | 80-90 | "
        "90-100 |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
        "---: | ---: | ---: | ---: | ---: | ---: |\n",
        out);
  for (size_t i = 0; i < e->nsubjects; i++)
    put_rows(e, e->subjects[i].name, e->subjects[i].versions,
             e->subjects[i].nversions, out);
  put_rows(e, "all", e->kept, e->nkept, out);
  for (size_t t = 0; t < TECHNIQUES; t++)
    put_ranges("published", techniques[t].name, &techniques[t].published, out);
}
