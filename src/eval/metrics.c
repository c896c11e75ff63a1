// The numbers that papers print: see metrics.h.
#include "eval/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

const double limits[LIMITS] = {1, 2, 5, 10, 20};

// Ranks are whole numbers: what differs by less is the same share.
static const double tolerance = 1e-9;

double examined(const FaultScore *s, Base base, Ties ties) {
  size_t whole = base == OVER_EXECUTED ? s->executed : s->executable;
  double rank = ties == TIES_WORST     ? s->rank
                : ties == TIES_AVERAGE ? s->rank_average
                                       : s->rank_best;
  if (!s->ranked || !whole)
    return 100;
  return 100 * rank / (double)whole;
}

double located(const double *values, size_t n, double x) {
  size_t found = 0;
  assert(n);
  for (size_t i = 0; i < n; i++)
    found += values[i] <= x + tolerance;
  return 100 * (double)found / (double)n;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Sorts the values.
static void spread_of(double *values, size_t n, Spread *out) {
  double sum = 0, squares = 0;
  qsort(values, n, sizeof *values, by_value);
  for (size_t i = 0; i < n; i++)
    sum += values[i];
  out->mean = sum / (double)n;
  for (size_t i = 0; i < n; i++)
    squares += (values[i] - out->mean) * (values[i] - out->mean);
  out->deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
  out->min = values[0];
  out->max = values[n - 1];
  out->median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  for (int i = 0; i < LIMITS; i++)
    out->within[i] = located(values, n, limits[i]);
}

void summarize(const FaultScore *const *scores, size_t n, Summary *out) {
  static const FaultScore nothing;
  double *values = mem_array(double, n), share = 100 / (double)n;
  assert(n);
  *out = (Summary){.faults = n};
  for (int base = 0; base < BASES; base++)
    for (int ties = 0; ties < TIES; ties++) {
      for (size_t i = 0; i < n; i++)
        values[i] =
            examined(scores[i] ? scores[i] : &nothing, (Base)base, (Ties)ties);
      spread_of(values, n, &out->spread[base][ties]);
    }
  free(values);
  for (size_t i = 0; i < n; i++) {
    const FaultScore *s = scores[i] ? scores[i] : &nothing;
    for (int k = 0; k < FAULT_TOPS; k++)
      out->top[k] += share * s->top[k];
    out->well_first += share * s->well_first;
    out->well_all += share * s->well_all;
    out->unranked += share * !s->ranked;
  }
}

// Everything in a Spread is a double.
static void spread_add(Spread *sum, const Spread *s, double weight) {
  double a[sizeof(Spread) / sizeof(double)], b[sizeof(Spread) / sizeof(double)];
  memcpy(a, sum, sizeof a);
  memcpy(b, s, sizeof b);
  for (size_t i = 0; i < sizeof a / sizeof *a; i++)
    a[i] += weight * b[i];
  memcpy(sum, a, sizeof a);
}

void summary_average(const Summary *s, size_t n, Summary *out) {
  double weight = 1 / (double)n;
  assert(n);
  *out = (Summary){0};
  for (size_t i = 0; i < n; i++) {
    out->faults += s[i].faults;
    for (int base = 0; base < BASES; base++)
      for (int ties = 0; ties < TIES; ties++)
        spread_add(&out->spread[base][ties], &s[i].spread[base][ties], weight);
    for (int k = 0; k < FAULT_TOPS; k++)
      out->top[k] += weight * s[i].top[k];
    out->well_first += weight * s[i].well_first;
    out->well_all += weight * s[i].well_all;
    out->unranked += weight * s[i].unranked;
  }
}

PairedDifference compare(const double *a, const double *b, size_t n,
                         double margin) {
  PairedDifference d = {0};
  for (size_t i = 0; i < n; i++) {
    double difference = a[i] - b[i];
    if (difference < -margin - tolerance)
      d.less++;
    else if (difference > margin + tolerance)
      d.more++;
    else
      d.same++;
  }
  return d;
}

const double score_limits[SCORES] = {95, 90, 80, 50};

void summarize_graph(const double *scores, size_t n, GraphSummary *out) {
  assert(n);
  *out = (GraphSummary){0};
  for (size_t i = 0; i < n; i++) {
    double score = isnan(scores[i]) ? 0 : 100 * scores[i];
    out->mean += score / (double)n;
    for (int k = 0; k < SCORES; k++)
      out->above[k] +=
          100.0 * (score >= score_limits[k] - tolerance) / (double)n;
  }
}
