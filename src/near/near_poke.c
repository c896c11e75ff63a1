// Runs of the marked build: see near_poke.h.
#include "near/near_poke.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/made.h"
#include "oracle/contract_failures.h"
#include "oracle/files_equal.h"
#include "oracle/oracle.h"
#include "run/scratch.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { ANSWER_MAX = 64 << 20, FIELDS = 7 };

// --- answers ----------------------------------------------------------------

void poke_answer_release(PokeAnswer *a) {
  array_release(&a->cells);
  array_release(&a->moved);
  arena_release(&a->arena);
  *a = (PokeAnswer){0};
}

static int digit(char c) {
  const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

// False: it is not a list of bytes.
static bool take_bytes(PokeAnswer *a, const char *text, AnswerCell *out) {
  size_t n = strlen(text);
  uint8_t *bytes = arena_array(&a->arena, uint8_t, n / 2 + 1);
  for (size_t i = 0; i + 1 < n; i += 2) {
    int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0)
      return false;
    bytes[i / 2] = (uint8_t)(high * 16 + low);
  }
  out->bytes = bytes;
  out->size = n / 2;
  return n && n % 2 == 0;
}

static bool take_cell(PokeAnswer *a, char **f) {
  AnswerCell c = {.frame = atoi(f[1]),
                  .function = arena_strdup(&a->arena, f[2]),
                  .name = arena_strdup(&a->arena, f[3]),
                  .at = strtoull(f[4], NULL, 16),
                  .kind = *f[5]};
  if (!take_bytes(a, f[6], &c))
    return false;
  array_push(&a->cells, c);
  return true;
}

// False: not a line of an answer.
static bool take_line(PokeAnswer *a, char **f, size_t n, Err *err) {
  if (n == 1 && !strcmp(f[0], "reached"))
    return a->reached = true;
  if (n == 3 && !strcmp(f[0], "moved")) {
    array_push(&a->moved,
               (CellMoved){strtoull(f[1], NULL, 16), strtoull(f[2], NULL, 10)});
    return true;
  }
  if (n == 2 && !strcmp(f[0], "way")) {
    a->way = strtoull(f[1], NULL, 10);
    return a->has_way = true;
  }
  if (n == 3 && !strcmp(f[0], "image")) {
    a->image = strtoull(f[1], NULL, 16);
    a->image_end = strtoull(f[2], NULL, 16);
    return true;
  }
  if (n == 2 && !strcmp(f[0], "failed")) {
    err_set(err, "%s", f[1]);
    return false;
  }
  if (n == 2 && !strcmp(f[0], "leads") && a->cells.len) {
    array_last(&a->cells).leads = arena_strdup(&a->arena, f[1]);
    return true;
  }
  return n == FIELDS && !strcmp(f[0], "cell") && take_cell(a, f);
}

int poke_answer_parse(PokeAnswer *a, char *text, Err *err) {
  char *fields[FIELDS];
  err_set(err, POKE_PROGRAM " sent a damaged answer");
  for (char *line; (line = strsep(&text, "\n"));) {
    size_t n = 0;
    while (line && n < FIELDS)
      fields[n++] = strsep(&line, "\t");
    bool empty = n == 1 && !*fields[0];
    if (!empty && (line || !take_line(a, fields, n, err)))
      return -1;
  }
  *err = (Err){0};
  return 0;
}

// --- jobs -------------------------------------------------------------------

static void add_bytes(Str *out, const uint8_t *bytes, size_t n) {
  str_addc(out, '\t');
  for (size_t i = 0; i < n; i++)
    str_addf(out, "%02x", bytes[i]);
}

// Blocks are numbered in their unit.
static int find_unit(const Program *p, uint32_t block, size_t *unit,
                     uint32_t *first) {
  for (size_t i = p->units.len; i-- > 0;) {
    const IrUnit *u = &p->units.items[i];
    if (!u->nfunctions)
      continue;
    *first = p->functions.items[u->first_function].first_block;
    *unit = i;
    if (*first <= block)
      return 0;
  }
  return -1;
}

static int write_job(const Poker *p, const PokeJob *job, Err *err) {
  const Program *program = p->near->control.program;
  Str text = {0};
  size_t unit = 0;
  uint32_t first = 0;
  if (find_unit(program, job->block, &unit, &first))
    return err_set(err, "the branch belongs to no unit");
  str_addf(&text, "mark\t%zu\t%u\ncount\t%" PRIu64 "\nanswer\t%s\n", unit,
           job->block - first, job->count, p->answer);
  if (job->state)
    str_add(&text, "state\n");
  for (size_t i = 0; job->puts && i < job->puts->len; i++) {
    const CellPut *c = &job->puts->items[i];
    str_addf(&text, "put\t%" PRIx64, c->at);
    add_bytes(&text, c->old, c->size);
    add_bytes(&text, c->new, c->size);
    str_addc(&text, '\n');
  }
  int rc = fs_write(p->job, str_text(&text), text.len, err);
  str_release(&text);
  return rc;
}

// --- running ----------------------------------------------------------------

static Test test_of(const PokeJob *job, Arena *arena) {
  return (Test){.name = "near",
                .line = job->line,
                .env =
                    job->inputs ? made_environment(job->inputs, arena) : NULL};
}

static Spawn spawn_of(const Poker *p, const Test *test, const char *out,
                      const char *err, char *const *extra, Arena *arena) {
  const Runner *r = p->near->search->runner;
  Spawn spawn = {
      .env = test_environment(test, environment_with(extra, arena), arena),
      .cwd = r->options->cwd,
      .out = out,
      .err = err,
      .timeout = p->timeout,
      .max_output = r->options->max_output,
      .mark = extra[0]};
  runner_confine(r, 0, &spawn, arena);
  return spawn;
}

// One process, alone.
static int run_one(Poker *p, const Spawn *spawn, Outcome *out, Err *err) {
  Runner *r = p->near->search->runner;
  size_t slot;
  PoolEvent event;
  pool_start(r->pool, 0, spawn);
  while ((event = pool_wait(r->pool, -1, &slot, out)) == POOL_IDLE)
    ;
  if (event == POOL_INTERRUPTED) {
    r->interrupted = true;
    pool_kill_all(r->pool);
    return err_set(err, "interrupted");
  }
  return out->end == END_UNSTARTED ? err_set(err, "%s", out->problem) : 0;
}

// culprit-poke comes before the program.
static char **helper_words(const Poker *p, char *const *argv, Arena *arena) {
  const Runner *r = p->near->search->runner;
  size_t n = 0;
  while (argv[n])
    n++;
  char **words = arena_array(arena, char *, n + 4);
  words[0] = p->helper;
  words[1] = p->job;
  words[2] = p->build.program;
  words[3] = (char *)r->options->exe;
  memcpy(words + 4, argv + 1, (n - 1) * sizeof *words);
  return words;
}

static int run_helper(Poker *p, const PokeJob *job, PokeAnswer *a, Arena *arena,
                      Err *err) {
  // Contracts are recorded there; nothing else of this build is.
  char *extra[] = {arena_printf(arena, "CULPRIT_RUN=%s", p->run), NULL};
  Test test = test_of(job, arena);
  Spawn spawn = spawn_of(p, &test, p->out, p->err, extra, arena);
  test_prepare(&test, p->build.program, arena, &spawn);
  if (strcmp(spawn.path, p->build.program))
    return err_set(err, "its command needs a shell");
  spawn.argv = helper_words(p, spawn.argv, arena);
  spawn.path = p->helper;
  p->runs++;
  return dir_make_empty(p->run, err) || run_one(p, &spawn, &a->outcome, err);
}

int poker_run(Poker *p, const PokeJob *job, PokeAnswer *a, Err *err) {
  Arena arena = {0};
  Str text = {0};
  *a = (PokeAnswer){0};
  fs_remove_tree(p->answer);
  int rc = write_job(p, job, err) || run_helper(p, job, a, &arena, err) ||
           fs_read_regular(p->answer, ANSWER_MAX, &text, err);
  if (!rc && text.len)
    rc = poke_answer_parse(a, text.data, err);
  str_release(&text);
  arena_release(&arena);
  return rc ? -1 : 0;
}

// --- judging ----------------------------------------------------------------

// What the oracle wants to be run besides; a reference only once.
static int run_second(Poker *p, const PokeJob *job, const Outcome *first,
                      Err *err) {
  const Oracle *oracle = &p->near->search->runner->oracle;
  Second kind = oracle->kind->second;
  if (kind == SECOND_NONE || (kind == SECOND_PROGRAM && p->has_second))
    return 0;
  Arena arena = {0};
  Test test = test_of(job, &arena);
  char *extra[] = {arena_printf(&arena, "CULPRIT_SECOND=%s", p->dir),
                   arena_printf(&arena, "CULPRIT_STDOUT=%s", p->out),
                   arena_printf(&arena, "CULPRIT_STDERR=%s", p->err),
                   arena_printf(&arena, "CULPRIT_STATUS=%d", first->status),
                   "CULPRIT_TEST=near",
                   NULL};
  Spawn spawn = spawn_of(p, &test, p->second_out, p->second_err, extra, &arena);
  if (kind == SECOND_PROGRAM)
    test_prepare(&test, oracle->arg, &arena, &spawn);
  else
    spawn_shell(&spawn, oracle->arg, &arena);
  int rc = run_one(p, &spawn, &p->second, err);
  p->has_second = !rc;
  arena_release(&arena);
  return rc;
}

int poker_judge(Poker *p, const PokeJob *job, const PokeAnswer *a,
                Verdict *verdict, Err *err) {
  const Runner *r = p->near->search->runner;
  Trial t = {.test = "near",
             .root = r->root,
             .out = p->out,
             .err = p->err,
             .outcome = &a->outcome,
             .timeout = p->timeout,
             .max_output = r->options->max_output,
             .second_out = p->second_out,
             .second_err = p->second_err};
  Run run = {.test = mem_strdup("near"), .status = a->outcome.status};
  int rc = 0;
  contract_add_failures(p->run, r->root, &run);
  if (!oracle_settled(&t, &run)) {
    rc = run_second(p, job, &a->outcome, err);
    t.second = p->has_second ? &p->second : NULL;
    rc = rc || oracle_judge(&r->oracle, &t, &run, err);
  }
  *verdict = run.verdict;
  run_release(&run);
  return rc ? -1 : 0;
}

int poker_keep_output(Poker *p, Err *err) {
  if (rename(p->out, p->kept_out))
    return err_set(err, "%s cannot be renamed", p->out);
  return 0;
}

bool poker_has_kept_output(const Poker *p) {
  bool equal = false;
  Err ignored = {0};
  return !files_equal(p->out, p->kept_out, &equal, &ignored) && equal;
}

// --- opening and closing ----------------------------------------------------

int poker_open(Poker *p, Near *n, Err *err) {
  const InputSearch *e = n->search;
  *p = (Poker){.near = n,
               .helper = path_of_part(POKE_PROGRAM),
               .timeout = e->runner->timeout};
  p->dir = mem_printf("%s/poke", e->runner->scratch.dir);
  p->job = mem_printf("%s/job", p->dir);
  p->answer = mem_printf("%s/answer", p->dir);
  p->out = mem_printf("%s/out", p->dir);
  p->err = mem_printf("%s/err", p->dir);
  p->second_out = mem_printf("%s/out2", p->dir);
  p->second_err = mem_printf("%s/err2", p->dir);
  p->kept_out = mem_printf("%s/kept", p->dir);
  p->run = mem_printf("%s/run", p->dir);
  if (!fs_executable(p->helper))
    return err_set(err, "%s is missing: install culprit again", p->helper);
  if (dir_make_empty(p->dir, err))
    return -1;
  return marked_build(&p->build, e->options.program, e->options.cache, err);
}

void poker_close(Poker *p) {
  char *all[] = {p->helper, p->dir,        p->job,        p->answer,   p->out,
                 p->err,    p->second_out, p->second_err, p->kept_out, p->run};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  trace_build_release(&p->build);
}
