// Inputs near those of tests: see near_inputs.h.
#include "input/near_inputs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "input/made.h"
#include "input/variations.h"
#include "solve/solver.h"
#include "util/escape.h"
#include "util/mem.h"

#define REAL_SECONDS 0.25 // of a query about floating-point numbers

enum {
  INSTRUCTIONS = 5000000, // of a run; conditions behind them stay as they are
  VAIN_MOST = 300,        // infeasible candidates in a row
  BOUNDARIES = 3,         // conditions of a changed line, from each end
  FAR = 1000,             // apart
  CONFLICTS = 200,        // of a query: many easy ones rather than a hard one
  STREAM_MOST = 32 << 20, // bytes of a recorded run
  BYTES_MOST = 512 << 20, // of expressions: then no more runs are recorded
};

// --- inputs -----------------------------------------------------------------

size_t inputs_size(const Inputs *in) {
  size_t size = 0;
  for (size_t i = 0; i < in->sources.len; i++)
    size += in->sources.items[i].size + 1;
  return size;
}

static bool is_text(const InputSource *s) {
  const char *bytes = (const char *)s->bytes;
  for (size_t i = 0, step; i < s->size; i += step) {
    step = utf8_length(bytes + i, s->size - i);
    bool control = s->bytes[i] < ' ' || s->bytes[i] == 127;
    bool blank = bytes[i] == '\n' || bytes[i] == '\t';
    if (!step || (control && (!blank || s->kind == INPUT_ARG)))
      return false;
  }
  return true;
}

bool inputs_are_text(const Inputs *in) {
  for (size_t i = 0; i < in->sources.len; i++)
    if (!is_text(&in->sources.items[i]))
      return false;
  return true;
}

// Runs of digits, of letters and of blanks are one character each.
static void add_shape(const InputSource *s, Str *out) {
  for (size_t i = 0; i < s->size; i++) {
    unsigned char c = s->bytes[i];
    char kind = (char)(isdigit(c)   ? '9'
                       : isalpha(c) ? 'a'
                       : isblank(c) ? ' '
                                    : c);
    bool again = kind == '9' || kind == 'a' || kind == ' ';
    if (!again || !out->len || out->data[out->len - 1] != kind)
      str_addc(out, kind);
  }
  str_addc(out, 1); // between sources
}

static void shape_of(const Inputs *in, Str *out) {
  for (size_t i = 0; i < in->sources.len; i++)
    add_shape(&in->sources.items[i], out);
}

bool near_inputs_like_seed(const NearInputs *n, const Inputs *in) {
  Str own = {0}, other = {0};
  bool like = false;
  shape_of(in, &own);
  for (size_t i = 0; i < n->seeds.len && !like; i++) {
    str_clear(&other);
    shape_of(&n->seeds.items[i], &other);
    like = own.len == other.len &&
           !memcmp(str_text(&own), str_text(&other), own.len);
  }
  str_release(&own);
  str_release(&other);
  return like;
}

// Was it not made before?
static bool is_new(NearInputs *n, const Inputs *in) {
  uint64_t hash = made_hash(in), number = (1ull << 40) + n->number++;
  return hashmap_intern(&n->frontier.inputs, &hash, sizeof hash, number) ==
         number;
}

// Takes it over.
static void wait(NearInputs *n, WaitingInputs *list, Inputs *in) {
  if (is_new(n, in))
    array_push(&list->items, *in);
  else
    inputs_release(in);
}

int near_inputs_write(const NearInputs *n, const Inputs *in, const char *dir,
                      Str *line, Err *err) {
  return made_write(in, &n->originals, dir, line, err);
}

// --- opening ----------------------------------------------------------------

static const Strategy *strategy_named(const char *name) {
  const Strategy *s;
  for (size_t i = 0; (s = strategy_at(i)) && strcmp(s->name, name) != 0; i++)
    ;
  return s;
}

void near_inputs_open(NearInputs *n, const NearInputOptions *o) {
  Err ignored = {0};
  *n = (NearInputs){.options = *o};
  n->records =
      !recorder_open(&n->recorder, o->runner, o->program, o->cache, &ignored);
  n->recorder.stream_max = STREAM_MOST;
  frontier_init(&n->frontier, &n->recorder.program, strategy_named("ties"));
  n->frontier.limits.conflicts = CONFLICTS;
}

static void forget_made(NearInputs *n) {
  for (size_t i = 0; i < n->made.len; i++) {
    inputs_release(&n->made.items[i].inputs);
    free(n->made.items[i].dir);
    free(n->made.items[i].line);
  }
  n->made.len = 0;
}

static void waiting_release(WaitingInputs *w) {
  for (; w->next < w->items.len; w->next++)
    inputs_release(&w->items.items[w->next]);
  array_release(&w->items);
}

void near_inputs_close(NearInputs *n) {
  forget_made(n);
  array_release(&n->made);
  waiting_release(&n->near);
  waiting_release(&n->varied);
  for (size_t i = 0; i < n->seeds.len; i++)
    inputs_release(&n->seeds.items[i]);
  array_release(&n->seeds);
  inputs_release(&n->originals);
  frontier_release(&n->frontier);
  recorder_close(&n->recorder);
}

// --- boundaries -------------------------------------------------------------

static bool is_changed_line(const NearInputs *n, uint32_t place) {
  const Suite *suite = n->options.suite;
  uint32_t line;
  if (place == IR_NONE)
    return false;
  const char *file = program_place(&n->recorder.program, place, &line);
  for (size_t i = 0; i < n->options.nstatements; i++) {
    const Entity *e = &suite->entities[n->options.statements[i]];
    if (e->line == line && !strcmp(suite->sources[e->source].path, file))
      return true;
  }
  return false;
}

// The two sides of a comparison of integers.
static bool sides_of(const ExprPool *p, Expr cond, Expr *a, Expr *b) {
  while (expr_op(p, cond) == EXPR_NOT)
    cond = expr_arg(p, cond, 0);
  ExprOp op = expr_op(p, cond);
  if (op != EXPR_EQ && op != EXPR_ULT && op != EXPR_SLT)
    return false;
  *a = expr_arg(p, cond, 0);
  *b = expr_arg(p, cond, 1);
  return expr_sort(p, *a).kind == SORT_BV && expr_width(p, *a) > 1;
}

// The run up to the event, and there `want`.
static void ask_for(NearInputs *n, Explored *run, size_t event, Expr cond) {
  Constraint want = {cond, true};
  Model model = {0};
  Inputs made;
  if (solver_query(run->solver, event, &want, 1, &model) == SOLVER_SAT) {
    path_apply(&run->path, &run->inputs, &model, &made);
    wait(n, &n->near, &made);
  }
  model_release(&model);
}

static Expr plus(ExprPool *p, Expr a, uint64_t n) {
  return expr_add(p, a, expr_const(p, expr_width(p, a), n));
}

static void ask_at(NearInputs *n, Explored *run, size_t event) {
  ExprPool *p = run->pool;
  Expr a, b;
  if (!sides_of(p, run->path.events.items[event].cond, &a, &b))
    return;
  ask_for(n, run, event, expr_eq(p, a, b));
  ask_for(n, run, event, expr_eq(p, a, plus(p, b, 1)));
  ask_for(n, run, event, expr_eq(p, plus(p, a, 1), b));
  if (expr_width(p, a) < 16)
    return;
  ask_for(n, run, event, expr_slt(p, plus(p, b, FAR), a));
  ask_for(n, run, event, expr_slt(p, plus(p, a, FAR), b));
}

// Changed comparisons differ where their sides are equal, or nearly; what comes
// of them may be seen only if they are far apart.
static void add_boundaries(NearInputs *n, Explored *run) {
  ARRAY(size_t) events = {0};
  for (size_t i = 0; i < run->path.events.len; i++)
    if (is_changed_line(n, run->path.events.items[i].place))
      array_push(&events, i);
  for (size_t i = 0; i < events.len; i++)
    if (i < BOUNDARIES || i + BOUNDARIES >= events.len)
      ask_at(n, run, events.items[i]);
  array_release(&events);
}

// --- learning ---------------------------------------------------------------

// Candidates at the changed lines come first.
static void prefer_changed_lines(NearInputs *n) {
  Ranking r = {0};
  for (size_t i = 0; i < n->options.nstatements; i++)
    array_push(&r.suspects,
               ((Suspect){.entity = n->options.statements[i], .rank_best = 1}));
  frontier_take_suspects(&n->frontier, n->options.suite, &r);
  array_release(&r.suspects);
}

// Replays trace `number`, of the input under the names of its files in `dir`.
static void replay_one(NearInputs *n, size_t number, const Inputs *in,
                       const char *dir, bool seed, bool fails) {
  Explored run = {.given = seed, .shows = fails, .pool = expr_pool_new()};
  ReplayOptions options = {.max_instructions = INSTRUCTIONS};
  Inputs read = {0};
  Err ignored = {0};
  inputs_copy(&read, in);
  made_rename(&read, &n->originals, dir);
  int rc = recorder_replay(&n->recorder, number, &read, run.pool, &options,
                           &run.path, &ignored);
  inputs_release(&read);
  if (rc) {
    path_release(&run.path);
    expr_pool_free(run.pool);
    return;
  }
  inputs_copy(&run.inputs, in);
  explored_prepare(&run);
  n->bytes += expr_pool_bytes(run.pool);
  n->records = n->bytes < BYTES_MOST;
  if (expr_pool_has(run.pool, SORT_FP)) // Z3 knows only time
    n->frontier.limits.seconds = REAL_SECONDS;
  frontier_add(&n->frontier, &run);
  if (seed)
    add_boundaries(n, &n->frontier.runs.items[n->frontier.runs.len - 1]);
}

static Test test_of(const NearInputs *n, const char *line) {
  return (Test){.name = "near",
                .line = line,
                .env = n->options.env,
                .cwd = n->options.cwd};
}

static bool is_over(const NearInputs *n) {
  return n->options.runner->interrupted ||
         !n->options.go_on(n->options.context);
}

void near_inputs_learn(NearInputs *n, const bool *worth) {
  Err ignored = {0};
  ARRAY(Test) tests = {0};
  for (size_t i = 0; i < n->made.len; i++)
    if (worth[i])
      array_push(&tests, test_of(n, n->made.items[i].line));
  bool done = n->records && tests.len && !is_over(n) &&
              !recorder_record(&n->recorder, tests.items, tests.len, &ignored);
  for (size_t i = 0, at = 0; done && i < n->made.len; i++)
    if (worth[i] && n->records && !is_over(n))
      replay_one(n, at++, &n->made.items[i].inputs, n->made.items[i].dir, false,
                 false);
  if (done)
    prefer_changed_lines(n);
  array_release(&tests);
}

static void add_variations(NearInputs *n, const Inputs *in) {
  InputVariations made = {0};
  variations_of(in, &made);
  for (size_t i = 0; i < made.len; i++)
    wait(n, &n->varied, &made.items[i]);
  array_release(&made);
}

static void add_originals(NearInputs *n, const Inputs *in) {
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    if (s->kind == INPUT_FILE)
      inputs_add_file(&n->originals, s->key, s->bytes, s->size);
  }
}

void near_inputs_add_seed(NearInputs *n, const Inputs *in, bool fails) {
  Inputs copy;
  Str line = {0};
  Err ignored = {0};
  char *dir = mem_printf("%s/seed%zu", n->options.dir, n->seeds.len);
  inputs_copy(&copy, in);
  array_push(&n->seeds, copy);
  add_originals(n, in);
  is_new(n, in);
  if (n->records && !is_over(n) &&
      !near_inputs_write(n, in, dir, &line, &ignored)) {
    Test test = test_of(n, str_text(&line));
    if (!recorder_record(&n->recorder, &test, 1, &ignored) && !is_over(n)) {
      replay_one(n, 0, in, dir, true, fails);
      prefer_changed_lines(n);
    }
  }
  add_variations(n, in);
  str_release(&line);
  free(dir);
}

// --- making -----------------------------------------------------------------

static bool next_of_frontier(NearInputs *n, Inputs *out) {
  FlipCandidate c;
  for (size_t vain = 0;
       vain < VAIN_MOST && !is_over(n) && frontier_pop(&n->frontier, &c);
       vain++)
    if (frontier_solve(&n->frontier, &c, out) == SOLVER_SAT)
      return true;
  return false;
}

static bool next_waiting(WaitingInputs *w, Inputs *out) {
  if (w->next == w->items.len)
    return false;
  *out = w->items.items[w->next++];
  return true;
}

static bool next_input(NearInputs *n, Inputs *out) {
  n->vary = !n->vary;
  return next_waiting(&n->near, out) ||
         (n->vary && next_waiting(&n->varied, out)) ||
         next_of_frontier(n, out) || next_waiting(&n->varied, out);
}

size_t near_inputs_make(NearInputs *n, size_t most) {
  Err ignored = {0};
  Inputs in;
  forget_made(n);
  while (n->made.len < most && !is_over(n) && next_input(n, &in)) {
    Str line = {0};
    char *dir = mem_printf("%s/near%u", n->options.dir, n->number++);
    bool written = !near_inputs_write(n, &in, dir, &line, &ignored);
    array_push(&n->made, ((NearInput){in, dir, str_take(&line)}));
    if (!written) {
      n->made.len--;
      inputs_release(&in);
      free(dir);
      free(n->made.items[n->made.len].line);
    }
  }
  return n->made.len;
}
