// culprit worker: runs tests that are queued in a store.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli.h"
#include "command/confine_options.h"
#include "fleet/queue_worker.h"
#include "store/test_queue.h"
#include "util/mem.h"
#include "util/stop.h"

enum { JOBS_MAX = 256, STOP_SECONDS = 20 };

typedef struct {
  WorkerOptions worker;
  const char *store;
  bool confined, quiet;
  ConfineOptions confine;
  Arena arena;
} Options;

static const Option options[] = {
    {"jobs", "N", &option_int, offsetof(Options, worker.jobs),
     "tests at once (default: one per processor)", .letter = 'j',
     .max = JOBS_MAX},
    {"wait", "SECONDS", &option_real0, offsetof(Options, worker.wait),
     "how long to wait for tests when there are none (default: 60)"},
    {"lease", "SECONDS", &option_real, offsetof(Options, worker.lease),
     "how long after this worker was killed its tests return to the queue "
     "(default: 60)"},
    {"shared", "DIR", &option_text, offsetof(Options, worker.shared),
     "directory of the bundles (default: in the store)"},
    {"unpacked", "DIR", &option_text, offsetof(Options, worker.bundles),
     "directory to unpack bundles in, kept for other workers (default: "
     "culprit/bundles in the user's cache)"},
    {"no-confine", NULL, &option_no, offsetof(Options, confined),
     "let the tests write and connect as this user may"},
    {.rows = confine_options, .at = offsetof(Options, confine)},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

static const char *usual_directory(Arena *arena) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && *cache == '/')
    return arena_printf(arena, "%s/culprit/bundles", cache);
  return arena_printf(arena, "%s/.cache/culprit/bundles",
                      home && *home == '/' ? home : "/tmp");
}

static void report(const Options *o, const WorkerResult *r) {
  if (!o->quiet)
    printf("ran %zu test%s of %zu session%s, %zu failed\n", r->tests,
           plural(r->tests), r->sessions, plural(r->sessions), r->failing);
}

static int work(const Options *o) {
  Store *store;
  Err err = {0};
  WorkerResult result;
  int status = cli_open_store(&store, o->store, STORE_EXISTING);
  if (status != EXIT_DONE)
    return status;
  stop_orderly(STOP_SECONDS);
  if (test_queue_open(store, &err) ||
      worker_run(&o->worker, store, &result, &err)) {
    status = cli_error(&err);
  } else {
    report(o, &result);
    status = result.interrupted ? EXIT_INTERRUPTED : EXIT_DONE;
  }
  stop_orderly(0);
  store_close(store);
  return status;
}

static int worker_main(int argc, char **argv) {
  Options o = {
      .confined = true,
      .worker = {.jobs = cli_default_jobs(JOBS_MAX), .lease = 60, .wait = 60}};
  int first;
  int status = options_parse(&cmd_worker, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && first < argc)
    status =
        options_wrong(&cmd_worker, "'%s': no operand is expected", argv[first]);
  if (status == OPTIONS_TAKEN) {
    confine_options_end(&o.confine, &o.arena);
    o.worker.confine = o.confined ? &o.confine.plan : NULL;
    if (!o.worker.bundles)
      o.worker.bundles = usual_directory(&o.arena);
    o.worker.bundles = cli_absolute(&o.arena, o.worker.bundles);
    status = work(&o);
  }
  confine_options_release(&o.confine);
  arena_release(&o.arena);
  return status;
}

const Command cmd_worker = {
    "worker",
    "run tests that are queued in a store",
    worker_main,
    .usage = "[options]",
    .about =
        "Take tests that `culprit run --queue` has queued in the store, run "
        "them from their bundle, confined, and store their runs. Start as "
        "many as you like, on any machines that reach the store, by whatever "
        "starts jobs there. A worker that is killed loses nothing: its tests "
        "return to the queue when its lease ends.",
    .options = options,
    .end = "Exit status: 0 there was nothing left to do, 2 usage, 3 the store "
           "or a bundle cannot be used, 130 interrupted."};
