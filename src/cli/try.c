// culprit try: changes one thing at a time at the suspects of a session and
// shows what repairs its failing tests.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rank.h"
#include "cli/run.h"
#include "cli/run_try.h"
#include "cli/web.h"
#include "command/cli.h"
#include "command/confine_options.h"
#include "command/given.h"

enum { JOBS_MAX = 256 };

typedef struct {
  RunTryOptions tried;
  RankOptions rank;
  ConfineOptions confine;
  const char *store;
  int jobs;
  bool quiet;
  Arena arena;
} Options;

static const Option options[] = {
    {.title = "Experiments"},
    {.rows = run_try_options, .at = offsetof(Options, tried)},
    {"jobs", "N", &option_int, offsetof(Options, jobs),
     "runs at once (default: one per processor)", .letter = 'j',
     .max = JOBS_MAX},
    {.rows = confine_options, .at = offsetof(Options, confine)},
    {.title = "Output"},
    {.rows = rank_shown_options, .at = offsetof(Options, rank)},
    {"json", NULL, &option_name, offsetof(Options, rank.format),
     "print the ranking as `culprit rank --json` does, and everything else on "
     "standard error"},
    {.rows = rank_session_options, .at = offsetof(Options, rank)},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

typedef struct {
  const Options *options;
  Store *store;
  Suite suite; // of the session
} TryCommand;

static RunTry settings(const Options *o) {
  return (RunTry){.options = &o->tried,
                  .quiet = o->quiet,
                  .json = !strcmp(o->rank.format, "json"),
                  .show_progress = isatty(STDERR_FILENO) && !o->quiet};
}

static int try_again(void *context, const Adapter *adapter,
                     const Runner *like) {
  TryCommand *c = context;
  RunTry t = settings(c->options);
  return run_try(&t, run_adapter_again, (void *)adapter, like, c->store,
                 c->suite.session, &c->options->rank);
}

static int try_made(void *context, const Runner *like) {
  TryCommand *c = context;
  RunTry t = settings(c->options);
  return run_try(&t, search_run_again, NULL, like, c->store, c->suite.session,
                 &c->options->rank);
}

static int try_requests(void *context, const Visits *v, const Requests *list,
                        const Explorer *e) {
  TryCommand *c = context;
  RunTry t = settings(c->options);
  return run_try_web(&t, v, list, e, c->store, c->suite.session,
                     &c->options->rank);
}

// Is there something to repair, and something to break? If not, the ranking
// says why.
static bool is_useful(const Suite *suite) {
  return rank_has_spectra(suite, VERDICT_FAIL) &&
         rank_has_spectra(suite, VERDICT_PASS);
}

static int try_stored(Options *o) {
  TryCommand c = {.options = o};
  Err err = {0};
  int status = cli_open_store(&c.store, o->store, STORE_EXISTING);
  if (status != EXIT_DONE)
    return status;
  if (store_load(c.store, o->rank.session, &c.suite, &err))
    status = cli_error(&err);
  else if (!is_useful(&c.suite))
    status = rank_print(c.store, &o->rank, stdout);
  else if (is_web_session(&c.suite))
    status =
        web_stored(c.store, &c.suite, o->jobs, &o->confine, try_requests, &c);
  else if (given_made(&c.suite))
    status = given_stored(c.store, &c.suite, o->jobs, &o->confine.plan,
                          try_made, &c);
  else
    status = run_stored(c.store, c.suite.session, o->jobs, &o->confine.plan,
                        try_again, &c);
  suite_release(&c.suite);
  store_close(c.store);
  return status;
}

static int try_main(int argc, char **argv) {
  Options o = {0};
  int first;
  rank_options_init(&o.rank);
  run_try_options_init(&o.tried);
  int status = options_parse(&cmd_try, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && first < argc)
    status =
        options_wrong(&cmd_try, "'%s': try takes no arguments", argv[first]);
  if (status == OPTIONS_TAKEN) {
    confine_options_end(&o.confine, &o.arena);
    status = run_try_check(&o.tried);
    if (status == EXIT_DONE)
      status = try_stored(&o);
  }
  array_release(&o.tried.without);
  rank_options_release(&o.rank);
  confine_options_release(&o.confine);
  arena_release(&o.arena);
  return status;
}

const Command cmd_try = {
    "try",
    "change one thing at a suspect, run again, show what repairs it",
    try_main,
    .usage = "[options]",
    .about =
        "Change one thing at a time at the lines that a stored session ranks "
        "first: a comparison, a constant, an operator, a variable, a clause of "
        "a condition, a statement left out. Run the tests that execute it "
        "again, and move lines up whose change repairs failing tests and "
        "breaks no passing one. The change is printed as a hint. Of a "
        "session of `culprit web` the requests are made again, with one "
        "script changed.\n\n"
        "Changed programs run confined: nothing that they write stays, and "
        "they connect nowhere.",
    .options = options,
    .end = "Exit status: 0 ranking printed, 2 usage, 3 no store or a corrupt "
           "one, 4 nothing failed or nothing to compare with, 130 "
           "interrupted (what was found is kept)."};
