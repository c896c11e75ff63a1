// Is the order of the first lines decided? See close_decision.h.
#include "look/close_decision.h"

#include <string.h>

#include "locate/localizer.h"
#include "util/fs.h"
#include "util/mem.h"

int close_decision_open(CloseDecision *d, Store *store, int64_t session,
                        const char *dir, Err *err) {
  *d = (CloseDecision){.session = session};
  if (fs_mkdirs(dir, err) || store_copy(store, session, dir, err))
    return -1;
  return store_open(&d->copy, dir, STORE_EXISTING, err);
}

void close_decision_close(CloseDecision *d) {
  store_close(d->copy);
  array_release(&d->order);
  *d = (CloseDecision){0};
}

typedef ARRAY(uint32_t) LineOrder;

static void add_lines(const Ranking *r, LineOrder *out) {
  for (size_t i = 0; i < r->suspects.len && i < DECISION_LINES; i++)
    array_push(out, r->suspects.items[i].entity);
}

static int rank_others(const CurrentRanking *now, LineOrder *out, Err *err) {
  size_t n = now->suite.nfailures;
  for (size_t i = 1; i < n && i < DECISION_FAILURES; i++) {
    Ranking r = {.failure = i};
    int rc = localizer_rank(&now->localizer, i, &r, err);
    if (!rc)
      add_lines(&r, out);
    ranking_release(&r);
    if (rc)
      return -1;
  }
  return 0;
}

static int rank(CloseDecision *d, LineOrder *out, Err *err) {
  CurrentRanking now;
  int rc = current_ranking_make(&now, d->copy, d->session, NULL, err);
  if (!rc && now.ranked) {
    add_lines(&now.ranking, out);
    rc = rank_others(&now, out, err);
  }
  current_ranking_release(&now);
  return rc;
}

int close_decision_round(CloseDecision *d, FoundUnit *found,
                         const FoundRun *runs, size_t n, bool *decided,
                         Err *err) {
  LineOrder order = {0};
  *decided = false;
  if (found_store(found, d->copy, d->session, runs, n, "decided", err) ||
      rank(d, &order, err)) {
    array_release(&order);
    return -1;
  }
  *decided =
      order.len && order.len == d->order.len &&
      !memcmp(order.items, d->order.items, order.len * sizeof *order.items);
  d->order.len = 0;
  for (size_t i = 0; i < order.len; i++)
    array_push(&d->order, order.items[i]);
  array_release(&order);
  return 0;
}
