// Input for other outcomes of comparisons: see request_solver.h.
#include "explore/solve/request_solver.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "explore/solve/named_input.h"
#include "explore/solve/session_terms.h"
#include "php/record/record_format.h"
#include "solve/gates.h"
#include "util/clock.h"
#include "util/mem.h"

enum { ABSENT_MOST = 40, CONTAINED_LEAST = 3 };

// --- identity ---------------------------------------------------------------

uint64_t compare_hash(const PhpCompare *c) {
  uint64_t place = (uint64_t)c->line << 32 | c->kind;
  uint64_t h = XXH3_64bits_withSeed(c->file, strlen(c->file), place);
  return XXH3_64bits_withSeed(c->right, strlen(c->right), h);
}

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

// The compared text is the value with something around it: the value with which
// the whole becomes `want`; NULL: none.
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
} ValueList;

static void add_value(ValueList *v, const char *value) {
  if (v->len < sizeof v->items / sizeof *v->items)
    v->items[v->len++] = value;
}

static void add_neighbours(ValueList *v, const char *bound, Arena *arena) {
  char *end;
  errno = 0;
  long n = strtol(bound, &end, 10);
  add_value(v, bound);
  if (end == bound || *end || errno || n == LONG_MIN || n == LONG_MAX)
    return;
  add_value(v, arena_printf(arena, "%ld", n - 1));
  add_value(v, arena_printf(arena, "%ld", n + 1));
}

// Values to try instead of that of `p`, which the comparison saw as c->left.
static void find_values(const PhpCompare *c, const Param *p, ValueList *v,
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
    ValueList v = {0};
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

// False: not an array that a visitor fills.
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

void absent_keys_add(const PhpRecord *record, const Ask *a, Asks *out,
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

// --- one worker -------------------------------------------------------------

typedef struct {
  const Ask *ask;
  SessionTerms *terms;
} Held;

// `known` and `cache` are copies of the shared ones as they were when it began,
// and what was learnt since.
struct RequestSolver {
  SolveMemory *memory;
  KnownCalls known;
  SolveCache cache;
  size_t known_taken, cache_taken; // so many of the shared ones are copied
  size_t known_own, cache_own;     // numbers of the first that were learnt
  Held held[HELD_MOST];
  size_t nheld;
  const PhpShadows *learnt; // of the request
  const Ask *ask;
  SessionTerms *terms;
  TermEval *ev; // of the shadows looked at last
  uint64_t serial;
  double until; // when the request's time is up; 0: it has not begun
  SolveStats stats;
};

RequestSolver *request_solver_new(SolveMemory *memory) {
  RequestSolver *s = mem_new(RequestSolver);
  s->memory = memory;
  return s;
}

static void drop_held(RequestSolver *s) {
  for (size_t i = 0; i < s->nheld; i++)
    session_terms_drop(s->held[i].terms);
  s->nheld = 0;
}

static void drop_evaluator(RequestSolver *s) {
  term_eval_free(s->ev);
  s->ev = NULL;
}

void request_solver_free(RequestSolver *s) {
  if (!s)
    return;
  drop_held(s);
  session_terms_drop(s->terms);
  drop_evaluator(s);
  known_calls_release(&s->known);
  solve_cache_release(&s->cache);
  free(s);
}

void request_solver_begin(RequestSolver *s) {
  const SolveMemory *m = s->memory;
  known_calls_copy(&s->known, &m->known, s->known_taken);
  solve_cache_copy(&s->cache, &m->cache, s->cache_taken);
  s->known_taken = m->known.calls.len;
  s->cache_taken = m->cache.answers.len;
  s->known_own = s->known.calls.len;
  s->cache_own = s->cache.answers.len;
  s->until = 0;
  s->stats = (SolveStats){0};
}

void request_solver_hold(RequestSolver *s, const Ask *a) {
  SessionTerms *k =
      s->nheld == HELD_MOST ? NULL : session_memory_hold(&s->memory->kept, a);
  if (k)
    s->held[s->nheld++] = (Held){a, k};
}

void request_solver_end(RequestSolver *s) {
  SolveMemory *m = s->memory;
  known_calls_copy(&m->known, &s->known, s->known_own);
  solve_cache_copy(&m->cache, &s->cache, s->cache_own);
  solve_stats_add(&m->stats, &s->stats);
  if (s->learnt)
    solve_memory_count_opaque(m, s->learnt);
  if (s->terms)
    session_memory_add(&m->kept, s->ask, s->terms);
  drop_held(s);
  s->terms = NULL;
  s->learnt = NULL;
  drop_evaluator(s);
}

void request_solver_learn(RequestSolver *s, const PhpRecord *record,
                          const Ask *a) {
  if (!record->shadows->nterms)
    return;
  s->learnt = record->shadows;
  s->ask = a;
  s->terms = session_terms_new(record->shadows);
  known_calls_add(&s->known, record->shadows);
}

static const SessionTerms *held(const RequestSolver *s, const Ask *a) {
  for (size_t i = 0; i < s->nheld; i++)
    if (s->held[i].ask == a)
      return s->held[i].terms;
  return NULL;
}

// --- branches ---------------------------------------------------------------

static TermEval *evaluator(RequestSolver *s, const PhpShadows *sh) {
  if (!s->ev || s->serial != sh->serial) {
    drop_evaluator(s);
    s->ev = term_eval_new(sh);
    s->serial = sh->serial;
  }
  return s->ev;
}

// The time starts with the first decision.
static bool is_late(RequestSolver *s) {
  double now = clock_now();
  if (!(s->until > 0))
    s->until = now + s->memory->request_seconds;
  if (s->memory->until > 0 && s->memory->until < s->until)
    s->until = s->memory->until;
  if (now < s->until)
    return false;
  s->stats.late_requests = 1;
  s->stats.late++;
  return true;
}

static BranchSolver solver_for(RequestSolver *s, const PhpShadows *sh,
                               bool session, Arena *arena) {
  return (BranchSolver){.sh = sh,
                        .ev = evaluator(s, sh),
                        .known = &s->known,
                        .cache = &s->cache,
                        .seconds = s->memory->question_seconds,
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
    const InputChange *c = &answer->items[i];
    Ask before = *out;
    if (!input_change(&before, sh->terms[c->var].name, c->value, out, arena))
      return false;
  }
  return answer->n > 0;
}

static void solve_own(RequestSolver *s, const PhpCompare *c, const Ask *a,
                      Asks *out, Arena *arena) {
  BranchSolver b = solver_for(s, c->shadows, false, arena);
  InputAnswers answers = {0};
  Ask ask;
  branch_solve(&b, c->branch, &answers);
  for (size_t i = 0; i < answers.len; i++)
    if (change_all(a, c->shadows, &answers.items[i], &ask, arena))
      array_push(out, ask);
  array_release(&answers);
}

void request_solver_solve(RequestSolver *s, const PhpCompare *c, const Ask *a,
                          Asks *out, Arena *arena) {
  if (c->kind != COMPARE_BRANCH)
    compare_values(c, a, out, arena);
  else if (!is_late(s))
    solve_own(s, c, a, out, arena);
}

// --- earlier requests -------------------------------------------------------

// The session's value was a value of the request: changes that one.
static void by_value(const Ask *a, PhpValue was, PhpValue want, Asks *out,
                     Arena *arena) {
  PhpValue text = php_to_string(was, arena);
  for (size_t i = 0; i < a->nparams && text.n; i++)
    if (!strcmp(a->params[i].value, text.s))
      array_push(out, ask_with(a, a->params[i].place, a->params[i].name,
                               arena_strndup(arena, want.s, want.n), arena));
}

static void change_kept(const RequestSolver *s, const PhpShadows *sh,
                        const InputChange *c, const Ask *a, Asks *out,
                        Arena *arena) {
  const PhpTerm *var = &sh->terms[c->var];
  if (!text_starts(var->name, "SESSION.") || c->value.type != VALUE_STRING)
    return;
  const SessionTerms *of = held(s, a);
  if (!of ||
      !session_terms_solve(of, a, var->name, c->value, &s->known, out, arena))
    by_value(a, var->value, c->value, out, arena);
}

static void solve_session(RequestSolver *s, const PhpCompare *c, const Ask *a,
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

void request_solver_solve_earlier(RequestSolver *s, const PhpCompare *c,
                                  const Ask *a, Asks *out, Arena *arena) {
  if (c->kind != COMPARE_BRANCH)
    compare_values(c, a, out, arena);
  else if (!is_late(s))
    solve_session(s, c, a, out, arena);
}
