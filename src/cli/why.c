// culprit why FILE:LINE: the evidence for one line.
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "locate/account.h"
#include "locate/fault.h"
#include "report/why.h"

static const char HELP[] =
    "usage: culprit why [options] FILE:LINE\n"
    "\n"
    "Tells what speaks for and against one line: its rank and score by every\n"
    "method, the conditions and returned values on it that tell failing from\n"
    "passing runs, the tests that execute it, what ties with it.\n"
    "\n"
    "  --failure N       only this failure, as `culprit rank` numbers them\n"
    "  --other-failures exclude|pass\n"
    "                    as for rank\n"
    "  --json            for programs\n"
    "  --session N       see `culprit store list` (default: the newest)\n"
    "  --store DIR       default: $CULPRIT_STORE, else .culprit\n"
    "\n"
    "Exit: 0 told, 2 usage, 3 no store or a corrupt one, 4 nothing failed or\n"
    "nothing to compare with.";

typedef struct {
  const char *place, *store;
  int64_t session, failure;
  bool others_pass, json;
} Options;

// --- work -------------------------------------------------------------------

typedef struct {
  Suite suite;
  Workbench bench;
  Sources sources;
  Fault fault; // the line
  Account *accounts;
  bool *covers; // per run
} Work;

static void work_release(Work *w) {
  free(w->covers);
  accounts_free(w->accounts, w->accounts ? w->suite.nfailures : 0);
  fault_release(&w->fault);
  sources_release(&w->sources);
  if (w->bench.suite)
    workbench_release(&w->bench);
  suite_release(&w->suite);
}

static void note_coverage(void *ctx, size_t run, const Bitset *hits) {
  Work *w = ctx;
  w->covers[run] = bitset_has(hits, w->fault.places.items[0].statement);
}

static bool has_spectra(const Suite *suite) {
  for (size_t i = 0; i < suite->nruns; i++)
    if (suite->runs[i].has_spectrum)
      return true;
  return false;
}

// Is there a failure to speak of? Returns an exit status.
static int check_failures(const Suite *suite, const Options *o) {
  long long session = (long long)suite->session;
  if (!suite->nfailures)
    return cli_fail(EXIT_NO_VERDICT,
                    "nothing failed in session %lld: there is nothing to "
                    "explain",
                    session);
  if (!has_spectra(suite))
    return cli_fail(EXIT_NO_VERDICT,
                    "no run of session %lld left a spectrum: was the program "
                    "built with CC=culprit-cc? (`culprit doctor` checks the "
                    "set-up)",
                    session);
  if ((uint64_t)o->failure > suite->nfailures)
    return cli_fail(EXIT_USAGE, "--failure %lld: session %lld has %zu",
                    (long long)o->failure, session, suite->nfailures);
  return EXIT_DONE;
}

static int check_comparable(const Work *w, const Options *o) {
  for (size_t i = 0; i < w->suite.nfailures; i++) {
    const Ranking *r = &w->accounts[i].ranking;
    bool meant = !o->failure || (size_t)o->failure == i + 1;
    if (meant && r->failing && r->passing)
      return EXIT_DONE;
  }
  return cli_fail(EXIT_NO_VERDICT,
                  "no failing and passing runs of session %lld can be "
                  "compared: add tests that pass and run again",
                  (long long)w->suite.session);
}

// Returns an exit status.
static int gather(Work *w, Store *store, const Options *o) {
  Err err;
  if (store_load(store, o->session, &w->suite, &err))
    return cli_error(&err);
  int status = check_failures(&w->suite, o);
  if (status)
    return status;
  if (fault_add(&w->fault, &w->suite, o->place, ENTITY_STATEMENT, &err))
    return cli_fail(EXIT_USAGE, "%s", err.text);
  if (w->fault.places.len > 1)
    return cli_fail(EXIT_USAGE, "%s: one line at a time", o->place);
  LocateOptions options = {.by = ENTITY_STATEMENT,
                           .others_pass = o->others_pass};
  uint32_t statement = w->fault.places.items[0].statement;
  w->covers = mem_array(bool, w->suite.nruns);
  sources_init(&w->sources, &w->suite);
  workbench_init(&w->bench, store, &w->suite);
  if (accounts_make(&w->bench, statement, &options, &w->accounts, &err) ||
      store_each_spectrum(store, &w->suite, ENTITY_STATEMENT, note_coverage, w,
                          &err))
    return cli_error(&err);
  return check_comparable(w, o);
}

static int print(Work *w, const Options *o) {
  const FaultPlace *place = &w->fault.places.items[0];
  Why why = {.report = {.suite = &w->suite,
                        .deaths = &w->bench.deaths,
                        .sources = &w->sources},
             .source = place->source,
             .line = place->line,
             .statement = place->statement,
             .accounts = w->accounts,
             .only = (size_t)o->failure,
             .covers = w->covers};
  o->json ? why_json(&why, stdout) : why_text(&why, stdout);
  if (fflush(stdout) || ferror(stdout))
    return cli_fail(EXIT_ENVIRONMENT, "cannot write the report: %s",
                    strerror(errno));
  if (sources_check(&w->sources, place->source) == SOURCE_CHANGED)
    cli_warn("%s has changed since it was compiled: lines may have moved; "
             "build it and run the tests again",
             suite_path(&w->suite, place->source));
  return EXIT_DONE;
}

static int explain(const Options *o) {
  Store *store;
  Err err;
  char *dir = store_find(o->store);
  int rc = store_open(&store, dir, STORE_EXISTING, &err);
  free(dir);
  if (rc)
    return cli_error(&err);
  Work work = {0};
  int status = gather(&work, store, o);
  if (status == EXIT_DONE)
    status = print(&work, o);
  work_release(&work);
  store_close(store);
  return status;
}

// --- command line -----------------------------------------------------------

enum { OPT_FAILURE = 256, OPT_OTHERS, OPT_JSON, OPT_SESSION, OPT_STORE };

static const struct option long_options[] = {
    {"failure", required_argument, NULL, OPT_FAILURE},
    {"other-failures", required_argument, NULL, OPT_OTHERS},
    {"json", no_argument, NULL, OPT_JSON},
    {"session", required_argument, NULL, OPT_SESSION},
    {"store", required_argument, NULL, OPT_STORE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

// Returns -1 if the option's value is wrong.
static int take_option(Options *o, int opt, const char *value) {
  // clang-format off
  switch (opt) {
  case OPT_FAILURE: return cli_number(value, &o->failure);
  case OPT_OTHERS: return cli_others(value, &o->others_pass);
  case OPT_JSON: o->json = true; return 0;
  case OPT_SESSION: return cli_number(value, &o->session);
  case OPT_STORE: o->store = value; return 0;
  default: return -1;
  }
  // clang-format on
}

int cmd_why(int argc, char **argv) {
  Options o = {0};
  int opt, index = 0;
  while ((opt = getopt_long(argc, argv, "h", long_options, &index)) != -1) {
    if (opt == 'h') {
      puts(HELP);
      return EXIT_DONE;
    }
    if (opt == '?')
      return cli_usage_hint("why");
    if (take_option(&o, opt, optarg)) {
      cli_fail(EXIT_USAGE, "--%s %s: not a value it takes",
               long_options[index].name, optarg);
      return cli_usage_hint("why");
    }
  }
  if (argc - optind != 1) {
    cli_fail(EXIT_USAGE, "why takes one FILE:LINE");
    return cli_usage_hint("why");
  }
  o.place = argv[optind];
  return explain(&o);
}
