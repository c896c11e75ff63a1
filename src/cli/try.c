// culprit try: changes one thing at a time at the suspects of a session and
// shows what repairs its failing tests.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine_options.h"
#include "cli/rank.h"
#include "cli/run.h"
#include "cli/run_try.h"

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
  int64_t session;
} TryCommand;

static int try_again(void *context, const Adapter *adapter,
                     const Runner *like) {
  TryCommand *c = context;
  const Options *o = c->options;
  RunTry t = {.options = &o->tried,
              .quiet = o->quiet,
              .json = !strcmp(o->rank.format, "json"),
              .show_progress = isatty(STDERR_FILENO) && !o->quiet};
  return run_try(&t, run_adapter_again, (void *)adapter, like, c->store,
                 c->session, &o->rank);
}

// Is there something to repair, and something to break? If not, the ranking
// says why.
static int check_session(Store *store, const Options *o, int64_t *session,
                         bool *useful) {
  Suite suite = {0};
  Err err = {0};
  if (store_load(store, o->rank.session, &suite, &err))
    return cli_error(&err);
  *session = suite.session;
  *useful = rank_has_spectra(&suite, VERDICT_FAIL) &&
            rank_has_spectra(&suite, VERDICT_PASS);
  suite_release(&suite);
  return EXIT_DONE;
}

static int try_stored(const Options *o) {
  TryCommand c = {.options = o};
  bool useful = false;
  int status = cli_open_store(&c.store, o->store, STORE_EXISTING);
  if (status != EXIT_DONE)
    return status;
  status = check_session(c.store, o, &c.session, &useful);
  if (status == EXIT_DONE && !useful)
    status = rank_print(c.store, &o->rank, stdout);
  else if (status == EXIT_DONE)
    status = run_stored(c.store, c.session, o->jobs, &o->confine.plan,
                        try_again, &c);
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
        "breaks no passing one. The change is printed as a hint.\n\n"
        "Changed programs run confined: nothing that they write stays, and "
        "they connect nowhere.",
    .options = options,
    .end = "Exit status: 0 ranking printed, 2 usage, 3 no store or a corrupt "
           "one, 4 nothing failed or nothing to compare with, 130 "
           "interrupted (what was found is kept)."};
