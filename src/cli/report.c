// culprit report: a stored session as files for people and other programs: an
// HTML page, SARIF, a summary for CI.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rank.h"
#include "command/cli.h"
#include "history/last_changes.h"
#include "locate/near_note.h"
#include "locate/outmap.h"
#include "locate/spec_note.h"
#include "locate/try_note.h"
#include "report/html_page.h"
#include "since/changed_lines.h"
#include "tally/owner.h"
#include "util/fs.h"

enum {
  ENTRIES = 2000000,     // suspects in a page, over all failures and methods
  ENTRIES_MIN = 200,     // but so many of each ranking at least
  EXPLAINED = 150,       // get their evidence
  CHANGES_FAILURES = 10, // failures with the last change of their suspects
  NEAREST = 100,         // failures that are compared with a passing test
};

typedef struct {
  RankOptions rank; // session, method, only, exclude, others, top
  const char *html, *assets, *sarif, *junit, *methods, *core, *store;
} Options;

// --- gathering -------------------------------------------------------------

// Everything a page is made of.
typedef struct {
  const Options *options;
  Store *store;
  Suite suite;
  SessionEvidence evidence;
  const OutputPlaces *places;
  const Notes *notes, *tried; // of `culprit near`, `culprit try`
  Sources sources;
  PlaceGroups groups;
  HtmlReport html;
  ARRAY(MethodListing) methods;
  Tuples *tuples; // per failure
  Cover cover;
  SourceLoops *loops; // per failure
  NearTest *nearest;
  KeptPage *pages;
  CoreNote core;
  SessionInfo *sessions;
  size_t nsessions, most;
  LastChanges history;
  ChangedLines changed; // --since
} Work;

static void work_release(Work *w) {
  size_t n = w->suite.nfailures;
  for (size_t i = 0; i < w->methods.len; i++)
    method_listing_release(&w->methods.items[i], n);
  array_release(&w->methods);
  for (size_t i = 0; w->tuples && i < n; i++)
    array_release(&w->tuples[i]);
  for (size_t i = 0; w->pages && i < n; i++)
    kept_page_release(&w->pages[i]);
  if (w->nearest)
    near_tests_release(w->nearest, n);
  array_release(&w->groups);
  cover_release(&w->cover);
  core_note_release(&w->core);
  store_list_free(w->sessions, w->nsessions);
  free(w->tuples);
  free(w->pages);
  for (size_t i = 0; w->loops && i < n; i++)
    array_release(&w->loops[i]);
  free(w->loops);
  free(w->nearest);
  last_changes_close(&w->history);
  changed_lines_release(&w->changed);
  sources_release(&w->sources);
  session_evidence_release(&w->evidence);
  suite_release(&w->suite);
}

static LocateOptions locate_options(const Work *w) {
  const Options *o = w->options;
  return (LocateOptions){.by = ENTITY_STATEMENT,
                         .others = rank_own_others(&w->suite, o->rank.others),
                         .explain = EXPLAINED,
                         .filter = rank_filter(&o->rank)};
}

static int rank_failures(Work *w, OpenLocalizer *l, MethodListing *m,
                         Err *err) {
  size_t n = w->suite.nfailures;
  m->listings = mem_array(KeptListing, n + 1);
  for (size_t i = 0; i < n; i++) {
    Ranking r = {.failure = i};
    if (localizer_rank(l, i, &r, err))
      return -1;
    if (w->changed.suite)
      changed_lines_apply(&w->changed, &r);
    if (!w->methods.len && i < CHANGES_FAILURES)
      last_changes_tell(&w->history, &w->suite, &r, EXPLAINED);
    listing_keep(&m->listings[i], &w->html, &r, w->most, EXPLAINED);
    ranking_release(&r);
  }
  if (w->methods.len)
    return 0;
  w->html.report.executed = localizer_executed(l);
  w->html.report.executable = localizer_executable(l);
  return 0;
}

// Adds what one method says. If the session lacks what it needs, it has a
// reason instead; the first method must not lack anything.
static int add_method(Work *w, const Localizer *method, Err *err) {
  LocateOptions options = locate_options(w);
  MethodListing m = {.method = *method};
  OpenLocalizer l;
  bool lacking = false;
  int rc = localizer_open(&l, &w->evidence, method, &options, err);
  if (rc)
    lacking = true;
  else
    rc = localizer_load(&l, &lacking, err);
  if (!rc) {
    // Deaths are loaded now; the evidence needs them.
    w->html.report.deaths = &w->evidence.deaths;
    rc = rank_failures(w, &l, &m, err);
  }
  localizer_close(&l);
  if (rc && lacking && w->methods.len) {
    m.reason = mem_strdup(err->text);
    rc = 0;
  }
  array_push(&w->methods, m);
  return rc;
}

static bool has_method(const Work *w, const char *name) {
  for (size_t i = 0; i < w->methods.len; i++)
    if (!strcmp(w->methods.items[i].method.name, name))
      return true;
  return false;
}

static const char USUAL[] = METHOD_DEFAULT
    ",cascade+o,near," METHOD_TRY ",apollo-tc+o,ochiai,tarantula,dstar,op2,cp,"
    "cbi";

// The methods of a list, in its order; `all`: in the order of the table.
// Returns an exit status.
static int add_methods(Work *w, const char *list, bool strict) {
  Err err;
  int status = EXIT_DONE;
  char *copy = mem_strdup(list), *rest = copy, *name;
  while (status == EXIT_DONE && (name = strsep(&rest, ","))) {
    Localizer m;
    if (!localizer_find(name, &m)) {
      if (strict)
        status = cli_fail(EXIT_USAGE,
                          "no method '%s'; `culprit rank --list-methods` "
                          "lists them",
                          name);
    } else if (!has_method(w, name) && add_method(w, &m, &err)) {
      status = w->methods.len == 1 ? cli_fail(EXIT_USAGE, "%s", err.text)
                                   : cli_error(&err);
    }
  }
  free(copy);
  return status;
}

static int add_all_methods(Work *w) {
  int status = EXIT_DONE;
  for (size_t i = 0; status == EXIT_DONE && i < localizer_count(); i++)
    status = add_methods(w, localizer_at(i).name, true);
  return status;
}

// NULL: the store cannot be read.
static const char *first_method(Work *w, Err *err) {
  const char *asked = w->options->rank.method;
  return asked ? asked : rank_own_method(&w->evidence, err);
}

static int rank_all(Work *w) {
  const char *list = w->options->methods;
  size_t rankings = w->suite.nfailures * (list ? localizer_count() : 11);
  w->most = rankings ? ENTRIES / rankings : ENTRIES;
  if (w->most < ENTRIES_MIN)
    w->most = ENTRIES_MIN;
  int status = add_methods(w, w->html.report.method, true);
  if (status != EXIT_DONE)
    return status;
  if (list && !strcmp(list, "all"))
    return add_all_methods(w);
  return list ? add_methods(w, list, true) : add_methods(w, USUAL, false);
}

// --- what belongs to the lines ---------------------------------------------

static void add_tuples(Work *w, size_t failure, const uint32_t *owner) {
  const KeptListing *l = &w->methods.items[0].listings[failure];
  bool *wanted = mem_array(bool, w->suite.nentities + 1);
  for (size_t i = 0; i < l->n && i < EXPLAINED; i++)
    wanted[l->items[i].entity] = true;
  Comparison c;
  LocateOptions options = locate_options(w);
  comparison_init(&c, &w->evidence.tally, failure,
                  method_others_pass(&w->methods.items[0].method, &w->suite,
                                     options.others));
  for (uint32_t e = 0; e < w->suite.nentities; e++) {
    bool told = owner[e] != ENTITY_NONE && owner[e] != e && wanted[owner[e]];
    if (told && (c.ef[e] || c.ep[e]))
      array_push(&w->tuples[failure],
                 (Tuple){owner[e], e, c.ef[e], c.ep[e],
                         comparison_runs(&c, w->suite.entities[e].kind)});
  }
  comparison_release(&c);
  free(wanted);
}

static int gather_tuples(Work *w, Err *err) {
  unsigned kinds = (TUPLE_KINDS | CLOSE_KINDS) & w->evidence.present;
  w->tuples = mem_array(Tuples, w->suite.nfailures + 1);
  if (!kinds)
    return 0;
  kinds |= 1u << ENTITY_STATEMENT;
  if (session_evidence_load(&w->evidence, kinds, ENTITY_STATEMENT, err))
    return -1;
  uint32_t *owner = owners_find(&w->suite, ENTITY_STATEMENT, kinds);
  for (size_t i = 0; i < w->suite.nfailures; i++)
    add_tuples(w, i, owner);
  free(owner);
  return 0;
}

// Lines high in the list come first: if not all fit, theirs do.
static int gather_cover(Work *w, Err *err) {
  ARRAY(uint32_t) order = {0};
  for (size_t f = 0; f < w->suite.nfailures; f++) {
    const KeptListing *l = &w->methods.items[0].listings[f];
    for (size_t i = 0; i < l->n; i++)
      array_push(&order, l->items[i].entity);
  }
  int rc =
      cover_load(&w->cover, w->store, &w->suite, order.items, order.len, err);
  array_release(&order);
  return rc;
}

static void gather_pages(Work *w) {
  size_t n = w->suite.nfailures;
  w->pages = mem_array(KeptPage, n + 1);
  for (size_t i = 0; i < n; i++)
    kept_page_read(&w->pages[i], w->store, w->suite.session,
                   w->suite.failures[i].signature);
}

static int gather_loops(Work *w, Err *err) {
  w->loops = mem_array(SourceLoops, w->suite.nfailures + 1);
  for (size_t i = 0; i < w->suite.nfailures; i++)
    if (loops_running(&w->suite, &w->evidence.deaths, w->store, i, &w->loops[i],
                      err))
      return -1;
  return 0;
}

// Returns an exit status. Without any spectrum there is nothing to compare.
static int gather_spectra(Work *w) {
  Err err;
  w->nearest = mem_array(NearTest, w->suite.nfailures + 1);
  if (!rank_has_spectra(&w->suite, VERDICTS))
    return EXIT_DONE;
  int status = rank_all(w);
  if (status != EXIT_DONE)
    return status;
  w->places = outmap_places(&w->evidence, &err);
  w->notes = w->places ? near_notes(&w->evidence, &err) : NULL;
  w->tried = w->notes ? try_notes(&w->evidence, &err) : NULL;
  if (!w->tried || gather_loops(w, &err) || gather_tuples(w, &err) ||
      gather_cover(w, &err) ||
      near_tests_find(w->nearest, NEAREST, w->store, &w->suite, &err))
    return cli_error(&err);
  w->html.cover = &w->cover;
  return EXIT_DONE;
}

static const SessionInfo *session_of(const Work *w) {
  for (size_t i = 0; i < w->nsessions; i++)
    if (w->sessions[i].id == w->suite.session)
      return &w->sessions[i];
  return NULL;
}

static void fill_html(Work *w) {
  const SessionInfo *session = session_of(w);
  HtmlReport *h = &w->html;
  h->report.deaths = &w->evidence.deaths;
  h->report.places = w->places;
  h->report.tried = w->tried;
  h->started = session ? session->started : NULL;
  h->finished = session && session->finished;
  h->methods = w->methods.items;
  h->nmethods = w->methods.len;
  h->tuples = w->tuples;
  h->loops = w->loops;
  h->nearest = w->nearest;
  h->pages = w->pages;
  h->notes = w->notes;
  h->core = w->core.violated.len ? &w->core : NULL;
  for (uint32_t i = 0; i < w->suite.nsources; i++)
    sources_check(&w->sources, i);
}

// The core that is given, or that of the first failure that has one.
static int find_core(Work *w, Err *err) {
  const char *given = w->options->core;
  if (given)
    return core_note_read(&w->core, given, &w->suite, err);
  const Notes *cores = spec_notes(&w->evidence, err);
  if (!cores)
    return -1;
  const SpecNote *note = NULL;
  for (size_t i = 0; !note && i < w->suite.nfailures; i++)
    note = notes_find(cores, w->suite.failures[i].signature);
  if (note)
    core_note_of(&w->core, note, &w->suite);
  return 0;
}

// Returns an exit status.
static int gather(Work *w) {
  Err err;
  const Options *o = w->options;
  if (store_load(w->store, o->rank.session, &w->suite, &err) ||
      store_list(w->store, &w->sessions, &w->nsessions, &err))
    return cli_error(&err);
  sources_init(&w->sources, &w->suite);
  suite_places(&w->suite, &w->groups);
  last_changes_open(&w->history, w->suite.cwd);
  if (o->rank.since &&
      changed_lines_load(&w->changed, &w->suite, o->rank.since, &err))
    return cli_fail(EXIT_USAGE, "%s", err.text);
  session_evidence_init(&w->evidence, w->store, &w->suite);
  w->html.report = (Report){.suite = &w->suite,
                            .method = first_method(w, &err),
                            .top = o->rank.top,
                            .deaths = &w->evidence.deaths,
                            .sources = &w->sources,
                            .groups = &w->groups};
  if (!w->html.report.method || find_core(w, &err))
    return cli_error(&err);
  int status = gather_spectra(w);
  if (status != EXIT_DONE)
    return status;
  gather_pages(w);
  fill_html(w);
  return EXIT_DONE;
}

// --- files -----------------------------------------------------------------

// How a page at `page` names the directory `dir`: "", "../" and names.
static char *relative_to(const char *page, const char *dir) {
  char *here = path_absolute(strcmp(page, "-") ? page : "./-", NULL);
  char *there = path_absolute(dir, NULL);
  size_t common = 0;
  for (size_t i = 0; here[i] == there[i]; i++) {
    if (!here[i])
      break;
    if (here[i] == '/')
      common = i + 1;
  }
  size_t whole = strlen(there);
  bool inside = !strncmp(here, there, whole) && here[whole] == '/';
  Str out = {0};
  for (const char *p = here + (inside ? whole + 1 : common); *p; p++)
    if (*p == '/')
      str_add(&out, "../");
  if (!inside)
    str_add(&out, there + common);
  else if (!out.len)
    str_add(&out, ".");
  else
    out.data[--out.len] = '\0';
  free(here);
  free(there);
  return str_take(&out);
}

static int write_asset(const char *dir, const char *name, const char *text,
                       Err *err) {
  char *path = mem_printf("%s/%s", dir, name);
  int rc = fs_write(path, text, strlen(text), err);
  free(path);
  return rc;
}

static int write_assets(const char *dir, Err *err) {
  return fs_mkdirs(dir, err) || write_asset(dir, "report.css", html_css, err) ||
         write_asset(dir, "report.js", html_js, err);
}

static FILE *open_output(const char *path) {
  return strcmp(path, "-") ? fopen(path, "w") : stdout;
}

// Returns an exit status.
static int close_output(const char *path, FILE *out) {
  bool bad = fflush(out) || ferror(out);
  int why = errno;
  if (out != stdout && fclose(out) && !bad) {
    bad = true;
    why = errno;
  }
  return bad ? cli_fail(EXIT_ENVIRONMENT, "cannot write %s: %s", path,
                        strerror(why))
             : EXIT_DONE;
}

static int cannot_open(const char *path) {
  return cli_fail(EXIT_ENVIRONMENT, "cannot write %s: %s", path,
                  strerror(errno));
}

static int write_page(Work *w) {
  const Options *o = w->options;
  Err err;
  if (o->assets && write_assets(o->assets, &err))
    return cli_error(&err);
  char *assets = o->assets ? relative_to(o->html, o->assets) : NULL;
  FILE *out = open_output(o->html);
  int status;
  w->html.assets = assets;
  if (out) {
    html_write(&w->html, out);
    status = close_output(o->html, out);
  } else {
    status = cannot_open(o->html);
  }
  free(assets);
  return status;
}

static bool any_ranked(const Work *w) {
  for (size_t i = 0; w->methods.len && i < w->suite.nfailures; i++)
    if (w->methods.items[0].listings[i].n)
      return true;
  return false;
}

// A page is written even if there is nothing to say: it says so.
static int report_html(Store *store, const Options *o) {
  Work w = {.options = o, .store = store};
  int status = gather(&w);
  if (status == EXIT_DONE)
    status = write_page(&w);
  if (status == EXIT_DONE && !any_ranked(&w))
    status = cli_fail(EXIT_NO_VERDICT,
                      "nothing of session %lld could be ranked; the page says "
                      "why",
                      (long long)w.suite.session);
  work_release(&w);
  return status;
}

// A format of `culprit rank`, into a file.
static int report_ranking(Store *store, const Options *o, const char *format,
                          const char *path) {
  FILE *out = open_output(path);
  if (!out)
    return cannot_open(path);
  RankOptions rank = o->rank;
  rank.format = format;
  int status = rank_print(store, &rank, out);
  int closed = close_output(path, out);
  return status == EXIT_DONE ? closed : status;
}

static int report(const Options *o) {
  Store *store;
  int status = cli_open_store(&store, o->store, STORE_EXISTING);
  if (status != EXIT_DONE)
    return status;
  if (o->html)
    status = report_html(store, o);
  if (o->sarif && status == EXIT_DONE)
    status = report_ranking(store, o, "sarif", o->sarif);
  if (o->junit && (status == EXIT_DONE || status == EXIT_NO_VERDICT)) {
    int junit = report_ranking(store, o, "junit", o->junit);
    status = status == EXIT_DONE ? junit : status;
  }
  store_close(store);
  return status;
}

// --- command line ----------------------------------------------------------

static const Option options[] = {
    {.title = "Files to write (-: standard output)"},
    {"html", "FILE", &option_text, offsetof(Options, html),
     "one page that stands alone: ranking, source, tests, the evidence for "
     "each "
     "line; readable without JavaScript"},
    {"assets", "DIR", &option_text, offsetof(Options, assets),
     "put style sheet and program of the page into DIR as files, for servers "
     "with a strict content security policy"},
    {"sarif", "FILE", &option_text, offsetof(Options, sarif),
     "the ranking as SARIF 2.1.0"},
    {"junit", "FILE", &option_text, offsetof(Options, junit),
     "the tests as JUnit XML, with the suspects in the failures"},
    {.title = "Content"},
    {"method", "METHOD", &option_text, offsetof(Options, rank.method),
     "ranking to show first (default: as for `culprit rank`)",
     .word = rank_method_word},
    {"methods", "LIST", &option_text, offsetof(Options, methods),
     "other rankings to choose from in the page, separated by commas, or all "
     "(default: the usual ones)"},
    {"core", "FILE", &option_text, offsetof(Options, core),
     "core to show beside the lines, as `culprit spec --json` printed it "
     "(default: the one that `culprit spec` kept)"},
    {"top", "N|all", &option_top, offsetof(Options, rank.top),
     "suspects to list for each failure without JavaScript, and in SARIF and "
     "JUnit"},
    {.rows = rank_since_options, .at = offsetof(Options, rank)},
    {.rows = rank_files_options, .at = offsetof(Options, rank)},
    {.rows = rank_session_options, .at = offsetof(Options, rank)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// OPTIONS_TAKEN, or EXIT_USAGE after a message.
static int check_options(const Options *o, int first, int argc, char **argv) {
  if (first < argc)
    return options_wrong(&cmd_report, "'%s': report takes no arguments",
                         argv[first]);
  if (!o->html && !o->sarif && !o->junit)
    return options_wrong(&cmd_report,
                         "name a file to write: --html FILE, --sarif FILE or "
                         "--junit FILE");
  if (o->assets && !o->html)
    return options_wrong(&cmd_report, "--assets needs --html FILE");
  return OPTIONS_TAKEN;
}

static int report_main(int argc, char **argv) {
  Options o = {0};
  int first;
  rank_options_init(&o.rank);
  int status = options_parse(&cmd_report, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN)
    status = check_options(&o, first, argc, argv);
  if (status == OPTIONS_TAKEN)
    status = report(&o);
  rank_options_release(&o.rank);
  return status;
}

const Command cmd_report = {
    "report",
    "write a page (HTML) or files for CI (SARIF, JUnit)",
    report_main,
    .usage = "--html FILE [options]",
    .about = "Write a stored session as a page for people or as files for "
             "programs.",
    .options = options,
    .end = "Exit status: 0 written, 2 usage, 3 no store or a corrupt one, or a "
           "file that cannot be written, 4 nothing failed or nothing to "
           "compare with (the page is written and says so)."};
