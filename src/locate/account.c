// The evidence for and against one statement: see account.h.
#include "locate/account.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tally/owner.h"
#include "util/mem.h"

static const Suspect *find_suspect(const Ranking *r, uint32_t entity) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (r->suspects.items[i].entity == entity)
      return &r->suspects.items[i];
  return NULL;
}

// --- methods ----------------------------------------------------------------

static void add_reason(Account *accounts, size_t n, const Localizer *m,
                       const Err *err) {
  for (size_t i = 0; i < n; i++) {
    MethodScore score = {.method = *m, .reason = mem_strdup(err->text)};
    array_push(&accounts[i].methods, score);
  }
}

// Takes the ranking if it is the default method's.
static void add_score(Account *a, const OpenLocalizer *l, uint32_t statement,
                      Ranking *r) {
  MethodScore score = {.method = l->method};
  const Suspect *s = find_suspect(r, statement);
  if (s) {
    score.ranked = true;
    score.rank = s->rank;
    score.rank_best = s->rank_best;
    score.score = s->score;
  }
  array_push(&a->methods, score);
  if (strcmp(l->method.name, method_standard(l->session->suite)) != 0) {
    ranking_release(r);
    return;
  }
  a->ranking = *r;
  a->suspect = s;
  a->executed = localizer_executed(l);
}

static int ask(OpenLocalizer *l, uint32_t statement, Account *accounts,
               size_t n, Err *err) {
  for (size_t i = 0; i < n; i++) {
    Ranking r = {.failure = i};
    if (localizer_rank(l, i, &r, err))
      return -1;
    add_score(&accounts[i], l, statement, &r);
  }
  return 0;
}

static int ask_method(SessionEvidence *w, const Localizer *m,
                      uint32_t statement, const LocateOptions *o,
                      Account *accounts, Err *err) {
  size_t n = w->suite->nfailures;
  OpenLocalizer l;
  bool lacking = false;
  int rc = 0;
  if (localizer_open(&l, w, m, o, err)) {
    if (m->formula) // it would be the same with every formula
      return -1;
    add_reason(accounts, n, m, err);
  } else if (localizer_load(&l, &lacking, err)) {
    rc = lacking ? 0 : -1;
    if (lacking)
      add_reason(accounts, n, m, err);
  } else {
    rc = ask(&l, statement, accounts, n, err);
  }
  localizer_close(&l);
  return rc;
}

// --- tuples -----------------------------------------------------------------

static int better_first(const void *a, const void *b) {
  const TupleScore *x = a, *y = b;
  if (fabs(x->tells) != fabs(y->tells))
    return fabs(x->tells) > fabs(y->tells) ? -1 : 1;
  if (x->tells != y->tells)
    return x->tells > y->tells ? -1 : 1;
  return x->entity < y->entity ? -1 : x->entity > y->entity;
}

static double tells(double ef, double failing, double ep, double passing) {
  return (failing ? ef / failing : 0) - (passing ? ep / passing : 0);
}

static TupleScore tuple_of(const Comparison *c, uint32_t e) {
  TupleScore t = {e, c->ef[e], c->ep[e], 0};
  EntityKind kind = c->suite->entities[e].kind;
  if (!comparison_tells(c, kind) || !(CLOSE_KINDS & 1u << kind)) {
    t.tells = tells(t.ef, c->failing, t.ep, c->passing);
  } else {
    Counts n = comparison_counts(c, e);
    t.tells = tells(n.ef, n.ef + n.nf, n.ep, n.ep + n.np);
  }
  return t;
}

static void add_guards(Account *a, const Comparison *c, const Guards *g) {
  a->flow = g->known;
  a->always = g->always;
  for (size_t i = 0; i < g->outcomes.len; i++)
    array_push(&a->guards, tuple_of(c, g->outcomes.items[i]));
}

static void add_tuples(Account *a, const SessionEvidence *w,
                       const uint32_t *owner, uint32_t statement,
                       const Guards *g, bool others_pass) {
  Comparison c;
  comparison_init(&c, &w->tally, a->failure, others_pass);
  for (uint32_t e = 0; e < w->suite->nentities; e++) {
    if (!(c.ef[e] || c.ep[e]))
      continue;
    if (owner[e] == statement)
      array_push(&a->tuples, tuple_of(&c, e));
    else if (w->suite->entities[e].kind == ENTITY_PAIR &&
             w->suite->entities[e].to == statement)
      array_push(&a->uses, tuple_of(&c, e));
  }
  a->self = tuple_of(&c, statement);
  uint32_t function = w->suite->entities[statement].function;
  a->function = function < w->suite->nentities
                    ? tuple_of(&c, function)
                    : (TupleScore){.entity = ENTITY_NONE};
  add_guards(a, &c, g);
  if (a->tuples.len)
    qsort(a->tuples.items, a->tuples.len, sizeof *a->tuples.items,
          better_first);
  if (a->uses.len)
    qsort(a->uses.items, a->uses.len, sizeof *a->uses.items, better_first);
  comparison_release(&c);
}

int accounts_make(SessionEvidence *w, uint32_t statement,
                  const LocateOptions *o, Account **out, Err *err) {
  assert(o->by == ENTITY_STATEMENT);
  const Suite *suite = w->suite;
  Account *accounts = mem_array(Account, suite->nfailures);
  int rc = 0;
  for (size_t i = 0; i < suite->nfailures; i++)
    accounts[i].failure = i;
  for (size_t i = 0; !rc && i < localizer_count(); i++) {
    Localizer m = localizer_at(i);
    if (localizer_fits(&m, suite))
      rc = ask_method(w, &m, statement, o, accounts, err);
  }
  unsigned kinds =
      1u << ENTITY_STATEMENT | ((TUPLE_KINDS | CLOSE_KINDS) & w->present);
  if (!rc)
    rc = session_evidence_load(w, kinds | (1u << ENTITY_FUNCTION & w->present),
                               o->by, err);
  if (rc) {
    accounts_free(accounts, suite->nfailures);
    return -1;
  }
  uint32_t *owner = owners_find(suite, ENTITY_STATEMENT, kinds);
  Localizer standard;
  bool others_pass = localizer_find(method_standard(suite), &standard) &&
                     method_others_pass(&standard, suite, o->others);
  Guards guards;
  guards_find(&guards, suite, statement);
  for (size_t i = 0; i < suite->nfailures; i++)
    add_tuples(&accounts[i], w, owner, statement, &guards, others_pass);
  guards_release(&guards);
  free(owner);
  *out = accounts;
  return 0;
}

void accounts_free(Account *accounts, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < accounts[i].methods.len; j++)
      free(accounts[i].methods.items[j].reason);
    array_release(&accounts[i].methods);
    array_release(&accounts[i].tuples);
    array_release(&accounts[i].uses);
    array_release(&accounts[i].guards);
    ranking_release(&accounts[i].ranking);
  }
  free(accounts);
}
