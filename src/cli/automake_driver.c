// culprit automake-driver: internal. `culprit run` puts it in front of the log
// drivers of an automake project; make calls it once per test:
//
//   culprit automake-driver DRIVER... --test-name T --log-file L --trs-file R
//     [driver options] -- TEST ARGS...
//
// It runs the original driver unchanged, with the test's run files going to a
// directory of their own, ends it at the timeout, runs it again if the test
// failed (with its files elsewhere: make sees the first result; alone if it ran
// beside others: run/repeat.h), and leaves a record for `culprit run`, with what
// that needs to start this driver once more for a closer look. Without a spool
// it just becomes the driver.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/driver_context.h"
#include "adapter/spool.h"
#include "adapter/turns.h"
#include "command/cli.h"
#include "process/process.h"
#include "process/words.h"
#include "run/repeat.h"
#include "run/runner.h"
#include "run/testfile.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

typedef struct {
  char **argv; // the original driver and all its arguments
  const char *test, *log, *trs;
  char **words; // the test itself: what follows --
  const char *spool;
  SpoolConfig config;
  SpoolRecord record;
  bool hangs;    // the test ran into the full limit
  Repeat repeat; // which attempt this is
  TestTurns turns;
  bool beside; // another test ran beside the last execution
  Pool *pool;
  Arena arena;
} Driver;

// The value of an option of the driver; NULL: it is not there.
static const char *option(char *const *argv, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; argv[i] && strcmp(argv[i], "--") != 0; i++) {
    if (!strcmp(argv[i], name))
      return argv[i + 1];
    if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
      return argv[i] + n + 1;
  }
  return NULL;
}

// Words like NAME=value before a command belong into its environment.
static char **take_assignments(char **argv) {
  for (; *argv && strchr(*argv, '=') && **argv != '-' && **argv != '/'; argv++)
    putenv(*argv);
  return argv;
}

static void parse_arguments(Driver *d, char **argv) {
  d->argv = take_assignments(argv);
  d->test = option(d->argv, "--test-name");
  d->log = option(d->argv, "--log-file");
  d->trs = option(d->argv, "--trs-file");
  d->words = d->argv;
  while (*d->words && strcmp(*d->words, "--") != 0)
    d->words++;
  d->words += *d->words != NULL;
}

static int become_driver(char **argv) {
  execvp(argv[0], argv);
  return cli_fail(127, "%s: %s", argv[0], strerror(errno));
}

// --- results for make -------------------------------------------------------

// What automake's own driver would have written.
static void write_result(const Driver *d, const char *result,
                         const char *reason) {
  Str trs = {0}, log = {0};
  Err ignored;
  bool bad = strcmp(result, "PASS") != 0 && strcmp(result, "SKIP") != 0;
  str_addf(&trs,
           ":test-result: %s\n:global-test-result: %s\n:recheck: %s\n"
           ":copy-in-global-log: %s\n",
           result, result, bad ? "yes" : "no", bad ? "yes" : "no");
  fs_write(d->trs, trs.data, trs.len, &ignored);
  fs_read(d->log, 0, &log, &ignored);
  str_addf(&log, "culprit: %s\n%s %s\n", reason, result, d->test);
  fs_write(d->log, log.data, log.len, &ignored);
  printf("%s: %s\n", result, d->test);
  fflush(stdout);
  str_release(&trs);
  str_release(&log);
}

// "tests/foo.sh": the test's name below the build directory.
static char *full_name(Driver *d) {
  char *here = getcwd(NULL, 0);
  const char *below = here ? path_below(here, d->config.root) : "";
  bool inside = here && below != here;
  char *name = inside ? arena_printf(&d->arena, "%s/%s", below, d->test)
                      : arena_strdup(&d->arena, d->test);
  free(here);
  return name;
}

// Has `culprit run` this test's result already? The line "PASS name".
static char *kept_result(Driver *d, const char *name) {
  Str text = {0};
  Err ignored;
  char *path = arena_printf(&d->arena, "%s/done", d->spool);
  char *result = NULL, *save = NULL;
  if (!fs_read(path, 0, &text, &ignored) && text.len)
    for (char *line = strtok_r(text.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
      size_t n = strcspn(line, " ");
      if (line[n] && !strcmp(line + n + 1, name)) {
        result = arena_strndup(&d->arena, line, n);
        break;
      }
    }
  str_release(&text);
  return result;
}

// Is it a test of another machine's?
static bool is_elsewhere(Driver *d, const char *name) {
  unsigned shard, shards = (unsigned)d->config.shards;
  Str text = {0};
  Err ignored;
  if (!shards)
    return false;
  shard = shard_by_name(name, shards);
  char *path = arena_printf(&d->arena, "%s/shards", d->spool), *save = NULL;
  if (!fs_read(path, 0, &text, &ignored) && text.len)
    for (char *line = strtok_r(text.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
      char *rest;
      unsigned long planned = strtoul(line, &rest, 10);
      if (*rest == ' ' && !strcmp(rest + 1, name))
        shard = (unsigned)planned;
    }
  str_release(&text);
  return shard != (unsigned)d->config.shard;
}

// --- running ----------------------------------------------------------------

// Further attempts write their files elsewhere.
static char **further_argv(Driver *d, char *log, char *trs) {
  size_t n = 0;
  while (d->argv[n])
    n++;
  char **argv = arena_array(&d->arena, char *, n + 1);
  for (size_t i = 0; i < n; i++) {
    argv[i] = d->argv[i];
    if (i && !strcmp(d->argv[i - 1], "--log-file"))
      argv[i] = log;
    if (i && !strcmp(d->argv[i - 1], "--trs-file"))
      argv[i] = trs;
  }
  return argv;
}

static int make_run_dir(Driver *d, SpoolResult *result, Err *err) {
  result->run = arena_printf(&d->arena, "%s/run-XXXXXX", d->spool);
  if (!mkdtemp(result->run) || chmod(result->run, 01777))
    return err_set(err, "%s: %s", result->run, strerror(errno));
  return 0;
}

// The log of a test that hangs ends with its stacks.
static void log_stacks(void *driver, pid_t session) {
  const Driver *d = driver;
  const SpoolResult *result = &d->record.results[d->repeat.attempt];
  Str text = {0};
  runner_look_at_hang(session, d->config.source,
                      *d->config.close ? NULL : result->run, &text);
  FILE *out = text.len ? fopen(result->log, "a") : NULL;
  if (out) {
    fprintf(out, "\n%s", text.data);
    fclose(out);
  }
  str_release(&text);
}

static bool is_look(const Driver *d) { return *d->config.close; }

// Executes the original driver. 1: interrupted.
static int execute(Driver *d, char **argv, double timeout,
                   SpoolResult *result) {
  static const Redirect silence = {
      .mode = REDIRECT_WRITE, .fd = 1, .path = "/dev/null"};
  Arena *a = &d->arena;
  char *extra[] = {arena_printf(a, "CULPRIT_RUN=%s", result->run),
                   arena_printf(a, "CULPRIT_STDOUT=%s", result->log),
                   "CULPRIT_SEGMENTS=1", NULL, NULL};
  if (is_look(d))
    extra[3] = arena_printf(a, "CULPRIT_CLOSE=%s", d->config.close);
  Test test = {.name = d->test, .argv = argv};
  Spawn spawn = {.env = environment_with(extra, a),
                 .timeout = timeout,
                 .mark = extra[0],
                 .hangs = log_stacks,
                 .context = d};
  test_prepare(&test, NULL, a, &spawn);
  spawn.redirects = &silence;
  spawn.nredirects = d->repeat.attempt > 0 || is_look(d);
  pool_start(d->pool, 0, &spawn);
  size_t slot;
  Outcome outcome;
  if (pool_wait(d->pool, -1, &slot, &outcome) != POOL_ENDED) {
    pool_kill_all(d->pool);
    return 1;
  }
  result->end = outcome.end;
  result->seconds = outcome.seconds;
  result->sent = outcome.sent;
  return 0;
}

// Executes it when it is its turn, alone or beside others.
static int execute_in_turn(Driver *d, char **argv, bool alone, double timeout,
                           SpoolResult *result, Err *err) {
  if (turns_begin(&d->turns, alone, err))
    return -1;
  int rc = execute(d, argv, timeout, result);
  d->beside = turns_end(&d->turns);
  return rc;
}

// As run/batch.c does: what runs into a derived limit is repeated with the full
// one, alone.
static int execute_within_limits(Driver *d, char **argv, SpoolResult *result,
                                 Err *err) {
  double full = d->config.timeout, limit = d->config.limit;
  bool derived = limit > 0 && limit < full && !(d->record.overran > 0);
  int rc = execute_in_turn(d, argv, d->repeat.alone, derived ? limit : full,
                           result, err);
  if (!rc && derived && result->end == END_TIMEOUT && !d->hangs) {
    d->record.overran = limit;
    derived = false;
    rc = dir_make_empty(result->run, err);
    rc = rc ? rc : execute_in_turn(d, argv, true, full, result, err);
  }
  d->hangs |= !rc && result->end == END_TIMEOUT && !derived;
  return rc;
}

// Runs the test once; the first time, but not for a closer look, its files and
// its PASS or FAIL in the output are for make. 1: interrupted.
static int attempt(Driver *d, Err *err) {
  bool elsewhere = d->repeat.attempt > 0 || is_look(d);
  SpoolResult *result = &d->record.results[d->repeat.attempt];
  if (make_run_dir(d, result, err))
    return -1;
  char *log = path_absolute(d->log, NULL);
  result->log = arena_strdup(&d->arena, log);
  free(log);
  char *trs = arena_strdup(&d->arena, d->trs);
  char **argv = d->argv;
  if (elsewhere) {
    result->log = arena_printf(&d->arena, "%s.log", result->run);
    trs = arena_printf(&d->arena, "%s.trs", result->run);
    argv = further_argv(d, result->log, trs);
  }
  unlink(trs);
  int rc = execute_within_limits(d, argv, result, err);
  if (rc)
    return rc;
  result->result = trs_result(trs, &d->arena);
  result->status = log_status(result->log);
  d->record.nresults = d->repeat.attempt + 1;
  if (elsewhere)
    unlink(trs);
  return 0;
}

// As make sees it.
static Verdict verdict_of(const SpoolResult *r) {
  static const char *const fine[] = {"SKIP", "XFAIL", NULL};
  if (r->end != END_EXIT)
    return VERDICT_FAIL;
  if (!strcmp(r->result, "PASS"))
    return VERDICT_PASS;
  return text_is_one_of(r->result, fine) ? VERDICT_SKIP : VERDICT_FAIL;
}

// Is there to be another attempt?
static bool goes_on(Driver *d) {
  SpoolResult *last = &d->record.results[d->repeat.attempt];
  size_t steady = turns_steady(&d->turns), before = steady;
  RepeatStep step =
      repeat_step(&d->repeat, verdict_of(last), d->beside, &steady);
  if (steady != before)
    turns_set_steady(&d->turns, (uint32_t)steady);
  if (step == REPEAT_INSTEAD) {
    fs_remove_tree(last->run);
    unlink(last->log);
  }
  return step != REPEAT_END;
}

static void describe(Driver *d, const char *name) {
  Str command = {0};
  char *here = getcwd(NULL, 0);
  const char *below = here ? path_below(here, d->config.root) : NULL;
  if (here && below != here) {
    str_add(&command, "cd ");
    words_quote(&command, below);
    str_add(&command, " && ");
  }
  words_quote_all(&command, d->words);
  d->record.test = arena_strdup(&d->arena, name);
  d->record.command = arena_strdup(&d->arena, str_text(&command));
  str_release(&command);
  free(here);
}

static int keep_context(Driver *d, Err *err) {
  Str text = {0};
  d->record.context =
      arena_printf(&d->arena, "%s/ctx-%d", d->spool, (int)getpid());
  driver_context_write(d->argv, &text);
  int rc = fs_write(d->record.context, text.data, text.len, err);
  str_release(&text);
  return rc;
}

// 1: interrupted, no record.
static int run_test(Driver *d, Err *err) {
  const SpoolResult *first = &d->record.results[0];
  d->record.context = "";
  int rc = is_look(d) ? 0 : keep_context(d, err);
  rc = rc ? rc : attempt(d, err);
  if (!rc && !is_look(d) && first->end != END_EXIT && !*first->result)
    write_result(d, "FAIL", "ended before the test was finished");
  bool hung_twice = d->hangs && d->record.overran > 0;
  while (!rc && d->config.rerun && !hung_twice && goes_on(d))
    rc = attempt(d, err);
  return rc ? rc : spool_write_record(d->spool, &d->record, err);
}

static int drive(Driver *d, Err *err) {
  if (spool_read_config(d->spool, &d->config, &d->arena, err))
    return -1;
  char *name = full_name(d);
  char *kept = kept_result(d, name);
  if (kept) {
    write_result(d, kept, "result kept from an earlier `culprit run`");
    return 0;
  }
  if (is_elsewhere(d, name)) {
    write_result(d, "SKIP", "a test of another shard (--shard)");
    return 0;
  }
  describe(d, name);
  if (turns_open(&d->turns, d->spool, err))
    return -1;
  int rc = pool_open(&d->pool, 1, err);
  if (!rc) {
    rc = run_test(d, err);
    pool_close(d->pool);
  }
  turns_close(&d->turns);
  return rc;
}

static int automake_driver_main(int argc, char **argv) {
  Driver d = {.spool = getenv(SPOOL_ENV)};
  Err err = {0};
  if (argc < 2)
    return cli_fail(EXIT_USAGE, "automake-driver: for `culprit run` only");
  parse_arguments(&d, argv + 1);
  if (!d.argv[0])
    return cli_fail(EXIT_USAGE, "automake-driver: no driver to run");
  if (!d.spool || !d.test || !d.log || !d.trs)
    return become_driver(d.argv);
  int rc = drive(&d, &err);
  arena_release(&d.arena);
  return rc < 0 ? cli_error(&err) : rc > 0 ? EXIT_INTERRUPTED : EXIT_DONE;
}

const Command cmd_automake_driver = {"automake-driver", NULL,
                                     automake_driver_main};
