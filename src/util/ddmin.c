// Delta debugging: see ddmin.h.
#include "util/ddmin.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

typedef struct {
  size_t n;
  bool *keep, *trial;
  StillFails *fails;
  void *ctx;
  size_t *budget;
} Search;

static size_t count(const bool *keep, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    kept += keep[i];
  return kept;
}

// Asks for the parts without those that are number from .. to - 1 among the
// kept ones. If it still fails, they are gone.
static bool try_without(Search *s, size_t from, size_t to) {
  if (!*s->budget)
    return false;
  --*s->budget;
  size_t number = 0;
  for (size_t i = 0; i < s->n; i++) {
    bool cut = number >= from && number < to;
    s->trial[i] = s->keep[i] && !cut;
    number += s->keep[i];
  }
  if (!s->fails(s->ctx, s->trial, s->n))
    return false;
  memcpy(s->keep, s->trial, s->n * sizeof *s->keep);
  return true;
}

// One pass over `pieces` of the kept parts; true if one of them could go. (Of
// two pieces one without the other is the other: subsets need no pass of their
// own.)
static bool reduce(Search *s, size_t kept, size_t pieces) {
  for (size_t i = 0; i < pieces; i++)
    if (try_without(s, kept * i / pieces, kept * (i + 1) / pieces))
      return true;
  return false;
}

size_t ddmin(size_t n, bool *keep, StillFails *fails, void *ctx,
             size_t *budget) {
  Search s = {n, keep, mem_array(bool, n), fails, ctx, budget};
  size_t pieces = 2, kept = count(keep, n);
  while (kept >= 2 && *budget) {
    if (pieces > kept)
      pieces = kept;
    if (reduce(&s, kept, pieces)) {
      pieces = pieces > 2 ? pieces - 1 : 2;
    } else if (pieces < kept) {
      pieces = pieces * 2;
    } else {
      break;
    }
    kept = count(keep, n);
  }
  if (kept == 1 && try_without(&s, 0, 1))
    kept = 0;
  free(s.trial);
  return kept;
}
