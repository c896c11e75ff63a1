// What all ways of running tests share: see runner.h.
#include "run/runner.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "oracle/contract_failures.h"
#include "oracle/failure.h"
#include "process/orphan.h"
#include "process/words.h"
#include "program/turns_watch.h"
#include "program/unwind.h"
#include "run/context_file.h"
#include "run/segment_verdict.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  LIMIT_FACTOR = 10, // times the slowest test
  LIMIT_LEAST = 1,   // second
};

// --- checking ---------------------------------------------------------------

static int ignore_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  (void)ctx, (void)unit, (void)ids, (void)err;
  return 0;
}

// It, or a library it is linked with, must have a map.
static int check_program(const char *exe, Err *err) {
  if (!fs_exists(exe))
    return err_set(err, "program %s: %s", exe, strerror(errno));
  if (!fs_executable(exe))
    return err_set(err, "program %s: not an executable file", exe);
  Collector *c = collector_new(ignore_ids, NULL);
  int rc = collector_add_program(c, exe, err);
  if (!rc && !collector_units(c)) {
    char *reason = map_absence_reason(exe);
    rc = err_set(err, "%s", reason);
    free(reason);
  }
  collector_free(c);
  return rc;
}

static Oracle choose_oracle(const RunOptions *o) {
  if (o->reference)
    return (Oracle){oracle_find("reference"), o->reference};
  if (o->expect)
    return (Oracle){oracle_find("expect"), o->expect};
  if (o->oracle)
    return (Oracle){oracle_find("command"), o->oracle};
  return (Oracle){oracle_find("exit"), NULL};
}

static int compile_failure_lines(Runner *r, const char *pattern, Err *err) {
  if (!pattern)
    return 0;
  r->failure_lines = mem_array(regex_t, 1);
  if (!regcomp(r->failure_lines, pattern, REG_EXTENDED | REG_NOSUB))
    return 0;
  free(r->failure_lines);
  r->failure_lines = NULL;
  return err_set(err, "--failure-regex: '%s' is not a regular expression",
                 pattern);
}

int runner_open(Runner *r, const RunOptions *o, Err *err) {
  r->options = o;
  r->oracle = choose_oracle(o);
  r->timeout = o->timeout;
  r->scratch = SCRATCH_NONE;
  if (access(o->cwd, X_OK))
    return err_set(err, "directory %s: %s", o->cwd, strerror(errno));
  if (o->exe && check_program(o->exe, err))
    return -1;
  if (oracle_check(&r->oracle, err))
    return -1;
  return compile_failure_lines(r, o->failure_regex, err);
}

// --- the session ------------------------------------------------------------

// A hash of the file's content; 0 if it cannot be read.
static uint64_t file_hash(const char *path) {
  Str text = {0};
  Err ignored;
  uint64_t h = fs_read(path, 0, &text, &ignored)
                   ? 0
                   : XXH3_64bits(str_text(&text), text.len);
  str_release(&text);
  return h;
}

static void key_file(Str *key, const char *what, const char *path) {
  if (path)
    str_addf(key, "%s=%s#%016" PRIx64 "\n", what, path, file_hash(path));
}

// What makes two invocations the same work.
static char *work_key(const Runner *r, const char *adapter) {
  const RunOptions *o = r->options;
  Str key = {0};
  str_addf(&key,
           "adapter=%s\ncwd=%s\ntimeout=%g\nscratch=%d\nmax=%" PRIu64 "\n",
           adapter, o->cwd, r->timeout, o->scratch, o->max_output);
  str_addf(&key, "isolate=%d\nsegment=%s\nfailure=%s\n", o->isolate,
           o->segment ? o->segment : "",
           o->failure_regex ? o->failure_regex : "");
  if (o->shard.n)
    str_addf(&key, SHARD_KEY "%u/%u %016" PRIx64 "\n", o->shard.k, o->shard.n,
             r->shards);
  for (size_t i = 0; i < o->chosen.len; i++)
    str_addf(&key, "test=%s\n", o->chosen.items[i]);
  key_file(&key, "exe", o->exe);
  key_file(&key, "tests", o->tests);
  key_file(&key, "reference", o->reference);
  str_addf(&key, "oracle=%s %s\n", r->oracle.kind->name,
           r->oracle.arg ? r->oracle.arg : "");
  if (o->command) {
    str_add(&key, "command=");
    words_quote_all(&key, o->command);
  }
  return str_take(&key);
}

static bool is_bad(Verdict v) {
  return v == VERDICT_FAIL || v == VERDICT_FLAKY || v == VERDICT_ERROR;
}

void runner_forget(Runner *r) {
  for (size_t i = 0; i < r->seen.len; i++) {
    SeenModule *m = &r->seen.items[i];
    for (size_t k = 0; k < m->tests.len; k++)
      free(m->tests.items[k]);
    array_release(&m->tests);
    free(m->path);
  }
  array_release(&r->seen);
  contexts_release(&r->contexts);
  hashmap_release(&r->seen_index);
}

static void forget_done(Runner *r) {
  for (size_t i = 0; i < r->done.len; i++)
    free(r->done.items[i].test);
  array_release(&r->done);
  hashmap_release(&r->done_index);
  r->done_index = (Hashmap){0};
}

static void add_done(Runner *r, const char *test, size_t n, Verdict verdict,
                     bool inferred) {
  hashmap_put(&r->done_index, test, n, r->done.len);
  array_push(&r->done,
             (DoneTest){mem_printf("%.*s", (int)n, test), verdict, inferred});
}

// "prog/test_a" may be a test inside of "prog": that one need not run if none
// of those inside must.
static void add_wholes(Runner *r, const RunInfo *run, const Hashmap *wanted) {
  for (const char *p = strchr(run->test, '/'); p; p = strchr(p + 1, '/')) {
    size_t n = (size_t)(p - run->test);
    uint64_t i;
    if (hashmap_get(wanted, run->test, n, &i))
      continue;
    if (!hashmap_get(&r->done_index, run->test, n, &i))
      add_done(r, run->test, n, run->verdict, true);
    else if (is_bad(run->verdict) && r->done.items[i].inferred)
      r->done.items[i].verdict = run->verdict;
  }
}

static bool runs_again(const Runner *r, const Suite *suite, size_t run) {
  if (r->close)
    return r->close->wanted[run];
  return r->options->failed && is_bad(suite->runs[run].verdict);
}

static void mark_done(Runner *r, const Suite *suite) {
  Hashmap wanted = {0}; // what tests to be run may be inside of
  for (size_t i = 0; i < suite->nruns; i++) {
    const RunInfo *run = &suite->runs[i];
    if (!runs_again(r, suite, i))
      add_done(r, run->test, strlen(run->test), run->verdict, false);
    else
      for (const char *p = strchr(run->test, '/'); p; p = strchr(p + 1, '/'))
        hashmap_put(&wanted, run->test, (size_t)(p - run->test), 1);
  }
  for (size_t i = 0; i < suite->nruns; i++)
    add_wholes(r, &suite->runs[i], &wanted);
  hashmap_release(&wanted);
}

static int load_done(Runner *r, Err *err) {
  Suite suite = {0};
  int rc = store_load(r->store, r->session, &suite, err);
  if (!rc)
    mark_done(r, &suite);
  suite_release(&suite);
  return rc;
}

static int reopen_session(Runner *r, Err *err) {
  r->continued = true;
  if (session_reopen(r->store, &r->session, err))
    return -1;
  return r->options->failed ? load_done(r, err) : 0;
}

static int begin_session(Runner *r, const char *adapter, Err *err) {
  if (r->fresh && session_finish(r->store, r->session, err))
    return -1;
  if (r->fresh && !r->options->failed)
    forget_done(r);
  char *key = work_key(r, adapter);
  int rc = session_begin(r->store, key, r->command, r->cwd ? r->cwd : r->root,
                         &r->session, &r->continued, err);
  free(key);
  if (!rc && r->project)
    rc = session_set_project(r->store, r->session, r->project, err);
  if (!rc && r->continued)
    rc = load_done(r, err);
  return rc;
}

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  Runner *r = ctx;
  return store_add_unit(r->store, r->session, unit, ids, err);
}

// A view for each slot: what one test writes is not for another.
static int open_confines(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  ConfinePlan plan = *o->confine;
  plan.scratch = r->scratch.dir;
  plan.copied = o->cwd;
  r->confines = mem_array(Confine *, (size_t)o->jobs);
  for (int i = 0; i < o->jobs; i++)
    if (confine_open(&r->confines[i], &plan, err))
      return -1;
  return 0;
}

static void close_confines(Runner *r) {
  for (int i = 0; r->confines && i < r->options->jobs; i++)
    confine_close(r->confines[i]);
  free(r->confines);
  r->confines = NULL;
}

// Confinement before the pool, which kills children that it does not know.
static int open_processes(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  if (!r->scratch.dir && scratch_open(&r->scratch, store_dir(r->store), err))
    return -1;
  if (o->confine && !r->confines && open_confines(r, err))
    return -1;
  return r->pool ? 0 : pool_open(&r->pool, (size_t)o->jobs, err);
}

static int begin_close(Runner *r) {
  forget_done(r);
  mark_done(r, r->close->suite);
  r->session = r->close->suite->session;
  r->collector = collector_new(r->close->assign, r->close->found);
  collector_take_pairs(r->collector, r->close->pair, r->close->found);
  return 0;
}

int runner_begin(Runner *r, const char *adapter, Err *err) {
  const RunOptions *o = r->options;
  if (open_processes(r, err))
    return -1;
  if (r->close)
    return begin_close(r);
  bool reopen = (o->failed || o->add) && !r->fresh;
  if (reopen ? reopen_session(r, err) : begin_session(r, adapter, err))
    return -1;
  collector_free(r->collector);
  r->collector = collector_new(assign_ids, r);
  r->stale = false;
  r->already = r->total = 0;
  return 0;
}

int runner_close(Runner *r, bool complete, Err *err) {
  int rc = 0;
  if (r->pool)
    pool_kill_all(r->pool);
  if (r->session) {
    rc = store_flush(r->store, err);
    if (!rc && complete)
      rc = session_finish(r->store, r->session, err);
  }
  pool_close(r->pool);
  r->pool = NULL;
  close_confines(r);
  scratch_close(&r->scratch);
  collector_free(r->collector);
  r->collector = NULL;
  forget_done(r);
  if (r->failure_lines)
    regfree(r->failure_lines);
  free(r->failure_lines);
  r->failure_lines = NULL;
  return rc;
}

// --- confinement ------------------------------------------------------------

void runner_confine(const Runner *r, size_t slot, Spawn *spawn, Arena *arena) {
  if (!r->confines)
    return;
  spawn->confine = r->confines[slot];
  if (!spawn->cwd)
    return;
  char *cwd = confine_inside(spawn->confine, spawn->cwd);
  spawn->cwd = arena_strdup(arena, cwd);
  free(cwd);
}

// Is it asked for, or does it hold one that is?
static bool is_chosen(const RunOptions *o, const char *test) {
  size_t n = strlen(test);
  bool chosen = !o->chosen.len;
  for (size_t i = 0; !chosen && i < o->chosen.len; i++) {
    const char *one = o->chosen.items[i];
    chosen = !strncmp(one, test, n) && (!one[n] || one[n] == '/');
  }
  return chosen;
}

bool runner_is_done(const Runner *r, const char *test) {
  uint64_t ignored;
  return !is_chosen(r->options, test) ||
         hashmap_get(&r->done_index, test, strlen(test), &ignored);
}

// --- runs -------------------------------------------------------------------

// A unit that does not fit into the session: if that goes back to an earlier
// invocation and nothing was added to it now, a fresh session will do.
static int unit_refused(Runner *r) {
  r->stale = r->continued && !r->fresh && !r->finished && !r->options->add;
  return -1;
}

int runner_add_module(Runner *r, const char *path, Err *err) {
  return collector_add_program(r->collector, path, err) ? unit_refused(r) : 0;
}

int runner_collect(Runner *r, const char *dir, Run *run, Segments *segments,
                   Err *err) {
  if (collector_collect(r->collector, dir, run, err) ||
      (segments && r->options->segments &&
       collector_collect_segments(r->collector, dir, segments, err)))
    return unit_refused(r);
  contract_add_failures(dir, r->root, run);
  if (run->processes || run->note)
    return 0;
  if (scratch_full(&r->scratch))
    run_add_note(run, "no spectrum: no space left in %s", r->scratch.dir);
  else
    run_add_note(run,
                 "no spectrum: no program built by culprit-cc recorded one");
  return 0;
}

static bool same_failures(const Run *a, const Run *b) {
  bool same = a->verdict == b->verdict && a->failures.len == b->failures.len;
  for (size_t i = 0; same && i < a->failures.len; i++)
    same =
        !strcmp(a->failures.items[i].signature, b->failures.items[i].signature);
  return same;
}

static const char *first_message(const Run *run) {
  return run->failures.len ? run->failures.items[0].message
                           : verdict_name(run->verdict);
}

static void make_flaky(Run *run, const Run *again) {
  run_add_note(run, "flaky: %s; again: %s", first_message(run),
               first_message(again));
  run->verdict = VERDICT_FLAKY;
  for (size_t i = 0; i < run->failures.len; i++)
    failure_release(&run->failures.items[i]);
  run->failures.len = 0;
}

// It fails, always: with the failures of the run whose lines are recorded.
static void note_varying(Run *run, const Run *again) {
  run_add_note(run, NOTE_VARIES ": %s; again: %s", first_message(run),
               first_message(again));
}

void runner_note_disturbed(Runner *r, Run *run, const Run *beside) {
  run_add_note(run, "fails beside other tests: %s", first_message(beside));
  r->disturbed++;
}

static void note_modules(Runner *r, const Run *run) {
  if (r->close)
    return;
  for (size_t i = 0; i < run->modules.len; i++) {
    const char *path = run->modules.items[i];
    uint64_t at =
        hashmap_intern(&r->seen_index, path, strlen(path), r->seen.len);
    if (at == r->seen.len)
      array_push(&r->seen, (SeenModule){.path = mem_strdup(path)});
    array_push(&r->seen.items[at].tests, mem_strdup(run->test));
    r->seen.items[at].runs++;
    r->seen.items[at].failing += run->verdict == VERDICT_FAIL;
  }
}

// For a closer look.
static int hand_over(Runner *r, const Run *run, const Run *whole, Err *err) {
  r->finished++;
  return r->close->take(r->close->context, run, whole, err);
}

int runner_add(Runner *r, Run *run, const Run *again, Err *err) {
  if (r->close)
    return hand_over(r, run, run, err);
  bool same = !again || same_failures(run, again);
  if (!same && again->verdict == VERDICT_FAIL)
    note_varying(run, again);
  else if (!same)
    make_flaky(run, again);
  if (store_add_run(r->store, r->session, run, err))
    return -1;
  note_modules(r, run);
  r->finished++;
  r->failing += run->verdict == VERDICT_FAIL;
  if (r->judged)
    r->judged(r->judged_context, run);
  if (r->progress)
    r->progress(r);
  return 0;
}

static const Run *find_again(const Segments *s, const char *test) {
  for (size_t i = 0; i < s->len; i++)
    if (!strcmp(s->items[i].run.test, test))
      return &s->items[i].run;
  return NULL;
}

// How much of the names is the same in all of them, from the begin or the end,
// up to an underscore.
static size_t common_part(const Segments *s, bool from_end) {
  const char *first = s->items[0].name;
  size_t n = strlen(first), kept = 0;
  for (size_t i = 1; i < s->len; i++) {
    const char *name = s->items[i].name;
    size_t m = strlen(name), same = 0;
    while (same < n && same < m &&
           (from_end ? first[strlen(first) - 1 - same] == name[m - 1 - same]
                     : first[same] == name[same]))
      same++;
    n = same;
  }
  for (size_t i = 0; i < n; i++)
    if ((from_end ? first[strlen(first) - 1 - i] : first[i]) == '_')
      kept = i + 1;
  return kept;
}

// "test_*", "*_test"; NULL: the names have nothing in common. Caller frees.
static char *name_pattern(const Segments *s) {
  const char *first = s->items[0].name;
  size_t n = common_part(s, false);
  if (n)
    return mem_printf("%.*s*", (int)n, first);
  n = common_part(s, true);
  return n ? mem_printf("*%s", first + strlen(first) - n) : NULL;
}

// Called with the first one that was taken apart.
static char *describe_split(const Runner *r, const Run *run,
                            const Segments *s) {
  const char *program = path_below(s->items[0].program, r->root);
  if (*program == '/' && r->cwd)
    program = path_below(program, r->cwd);
  char *pattern = name_pattern(s), *text;
  if (!*s->items[0].name && s->items[0].returned)
    text = mem_printf("`%s` writes %zu lines of TAP; each is a test", program,
                      s->len);
  else if (!*s->items[0].name)
    text = mem_printf("each of the %zu processes of %s that `%s` starts is a "
                      "test",
                      s->len, program,
                      r->options->make_cc ? run->test : run->command);
  else if (pattern)
    text = mem_printf("`%s` runs %zu function%s named %s; each is a test",
                      program, s->len, plural(s->len), pattern);
  else
    text =
        mem_printf("`%s` runs %zu test%s, told apart as %s, %s, ...", program,
                   s->len, plural(s->len), s->items[0].name, s->items[1].name);
  free(pattern);
  return text;
}

static void note_split(Runner *r, const Run *run, const Segments *s) {
  r->total += r->total ? s->len - 1 : 0;
  if (!r->split++)
    r->split_text = describe_split(r, run, s);
  else
    r->split_others += s->len;
}

// One that does nothing else is no test program.
enum { SEGMENTS_LEAST = 2 };

void runner_judge_segments(Runner *r, Segments *s, const Run *run,
                           const Trial *t, const char *name, bool again) {
  bool enough = s->len >= SEGMENTS_LEAST;
  r->marked |= s->len > 0;
  if (enough && segments_judge(s, run, t, r->failure_lines)) {
    segments_name(s, name);
    return;
  }
  r->undecided += enough && !again && run->verdict == VERDICT_FAIL;
  segments_release(s);
}

int runner_add_segments(Runner *r, Run *run, const Run *again,
                        Segments *segments, Err *err) {
  Segments *s = &segments[0];
  if (!s->len)
    return runner_add(r, run, again, err);
  if (!r->close)
    note_split(r, run, s);
  note_modules(r, run);
  for (size_t i = 0; i < s->len; i++) {
    Run *part = &s->items[i].run;
    part->command = mem_strdup(run->command);
    part->status = part->verdict == VERDICT_PASS ? 0 : run->status;
    part->seconds = run->seconds / (double)s->len;
    if (run->note)
      run_add_note(part, "%s", run->note);
    const Run *second = find_again(&segments[1], part->test);
    if (r->close ? hand_over(r, part, run, err)
                 : runner_add(r, part, second, err))
      return -1;
  }
  return 0;
}

double runner_limit(const Runner *r, double full) {
  double limit = LIMIT_FACTOR * r->slowest;
  if (r->options->timeout_given || !r->options->rerun || r->slowest <= 0)
    return full;
  limit = limit < LIMIT_LEAST ? LIMIT_LEAST : limit;
  return limit < full ? limit : full;
}

void runner_note_duration(Runner *r, double seconds) {
  if (seconds > r->slowest)
    r->slowest = seconds;
}

// Up to so many processes are watched.
enum { WATCHED = 4 };

static void leave_turns(const Pids *pids, const char *dir) {
  size_t watched = 0;
  for (size_t i = 0; i < pids->len && watched < WATCHED; i++) {
    Str turns = {0};
    Err ignored;
    turns_watch(pids->items[i], false, &turns);
    char *path = mem_printf("%s/%d" TURNS_SUFFIX, dir, (int)pids->items[i]);
    if (turns.len)
      fs_write(path, turns.data, turns.len, &ignored);
    watched += turns.len > 0;
    free(path);
    str_release(&turns);
  }
}

void runner_look_at_hang(pid_t session, const char *root, const char *dir,
                         Str *out) {
  Pids pids = {0};
  Str stacks = {0};
  session_list(session, &pids);
  for (size_t i = 0; i < pids.len; i++)
    unwind_process(pids.items[i], root, &stacks);
  if (stacks.len)
    str_addf(out, "culprit: where it was when it was stopped:\n%s",
             stacks.data);
  if (dir)
    leave_turns(&pids, dir);
  array_release(&pids);
  str_release(&stacks);
}

char **environment_with(char *const *extra, Arena *arena) {
  extern char **environ;
  size_t n = 0, m = 0, k = 0;
  while (environ[n])
    n++;
  while (extra[m])
    m++;
  char **env = arena_array(arena, char *, n + m + 1);
  for (size_t i = 0; i < n; i++)
    if (!text_starts(environ[i], "CULPRIT_") ||
        text_starts(environ[i], "CULPRIT_SEGMENT="))
      env[k++] = environ[i];
  memcpy(env + k, extra, m * sizeof *extra);
  return env;
}
