// What tells apart the changes that pass all tests: see question.h.
#include "try/question.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "input/near_inputs.h"
#include "oracle/oracle.h"
#include "process/words.h"
#include "try/question_text.h"
#include "try/try_internal.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  SURVIVORS_MOST = 4,    // that are told apart
  INPUTS_MOST = 160,     // that are run
  BATCH = 8,             // of them at a time
  SEEDS = 3,             // failing tests, and as many passing ones
  SEEDS_SEEN = 30,       // of each: the shortest are taken, and a longer one
  SEED_MOST = 1 << 16,   // bytes of one
  OUTPUT_READ = 1 << 20, // bytes that are compared
  STEPS_LEAST = 2000000, // that a run may make
  CONFIRMED = 2,         // times that the question is asked again
  PROGRAMS = SURVIVORS_MOST + 1, // the unchanged one first
};

// A test that inputs are made from.
typedef struct {
  Inputs inputs;
  bool fails;
} QuestionSeed;

// How the tests are started.
typedef struct {
  const char *program; // real path; NULL: no test was seen yet
  const char *path;    // as the tests name it, absolute
  const char *cwd;     // of them; NULL: where all run
  char *const *env;
  bool merged; // 2>&1
  double limit;
} Start;

// Of the inputs seen so far the best on which two survivors differ.
typedef struct {
  bool found;
  Inputs inputs;
  unsigned flaws;
  size_t groups; // different answers of survivors
} BestInput;

typedef struct {
  const QuestionOptions *o;
  Arena *arena;
  const FoundChange *survivors[SURVIVORS_MOST];
  uint32_t numbers[SURVIVORS_MOST]; // in the list of what was found
  uint32_t statements[SURVIVORS_MOST];
  size_t n;
  Start start;
  ARRAY(QuestionSeed) seeds;
  uint64_t steps; // that a run may make
  NearInputs near;
  BestInput best;
  TriedQuestion *out;
  uint64_t runs;
} Question;

// --- survivors --------------------------------------------------------------

static bool has_statement(const Question *q, uint32_t statement) {
  for (size_t i = 0; i < q->n; i++)
    if (q->survivors[i]->statement == statement)
      return true;
  return false;
}

static bool is_chosen(const Question *q, const FoundChange *c) {
  for (size_t i = 0; i < q->n; i++)
    if (q->survivors[i] == c)
      return true;
  return false;
}

// Those with a diff before those without, one of each line before the others of
// it, as they are listed.
static void choose_survivors(Question *q) {
  const TryFound *f = q->o->found;
  for (int round = 0; round < 4; round++)
    for (size_t i = 0; i < f->changes.len && q->n < SURVIVORS_MOST; i++) {
      const FoundChange *c = &f->changes.items[i];
      bool diff = q->o->patches[i].diff != NULL;
      bool again = has_statement(q, c->statement);
      if (!found_survives(c) || is_chosen(q, c) || diff != (round < 2) ||
          again != (round % 2 == 1))
        continue;
      q->survivors[q->n] = c;
      q->statements[q->n] = c->statement;
      q->numbers[q->n++] = (uint32_t)i;
    }
}

// --- seeds ------------------------------------------------------------------

static bool same_environment(char *const *a, char *const *b) {
  size_t i = 0;
  if (!a || !b)
    return a == b;
  for (; a[i] && b[i]; i++)
    if (strcmp(a[i], b[i]) != 0)
      return false;
  return !a[i] && !b[i];
}

static bool same_text(const char *a, const char *b) {
  return a && b ? !strcmp(a, b) : a == b;
}

// All seeds are tests of one program in one place.
static bool fits(Question *q, const Test *test, const Spawn *spawn) {
  char program[PATH_MAX];
  Start *s = &q->start;
  const char *cwd = test->cwd ? test->cwd : q->o->runner->options->cwd;
  char *path = path_absolute(spawn->path, cwd);
  bool known =
      q->o->runs->build(q->o->runs->context, path) && realpath(path, program);
  if (known && !s->program) {
    s->program = arena_strdup(q->arena, program);
    s->path = arena_strdup(q->arena, path);
    s->cwd = test->cwd;
    s->env = test->env;
  }
  free(path);
  return known && !strcmp(s->program, program) &&
         same_text(s->cwd, test->cwd) && same_environment(s->env, test->env);
}

static const char *cwd_of(const Question *q) {
  return q->start.cwd ? q->start.cwd : q->o->runner->options->cwd;
}

// The file that standard input comes from; NULL: none. Memory: arena.
static const char *input_file(Question *q, const Spawn *spawn, Arena *arena) {
  const char *path = NULL;
  for (size_t i = 0; i < spawn->nredirects; i++) {
    const Redirect *r = &spawn->redirects[i];
    q->start.merged |= r->mode == REDIRECT_DUP && r->fd == 2;
    if (r->mode == REDIRECT_READ && r->fd == 0)
      path = r->path;
  }
  if (!path)
    return NULL;
  char *absolute = path_absolute(path, cwd_of(q));
  path = arena_strdup(arena, absolute);
  free(absolute);
  return path;
}

// The input of a test that runs the program directly.
static bool read_seed(Question *q, const TryTest *t, Inputs *out) {
  Spawn spawn = {0};
  Arena arena = {0};
  Err ignored = {0};
  *out = (Inputs){0};
  test_prepare(t->test, q->o->runner->options->exe, &arena, &spawn);
  bool good = t->whole && fits(q, t->test, &spawn);
  if (good) {
    const char *input = input_file(q, &spawn, &arena);
    good = !inputs_of_command(out, spawn.argv, cwd_of(q), input, SEED_MOST,
                              &ignored) &&
           inputs_size(out) <= SEED_MOST;
    q->start.limit = t->limit > q->start.limit ? t->limit : q->start.limit;
  }
  if (!good)
    inputs_release(out);
  arena_release(&arena);
  return good;
}

static bool executes_change(const Question *q, uint32_t run) {
  for (size_t i = 0; i < q->n; i++)
    if (bitset_has(&q->o->session->executes[run], q->statements[i]))
      return true;
  return false;
}

// Inserts it behind those that are not longer.
static void add_seed(Question *q, size_t first, QuestionSeed s) {
  array_push(&q->seeds, s);
  size_t i = q->seeds.len - 1;
  for (; i > first &&
         inputs_size(&q->seeds.items[i - 1].inputs) > inputs_size(&s.inputs);
       i--)
    q->seeds.items[i] = q->seeds.items[i - 1];
  q->seeds.items[i] = s;
}

// Keeps the shortest of those from `first` on, and one from the middle: a short
// test may show little of what it does.
static void drop_seeds(Question *q, size_t first) {
  QuestionSeed *s = q->seeds.items + first;
  size_t n = q->seeds.len - first, middle = n / 2;
  if (n <= SEEDS)
    return;
  QuestionSeed longer = s[middle];
  s[middle] = s[SEEDS - 1];
  s[SEEDS - 1] = longer;
  for (size_t i = SEEDS; i < n; i++)
    inputs_release(&s[i].inputs);
  q->seeds.len = first + SEEDS;
}

static void add_seeds(Question *q, const uint32_t *runs, size_t n, bool fails) {
  const TrySession *t = q->o->session;
  size_t first = q->seeds.len;
  for (size_t i = 0; i < n && q->seeds.len - first < SEEDS_SEEN; i++) {
    QuestionSeed s = {.fails = fails};
    if (t->test_of[runs[i]] != SIZE_MAX && !t->dropped[runs[i]] &&
        executes_change(q, runs[i]) &&
        read_seed(q, &t->tests[t->test_of[runs[i]]], &s.inputs))
      add_seed(q, first, s);
  }
  drop_seeds(q, first);
}

static void choose_seeds(Question *q) {
  const TrySession *t = q->o->session;
  const FailureGroup *g = &t->suite->failures[q->o->failure];
  ARRAY(uint32_t) passing = {0};
  for (uint32_t i = 0; i < t->suite->nruns; i++)
    if (t->suite->runs[i].verdict == VERDICT_PASS)
      array_push(&passing, i);
  add_seeds(q, g->runs, g->nruns, true);
  add_seeds(q, passing.items, passing.len, false);
  array_release(&passing);
}

// --- running ----------------------------------------------------------------

static void take_end(void *context, const Outcome *outcome, const char *out) {
  QuestionAnswer *a = context;
  Err ignored = {0};
  a->status = outcome->status;
  a->ran = outcome->end != END_UNSTARTED &&
           !fs_read(out, OUTPUT_READ, &a->output, &ignored);
}

// The reference program of the session; NULL: it has none.
static const char *reference_of(const Question *q) {
  const Oracle *oracle = &q->o->runner->oracle;
  return oracle->kind->second == SECOND_PROGRAM ? oracle->arg : NULL;
}

static Test run_of(const Question *q, const char *line, Arena *arena) {
  const char *exe = q->o->runner->options->exe;
  Str words = {0};
  if (!exe) {
    words_quote(&words, q->start.path);
    str_addc(&words, ' ');
  }
  str_add(&words, line);
  str_add(&words, q->start.merged ? " 2>&1" : "");
  return (Test){.name = "question",
                .line = arena_take(arena, &words),
                .env = q->start.env,
                .cwd = q->start.cwd};
}

// What the programs answer to each input: PROGRAMS answers, and with `reference`
// one more. False: not all were run.
static bool ask(Question *q, const char *const *lines, size_t n, bool reference,
                QuestionAnswer *answers, Err *err) {
  Arena arena = {0};
  TryRunOptions options = *q->o->runs;
  Experiment experiments[SURVIVORS_MOST];
  Test *tests = arena_array(&arena, Test, n + 1);
  TryTest *starts = arena_array(&arena, TryTest, n + 1);
  TryJob *jobs = arena_array(&arena, TryJob, n * (PROGRAMS + 1) + 1);
  TryRuns *runs = NULL;
  size_t per = 1 + q->n + reference;
  options.collect = false;
  options.memory_of_runs = NULL;
  options.capture = CAPTURE_NEVER; // these are no scripts
  for (size_t i = 0; i < q->n; i++)
    experiments[i] = experiment_of(&q->survivors[i]->change);
  for (size_t i = 0; i < n; i++) {
    tests[i] = run_of(q, lines[i], &arena);
    starts[i] = (TryTest){
        .test = &tests[i], .limit = q->start.limit, .steps = q->steps};
    for (size_t k = 0; k < per; k++)
      jobs[i * per + k] =
          (TryJob){.test = i,
                   .experiment = k && k <= q->n ? &experiments[k - 1] : NULL,
                   .program = k > q->n ? reference_of(q) : NULL,
                   .dir = k > q->n ? q->o->scratch : NULL,
                   .ended = take_end,
                   .context = &answers[i * per + k]};
  }
  bool done = !try_runs_open(&runs, q->o->runner, q->o->session->suite, starts,
                             n, &options, err) &&
              !try_runs_do(runs, jobs, n * per, err);
  for (size_t i = 0; i < n * per; i++) {
    const TryResult *r = &jobs[i].result;
    answers[i].endless = (r->stops & RUN_OUT_OF_STEPS) ||
                         r->end == END_TIMEOUT || r->end == END_OUTPUT ||
                         r->end == END_PROCESSES;
    answers[i].ran &= r->ran;
    done &= answers[i].ran;
  }
  q->runs += runs ? try_runs_count(runs) : 0;
  try_runs_close(runs);
  arena_release(&arena);
  return done;
}

static void release_answers(QuestionAnswer *answers, size_t n) {
  for (size_t i = 0; i < n; i++)
    str_release(&answers[i].output);
  free(answers);
}

// --- choosing ---------------------------------------------------------------

static bool ends_itself(const QuestionAnswer *a) {
  return !a->endless && a->status >= 0;
}

// How far an input is from a good question; `own`: the survivors' answers.
// UINT_MAX: they do not differ.
static unsigned flaws_of(const Question *q, const Inputs *in,
                         const QuestionAnswer *own) {
  enum { UNLIKE = 1, NOT_TEXT = 2, ABNORMAL = 4 };
  unsigned least = UINT_MAX;
  for (size_t i = 0; i < q->n; i++)
    for (size_t k = 0; k < i; k++) {
      bool normal = ends_itself(&own[i]) && ends_itself(&own[k]);
      unsigned flaws = normal ? 0 : ABNORMAL;
      if (!answer_equals(&own[i], &own[k]))
        least = flaws < least ? flaws : least;
    }
  if (least == UINT_MAX)
    return least;
  return least + (inputs_are_text(in) ? 0 : NOT_TEXT) +
         (near_inputs_like_seed(&q->near, in) ? 0 : UNLIKE);
}

// How many different answers there are.
static size_t count_groups(const QuestionAnswer *own, size_t n) {
  size_t groups = 0;
  for (size_t i = 0; i < n; i++) {
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again |= answer_equals(&own[i], &own[k]);
    groups += !again;
  }
  return groups;
}

static bool is_better(const BestInput *a, const BestInput *b) {
  if (!b->found || a->flaws != b->flaws)
    return !b->found || a->flaws < b->flaws;
  if (a->groups != b->groups)
    return a->groups > b->groups;
  return inputs_size(&a->inputs) < inputs_size(&b->inputs);
}

static void offer(Question *q, const Inputs *in, const QuestionAnswer *own) {
  BestInput x = {.found = true,
                 .inputs = *in,
                 .flaws = flaws_of(q, in, own),
                 .groups = count_groups(own, q->n)};
  if (x.flaws == UINT_MAX || !is_better(&x, &q->best))
    return;
  if (q->best.found)
    inputs_release(&q->best.inputs);
  q->best = x;
  inputs_copy(&q->best.inputs, in);
}

// Runs the batch. *worth: those whose way through the program is known to end.
static bool try_batch(Question *q, bool *worth, Err *err) {
  const char *lines[BATCH];
  size_t n = q->near.made.len, per = 1 + q->n;
  QuestionAnswer *answers = mem_array(QuestionAnswer, n * per + 1);
  for (size_t i = 0; i < n; i++)
    lines[i] = q->near.made.items[i].line;
  bool done = ask(q, lines, n, false, answers, err);
  for (size_t i = 0; i < n; i++) {
    const QuestionAnswer *unchanged = &answers[i * per];
    const Inputs *in = &q->near.made.items[i].inputs;
    bool ran = true;
    for (size_t k = 0; k < per; k++)
      ran &= unchanged[k].ran;
    worth[i] = ran && !unchanged->endless;
    q->out->inputs += ran;
    if (ran)
      offer(q, in, unchanged + 1);
  }
  release_answers(answers, n * per);
  return done;
}

static int search(Question *q, Err *err) {
  bool worth[BATCH];
  Err problem = {0};
  while (q->out->inputs < INPUTS_MOST && (!q->best.found || q->best.flaws) &&
         near_inputs_make(&q->near, BATCH)) {
    if (!try_batch(q, worth, &problem))
      break;
    if (!q->best.found || q->best.flaws)
      near_inputs_learn(&q->near, worth);
  }
  if (*problem.text)
    *err = problem;
  return *problem.text ? -1 : 0;
}

// --- the question -----------------------------------------------------------

static bool all_equal(const QuestionAnswer *a, const QuestionAnswer *b,
                      size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!answer_equals(&a[i], &b[i]))
      return false;
  return true;
}

// "./prog -n 3 < .culprit/try/1-1.input/stdin", for where the user is.
static const char *command_of(const Question *q, const char *line) {
  const char *cwd = cwd_of(q), *home = q->o->session->suite->cwd;
  const char *program = path_below(q->start.program, cwd);
  const char *kept = path_below(q->o->keep, cwd), *at;
  Str out = {0};
  if (home && strcmp(cwd, home) != 0) {
    str_add(&out, "cd ");
    words_quote(&out, path_below(cwd, home));
    str_add(&out, " && ");
  }
  char *name = mem_printf("%s%s", *program == '/' ? "" : "./", program);
  words_quote(&out, name);
  str_add(&out, *line ? " " : "");
  for (; (at = strstr(line, q->o->keep)); line = at + strlen(q->o->keep)) {
    str_addn(&out, line, (size_t)(at - line));
    str_add(&out, kept);
  }
  str_add(&out, line);
  free(name);
  return arena_take(q->arena, &out);
}

static void tell_input(Question *q) {
  const Inputs *in = &q->best.inputs;
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    const char *text = question_text(s->bytes, s->size, q->arena);
    if (s->kind == INPUT_STDIN)
      q->out->input = text;
    else if (s->kind == INPUT_ARG)
      array_push(&q->out->arguments, text);
    else if (s->kind == INPUT_FILE)
      array_push(&q->out->files,
                 ((TriedFile){arena_strdup(q->arena, s->key), text}));
  }
}

static void tell_answers(Question *q, const QuestionAnswer *a, bool reference) {
  AnswerPlace place = answers_place(a + 1, q->n);
  q->out->line = place.line;
  for (size_t i = 0; i < q->n; i++)
    array_push(&q->out->answers,
               answer_told(&a[1 + i], q->numbers[i], &place, q->arena));
  place.column = 0;
  array_push(&q->out->answers,
             answer_told(&a[0], ANSWER_UNCHANGED, &place, q->arena));
  if (reference && ends_itself(&a[1 + q->n]))
    array_push(&q->out->answers,
               answer_told(&a[1 + q->n], ANSWER_REFERENCE, &place, q->arena));
}

// The best input once more, where its files stay: is it a difference that lasts?
static int confirm(Question *q, Err *err) {
  Str line = {0};
  bool reference = reference_of(q) != NULL;
  size_t per = 1 + q->n + reference;
  QuestionAnswer *answers = mem_array(QuestionAnswer, CONFIRMED * per + 1);
  fs_remove_tree(q->o->keep);
  int rc = near_inputs_write(&q->near, &q->best.inputs, q->o->keep, &line, err);
  const char *lines[CONFIRMED] = {str_text(&line), str_text(&line)};
  *q->o->end = clock_now() + q->o->seconds;
  if (!rc && ask(q, lines, CONFIRMED, reference, answers, err) &&
      all_equal(answers, answers + per, per) &&
      flaws_of(q, &q->best.inputs, answers + 1) != UINT_MAX) {
    q->out->command = command_of(q, str_text(&line));
    tell_input(q);
    tell_answers(q, answers, reference);
  }
  release_answers(answers, CONFIRMED * per);
  str_release(&line);
  return rc;
}

static uint64_t most_steps(const TrySession *s) {
  uint64_t most = STEPS_LEAST;
  for (size_t i = 0; i < s->ntests; i++)
    most = s->tests[i].steps > most ? s->tests[i].steps : most;
  return most;
}

static int find(Question *q, Err *err) {
  NearInputOptions near = {.runner = q->o->runner,
                           .program = q->start.program,
                           .cache = q->o->cache,
                           .dir = q->o->scratch,
                           .cwd = q->start.cwd,
                           .env = q->start.env,
                           .suite = q->o->session->suite,
                           .statements = q->statements,
                           .nstatements = q->n,
                           .go_on = q->o->runs->go_on,
                           .context = q->o->runs->context};
  near_inputs_open(&q->near, &near);
  *q->o->end = clock_now() + q->o->seconds;
  for (size_t i = 0; i < q->seeds.len; i++)
    near_inputs_add_seed(&q->near, &q->seeds.items[i].inputs,
                         q->seeds.items[i].fails);
  int rc = search(q, err);
  if (!rc && q->best.found)
    rc = confirm(q, err);
  near_inputs_close(&q->near);
  return rc;
}

int question_find(const QuestionOptions *o, TriedQuestion *out, uint64_t *runs,
                  Arena *arena, Err *err) {
  Question q = {.o = o, .arena = arena, .out = out};
  int rc = 0;
  choose_survivors(&q);
  choose_seeds(&q);
  q.steps = most_steps(o->session);
  out->asked = (uint32_t)q.n;
  if (q.n >= 2 && q.seeds.len)
    rc = find(&q, err);
  for (size_t i = 0; i < q.seeds.len; i++)
    inputs_release(&q.seeds.items[i].inputs);
  array_release(&q.seeds);
  if (q.best.found)
    inputs_release(&q.best.inputs);
  *runs += q.runs;
  return rc;
}
