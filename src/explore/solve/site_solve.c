// Input that decides comparisons the other way: see site_solve.h.
#include "explore/solve/site_solve.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "explore/solve/site_solve_input.h"
#include "explore/solve/site_solve_kept.h"
#include "php/record/record_format.h"
#include "solve/gates.h"
#include "util/clock.h"
#include "util/mem.h"

enum { ABSENT_MOST = 40, CONTAINED_LEAST = 3, OPAQUE_MOST = 2000 };

// --- outcomes ---------------------------------------------------------------

uint64_t compare_hash(const PhpCompare *c) {
  uint64_t place = (uint64_t)c->line << 32 | c->kind;
  uint64_t h = XXH3_64bits_withSeed(c->file, strlen(c->file), place);
  return XXH3_64bits_withSeed(c->right, strlen(c->right), h);
}

void seen_add(Seen *s, const PhpCompare *c) {
  uint64_t key = compare_hash(c), bits = 0;
  hashmap_get(&s->outcomes, &key, sizeof key, &bits);
  if (!(bits >> c->held & 1))
    hashmap_put(&s->outcomes, &key, sizeof key, bits | 1u << c->held);
}

bool seen_one_way(const Seen *s, const PhpCompare *c) {
  uint64_t key = compare_hash(c), bits = 0;
  hashmap_get(&s->outcomes, &key, sizeof key, &bits);
  return bits != 3;
}

void seen_release(Seen *s) { hashmap_release(&s->outcomes); }

// --- values -----------------------------------------------------------------

typedef struct {
  const char *text;
  size_t len;
} Piece;

static Piece trim(const char *text) {
  size_t n = strlen(text);
  while (n && isspace((unsigned char)*text))
    text++, n--;
  while (n && isspace((unsigned char)text[n - 1]))
    n--;
  return (Piece){text, n};
}

static bool is_same(const char *a, const char *b) {
  Piece x = trim(a), y = trim(b);
  return x.len == y.len && !strncasecmp(x.text, y.text, x.len);
}

// The compared text is made of the value and something around it: what the
// value must be so that all of it is `want`; NULL: nothing will do.
static const char *inside(const char *text, const char *value, const char *want,
                          Arena *arena) {
  Piece v = trim(value);
  const char *core = arena_strndup(arena, v.text, v.len);
  const char *at = v.len < CONTAINED_LEAST ? NULL : strcasestr(text, core);
  if (!at)
    return NULL;
  size_t before = (size_t)(at - text), after = strlen(at + v.len);
  size_t n = strlen(want);
  if (n < before + after || strncmp(want, text, before) != 0 ||
      strcmp(want + n - after, at + v.len) != 0)
    return NULL;
  return arena_strndup(arena, want + before, n - before - after);
}

typedef struct {
  const char *items[4];
  size_t len;
} Values;

static void add_value(Values *v, const char *value) {
  if (v->len < sizeof v->items / sizeof *v->items)
    v->items[v->len++] = value;
}

static void add_neighbours(Values *v, const char *bound, Arena *arena) {
  char *end;
  errno = 0;
  long n = strtol(bound, &end, 10);
  add_value(v, bound);
  if (end == bound || *end || errno || n == LONG_MIN || n == LONG_MAX)
    return;
  add_value(v, arena_printf(arena, "%ld", n - 1));
  add_value(v, arena_printf(arena, "%ld", n + 1));
}

// What to try instead of `p`, whose value the comparison saw as c->left.
static void find_values(const PhpCompare *c, const Param *p, Values *v,
                        Arena *arena) {
  switch ((CompareKind)c->kind) {
  case COMPARE_EQUAL:
    if (c->held)
      add_value(v, ask_guess(p->name, false, arena));
    else
      add_value(v, c->right);
    break;
  case COMPARE_LESS:
  case COMPARE_GREATER:
    add_neighbours(v, c->right, arena);
    break;
  case COMPARE_STARTS:
    add_value(v, c->right);
    add_value(v, arena_printf(arena, "%s%s", c->right, p->value));
    break;
  case COMPARE_CONTAINS:
  case COMPARE_ENDS:
    add_value(v, c->right);
    add_value(v, arena_printf(arena, "%s%s", p->value, c->right));
    break;
  case COMPARE_ABSENT:
  case COMPARE_BRANCH:
    break;
  }
}

static void compare_values(const PhpCompare *c, const Ask *a, Asks *out,
                           Arena *arena) {
  if (c->kind == COMPARE_ABSENT)
    return;
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    const char *part;
    Values v = {0};
    if (!trim(p->value).len) // could be any of the empty ones
      continue;
    if (is_same(p->value, c->left))
      find_values(c, p, &v, arena);
    else if ((part = inside(c->left, p->value, c->right, arena)))
      add_value(&v, part);
    for (size_t k = 0; k < v.len; k++)
      array_push(out, ask_with(a, p->place, p->name,
                               arena_strdup(arena, v.items[k]), arena));
  }
}

// --- keys -------------------------------------------------------------------

// False: the array is none that a visitor fills.
static bool place_of(const PhpCompare *c, const Ask *a, ParamPlace *place) {
  if (c->kind != COMPARE_ABSENT || !*c->right)
    return false;
  if (!strcmp(c->left, "_GET"))
    *place = IN_QUERY;
  else if (!strcmp(c->left, "_POST"))
    *place = IN_BODY;
  else if (!strcmp(c->left, "_REQUEST"))
    *place = a->post ? IN_BODY : IN_QUERY;
  else
    *place = IN_COOKIE;
  return !strcmp(c->left, "_COOKIE") || *place != IN_COOKIE;
}

void solve_absent(const PhpRecord *record, const Ask *a, Asks *out,
                  Arena *arena) {
  Ask all = *a;
  size_t n = 0;
  ParamPlace place;
  for (size_t i = 0; i < record->ncompares && n < ABSENT_MOST; i++) {
    const PhpCompare *c = &record->compares[i];
    if (!place_of(c, a, &place))
      continue;
    const char *name = arena_strdup(arena, c->right);
    const char *value = ask_guess(name, false, arena);
    all = ask_with(&all, place, name, value, arena);
    array_push(out, ask_with(a, place, name, value, arena));
    n++;
  }
  if (n > 1)
    array_push(out, all);
}

// --- what is remembered -----------------------------------------------------

typedef struct {
  char *name;
  uint32_t count;
} OpaqueCount;

struct SolveMemory {
  SolveOptions options;
  pthread_mutex_t lock; // of all that follows
  KnownCalls known;
  KeptTerms kept;
  SolveCache cache;
  SolveStats stats;
  Hashmap opaque_index;
  ARRAY(OpaqueCount) opaque;
};

SolveMemory *solve_memory_new(SolveOptions options) {
  SolveMemory *m = mem_new(SolveMemory);
  m->options = options;
  if (!(m->options.request > 0))
    m->options.request = SOLVE_REQUEST_SECONDS;
  pthread_mutex_init(&m->lock, NULL);
  return m;
}

void solve_memory_free(SolveMemory *m) {
  if (!m)
    return;
  known_calls_release(&m->known);
  kept_release(&m->kept);
  solve_cache_release(&m->cache);
  hashmap_release(&m->opaque_index);
  for (size_t i = 0; i < m->opaque.len; i++)
    free(m->opaque.items[i].name);
  array_release(&m->opaque);
  pthread_mutex_destroy(&m->lock);
  free(m);
}

SolveStats solve_stats(SolveMemory *m) {
  pthread_mutex_lock(&m->lock);
  SolveStats st = m->stats;
  pthread_mutex_unlock(&m->lock);
  return st;
}

static int by_count(const void *a, const void *b) {
  const OpaqueCount *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return strcmp(x->name, y->name);
}

size_t solve_opaque(SolveMemory *m, PhpNamed *out, size_t most) {
  pthread_mutex_lock(&m->lock);
  size_t n = m->opaque.len;
  OpaqueCount *sorted = mem_array(OpaqueCount, n + 1);
  if (n)
    memcpy(sorted, m->opaque.items, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_count);
  for (size_t i = 0; i < n && i < most; i++)
    out[i] = (PhpNamed){.name = sorted[i].name, .number = sorted[i].count};
  free(sorted);
  pthread_mutex_unlock(&m->lock);
  return n;
}

static void report_opaque(SolveMemory *m, Str *out) {
  PhpNamed names[8];
  size_t n = solve_opaque(m, names, 8);
  for (size_t i = 0; i < n && i < 8; i++)
    str_addf(out, "%s%s %u", i ? ", " : "Not followed through: ", names[i].name,
             names[i].number);
  if (n)
    str_add(out, n > 8 ? ", ...\n" : "\n");
}

void solve_report(SolveMemory *m, Str *out) {
  SolveStats st = solve_stats(m);
  if (!st.branches)
    return;
  size_t good = st.by_candidates + st.by_z3 + st.guessed;
  str_addf(out,
           "Solved: %zu of %zu decisions (%zu by candidates, %zu by Z3, %zu "
           "guessed); %zu have no input in them; %zu not, of these %zu after "
           "Z3's time was up.\n",
           good, st.branches, st.by_candidates, st.by_z3, st.guessed, st.fixed,
           st.unsolved, st.timeouts < st.unsolved ? st.timeouts : st.unsolved);
  if (st.spared)
    str_addf(out,
             "Z3 was spared %zu question%s about places where it never "
             "knew an answer.\n",
             st.spared, plural(st.spared));
  if (st.late)
    str_addf(
        out,
        "%zu more decision%s of %zu request%s not tried: each has %g s for "
        "solving.\n",
        st.late, plural(st.late), st.late_requests,
        st.late == 1 ? " was" : "s were", m->options.request);
  if (st.wrong)
    str_addf(out,
             "%zu decision%s not what the terms say: a mistake of culprit's, "
             "please report it.\n",
             st.wrong, st.wrong == 1 ? " is" : "s are");
  report_opaque(m, out);
}

static void count_opaque(SolveMemory *m, const PhpShadows *sh) {
  for (size_t i = 0; i < sh->nopaque && m->opaque.len < OPAQUE_MOST; i++) {
    const PhpNamed *o = &sh->opaque[i];
    uint64_t fresh = m->opaque.len;
    uint64_t n =
        hashmap_intern(&m->opaque_index, o->name, strlen(o->name), fresh);
    if (n == fresh)
      array_push(&m->opaque, (OpaqueCount){mem_strdup(o->name), 0});
    m->opaque.items[n].count += o->number;
  }
}

// --- one worker -------------------------------------------------------------

typedef struct {
  const Ask *ask;
  Keeping *keeping;
} Held;

// `known` and `cache` are copies of the shared ones as they were when it began,
// and what was learnt since.
struct Solving {
  SolveMemory *memory;
  KnownCalls known;
  SolveCache cache;
  size_t known_taken, cache_taken; // so many of the shared ones are copied
  size_t known_own, cache_own;     // numbers of the first that were learnt
  Held held[HELD_MOST];
  size_t nheld;
  const PhpShadows *learnt; // of the request
  const Ask *ask;
  Keeping *keeping;
  TermEval *ev; // of the shadows looked at last
  uint64_t serial;
  double until;
  SolveStats stats;
};

Solving *solving_new(SolveMemory *m) {
  Solving *s = mem_new(Solving);
  s->memory = m;
  return s;
}

static void drop_held(Solving *s) {
  for (size_t i = 0; i < s->nheld; i++)
    keeping_drop(s->held[i].keeping);
  s->nheld = 0;
}

static void drop_evaluator(Solving *s) {
  term_eval_free(s->ev);
  s->ev = NULL;
}

void solving_free(Solving *s) {
  if (!s)
    return;
  SolveMemory *m = s->memory;
  pthread_mutex_lock(&m->lock);
  drop_held(s);
  keeping_drop(s->keeping);
  pthread_mutex_unlock(&m->lock);
  drop_evaluator(s);
  known_calls_release(&s->known);
  solve_cache_release(&s->cache);
  free(s);
}

void solving_begin(Solving *s) {
  SolveMemory *m = s->memory;
  pthread_mutex_lock(&m->lock);
  known_calls_copy(&s->known, &m->known, s->known_taken);
  solve_cache_copy(&s->cache, &m->cache, s->cache_taken);
  s->known_taken = m->known.calls.len;
  s->cache_taken = m->cache.answers.len;
  s->known_own = s->known.calls.len;
  s->cache_own = s->cache.answers.len;
  s->until = 0;
  s->stats = (SolveStats){0};
  pthread_mutex_unlock(&m->lock);
}

void solving_hold(Solving *s, const Ask *a) {
  if (s->nheld == HELD_MOST)
    return;
  SolveMemory *m = s->memory;
  pthread_mutex_lock(&m->lock);
  Keeping *k = kept_hold(&m->kept, a);
  if (k)
    s->held[s->nheld++] = (Held){a, k};
  pthread_mutex_unlock(&m->lock);
}

void solving_end(Solving *s) {
  SolveMemory *m = s->memory;
  pthread_mutex_lock(&m->lock);
  known_calls_copy(&m->known, &s->known, s->known_own);
  solve_cache_copy(&m->cache, &s->cache, s->cache_own);
  solve_stats_add(&m->stats, &s->stats);
  if (s->learnt)
    count_opaque(m, s->learnt);
  if (s->keeping)
    kept_add(&m->kept, s->ask, s->keeping);
  drop_held(s);
  pthread_mutex_unlock(&m->lock);
  s->keeping = NULL;
  s->learnt = NULL;
  drop_evaluator(s);
}

void solve_learn(Solving *s, const PhpRecord *record, const Ask *a) {
  if (!record->shadows->nterms)
    return;
  s->learnt = record->shadows;
  s->ask = a;
  s->keeping = keeping_new(record->shadows);
  known_calls_add(&s->known, record->shadows);
}

static const Keeping *held(const Solving *s, const Ask *a) {
  for (size_t i = 0; i < s->nheld; i++)
    if (s->held[i].ask == a)
      return s->held[i].keeping;
  return NULL;
}

// --- branches ---------------------------------------------------------------

static TermEval *evaluator(Solving *s, const PhpShadows *sh) {
  if (!s->ev || s->serial != sh->serial) {
    drop_evaluator(s);
    s->ev = term_eval_new(sh);
    s->serial = sh->serial;
  }
  return s->ev;
}

// The clock runs from the first decision on.
static bool is_late(Solving *s) {
  double now = clock_now();
  if (!(s->until > 0))
    s->until = now + s->memory->options.request;
  if (now < s->until)
    return false;
  s->stats.late_requests = 1;
  s->stats.late++;
  return true;
}

static BranchSolver solver_for(Solving *s, const PhpShadows *sh, bool session,
                               Arena *arena) {
  return (BranchSolver){.sh = sh,
                        .ev = evaluator(s, sh),
                        .known = &s->known,
                        .cache = &s->cache,
                        .seconds = s->memory->options.question,
                        .until = s->until,
                        .stats = &s->stats,
                        .session = session,
                        .no_z3 = session,
                        .arena = arena};
}

// The request with all changes of the answer; false: it cannot be sent.
static bool change_all(const Ask *a, const PhpShadows *sh,
                       const InputAnswer *answer, Ask *out, Arena *arena) {
  *out = *a;
  for (size_t i = 0; i < answer->n; i++) {
    const Change *c = &answer->items[i];
    Ask before = *out;
    if (!input_change(&before, sh->terms[c->var].name, c->value, out, arena))
      return false;
  }
  return answer->n > 0;
}

static void solve_own(Solving *s, const PhpCompare *c, const Ask *a, Asks *out,
                      Arena *arena) {
  BranchSolver b = solver_for(s, c->shadows, false, arena);
  InputAnswers answers = {0};
  Ask ask;
  branch_solve(&b, c->branch, &answers);
  for (size_t i = 0; i < answers.len; i++)
    if (change_all(a, c->shadows, &answers.items[i], &ask, arena))
      array_push(out, ask);
  array_release(&answers);
}

void solve_compare(Solving *s, const PhpCompare *c, const Ask *a, Asks *out,
                   Arena *arena) {
  if (c->kind != COMPARE_BRANCH)
    compare_values(c, a, out, arena);
  else if (!is_late(s))
    solve_own(s, c, a, out, arena);
}

// --- earlier requests -------------------------------------------------------

// The session's value was one of the request's: that one is another then.
static void by_value(const Ask *a, PhpValue was, PhpValue want, Asks *out,
                     Arena *arena) {
  PhpValue text = php_to_string(was, arena);
  for (size_t i = 0; i < a->nparams && text.n; i++)
    if (!strcmp(a->params[i].value, text.s))
      array_push(out, ask_with(a, a->params[i].place, a->params[i].name,
                               arena_strndup(arena, want.s, want.n), arena));
}

static void change_kept(const Solving *s, const PhpShadows *sh, const Change *c,
                        const Ask *a, Asks *out, Arena *arena) {
  const PhpTerm *var = &sh->terms[c->var];
  if (!text_starts(var->name, "SESSION.") || c->value.type != VALUE_STRING)
    return;
  const Keeping *of = held(s, a);
  if (!of || !keeping_solve(of, a, var->name, c->value, &s->known, out, arena))
    by_value(a, var->value, c->value, out, arena);
}

static void solve_session(Solving *s, const PhpCompare *c, const Ask *a,
                          Asks *out, Arena *arena) {
  SolveStats ignored = {0};
  BranchSolver b = solver_for(s, c->shadows, true, arena);
  InputAnswers answers = {0};
  b.stats = &ignored;
  branch_solve(&b, c->branch, &answers);
  for (size_t i = 0; i < answers.len; i++)
    if (answers.items[i].n == 1)
      change_kept(s, c->shadows, &answers.items[i].items[0], a, out, arena);
  array_release(&answers);
}

void solve_kept(Solving *s, const PhpCompare *c, const Ask *a, Asks *out,
                Arena *arena) {
  if (c->kind != COMPARE_BRANCH)
    compare_values(c, a, out, arena);
  else if (!is_late(s))
    solve_session(s, c, a, out, arena);
}
