// Makes runs near a failing one: see near.h.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "input/made.h"
#include "near/near_internal.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  KEPT_MAX = 500, // conditions of the rest of a path that are asked to stay
  CASES_MAX = 16, // of one switch that are tried
  BRANCHES_CLOSE = 500, // before some are left out
  OTHERS_MAX = 200,     // questions about conditions that are not branches
  REDUCED_MAX = 8,      // runs made by reduction that are compared
  DETOURED_MAX = 8,     // made runs whose own branches are turned round
  FILE_MAX = 16 << 20,
};

// --- what is wanted ---------------------------------------------------------

static bool goes_on(const Near *n) {
  return near_goes_on(n) && n->stats.queries < n->options.paths;
}

// Would a run that differs at these events alone be wanted? If the nearest is
// looked for: if it is nearer than the best.
static bool is_wanted(const Near *n, const uint32_t *events, size_t count) {
  Distance d = {0};
  if (n->options.order != NEAR_NEAREST || !n->found.len ||
      n->found.items[n->nearest].other || n->found.items[n->nearest].refused)
    return true;
  for (size_t i = 0; i < count; i++)
    array_push(&d, (BranchDifference){events[i], IR_NONE});
  bool nearer = distance_compare(&d, &n->found.items[n->nearest].distance) < 0;
  array_release(&d);
  return nearer;
}

static bool is_branch(const PathEvent *e) {
  return e->kind == PATH_BRANCH || e->kind == PATH_SWITCH;
}

// --loops: may this branch of the run be turned round? `to`: the edge to take
// then, counted from the branch's first; IR_NONE: the other one.
static bool may_turn(const Near *n, const PathEvent *e, uint32_t to) {
  const IrBranch *b = &n->control.program->branches.items[e->branch];
  if (to == IR_NONE && b->nedges != 2)
    return true;
  return near_may_take(n, b->first_edge + e->edge,
                       b->first_edge + (to == IR_NONE ? !e->edge : to));
}

// --- solving ----------------------------------------------------------------

// Conditions on the path of a run to turn round, ascending.
typedef struct {
  NearRun *run;
  const uint32_t *conditions;
  size_t n;
  const Constraint *instead; // of turning the last one round; may be NULL
  bool strict;
} Turn;

static bool turned(const Turn *t, uint32_t condition) {
  for (size_t i = 0; i < t->n; i++)
    if (t->conditions[i] == condition)
      return true;
  return false;
}

// Is it executed only because of how a turned condition before it went? Of
// conditions that are not branches only the last symbolic event before them is
// known: those right behind a turned one count as dependent.
static bool depends(const Turn *t, uint32_t condition) {
  const NearRun *r = t->run;
  uint32_t event = r->event_of[condition];
  bool own = r->path.events.items[condition].branch != IR_NONE;
  for (size_t i = 0; i < t->n && t->conditions[i] < condition; i++) {
    uint32_t by = r->event_of[t->conditions[i]];
    bool branch = r->path.events.items[t->conditions[i]].branch != IR_NONE;
    if (branch && event >= by + own && event <= r->ends[by])
      return true;
  }
  return false;
}

static void collect(const Turn *t, Constraints *out) {
  const NearRun *r = t->run;
  uint32_t last = t->conditions[t->n - 1];
  for (uint32_t i = t->conditions[0]; i < r->path.events.len; i++) {
    const PathEvent *e = &r->path.events.items[i];
    if (i > last && (!t->strict || out->len >= KEPT_MAX))
      return;
    if (i == last && t->instead)
      array_push(out, *t->instead);
    else if (turned(t, i))
      array_push(out, (Constraint){e->cond, !e->outcome});
    else if (!depends(t, i))
      array_push(out, (Constraint){e->cond, e->outcome});
  }
}

static SolverResult ask(Near *n, const Turn *t, size_t prefix,
                        const Constraints *extra, Model *out) {
  SolverResult result =
      solver_query(t->run->solver, prefix, extra->items, extra->len, out);
  n->stats.queries++;
  n->stats.unsat += result == SOLVER_UNSAT;
  n->stats.unknown += result == SOLVER_UNKNOWN;
  return result;
}

// The suffix of a path, from what is turned round first on, cannot be had from
// any state: no longer path that ends like this can.
static bool is_dead_end(Near *n, const Turn *t) {
  Constraints extra = {0};
  Model ignored = {0};
  collect(t, &extra);
  bool dead = ask(n, t, 0, &extra, &ignored) == SOLVER_UNSAT;
  n->stats.pruned += dead;
  model_release(&ignored);
  array_release(&extra);
  return dead;
}

// Not the inputs of this model again.
static Constraint other_than(ExprPool *p, const Model *m) {
  Expr same = expr_bool(p, true);
  for (size_t i = 0; i < m->len; i++) {
    Expr var = expr_input(p, m->items[i].var);
    Expr is =
        expr_eq(p, var, expr_const_of(p, expr_sort(p, var), m->items[i].value));
    same = expr_and(p, same, is);
  }
  return (Constraint){same, false};
}

static void leave_trail(const Near *n, const Turn *t, SolverResult result) {
  static const char *const results[] = {"input", "none", "unknown"};
  FILE *out = n->options.trail;
  if (!out || t->run != &n->failing)
    return;
  for (size_t i = 0; i < t->n; i++) {
    const PathEvent *e = &t->run->path.events.items[t->conditions[i]];
    uint32_t line;
    const char *file = program_place(n->control.program, e->place, &line);
    fprintf(out, "%s%s:%u:%u", i ? " " : "", path_base(file), line,
            e->instance + 1);
  }
  fprintf(out, "\t%s\t%s\n", t->strict ? "strict" : "following",
          results[result]);
}

static uint32_t last_event(const Near *n, const Turn *t) {
  return t->run == &n->failing ? t->run->event_of[t->conditions[t->n - 1]] : 0;
}

static int try_turn(Near *n, const Turn *t, SolverResult *result, Err *err) {
  NearRun *r = t->run;
  Constraints extra = {0};
  int rc = 0;
  collect(t, &extra);
  for (size_t i = 0; !rc && i < n->options.inputs; i++) {
    Model model = {0};
    Inputs in = {0};
    SolverResult now = ask(n, t, t->conditions[0], &extra, &model);
    *result = i ? *result : now;
    if (now == SOLVER_SAT) {
      path_apply(&r->path, &r->inputs, &model, &in);
      rc = near_propose(n, &in, last_event(n, t), err);
      array_push(&extra, other_than(r->pool, &model));
    }
    model_release(&model);
    if (now != SOLVER_SAT)
      break;
  }
  leave_trail(n, t, *result);
  array_release(&extra);
  return rc;
}

static int try_following(Near *n, Turn t, Err *err) {
  SolverResult ignored;
  return try_turn(n, &t, &ignored, err);
}

// As the mode wants it. What cannot be followed cannot be had with the rest as
// it was, either. `result`: of the first.
static int try_modes(Near *n, Turn t, SolverResult *result, Err *err) {
  SolverResult strict;
  NearMode mode = n->options.mode;
  *result = SOLVER_UNKNOWN;
  t.strict = mode == NEAR_STRICT;
  if (try_turn(n, &t, result, err))
    return -1;
  if (mode != NEAR_BOTH || *result == SOLVER_UNSAT)
    return 0;
  t.strict = true;
  return try_turn(n, &t, &strict, err);
}

// --- one at a time ----------------------------------------------------------

// Each case of a switch.
static int try_cases(Near *n, uint32_t condition, Err *err) {
  const NearRun *r = &n->failing;
  const Program *p = n->control.program;
  const PathEvent *e = &r->path.events.items[condition];
  SolverResult ignored;
  if (e->kind != PATH_SWITCH || !e->subject)
    return 0;
  const IrBranch *b = &p->branches.items[e->branch];
  for (uint32_t k = 0; k < b->ncases && k < CASES_MAX && goes_on(n); k++) {
    uint32_t operand = p->cases.items[b->first_case + k];
    const IrConstant *c = &p->constants.items[operand & ~(uint32_t)IR_CONST];
    Expr want =
        expr_const_of(r->pool, expr_sort(r->pool, e->subject), c->value);
    Constraint is = {expr_eq(r->pool, e->subject, want), true};
    Turn t = {
        .run = &n->failing, .conditions = &condition, .n = 1, .instead = &is};
    if (k + 1 != e->edge && may_turn(n, e, k + 1) &&
        try_modes(n, t, &ignored, err))
      return -1;
  }
  return 0;
}

static int try_one(Near *n, uint32_t condition, Err *err) {
  Turn t = {.run = &n->failing, .conditions = &condition, .n = 1};
  SolverResult ignored;
  if (try_modes(n, t, &ignored, err))
    return -1;
  return try_cases(n, condition, err);
}

// A rule that the run breaks (division by 0, out of bounds) is kept instead.
static int try_violated(Near *n, Err *err) {
  const NearRun *r = &n->failing;
  int rc = 0;
  for (size_t i = r->path.events.len; !rc && i-- > 0 && goes_on(n);)
    if (r->path.events.items[i].violated)
      rc = try_one(n, (uint32_t)i, err);
  return rc ? rc : near_flush(n, err);
}

// The next condition to try before number i: a long path is thinned out towards
// its beginning.
static size_t next_before(size_t i, size_t tried) {
  enum { MORE = 100, SHIFT_MAX = 16 };
  size_t shift =
      tried < BRANCHES_CLOSE ? 0 : 1 + (tried - BRANCHES_CLOSE) / MORE;
  size_t step = (size_t)1 << (shift < SHIFT_MAX ? shift : SHIFT_MAX);
  return i > step ? i - step : 0;
}

static int try_branches(Near *n, Err *err) {
  const NearRun *r = &n->failing;
  size_t tried = 0;
  int rc = 0;
  for (size_t i = r->path.events.len; !rc && i && goes_on(n);
       i = next_before(i, tried)) {
    const PathEvent *e = &r->path.events.items[i - 1];
    if (!is_branch(e) || !may_turn(n, e, IR_NONE))
      continue;
    if (!is_wanted(n, &r->event_of[i - 1], 1))
      break;
    rc = try_one(n, (uint32_t)i - 1, err);
    n->stats.thinned |= ++tried > BRANCHES_CLOSE && i > 1;
  }
  return rc ? rc : near_flush(n, err);
}

// What the library found in the input, where it ends, and addresses.
static int try_others(Near *n, Err *err) {
  const NearRun *r = &n->failing;
  size_t left = n->options.mode == NEAR_STRICT ? 0 : OTHERS_MAX;
  int rc = 0;
  for (size_t i = r->path.events.len; !rc && i-- > 0 && left && goes_on(n);) {
    const PathEvent *e = &r->path.events.items[i];
    uint32_t condition = (uint32_t)i;
    if (is_branch(e) || e->kind == PATH_DIVIDE || e->kind == PATH_BOUNDS)
      continue;
    if (!is_wanted(n, &r->event_of[i], 1))
      break;
    rc = try_following(
        n, (Turn){.run = &n->failing, .conditions = &condition, .n = 1}, err);
    left--;
  }
  return rc ? rc : near_flush(n, err);
}

// --- several at a time ------------------------------------------------------

typedef struct {
  Near *near;
  ARRAY(uint32_t) events;
  uint32_t *condition_of; // events -> conditions
  ARRAY(uint32_t) conditions;
  size_t least; // smaller sets have been tried
  Hashmap dead; // hashes of sets: 1 they end in nothing, 0 they need not
  int rc;
  Err *err;
} Sets;

static void sets_init(Sets *s, Near *n, Err *err) {
  const NearRun *r = &n->failing;
  *s = (Sets){.near = n, .err = err};
  s->condition_of = mem_array(uint32_t, r->events.items.len);
  for (uint32_t i = 0; i < r->path.events.len; i++) {
    const PathEvent *e = &r->path.events.items[i];
    if (!is_branch(e) || !may_turn(n, e, IR_NONE))
      continue;
    s->condition_of[r->event_of[i]] = i;
    array_push(&s->events, r->event_of[i]);
  }
}

static void sets_release(Sets *s) {
  free(s->condition_of);
  array_release(&s->events);
  array_release(&s->conditions);
  hashmap_release(&s->dead);
}

static Turn turn_of(Sets *s, const uint32_t *flips, size_t count) {
  s->conditions.len = 0;
  for (size_t i = 0; i < count; i++)
    array_push(&s->conditions, s->condition_of[flips[i]]);
  return (Turn){.run = &s->near->failing,
                .conditions = s->conditions.items,
                .n = count,
                .strict = s->near->options.mode == NEAR_STRICT};
}

// Is a set, and all that it is the end of, out of the question?
static bool is_pruned(Sets *s, const uint32_t *flips, size_t count) {
  uint64_t hash = XXH3_64bits(flips, count * sizeof *flips), dead;
  if (hashmap_get(&s->dead, &hash, sizeof hash, &dead))
    return dead;
  Turn t = turn_of(s, flips, count);
  dead = is_dead_end(s->near, &t);
  hashmap_put(&s->dead, &hash, sizeof hash, dead);
  return dead;
}

static FlipAnswer try_set(void *context, const uint32_t *flips, size_t count) {
  Sets *s = context;
  Near *n = s->near;
  SolverResult result = SOLVER_UNSAT;
  if (!is_wanted(n, flips, count) || !goes_on(n))
    return FLIP_STOP;
  if (count >= s->least)
    s->rc = try_modes(n, turn_of(s, flips, count), &result, s->err);
  if (!s->rc && count == 1 && s->least == 1)
    s->rc = try_cases(n, s->condition_of[flips[0]], s->err);
  if (!s->rc && n->options.order == NEAR_NEAREST)
    s->rc = near_flush(n, s->err); // is there still more that is wanted?
  if (s->rc)
    return FLIP_STOP;
  return result == SOLVER_UNSAT && is_pruned(s, flips, count) ? FLIP_PRUNE
                                                              : FLIP_ON;
}

static FlipAnswer count_set(void *context, const uint32_t *flips, size_t n) {
  size_t *left = context;
  (void)flips, (void)n;
  return --*left ? FLIP_ON : FLIP_STOP;
}

// Are they few enough to be tried in the paper's order, sets of all sizes
// mixed?
static bool are_few(const Sets *s) {
  enum { FEW = 500 };
  size_t left = FEW;
  return flips_enumerate(s->near->failing.ends, s->events.items, s->events.len,
                         s->events.len, count_set, &left);
}

static bool enumerate(Sets *s, size_t least, size_t most) {
  s->least = least;
  return flips_enumerate(s->near->failing.ends, s->events.items, s->events.len,
                         most, try_set, s);
}

// All sets of branches in order of distance.
static int try_in_order(Near *n, Sets *s, Err *err) {
  bool all = enumerate(s, 1, n->options.depth);
  n->stats.complete = (all || goes_on(n)) && !s->rc;
  return s->rc ? s->rc : near_flush(n, err);
}

// Two at a time, then three, ...
static int try_deeper(Near *n, Sets *s, Err *err) {
  for (size_t k = 2;
       !s->rc && k <= n->options.depth && k <= s->events.len && goes_on(n); k++)
    enumerate(s, k, k);
  n->stats.complete = goes_on(n) && !n->stats.thinned && !s->rc;
  return s->rc ? s->rc : near_flush(n, err);
}

static int try_sets(Near *n, Err *err) {
  Sets s;
  sets_init(&s, n, err);
  int rc;
  if (are_few(&s) && n->options.order == NEAR_NEAREST)
    rc = try_in_order(n, &s, err) || try_others(n, err);
  else
    rc = try_branches(n, err) || try_others(n, err) || try_deeper(n, &s, err);
  sets_release(&s);
  return rc ? -1 : 0;
}

// --- detours ----------------------------------------------------------------

// Branches that the failing run never came to are turned round in one that
// fails, too.
static int try_detours_of(Near *n, NearRun *r, Err *err) {
  size_t left = n->options.detours;
  SolverResult ignored;
  int rc = 0;
  for (size_t i = r->path.events.len; !rc && i-- > 0 && left && goes_on(n);) {
    uint32_t condition = (uint32_t)i;
    if (!is_branch(&r->path.events.items[i]) ||
        events_find(&n->failing.events,
                    r->events.items.items[r->event_of[i]].key))
      continue;
    Turn t = {.run = r,
              .conditions = &condition,
              .n = 1,
              .strict = n->options.mode == NEAR_STRICT};
    rc = try_turn(n, &t, &ignored, err);
    left--;
  }
  return rc ? rc : near_flush(n, err);
}

static int by_turned(const void *a, const void *b) {
  uint32_t x = ((const NearFailed *)a)->turned,
           y = ((const NearFailed *)b)->turned;
  return (x < y) - (x > y);
}

// The runs that were turned round last first: ways around are as far away.
static int try_detours(Near *n, Err *err) {
  int rc = 0;
  if (n->failed.len)
    qsort(n->failed.items, n->failed.len, sizeof *n->failed.items, by_turned);
  size_t count = n->failed.len < DETOURED_MAX ? n->failed.len : DETOURED_MAX;
  for (size_t i = 0; !rc && i < count && n->options.detours && goes_on(n);
       i++) {
    const NearFailed *f = &n->failed.items[i];
    NearRun r = {0};
    if (f->turned && !is_wanted(n, &f->turned, 1))
      break;
    if (!near_replay(n, &f->inputs, &r, &n->problem))
      rc = try_detours_of(n, &r, err);
    near_run_release(&r);
  }
  return rc;
}

// --- passing runs made by reduction -----------------------------------------

// The latest first: they are the smallest.
static int try_reduced(Near *n, Err *err) {
  int rc = 0;
  size_t tried = 0;
  for (size_t i = n->search->trials.len; !rc && i-- > 0 &&
                                         tried < REDUCED_MAX &&
                                         !n->search->runner->interrupted;) {
    const CutTrial *t = &n->search->trials.items[i];
    NearFound f = {0};
    if (t->verdict != VERDICT_PASS)
      continue;
    tried++;
    inputs_copy(&f.inputs, &t->inputs);
    f.line = near_write(n, &f.inputs, "reduced", t->number, err);
    rc = near_measure(n, &t->inputs, &f, err);
  }
  return rc;
}

// Runs that do not pass, but do not show the failure either: better than
// nothing.
static int try_stand_ins(Near *n, Err *err) {
  int rc = 0;
  for (size_t i = 0; !rc && i < n->failed.len; i++) {
    const NearFailed *f = &n->failed.items[i];
    NearFound found = {.other = true};
    if (!f->other || n->search->runner->interrupted)
      continue;
    found.line = near_write(n, &f->inputs, "near", n->search->number++, err);
    inputs_copy(&found.inputs, &f->inputs);
    rc = near_measure(n, &f->inputs, &found, err);
  }
  return rc;
}

// --- all of it --------------------------------------------------------------

static int replay_failing(Near *n, Err *err) {
  if (near_replay(n, &n->search->given, &n->failing, err))
    return err_prefix(err, "the failing run cannot be replayed");
  n->stats.conditions = n->failing.path.events.len;
  return 0;
}

// However long the failing run takes (it may hang), half of the time is for
// the search.
static void leave_time(Near *n) {
  SearchOptions *o = &n->search->options;
  double spent = clock_now() - n->search->start;
  if (o->seconds - spent < o->seconds / 2)
    o->seconds = spent + o->seconds / 2;
}

static int make_runs(Near *n, Err *err) {
  if (try_violated(n, err) || try_sets(n, err) || try_detours(n, err))
    return -1;
  return n->found.len ? 0 : try_reduced(n, err);
}

int near_search(Near *n, Err *err) {
  uint64_t hash = made_hash(&n->search->given);
  hashmap_put(&n->tried, &hash, sizeof hash, 0);
  if (replay_failing(n, err) || n->search->runner->interrupted)
    return n->search->runner->interrupted ? 0 : -1;
  leave_time(n);
  if (near_try_stored(n, err))
    return -1;
  if (n->options.mode != NEAR_STORED && make_runs(n, err))
    return -1;
  if (!n->found.len && try_stand_ins(n, err))
    return -1;
  if (near_choose(n, err))
    return -1;
  if (!n->search->runner->interrupted)
    near_explain(n);
  return 0;
}
