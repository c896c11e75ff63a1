// culprit rank: ranks a stored session again, another way. See rank.h for what
// it shares with `culprit run`.
#include "cli/rank.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli.h"
#include "history/last_changes.h"
#include "locate/cluster.h"
#include "locate/fault.h"
#include "locate/localizer.h"
#include "locate/near_note.h"
#include "locate/outmap.h"
#include "locate/try_note.h"
#include "process/words.h"
#include "report/report.h"
#include "since/changed_lines.h"
#include "tally/known.h"
#include "tally/lacking.h"

enum {
  WARNINGS_SHOWN = 10,
  CHANGES_TOLD = 100, // suspects whose last change is looked up
};

void rank_options_init(RankOptions *o) {
  *o = (RankOptions){
      .format = "text", .by = ENTITY_STATEMENT, .color = cli_color()};
}

void rank_options_release(RankOptions *o) {
  array_release(&o->only);
  array_release(&o->exclude);
  array_release(&o->faults);
  array_release(&o->tests);
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
  const Notes *tried; // of `culprit try`; NULL: not loaded
  NearTest *nearest;  // per failure; NULL: not needed
  size_t known;       // failures set aside
  LastChanges history;
  ChangedLines changed; // --since
} Work;

static void work_release(Work *w) {
  if (w->nearest)
    near_tests_release(w->nearest, w->suite.nfailures);
  free(w->nearest);
  last_changes_close(&w->history);
  changed_lines_release(&w->changed);
  sources_release(&w->sources);
  fault_release(&w->fault);
  localizer_close(&w->localizer);
  session_evidence_release(&w->evidence);
  suite_release(&w->suite);
}

bool rank_has_spectra(const Suite *suite, Verdict verdict) {
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

// What the command that made a web session was told. NULL: nothing.
static const char *told(const Suite *suite, const char *option) {
  Words words;
  Arena arena = {0};
  const char *value = NULL;
  size_t n = strlen(option);
  char *line = arena_strdup(&arena, suite->command);
  size_t argc = words_parse(&words, line, &arena) ? words.argc : 0;
  for (size_t i = 2; i < argc; i++) {
    const char *word = words.argv[i];
    if (!strcmp(word, option) && i + 1 < argc)
      value = words.argv[++i];
    else if (!strncmp(word, option, n) && word[n] == '=')
      value = word + n + 1;
  }
  Localizer m;
  if (value && !strcmp(option, "--method"))
    value = localizer_find(value, &m) ? m.name : NULL;
  else if (value)
    value = !strcmp(value, "pass") ? "pass" : "exclude";
  arena_release(&arena);
  return value;
}

OtherFailures rank_own_others(const Suite *suite, OtherFailures asked) {
  const char *own = asked == OTHERS_DEFAULT && is_web_session(suite)
                        ? told(suite, "--other-failures")
                        : NULL;
  return !own ? asked : !strcmp(own, "pass") ? OTHERS_PASS : OTHERS_EXCLUDE;
}

const char *rank_own_method(SessionEvidence *s, Err *err) {
  const char *command = s->suite->command ? s->suite->command : "";
  const Notes *tried = try_notes(s, err);
  if (!tried)
    return NULL;
  if (notes_exist(tried))
    return METHOD_TRY;
  if (text_starts(command, "culprit spec "))
    return METHOD_SPEC;
  const char *asked =
      is_web_session(s->suite) ? told(s->suite, "--method") : NULL;
  if (asked)
    return asked;
  return fused_applies(s->store, s->suite) ? METHOD_FUSED
                                           : method_standard(s->suite);
}

PathFilter rank_filter(const RankOptions *o) {
  return (PathFilter){o->only.items, o->only.len, o->exclude.items,
                      o->exclude.len};
}

static LocateOptions locate_options(const RankOptions *o) {
  size_t top = o->top ? o->top : report_find(o->format)->top;
  return (LocateOptions){
      .by = o->by,
      .entities = o->entities,
      .others = o->others,
      .confidence = o->confidence,
      .exit_score = o->exit_score ? formula_find(o->exit_score)->score : NULL,
      .explain = top,
      .filter = rank_filter(o),
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
  if (o->cluster != CLUSTER_NONE) // looks at single runs
    w->suite.nkept = 0;
  if (localizer_load(&w->localizer, &lacking, &err))
    return lacking ? cli_fail(EXIT_USAGE, "%s", err.text) : cli_error(&err);
  w->places = outmap_places(&w->evidence, &err);
  w->tried = w->places ? try_notes(&w->evidence, &err) : NULL;
  if (!w->tried)
    return cli_error(&err);
  if (o->cluster == CLUSTER_NONE)
    return EXIT_DONE;
  if (session_evidence_load(&w->evidence, 1u << ENTITY_STATEMENT, o->by, &err))
    return cli_error(&err);
  cluster_failures(&w->suite, &w->evidence.tally, o->cluster == CLUSTER_ALL);
  return EXIT_DONE;
}

static bool shown_by(const FailureGroup *g, const RunInfo *run,
                     const void *ctx) {
  (void)g;
  const Texts *tests = ctx;
  for (size_t i = 0; i < tests->len; i++)
    if (!strcmp(tests->items[i], run->test))
      return true;
  return false;
}

static const RunInfo *find_test(const Suite *suite, const char *name) {
  for (size_t i = 0; i < suite->nruns; i++)
    if (!strcmp(suite->runs[i].test, name))
      return &suite->runs[i];
  return NULL;
}

// --test: leaves the failures that these tests show. Returns an exit status.
static int keep_tests(Suite *suite, const Texts *tests) {
  for (size_t i = 0; i < tests->len; i++)
    if (!find_test(suite, tests->items[i]))
      return cli_fail(EXIT_USAGE,
                      "--test %s: session %lld has no such test; `culprit "
                      "rank` names the failing ones",
                      tests->items[i], (long long)suite->session);
  suite_filter_failures(suite, shown_by, tests);
  if (suite->nfailures)
    return EXIT_DONE;
  const RunInfo *run = find_test(suite, tests->items[0]);
  return cli_fail(EXIT_NO_VERDICT,
                  "--test %s: the verdict of this test is '%s', so there is "
                  "nothing to rank",
                  run->test, verdict_name(run->verdict));
}

// Takes out the failures that are not asked for. Returns an exit status.
static int select_failures(Work *w, Store *store, const RankOptions *o) {
  KnownFailures known = {0};
  Err err;
  if (o->known && known_load(&known, o->known, store, &err))
    return cli_error(&err);
  if (o->known)
    w->known = known_set_aside(&known, &w->suite).failures;
  known_release(&known);
  return o->tests.len ? keep_tests(&w->suite, &o->tests) : EXIT_DONE;
}

// Returns an exit status. Without any spectrum there is nothing to prepare.
static int prepare(Work *w, Store *store, const RankOptions *o,
                   const ReportFormat *format) {
  Err err;
  Localizer method;
  if (store_load(store, o->session, &w->suite, &err))
    return cli_error(&err);
  int selected = select_failures(w, store, o);
  if (selected != EXIT_DONE)
    return selected;
  last_changes_open(&w->history, w->suite.cwd);
  if (o->since && changed_lines_load(&w->changed, &w->suite, o->since, &err))
    return cli_fail(EXIT_USAGE, "%s", err.text);
  w->suite.endings_alike = o->endings_alike;
  for (size_t i = 0; i < w->suite.nsources; i++) {
    w->suite.sources[i].test &= !o->tests_alike;
    w->suite.sources[i].generated &= !o->generated_alike;
  }
  sources_init(&w->sources, &w->suite);
  session_evidence_init(&w->evidence, store, &w->suite);
  w->method = o->method ? o->method : rank_own_method(&w->evidence, &err);
  if (!w->method)
    return cli_error(&err);
  if (!rank_has_spectra(&w->suite, VERDICTS))
    return EXIT_DONE;
  LocateOptions options = locate_options(o);
  options.others = rank_own_others(&w->suite, o->others);
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
      .known = w->known,
      .notes = w->notes,
      .tried = w->tried,
      .root = getenv("GITHUB_WORKSPACE"),
  };
}

// Ranks one failure, with what the history says of it.
static int rank_failure(Work *w, const Report *r, const ReportFormat *format,
                        Ranking *out, Err *err) {
  if (localizer_rank(&w->localizer, out->failure, out, err))
    return -1;
  if (w->changed.suite)
    changed_lines_apply(&w->changed, out);
  size_t shown = report_shown(r, format, out);
  last_changes_tell(&w->history, &w->suite, out,
                    shown < CHANGES_TOLD ? shown : CHANGES_TOLD);
  return 0;
}

// Reports every failure and counts how many of them could be ranked. Returns an
// exit status.
static int report(Work *w, const RankOptions *o, const ReportFormat *format,
                  size_t *ranked, FILE *out) {
  Report r = report_of(w, o);
  r.summary = o->summary;
  r.more = o->more;
  r.more_close = o->more_close;
  Err err;
  int status = EXIT_DONE;
  Ranking together = {0};
  PlaceGroups groups = {0};
  suite_places(&w->suite, &groups);
  r.groups = &groups;
  bool one_fault = false;
  if (w->comparable && !is_web_session(&w->suite) &&
      together_rank(&w->localizer, &w->suite, &together, &one_fault, &err))
    status = cli_error(&err);
  r.together = one_fault ? &together : NULL;
  if (format->begin)
    format->begin(&r, out);
  if (o->gdb)
    report_gdb_begin(&r, o->gdb);
  for (size_t i = 0; status == EXIT_DONE && i < w->suite.nfailures; i++) {
    Ranking ranking = {.failure = i};
    SourceLoops loops = {0};
    r.loops = &loops;
    if (w->comparable && loops_running(&w->suite, &w->evidence.deaths,
                                       w->evidence.store, i, &loops, &err))
      status = cli_error(&err);
    else if (w->comparable && rank_failure(w, &r, format, &ranking, &err))
      status = cli_error(&err);
    else
      format->failure(&r, &ranking, out);
    if (o->gdb)
      report_gdb(&r, &ranking, o->gdb);
    *ranked += ranking.suspects.len > 0;
    array_release(&loops);
    ranking_release(&ranking);
  }
  if (format->end)
    format->end(&r, out);
  if (one_fault)
    ranking_release(&together);
  array_release(&groups);
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
    return cli_fail(
        EXIT_NO_VERDICT,
        "every failing test of session %lld is flaky, and flaky tests are not "
        "ranked; make the failure repeatable and run again",
        session);
  return cli_fail(EXIT_NO_VERDICT,
                  "nothing failed in session %lld, so there is nothing to "
                  "rank; add a test that shows the failure, or say what is "
                  "right with --expect, --reference or --oracle",
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
  if (!suite->nfailures)
    return cli_fail(EXIT_NO_VERDICT,
                    "only known failures in session %lld, so there is nothing "
                    "to rank",
                    session);
  if (!rank_has_spectra(suite, VERDICT_FAIL))
    return explain_no_spectrum(suite);
  if (!rank_has_spectra(suite, VERDICT_PASS))
    return cli_fail(EXIT_NO_VERDICT,
                    "session %lld has no passing run to compare with; add "
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
  else if (status == EXIT_DONE && !ranked && !o->none_ok)
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

static void list_methods(void) {
  puts("ef, ep: failing and passing runs that execute it; nf, np: those that\n"
       "do not; F = ef + nf, P = ep + np\n");
  for (size_t i = 0; i < localizer_count(); i++) {
    Localizer l = localizer_at(i);
    printf("  %-16s %s\n", l.name, l.doc);
  }
}

const char *rank_method_word(size_t n) {
  return n < localizer_count() ? localizer_at(n).name : NULL;
}

static int take_entities(const Option *o, void *field, const char *arg) {
  (void)o;
  unsigned *set = field;
  char *copy = mem_strdup(arg), *rest = copy, *word;
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

static int take_others(const Option *o, void *field, const char *arg) {
  (void)o;
  *(OtherFailures *)field = !strcmp(arg, "pass") ? OTHERS_PASS : OTHERS_EXCLUDE;
  return !strcmp(arg, "exclude") || !strcmp(arg, "pass") ? 0 : -1;
}

static int take_cluster(const Option *o, void *field, const char *arg) {
  (void)o;
  *(RankCluster *)field = arg ? CLUSTER_ALL : CLUSTER_SIGNATURE;
  return !arg || !strcmp(arg, "all") ? 0 : -1;
}

static int take_formula(const Option *o, void *field, const char *arg) {
  (void)o;
  *(const char **)field = arg;
  return formula_find(arg) ? 0 : -1;
}

static const OptionType option_entities = {take_entities,
                                           "kinds, separated by commas"};
static const OptionType option_others = {take_others, NULL};
static const OptionType option_cluster = {take_cluster, "nothing or all"};
static const OptionType option_formula = {take_formula,
                                          "a formula of --list-methods"};

const Option rank_files_options[] = {
    {"only", "PATH", &option_list, offsetof(RankOptions, only),
     "rank only files below PATH, of that name, or matching it as a glob"},
    {"exclude", "PATH", &option_list, offsetof(RankOptions, exclude),
     "leave such files out"},
    {0}};

const Option rank_shown_options[] = {
    {.rows = rank_files_options},
    {"top", "N|all", &option_top, offsetof(RankOptions, top),
     "suspects to print for each failure (default: 10)"},
    {.rows = option_colors, .at = offsetof(RankOptions, color)},
    {0}};

const Option rank_since_options[] = {
    {"since", "REF", &option_text, offsetof(RankOptions, since),
     "of equal scores, rank lines changed since this commit first, then lines "
     "that depend on them"},
    {0}};

const Option rank_known_options[] = {
    {"known", "FILE|SESSION", &option_text, offsetof(RankOptions, known),
     "set failures aside that were there before: those of a session, of a file "
     "written by `culprit rank --json`, or of a file with one signature or "
     "name of a test per line"},
    {0}};

const Option rank_others_options[] = {
    {"other-failures", "exclude|pass", &option_others,
     offsetof(RankOptions, others),
     "runs that show only other failures: leave them out, or count them as "
     "passing (default: exclude; pass for " METHOD_WEB ")"},
    {0}};

const Option rank_session_options[] = {
    {.rows = rank_others_options},
    {"session", "N", &option_number, offsetof(RankOptions, session),
     "session to use, as `culprit store list` numbers them (default: the "
     "newest)"},
    {0}};

typedef struct {
  RankOptions rank;
  const char *store, *gdb;
  bool list;
} Options;

static const Option options[] = {
    {.title = "Method"},
    {"method", "METHOD", &option_text, offsetof(Options, rank.method),
     "method (default: " METHOD_DEFAULT "; after `culprit web` " METHOD_WEB
     ", after `culprit spec` " METHOD_SPEC ", after `culprit try` " METHOD_TRY
     ", after `culprit input` " METHOD_FUSED
     " if the program's own tests are in the store)",
     .word = rank_method_word},
    {"list-methods", NULL, &option_flag, offsetof(Options, list),
     "print all methods with their definitions, and exit"},
    {"by", "statement|function|block|edge", &option_choice,
     offsetof(Options, rank.by), "what to list (default: statement)"},
    {"entities", "KINDS", &option_entities, offsetof(Options, rank.entities),
     "what scores it: kinds, separated by commas (default: for a statement, "
     "itself and what the session has of its conditions and returns, for "
     "cascade also of relations, pairs and slices; else the kind of --by)"},
    {"endings-alike", NULL, &option_flag, offsetof(Options, rank.endings_alike),
     "after `culprit input`, count passing runs that ended otherwise than the "
     "failing ones in full, not as an eighth"},
    {"tests-alike", NULL, &option_flag, offsetof(Options, rank.tests_alike),
     "rank test code (below tests/, test_*.c, ...) like all other code, not "
     "behind it"},
    {"generated-alike", NULL, &option_flag,
     offsetof(Options, rank.generated_alike),
     "rank files that a tool wrote (flex, bison, \"DO NOT EDIT\") like all "
     "other code, not behind it"},
    {.rows = rank_since_options, .at = offsetof(Options, rank)},
    {"confidence", NULL, &option_flag, offsetof(Options, rank.confidence),
     "order equal scores by confidence"},
    {"cluster", "[=all]", &option_cluster, offsetof(Options, rank.cluster),
     "split each failure, or with =all the failing runs together, by what the "
     "runs executed"},
    {"exit-score", "FORMULA", &option_formula,
     offsetof(Options, rank.exit_score),
     "formula that scores exit blocks, for cp"},
    {.title = "Runs and files"},
    {"test", "NAME", &option_list, offsetof(Options, rank.tests),
     "rank only the failures that this test shows; compare only its run with "
     "the passing ones"},
    {.rows = rank_known_options, .at = offsetof(Options, rank)},
    {.rows = rank_session_options, .at = offsetof(Options, rank)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {.rows = rank_files_options, .at = offsetof(Options, rank)},
    {.title = "Output"},
    {"top", "N|all", &option_top, offsetof(Options, rank.top),
     "suspects to print for each failure (default: 10 as text, else all; of "
     "`culprit web` as JSON, 20,000 for all failures together)"},
    {"json", NULL, &option_name, offsetof(Options, rank.format),
     "print JSON, for programs"},
    {"csv", NULL, &option_name, offsetof(Options, rank.format), "print CSV"},
    {"quickfix", NULL, &option_name, offsetof(Options, rank.format),
     "print file:line:column: message, which editors read"},
    {"sarif", NULL, &option_name, offsetof(Options, rank.format),
     "print SARIF 2.1.0, which code scanning reads"},
    {"junit", NULL, &option_name, offsetof(Options, rank.format),
     "print JUnit XML, which CI servers read"},
    {"github", NULL, &option_name, offsetof(Options, rank.format),
     "print annotations for GitHub Actions, ten at most, and append the list "
     "to GITHUB_STEP_SUMMARY; with --since, changed lines first"},
    {"gitlab", NULL, &option_name, offsetof(Options, rank.format),
     "print a code quality report, which GitLab shows in merge requests"},
    {"gdb", "FILE", &option_text, offsetof(Options, gdb),
     "write a breakpoint at each suspect shown to FILE as well, for gdb -x "
     "FILE"},
    {"fault", "FILE:LINE[,LINE]...", &option_list,
     offsetof(Options, rank.faults),
     "known fault: print its rank, its ties and the share of code to examine"},
    {.rows = option_colors, .at = offsetof(Options, rank.color)},
    {0}};

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

static int rank_stored(Options *o) {
  bool for_people = !strcmp(o->rank.format, "text");
  if (o->rank.faults.len && !for_people && strcmp(o->rank.format, "json"))
    return cli_fail(EXIT_USAGE, "--fault: only text and --json report it");
  if (open_summary(&o->rank))
    return EXIT_ENVIRONMENT;
  Store *store;
  int status = cli_open_store(&store, o->store, STORE_EXISTING);
  if (status == EXIT_DONE && o->gdb && !(o->rank.gdb = fopen(o->gdb, "w")))
    status =
        cli_fail(EXIT_ENVIRONMENT, "--gdb %s: %s", o->gdb, strerror(errno));
  if (status == EXIT_DONE)
    status = rank_print(store, &o->rank, stdout);
  store_close(store);
  if (o->rank.gdb && fclose(o->rank.gdb))
    status =
        cli_fail(EXIT_ENVIRONMENT, "--gdb %s: %s", o->gdb, strerror(errno));
  if (o->rank.summary && fclose(o->rank.summary))
    status = cli_fail(EXIT_ENVIRONMENT, "cannot write $GITHUB_STEP_SUMMARY: %s",
                      strerror(errno));
  return status;
}

static int rank_main(int argc, char **argv) {
  Options o = {0};
  int first;
  rank_options_init(&o.rank);
  int status = options_parse(&cmd_rank, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && o.list) {
    list_methods();
    status = EXIT_DONE;
  } else if (status == OPTIONS_TAKEN && first < argc) {
    status =
        options_wrong(&cmd_rank, "'%s': rank takes no arguments", argv[first]);
  } else if (status == OPTIONS_TAKEN) {
    status = rank_stored(&o);
  }
  rank_options_release(&o.rank);
  return status;
}

const Command cmd_rank = {
    "rank",
    "rank the stored runs again, with other options",
    rank_main,
    .usage = "[options]",
    .about = "Rank the runs of a stored session (`culprit run` makes one).",
    .options = options,
    .end = "Exit status: 0 ranking printed, 2 usage, 3 no store or a corrupt "
           "one, 4 nothing failed or nothing to compare with."};
