// culprit web: requests to a PHP application, given or found by exploring it;
// its failures, each localized.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/rank.h"
#include "cli/run_close.h"
#include "cli/run_try.h"
#include "cli/web.h"
#include "command/cli.h"
#include "command/confine_options.h"
#include "explore/checkpoint.h"
#include "explore/entry_pages.h"
#include "explore/explorer.h"
#include "locate/localizer.h"
#include "php/application.h"
#include "process/process.h"
#include "process/words.h"
#include "report/report.h"
#include "run/summary.h"
#include "run/visits_confine.h"
#include "util/area.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  JOBS_MAX = 64,
  EXPLORE_SECONDS = 60,
  EXPLORE_TIMEOUT = 5,
  STOP_SECONDS = 20, // to keep what is done when a signal comes
};

// --- options ----------------------------------------------------------------

typedef struct {
  Visits visits;
  ExplorerOptions explore;
  RankOptions rank;
  const char *requests, *first, *host, *store;
  double close; // seconds for a closer look; below 0: not given
  CloseLookResult looked;
  bool tries; // --try
  ConfineOptions confine;
  WebExploreOptions more;
  Refusals refusals;
  bool quiet;
  Area area;
  Arena arena;
} Options;

static void options_init(Options *o) {
  *o = (Options){.area = AREA_NONE, .close = -1, .looked = {.ended = ""}};
  rank_options_init(&o->rank);
  refusals_init(&o->refusals);
  o->visits.oracle.severities = WEB_DEFAULT;
  o->explore.budget = EXPLORE_SECONDS;
  o->explore.strategy = web_strategy_find("base");
}

static void options_release(Options *o) {
  rank_options_release(&o->rank);
  visits_release(&o->visits);
  confine_options_release(&o->confine);
  web_explore_release(&o->more);
  refusals_release(&o->refusals);
  close_look_release(&o->looked);
  arena_release(&o->arena);
}

// A path, unless it begins in the worker's directory.
static const char *own_or_absolute(Options *o, const char *path) {
  return text_starts(path, "%w") ? path : cli_absolute(&o->arena, path);
}

static int take_pair(const Option *o, void *field, const char *arg) {
  (void)o;
  const char *equals = strchr(arg, '=');
  if (!equals || equals == arg)
    return -1;
  array_push((Texts *)field, arg);
  return 0;
}

static int take_state(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  array_push(&options->visits.files, own_or_absolute(options, arg));
  return 0;
}

static int take_database(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  const char *equals = strchr(arg, '=');
  Database d = {.name = arg};
  if (equals == arg || !*arg)
    return -1;
  if (equals) {
    d.name = arena_strndup(&options->arena, arg, (size_t)(equals - arg));
    d.sql = cli_absolute(&options->arena, equals + 1);
  }
  array_push(&options->visits.databases, d);
  return 0;
}

static int take_seed(const Option *o, void *field, const char *arg) {
  (void)o;
  char *end;
  *(uint64_t *)field = strtoull(arg, &end, 10);
  return *arg < '0' || *arg > '9' || *end ? -1 : 0;
}

static int take_strategy(const Option *o, void *field, const char *arg) {
  (void)o;
  const WebStrategy *s = web_strategy_find(arg);
  *(const WebStrategy **)field = s;
  return s ? 0 : -1;
}

static int take_severity(const Option *o, void *field, const char *arg) {
  (void)o;
  return web_severities_parse(arg, field);
}

static int take_checker(const Option *o, void *field, const char *arg) {
  (void)o;
  *(const char **)field = arg ? arg : "vnu";
  return 0;
}

static const OptionType option_pair = {take_pair, "NAME=VALUE"};
static const OptionType option_state = {take_state, NULL};
static const OptionType option_database = {take_database, "DB or DB=FILE"};
static const OptionType option_seed = {take_seed, "a whole number from 0"};
static const OptionType option_strategy = {take_strategy, NULL};
static const OptionType option_severity = {
    take_severity, "a list of fatal, warning, notice, deprecated, query, html, "
                   "status or all"};
static const OptionType option_checker = {take_checker, NULL};

static const Option options[] = {
    {.title = "Requests"},
    {"requests", "FILE", &option_text, offsetof(Options, requests),
     "list of requests, one per line: METHOD PATH[?QUERY] [BODY]. A line --- "
     "starts another visitor, `setup` before a request says that it is not a "
     "test, indented lines are headers. Or a browser's .har file"},
    {"host", "NAME", &option_text, offsetof(Options, host),
     "take only requests to this host from a .har file"},
    {.title = "Exploring (without --requests)"},
    {"seed-requests", "FILE", &option_text, offsetof(Options, first),
     "list of requests to start from: logins, or a failing request"},
    {.rows = web_login_options, .at = offsetof(Options, more)},
    {"budget", "SECONDS", &option_real, offsetof(Options, explore.budget),
     "time for everything but the ranking (default: 60)"},
    {"max-tests", "N", &option_count, offsetof(Options, explore.max_tests),
     "make at most N requests"},
    {"coverage", "PERCENT", &option_real, offsetof(Options, explore.coverage),
     "stop when this share of the statements is executed", .max = 100},
    {"max-failures", "N", &option_count,
     offsetof(Options, explore.max_failures),
     "stop when N different failures are found"},
    {"strategy", "base|coverage|pcs|is|crawl", &option_strategy,
     offsetof(Options, explore.strategy),
     "which request to make next: base (default), the one that covers most. "
     "Starting from a failing request, the last of --seed-requests or the "
     "first found: coverage; pcs, the most similar path; is, the most similar "
     "input. crawl: as base, but only links and forms, solve nothing"},
    {"destructive", "last|never|any", &option_choice,
     offsetof(Options, explore.last),
     "when to request logout, delete and the like (default: last)"},
    {"seed", "N", &option_seed, offsetof(Options, explore.seed),
     "seed of the order among equally good requests"},
    {"resume", NULL, &option_flag, offsetof(Options, explore.resume),
     "continue the newest exploration"},
    {"seed-apart", NULL, &option_flag, offsetof(Options, explore.apart),
     "make the requests of --seed-requests, but do not explore from them"},
    {"solve-seconds", "SECONDS", &option_real,
     offsetof(Options, explore.solve_seconds),
     "time to solve for the branches of one request (default: 3)"},
    {"no-reduce", NULL, &option_flag, offsetof(Options, explore.no_reduce),
     "do not minimise the requests that show a failure"},
    {.title = "Application (%w in a value: the worker's own directory; %s: the "
              "socket of "
              "its database server)"},
    {"front", "FILE", &option_text, offsetof(Options, visits.app.front),
     "front controller: it serves every path that is not a file"},
    {"ini", "NAME=VALUE", &option_pair, offsetof(Options, visits.ini),
     "setting of PHP", .repeats = true},
    {.rows = web_ini_options, .at = offsetof(Options, more)},
    {"env", "NAME=VALUE", &option_pair, offsetof(Options, visits.env),
     "variable of its environment", .repeats = true},
    {"state", "PATH", &option_state, 0,
     "file or directory that it writes (SQLite, uploads), restored for every "
     "visitor",
     .repeats = true},
    {"mariadb", "DB[=FILE]", &option_database, 0,
     "start a database server with this database, filled from the SQL in FILE; "
     "`localhost` means that server",
     .repeats = true},
    {"sql-mode", "MODE", &option_text, offsetof(Options, visits.sql_mode),
     "sql_mode of that server, as '' or ANSI_QUOTES (default: its own)"},
    {"php-cgi", "PROG", &option_text, offsetof(Options, visits.app.php_cgi),
     "PHP to run (default: php-cgi8.2)"},
    {"follow-links", NULL, &option_flag,
     offsetof(Options, visits.app.follow_links),
     "let symbolic links lead out of DIR"},
    {"timeout", "SECONDS", &option_real, offsetof(Options, visits.app.timeout),
     "limit for one request (default: 30; exploring: 5)"},
    {"jobs", "N", &option_int, offsetof(Options, visits.workers),
     "workers (default: one per processor; one if they would share what "
     "--state names)",
     .letter = 'j', .max = JOBS_MAX},
    {"in-place", NULL, &option_flag, offsetof(Options, visits.in_place),
     "do not confine it: it may change DIR and everything that you may change, "
     "connect and send mail"},
    {.rows = confine_options, .at = offsetof(Options, confine)},
    {.title = "Oracle"},
    {"severity", "LIST", &option_severity,
     offsetof(Options, visits.oracle.severities),
     "what is a failure: fatal, warning, notice, deprecated, query, html, "
     "status, all (default: fatal,query,html,status)"},
    {"doctype", NULL, &option_flag,
     offsetof(Options, visits.oracle.html.doctype), "require a DOCTYPE"},
    {"no-explicit-end", NULL, &option_flag,
     offsetof(Options, visits.oracle.html.no_explicit_end),
     "let <body> and <html> lack their end tags"},
    {"html-ignore", "KEYS", &option_text,
     offsetof(Options, visits.oracle.html.ignore),
     "kinds of HTML failures to ignore, separated by commas"},
    {"nu", "[=PROG]", &option_checker, offsetof(Options, visits.oracle.nu),
     "also check good pages with the Nu checker (default: vnu)"},
    {"max-page", "SIZE", &option_size, offsetof(Options, visits.app.max_body),
     "limit for the size of pages to check, as 4M (default: 16M); the result "
     "names larger ones",
     .max = HTML_PAGE_MAX},
    {.title = "Output"},
    {"close", "SECONDS", &option_real0, offsetof(Options, close),
     "time for a closer look at the requests that matter, which are made again "
     "(default: as long as all requests took, 5 to 10; none with --in-place or "
     "--allow-...; 0: none)"},
    {"try", NULL, &option_flag, offsetof(Options, tries),
     "then change one thing at a time at the first suspects and see what "
     "repairs the failing requests, as `culprit try` does"},
    {"method", "METHOD", &option_text, offsetof(Options, rank.method),
     "method of the ranking (default: " METHOD_WEB "; with --try: try)",
     .word = rank_method_word},
    {.rows = rank_others_options, .at = offsetof(Options, rank)},
    {"output-map", "DIR", &option_text, offsetof(Options, visits.pages),
     "keep every page in DIR, with a map of which line wrote which bytes"},
    {.rows = rank_shown_options, .at = offsetof(Options, rank)},
    {"json", NULL, &option_name, offsetof(Options, rank.format),
     "print JSON, for programs"},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// --- the application --------------------------------------------------------

static int check_root(Options *o) {
  struct stat st;
  const char *given = o->visits.app.root;
  char *full = realpath(given, NULL);
  if (!full || stat(full, &st) || !S_ISDIR(st.st_mode)) {
    free(full);
    return cli_fail(EXIT_USAGE,
                    "%s is not a directory; name the application's "
                    "document root",
                    given);
  }
  o->visits.app.root = o->visits.oracle.root = arena_strdup(&o->arena, full);
  free(full);
  return EXIT_DONE;
}

// Without a list of requests there must be something to begin with.
static int check_entries(Options *o) {
  Err err;
  EntryPages list = {0};
  const WebApp *app = &o->visits.app;
  if (o->requests || app->front)
    return EXIT_DONE;
  if (entry_pages_find(app->root, &list, &o->arena, &err))
    return cli_error(&err);
  if (list.len)
    return EXIT_DONE;
  return cli_fail(EXIT_USAGE,
                  "%s: no page to start from, and --requests FILE is missing; "
                  "name the application's document root",
                  app->root);
}

static int find_extension(Options *o) {
  Err err;
  char *path = app_extension(&err);
  if (!path)
    return cli_error(&err);
  o->visits.app.extension = arena_strdup(&o->arena, path);
  free(path);
  return EXIT_DONE;
}

static int read_requests(Options *o, Requests *list) {
  Err err;
  const char *path = o->requests ? o->requests : o->first;
  if (!path)
    return EXIT_DONE;
  if (o->requests && o->explore.resume)
    return cli_fail(EXIT_USAGE, "give either --requests or --resume; the same "
                                "command continues a list");
  if (o->requests && o->first)
    return cli_fail(EXIT_USAGE,
                    "give either --requests, or --seed-requests to explore");
  Str text = {0};
  int rc = fs_read(path, 0, &text, &err);
  if (!rc)
    rc = text_ends(path, ".har")
             ? request_list_har(path, str_text(&text), text.len, o->host, list,
                                &o->arena, &err)
             : request_list_read(path, list, &o->arena, &err);
  str_release(&text);
  if (rc)
    return cli_error(&err);
  for (size_t i = 0; i < list->len; i++)
    if (!list->items[i].setup || o->first)
      return EXIT_DONE;
  return cli_fail(EXIT_USAGE, "%s: no request in the list that is a test",
                  path);
}

// --- the session ------------------------------------------------------------

// What makes two invocations the same work.
static char *session_key(const Options *o, const char *command) {
  uint64_t hash = 0;
  Err ignored;
  Str text = {0};
  if (o->requests)
    fs_read(o->requests, 0, &text, &ignored);
  hash = app_hash(o->visits.app.root, text.data, text.len);
  str_release(&text);
  return mem_printf("web %s %016llx", command, (unsigned long long)hash);
}

static bool show_progress;

static void print_progress(const Visits *v) {
  if (!show_progress)
    return;
  fprintf(stderr, "\r[%zu/%zu]", v->already + v->finished, v->total);
  if (v->failing)
    fprintf(stderr, " %zu failed", v->failing);
  fputs("\033[K", stderr);
  fflush(stderr);
}

// A signal leaves what was done; the worker's directories are in an area.
static int open_area(Options *o) {
  Err err;
  if (area_open_temporary(&o->area, &err))
    return cli_error(&err);
  area_watch(&o->area);
  char *real = realpath(o->area.dir, NULL);
  o->visits.scratch = arena_strdup(&o->arena, real ? real : o->area.dir);
  free(real);
  o->visits.logs =
      arena_printf(&o->arena, "%s/logs", store_dir(o->visits.store));
  show_progress = isatty(STDERR_FILENO) && !o->quiet;
  return EXIT_DONE;
}

// --- confinement ------------------------------------------------------------

// What is written outside of DIR is refused where there is no view.
static void warn_of_state(const Visits *v) {
  for (size_t i = 0; i < v->files.len; i++) {
    const char *path = v->files.items[i];
    if (!text_starts(path, "%w") && path_below(path, v->app.root) == path)
      cli_warn("--state %s: this system confines by a copy of %s; let the "
               "application write elsewhere with --allow-write DIR",
               path, v->app.root);
  }
}

static void tell_confined(const Visits *v, Confine *c) {
  confine_explain(&c, 1);
  if (!confine_has_view(c))
    warn_of_state(v);
}

static int confine_application(Visits *v, ConfineOptions *o, Arena *arena) {
  Err err;
  v->confined = tell_confined;
  confine_options_end(o, arena);
  if (v->in_place)
    cli_warn("--in-place: %s is not copied; the application may change it and "
             "all else that you may change, connect and send mail",
             v->app.root);
  else if (visits_confine(v, &o->plan, arena, &err))
    return cli_error(&err);
  return EXIT_DONE;
}

static int run_visits(Options *o, const Requests *list) {
  Err err;
  Visits *v = &o->visits;
  v->progress = print_progress;
  int rc = visits_run(v, list, &err);
  if (show_progress)
    cli_progress_end();
  if (stop_requested())
    return cli_interrupted("%zu of %zu requests are done and kept",
                           v->already + v->finished, v->total);
  return rc ? cli_error(&err) : EXIT_DONE;
}

// --- exploring --------------------------------------------------------------

static void print_found(const ExplorerProgress *p) {
  static double next;
  if (!show_progress || p->seconds < next)
    return;
  next = p->seconds + 0.1;
  fprintf(stderr,
          "\r[%zu] scripts %zu, lines %zu, branches %zu, failures %zu, queued "
          "%zu\033[K",
          p->requests, p->scripts, p->lines, p->branches, p->failures,
          p->queued);
  fflush(stderr);
}

static void print_warning(const char *text) {
  if (show_progress)
    cli_progress_end();
  cli_warn("%s", text);
}

static int run_explorer(Options *o, const Requests *list, Explorer **out) {
  Err err;
  o->explore.visits = &o->visits;
  o->explore.first = list;
  o->explore.progress = print_found;
  o->explore.warn = print_warning;
  *out = explorer_new(&o->explore);
  int rc = explorer_run(*out, &err);
  if (show_progress)
    cli_progress_end();
  if (stop_requested())
    return cli_interrupted("requests done and kept: %zu; `culprit rank` shows "
                           "what they found",
                           explorer_progress(*out)->requests);
  if (!rc)
    return EXIT_DONE;
  if (explorer_progress(*out)->requests)
    return cli_fail(EXIT_ENVIRONMENT,
                    "%s\nculprit: requests done and kept: %zu; continue with "
                    "the same command and --resume",
                    err.text, explorer_progress(*out)->requests);
  return cli_error(&err);
}

// --- reporting --------------------------------------------------------------

// --try: experiments, confined in any case, and the ranking by them. The first
// pass has removed its area.
static int try_requests(Options *o, const Requests *list, const Explorer *e) {
  RunTryOptions tried;
  Visits v = o->visits;
  run_try_options_init(&tried);
  RunTry t = {.options = &tried,
              .quiet = o->quiet,
              .json = !strcmp(o->rank.format, "json"),
              .show_progress = show_progress};
  int status = open_area(o);
  v.scratch = o->visits.scratch;
  v.app.until = 0; // it has its own time
  v.in_place = false;
  if (status == EXIT_DONE && o->visits.in_place)
    status = confine_application(&v, &o->confine, &o->arena);
  if (status == EXIT_DONE)
    status = run_try_web(&t, &v, list, e, v.store, v.session, &o->rank);
  area_close(&o->area);
  return status;
}

static int rank(Options *o, const Requests *list, const Explorer *e,
                bool tries) {
  bool later = tries && !strcmp(o->rank.format, "json");
  char *more = web_members(&o->refusals, e);
  o->rank.session = o->visits.session;
  o->rank.more = more;
  char *close = run_close_members(&o->looked);
  o->rank.more_close = close;
  RankOptions by = o->rank;
  by.method = by.method ? by.method : METHOD_WEB;
  int status = later ? EXIT_DONE : rank_print(o->visits.store, &by, stdout);
  if (tries && status == EXIT_DONE)
    status = try_requests(o, list, e);
  o->rank.more = o->rank.more_close = NULL;
  free(more);
  free(close);
  return status == EXIT_DONE ? EXIT_FAILED : status;
}

static void print_no_failures(const Options *o, const Suite *suite,
                              const Explorer *e) {
  fputs("{\"version\":1", stdout);
  report_json_notes(suite, stdout);
  refused_json(&o->refusals, stdout);
  web_explore_json(e, stdout);
  puts(",\"places\":[],\"failures\":[]}");
}

static int report(Options *o, const Requests *list, const Explorer *e,
                  double seconds) {
  Err err;
  Suite suite = {0};
  if (store_load(o->visits.store, o->visits.session, &suite, &err))
    return cli_error(&err);
  bool tries = o->tries && rank_has_spectra(&suite, VERDICT_FAIL) &&
               rank_has_spectra(&suite, VERDICT_PASS);
  bool failing = suite.nfailures > 0, text = !strcmp(o->rank.format, "text");
  if (!o->quiet && text) {
    Str summary = {0};
    summary_write(&suite, seconds, &summary);
    if (!failing)
      summary_notes(&suite, &summary);
    fputs(str_text(&summary), stdout);
    str_release(&summary);
  }
  int status = EXIT_DONE;
  if (e) {
    if (text && !o->quiet)
      web_explore_print(e, stdout);
    status = web_explore_keep(e, &o->visits, &suite, text && !o->quiet);
  }
  if (status == EXIT_DONE && !failing && !text)
    print_no_failures(o, &suite, e);
  suite_release(&suite);
  if (status != EXIT_DONE || (!failing && !text))
    return status;
  if (text)
    refused_print(&o->refusals, stdout);
  if (text && !o->quiet)
    run_close_describe(&o->looked, "requests", stdout);
  if (failing)
    return rank(o, list, e, tries);
  if (!o->quiet)
    puts("Nothing failed, so there is nothing to rank. More requests, or "
         "--severity all, may show more.");
  return EXIT_DONE;
}

// A killed exploration is continued by the same command, any by --resume.
static int begin_session(Options *o, const char *command, Err *err) {
  Visits *v = &o->visits;
  bool continued = false;
  char *key = session_key(o, command), *cwd = path_absolute(".", NULL);
  int rc = o->explore.resume ? session_reopen(v->store, &v->session, err)
                             : session_begin(v->store, key, command, cwd,
                                             &v->session, &continued, err);
  free(key);
  free(cwd);
  char *code = app_code_root(v->app.root);
  if (!rc)
    rc = session_set_root(v->store, v->session, code, err);
  free(code);
  if (rc || o->requests)
    return rc;
  char *dir = arena_printf(&o->arena, "%s/made/%lld", store_dir(v->store),
                           (long long)v->session);
  o->explore.saved = arena_printf(&o->arena, "%s/exploration", dir);
  if (o->explore.resume && !fs_exists(o->explore.saved))
    return err_set(err,
                   "%s: session %lld is not an exploration; --resume continues "
                   "the newest session of the store",
                   store_dir(v->store), (long long)v->session);
  o->explore.resume |= continued && fs_exists(o->explore.saved);
  return fs_mkdirs(dir, err);
}

// The first pass has removed what was in its area, and the area with it. If what
// the application does stays, requests are made once, unless the user asks for
// more.
static int look_closer(Options *o, const Requests *list, const Explorer *e,
                       double took) {
  Err err;
  double seconds = run_close_seconds(o->close, took);
  double left = o->visits.app.until - clock_now();
  if (e && left < seconds)
    seconds = left;
  WebCloseOptions close = {
      .seconds = seconds, .took = took, .show_progress = show_progress};
  if (seconds <= 0 || (o->close < 0 && visits_have_effects(&o->visits)))
    return EXIT_DONE;
  area_close(&o->area);
  int status = open_area(o);
  if (status != EXIT_DONE)
    return status;
  return web_close(&close, &o->visits, list, e, &o->looked, &err)
             ? cli_error(&err)
             : EXIT_DONE;
}

static int run_session(Options *o, const Requests *list, const char *command) {
  Err err;
  Visits *v = &o->visits;
  if (begin_session(o, command, &err))
    return cli_error(&err);
  double start = clock_now();
  Explorer *e = NULL;
  web_explore_begin(&o->explore, o->requests ? NULL : v, o->close);
  v->refusals = v->in_place ? NULL : &o->refusals;
  stop_orderly(STOP_SECONDS);
  int status = open_area(o);
  if (status == EXIT_DONE)
    status = confine_application(v, &o->confine, &o->arena);
  if (status == EXIT_DONE)
    status = o->requests ? run_visits(o, list) : run_explorer(o, list, &e);
  if (store_flush(v->store, &err) ||
      (status == EXIT_DONE && session_finish(v->store, v->session, &err)))
    status = cli_error(&err);
  double took = clock_now() - start;
  if (status == EXIT_DONE)
    status = look_closer(o, list, e, took);
  area_close(&o->area);
  stop_orderly(0);
  if (status == EXIT_DONE)
    status = report(o, list, e, took);
  explorer_free(e);
  return status;
}

// PHP reports into the record, not into the page: a message whose severity is
// not a failure would break the HTML. --ini can undo this.
static void hide_messages(Options *o) {
  Texts ini = {0};
  array_push(&ini, "display_errors=0");
  for (size_t i = 0; i < o->visits.ini.len; i++)
    array_push(&ini, o->visits.ini.items[i]);
  array_release(&o->visits.ini);
  o->visits.ini = ini;
}

// Exploring needs to know what input was compared with, and cannot wait long
// for pages that never end.
static void prepare_exploring(Options *o) {
  array_push(&o->visits.ini, "culprit.collect=statements,conditions,returns,"
                             "edges,output,compares,shadows");
  if (!(o->visits.app.timeout > 0))
    o->visits.app.timeout = EXPLORE_TIMEOUT;
}

// What the options name is there.
static int prepare(Options *o, Requests *list) {
  int status = check_root(o);
  if (status == EXIT_DONE)
    status = read_requests(o, list);
  if (status == EXIT_DONE)
    status =
        web_explore_prepare(&o->more, &o->visits, o->requests, list, &o->arena);
  if (status == EXIT_DONE)
    status = check_entries(o);
  if (status == EXIT_DONE)
    status = find_extension(o);
  hide_messages(o);
  if (!o->requests)
    prepare_exploring(o);
  o->visits.oracle.timeout =
      o->visits.app.timeout > 0 ? o->visits.app.timeout : APP_SECONDS;
  return status;
}

static int web(Options *o, const char *command) {
  Requests list = {0};
  int status = prepare(o, &list);
  if (status == EXIT_DONE) {
    status = cli_open_store(&o->visits.store, o->store, STORE_CREATE);
    if (status == EXIT_DONE)
      status = run_session(o, &list, command);
    store_close(o->visits.store);
  }
  return status;
}

// --- a stored session ---------------------------------------------------------

// The options of the command that made the session, as they were in its
// directory.
static int take_stored(Options *o, const Suite *suite, Requests *list) {
  Words words;
  int first, here = cli_enter(suite->cwd);
  char *line = arena_strdup(&o->arena, suite->command);
  int status = EXIT_USAGE;
  if (here < 0) {
    status = EXIT_ENVIRONMENT;
  } else if (words_parse(&words, line, &o->arena) && words.argc > 2 &&
             options_parse(&cmd_web, (int)words.argc - 1, words.argv + 1, o,
                           &first) == OPTIONS_TAKEN &&
             first == (int)words.argc - 2) {
    o->visits.app.root = words.argv[first + 1];
    status = prepare(o, list);
  } else {
    cli_fail(status, "session %lld: its command line cannot be read: %s",
             (long long)suite->session, suite->command);
  }
  if (here >= 0 && cli_return(here))
    status = EXIT_ENVIRONMENT;
  return status;
}

static int read_exploration(Options *o, const Suite *suite,
                            const Requests *list, Explorer **out) {
  Err err;
  o->explore.visits = &o->visits;
  o->explore.first = list;
  o->explore.saved =
      arena_printf(&o->arena, "%s/made/%lld/exploration",
                   store_dir(o->visits.store), (long long)suite->session);
  *out = explorer_new(&o->explore);
  return checkpoint_read(*out, o->explore.saved, &err) ? cli_error(&err)
                                                       : EXIT_DONE;
}

int web_stored(Store *store, const Suite *suite, int jobs,
               ConfineOptions *confine, WebAgainWork *work, void *context) {
  Options o;
  Requests list = {0};
  Explorer *e = NULL;
  options_init(&o);
  int status = take_stored(&o, suite, &list);
  Visits *v = &o.visits;
  v->store = store;
  v->in_place = false;
  v->workers = jobs ? jobs : v->workers;
  if (status == EXIT_DONE)
    status = open_area(&o);
  if (status == EXIT_DONE)
    status = confine_application(v, confine, &o.arena);
  if (status == EXIT_DONE && !o.requests)
    status = read_exploration(&o, suite, &list, &e);
  if (status == EXIT_DONE)
    status = work(context, v, &list, e);
  explorer_free(e);
  area_close(&o.area);
  options_release(&o);
  return status;
}

static int web_main(int argc, char **argv) {
  Options o;
  int first;
  options_init(&o);
  int status = options_parse(&cmd_web, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && argc - first != 1) {
    status = options_wrong(&cmd_web, "name one directory: the "
                                     "application's document root");
  } else if (status == OPTIONS_TAKEN) {
    o.visits.app.root = argv[first];
    char *command = cli_command_line(argv);
    cli_resumes(argv);
    status = web(&o, command);
    free(command);
  }
  options_release(&o);
  return status;
}

const Command cmd_web = {
    "web",
    "test a PHP application, localize its failures",
    web_main,
    .usage = "DIR [--requests FILE] [options]",
    .about =
        "Make the requests of FILE to the PHP application in DIR, or explore "
        "it; find what fails (PHP errors, failed queries, malformed HTML), and "
        "print for each failure the lines to look at first. The application is "
        "confined: what it writes is discarded at the end, DIR stays as it is, "
        "mail is not sent, and connections are refused and reported.\n\n"
        "Exploring follows every link and form and solves for the input that "
        "branches compare. .culprit/made keeps the requests that show a "
        "failure.",
    .options = options,
    .end = "Exit status: 0 nothing failed, 1 failures found, 2 usage, 3 "
           "environment, 4 no usable verdict, 130 interrupted (the same "
           "command continues)."};
