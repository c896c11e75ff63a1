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
#include "cli/web_options.h"
#include "command/cli.h"
#include "command/confine_options.h"
#include "explore/checkpoint.h"
#include "explore/explorer.h"
#include "explore/survey/entry_pages.h"
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
  EXPLORE_TIMEOUT = 5,
  STOP_SECONDS = 20, // to keep what is done when a signal comes
};

// --- the application --------------------------------------------------------

static int check_root(WebOptions *o) {
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
static int check_entries(WebOptions *o) {
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

static int find_extension(WebOptions *o) {
  Err err;
  char *path = app_extension(&err);
  if (!path)
    return cli_error(&err);
  o->visits.app.extension = arena_strdup(&o->arena, path);
  free(path);
  return EXIT_DONE;
}

static int read_requests(WebOptions *o, Requests *list) {
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
static char *session_key(const WebOptions *o, const char *command) {
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
static int open_area(WebOptions *o) {
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

static int run_visits(WebOptions *o, const Requests *list) {
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

static int run_explorer(WebOptions *o, const Requests *list, Explorer **out) {
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
static int try_requests(WebOptions *o, const Requests *list,
                        const Explorer *e) {
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

static int rank(WebOptions *o, const Requests *list, const Explorer *e,
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

static void print_no_failures(const WebOptions *o, const Suite *suite,
                              const Explorer *e) {
  fputs("{\"version\":1", stdout);
  report_json_notes(suite, stdout);
  refused_json(&o->refusals, stdout);
  web_explore_json(e, stdout);
  puts(",\"places\":[],\"failures\":[]}");
}

static int report(WebOptions *o, const Requests *list, const Explorer *e,
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
static int begin_session(WebOptions *o, const char *command, Err *err) {
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
static int look_closer(WebOptions *o, const Requests *list, const Explorer *e,
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

static int run_session(WebOptions *o, const Requests *list,
                       const char *command) {
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
static void hide_messages(WebOptions *o) {
  Texts ini = {0};
  array_push(&ini, "display_errors=0");
  for (size_t i = 0; i < o->visits.ini.len; i++)
    array_push(&ini, o->visits.ini.items[i]);
  array_release(&o->visits.ini);
  o->visits.ini = ini;
}

// Exploring needs to know what input was compared with, and cannot wait long
// for pages that never end.
static void prepare_exploring(WebOptions *o) {
  array_push(&o->visits.ini, "culprit.collect=statements,conditions,returns,"
                             "edges,output,compares,shadows");
  if (!(o->visits.app.timeout > 0))
    o->visits.app.timeout = EXPLORE_TIMEOUT;
}

// What the options name is there.
static int prepare(WebOptions *o, Requests *list) {
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

static int web(WebOptions *o, const char *command) {
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
static int take_stored(WebOptions *o, const Suite *suite, Requests *list) {
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

static int read_exploration(WebOptions *o, const Suite *suite,
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
  WebOptions o;
  Requests list = {0};
  Explorer *e = NULL;
  web_options_init(&o);
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
  web_options_release(&o);
  return status;
}

static int web_main(int argc, char **argv) {
  WebOptions o;
  int first;
  web_options_init(&o);
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
  web_options_release(&o);
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
    .options = web_options,
    .end = "Exit status: 0 nothing failed, 1 failures found, 2 usage, 3 "
           "environment, 4 no usable verdict, 130 interrupted (the same "
           "command continues)."};
