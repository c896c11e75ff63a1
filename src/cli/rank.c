// culprit rank: ranks a stored session again, another way. See rank.h for what
// it shares with `culprit run`.
#include "cli/rank.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "locate/cluster.h"
#include "locate/fault.h"
#include "locate/localizer.h"
#include "locate/near_note.h"
#include "locate/outmap.h"
#include "report/report.h"
#include "tally/lacking.h"

enum { WARNINGS_SHOWN = 10 };

void rank_options_init(RankOptions *o) {
  *o = (RankOptions){.format = "text", .by = ENTITY_STATEMENT};
}

void rank_options_release(RankOptions *o) {
  array_release(&o->only);
  array_release(&o->exclude);
  array_release(&o->faults);
}

// --- ranking ----------------------------------------------------------------

// Everything one report is made of.
typedef struct {
  Suite suite;
  const char *method;
  SessionEvidence evidence;
  OpenLocalizer localizer;
  bool comparable; // the localizer is open: some run has a spectrum
  Fault fault;
  Sources sources;
  const OutputPlaces *places;
  const Notes *notes; // of `culprit near`; NULL: not loaded
  NearTest *nearest;  // per failure; NULL: not looked for
} Work;

static void work_release(Work *w) {
  if (w->nearest)
    near_tests_release(w->nearest, w->suite.nfailures);
  free(w->nearest);
  sources_release(&w->sources);
  fault_release(&w->fault);
  localizer_close(&w->localizer);
  session_evidence_release(&w->evidence);
  suite_release(&w->suite);
}

// Does any run of this verdict have a spectrum? Any verdict: VERDICTS.
static bool has_spectra(const Suite *suite, Verdict verdict) {
  for (size_t i = 0; i < suite->nruns; i++)
    if (suite->runs[i].has_spectrum &&
        (verdict == VERDICTS || suite->runs[i].verdict == verdict))
      return true;
  return false;
}

static size_t count_verdict(const Suite *suite, Verdict verdict) {
  size_t n = 0;
  for (size_t i = 0; i < suite->nruns; i++)
    n += suite->runs[i].verdict == verdict;
  return n;
}

const char *rank_own_method(const Suite *suite) {
  const char *command = suite->command ? suite->command : "";
  return text_starts(command, "culprit input ")  ? INPUT_METHOD
         : text_starts(command, "culprit spec ") ? METHOD_SPEC
                                                 : METHOD_DEFAULT;
}

static LocateOptions locate_options(const RankOptions *o) {
  size_t top = o->top ? o->top : report_find(o->format)->top;
  return (LocateOptions){
      .by = o->by,
      .entities = o->entities,
      .others_pass = o->other_failures_pass,
      .confidence = o->confidence,
      .exit_score = o->exit_score ? formula_find(o->exit_score)->score : NULL,
      .explain = top,
      .filter = {.only = o->only.items,
                 .nonly = o->only.len,
                 .exclude = o->exclude.items,
                 .nexclude = o->exclude.len},
  };
}

static int find_nearest(Work *w, Store *store, const ReportFormat *format,
                        Err *err) {
  if (!w->comparable || !format->nearest)
    return 0;
  w->nearest = mem_array(NearTest, w->suite.nfailures + 1);
  w->notes = near_notes(&w->evidence, err);
  if (!w->notes)
    return -1;
  return near_tests_find(w->nearest, w->suite.nfailures, store, &w->suite, err);
}

// Returns an exit status.
static int load(Work *w, const RankOptions *o) {
  Err err;
  bool lacking;
  if (localizer_load(&w->localizer, &lacking, &err))
    return lacking ? cli_fail(EXIT_USAGE, "%s", err.text) : cli_error(&err);
  w->places = outmap_places(&w->evidence, &err);
  if (!w->places)
    return cli_error(&err);
  if (o->cluster == CLUSTER_NONE)
    return EXIT_DONE;
  if (session_evidence_load(&w->evidence, 1u << ENTITY_STATEMENT, o->by, &err))
    return cli_error(&err);
  cluster_failures(&w->suite, &w->evidence.tally, o->cluster == CLUSTER_ALL);
  return EXIT_DONE;
}

// Returns an exit status. Without any spectrum there is nothing to prepare.
static int prepare(Work *w, Store *store, const RankOptions *o,
                   const ReportFormat *format) {
  Err err;
  Localizer method;
  if (store_load(store, o->session, &w->suite, &err))
    return cli_error(&err);
  w->suite.endings_alike = o->endings_alike;
  for (size_t i = 0; o->tests_alike && i < w->suite.nsources; i++)
    w->suite.sources[i].test = false;
  w->method = o->method ? o->method : rank_own_method(&w->suite);
  sources_init(&w->sources, &w->suite);
  session_evidence_init(&w->evidence, store, &w->suite);
  if (!has_spectra(&w->suite, VERDICTS))
    return EXIT_DONE;
  LocateOptions options = locate_options(o);
  bool known = localizer_find(w->method, &method);
  assert(known);
  if (localizer_open(&w->localizer, &w->evidence, &method, &options, &err))
    return cli_fail(EXIT_USAGE, "%s", err.text);
  w->comparable = true;
  for (size_t i = 0; i < o->faults.len; i++)
    if (fault_add(&w->fault, &w->suite, o->faults.items[i], o->by, &err))
      return cli_fail(EXIT_USAGE, "--fault %s", err.text);
  int status = load(w, o);
  if (status == EXIT_DONE && find_nearest(w, store, format, &err))
    status = cli_error(&err);
  return status;
}

static Report report_of(Work *w, const RankOptions *o) {
  unsigned entities = w->localizer.options.entities;
  return (Report){
      .suite = &w->suite,
      .method = w->method,
      .by = o->by,
      .entities =
          (entities ? entities : 1u << o->by) & kinds_present(&w->suite),
      .executed = w->comparable ? localizer_executed(&w->localizer) : 0,
      .executable = w->comparable ? localizer_executable(&w->localizer) : 0,
      .top = o->top,
      .color = o->color,
      .fault = w->fault.places.len ? &w->fault : NULL,
      .deaths = &w->evidence.deaths,
      .places = w->places,
      .sources = &w->sources,
      .nearest = w->nearest,
      .notes = w->notes,
      .root = getenv("GITHUB_WORKSPACE"),
  };
}

// Reports every failure and counts how many of them could be ranked. Returns an
// exit status.
static int report(Work *w, const RankOptions *o, const ReportFormat *format,
                  size_t *ranked, FILE *out) {
  Report r = report_of(w, o);
  r.summary = o->summary;
  r.more = o->more;
  Err err;
  int status = EXIT_DONE;
  if (format->begin)
    format->begin(&r, out);
  for (size_t i = 0; status == EXIT_DONE && i < w->suite.nfailures; i++) {
    Ranking ranking = {.failure = i};
    if (w->comparable && localizer_rank(&w->localizer, i, &ranking, &err))
      status = cli_error(&err);
    else
      format->failure(&r, &ranking, out);
    *ranked += ranking.suspects.len > 0;
    ranking_release(&ranking);
  }
  if (format->end)
    format->end(&r, out);
  return status;
}

static void warn_changed(const Work *w) {
  size_t n = 0;
  for (uint32_t i = 0; i < w->suite.nsources; i++)
    if (sources_state(&w->sources, i) == SOURCE_CHANGED && n++ < WARNINGS_SHOWN)
      cli_warn("%s has changed since it was compiled: lines may have moved; "
               "build it and run the tests again",
               suite_path(&w->suite, i));
  if (n > WARNINGS_SHOWN)
    cli_warn("%zu more file%s changed since compiled", n - WARNINGS_SHOWN,
             n - WARNINGS_SHOWN == 1 ? " has" : "s have");
}

static int explain_no_failure(const Suite *suite) {
  long long session = (long long)suite->session;
  if (!suite->nruns)
    return cli_fail(EXIT_NO_VERDICT,
                    "session %lld has no runs: give `culprit run` some tests",
                    session);
  if (count_verdict(suite, VERDICT_FLAKY))
    return cli_fail(EXIT_NO_VERDICT,
                    "no test failed each time it ran in session %lld "
                    "(flaky tests are not ranked): make the failure "
                    "repeatable and run again",
                    session);
  return cli_fail(EXIT_NO_VERDICT,
                  "nothing failed in session %lld, so there is nothing to "
                  "rank; add a test that shows the failure, or tell `culprit "
                  "run` what is right (--expect, --reference, --oracle)",
                  session);
}

static int explain_no_spectrum(const Suite *suite) {
  const char *why = "was the program built with CC=culprit-cc?";
  for (size_t i = 0; i < suite->nruns; i++)
    if (suite->runs[i].verdict == VERDICT_FAIL && suite->runs[i].note)
      why = suite->runs[i].note;
  return cli_fail(EXIT_NO_VERDICT,
                  "no failing run of session %lld left a spectrum: %s "
                  "(`culprit doctor` checks the set-up)",
                  (long long)suite->session, why);
}

// Nothing could be ranked: says why, and what to do next.
static int explain(const Work *w, const RankOptions *o) {
  const Suite *suite = &w->suite;
  long long session = (long long)suite->session;
  if (!count_verdict(suite, VERDICT_FAIL))
    return explain_no_failure(suite);
  if (!has_spectra(suite, VERDICT_FAIL))
    return explain_no_spectrum(suite);
  if (!has_spectra(suite, VERDICT_PASS))
    return cli_fail(EXIT_NO_VERDICT,
                    "no run of session %lld passes to compare with: add "
                    "tests that pass and run again",
                    session);
  return cli_fail(EXIT_NO_VERDICT,
                  "no %s of the chosen files was executed in session %lld",
                  entity_kind_name(o->by), session);
}

static int print(Work *w, const RankOptions *o, const ReportFormat *format,
                 FILE *out) {
  size_t ranked = 0;
  int status = report(w, o, format, &ranked, out);
  if (fflush(out) || ferror(out))
    status = cli_fail(EXIT_ENVIRONMENT, "cannot write the report: %s",
                      strerror(errno));
  else if (status == EXIT_DONE && !ranked)
    status = explain(w, o);
  warn_changed(w);
  return status;
}

int rank_print(Store *store, const RankOptions *o, FILE *out) {
  const ReportFormat *format = report_find(o->format);
  Localizer method;
  if (o->method && !localizer_find(o->method, &method))
    return cli_fail(EXIT_USAGE,
                    "no method '%s'; `culprit rank --list-methods` lists them",
                    o->method);
  if (!format)
    return cli_fail(EXIT_USAGE, "no report format '%s'", o->format);
  Work work = {0};
  int status = prepare(&work, store, o, format);
  if (status == EXIT_DONE)
    status = print(&work, o, format, out);
  work_release(&work);
  return status;
}

// --- command line -----------------------------------------------------------

static void print_help(void) {
  puts("usage: culprit rank [options]\n"
       "\n"
       "Ranks the runs of a stored session (`culprit run` makes one).\n"
       "\n"
       "  --method M        how (default: " METHOD_DEFAULT "; after `culprit\n"
       "                    input`: " INPUT_METHOD
       "; after `culprit spec`: " METHOD_SPEC ")\n"
       "  --list-methods    show all methods\n"
       "  --by KIND         what is listed: statement (default), function,\n"
       "                    block or edge\n"
       "  --entities KINDS  what scores it: kinds, separated by commas\n"
       "                    (default: for a statement itself and what the\n"
       "                    session has of its conditions and returns; else\n"
       "                    as --by; a function can take the best of any)\n"
       "  --other-failures exclude|pass\n"
       "                    runs that only fail in another way: left out\n"
       "                    (default), or counted as passing\n"
       "  --endings-alike   after `culprit input`: passing runs that ended\n"
       "                    otherwise than the failing ones count in full,\n"
       "                    not an eighth\n"
       "  --tests-alike     code of tests (below tests/, test_*.c, ...) is\n"
       "                    ranked like the rest, not behind it\n"
       "  --confidence      order equal scores by confidence\n"
       "  --cluster[=all]   split failures by what their runs executed: each\n"
       "                    kind of failure, or all failing runs together\n"
       "  --exit-score F    cp: score of exit blocks, a formula\n"
       "  --only PATH       rank only files below PATH, of that name, or\n"
       "                    matching it as a glob; may be repeated\n"
       "  --exclude PATH    rank no such files; may be repeated\n"
       "  --top N|all       how many to show (text: 10, others: all)\n"
       "  --json, --csv, --quickfix, --sarif, --junit\n"
       "                    another output format\n"
       "  --github          annotations for GitHub Actions (10 at most), the\n"
       "                    list into $GITHUB_STEP_SUMMARY\n"
       "  --fault FILE:LINE[,LINE]...\n"
       "                    say how far down the list this known fault is;\n"
       "                    may be repeated\n"
       "  --session N       see `culprit store list` (default: the newest)\n"
       "  --store DIR       default: $CULPRIT_STORE, else .culprit\n"
       "  --color auto|always|never\n"
       "\n"
       "Exit: 0 ranking printed, 2 usage, 3 no store or a corrupt one,\n"
       "4 nothing failed or nothing to compare with.");
}

static void list_methods(void) {
  puts("ef, ep: failing and passing runs that execute it; nf, np: those that\n"
       "do not; F = ef + nf, P = ep + np\n");
  for (size_t i = 0; i < localizer_count(); i++) {
    Localizer l = localizer_at(i);
    printf("  %-16s %s\n", l.name, l.doc);
  }
}

enum {
  OPT_METHOD = 256,
  OPT_LIST,
  OPT_TOP,
  OPT_BY,
  OPT_ENTITIES,
  OPT_OTHERS,
  OPT_ENDINGS,
  OPT_TESTS,
  OPT_ONLY,
  OPT_EXCLUDE,
  OPT_CONFIDENCE,
  OPT_CLUSTER,
  OPT_EXIT_SCORE,
  OPT_FORMAT, // its name is the format's
  OPT_FAULT,
  OPT_SESSION,
  OPT_STORE,
  OPT_COLOR,
};

static const struct option long_options[] = {
    {"method", required_argument, NULL, OPT_METHOD},
    {"list-methods", no_argument, NULL, OPT_LIST},
    {"top", required_argument, NULL, OPT_TOP},
    {"by", required_argument, NULL, OPT_BY},
    {"entities", required_argument, NULL, OPT_ENTITIES},
    {"other-failures", required_argument, NULL, OPT_OTHERS},
    {"endings-alike", no_argument, NULL, OPT_ENDINGS},
    {"tests-alike", no_argument, NULL, OPT_TESTS},
    {"only", required_argument, NULL, OPT_ONLY},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"confidence", no_argument, NULL, OPT_CONFIDENCE},
    {"cluster", optional_argument, NULL, OPT_CLUSTER},
    {"exit-score", required_argument, NULL, OPT_EXIT_SCORE},
    {"json", no_argument, NULL, OPT_FORMAT},
    {"csv", no_argument, NULL, OPT_FORMAT},
    {"quickfix", no_argument, NULL, OPT_FORMAT},
    {"sarif", no_argument, NULL, OPT_FORMAT},
    {"junit", no_argument, NULL, OPT_FORMAT},
    {"github", no_argument, NULL, OPT_FORMAT},
    {"fault", required_argument, NULL, OPT_FAULT},
    {"session", required_argument, NULL, OPT_SESSION},
    {"store", required_argument, NULL, OPT_STORE},
    {"color", required_argument, NULL, OPT_COLOR},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int parse_top(const char *text, size_t *top) {
  int64_t n;
  if (!strcmp(text, "all")) {
    *top = SIZE_MAX;
    return 0;
  }
  if (cli_number(text, &n))
    return -1;
  *top = (size_t)n;
  return 0;
}

// What can be listed.
static int parse_by(const char *text, EntityKind *by) {
  int kind = entity_kind_parse(text);
  if (kind < 0 || kind > ENTITY_EDGE)
    return -1;
  *by = (EntityKind)kind;
  return 0;
}

static int parse_entities(const char *text, unsigned *set) {
  char *copy = mem_strdup(text), *rest = copy, *word;
  int rc = 0;
  *set = 0;
  while (!rc && (word = strsep(&rest, ","))) {
    int kind = entity_kind_parse(word);
    if (kind < 0)
      rc = -1;
    else
      *set |= 1u << kind;
  }
  free(copy);
  return rc;
}

static int parse_cluster(const char *text, RankCluster *cluster) {
  *cluster = text ? CLUSTER_ALL : CLUSTER_SIGNATURE;
  return !text || !strcmp(text, "all") ? 0 : -1;
}

static int parse_formula(const char *text, const char **name) {
  *name = text;
  return formula_find(text) ? 0 : -1;
}

// What the command line adds to the options of a ranking.
typedef struct {
  RankOptions rank;
  const char *store, *color;
} Command;

// Returns -1 if the option's value is wrong.
static int take_option(Command *c, const struct option *opt,
                       const char *value) {
  RankOptions *o = &c->rank;
  // clang-format off
  switch (opt->val) {
  case OPT_METHOD: o->method = value; return 0;
  case OPT_TOP: return parse_top(value, &o->top);
  case OPT_BY: return parse_by(value, &o->by);
  case OPT_ENTITIES: return parse_entities(value, &o->entities);
  case OPT_OTHERS: return cli_others(value, &o->other_failures_pass);
  case OPT_ENDINGS: o->endings_alike = true; return 0;
  case OPT_TESTS: o->tests_alike = true; return 0;
  case OPT_ONLY: array_push(&o->only, value); return 0;
  case OPT_EXCLUDE: array_push(&o->exclude, value); return 0;
  case OPT_CONFIDENCE: o->confidence = true; return 0;
  case OPT_CLUSTER: return parse_cluster(value, &o->cluster);
  case OPT_EXIT_SCORE: return parse_formula(value, &o->exit_score);
  case OPT_FORMAT: o->format = opt->name; return 0;
  case OPT_FAULT: array_push(&o->faults, value); return 0;
  case OPT_SESSION: return cli_number(value, &o->session);
  case OPT_STORE: c->store = value; return 0;
  case OPT_COLOR: c->color = value; return 0;
  default: return -1;
  }
  // clang-format on
}

// Where GitHub Actions wants the summary of the step. -1 after a message.
static int open_summary(RankOptions *o) {
  const char *path = getenv("GITHUB_STEP_SUMMARY");
  if (strcmp(o->format, "github") != 0 || !path || !*path)
    return 0;
  o->summary = fopen(path, "a");
  if (!o->summary)
    cli_fail(EXIT_ENVIRONMENT, "cannot write $GITHUB_STEP_SUMMARY (%s): %s",
             path, strerror(errno));
  return o->summary ? 0 : -1;
}

static int rank_stored(Command *c) {
  int color = cli_color(c->color, STDOUT_FILENO);
  if (color < 0)
    return cli_fail(EXIT_USAGE, "--color %s: expected auto, always or never",
                    c->color);
  c->rank.color = color;
  bool for_people = !strcmp(c->rank.format, "text");
  if (c->rank.faults.len && !for_people && strcmp(c->rank.format, "json"))
    return cli_fail(EXIT_USAGE, "--fault is reported as text or --json only");
  if (open_summary(&c->rank))
    return EXIT_ENVIRONMENT;
  char *dir = store_find(c->store);
  Store *store;
  Err err;
  int status = store_open(&store, dir, STORE_EXISTING, &err);
  free(dir);
  if (status) {
    status = cli_error(&err);
  } else {
    status = rank_print(store, &c->rank, stdout);
    store_close(store);
  }
  if (c->rank.summary && fclose(c->rank.summary))
    status = cli_fail(EXIT_ENVIRONMENT, "cannot write $GITHUB_STEP_SUMMARY: %s",
                      strerror(errno));
  return status;
}

int cmd_rank(int argc, char **argv) {
  Command c = {0};
  rank_options_init(&c.rank);
  int opt, index = 0, status = -1;
  while (status < 0 &&
         (opt = cli_getopt(argc, argv, "h", long_options, &index)) != -1) {
    if (opt == 'h' || opt == OPT_LIST) {
      opt == 'h' ? print_help() : list_methods();
      status = EXIT_DONE;
    } else if (opt == '?') {
      status = cli_usage_hint("rank");
    } else if (take_option(&c, &long_options[index], optarg)) {
      cli_fail(EXIT_USAGE, "--%s %s: not a value it takes",
               long_options[index].name, optarg);
      status = cli_usage_hint("rank");
    }
  }
  if (status < 0 && optind < argc) {
    cli_fail(EXIT_USAGE, "'%s': rank takes no arguments", argv[optind]);
    status = cli_usage_hint("rank");
  }
  if (status < 0)
    status = rank_stored(&c);
  rank_options_release(&c.rank);
  return status;
}
