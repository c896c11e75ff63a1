// What `culprit input` and `culprit near` share: one failing input, how it is
// run and judged, and the session in which it is explored.
//
//   GivenOptions o;
//   given_init(&o, 500);
//   ... options_parse with the tables below and own options beside ...
//   given_check(&o, &cmd_input, argc, argv, first);
//   GivenJob job = {.name = "input", .work = explore, .context = &mine};
//   int status = given_run(&o, &job, argv);
//   given_release(&o);
#ifndef CULPRIT_COMMAND_GIVEN_H
#define CULPRIT_COMMAND_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/confine_options.h"
#include "command/options.h"
#include "input/search.h"
#include "model/input.h"
#include "model/suite.h"
#include "run/runner.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  RunOptions run;
  double budget;  // seconds
  double timeout; // of one run, if --timeout does not say
  size_t max_tests;
  bool no_reduce, no_fork_server, quiet;
  const char *store;
  Texts env;
  ConfineOptions confine;
  Arena arena;
} GivenOptions;

void given_init(GivenOptions *o, size_t max_tests);
void given_release(GivenOptions *o);

// --- options ----------------------------------------------------------------

// --reference and --oracle, of a RunOptions.
extern const Option oracle_options[];
// Of a GivenOptions: which inputs there are; how they are run and judged.
extern const Option given_input_options[], given_run_options[];

// The program and its arguments: argv from `first` on. OPTIONS_TAKEN, or
// EXIT_USAGE after a message.
int given_check(GivenOptions *o, const Command *c, int argc, char **argv,
                int first);

// --- the session ------------------------------------------------------------

typedef struct {
  const char *name; // of the command
  const Strategy *strategy;
  unsigned parts; // PART_* (input/frontier.h)
  int (*after)(void *context, const InputSearch *e,
               Err *err); // explore.h; or NULL
  // The input fails and has been made smaller. Returns an exit status.
  int (*work)(void *context, InputSearch *e);
  // The session is complete; called if `work` returned EXIT_DONE. NULL: that is
  // the end. Returns an exit status.
  int (*finish)(void *context, Runner *r);
  void *context;
} GivenJob;

// argv: of the command, for the store. Returns an exit status; EXIT_INTERRUPTED
// after a message.
int given_run(GivenOptions *o, const GivenJob *job, char **argv);

// --- a stored session ---------------------------------------------------------

// Did `culprit input` or `near` make the session?
bool given_made(const Suite *suite);
// Prepares the tests that it made for being run again (search_run_again), by the
// command line that is stored with it, and calls `work`; `like` has its options,
// oracle and tests. Runs are to be confined as `confine` says; `jobs` 0: as many
// at once. Returns an exit status.
int given_stored(Store *store, const Suite *suite, int jobs,
                 const ConfinePlan *confine,
                 int (*work)(void *context, const Runner *like), void *context);
// The options of one command line, argv[0] the command: OPTIONS_TAKEN, or
// EXIT_USAGE after a message. To be released.
typedef int GivenParse(GivenOptions *o, int argc, char **argv);
GivenParse input_given, near_given;

// --- words --------------------------------------------------------------------

// How far the input was minimised.
void given_print_reduction(const InputSearch *e, FILE *out);
// Removes the progress line, before something is printed.
void given_progress_end(void);

#endif
