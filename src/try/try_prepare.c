// The lines, changes and tests of a search: see try_search.h.
#include <stdlib.h>
#include <string.h>

#include "try/try_internal.h"
#include "util/mem.h"

static bool is_listed(const int64_t *list, size_t n, int64_t value) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == value)
      return true;
  return false;
}

// Appends those of a function or file.
static size_t add_constants(const TrySearch *s, const char *where, int64_t *out,
                            size_t n, size_t most) {
  uint64_t at;
  if (!hashmap_get(&s->constants, where, strlen(where), &at))
    return n;
  const Changes *list = &s->constant_lists.items[at];
  for (size_t i = 0; i < list->len && n < most; i++)
    if (!is_listed(out, n, list->items[i].a))
      out[n++] = list->items[i].a;
  return n;
}

size_t search_constants(const TrySearch *s, const Site *site, int64_t *out,
                        size_t most) {
  return add_constants(s, site->function, out, 0, most);
}

// Those of the function, usual ones, those of the file.
static size_t more_constants(const TrySearch *s, const Site *site, int64_t *out,
                             size_t most) {
  static const int64_t usual[] = {2, 8, 10, 16};
  size_t n = search_constants(s, site, out, most);
  for (size_t i = 0; i < sizeof usual / sizeof *usual && n < most; i++)
    if (!is_listed(out, n, usual[i]))
      out[n++] = usual[i];
  return add_constants(s, site->file, out, n, most);
}

// --- preparing --------------------------------------------------------------

void search_list_runs(TrySearch *s) {
  const TrySession *t = s->session;
  const FailureGroup *g = &t->suite->failures[s->options->failure];
  for (size_t i = 0; i < g->nruns; i++)
    if (t->test_of[g->runs[i]] != SIZE_MAX &&
        t->suite->runs[g->runs[i]].verdict == VERDICT_FAIL)
      array_push(&s->failing, g->runs[i]);
  for (uint32_t i = 0; i < t->suite->nruns; i++)
    if (t->test_of[i] != SIZE_MAX && t->suite->runs[i].verdict == VERDICT_PASS)
      array_push(&s->passing, i);
}

typedef struct {
  uint32_t run;
  double nearness;
} RunNearness;

static int by_nearness(const void *a, const void *b) {
  const RunNearness *x = a, *y = b;
  if (x->nearness != y->nearness)
    return x->nearness < y->nearness ? 1 : -1;
  return (x->run > y->run) - (x->run < y->run);
}

static size_t count_both(const Bitset *a, const Bitset *b) {
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(a, &i); i++)
    n += bitset_has(b, i);
  return n;
}

// Passing runs by how much of what the first failing one executes they share.
void search_order_passing(TrySearch *s) {
  size_t n = s->passing.len;
  RunNearness *list = mem_array(RunNearness, n + 1);
  s->nearest = mem_array(uint32_t, n + 1);
  const Bitset *like = &s->session->executes[s->failing.items[0]];
  size_t size = bitset_count(like);
  for (size_t i = 0; i < n; i++) {
    const Bitset *b = &s->session->executes[s->passing.items[i]];
    size_t both = count_both(like, b), all = size + bitset_count(b);
    list[i] =
        (RunNearness){s->passing.items[i],
                      all > both ? (double)both / (double)(all - both) : 1};
  }
  qsort(list, n, sizeof *list, by_nearness);
  for (size_t i = 0; i < n; i++)
    s->nearest[i] = list[i].run;
  free(list);
}

static void list_constant(TrySearch *s, const char *where, const Site *site) {
  enum { MOST = 64 };
  uint64_t at = hashmap_intern(&s->constants, where, strlen(where),
                               s->constant_lists.len);
  if (at == s->constant_lists.len)
    array_push(&s->constant_lists, (Changes){0});
  Changes *list = &s->constant_lists.items[at];
  for (size_t k = 0; k < list->len; k++)
    if (list->items[k].a == site->value)
      return;
  if (list->len < MOST)
    array_push(list, ((Change){.site = site, .a = site->value}));
}

// The constants of each function and each file, once each.
void search_collect_constants(TrySearch *s) {
  const SiteTable *t = s->session->sites;
  for (size_t i = 0; i < t->sites.len; i++) {
    const Site *site = &t->sites.items[i];
    if (site->kind != SITE_CONSTANT || site->flags & SITE_REAL)
      continue;
    list_constant(s, site->function, site);
    list_constant(s, site->file, site);
  }
}

static int by_cost(const void *a, const void *b) {
  const Change *x = a, *y = b;
  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  if (x->site != y->site)
    return x->site < y->site ? -1 : 1;
  return (x->change > y->change) - (x->change < y->change);
}

static bool is_asked(const TrySearchOptions *o, const Change *c) {
  switch (c->site->kind) {
  case SITE_VARIABLE:
  case SITE_FIELD:
    return o->variables;
  case SITE_CONSTANT:
    return o->constants;
  case SITE_BEFORE:
    return o->insertions;
  case SITE_CALL:
  case SITE_STORE:
    return o->statements || c->change != CHANGE_SKIP;
  default:
    return true;
  }
}

static void collect_changes(TrySearch *s, SearchLine *l) {
  enum { CONSTANTS = 32 };
  const Suite *suite = s->session->suite;
  const Entity *e = &suite->entities[l->statement];
  const char *path = suite->sources[e->source].path;
  const SiteTable *t = s->session->sites;
  int64_t constants[CONSTANTS];
  Changes all = {0};
  for (size_t i = 0; i < t->sites.len; i++) {
    const Site *site = &t->sites.items[i];
    if (site->line != e->line || strcmp(site->file, path) != 0)
      continue;
    size_t n = more_constants(s, site, constants, CONSTANTS);
    changes_of(site, constants, n, &all);
  }
  for (size_t i = 0; i < all.len; i++)
    if (is_asked(s->options, &all.items[i]))
      array_push(&l->changes, all.items[i]);
  array_release(&all);
  if (l->changes.len)
    qsort(l->changes.items, l->changes.len, sizeof *l->changes.items, by_cost);
}

// The quickest failing run that executes the line; UINT32_MAX: none does.
static uint32_t screening_run(const TrySearch *s, uint32_t statement) {
  uint32_t best = UINT32_MAX;
  for (size_t i = 0; i < s->failing.len; i++) {
    uint32_t run = s->failing.items[i];
    if (s->session->dropped[run] || !search_executes(s, run, statement))
      continue;
    uint64_t steps = s->steps[s->session->test_of[run]];
    if (best == UINT32_MAX ||
        (steps && steps < s->steps[s->session->test_of[best]]))
      best = run;
  }
  return best;
}

void search_collect_lines(TrySearch *s) {
  for (size_t i = 0; i < s->options->nlines; i++) {
    SearchLine l = {.statement = s->options->lines[i]};
    l.screen = screening_run(s, l.statement);
    if (l.screen == UINT32_MAX)
      continue;
    collect_changes(s, &l);
    array_push(&s->lines, l);
  }
}
