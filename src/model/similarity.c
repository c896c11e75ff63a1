// How alike two runs are: see similarity.h.
#include "model/similarity.h"

#include <stdlib.h>
#include <string.h>

#include "util/hashmap.h"
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

double similarity_subset(const PathStep *a, size_t na, const PathStep *b,
                         size_t nb) {
  PathStep *x = similarity_sorted(a, na), *y = similarity_sorted(b, nb);
  size_t both = similarity_common(x, na, y, nb);
  free(x);
  free(y);
  return similarity_share(both, na, nb);
}

// --- stretches --------------------------------------------------------------

// Is there a stretch of n steps that both have? Stretches of `a` are kept by
// their bytes: exact, whatever the hash.
static bool has_stretch(const PathStep *a, size_t na, const PathStep *b,
                        size_t nb, size_t n) {
  Hashmap seen = {0};
  bool found = false;
  uint64_t at;
  for (size_t i = 0; i + n <= na; i++)
    hashmap_put(&seen, a + i, n * sizeof *a, i);
  for (size_t i = 0; !found && i + n <= nb; i++)
    found = hashmap_get(&seen, b + i, n * sizeof *b, &at);
  hashmap_release(&seen);
  return found;
}

// Beyond that the table takes too long: beginnings, ends and stretches of a few
// lengths are compared.
enum { LONG_PATH = 20000 };

// The classical table, two rows of it.
static size_t longest_by_table(const PathStep *a, size_t na, const PathStep *b,
                               size_t nb) {
  uint32_t *row = mem_array(uint32_t, nb + 1);
  uint32_t best = 0;
  for (size_t i = 0; i < na; i++) {
    uint32_t diagonal = 0;
    for (size_t j = 1; j <= nb; j++) {
      uint32_t above = row[j];
      row[j] = by_step(&a[i], &b[j - 1]) ? 0 : diagonal + 1;
      best = row[j] > best ? row[j] : best;
      diagonal = above;
    }
  }
  free(row);
  return best;
}

// A common prefix or suffix is what long paths have in common in practice; more
// than that is looked for in steps of doubling length.
static size_t longest_of_long(const PathStep *a, size_t na, const PathStep *b,
                              size_t nb) {
  size_t shorter = na < nb ? na : nb, head = 0, tail = 0;
  while (head < shorter && !by_step(&a[head], &b[head]))
    head++;
  while (tail < shorter && !by_step(&a[na - 1 - tail], &b[nb - 1 - tail]))
    tail++;
  size_t best = head > tail ? head : tail;
  for (size_t n = 64; n <= 1024; n *= 2)
    if (n > best && has_stretch(a, na, b, nb, n))
      best = n;
  return best;
}

double similarity_subsequence(const PathStep *a, size_t na, const PathStep *b,
                              size_t nb) {
  bool fits = na < LONG_PATH && nb < LONG_PATH;
  size_t longest =
      fits ? longest_by_table(a, na, b, nb) : longest_of_long(a, na, b, nb);
  return similarity_share(longest, na, nb);
}

// --- inputs -----------------------------------------------------------------

double similarity_inputs(const unsigned char *a, size_t na,
                         const unsigned char *b, size_t nb) {
  size_t shorter = na < nb ? na : nb, same = 0;
  for (size_t i = 0; i < shorter; i++)
    same += a[i] == b[i];
  return similarity_share(same, na, nb);
}
