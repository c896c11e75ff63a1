// The ranking of a session as it stands now: see snapshot.h.
#include "locate/snapshot.h"

int snapshot_take(Snapshot *s, Store *store, int64_t session,
                  const char *method, Err *err) {
  *s = (Snapshot){0};
  if (store_load(store, session, &s->suite, err))
    return -1;
  workbench_init(&s->bench, store, &s->suite);
  LocateOptions options = {.by = ENTITY_STATEMENT};
  Localizer localizer;
  bool lacking;
  Err ignored;
  s->ranked =
      s->suite.nfailures && localizer_find(method, &localizer) &&
      !locator_open(&s->locator, &s->bench, &localizer, &options, &ignored) &&
      !locator_load(&s->locator, &lacking, &ignored) &&
      !locator_rank(&s->locator, 0, &s->ranking, &ignored);
  return 0;
}

void snapshot_release(Snapshot *s) {
  ranking_release(&s->ranking);
  locator_close(&s->locator);
  if (s->bench.suite)
    workbench_release(&s->bench);
  suite_release(&s->suite);
}
