// All outcomes together: see evaluation.h.
#include "eval/evaluation.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static VersionState state_of(const VersionOutcome *o, double max_failing) {
  size_t judged = o->failing + o->passing;
  if (o->problem)
    return EXCLUDED_PROBLEM;
  if (!o->failing)
    return EXCLUDED_NO_FAILING;
  if (!o->passing)
    return EXCLUDED_NO_PASSING;
  if ((double)o->failing > max_failing * (double)judged)
    return EXCLUDED_SHARE;
  return KEPT;
}

static Subject *find_subject(Evaluation *e, const char *name) {
  for (size_t i = 0; i < e->nsubjects; i++)
    if (!strcmp(e->subjects[i].name, name))
      return &e->subjects[i];
  Subject *s = &e->subjects[e->nsubjects++];
  *s = (Subject){.name = name, .versions = mem_array(size_t, e->nversions)};
  return s;
}

static void keep(Evaluation *e, size_t version) {
  Subject *s = find_subject(e, e->manifest->versions.items[version].subject);
  s->versions[s->nversions++] = version;
  e->kept[e->nkept++] = version;
}

const FaultScore *evaluation_score(const Evaluation *e, size_t version,
                                   size_t method) {
  const Measurement *m = &e->outcomes[version].measurements[method];
  return m->applied ? &m->score : NULL;
}

static void summarize_versions(const Evaluation *e, const size_t *versions,
                               size_t n, size_t method, Summary *out) {
  const FaultScore **scores = mem_array(const FaultScore *, n);
  for (size_t i = 0; i < n; i++)
    scores[i] = evaluation_score(e, versions[i], method);
  summarize(scores, n, out);
  free(scores);
}

static void summarize_method(Evaluation *e, size_t method) {
  size_t nmethods = e->methods->items.len;
  Summary *each = mem_array(Summary, e->nsubjects);
  for (size_t i = 0; i < e->nkept; i++)
    e->unapplied[method] += !evaluation_score(e, e->kept[i], method);
  e->applied[method] = e->unapplied[method] < e->nkept;
  if (e->nkept)
    summarize_versions(e, e->kept, e->nkept, method, &e->by_fault[method]);
  for (size_t i = 0; i < e->nsubjects; i++) {
    const Subject *s = &e->subjects[i];
    summarize_versions(e, s->versions, s->nversions, method, &each[i]);
    e->subject[i * nmethods + method] = each[i];
  }
  if (e->nsubjects)
    summary_average(each, e->nsubjects, &e->by_subject[method]);
  free(each);
}

void evaluation_init(Evaluation *e, const Manifest *m, const MethodList *l,
                     VersionOutcome *outcomes, double max_failing) {
  size_t n = m->versions.len, nmethods = l->items.len;
  *e = (Evaluation){.manifest = m,
                    .methods = l,
                    .outcomes = outcomes,
                    .nversions = n,
                    .max_failing = max_failing,
                    .states = mem_array(VersionState, n),
                    .kept = mem_array(size_t, n),
                    .subjects = mem_array(Subject, n),
                    .applied = mem_array(bool, nmethods),
                    .unapplied = mem_array(size_t, nmethods),
                    .by_fault = mem_array(Summary, nmethods),
                    .by_subject = mem_array(Summary, nmethods)};
  for (size_t i = 0; i < n; i++)
    if ((e->states[i] = state_of(&outcomes[i], max_failing)) == KEPT)
      keep(e, i);
  e->subject = mem_array(Summary, e->nsubjects * nmethods);
  for (size_t i = 0; i < nmethods; i++)
    summarize_method(e, i);
}

void evaluation_release(Evaluation *e) {
  for (size_t i = 0; i < e->nversions; i++)
    outcome_release(&e->outcomes[i]);
  for (size_t i = 0; i < e->nsubjects; i++)
    free(e->subjects[i].versions);
  free(e->outcomes);
  free(e->states);
  free(e->kept);
  free(e->subjects);
  free(e->applied);
  free(e->unapplied);
  free(e->by_fault);
  free(e->subject);
  free(e->by_subject);
  *e = (Evaluation){0};
}

double *evaluation_examined(const Evaluation *e, size_t method, Base base,
                            Ties ties) {
  static const FaultScore nothing;
  double *values = mem_array(double, e->nkept);
  for (size_t i = 0; i < e->nkept; i++) {
    const FaultScore *s = evaluation_score(e, e->kept[i], method);
    values[i] = examined(s ? s : &nothing, base, ties);
  }
  return values;
}

bool evaluation_shows(const Evaluation *e, size_t method) {
  return e->applied[method] && !e->methods->items.items[method].dropped;
}
