// The search for other input: see branch_solver.h.
//
// The demands are the inverted branch and the unchanged branches before it,
// each once, as far as they share inputs. The search takes the first demand
// that the current input violates, tries each proposal for it, and continues
// below it. An input that was changed once stays.
#include "explore/solve/branch_solver.h"

#include <string.h>
#include <xxhash.h>

#include "solve/gates.h"
#include "util/clock.h"
#include "util/str.h"

enum {
  TRIES_MOST = 600,
  DEPTH_MOST = 4,
  DEMANDS_MOST = 400,
  CALLS_MOST = 100000
};

// --- inputs -----------------------------------------------------------------

bool input_is_free(const char *name, bool session) {
  static const char *const free[] = {"GET.",    "POST.",
                                     "COOKIE.", "REQUEST.",
                                     "FILES.",  "SERVER.REQUEST_METHOD"};
  for (size_t i = 0; i < sizeof free / sizeof *free; i++)
    if (text_starts(name, free[i]))
      return !text_starts(name, "FILES.") || !strchr(name, '[') ||
             text_ends(name, "[name]");
  return session && text_starts(name, "SESSION.");
}

// --- known calls ------------------------------------------------------------

static void call_key(const char *function, PhpValue result, Str *key) {
  str_addf(key, "%s:%d:%lld:", function, result.type, (long long)result.i);
  if (result.type == VALUE_STRING)
    str_addn(key, result.s, result.n);
}

static PhpValue copy_value(PhpValue v, Arena *arena) {
  if (v.type == VALUE_STRING)
    v.s = arena_strndup(arena, v.s, v.n);
  return v;
}

static void add_call(KnownCalls *k, const char *key, size_t len,
                     PhpValue argument) {
  uint64_t n = k->calls.len;
  if (n >= CALLS_MOST || hashmap_intern(&k->index, key, len, n) != n)
    return;
  array_push(&k->calls, (KnownCall){arena_strndup(&k->arena, key, len), len,
                                    copy_value(argument, &k->arena)});
}

// Functions of one argument: what it was.
void known_calls_add(KnownCalls *k, const PhpShadows *sh) {
  TermEval *ev = NULL;
  for (size_t i = 1; i < sh->nterms; i++) {
    const PhpTerm *t = &sh->terms[i];
    if (t->op != TERM_OPAQUE || t->nargs < 1)
      continue;
    if (!ev)
      ev = term_eval_new(sh);
    PhpValue a = term_eval(ev, t->args[0]);
    if (a.type != VALUE_STRING)
      continue;
    Str key = {0};
    call_key(t->name, t->value, &key);
    add_call(k, key.data, key.len, a);
    str_release(&key);
  }
  term_eval_free(ev);
}

void known_calls_copy(KnownCalls *to, const KnownCalls *from, size_t first) {
  for (size_t i = first; i < from->calls.len; i++) {
    const KnownCall *c = &from->calls.items[i];
    add_call(to, c->key, c->len, c->argument);
  }
}

void known_calls_release(KnownCalls *k) {
  hashmap_release(&k->index);
  array_release(&k->calls);
  arena_release(&k->arena);
}

bool known_call_find(const KnownCalls *k, const char *function, PhpValue result,
                     PhpValue *argument) {
  Str key = {0};
  uint64_t n;
  call_key(function, result, &key);
  bool found = hashmap_get(&k->index, key.data, key.len, &n);
  str_release(&key);
  if (found)
    *argument = k->calls.items[n].argument;
  return found;
}

// --- demands ----------------------------------------------------------------

static bool has_demand(const Demands *d, uint32_t term) {
  for (size_t i = 0; i < d->len; i++)
    if (d->items[i].term == term)
      return true;
  return false;
}

// Does the branch, evaluated with its own input, have the recorded outcome? One
// that cannot be evaluated or has the other outcome is left out; the latter is
// our bug and counted.
static bool is_sound(const BranchSolver *s, const PhpBranch *b) {
  PhpValue v = term_eval(s->ev, b->term);
  bool known = v.type != VALUE_UNKNOWN;
  bool same = known && php_truth(v) == b->outcome;
  s->stats->wrong += known && !same;
  return same;
}

// The branches before it whose inputs may change.
static void collect(const BranchSolver *s, uint32_t branch, Demands *out) {
  const PhpBranch *b = &s->sh->branches[branch];
  uint64_t reach = term_support(s->ev, b->term);
  array_push(out, (Demand){b->term, !b->outcome});
  for (bool grown = true; grown;) {
    grown = false;
    for (uint32_t i = branch; i-- > 0 && out->len < DEMANDS_MOST;) {
      const PhpBranch *x = &s->sh->branches[i];
      if (!(term_support(s->ev, x->term) & reach) || has_demand(out, x->term))
        continue;
      if (!is_sound(s, x))
        continue;
      reach |= term_support(s->ev, x->term);
      array_push(out, (Demand){x->term, x->outcome});
      grown = true;
    }
  }
}

// --- the search -------------------------------------------------------------

typedef struct {
  const BranchSolver *s;
  const Demands *demands;
  InputAnswers *out;
  size_t most;
  InputAnswer now;
  unsigned tries;
  bool lenient; // what cannot be told is taken for granted
} Search;

static void apply(const Search *x) {
  term_eval_clear(x->s->ev);
  for (size_t i = 0; i < x->now.n; i++)
    term_eval_set(x->s->ev, x->now.items[i].var, x->now.items[i].value);
}

static bool is_met(const Search *x, const Demand *d) {
  PhpValue v = term_eval(x->s->ev, d->term);
  if (v.type == VALUE_UNKNOWN)
    return x->lenient && x->now.n;
  return php_truth(v) == d->outcome;
}

// Index of the first violated demand; the length if there is none.
static size_t first_unmet(const Search *x) {
  size_t i = 0;
  while (i < x->demands->len && is_met(x, &x->demands->items[i]))
    i++;
  return i;
}

static bool is_changed(const Search *x, uint32_t var) {
  const PhpTerm *terms = x->s->sh->terms;
  for (size_t i = 0; i < x->now.n; i++)
    if (!strcmp(terms[x->now.items[i].var].name, terms[var].name))
      return true;
  return false;
}

static bool is_known(const Search *x) {
  for (size_t i = 0; i < x->out->len; i++) {
    const InputAnswer *a = &x->out->items[i];
    size_t same = 0;
    for (size_t k = 0; k < a->n && a->n == x->now.n; k++)
      same += a->items[k].var == x->now.items[k].var &&
              php_same(a->items[k].value, x->now.items[k].value);
    if (same == x->now.n && a->n == same)
      return true;
  }
  return false;
}

static bool is_late(const BranchSolver *s) {
  return s->until > 0 && clock_now() > s->until;
}

static bool goes_on(const Search *x) {
  return x->tries < TRIES_MOST && x->out->len < x->most &&
         (x->tries % 16 || !is_late(x->s));
}

static void search(Search *x, unsigned depth) {
  apply(x);
  size_t unmet = first_unmet(x);
  if (unmet == x->demands->len) {
    if (!is_known(x))
      array_push(x->out, x->now);
    return;
  }
  if (!depth || x->now.n == CHANGES_MOST)
    return;
  InputChanges ideas = {0};
  propose(x->s, x->demands->items[unmet].term, x->demands->items[unmet].outcome,
          &ideas);
  for (size_t i = 0; i < ideas.len && goes_on(x); i++) {
    if (is_changed(x, ideas.items[i].var))
      continue;
    x->tries++;
    x->now.items[x->now.n++] = ideas.items[i];
    search(x, depth - 1);
    x->now.n--;
  }
  array_release(&ideas);
}

static void solve_candidates(const BranchSolver *s, const Demands *demands,
                             bool lenient, size_t most, InputAnswers *out) {
  Search x = {
      .s = s, .demands = demands, .out = out, .most = most, .lenient = lenient};
  size_t before = out->len;
  for (unsigned depth = 1; depth <= DEPTH_MOST && out->len == before; depth++) {
    x.tries = 0;
    search(&x, depth);
  }
  term_eval_clear(s->ev);
}

static bool depends_on_free(const BranchSolver *s, uint32_t term) {
  uint64_t reach = term_support(s->ev, term);
  if (!reach)
    return false;
  for (uint32_t i = 1; i <= term; i++) {
    const PhpTerm *t = &s->sh->terms[i];
    if (t->op == TERM_VAR && term_support(s->ev, i) & reach &&
        input_is_free(t->name, s->session))
      return true;
  }
  return false;
}

static bool holds(const BranchSolver *s, const Demands *demands,
                  const InputAnswer *a) {
  Search x = {.s = s, .demands = demands, .now = *a};
  apply(&x);
  bool ok = first_unmet(&x) == demands->len;
  term_eval_clear(s->ev);
  return ok;
}

// --- Z3, once for each question ---------------------------------------------

static uint64_t question(const BranchSolver *s, const Demands *demands) {
  uint64_t sum = 0;
  for (size_t i = 0; i < demands->len; i++) {
    uint64_t key[3] = {term_hash(s->ev, demands->items[i].term),
                       demands->items[i].outcome, i == 0};
    sum += XXH3_64bits(key, sizeof key); // in any order
  }
  return sum;
}

static uint32_t find_var(const PhpShadows *sh, const char *name) {
  for (uint32_t i = 1; i < sh->nterms; i++)
    if (sh->terms[i].op == TERM_VAR && !strcmp(sh->terms[i].name, name))
      return i;
  return 0;
}

static bool recall(const BranchSolver *s, const CachedAnswer *c,
                   InputAnswer *out) {
  out->n = 0;
  for (size_t i = 0; i < c->n; i++) {
    uint32_t var = find_var(s->sh, c->items[i].name);
    PhpValue v = c->items[i].value;
    if (!var)
      return false;
    if (v.type == VALUE_STRING)
      v.s = arena_strndup(s->arena, v.s, v.n);
    out->items[out->n++] = (InputChange){var, v};
  }
  return out->n > 0;
}

// After one answer the place stays open to Z3.
static void note_place(SolveCache *c, const CachedAnswer *a) {
  uint64_t vain = 0;
  bool known = hashmap_get(&c->vain, &a->place, sizeof a->place, &vain);
  if (!known || vain)
    hashmap_put(&c->vain, &a->place, sizeof a->place, a->n ? 0 : vain + 1);
}

static bool is_vain(const SolveCache *c, uint64_t place) {
  uint64_t vain = 0;
  hashmap_get(&c->vain, &place, sizeof place, &vain);
  return vain >= VAIN_MOST;
}

static void add_answer(SolveCache *c, const CachedAnswer *a) {
  Hashmap *map = a->hopeless ? &c->hopeless : &c->index;
  uint64_t fresh = c->answers.len;
  if (hashmap_intern(map, &a->question, sizeof a->question, fresh) != fresh)
    return;
  if (!a->hopeless)
    note_place(c, a);
  CachedAnswer copy = *a;
  for (size_t i = 0; i < a->n; i++)
    copy.items[i] = (NamedChange){arena_strdup(&c->arena, a->items[i].name),
                                  copy_value(a->items[i].value, &c->arena)};
  array_push(&c->answers, copy);
}

static void remember(const BranchSolver *s, uint64_t question, uint64_t place,
                     const InputAnswer *a) {
  CachedAnswer x = {.question = question, .place = place, .n = a->n};
  for (size_t i = 0; i < a->n; i++)
    x.items[i] =
        (NamedChange){s->sh->terms[a->items[i].var].name, a->items[i].value};
  add_answer(s->cache, &x);
}

void solve_cache_copy(SolveCache *to, const SolveCache *from, size_t first) {
  for (size_t i = first; i < from->answers.len; i++)
    add_answer(to, &from->answers.items[i]);
}

static uint64_t place_of(const PhpBranch *b) {
  return XXH3_64bits_withSeed(b->file, strlen(b->file), b->line);
}

// A question that timed out may be answered another time.
static bool ask_z3(const BranchSolver *s, uint64_t question, uint64_t place,
                   const Demands *demands, InputAnswer *out) {
  uint64_t n;
  if (!s->cache)
    return smt_solve(s, demands, out);
  if (hashmap_get(&s->cache->index, &question, sizeof question, &n)) {
    s->stats->cached++;
    return recall(s, &s->cache->answers.items[n], out);
  }
  if (is_vain(s->cache, place)) {
    s->stats->spared++;
    return false;
  }
  if (!smt_solve(s, demands, out))
    out->n = 0;
  if (out->n || !is_late(s))
    remember(s, question, place, out);
  return out->n > 0;
}

static bool is_hopeless(const BranchSolver *s, uint64_t key) {
  uint64_t ignored;
  return s->cache &&
         hashmap_get(&s->cache->hopeless, &key, sizeof key, &ignored);
}

static void give_up(const BranchSolver *s, uint64_t key) {
  s->stats->unsolved++;
  if (s->cache && !is_late(s))
    add_answer(s->cache, &(CachedAnswer){.question = key, .hopeless = true});
}

void solve_cache_release(SolveCache *c) {
  hashmap_release(&c->hopeless);
  hashmap_release(&c->vain);
  hashmap_release(&c->index);
  array_release(&c->answers);
  arena_release(&c->arena);
}

void solve_stats_add(SolveStats *to, const SolveStats *more) {
  to->branches += more->branches;
  to->by_candidates += more->by_candidates;
  to->by_z3 += more->by_z3;
  to->guessed += more->guessed;
  to->fixed += more->fixed;
  to->unsolved += more->unsolved;
  to->timeouts += more->timeouts;
  to->wrong += more->wrong;
  to->cached += more->cached;
  to->spared += more->spared;
  to->late += more->late;
  to->late_requests += more->late_requests;
  to->z3_seconds += more->z3_seconds;
}

void branch_solve(const BranchSolver *s, uint32_t branch, InputAnswers *out) {
  const PhpBranch *b = &s->sh->branches[branch];
  size_t before = out->len;
  s->stats->branches++;
  if (!depends_on_free(s, b->term)) {
    s->stats->fixed++;
    return;
  }
  Demands demands = {0};
  InputAnswer a;
  collect(s, branch, &demands);
  uint64_t key = question(s, &demands);
  bool hopeless = is_hopeless(s, key);
  if (!hopeless)
    solve_candidates(s, &demands, false, before + ANSWERS_MOST, out);
  if (hopeless) {
    s->stats->unsolved++;
    s->stats->cached++;
  } else if (out->len > before) {
    s->stats->by_candidates++;
  } else if (!s->no_z3 && ask_z3(s, key, place_of(b), &demands, &a) &&
             holds(s, &demands, &a)) {
    s->stats->by_z3++;
    array_push(out, a);
  } else {
    solve_candidates(s, &demands, true, before + GUESSES_MOST, out);
    if (out->len > before)
      s->stats->guessed++;
    else
      give_up(s, key);
  }
  array_release(&demands);
}
