// How good a ranking is when the fault is known: see fault.h.
#include "locate/fault.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

const unsigned fault_tops[FAULT_TOPS] = {1, 3, 5, 10};

void fault_release(Fault *f) { array_release(&f->places); }

// --- from text to entities --------------------------------------------------

static bool *sources_with_statements(const Suite *suite) {
  bool *has = mem_array(bool, suite->nsources);
  for (size_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT)
      has[suite->entities[i].source] = true;
  return has;
}

// The file a user means: a path that is the same beats one that ends alike.
static int find_source(const Suite *suite, const char *file, uint32_t *source,
                       Err *err) {
  bool *has = sources_with_statements(suite);
  int rc = -1;
  uint32_t first = ENTITY_NONE, second = ENTITY_NONE;
  for (uint32_t i = 0; rc && i < suite->nsources; i++) {
    if (!has[i] || !suite_path_matches(suite, i, file))
      continue;
    if (!strcmp(suite_path(suite, i), file)) {
      *source = i;
      rc = 0;
    }
    second = first;
    first = i;
  }
  if (rc && first == ENTITY_NONE) {
    err_set(err, "%s: session %lld has no statement in such a file", file,
            (long long)suite->session);
  } else if (rc && second != ENTITY_NONE) {
    err_set(err, "%s: it could be %s or %s; give more of the path", file,
            suite_path(suite, second), suite_path(suite, first));
  } else if (rc) {
    *source = first;
    rc = 0;
  }
  free(has);
  return rc;
}

static uint32_t distance(uint32_t a, uint32_t b) {
  return a < b ? b - a : a - b;
}

static bool is_nearer(uint32_t a, uint32_t b, uint32_t line) {
  if (distance(a, line) != distance(b, line))
    return distance(a, line) < distance(b, line);
  return a > b;
}

static uint32_t nearest_statement(const Suite *suite, uint32_t source,
                                  uint32_t line) {
  uint32_t best = ENTITY_NONE;
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind != ENTITY_STATEMENT || e->source != source)
      continue;
    if (best == ENTITY_NONE ||
        is_nearer(e->line, suite->entities[best].line, line))
      best = i;
  }
  assert(best != ENTITY_NONE); // find_source saw one
  return best;
}

static void add_line(Fault *f, const Suite *suite, uint32_t source,
                     uint32_t line, EntityKind by) {
  for (size_t i = 0; i < f->places.len; i++)
    if (f->places.items[i].source == source && f->places.items[i].line == line)
      return;
  uint32_t s = nearest_statement(suite, source, line);
  uint32_t listed = by == ENTITY_FUNCTION ? suite->entities[s].function : s;
  array_push(&f->places, (FaultPlace){source, line, s, listed});
}

// Reads the "LINE[,LINE]..." at `text`, or only checks it if f is NULL.
static int each_line(const char *text, Fault *f, const Suite *suite,
                     uint32_t source, EntityKind by) {
  for (;;) {
    char *end;
    if (!isdigit((unsigned char)*text))
      return -1;
    unsigned long line = strtoul(text, &end, 10);
    if (!line || line > INT32_MAX || (*end && *end != ','))
      return -1;
    if (f)
      add_line(f, suite, source, (uint32_t)line, by);
    if (!*end)
      return 0;
    text = end + 1;
  }
}

int fault_add(Fault *f, const Suite *suite, const char *spec, EntityKind by,
              Err *err) {
  if (by != ENTITY_STATEMENT && by != ENTITY_FUNCTION)
    return err_set(err, "%s: a line needs --by statement or --by function",
                   spec);
  const char *colon = strrchr(spec, ':');
  if (!colon || colon == spec || each_line(colon + 1, NULL, suite, 0, by))
    return err_set(err, "%s: expected FILE:LINE[,LINE]...", spec);
  char *file = mem_printf("%.*s", (int)(colon - spec), spec);
  uint32_t source;
  int rc = find_source(suite, file, &source, err);
  if (!rc)
    each_line(colon + 1, f, suite, source, by);
  free(file);
  return rc;
}

// --- metrics ----------------------------------------------------------------

const Suspect *fault_suspect(const FaultPlace *p, const Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (r->suspects.items[i].entity == p->listed)
      return &r->suspects.items[i];
  return NULL;
}

static bool listed_before(const Fault *f, size_t i) {
  for (size_t j = 0; j < i; j++)
    if (f->places.items[j].listed == f->places.items[i].listed)
      return true;
  return false;
}

// Of n tied entities, k of them faulty, m are looked at: how likely is a faulty
// one among them?
static double chance(uint32_t n, uint32_t k, uint32_t m) {
  double miss = 1;
  for (uint32_t i = 0; i < m && miss > 0; i++)
    miss *= n - i > k ? (double)(n - k - i) / (n - i) : 0;
  return 1 - miss;
}

static double percent(size_t part, size_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 100;
}

static void score_first(FaultScore *out, uint32_t faulty) {
  uint32_t before = out->rank_best - 1;
  out->ties = out->rank - before;
  out->rank_average = before + (out->ties + 1.0) / (faulty + 1.0);
  out->examined_executed = percent(out->rank, out->executed);
  out->examined_executable = percent(out->rank, out->executable);
  for (int i = 0; i < FAULT_TOPS; i++) {
    uint32_t top = fault_tops[i] > before ? fault_tops[i] - before : 0;
    out->top[i] = chance(out->ties, faulty, top < out->ties ? top : out->ties);
  }
}

void fault_score(const Fault *f, const Ranking *r, size_t executed,
                 size_t executable, FaultScore *out) {
  *out = (FaultScore){.executed = executed,
                      .executable = executable,
                      .examined_executed = 100,
                      .examined_executable = 100};
  uint32_t faulty = 0, last = 0; // tied with the first; worst rank of all
  for (size_t i = 0; i < f->places.len; i++) {
    if (listed_before(f, i))
      continue;
    out->listed++;
    const Suspect *s = fault_suspect(&f->places.items[i], r);
    if (!s)
      continue;
    out->ranked++;
    last = s->rank > last ? s->rank : last;
    if (out->rank && s->rank > out->rank)
      continue;
    faulty = out->rank == s->rank ? faulty + 1 : 1;
    out->rank = s->rank;
    out->rank_best = s->rank_best;
  }
  if (!out->ranked)
    return;
  score_first(out, faulty);
  out->well_first = out->examined_executed < 1;
  out->well_all = out->ranked == out->listed && percent(last, executed) < 1;
}
