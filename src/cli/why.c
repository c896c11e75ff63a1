// culprit why FILE:LINE: the evidence for one line, or of the best ranked line
// of a function.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rank.h"
#include "command/cli.h"
#include "history/last_changes.h"
#include "locate/account.h"
#include "locate/fault.h"
#include "locate/near_note.h"
#include "locate/outmap.h"
#include "locate/spec_note.h"
#include "locate/try_note.h"
#include "process/words.h"
#include "report/why.h"
#include "tally/twins.h"
#include "util/capture.h"

typedef struct {
  const char *place, *store;
  RankOptions rank; // session, other failures
  int64_t failure;
  bool json, near, all;
} Options;

// --- work -------------------------------------------------------------------

typedef struct {
  Suite suite;
  SessionEvidence evidence;
  const OutputPlaces *places;
  const char *method;                // of `culprit rank`
  const Notes *near, *cores, *tried; // of `culprit near`, `spec`, `try`
  Sources sources;
  Fault fault;          // the line
  const char *function; // whose best ranked line it is; NULL: it was named
  Account *accounts;
  Twins twins;
  NearTest *nearest;      // per failure
  Notes nearby;           // found by --near
  const NearNote **notes; // per failure
} Work;

static void work_release(Work *w) {
  twins_release(&w->twins);
  if (w->nearest)
    near_tests_release(w->nearest, w->suite.nfailures);
  free(w->nearest);
  free(w->notes);
  notes_release(&w->nearby);
  accounts_free(w->accounts, w->accounts ? w->suite.nfailures : 0);
  fault_release(&w->fault);
  sources_release(&w->sources);
  session_evidence_release(&w->evidence);
  suite_release(&w->suite);
}

// Is there a failure to explain? Returns an exit status.
static int check_failures(const Suite *suite, const Options *o) {
  long long session = (long long)suite->session;
  if (!suite->nfailures)
    return cli_fail(
        EXIT_NO_VERDICT,
        "nothing failed in session %lld, so there is nothing to explain",
        session);
  if (!rank_has_spectra(suite, VERDICTS))
    return cli_fail(EXIT_NO_VERDICT,
                    "no run of session %lld left a spectrum: was the program "
                    "built with CC=culprit-cc? (`culprit doctor` checks the "
                    "set-up)",
                    session);
  if ((uint64_t)o->failure > suite->nfailures)
    return cli_fail(EXIT_USAGE,
                    "--failure %lld: session %lld has %zu failure%s",
                    (long long)o->failure, session, suite->nfailures,
                    plural(suite->nfailures));
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

// --- the nearest passing run ------------------------------------------------

// The options of the session's command that say what is right.
static void add_oracle(const Suite *suite, Str *out, Arena *arena) {
  static const char *const names[] = {"--reference", "--oracle", "--timeout"};
  Words words;
  if (!words_parse(&words, suite->command, arena))
    return;
  for (size_t i = 0; i < words.argc; i++) {
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
      const char *word = words.argv[i], *name = names[k];
      size_t n = strlen(name);
      bool alone = !strcmp(word, name) && i + 1 < words.argc;
      if (!alone && (strncmp(word, name, n) != 0 || word[n] != '='))
        continue;
      str_addf(out, " %s ", name);
      words_quote(out, alone ? words.argv[i + 1] : word + n + 1);
    }
  }
}

// Where --near keeps its sessions: they are none of the user's.
static char *nearby_dir(const char *store) {
  return mem_printf("%s/nearby", store);
}

// `culprit near` on a failing test. What it finds is read afterwards; a test
// that it can make nothing of is none that helps.
static void search_near(const Suite *suite, const RunInfo *run,
                        const char *store) {
  Arena arena = {0};
  Str line = {0}, said = {0};
  char *dir = nearby_dir(store);
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n < 0 ? 0 : n] = 0;
  str_add(&line, "cd ");
  words_quote(&line, suite->cwd);
  str_add(&line, " && exec ");
  words_quote(&line, self);
  str_add(&line, " near -q --json --store ");
  words_quote(&line, cli_absolute(&arena, dir));
  add_oracle(suite, &line, &arena);
  str_addf(&line, " -- %s", run->command);
  char *argv[] = {"/bin/sh", "-c", line.data, NULL};
  if (command_capture(argv, NULL, &said) != EXIT_FAILED)
    cli_warn("test %s: culprit near found no passing run", run->test);
  str_release(&line);
  str_release(&said);
  free(dir);
  arena_release(&arena);
}

static void find_notes(Work *w) {
  for (size_t i = 0; i < w->suite.nfailures; i++) {
    const char *signature = w->suite.failures[i].signature;
    const NearNote *note = notes_find(w->near, signature);
    w->notes[i] = note ? note : notes_find(&w->nearby, signature);
  }
}

static int load_nearby(Work *w, const char *store, Err *err) {
  char *dir = nearby_dir(store);
  notes_release(&w->nearby);
  int rc = notes_load(&w->nearby, &near_note_kind, dir, &w->suite, err);
  free(dir);
  find_notes(w);
  return rc;
}

static int gather_near(Work *w, Store *store, const Options *o, Err *err) {
  const Suite *suite = &w->suite;
  w->notes = mem_array(const NearNote *, suite->nfailures);
  w->near = near_notes(&w->evidence, err);
  if (!w->near || load_nearby(w, store_dir(store), err))
    return -1;
  bool searched = false;
  for (size_t i = 0; o->near && i < suite->nfailures; i++) {
    const FailureGroup *g = &suite->failures[i];
    bool meant = !o->failure || (size_t)o->failure == i + 1;
    if (!meant || w->notes[i] || !g->nruns)
      continue;
    search_near(suite, &suite->runs[g->runs[0]], store_dir(store));
    searched = true;
  }
  return searched ? load_nearby(w, store_dir(store), err) : 0;
}

// --- all of it --------------------------------------------------------------

// --- the line of a function --------------------------------------------------

// The function of that name, or of "FILE:NAME".
static int find_function(const Suite *suite, const char *place, uint32_t *out,
                         Err *err) {
  const char *colon = strrchr(place, ':'), *name = colon ? colon + 1 : place;
  char *file = colon ? mem_printf("%.*s", (int)(colon - place), place) : NULL;
  int rc = 0;
  *out = ENTITY_NONE;
  for (uint32_t i = 0; !rc && i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind != ENTITY_FUNCTION || !e->name || strcmp(e->name, name) != 0 ||
        (file && !suite_path_matches(suite, e->source, file)))
      continue;
    if (*out != ENTITY_NONE)
      rc = err_set(err, "%s is ambiguous: %s:%s or %s:%s", place,
                   suite_path(suite, suite->entities[*out].source), name,
                   suite_path(suite, e->source), name);
    *out = i;
  }
  free(file);
  if (!rc && *out == ENTITY_NONE)
    rc = err_set(err,
                 "%s: session %lld has no such function; name one, or "
                 "FILE:LINE",
                 place, (long long)suite->session);
  return rc;
}

// The suspect of the function that comes first for any failure that is meant.
static int rank_function(OpenLocalizer *l, const Suite *suite, size_t only,
                         uint32_t function, uint32_t *statement, Err *err) {
  uint32_t best = UINT32_MAX;
  int rc = 0;
  for (size_t i = 0; !rc && i < suite->nfailures; i++) {
    Ranking r = {.failure = i};
    if (only && only != i + 1)
      continue;
    rc = localizer_rank(l, i, &r, err);
    for (size_t k = 0; k < r.suspects.len; k++) {
      const Suspect *s = &r.suspects.items[k];
      if (s->rank >= best || suite->entities[s->entity].function != function)
        continue;
      best = s->rank;
      *statement = s->entity;
    }
    ranking_release(&r);
  }
  return rc;
}

static int best_line(Work *w, const Options *o, const LocateOptions *options,
                     uint32_t *statement, Err *err) {
  Localizer method;
  OpenLocalizer l;
  bool lacking;
  uint32_t function;
  *statement = ENTITY_NONE;
  localizer_find(w->method, &method);
  if (find_function(&w->suite, o->place, &function, err) ||
      localizer_open(&l, &w->evidence, &method, options, err))
    return -1;
  int rc = localizer_load(&l, &lacking, err) ||
                   rank_function(&l, &w->suite, (size_t)o->failure, function,
                                 statement, err)
               ? -1
               : 0;
  localizer_close(&l);
  if (!rc && *statement == ENTITY_NONE)
    rc = err_set(err, "%s: no run executed this function", o->place);
  return rc;
}

// FILE:LINE; all else names a function.
static bool names_line(const char *place) {
  const char *colon = strrchr(place, ':');
  return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789,")];
}

// The line that is meant, as the only place of `fault`.
static int find_line(Work *w, const Options *o, const LocateOptions *options,
                     Err *err) {
  uint32_t statement;
  if (names_line(o->place))
    return fault_add(&w->fault, &w->suite, o->place, ENTITY_STATEMENT, err);
  if (best_line(w, o, options, &statement, err))
    return -1;
  const Entity *e = &w->suite.entities[statement];
  FaultPlace place = {e->source, e->line, statement, statement};
  array_push(&w->fault.places, place);
  w->function = w->suite.entities[e->function].name;
  return 0;
}

// Returns an exit status.
static int gather(Work *w, Store *store, const Options *o) {
  Err err;
  if (store_load(store, o->rank.session, &w->suite, &err))
    return cli_error(&err);
  int status = check_failures(&w->suite, o);
  if (status)
    return status;
  LocateOptions options = {.by = ENTITY_STATEMENT,
                           .others =
                               rank_own_others(&w->suite, o->rank.others)};
  session_evidence_init(&w->evidence, store, &w->suite);
  w->method = rank_own_method(&w->evidence, &err);
  if (!w->method)
    return cli_error(&err);
  if (find_line(w, o, &options, &err))
    return cli_fail(EXIT_USAGE, "%s", err.text);
  if (w->fault.places.len > 1)
    return cli_fail(EXIT_USAGE, "%s: name one line", o->place);
  uint32_t statement = w->fault.places.items[0].statement;
  w->nearest = mem_array(NearTest, w->suite.nfailures);
  sources_init(&w->sources, &w->suite);
  if (accounts_make(&w->evidence, statement, &options, &w->accounts, &err) ||
      twins_find(&w->twins, store, &w->suite, statement, &err) ||
      near_tests_find(w->nearest, w->suite.nfailures, store, &w->suite, &err) ||
      gather_near(w, store, o, &err) ||
      !(w->cores = spec_notes(&w->evidence, &err)) ||
      !(w->tried = try_notes(&w->evidence, &err)) ||
      !(w->places = outmap_places(&w->evidence, &err)))
    return cli_error(&err);
  return check_comparable(w, o);
}

static int print(Work *w, const Options *o) {
  const FaultPlace *place = &w->fault.places.items[0];
  Why why = {.report = {.suite = &w->suite,
                        .deaths = &w->evidence.deaths,
                        .places = w->places,
                        .nearest = w->nearest,
                        .tried = w->tried,
                        .color = cli_color(),
                        .sources = &w->sources},
             .source = place->source,
             .line = place->line,
             .function = w->function,
             .statement = place->statement,
             .accounts = w->accounts,
             .only = (size_t)o->failure,
             .covers = w->twins.covers,
             .sliced = w->twins.sliced,
             .twins = w->twins.statements.items,
             .ntwins = w->twins.statements.len,
             .method = w->method,
             .all = o->all,
             .notes = w->notes,
             .cores = w->cores};
  LastChanges history;
  last_changes_open(&history, w->suite.cwd);
  char *change = last_change_of(&history, &w->suite, place->source,
                                w->suite.entities[place->statement].line);
  last_changes_close(&history);
  why.change = change;
  o->json ? why_json(&why, stdout) : why_text(&why, stdout);
  free(change);
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
  int status = cli_open_store(&store, o->store, STORE_EXISTING);
  if (status != EXIT_DONE)
    return status;
  Work work = {0};
  status = gather(&work, store, o);
  if (status == EXIT_DONE)
    status = print(&work, o);
  work_release(&work);
  store_close(store);
  return status;
}

// --- command line -----------------------------------------------------------

static const Option options[] = {
    {"failure", "N", &option_number, offsetof(Options, failure),
     "explain only this failure, as `culprit rank` numbers them (default: "
     "all)"},
    {"all", NULL, &option_flag, offsetof(Options, all),
     "print rank and score by every method, not only by three: that of "
     "`culprit rank`, ochiai, and the one that ranks the line highest"},
    {"near", NULL, &option_flag, offsetof(Options, near),
     "search for the passing run nearest to a failing test, unless `culprit "
     "near` has found one"},
    {.rows = rank_session_options, .at = offsetof(Options, rank)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {"json", NULL, &option_flag, offsetof(Options, json),
     "print JSON, for programs"},
    {0}};

static int why_main(int argc, char **argv) {
  Options o = {0};
  int first;
  int status = options_parse(&cmd_why, argc, argv, &o, &first);
  if (status != OPTIONS_TAKEN)
    return status;
  if (argc - first != 1)
    return options_wrong(&cmd_why, "name one FILE:LINE or FUNCTION");
  o.place = argv[first];
  return explain(&o);
}

const Command cmd_why = {
    "why",
    "show the evidence for and against one line",
    why_main,
    .usage = "[options] FILE:LINE|FUNCTION",
    .about = "Show the evidence for and against one line: its rank and score, "
             "the tests that execute it, the condition that decides whether "
             "they do, the lines that tie with it or that the same runs "
             "execute, and the conditions and returned values on it that "
             "separate failing from passing runs. FUNCTION (or FILE:FUNCTION) "
             "stands for its best ranked line.",
    .options = options,
    .end = "Exit status: 0 success, 2 usage, 3 no store or a corrupt one, 4 "
           "nothing failed or nothing to compare with."};
