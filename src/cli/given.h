// What `culprit input` and `culprit near` share: one failing input, how it is
// run and judged, and the session in which it is explored.
//
//   GivenOptions o;
//   given_init(&o, 500);
//   ... given_take(&o, opt, arg) for the options below, own ones beside ...
//   given_check(&o, argc, argv, first);
//   GivenJob job = {.name = "input", .work = explore, .context = &mine};
//   int status = given_run(&o, &job, argv);
//   given_release(&o);
#ifndef CULPRIT_CLI_GIVEN_H
#define CULPRIT_CLI_GIVEN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/confine_options.h"
#include "input/explore.h"
#include "model/input.h"
#include "run/runner.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  RunOptions run;
  double budget; // seconds
  size_t max_tests;
  bool no_reduce, no_fork_server, quiet, help;
  const char *store;
  ARRAY(const char *) env;
  ConfineOptions confine;
  Arena arena;
} GivenOptions;

void given_init(GivenOptions *o, size_t max_tests);
void given_release(GivenOptions *o);

// --- options ----------------------------------------------------------------

enum {
  GIVEN_BUDGET = 256,
  GIVEN_MAX_TESTS,
  GIVEN_ENV,
  GIVEN_NO_REDUCE,
  GIVEN_REFERENCE,
  GIVEN_ORACLE,
  GIVEN_TIMEOUT,
  GIVEN_STORE,
  GIVEN_NO_FORK_SERVER,
  GIVEN_ALLOW_WRITE,
  GIVEN_ALLOW_CONNECT,
  GIVEN_OWN // a command's own options from here on
};

#define GIVEN_SHORT_OPTIONS "+j:qh"
#define GIVEN_LONG_OPTIONS                                                     \
  {"budget", required_argument, NULL, GIVEN_BUDGET},                           \
      {"max-tests", required_argument, NULL, GIVEN_MAX_TESTS},                 \
      {"env", required_argument, NULL, GIVEN_ENV},                             \
      {"no-reduce", no_argument, NULL, GIVEN_NO_REDUCE},                       \
      {"no-fork-server", no_argument, NULL, GIVEN_NO_FORK_SERVER},             \
      {"reference", required_argument, NULL, GIVEN_REFERENCE},                 \
      {"allow-write", required_argument, NULL, GIVEN_ALLOW_WRITE},             \
      {"allow-connect", required_argument, NULL, GIVEN_ALLOW_CONNECT},         \
      {"oracle", required_argument, NULL, GIVEN_ORACLE},                       \
      {"timeout", required_argument, NULL, GIVEN_TIMEOUT},                     \
      {"jobs", required_argument, NULL, 'j'},                                  \
      {"store", required_argument, NULL, GIVEN_STORE},                         \
      {"quiet", no_argument, NULL, 'q'}, {                                     \
    "help", no_argument, NULL, 'h'                                             \
  }

// -1: `arg` is nothing the option takes, or the option is none of these.
int given_take(GivenOptions *o, int opt, const char *arg);
// The program and its arguments: argv from `first` on. -1 after a message.
int given_check(GivenOptions *o, int argc, char **argv, int first);

// --- the session ------------------------------------------------------------

typedef struct {
  const char *name; // of the command
  const Strategy *strategy;
  int (*after)(void *context, const Explorer *e,
               Err *err); // explore.h; or NULL
  // The input fails and has been made smaller. Returns an exit status.
  int (*work)(void *context, Explorer *e);
  // The session is complete; called if `work` returned EXIT_DONE. NULL: that is
  // the end. Returns an exit status.
  int (*finish)(void *context, Runner *r);
  void *context;
} GivenJob;

// argv: of the command, for the store. Returns an exit status; EXIT_INTERRUPTED
// after a message.
int given_run(GivenOptions *o, const GivenJob *job, char **argv);

// Removes the progress line, before something is printed.
void given_progress_end(void);

#endif
