// The passing run nearest to a failing one: see near.h.
#include "generate/near.h"

#include <stdlib.h>
#include <string.h>

#include "generate/made.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  INSTRUCTIONS_MAX = 40000000, // of one run; what follows is not looked at
  KEPT_MAX = 500, // conditions of the rest of a path that are asked to stay
  CASES_MAX = 16, // of one switch that are tried
  BRANCHES_CLOSE = 500, // before some are left out
  PAIRS_MAX = 2000,     // queries with two changes
  OTHERS_MAX = 200,     // queries about conditions that are no branches
  REDUCED_MAX = 8,      // runs made by reduction that are compared
  FAILING_MAX = 8,      // failing runs whose own branches are turned round
  DETOURS_MAX = 200,    // queries about each of them
  FILE_MAX = 16 << 20,
};
#define QUERY_SECONDS 0.5

// --- how tests end ----------------------------------------------------------

static bool test_number(const char *test, const char *prefix, unsigned *out) {
  char *end;
  if (!text_starts(test, prefix))
    return false;
  const char *digits = test + strlen(prefix);
  *out = (unsigned)strtoul(digits, &end, 10);
  return end != digits && !*end;
}

static void note_judged(void *context, const Run *run) {
  Near *n = context;
  unsigned number;
  n->judged(n->judged_context, run);
  if (test_number(run->test, "near", &number)) {
    if (number - n->first < n->verdicts.len)
      n->verdicts.items[number - n->first] = run->verdict;
  } else if (test_number(run->test, "reduced", &number)) {
    if (run->verdict == VERDICT_PASS)
      array_push(&n->reduced, number);
  }
}

void near_open(Near *n, Explorer *e, const NearOptions *o) {
  *n = (Near){.explorer = e, .options = *o};
  n->judged = e->runner->judged;
  n->judged_context = e->runner->judged_context;
  e->runner->judged = note_judged;
  e->runner->judged_context = n;
  control_init(&n->control, &e->recorder.program);
}

static void release_run(NearRun *r) {
  solver_free(r->solver);
  expr_pool_free(r->pool);
  path_release(&r->path);
  inputs_release(&r->inputs);
  events_release(&r->events);
  free(r->ends);
  free(r->event_of);
}

static void clear_batch(Near *n) {
  for (size_t i = 0; i < n->batch.len; i++)
    inputs_release(&n->batch.items[i]);
  n->batch.len = 0;
}

static void release_failed(Near *n) {
  for (size_t i = 0; i < n->failed.len; i++)
    inputs_release(&n->failed.items[i]);
  array_release(&n->failed);
}

void near_close(Near *n) {
  n->explorer->runner->judged = n->judged;
  n->explorer->runner->judged_context = n->judged_context;
  release_run(&n->failing);
  control_release(&n->control);
  inputs_release(&n->inputs);
  clear_batch(n);
  release_failed(n);
  array_release(&n->batch);
  array_release(&n->distance);
  array_release(&n->verdicts);
  array_release(&n->shows);
  array_release(&n->reduced);
  hashmap_release(&n->tried);
  free(n->line);
}

// --- replaying --------------------------------------------------------------

// The shell words of an input; its files are kept with the test of that name.
static char *write_input(Near *n, const Inputs *in, const char *prefix,
                         unsigned number, Err *err) {
  Explorer *e = n->explorer;
  char *dir = mem_printf("%s/%s%u", e->options.dir, prefix, number);
  Str line = {0};
  int rc = made_write(in, &e->original, dir, &line, err);
  char *words = rc ? NULL : mem_strdup(str_text(&line));
  str_release(&line);
  free(dir);
  return words;
}

// Records one run, the only one.
static int record(Near *n, const Inputs *in, const char *line, Err *err) {
  Arena arena = {0};
  Test test = {
      .name = "near", .line = line, .env = made_environment(in, &arena)};
  int rc = recorder_record(&n->explorer->recorder, &test, 1, err);
  arena_release(&arena);
  return rc;
}

// Replays what was recorded. `pool` NULL: events only.
static int replay_run(Near *n, const Inputs *in, ExprPool *pool, NearRun *out,
                      Err *err) {
  Tracker tracker;
  events_init(&out->events);
  tracker_init(&tracker, &n->control, &out->events);
  ReplayOptions options = {.max_instructions = INSTRUCTIONS_MAX,
                           .observer = tracker_branch,
                           .entered = tracker_block,
                           .context = &tracker};
  int rc = recorder_replay(&n->explorer->recorder, 0, pool ? in : NULL, pool,
                           &options, &out->path, err);
  tracker_release(&tracker);
  return rc;
}

// Conditions and events are both in order of execution.
static void find_events(const Near *n, NearRun *r) {
  const Program *p = n->control.program;
  uint32_t *seen = mem_array(uint32_t, p->branches.len + 1);
  const uint32_t *branch_of = n->control.branch_of;
  uint32_t event = 0;
  r->event_of = mem_array(uint32_t, r->path.events.len + 1);
  for (size_t i = 0; i < r->path.events.len; i++) {
    const PathEvent *c = &r->path.events.items[i];
    while (c->branch != IR_NONE && seen[c->branch] <= c->instance &&
           event + 1 < r->events.items.len)
      seen[branch_of[r->events.items.items[++event].edge]]++;
    r->event_of[i] = event;
  }
  free(seen);
}

// Records the run of an input and makes its conditions ready to be turned
// round.
static int replay_symbolic(Near *n, const Inputs *in, NearRun *r, Err *err) {
  Explorer *e = n->explorer;
  unsigned number = e->number++;
  Inputs read = {0};
  char *line = write_input(n, in, "near", number, err);
  int rc = line ? record(n, in, line, err) : -1;
  free(line);
  r->pool = expr_pool_new();
  if (rc || e->runner->interrupted)
    return rc;
  inputs_copy(&r->inputs, in);
  inputs_copy(&read, in);
  char *dir = mem_printf("%s/near%u", e->options.dir, number);
  made_rename(&read, &e->original, dir);
  free(dir);
  rc = replay_run(n, &read, r->pool, r, err);
  inputs_release(&read);
  r->solver = solver_new(r->pool, (SolverLimits){.seconds = QUERY_SECONDS});
  for (size_t i = 0; !rc && i < r->path.events.len; i++)
    solver_add(r->solver, r->path.events.items[i].cond,
               r->path.events.items[i].outcome);
  r->ends = events_ends(&r->events);
  find_events(n, r);
  return rc;
}

static int replay_failing(Near *n, Err *err) {
  if (replay_symbolic(n, &n->explorer->given, &n->failing, err))
    return err_prefix(err, "the failing run cannot be replayed");
  n->stats.conditions = n->failing.path.events.len;
  return 0;
}

// --- passing runs -----------------------------------------------------------

static void keep_best(Near *n, const Inputs *in, Distance *d,
                      const char *line) {
  if (n->found && distance_compare(d, &n->distance) >= 0) {
    array_release(d);
    return;
  }
  array_release(&n->distance);
  inputs_release(&n->inputs);
  free(n->line);
  n->distance = *d;
  n->line = mem_strdup(line);
  inputs_copy(&n->inputs, in);
  n->found = true;
}

// Records a run that passes and computes how far away it is.
static int measure(Near *n, const Inputs *in, const char *prefix,
                   unsigned number, Err *err) {
  Explorer *e = n->explorer;
  NearRun run = {0};
  Distance d = {0};
  char *line = write_input(n, in, prefix, number, err);
  if (!line)
    return -1;
  int rc = record(n, in, line, err);
  if (!rc && !e->runner->interrupted) {
    if (replay_run(n, in, NULL, &run, &n->problem)) {
      n->stats.unreplayed++;
    } else {
      align_distance(&n->failing.events, &run.events, &d);
      keep_best(n, in, &d, line);
    }
  }
  free(line);
  release_run(&run);
  return rc;
}

static void count_verdict(Near *n, size_t i) {
  bool pass = n->verdicts.items[i] == VERDICT_PASS;
  n->stats.tests++;
  n->stats.passing += pass;
  n->stats.same += n->shows.items[i];
  n->stats.others += !pass && !n->shows.items[i];
}

static void keep_failing(Near *n, const Inputs *in) {
  Inputs copy = {0};
  if (n->failed.len >= FAILING_MAX)
    return;
  inputs_copy(&copy, in);
  array_push(&n->failed, copy);
}

static int run_batch(Near *n, Err *err) {
  size_t count = n->batch.len;
  if (!count)
    return 0;
  n->verdicts.len = n->shows.len = 0;
  for (size_t i = 0; i < count; i++) {
    array_push(&n->verdicts, VERDICT_ERROR);
    array_push(&n->shows, false);
  }
  n->first = n->explorer->number;
  int rc = explore_run(n->explorer, "near", n->batch.items, count,
                       n->shows.items, err);
  for (size_t i = 0; !rc && i < count && !n->explorer->runner->interrupted;
       i++) {
    count_verdict(n, i);
    if (n->verdicts.items[i] == VERDICT_PASS)
      rc = measure(n, &n->batch.items[i], "near", n->first + (unsigned)i, err);
    else
      keep_failing(n, &n->batch.items[i]);
  }
  clear_batch(n);
  return rc;
}

// Takes the input over; runs it now or with the next ones.
static int propose(Near *n, Inputs *in, Err *err) {
  uint64_t hash = made_hash(in), fresh = n->tried.len + 1;
  if (hashmap_intern(&n->tried, &hash, sizeof hash, fresh) != fresh) {
    inputs_release(in);
    return 0;
  }
  array_push(&n->batch, *in);
  size_t jobs = (size_t)n->explorer->runner->options->jobs;
  return n->batch.len < jobs ? 0 : run_batch(n, err);
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
// conditions that are no branches only the last symbolic event before them is
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

typedef ARRAY(Constraint) Constraints;

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

static int try_turn(Near *n, const Turn *t, SolverResult *result, Err *err) {
  NearRun *r = t->run;
  Constraints extra = {0};
  Model model = {0};
  Inputs in = {0};
  int rc = 0;
  collect(t, &extra);
  *result =
      solver_query(r->solver, t->conditions[0], extra.items, extra.len, &model);
  n->stats.queries++;
  n->stats.unsat += *result == SOLVER_UNSAT;
  n->stats.unknown += *result == SOLVER_UNKNOWN;
  if (*result == SOLVER_SAT) {
    path_apply(&r->path, &r->inputs, &model, &in);
    rc = propose(n, &in, err);
  }
  model_release(&model);
  array_release(&extra);
  return rc;
}

static int try_following(Near *n, Turn t, Err *err) {
  SolverResult ignored;
  return try_turn(n, &t, &ignored, err);
}

// What cannot be followed cannot be had with the rest as it was, either.
static int try_both(Near *n, Turn t, Err *err) {
  SolverResult result = SOLVER_SAT;
  if (n->options.mode != NEAR_STRICT && try_turn(n, &t, &result, err))
    return -1;
  t.strict = true;
  if (result == SOLVER_UNSAT || n->options.mode == NEAR_FOLLOWING)
    return 0;
  return try_turn(n, &t, &result, err);
}

// --- the search -------------------------------------------------------------

static bool goes_on(const Near *n) {
  const Explorer *e = n->explorer;
  return explore_goes_on(e) && n->stats.tests < e->options.max_tests;
}

// Would a run that differs at these events alone be nearer than the best?
static bool is_nearer(const Near *n, const uint32_t *events, size_t count) {
  Distance d = {0};
  if (!n->found)
    return true;
  for (size_t i = 0; i < count; i++)
    array_push(&d, (Difference){events[i], IR_NONE});
  bool nearer = distance_compare(&d, &n->distance) < 0;
  array_release(&d);
  return nearer;
}

static bool is_branch(const PathEvent *e) {
  return e->kind == PATH_BRANCH || e->kind == PATH_SWITCH;
}

static int try_cases(Near *n, uint32_t condition, Err *err) {
  const NearRun *r = &n->failing;
  const Program *p = n->control.program;
  const PathEvent *e = &r->path.events.items[condition];
  const IrBranch *b = &p->branches.items[e->branch];
  for (uint32_t k = 0; k < b->ncases && k < CASES_MAX && goes_on(n); k++) {
    uint32_t operand = p->cases.items[b->first_case + k];
    const IrConstant *c = &p->constants.items[operand & ~(uint32_t)IR_CONST];
    Expr want =
        expr_const_of(r->pool, expr_sort(r->pool, e->subject), c->value);
    Constraint is = {expr_eq(r->pool, e->subject, want), true};
    if (k + 1 != e->edge && try_both(n,
                                     (Turn){.run = &n->failing,
                                            .conditions = &condition,
                                            .n = 1,
                                            .instead = &is},
                                     err))
      return -1;
  }
  return 0;
}

static int try_one(Near *n, uint32_t condition, Err *err) {
  const PathEvent *e = &n->failing.path.events.items[condition];
  if (try_both(n, (Turn){.run = &n->failing, .conditions = &condition, .n = 1},
               err))
    return -1;
  return e->kind == PATH_SWITCH && e->subject ? try_cases(n, condition, err)
                                              : 0;
}

// A rule that the run breaks (division by 0, out of bounds) is kept instead.
static int try_violated(Near *n, Err *err) {
  const NearRun *r = &n->failing;
  int rc = 0;
  for (size_t i = r->path.events.len; !rc && i-- > 0 && goes_on(n);)
    if (r->path.events.items[i].violated)
      rc = try_one(n, (uint32_t)i, err);
  return rc ? rc : run_batch(n, err);
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
    if (!is_branch(&r->path.events.items[i - 1]))
      continue;
    if (!is_nearer(n, &r->event_of[i - 1], 1))
      break;
    rc = try_one(n, (uint32_t)i - 1, err);
    n->stats.thinned |= ++tried > BRANCHES_CLOSE && i > 1;
  }
  return rc ? rc : run_batch(n, err);
}

// What the library found in the input, where it ends, and addresses.
static int try_others(Near *n, Err *err) {
  const NearRun *r = &n->failing;
  size_t left = OTHERS_MAX;
  int rc = 0;
  for (size_t i = r->path.events.len; !rc && i-- > 0 && left && goes_on(n);) {
    const PathEvent *e = &r->path.events.items[i];
    if (is_branch(e) || e->kind == PATH_DIVIDE || e->kind == PATH_BOUNDS)
      continue;
    if (!is_nearer(n, &r->event_of[i], 1))
      break;
    uint32_t condition = (uint32_t)i;
    rc = try_following(
        n, (Turn){.run = &n->failing, .conditions = &condition, .n = 1}, err);
    left--;
  }
  return rc ? rc : run_batch(n, err);
}

// --- two at a time ----------------------------------------------------------

typedef struct {
  Near *near;
  const uint32_t *condition_of; // events -> conditions
  size_t left;
  int rc;
  Err *err;
} Pairs;

static bool try_pair(void *context, const uint32_t *flips, size_t count) {
  Pairs *p = context;
  uint32_t conditions[2];
  if (!is_nearer(p->near, flips, count) || !p->left || !goes_on(p->near))
    return false;
  if (count < 2)
    return true;
  p->left--;
  for (size_t i = 0; i < 2; i++)
    conditions[i] = p->condition_of[flips[i]];
  p->rc = try_both(
      p->near,
      (Turn){.run = &p->near->failing, .conditions = conditions, .n = 2},
      p->err);
  return !p->rc;
}

static int try_pairs(Near *n, Err *err) {
  const NearRun *r = &n->failing;
  ARRAY(uint32_t) events = {0};
  uint32_t *condition_of = mem_array(uint32_t, r->events.items.len);
  for (uint32_t i = 0; i < r->path.events.len; i++) {
    if (!is_branch(&r->path.events.items[i]))
      continue;
    condition_of[r->event_of[i]] = i;
    array_push(&events, r->event_of[i]);
  }
  Pairs p = {n, condition_of, PAIRS_MAX, 0, err};
  if (goes_on(n))
    flips_enumerate(r->ends, events.items, events.len, 2, try_pair, &p);
  n->stats.complete = p.left && goes_on(n) && !n->stats.thinned;
  free(condition_of);
  array_release(&events);
  return p.rc ? p.rc : run_batch(n, err);
}

// --- detours ----------------------------------------------------------------

// Branches that the failing run never came to are turned round in one that
// fails, too.
static int try_detours_of(Near *n, NearRun *r, Err *err) {
  size_t left = DETOURS_MAX;
  int rc = 0;
  for (size_t i = r->path.events.len; !rc && i-- > 0 && left && goes_on(n);) {
    uint32_t condition = (uint32_t)i;
    if (!is_branch(&r->path.events.items[i]) ||
        events_find(&n->failing.events,
                    r->events.items.items[r->event_of[i]].key))
      continue;
    rc = try_following(n, (Turn){.run = r, .conditions = &condition, .n = 1},
                       err);
    left--;
  }
  return rc ? rc : run_batch(n, err);
}

static int try_detours(Near *n, Err *err) {
  int rc = 0;
  for (size_t i = 0; !rc && i < n->failed.len && goes_on(n); i++) {
    NearRun r = {0};
    if (!replay_symbolic(n, &n->failed.items[i], &r, &n->problem))
      rc = try_detours_of(n, &r, err);
    release_run(&r);
  }
  return rc;
}

// --- passing runs made by reduction -----------------------------------------

// What of the test's files is there takes the place of what was given.
static void read_reduced(const Near *n, unsigned number, Inputs *out) {
  const Explorer *e = n->explorer;
  inputs_copy(out, &e->original);
  for (size_t i = 0; i < out->sources.len; i++) {
    const InputSource *s = &out->sources.items[i];
    if (s->kind != INPUT_STDIN && s->kind != INPUT_FILE)
      continue;
    char *path =
        mem_printf("%s/reduced%u/%s", e->options.dir, number,
                   s->kind == INPUT_STDIN ? "stdin" : path_base(s->key));
    Str text = {0};
    Err ignored;
    if (!fs_read(path, FILE_MAX, &text, &ignored))
      inputs_set(out, i, str_text(&text), text.len);
    str_release(&text);
    free(path);
  }
}

static int try_reduced(Near *n, Err *err) {
  size_t first =
      n->reduced.len > REDUCED_MAX ? n->reduced.len - REDUCED_MAX : 0;
  int rc = 0;
  for (size_t i = n->reduced.len;
       !rc && i-- > first && !n->explorer->runner->interrupted;) {
    Inputs in = {0};
    read_reduced(n, n->reduced.items[i], &in);
    rc = measure(n, &in, "reduced", n->reduced.items[i], err);
    inputs_release(&in);
  }
  return rc;
}

int near_search(Near *n, Err *err) {
  uint64_t hash = made_hash(&n->explorer->given);
  hashmap_put(&n->tried, &hash, sizeof hash, 0);
  if (replay_failing(n, err) || n->explorer->runner->interrupted)
    return n->explorer->runner->interrupted ? 0 : -1;
  if (try_violated(n, err) || try_branches(n, err) || try_others(n, err) ||
      try_pairs(n, err))
    return -1;
  if (!n->found && (try_detours(n, err) || try_reduced(n, err)))
    return -1;
  return 0;
}
