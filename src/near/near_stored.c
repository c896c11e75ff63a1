// Passing runs of the store as candidates: see near.h.
//
// The newest session that ran this very program from the same directory is
// taken. Its passing runs are compared with the failing one by the statements
// they execute (Hamming distance, as the classical nearest neighbour has it:
// locate/neighbour.h); those that differ least are recorded and replayed, and
// their real distance is computed.
#include <stdlib.h>
#include <string.h>

#include "near/near_internal.h"
#include "process/words.h"
#include "store/store.h"
#include "util/mem.h"

// Sessions of this command have made ones only.
#define MADE "culprit near "

// A passing run of the other session.
typedef struct {
  size_t run;
  size_t differing; // statements
} StoredRun;

typedef struct {
  Near *near;
  Suite own, other;
  char *prefix;     // of the commands of its tests
  uint32_t *own_id; // of the other session's entities; ENTITY_NONE: not there
  Bitset failing;   // statements of the failing run, by own id
  bool known;       // it left a spectrum
  ARRAY(StoredRun) candidates;
  Bitset nearest; // statements of the first of them, by own id
} Stored;

// --- the two sessions -------------------------------------------------------

static void statement_key(const Suite *s, uint32_t entity, Str *out) {
  const Entity *e = &s->entities[entity];
  str_clear(out);
  str_addf(out, "%s:%u", s->sources[e->source].path, e->line);
}

static void match_statements(Stored *s) {
  Hashmap ids = {0};
  Str key = {0};
  s->own_id = mem_array(uint32_t, s->other.nentities + 1);
  for (uint32_t i = 0; i < s->own.nentities; i++) {
    statement_key(&s->own, i, &key);
    if (s->own.entities[i].kind == ENTITY_STATEMENT)
      hashmap_put(&ids, str_text(&key), key.len, i);
  }
  for (uint32_t i = 0; i < s->other.nentities; i++) {
    uint64_t id = ENTITY_NONE;
    statement_key(&s->other, i, &key);
    hashmap_get(&ids, str_text(&key), key.len, &id);
    s->own_id[i] = (uint32_t)id;
  }
  str_release(&key);
  hashmap_release(&ids);
}

static bool is_candidate(const Stored *s, size_t run) {
  const RunInfo *r = &s->other.runs[run];
  return r->verdict == VERDICT_PASS && r->has_spectrum &&
         text_starts(r->command, s->prefix);
}

// The same texts, from the same directory, with runs that pass?
static bool is_usable(const Stored *s) {
  if (strcmp(s->own.cwd, s->other.cwd) != 0 ||
      !suite_has_sources(&s->other, &s->own))
    return false;
  for (size_t i = 0; i < s->other.nruns; i++)
    if (is_candidate(s, i))
      return true;
  return false;
}

// Loads the newest session that can be used. False: there is none.
static bool find_session(Stored *s, Store *store, Err *err, int *rc) {
  SessionInfo *list;
  size_t n;
  bool found = false;
  *rc = store_list(store, &list, &n, err);
  if (*rc)
    return false;
  for (size_t i = 0; i < n && !found && !*rc; i++) {
    if (list[i].id == s->own.session || text_starts(list[i].command, MADE))
      continue;
    *rc = store_load(store, list[i].id, &s->other, err);
    found = !*rc && is_usable(s);
    if (!found)
      suite_release(&s->other);
  }
  store_list_free(list, n);
  return found;
}

// --- comparing --------------------------------------------------------------

static void note_failing(void *context, size_t run, const Bitset *hits) {
  Stored *s = context;
  if (strcmp(s->own.runs[run].test, "given0") != 0)
    return;
  bitset_union(&s->failing, hits);
  s->known = true;
}

static void note_run(void *context, size_t run, const Bitset *hits) {
  Stored *s = context;
  Bitset mine = {0};
  size_t strange = 0, both = 0;
  if (!is_candidate(s, run))
    return;
  for (uint32_t i = 0; bitset_next(hits, &i); i++) {
    if (s->own_id[i] == ENTITY_NONE)
      strange++;
    else
      bitset_add(&mine, s->own_id[i]);
  }
  for (uint32_t i = 0; bitset_next(&mine, &i); i++)
    both += bitset_has(&s->failing, i);
  size_t differing =
      strange + bitset_count(&mine) + bitset_count(&s->failing) - 2 * both;
  bool first = true;
  for (size_t i = 0; i < s->candidates.len; i++)
    first &= differing < s->candidates.items[i].differing;
  if (first) {
    bitset_release(&s->nearest);
    s->nearest = mine;
  } else {
    bitset_release(&mine);
  }
  array_push(&s->candidates, (StoredRun){run, differing});
}

static int by_differing(const void *a, const void *b) {
  const StoredRun *x = a, *y = b;
  if (x->differing != y->differing)
    return x->differing < y->differing ? -1 : 1;
  return x->run < y->run ? -1 : x->run > y->run;
}

// The classical nearest neighbour: what the failing run executes and it does
// not.
static void take_neighbour(const Stored *s) {
  Near *n = s->near;
  const StoredRun *c = &s->candidates.items[0];
  n->neighbour.test = arena_strdup(&n->arena, s->other.runs[c->run].test);
  n->neighbour.differing = c->differing;
  for (uint32_t i = 0; bitset_next(&s->failing, &i); i++) {
    const Entity *e = &s->own.entities[i];
    if (bitset_has(&s->nearest, i))
      continue;
    const char *file = arena_strdup(&n->arena, s->own.sources[e->source].path);
    array_push(&n->neighbour.places, (NearPlace){file, e->line});
  }
}

static int measure(Stored *s, const StoredRun *c, Err *err) {
  Near *n = s->near;
  const RunInfo *r = &s->other.runs[c->run];
  NearFound f = {.line = mem_strdup(r->command + strlen(s->prefix)),
                 .test = mem_strdup(r->test),
                 .session = s->other.session,
                 .refused = near_is_refused(n, r->status)};
  n->stats.stored++;
  return near_measure(n, NULL, &f, err);
}

static int compare(Stored *s, Store *store, Err *err) {
  Near *n = s->near;
  match_statements(s);
  if (store_each_spectrum(store, &s->own, ENTITY_STATEMENT, note_failing, s,
                          err) ||
      (s->known && store_each_spectrum(store, &s->other, ENTITY_STATEMENT,
                                       note_run, s, err)))
    return -1;
  if (!s->candidates.len)
    return 0;
  qsort(s->candidates.items, s->candidates.len, sizeof *s->candidates.items,
        by_differing);
  take_neighbour(s);
  int rc = 0;
  for (size_t i = 0; !rc && i < s->candidates.len && i < n->options.stored &&
                     search_goes_on(n->search);
       i++)
    rc = measure(s, &s->candidates.items[i], err);
  return rc;
}

int near_try_stored(Near *n, Err *err) {
  Runner *r = n->search->runner;
  Stored s = {.near = n};
  Str prefix = {0};
  int rc = 0;
  if (!n->options.stored)
    return 0;
  words_quote(&prefix, n->search->options.program);
  str_addc(&prefix, ' ');
  s.prefix = str_take(&prefix);
  rc = store_flush(r->store, err) ||
       store_load(r->store, r->session, &s.own, err);
  if (!rc && find_session(&s, r->store, err, &rc))
    rc = compare(&s, r->store, err);
  bitset_release(&s.failing);
  bitset_release(&s.nearest);
  array_release(&s.candidates);
  suite_release(&s.own);
  suite_release(&s.other);
  free(s.own_id);
  free(s.prefix);
  return rc ? -1 : 0;
}
