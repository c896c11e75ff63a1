// fused: two sessions of one program in one ranking, the tests of its suite
// (`culprit run`) and those made from one failing input (`culprit input`).
//
// Each session is ranked by the default method. A line scores
//
//   1 / (60 + its rank here) + 1 / (60 + its rank there)
//
// (reciprocal rank fusion: Cormack, Clarke, Büttcher, SIGIR 2009, with their
// constant). Counts of the two are not added up: the tests of a suite are of
// many kinds, those made are alike, and the more of one there were, the less
// the other would say. A line that only one session executed gets the part of
// that one. What ties in one ranking counts with the middle of its ranks.
#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "locate/spectrum.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

#define CONSTANT 60

// The other session.
typedef struct {
  Suite suite;
  SessionEvidence evidence;
  bool found;
} Partner;

// --- which session ----------------------------------------------------------

static bool was_made(const char *command) {
  return command && text_starts(command, "culprit input ");
}

static bool is_suite(const char *command) {
  return command && text_starts(command, "culprit run");
}

// A suite is fused with made tests, made tests with a suite.
static bool may_join(const Suite *own, const char *command) {
  return was_made(own->command) ? is_suite(command)
                                : is_suite(own->command) && was_made(command);
}

static bool is_usable(const Suite *own, const Suite *other) {
  const Suite *made = was_made(own->command) ? own : other;
  const Suite *suite = made == own ? other : own;
  return other->nfailures && suite_has_sources(suite, made);
}

static int find_partner(Store *store, const Suite *own, Suite *out, bool *found,
                        Err *err) {
  SessionInfo *list;
  size_t n;
  *found = false;
  if (store_list(store, &list, &n, err))
    return -1;
  int rc = 0;
  for (size_t i = 0; i < n && !rc && !*found; i++) {
    if (list[i].id == own->session || !may_join(own, list[i].command))
      continue;
    rc = store_load(store, list[i].id, out, err);
    *found = !rc && is_usable(own, out);
    if (!*found)
      suite_release(out);
  }
  store_list_free(list, n);
  return rc;
}

bool fused_applies(Store *store, const Suite *suite) {
  Suite other = {0};
  bool found;
  Err ignored;
  if (!was_made(suite->command) ||
      find_partner(store, suite, &other, &found, &ignored))
    return false;
  if (found)
    suite_release(&other);
  return found;
}

// Code that comes last here comes last there.
static void copy_flags(const Suite *own, Suite *other) {
  other->endings_alike = own->endings_alike;
  for (size_t i = 0; i < other->nsources; i++) {
    const Source *s = suite_source(own, other->sources[i].path);
    if (s) {
      other->sources[i].test = s->test;
      other->sources[i].generated = s->generated;
    }
  }
}

static int open_partner(void *state, SessionEvidence *s, Err *err) {
  Partner *p = state;
  if (find_partner(s->store, s->suite, &p->suite, &p->found, err))
    return -1;
  if (!p->found)
    return 0;
  copy_flags(s->suite, &p->suite);
  session_evidence_init(&p->evidence, s->store, &p->suite);
  return 0;
}

static void close_partner(void *state) {
  Partner *p = state;
  if (!p->found)
    return;
  session_evidence_release(&p->evidence);
  suite_release(&p->suite);
}

static bool has_partner(const void *state) {
  return ((const Partner *)state)->found;
}

// --- its ranking ------------------------------------------------------------

// A run that does not end is killed by the limit it reaches first.
static bool does_not_end(const FailureGroup *g) {
  return !strcmp(g->kind, "timeout") || !strcmp(g->kind, "limit");
}

// The failure of that name, or one that does not end either; if there is none,
// the only one: it may be called otherwise because it is judged otherwise.
static bool find_failure(const Suite *suite, const FailureGroup *like,
                         size_t *out) {
  const FailureGroup *all = suite->failures;
  for (*out = 0; *out < suite->nfailures; ++*out)
    if (!strcmp(all[*out].signature, like->signature))
      return true;
  for (*out = 0; *out < suite->nfailures; ++*out)
    if (does_not_end(like) && does_not_end(&all[*out]))
      return true;
  *out = 0;
  return suite->nfailures == 1;
}

static int rank_there(const OpenLocalizer *l, Partner *p, size_t failure,
                      Ranking *out, Err *err) {
  OpenLocalizer there = {0};
  Localizer method;
  LocateOptions options = l->options;
  bool lacking;
  options.entities = 0;
  options.explain = 0;
  localizer_find(METHOD_DEFAULT, &method);
  int rc = localizer_open(&there, &p->evidence, &method, &options, err);
  if (!rc)
    rc = localizer_load(&there, &lacking, err);
  if (!rc)
    rc = localizer_rank(&there, failure, out, err);
  localizer_close(&there);
  return rc;
}

static void key_of(const Suite *suite, uint32_t entity, Str *out) {
  const Entity *e = &suite->entities[entity];
  str_clear(out);
  str_addf(out, "%s:%u", suite->sources[e->source].path, e->line);
}

// Lines -> their place in the other ranking, from 1.
static void index_lines(const Suite *suite, const Ranking *r, Hashmap *out) {
  Str key = {0};
  for (size_t i = 0; i < r->suspects.len; i++) {
    key_of(suite, r->suspects.items[i].entity, &key);
    hashmap_put(out, str_text(&key), key.len, i + 1);
  }
  str_release(&key);
}

// --- both -------------------------------------------------------------------

static double part(const Suspect *s) {
  return s ? 1 / (CONSTANT + (s->rank_best + s->rank) / 2.0) : 0;
}

static void add_rank(Str *out, const Suspect *s, const char *tests) {
  if (!s)
    str_addf(out, "not executed by the %s", tests);
  else if (s->rank_best == s->rank)
    str_addf(out, "rank %u by the %s", s->rank, tests);
  else
    str_addf(out, "rank %u to %u by the %s", s->rank_best, s->rank, tests);
}

static char *sentence(const OpenLocalizer *l, const Suspect *here,
                      const Suspect *there) {
  bool made = was_made(l->session->suite->command);
  Str text = {0};
  add_rank(&text, made ? here : there, "made tests");
  str_add(&text, ", ");
  add_rank(&text, made ? there : here, "tests of the suite");
  return str_take(&text);
}

static void note_partner(const Partner *p, const Ranking *there, Ranking *r) {
  const char *what = was_made(p->suite.command) ? "made tests" : "the suite";
  ranking_note(r, "fused",
               mem_printf("fused with the ranking of session %lld (%s; %u "
                          "failing, %u passing); --method cascade ranks this "
                          "session alone",
                          (long long)p->suite.session, what, there->failing,
                          there->passing));
}

static void note_nothing(const Partner *p, const char *why, Ranking *r) {
  ranking_note(r, "fused",
               mem_printf("not fused with session %lld: %s",
                          (long long)p->suite.session, why));
}

// Suspects of the other ranking that belong to those of this one.
static const Suspect **match(const OpenLocalizer *l, const Partner *p,
                             const Ranking *r, const Ranking *there) {
  const Suspect **out = mem_array(const Suspect *, r->suspects.len + 1);
  Hashmap lines = {0};
  Str key = {0};
  index_lines(&p->suite, there, &lines);
  for (size_t i = 0; i < r->suspects.len; i++) {
    uint64_t at = 0;
    key_of(l->session->suite, r->suspects.items[i].entity, &key);
    hashmap_get(&lines, str_text(&key), key.len, &at);
    out[i] = at ? &there->suspects.items[at - 1] : NULL;
  }
  str_release(&key);
  hashmap_release(&lines);
  return out;
}

static void join(const OpenLocalizer *l, const Partner *p, Ranking *r,
                 const Ranking *there) {
  const Suspect **others = match(l, p, r, there);
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    s->score = part(s) + part(others[i]);
    suspect_note(s, "fused", sentence(l, s, others[i]));
  }
  free(others);
  note_partner(p, there, r);
  spectrum_order(l->spectrum, r);
}

static void fuse(const OpenLocalizer *l, Ranking *r) {
  Partner *p = l->state;
  const FailureGroup *g = &l->session->suite->failures[r->failure];
  Ranking there = {0};
  size_t failure;
  Err err = {0};
  if (!r->suspects.len)
    return;
  if (!find_failure(&p->suite, g, &failure))
    note_nothing(p, "it does not have this failure", r);
  else if (rank_there(l, p, failure, &there, &err))
    note_nothing(p, err.text, r);
  else if (!there.suspects.len)
    note_nothing(p, "no run of it passes", r);
  else
    join(l, p, r, &there);
  ranking_release(&there);
}

const Localizer fused_localizers[] = {
    {.name = METHOD_FUSED,
     .doc = "cascade of the suite's tests and of made tests, fused: the sum of "
            "1 / (60 + rank)",
     .scope = FOR_C,
     .lists = LIST_LINES,
     .all_kinds = 1u << ENTITY_STATEMENT,
     .state_size = sizeof(Partner),
     .open = open_partner,
     .close = close_partner,
     .has = has_partner,
     .needs = "the same program's tests in another session",
     .remedy = "store them with `culprit run`, then make more with `culprit "
               "input`",
     .formula = formula_op2,
     .cascade = true,
     .adjust = fuse},
    {0}};
