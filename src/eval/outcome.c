// The outcome of one faulty version: see outcome.h.
#include "eval/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/dependence_graph.h"
#include "store/store.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

void outcome_init(VersionOutcome *o, size_t nmethods) {
  *o = (VersionOutcome){.nmethods = nmethods,
                        .measurements = mem_array(Measurement, nmethods),
                        .reasons = mem_array(char *, nmethods)};
  for (size_t i = 0; i < nmethods; i++)
    o->measurements[i].graph = NAN;
}

void outcome_release(VersionOutcome *o) {
  for (size_t i = 0; i < o->nmethods; i++)
    free(o->reasons[i]);
  free(o->reasons);
  free(o->measurements);
  free(o->problem);
  *o = (VersionOutcome){0};
}

// --- measuring -------------------------------------------------------------

// The failure that counts, as outcome.h demands.
static size_t main_failure(const Suite *suite) {
  const FailureGroup *list = suite->failures;
  size_t best = 0;
  for (size_t i = 1; i < suite->nfailures; i++)
    if (list[i].nruns > list[best].nruns ||
        (list[i].nruns == list[best].nruns &&
         strcmp(list[i].signature, list[best].signature) < 0))
      best = i;
  return best;
}

static void count_runs(VersionOutcome *o, const Suite *suite) {
  o->tests = suite->nruns;
  o->failures = suite->nfailures;
  o->group = suite->nfailures ? suite->failures[main_failure(suite)].nruns : 0;
  for (size_t i = 0; i < suite->nruns; i++) {
    o->failing += suite->runs[i].verdict == VERDICT_FAIL;
    o->passing += suite->runs[i].verdict == VERDICT_PASS;
    o->flaky += suite->runs[i].verdict == VERDICT_FLAKY;
  }
}

// A kind that the session does not have cannot be looked at, nor missed.
static unsigned entities_for(const EvaluatedMethod *m,
                             const SessionEvidence *w) {
  return m->entities ? m->entities & w->present : 0;
}

// What all methods of a version share.
typedef struct {
  VersionOutcome *out;
  SessionEvidence evidence;
  Fault fault;
  uint32_t *faulty; // statements; as many as the fault has places
  DependenceGraph graph;
  bool has_graph;
} Measuring;

static int rank_main(Measuring *w, size_t i, OpenLocalizer *l, Err *err) {
  Measurement *m = &w->out->measurements[i];
  bool lacking;
  Ranking ranking = {0};
  if (localizer_load(l, &lacking, err) ||
      localizer_rank(l, main_failure(w->evidence.suite), &ranking, err))
    return -1;
  w->out->executed = localizer_executed(l);
  w->out->executable = localizer_executable(l);
  fault_score(&w->fault, &ranking, w->out->executed, w->out->executable,
              &m->score);
  if (w->has_graph)
    m->graph = dependence_graph_score(&w->graph, &ranking, w->faulty,
                                      w->fault.places.len)
                   .score;
  m->applied = true;
  ranking_release(&ranking);
  return 0;
}

// A method that cannot be applied leaves its reason.
static void measure_method(Measuring *w, size_t i, const EvaluatedMethod *m) {
  LocateOptions options = {.by = ENTITY_STATEMENT,
                           .entities = entities_for(m, &w->evidence)};
  OpenLocalizer l;
  Err err = {0};
  if (localizer_open(&l, &w->evidence, &m->method, &options, &err) ||
      rank_main(w, i, &l, &err))
    w->out->reasons[i] = mem_strdup(err.text);
  localizer_close(&l);
}

static int prepare(Measuring *w, const Suite *suite, const char *graph,
                   const Version *v, Err *err) {
  for (size_t i = 0; i < v->nfaulty; i++)
    if (fault_add(&w->fault, suite, v->faulty[i], ENTITY_STATEMENT, err))
      return -1;
  w->faulty = mem_array(uint32_t, w->fault.places.len);
  for (size_t i = 0; i < w->fault.places.len; i++)
    w->faulty[i] = w->fault.places.items[i].statement;
  if (graph && dependence_graph_read(&w->graph, suite, graph, err))
    return -1;
  w->has_graph = graph != NULL;
  return 0;
}

static int measure_suite(VersionOutcome *o, Store *store, const Suite *suite,
                         const char *graph, const Version *v,
                         const MethodList *methods, Err *err) {
  Measuring w = {.out = o};
  session_evidence_init(&w.evidence, store, suite);
  int rc = prepare(&w, suite, graph, v, err);
  for (size_t i = 0; !rc && i < methods->items.len; i++)
    measure_method(&w, i, &methods->items.items[i]);
  dependence_graph_release(&w.graph);
  free(w.faulty);
  fault_release(&w.fault);
  session_evidence_release(&w.evidence);
  return rc;
}

int outcome_measure(VersionOutcome *o, const char *dir, const char *graph,
                    const Version *v, const MethodList *methods, Err *err) {
  Store *store;
  Suite suite = {0};
  if (store_open(&store, dir, STORE_EXISTING, err))
    return -1;
  int rc = store_load(store, 0, &suite, err);
  if (!rc) {
    count_runs(o, &suite);
    if (o->failing && o->passing)
      rc = measure_suite(o, store, &suite, graph, v, methods, err);
  }
  suite_release(&suite);
  store_close(store);
  return rc;
}

// --- as a file -------------------------------------------------------------

// One line for the version, one per method: numbers, then a message that goes
// to the end of the line.

static void put_text(Str *s, const char *text) {
  str_addc(s, '\t');
  for (; text && *text; text++)
    str_addc(s, *text == '\n' || *text == '\t' ? ' ' : *text);
  str_addc(s, '\n');
}

static void put_score(Str *s, const FaultScore *f) {
  str_addf(s, " %zu %zu %zu %zu %u %u %.17g %u %.17g %.17g %d %d", f->executed,
           f->executable, f->listed, f->ranked, f->rank, f->rank_best,
           f->rank_average, f->ties, f->examined_executed,
           f->examined_executable, f->well_first, f->well_all);
  for (int i = 0; i < FAULT_TOPS; i++)
    str_addf(s, " %.17g", f->top[i]);
}

int outcome_write(const VersionOutcome *o, const char *path, Err *err) {
  Str s = {0};
  str_addf(&s, "%zu %zu %zu %zu %zu %zu %zu %zu %.17g %.17g %.17g", o->tests,
           o->failing, o->passing, o->flaky, o->failures, o->group, o->executed,
           o->executable, o->build, o->run, o->rank);
  put_text(&s, o->problem);
  for (size_t i = 0; i < o->nmethods; i++) {
    str_addf(&s, "%d %.17g", o->measurements[i].applied,
             o->measurements[i].graph);
    put_score(&s, &o->measurements[i].score);
    put_text(&s, o->reasons[i]);
  }
  int rc = fs_write(path, s.data, s.len, err);
  str_release(&s);
  return rc;
}

static char *text_of(const char *line) {
  const char *tab = strchr(line, '\t');
  return tab && tab[1] ? mem_strdup(tab + 1) : NULL;
}

static int get_version(VersionOutcome *o, const char *line) {
  o->problem = text_of(line);
  return sscanf(line, "%zu %zu %zu %zu %zu %zu %zu %zu %lf %lf %lf", &o->tests,
                &o->failing, &o->passing, &o->flaky, &o->failures, &o->group,
                &o->executed, &o->executable, &o->build, &o->run,
                &o->rank) == 11
             ? 0
             : -1;
}

static int get_method(VersionOutcome *o, size_t i, const char *line) {
  FaultScore *f = &o->measurements[i].score;
  int applied, first, all, at = 0;
  o->reasons[i] = text_of(line);
  if (sscanf(line, "%d %lf %zu %zu %zu %zu %u %u %lf %u %lf %lf %d %d%n",
             &applied, &o->measurements[i].graph, &f->executed, &f->executable,
             &f->listed, &f->ranked, &f->rank, &f->rank_best, &f->rank_average,
             &f->ties, &f->examined_executed, &f->examined_executable, &first,
             &all, &at) != 14)
    return -1;
  o->measurements[i].applied = applied;
  f->well_first = first;
  f->well_all = all;
  for (int k = 0, n = 0; k < FAULT_TOPS; k++, at += n)
    if (sscanf(line + at, " %lf%n", &f->top[k], &n) != 1)
      return -1;
  return 0;
}

static int parse(VersionOutcome *o, char *text) {
  char *line = strsep(&text, "\n");
  if (!line || get_version(o, line))
    return -1;
  for (size_t i = 0; i < o->nmethods; i++)
    if (!(line = strsep(&text, "\n")) || get_method(o, i, line))
      return -1;
  return text && !*text ? 0 : -1;
}

int outcome_read(VersionOutcome *o, const char *path, size_t nmethods,
                 Err *err) {
  Str text = {0};
  outcome_init(o, nmethods);
  int rc = fs_read(path, 0, &text, err);
  if (!rc && (!text.data || parse(o, text.data)))
    rc = err_set(err, "%s: damaged; remove it and start again", path);
  str_release(&text);
  if (rc)
    outcome_release(o);
  return rc;
}
