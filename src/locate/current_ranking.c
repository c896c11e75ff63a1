// The ranking of a session as it stands now: see current_ranking.h.
#include "locate/current_ranking.h"

int current_ranking_make(CurrentRanking *s, Store *store, int64_t session,
                         const char *method, Err *err) {
  *s = (CurrentRanking){0};
  if (store_load(store, session, &s->suite, err))
    return -1;
  session_evidence_init(&s->evidence, store, &s->suite);
  LocateOptions options = {.by = ENTITY_STATEMENT};
  if (!method)
    method = method_standard(&s->suite);
  Localizer localizer;
  bool lacking;
  Err ignored;
  s->ranked = s->suite.nfailures && localizer_find(method, &localizer) &&
              !localizer_open(&s->localizer, &s->evidence, &localizer, &options,
                              &ignored) &&
              !localizer_load(&s->localizer, &lacking, &ignored) &&
              !localizer_rank(&s->localizer, 0, &s->ranking, &ignored);
  return 0;
}

void current_ranking_release(CurrentRanking *s) {
  ranking_release(&s->ranking);
  localizer_close(&s->localizer);
  session_evidence_release(&s->evidence);
  suite_release(&s->suite);
}
