// Failures by place: see place_group.h.
#include "model/place_group.h"

#include <stdlib.h>
#include <string.h>

#include "util/bitset.h"
#include "util/mem.h"

static bool same_place(const FailureGroup *a, const FailureGroup *b) {
  return *a->place && !strcmp(a->place, b->place);
}

// The group that begins with failure `first`.
static PlaceGroup group_from(const Suite *s, size_t first) {
  PlaceGroup g = {.first = first};
  Bitset runs = {0};
  do {
    const FailureGroup *f = &s->failures[first + g.n++];
    for (size_t i = 0; i < f->nruns; i++) {
      g.runs += !bitset_has(&runs, f->runs[i]);
      bitset_add(&runs, f->runs[i]);
    }
  } while (first + g.n < s->nfailures &&
           same_place(&s->failures[first], &s->failures[first + g.n]));
  bitset_release(&runs);
  return g;
}

static void find_groups(const Suite *s, PlaceGroups *out) {
  for (size_t i = 0; i < s->nfailures;
       i = array_last(out).first + array_last(out).n)
    array_push(out, group_from(s, i));
}

// --- sorting ----------------------------------------------------------------

static int by_name(const void *a, const void *b) {
  const FailureGroup *x = a, *y = b;
  int order = strcmp(x->place, y->place);
  if (!order && x->nruns != y->nruns)
    order = x->nruns > y->nruns ? -1 : 1;
  return order ? order : strcmp(x->signature, y->signature);
}

static int by_runs(const void *a, const void *b) {
  const PlaceGroup *x = a, *y = b;
  if (x->runs != y->runs)
    return x->runs > y->runs ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

void suite_sort_by_place(Suite *s) {
  PlaceGroups groups = {0};
  if (!s->nfailures)
    return;
  qsort(s->failures, s->nfailures, sizeof *s->failures, by_name);
  find_groups(s, &groups);
  qsort(groups.items, groups.len, sizeof *groups.items, by_runs);
  FailureGroup *sorted = mem_array(FailureGroup, s->nfailures);
  size_t n = 0;
  for (size_t i = 0; i < groups.len; i++)
    for (size_t k = 0; k < groups.items[i].n; k++)
      sorted[n++] = s->failures[groups.items[i].first + k];
  memcpy(s->failures, sorted, n * sizeof *sorted);
  free(sorted);
  array_release(&groups);
}

// --- reading ----------------------------------------------------------------

void suite_places(const Suite *s, PlaceGroups *out) {
  if (is_web_session(s))
    find_groups(s, out);
}

const PlaceGroup *place_group_at(const PlaceGroups *groups, size_t failure) {
  for (size_t i = 0; i < groups->len; i++)
    if (groups->items[i].first == failure)
      return &groups->items[i];
  return NULL;
}

void place_groups_count(const PlaceGroups *groups, Str *out) {
  if (groups->len)
    str_addf(out, " at %zu place%s", groups->len, plural(groups->len));
}
