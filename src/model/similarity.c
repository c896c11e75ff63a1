// How alike two runs are: see similarity.h.
#include "model/similarity.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

double similarity_share(size_t same, size_t na, size_t nb) {
  size_t longer = na > nb ? na : nb;
  return longer ? 100.0 * (double)same / (double)longer : 100;
}

// --- multisets --------------------------------------------------------------

static int by_step(const void *a, const void *b) {
  const PathStep *x = a, *y = b;
  if (x->condition != y->condition)
    return x->condition < y->condition ? -1 : 1;
  return x->outcome < y->outcome ? -1 : x->outcome > y->outcome;
}

PathStep *similarity_sorted(const PathStep *steps, size_t n) {
  PathStep *copy = mem_array(PathStep, n);
  if (n) {
    memcpy(copy, steps, n * sizeof *steps);
    qsort(copy, n, sizeof *copy, by_step);
  }
  return copy;
}

size_t similarity_common(const PathStep *a, size_t na, const PathStep *b,
                         size_t nb) {
  size_t both = 0;
  for (size_t i = 0, j = 0; i < na && j < nb;) {
    int c = by_step(&a[i], &b[j]);
    both += c == 0;
    i += c <= 0;
    j += c >= 0;
  }
  return both;
}

// The first that is not before `step`.
static size_t lower_bound(const PathStep *steps, size_t n, PathStep step) {
  size_t from = 0;
  while (from < n) {
    size_t middle = from + (n - from) / 2;
    if (by_step(&steps[middle], &step) < 0)
      from = middle + 1;
    else
      n = middle;
  }
  return from;
}

size_t similarity_count(const PathStep *steps, size_t n, PathStep step) {
  size_t from = lower_bound(steps, n, step), i = from;
  while (i < n && !by_step(&steps[i], &step))
    i++;
  return i - from;
}

// --- inputs -----------------------------------------------------------------

double similarity_inputs(const unsigned char *a, size_t na,
                         const unsigned char *b, size_t nb) {
  size_t shorter = na < nb ? na : nb, same = 0;
  for (size_t i = 0; i < shorter; i++)
    same += a[i] == b[i];
  return similarity_share(same, na, nb);
}
