// How alike two runs are, in per cent: by the conditions on their paths (PCS,
// path-constraint similarity) or by their inputs (IS). Artzi, Dolby, Tip and
// Pistoia 2010, "Directed test generation for effective fault localization".
//
// Six conditions of which the third differs: 5 of 6 instances evaluate the same
// way, 83.3. The longest stretch in common is 3 of 6, 50.0 (input/strategy.c).
#ifndef CULPRIT_MODEL_SIMILARITY_H
#define CULPRIT_MODEL_SIMILARITY_H

#include <stddef.h>
#include <stdint.h>

// One conditional statement instance on a path: which condition, and how it
// went.
typedef struct {
  uint32_t condition, outcome;
} PathStep;

// A copy in order, to be freed; and how many instances two paths in order have
// in common, as multisets.
PathStep *similarity_sorted(const PathStep *steps, size_t n);
size_t similarity_common(const PathStep *a, size_t na, const PathStep *b,
                         size_t nb);
// How many instances of `step` a path in order has.
size_t similarity_count(const PathStep *steps, size_t n, PathStep step);
// Input variables with the same value, over the longer list. A variable is one
// byte here; those beyond the end of the shorter input differ.
double similarity_inputs(const unsigned char *a, size_t na,
                         const unsigned char *b, size_t nb);
// `same` of the longer of two lists, in per cent; two empty ones are alike.
double similarity_share(size_t same, size_t na, size_t nb);

#endif
