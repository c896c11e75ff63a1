// The result of an import: see foreign.h.
#include "import/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void foreign_release(Foreign *f) {
  array_release(&f->units);
  for (size_t i = 0; i < f->runs.len; i++)
    run_release(&f->runs.items[i]);
  array_release(&f->runs);
  verdicts_release(&f->verdicts);
  arena_release(&f->arena);
}

void judgement_release(Judgement *j) {
  array_release(&j->unjudged);
  array_release(&j->ambiguous);
  array_release(&j->uncovered);
}

// --- verdicts --------------------------------------------------------------

// What groups failing tests is the type of their failure: messages hold values
// that differ from test to test.
static void add_failure(Run *run, const TestVerdict *t) {
  const char *signature = t->type ? t->type : "failed";
  bool both = t->type && t->message && !strstr(t->message, t->type);
  char *message = both         ? mem_printf("%s: %s", t->type, t->message)
                  : t->message ? mem_strdup(t->message)
                  : t->type    ? mem_strdup(t->type)
                               : mem_strdup("the test failed");
  array_push(&run->failures, (Failure){.kind = mem_strdup("verdict"),
                                       .message = message,
                                       .place = mem_strdup(""),
                                       .signature = mem_strdup(signature)});
}

static void take_verdict(Run *run, const TestVerdict *t) {
  run->verdict = t->verdict;
  run->seconds = t->seconds;
  run->status = t->verdict == VERDICT_FAIL;
  if (t->verdict == VERDICT_FAIL)
    add_failure(run, t);
  if (t->verdict == VERDICT_ERROR)
    run->note = mem_strdup("its imported verdict says so");
  if (t->verdict == VERDICT_FLAKY)
    run->note = mem_strdup("its imported verdicts differ");
}

static void judge_run(Run *run, VerdictFinder *finder, Judgement *out) {
  bool ambiguous;
  const TestVerdict *t = finder_find(finder, run->test, &ambiguous);
  if (t) {
    take_verdict(run, t);
    return;
  }
  run->verdict = VERDICT_ERROR;
  run->note = mem_strdup(ambiguous ? "several imported verdicts fit its name"
                                   : "no imported verdict names it");
  if (ambiguous)
    array_push(&out->ambiguous, run->test);
  else
    array_push(&out->unjudged, run->test);
}

static void add_uncovered(Foreign *f, const TestVerdict *t, Judgement *out) {
  Run run = {.test = mem_strdup(t->name), .command = mem_strdup("")};
  take_verdict(&run, t);
  if (!run.note)
    run.note = mem_strdup("no coverage of it was imported");
  array_push(&f->runs, run);
  array_push(&out->uncovered, t->name);
}

void foreign_judge(Foreign *f, Judgement *out) {
  *out = (Judgement){0};
  if (f->judged)
    return;
  VerdictFinder finder;
  finder_init(&finder, &f->verdicts);
  for (size_t i = 0; i < f->runs.len; i++)
    judge_run(&f->runs.items[i], &finder, out);
  for (size_t i = 0; i < f->verdicts.items.len; i++)
    if (!finder.used[i])
      add_uncovered(f, &f->verdicts.items.items[i], out);
  finder_release(&finder);
  f->judged = true;
}

// --- storing ---------------------------------------------------------------

// stored[i]: the session's id of our entity i.
static int store_units(const Foreign *f, Store *s, int64_t session,
                       uint32_t *stored, Err *err) {
  for (size_t i = 0; i < f->units.len; i++) {
    const ForeignUnit *u = &f->units.items[i];
    uint32_t *ids = mem_array(uint32_t, u->unit.nentities);
    int rc = u->origin ? store_copy_unit(s, session, &u->unit, ids, err)
                       : store_add_unit(s, session, &u->unit, ids, err);
    for (size_t k = 0; !rc && k < u->unit.nentities; k++)
      stored[u->ids[k]] = ids[k];
    free(ids);
    if (rc)
      return u->origin ? err_prefix(err, "%s", u->origin) : -1;
  }
  return 0;
}

static Bitset translate(const Bitset *hits, const uint32_t *stored) {
  Bitset out = {0};
  for (uint32_t i = 0; bitset_next(hits, &i); i++)
    bitset_add(&out, stored[i]);
  return out;
}

static int by_entity(const void *a, const void *b) {
  const EntityCount *x = a, *y = b;
  return x->entity < y->entity ? -1 : x->entity > y->entity;
}

// A verdict without coverage must not replace a run that has some.
static bool is_known(const Run *run, Store *s, ForeignTarget *t) {
  if (!t->add || !store_has_run(s, t->session, run->test))
    return false;
  if (!run->processes)
    return true;
  t->replaced++;
  return false;
}

static int store_run(const Foreign *f, size_t i, Store *s, ForeignTarget *t,
                     const uint32_t *stored, Err *err) {
  Run run = f->runs.items[i]; // shares all but the hits and counts
  if (is_known(&run, s, t))
    return 0;
  for (int k = 0; k < ENTITY_KINDS; k++)
    run.hits[k] = translate(&f->runs.items[i].hits[k], stored);
  size_t n = run.counts.len;
  run.counts.items = mem_dup(run.counts.items, n * sizeof(EntityCount));
  for (size_t k = 0; k < n; k++)
    run.counts.items[k].entity = stored[run.counts.items[k].entity];
  if (n)
    qsort(run.counts.items, n, sizeof(EntityCount), by_entity);
  int rc = store_add_run(s, t->session, &run, err);
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&run.hits[k]);
  free(run.counts.items);
  return rc;
}

static int store_all(const Foreign *f, Store *s, ForeignTarget *t, Err *err) {
  bool continued;
  int rc = t->add ? session_reopen(s, &t->session, err)
                  : session_begin(s, t->command, t->command, t->cwd,
                                  &t->session, &continued, err);
  if (rc)
    return -1;
  uint32_t *stored = mem_array(uint32_t, f->nids);
  rc = store_units(f, s, t->session, stored, err);
  for (size_t i = 0; !rc && i < f->runs.len; i++)
    rc = store_run(f, i, s, t, stored, err);
  free(stored);
  return rc ? -1 : session_finish(s, t->session, err);
}

int foreign_store(const Foreign *f, Store *s, ForeignTarget *t, Err *err) {
  t->session = 0;
  t->replaced = 0;
  if (store_bulk_begin(s, err))
    return -1;
  int rc = store_all(f, s, t, err);
  if (store_bulk_end(s, !rc, err))
    rc = -1;
  return rc;
}
