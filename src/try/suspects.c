// Where experiments begin: see suspects.h.
#include "try/suspects.h"

#include <stdlib.h>
#include <string.h>

enum { FAILURES_MOST = 4 }; // that are looked at

// --- lines ------------------------------------------------------------------

static bool is_listed(const Statements *list, uint32_t statement) {
  for (size_t i = 0; i < list->len; i++)
    if (list->items[i] == statement)
      return true;
  return false;
}

static void add_beside(const Suite *s, uint32_t statement, Statements *out) {
  const Entity *e = &s->entities[statement];
  for (uint32_t i = 0; i < s->nentities; i++) {
    const Entity *other = &s->entities[i];
    if (other->kind == ENTITY_STATEMENT && other->source == e->source &&
        other->function == e->function && other->line + 2 >= e->line &&
        other->line <= e->line + 2 && !suite_comes_last(s, i) &&
        !is_listed(out, i))
      array_push(out, i);
  }
}

int suspects_list(OpenLocalizer *l, const Suite *suite, size_t failure,
                  size_t most, Statements *out, Err *err) {
  enum { BESIDE = 12 };
  Ranking ranking = {.failure = failure};
  if (localizer_rank(l, failure, &ranking, err)) {
    ranking_release(&ranking);
    return -1;
  }
  for (size_t i = 0; i < ranking.suspects.len && out->len < most; i++)
    if (!ranking.suspects.items[i].test)
      array_push(out, ranking.suspects.items[i].entity);
  size_t first = out->len < BESIDE ? out->len : BESIDE;
  for (size_t i = 0; i < first; i++)
    add_beside(suite, out->items[i], out);
  ranking_release(&ranking);
  return 0;
}

// --- runs -------------------------------------------------------------------

static void take_spectrum(void *context, size_t run, const Bitset *hits) {
  bitset_union(&((Bitset *)context)[run], hits);
}

int suspects_executed(Store *store, const Suite *suite, Bitset **out,
                      Err *err) {
  *out = mem_array(Bitset, suite->nruns + 1);
  return store_each_spectrum(store, suite, ENTITY_STATEMENT, take_spectrum,
                             *out, err);
}

void suspects_free_executed(const Suite *suite, Bitset *executed) {
  for (size_t i = 0; executed && i < suite->nruns; i++)
    bitset_release(&executed[i]);
  free(executed);
}

bool suspects_is_tried(const RunInfo *run) {
  return run->has_spectrum &&
         (run->verdict == VERDICT_PASS || run->verdict == VERDICT_FAIL);
}

// --- failures ---------------------------------------------------------------

int suspects_each(Store *store, Suite *suite, const char *method,
                  bool (*go_on)(void *context),
                  int (*work)(void *context, OpenLocalizer *l, size_t failure,
                              size_t left, Err *err),
                  void *context, Err *err) {
  SessionEvidence evidence;
  OpenLocalizer l;
  Localizer found;
  bool lacking;
  LocateOptions options = {.by = ENTITY_STATEMENT};
  size_t n =
      suite->nfailures < FAILURES_MOST ? suite->nfailures : FAILURES_MOST;
  if (!localizer_find(method, &found))
    return err_set(err, "no method '%s'", method);
  session_evidence_init(&evidence, store, suite);
  int rc = localizer_open(&l, &evidence, &found, &options, err);
  if (!rc)
    rc = localizer_load(&l, &lacking, err);
  for (size_t i = 0; i < n && !rc && go_on(context); i++)
    rc = work(context, &l, i, n - i, err);
  localizer_close(&l);
  session_evidence_release(&evidence);
  return rc;
}

// --- notes ------------------------------------------------------------------

int suspects_write_note(const Suite *suite, size_t failure, const char *dir,
                        TryNote *note, Err *err) {
  note->head.session = suite->session;
  note->head.part = (uint32_t)failure;
  note->head.signature = suite->failures[failure].signature;
  for (size_t i = 0; i < suite->nsources; i++) {
    const Source *s = &suite->sources[i];
    bool named = false;
    for (size_t k = 0; k < note->lines.len && !named; k++)
      named = !strcmp(note->lines.items[k].file, s->path);
    if (named)
      array_push(&note->head.sources, *s);
  }
  return note_write(&try_note_kind, dir, note, err);
}
