// What requests left in the session: see session_terms.h.
#include "explore/solve/session_terms.h"

#include <stdlib.h>
#include <string.h>

#include "explore/solve/named_input.h"
#include "util/mem.h"

enum { KEPT_MOST = 20000, TERMS_MOST = 20000 };

struct SessionTerms {
  PhpShadows sh; // terms and kept only
  Arena arena;
  size_t holders;
};

// --- copies -----------------------------------------------------------------

static PhpTerm copy_term(const PhpTerm *t, Arena *arena) {
  PhpTerm c = *t;
  c.name = arena_strdup(arena, t->name);
  if (t->value.type == VALUE_STRING)
    c.value.s = arena_strndup(arena, t->value.s, t->value.n);
  return c;
}

// Up to the last term that is needed; they refer to earlier ones only.
SessionTerms *session_terms_new(const PhpShadows *sh) {
  if (!sh->nkept || sh->nterms > TERMS_MOST)
    return NULL;
  SessionTerms *k = mem_new(SessionTerms);
  k->holders = 1;
  uint32_t last = 0;
  PhpNamed *kept = arena_array(&k->arena, PhpNamed, sh->nkept);
  for (size_t i = 0; i < sh->nkept; i++) {
    last = sh->kept[i].number > last ? sh->kept[i].number : last;
    kept[i] = (PhpNamed){.name = arena_strdup(&k->arena, sh->kept[i].name),
                         .number = sh->kept[i].number};
  }
  PhpTerm *terms = arena_array(&k->arena, PhpTerm, last + 1);
  for (uint32_t i = 0; i <= last; i++)
    terms[i] = copy_term(&sh->terms[i], &k->arena);
  k->sh = (PhpShadows){
      .terms = terms, .nterms = last + 1, .kept = kept, .nkept = sh->nkept};
  return k;
}

void session_terms_drop(SessionTerms *k) {
  if (!k || --k->holders)
    return;
  arena_release(&k->arena);
  free(k);
}

// --- by request -------------------------------------------------------------

// The same request made again in another state may keep something else.
void session_memory_add(SessionMemory *k, const Ask *a, SessionTerms *terms) {
  if (k->items.len >= KEPT_MOST) {
    session_terms_drop(terms);
    return;
  }
  Str key = {0};
  ask_key(a, true, &key);
  uint64_t fresh = k->items.len;
  uint64_t n = hashmap_intern(&k->index, key.data, key.len, fresh);
  str_release(&key);
  if (n == fresh) {
    array_push(&k->items, terms);
    return;
  }
  session_terms_drop(k->items.items[n]);
  k->items.items[n] = terms;
}

SessionTerms *session_memory_hold(const SessionMemory *k, const Ask *a) {
  Str key = {0};
  uint64_t n;
  ask_key(a, true, &key);
  bool found = hashmap_get(&k->index, key.data, key.len, &n);
  str_release(&key);
  if (!found)
    return NULL;
  k->items.items[n]->holders++;
  return k->items.items[n];
}

void session_memory_release(SessionMemory *k) {
  for (size_t i = 0; i < k->items.len; i++)
    session_terms_drop(k->items.items[i]);
  array_release(&k->items);
  hashmap_release(&k->index);
}

// --- solver -----------------------------------------------------------------

static uint32_t find_term(const PhpShadows *sh, const char *name) {
  for (size_t i = 0; i < sh->nkept; i++)
    if (!strcmp(sh->kept[i].name, name))
      return sh->kept[i].number;
  return 0;
}

static bool gives(const BranchSolver *s, const InputChange *c, uint32_t term,
                  PhpValue value) {
  term_eval_clear(s->ev);
  term_eval_set(s->ev, c->var, c->value);
  PhpValue got = php_to_string(term_eval(s->ev, term), s->arena);
  bool same = php_same(got, value);
  term_eval_clear(s->ev);
  return same;
}

static void solve(const BranchSolver *s, uint32_t term, PhpValue value,
                  const Ask *a, Asks *out) {
  InputChanges ideas = {0};
  Ask ask;
  propose_value(s, term, value, &ideas);
  for (size_t i = 0; i < ideas.len; i++) {
    const InputChange *c = &ideas.items[i];
    if (gives(s, c, term, value) &&
        input_change(a, s->sh->terms[c->var].name, c->value, &ask, s->arena))
      array_push(out, ask);
  }
  array_release(&ideas);
}

bool session_terms_solve(const SessionTerms *of, const Ask *a, const char *name,
                         PhpValue value, const KnownCalls *known, Asks *out,
                         Arena *arena) {
  uint32_t term = find_term(&of->sh, name);
  if (!term)
    return false;
  SolveStats ignored = {0};
  BranchSolver s = {.sh = &of->sh,
                    .ev = term_eval_new(&of->sh),
                    .known = known,
                    .stats = &ignored,
                    .arena = arena};
  solve(&s, term, value, a, out);
  term_eval_free(s.ev);
  return true;
}
