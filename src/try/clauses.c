// Clauses for a condition: see clauses.h.
#include "try/clauses.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/hashmap.h"
#include "util/mem.h"

enum {
  VALUES_MOST = 24, // constants that one name is compared with
  SIMPLE = 1,       // costs
  SEEN = 4,
};

typedef struct {
  const Site *site;
  const SeenConditions *seen;
  Hashmap effects; // what a clause does to all that was seen
  bool lenient;    // a few passing evaluations may change
  size_t npassing; // evaluations
  size_t most;     // SITE_BEFORE: of `out`
  bool limits;     // which statements are offered; else
  int32_t leave;   // what is returned
  Changes *out;
} Clauses;

static bool holds(TryCompare op, int64_t a, int64_t b) {
  switch (op) {
  case OP_LT:
    return a < b;
  case OP_EQ:
    return a == b;
  case OP_GT:
    return a > b;
  case OP_GE:
    return a >= b;
  case OP_NE:
    return a != b;
  default:
    return a <= b;
  }
}

// The new outcome of an evaluation.
static bool outcome_of(const Change *c, const SeenCondition *e) {
  const int64_t *values = e->words + 1;
  if (c->change == CHANGE_LEAVE || c->change == CHANGE_ASSIGN) {
    int64_t x = c->a & TRY_NAMED ? values[c->b] : c->b;
    return holds((TryCompare)(c->a >> 8 & 0xff), values[c->a & 0xff], x);
  }
  bool named = c->change == CHANGE_AND_NAME || c->change == CHANGE_OR_NAME;
  bool both = c->change == CHANGE_AND || c->change == CHANGE_AND_NAME;
  int64_t other = named ? values[c->b] : c->b;
  bool clause = holds((TryCompare)(c->a >> 8), values[c->a & 0xff], other);
  return both ? e->words[0] && clause : e->words[0] || clause;
}

// A run may pass though an evaluation went wrong: what was computed was not
// printed.
static bool is_harmless(const Clauses *k, size_t spoilt) {
  enum { PART = 4 };
  return k->lenient ? spoilt * PART <= k->npassing : !spoilt;
}

// Two limits with the same condition may set different values.
static void hash_assigned(XXH3_state_t *hash, const Change *c,
                          const SeenCondition *e) {
  int64_t name = c->a & 0xff;
  int64_t x = c->a & TRY_NAMED ? e->words[1 + c->b] : c->b;
  XXH3_64bits_update(hash, &name, sizeof name);
  XXH3_64bits_update(hash, &x, sizeof x);
}

// Is it new, changes a failing run and no passing one?
static bool is_wanted(Clauses *k, const Change *c) {
  XXH3_state_t *hash = XXH3_createState();
  XXH3_64bits_reset(hash);
  bool changes = false;
  size_t spoilt = 0;
  for (size_t i = 0; i < k->seen->len && is_harmless(k, spoilt); i++) {
    const SeenCondition *e = &k->seen->items[i];
    unsigned char now = outcome_of(c, e);
    bool other = now != (e->words[0] != 0);
    changes |= other && e->fails;
    spoilt += other && !e->fails;
    XXH3_64bits_update(hash, &now, 1);
    if (now && c->change == CHANGE_ASSIGN)
      hash_assigned(hash, c, e);
  }
  uint64_t effect = XXH3_64bits_digest(hash), ignored;
  XXH3_freeState(hash);
  if (!changes || !is_harmless(k, spoilt) ||
      hashmap_get(&k->effects, &effect, sizeof effect, &ignored))
    return false;
  hashmap_put(&k->effects, &effect, sizeof effect, 1);
  return true;
}

// A statement in front of the site: `if (n < 0) return V;` or, for orders of
// numbers, `if (n < 0) n = 0;`.
static void offer_guard(Clauses *k, bool named, size_t name, TryCompare op,
                        int64_t other, unsigned cost) {
  uint64_t value = k->limits ? 0 : (uint64_t)k->leave << 32;
  Change c = {.site = k->site,
              .change = k->limits ? CHANGE_ASSIGN : CHANGE_LEAVE,
              .a = (int64_t)(value | name | (uint64_t)op << 8 |
                             (named ? TRY_NAMED : 0)),
              .b = other,
              .cost = cost};
  bool never = k->site->names[name].kind == 'p' || k->site->names[name].fixed;
  if (k->limits && (never || (op != OP_LT && op != OP_GT)))
    return;
  if (k->out->len < k->most && is_wanted(k, &c))
    array_push(k->out, c);
}

static void offer(Clauses *k, TryChange change, size_t name, TryCompare op,
                  int64_t other, unsigned cost) {
  Change c = {.site = k->site,
              .change = change,
              .a = (int64_t)name | (int64_t)op << 8,
              .b = other,
              .cost = cost};
  if (k->out->len < CLAUSES_MOST && is_wanted(k, &c))
    array_push(k->out, c);
}

static void offer_both(Clauses *k, bool named, size_t name, TryCompare op,
                       int64_t other, unsigned cost) {
  if (k->site->kind == SITE_BEFORE) {
    offer_guard(k, named, name, op, other, cost);
    return;
  }
  offer(k, named ? CHANGE_AND_NAME : CHANGE_AND, name, op, other, cost);
  offer(k, named ? CHANGE_OR_NAME : CHANGE_OR, name, op, other, cost);
}

// --- constants --------------------------------------------------------------

typedef struct {
  int64_t items[VALUES_MOST];
  size_t n;
} Values;

static void add_value(Values *v, int64_t value) {
  for (size_t i = 0; i < v->n; i++)
    if (v->items[i] == value)
      return;
  if (v->n < VALUES_MOST)
    v->items[v->n++] = value;
}

// What a name is compared with: 0, 1 and -1, then, unless only these are asked
// for, what failing runs had, the function's constants, what passing runs had.
static void collect_values(const Clauses *k, size_t name, bool simple,
                           const int64_t *constants, size_t nconstants,
                           Values *out) {
  out->n = 0;
  add_value(out, 0);
  if (k->site->names[name].kind == 'p')
    return;
  add_value(out, 1);
  add_value(out, -1);
  if (simple)
    return;
  for (size_t i = 0; i < k->seen->len && out->n < VALUES_MOST / 2; i++)
    if (k->seen->items[i].fails)
      add_value(out, k->seen->items[i].words[1 + name]);
  for (size_t i = 0; i < nconstants && out->n < VALUES_MOST * 3 / 4; i++)
    add_value(out, constants[i]);
  for (size_t i = 0; i < k->seen->len; i++)
    if (!k->seen->items[i].fails)
      add_value(out, k->seen->items[i].words[1 + name]);
}

static void offer_constants(Clauses *k, size_t name, bool simple,
                            const int64_t *constants, size_t nconstants) {
  static const TryCompare ops[] = {OP_NE, OP_EQ, OP_GT, OP_LT, OP_GE, OP_LE};
  bool pointer = k->site->names[name].kind == 'p';
  Values values;
  collect_values(k, name, simple, constants, nconstants, &values);
  for (size_t i = 0; i < values.n; i++)
    for (size_t o = 0; o < (pointer ? 2 : 6); o++)
      offer_both(k, false, name, ops[o], values.items[i],
                 i < 3 ? SIMPLE : SEEN);
}

static bool are_alike(const SiteName *a, const SiteName *b) {
  return (a->kind == 'p') == (b->kind == 'p');
}

static void offer_names(Clauses *k, size_t name) {
  static const TryCompare ops[] = {OP_NE, OP_EQ, OP_LT, OP_GT, OP_LE, OP_GE};
  const Site *s = k->site;
  for (size_t other = name + 1; other < s->nnames; other++)
    if (are_alike(&s->names[name], &s->names[other]))
      for (size_t o = 0; o < (s->names[name].kind == 'p' ? 2 : 6); o++)
        offer_both(k, true, name, ops[o], (int64_t)other, SIMPLE + 1);
}

static void offer_all(Clauses *k, const int64_t *constants, size_t nconstants) {
  for (size_t i = 0; i < k->site->nnames; i++)
    offer_constants(k, i, true, NULL, 0);
  for (size_t i = 0; i < k->site->nnames; i++)
    offer_names(k, i);
  for (size_t i = 0; i < k->site->nnames; i++)
    offer_constants(k, i, false, constants, nconstants);
}

static void find_guards(Clauses k, const int64_t *constants,
                        size_t nconstants) {
  k.most = k.out->len + GUARDS_MOST;
  offer_all(&k, constants, nconstants);
  hashmap_release(&k.effects);
}

void clauses_find_limits(const Site *site, const SeenConditions *seen,
                         const int64_t *constants, size_t nconstants,
                         Changes *out) {
  Clauses k = {.site = site, .seen = seen, .out = out, .limits = true};
  find_guards(k, constants, nconstants);
}

void clauses_find_leaves(const Site *site, const SeenConditions *seen,
                         int32_t value, const int64_t *constants,
                         size_t nconstants, Changes *out) {
  Clauses k = {.site = site, .seen = seen, .out = out, .leave = value};
  find_guards(k, constants, nconstants);
}

void clauses_find(const Site *site, const SeenConditions *seen,
                  const int64_t *constants, size_t nconstants, Changes *out) {
  Clauses k = {.site = site, .seen = seen, .out = out};
  size_t had = out->len;
  for (size_t i = 0; i < seen->len; i++)
    k.npassing += !seen->items[i].fails;
  offer_all(&k, constants, nconstants);
  k.lenient = out->len == had;
  if (k.lenient)
    offer_all(&k, constants, nconstants);
  hashmap_release(&k.effects);
}
