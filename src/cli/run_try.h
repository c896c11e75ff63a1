// Experiments of `culprit try` and of the option --try of `run`, `input`, `near`
// and `web`: makes them, says what they came to, and prints the ranking.
#ifndef CULPRIT_CLI_RUN_TRY_H
#define CULPRIT_CLI_RUN_TRY_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/rank.h"
#include "explore/explorer.h"
#include "look/close_look.h"
#include "php/request.h"
#include "run/runner.h"
#include "run/visits.h"
#include "store/store.h"
#include "util/array.h"

typedef struct {
  double seconds;
  size_t runs, lines, memory;
  size_t seed;
  Texts without;       // kinds of experiments that are left out
  const char *capture; // when: a word
  bool no_diff, no_question, resume;
} RunTryOptions;

void run_try_options_init(RunTryOptions *o);
extern const Option run_try_options[]; // of a RunTryOptions
// Are the kinds that are left out known? EXIT_DONE, or EXIT_USAGE after a
// message.
int run_try_check(const RunTryOptions *o);

typedef struct {
  const RunTryOptions *options;
  bool quiet, json, show_progress;
  const SeenModule *modules; // NULL: find out
  size_t nmodules;
} RunTry;

// `run` runs the session's tests, with `context`. Returns an exit status: that
// of the ranking.
int run_try(const RunTry *t, RunTests *run, void *context, const Runner *like,
            Store *store, int64_t session, const RankOptions *rank);
// The same for a session of `culprit web`; `e` NULL: of a list.
int run_try_web(const RunTry *t, const Visits *v, const Requests *list,
                const Explorer *e, Store *store, int64_t session,
                const RankOptions *rank);

#endif
