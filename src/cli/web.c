// culprit web: requests to a PHP application, given or found by exploring it;
// its failures, each localized.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine_options.h"
#include "cli/rank.h"
#include "cli/refused.h"
#include "explore/entry_pages.h"
#include "explore/explorer.h"
#include "explore/solve/request_solver.h"
#include "php/application.h"
#include "process/process.h"
#include "report/report.h"
#include "run/summary.h"
#include "run/visits.h"
#include "util/area.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

#define WEB_METHOD "apollo-tc+o"

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
  const char *requests, *first, *host, *store, *color, *severity;
  ConfineOptions confine;
  Refusals refusals;
  bool quiet, help;
  Area area;
  Arena arena;
} Options;

enum {
  OPT_REQUESTS = 256,
  OPT_FIRST,
  OPT_BUDGET,
  OPT_MAX_TESTS,
  OPT_SEED,
  OPT_STRATEGY,
  OPT_DESTRUCTIVE,
  OPT_COVERAGE,
  OPT_MAX_FAILURES,
  OPT_RESUME,
  OPT_NO_REDUCE,
  OPT_SEED_APART,
  OPT_SOLVE_SECONDS,
  OPT_HOST,
  OPT_FRONT,
  OPT_INI,
  OPT_ENV,
  OPT_STATE,
  OPT_IN_PLACE,
  OPT_ALLOW_WRITE,
  OPT_ALLOW_CONNECT,
  OPT_MARIADB,
  OPT_PHP,
  OPT_FOLLOW,
  OPT_TIMEOUT,
  OPT_SEVERITY,
  OPT_DOCTYPE,
  OPT_NO_END,
  OPT_HTML_IGNORE,
  OPT_NU,
  OPT_MAX_PAGE,
  OPT_PAGES,
  OPT_METHOD,
  OPT_ONLY,
  OPT_EXCLUDE,
  OPT_TOP,
  OPT_JSON,
  OPT_STORE,
  OPT_COLOR,
};

static const struct option long_options[] = {
    {"requests", required_argument, NULL, OPT_REQUESTS},
    {"seed-requests", required_argument, NULL, OPT_FIRST},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"max-tests", required_argument, NULL, OPT_MAX_TESTS},
    {"seed", required_argument, NULL, OPT_SEED},
    {"strategy", required_argument, NULL, OPT_STRATEGY},
    {"destructive", required_argument, NULL, OPT_DESTRUCTIVE},
    {"coverage", required_argument, NULL, OPT_COVERAGE},
    {"max-failures", required_argument, NULL, OPT_MAX_FAILURES},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"no-reduce", no_argument, NULL, OPT_NO_REDUCE},
    {"seed-apart", no_argument, NULL, OPT_SEED_APART},
    {"solve-seconds", required_argument, NULL, OPT_SOLVE_SECONDS},
    {"host", required_argument, NULL, OPT_HOST},
    {"front", required_argument, NULL, OPT_FRONT},
    {"ini", required_argument, NULL, OPT_INI},
    {"env", required_argument, NULL, OPT_ENV},
    {"state", required_argument, NULL, OPT_STATE},
    {"in-place", no_argument, NULL, OPT_IN_PLACE},
    {"allow-write", required_argument, NULL, OPT_ALLOW_WRITE},
    {"allow-connect", required_argument, NULL, OPT_ALLOW_CONNECT},
    {"mariadb", required_argument, NULL, OPT_MARIADB},
    {"php-cgi", required_argument, NULL, OPT_PHP},
    {"follow-links", no_argument, NULL, OPT_FOLLOW},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"severity", required_argument, NULL, OPT_SEVERITY},
    {"doctype", no_argument, NULL, OPT_DOCTYPE},
    {"no-explicit-end", no_argument, NULL, OPT_NO_END},
    {"html-ignore", required_argument, NULL, OPT_HTML_IGNORE},
    {"nu", optional_argument, NULL, OPT_NU},
    {"max-page", required_argument, NULL, OPT_MAX_PAGE},
    {"output-map", required_argument, NULL, OPT_PAGES},
    {"method", required_argument, NULL, OPT_METHOD},
    {"only", required_argument, NULL, OPT_ONLY},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"top", required_argument, NULL, OPT_TOP},
    {"json", no_argument, NULL, OPT_JSON},
    {"jobs", required_argument, NULL, 'j'},
    {"store", required_argument, NULL, OPT_STORE},
    {"color", required_argument, NULL, OPT_COLOR},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void print_help(void) {
  puts(
      "usage: culprit web DIR [--requests FILE] [options]\n"
      "\n"
      "Makes the requests of FILE to the PHP application in DIR, or explores\n"
      "it by itself, finds what fails (PHP errors, failed queries, pages that\n"
      "are no good HTML), and prints for each failure which lines to look at\n"
      "first. The application is confined: what it writes, wherever that is,\n"
      "is gone at the end, DIR stays as it is, mail is not sent, and\n"
      "connections are refused and reported.\n"
      "\n"
      "what is asked\n"
      "  --requests FILE    one request a line: METHOD PATH[?QUERY] [BODY];\n"
      "                     `---` another visitor, `setup ` in front: no\n"
      "                     test of its own, indented lines: headers. Or a\n"
      "                     browser's .har file\n"
      "  --host NAME        of a .har file: only requests to this host\n"
      "without --requests: every page, its links and forms, and what their\n"
      "input is compared with; requests that show a failure are kept in\n"
      ".culprit/made\n"
      "  --seed-requests FILE  a list to begin with and go on from: logins "
      "with\n"
      "                     passwords that nobody could guess\n"
      "  --budget S         seconds to explore (default: 60)\n"
      "  --max-tests N      requests to make at most\n"
      "  --coverage P       end when P % of the statements are executed\n"
      "  --max-failures N   end when N different failures are found\n"
      "  --strategy S       base: what covers most (default). From a failing\n"
      "                     request, the last of --seed-requests or the first\n"
      "                     found: coverage; pcs, the most similar path; is,\n"
      "                     the most similar input. crawl: as base, but\n"
      "                     links and forms alone, nothing is solved\n"
      "  --destructive W    logout, delete, ...: last (default), never, any\n"
      "  --seed N           another order among equally good requests\n"
      "  --resume           go on with the last exploration\n"
      "  --seed-apart       nothing is made of those requests: exploring\n"
      "                     starts from nothing all the same\n"
      "  --solve-seconds S  for the decisions of one request (default: 3)\n"
      "  --no-reduce        keep the requests that show a failure as found\n"
      "\n"
      "the application; %w in a value: a directory of the worker's own, %s:\n"
      "the socket of its database server\n"
      "  --front FILE       gets every path that is no file (index.php)\n"
      "  --ini NAME=VALUE   a setting of PHP; may be repeated\n"
      "  --env NAME=VALUE   in its environment; may be repeated\n"
      "  --state PATH       a file or directory that it writes (SQLite,\n"
      "                     uploads): as it was for every visitor\n"
      "  --mariadb DB[=SQL] a database server of its own, with this database,\n"
      "                     filled from the file SQL; `localhost` means it\n"
      "  --php-cgi PROG     default: php-cgi8.2\n"
      "  --follow-links     symbolic links may lead out of DIR\n"
      "  --timeout S        seconds for one request (default: 30; exploring: "
      "5)\n"
      "  -j N               N workers (default: one per core; one if they\n"
      "                     would share what --state names)\n"
      "  --in-place         do not confine it: it changes the files in DIR "
      "and\n"
      "                     whatever else you may change\n" CONFINE_HELP "\n"
      "what is a failure\n"
      "  --severity LIST    fatal, warning, notice, deprecated, query, html,\n"
      "                     status, all (default: fatal,query,html,status)\n"
      "  --doctype          a page without DOCTYPE\n"
      "  --no-explicit-end  <body> and <html> need no end tag\n"
      "  --html-ignore KEYS kinds of HTML failures that are none\n"
      "  --nu[=PROG]        good pages are also shown to the Nu checker (vnu)\n"
      "  --max-page SIZE    check pages up to SIZE bytes, K, M or G (default:\n"
      "                     16M); of a larger one the result says so\n"
      "\n"
      "what is shown\n"
      "  --method M         default: " WEB_METHOD "\n"
      "  --output-map DIR   keep every page there, with a list of which\n"
      "                     line wrote which bytes\n"
      "  --only PATH --exclude PATH, --top N|all, --json\n"
      "  --color WHEN, -q, --store DIR   as for culprit run\n"
      "\n"
      "Exit: 0 nothing failed, 1 failures found, 2 usage, 3 environment,\n"
      "4 no usable verdict, 130 interrupted (the same command continues).");
}

static void options_init(Options *o) {
  *o = (Options){.area = AREA_NONE};
  rank_options_init(&o->rank);
  refusals_init(&o->refusals);
  o->rank.method = NULL;
  o->visits.oracle.severities = WEB_DEFAULT;
  o->explore.budget = EXPLORE_SECONDS;
  o->explore.strategy = web_strategy_find("base");
}

static void options_release(Options *o) {
  rank_options_release(&o->rank);
  visits_release(&o->visits);
  confine_options_release(&o->confine);
  refusals_release(&o->refusals);
  arena_release(&o->arena);
}

// A path, unless it begins in the worker's directory.
static const char *own_or_absolute(Options *o, const char *path) {
  return text_starts(path, "%w") ? path : cli_absolute(&o->arena, path);
}

static int take_pair(Texts *list, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return -1;
  array_push(list, text);
  return 0;
}

static int take_database(Options *o, const char *text) {
  const char *equals = strchr(text, '=');
  Database d = {.name = text};
  if (equals == text || !*text)
    return -1;
  if (equals) {
    d.name = arena_strndup(&o->arena, text, (size_t)(equals - text));
    d.sql = cli_absolute(&o->arena, equals + 1);
  }
  array_push(&o->visits.databases, d);
  return 0;
}

static int take_seed(const char *text, uint64_t *out) {
  char *end;
  *out = strtoull(text, &end, 10);
  return *text < '0' || *text > '9' || *end ? -1 : 0;
}

static int take_strategy(Options *o, const char *text) {
  o->explore.strategy = web_strategy_find(text);
  return o->explore.strategy ? 0 : -1;
}

static int take_destructive(Options *o, const char *text) {
  static const char *const words[] = {
      [LAST_LAST] = "last", [LAST_NEVER] = "never", [LAST_ANY] = "any"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i], text)) {
      o->explore.last = (LastMode)i;
      return 0;
    }
  return -1;
}

static int take_percent(const char *text, double *out) {
  return cli_seconds(text, out) || *out > 100 ? -1 : 0;
}

static int take_color(Options *o, const char *text) {
  o->color = text;
  return cli_color(text, STDOUT_FILENO) < 0 ? -1 : 0;
}

// -1: `arg` is nothing the option takes.
static int take_option(void *options, int opt, const char *arg) {
  Options *o = options;
  Visits *v = &o->visits;
  // clang-format off
  switch (opt) {
  case 'h': o->help = true; return 0;
  case 'q': o->quiet = true; return 0;
  case 'j': return cli_jobs(arg, JOBS_MAX, &v->workers);
  case OPT_REQUESTS: o->requests = arg; return 0;
  case OPT_FIRST: o->first = arg; return 0;
  case OPT_BUDGET: return cli_seconds(arg, &o->explore.budget);
  case OPT_MAX_TESTS: return cli_count(arg, &o->explore.max_tests);
  case OPT_SEED: return take_seed(arg, &o->explore.seed);
  case OPT_STRATEGY: return take_strategy(o, arg);
  case OPT_DESTRUCTIVE: return take_destructive(o, arg);
  case OPT_COVERAGE: return take_percent(arg, &o->explore.coverage);
  case OPT_MAX_FAILURES: return cli_count(arg, &o->explore.max_failures);
  case OPT_RESUME: o->explore.resume = true; return 0;
  case OPT_NO_REDUCE: o->explore.no_reduce = true; return 0;
  case OPT_SEED_APART: o->explore.apart = true; return 0;
  case OPT_SOLVE_SECONDS: return cli_seconds(arg, &o->explore.solve_seconds);
  case OPT_HOST: o->host = arg; return 0;
  case OPT_FRONT: v->app.front = arg; return 0;
  case OPT_INI: return take_pair(&v->ini, arg);
  case OPT_ENV: return take_pair(&v->env, arg);
  case OPT_STATE: array_push(&v->files, own_or_absolute(o, arg)); return 0;
  case OPT_IN_PLACE: v->in_place = true; return 0;
  case OPT_ALLOW_WRITE:
    return confine_take_write(&o->confine, &o->arena, arg);
  case OPT_ALLOW_CONNECT: return confine_take_connect(&o->confine, arg);
  case OPT_MARIADB: return take_database(o, arg);
  case OPT_PHP: v->app.php_cgi = arg; return 0;
  case OPT_FOLLOW: v->app.follow_links = true; return 0;
  case OPT_TIMEOUT: return cli_seconds(arg, &v->app.timeout);
  case OPT_SEVERITY: return web_severities_parse(arg, &v->oracle.severities);
  case OPT_DOCTYPE: v->oracle.html.doctype = true; return 0;
  case OPT_NO_END: v->oracle.html.no_explicit_end = true; return 0;
  case OPT_NU: v->oracle.nu = arg ? arg : "vnu"; return 0;
  case OPT_HTML_IGNORE: v->oracle.html.ignore = arg; return 0;
  case OPT_MAX_PAGE: return cli_size(arg, HTML_PAGE_MAX, &v->app.max_body);
  case OPT_PAGES: v->pages = arg; return 0;
  case OPT_METHOD: o->rank.method = arg; return 0;
  case OPT_ONLY: array_push(&o->rank.only, arg); return 0;
  case OPT_EXCLUDE: array_push(&o->rank.exclude, arg); return 0;
  case OPT_TOP: return cli_top(arg, &o->rank.top);
  case OPT_JSON: o->rank.format = "json"; return 0;
  case OPT_STORE: o->store = arg; return 0;
  case OPT_COLOR: return take_color(o, arg);
  default: return -1;
  }
  // clang-format on
}

// Returns 0, or -1 after a message.
static int parse_arguments(Options *o, int argc, char **argv) {
  int first = cli_options(argc, argv, "j:qh", long_options, take_option, o);
  if (first < 0 || o->help)
    return first < 0 ? -1 : 0;
  if (argc - first != 1) {
    cli_fail(EXIT_USAGE, "name one directory: the application's document root");
    return -1;
  }
  o->visits.app.root = argv[first];
  if (!o->rank.method)
    o->rank.method = WEB_METHOD;
  return 0;
}

// --- the site ---------------------------------------------------------------

static int check_root(Options *o) {
  struct stat st;
  const char *given = o->visits.app.root;
  char *full = realpath(given, NULL);
  if (!full || stat(full, &st) || !S_ISDIR(st.st_mode)) {
    free(full);
    return cli_fail(EXIT_USAGE,
                    "%s is no directory: name the application's "
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
    return cli_fail(EXIT_USAGE, "--requests and --resume: a list is continued "
                                "by the same command");
  if (o->requests && o->first)
    return cli_fail(EXIT_USAGE, "--requests and --seed-requests: exploring "
                                "needs only the latter");
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
  return cli_fail(EXIT_USAGE, "%s: there is no request in it", path);
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
  area_guard(&o->area);
  char *real = realpath(o->area.dir, NULL);
  o->visits.scratch = arena_strdup(&o->arena, real ? real : o->area.dir);
  free(real);
  o->visits.logs =
      arena_printf(&o->arena, "%s/logs", store_dir(o->visits.store));
  show_progress = isatty(STDERR_FILENO) && !o->quiet;
  return EXIT_DONE;
}

// --- confinement ------------------------------------------------------------

// Without links, as the root is.
static const char *real_name(Options *o, const char *path) {
  char *real = realpath(path, NULL);
  const char *name = arena_strdup(&o->arena, real ? real : path);
  free(real);
  return name;
}

// What we write meanwhile stays real for the application, which may only read
// it.
static int plan_confinement(Options *o, Err *err) {
  Visits *v = &o->visits;
  const char **seen = arena_array(&o->arena, const char *, 3);
  seen[0] = real_name(o, store_dir(v->store));
  if (v->pages) {
    if (fs_mkdirs(v->pages, err))
      return -1;
    v->pages = seen[1] = real_name(o, v->pages);
  }
  for (size_t i = 0; i < o->confine.writable.len; i++)
    o->confine.writable.items[i] = real_name(o, o->confine.writable.items[i]);
  confine_options_end(&o->confine);
  v->confine = o->confine.plan;
  v->confine.seen = seen;
  v->refusals = &o->refusals;
  v->tree_is_state = app_is_small(v->app.root);
  return 0;
}

// What is written outside of DIR is refused where there is no view.
static void warn_of_state(const Visits *v) {
  for (size_t i = 0; i < v->files.len; i++) {
    const char *path = v->files.items[i];
    if (!text_starts(path, "%w") && path_below(path, v->app.root) == path)
      cli_warn("--state %s: only %s is copied on this system; the application "
               "cannot write there unless --allow-write says so",
               path, v->app.root);
  }
}

static void tell_confined(const Visits *v, Confine *c) {
  confine_explain(&c, 1);
  if (!confine_has_view(c))
    warn_of_state(v);
}

static bool shares_state(const Visits *v) {
  for (size_t i = 0; i < v->files.len; i++)
    if (!text_starts(v->files.items[i], "%w"))
      return true;
  return false;
}

// How many workers there may be depends on whether they have views.
static int find_view(Options *o, Err *err) {
  Visits *v = &o->visits;
  Confine *c;
  if (!shares_state(v))
    return 0;
  ConfinePlan plan = v->confine;
  plan.scratch = arena_printf(&o->arena, "%s/try", v->scratch);
  if (confine_open(&c, &plan, err))
    return -1;
  v->has_view = confine_has_view(c);
  confine_close(c);
  return 0;
}

static int prepare_confinement(Options *o) {
  Err err;
  Visits *v = &o->visits;
  v->confined = tell_confined;
  if (v->in_place)
    cli_warn("--in-place: %s is not copied; the application may change it and "
             "all else that you may change, connect and send mail",
             v->app.root);
  else if (plan_confinement(o, &err) || find_view(o, &err))
    return cli_error(&err);
  return EXIT_DONE;
}

static int run_visits(Options *o, const Requests *list) {
  Err err;
  Visits *v = &o->visits;
  v->progress = print_progress;
  int rc = visits_run(v, list, &err);
  if (show_progress)
    fputs("\r\033[K", stderr);
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

static int run_explorer(Options *o, const Requests *list, Explorer **out) {
  Err err;
  o->explore.visits = &o->visits;
  o->explore.first = list;
  o->explore.progress = print_found;
  *out = explorer_new(&o->explore);
  int rc = explorer_run(*out, &err);
  if (show_progress)
    fputs("\r\033[K", stderr);
  if (stop_requested())
    return cli_interrupted("requests done and kept: %zu; `culprit rank` shows "
                           "what they found",
                           explorer_progress(*out)->requests);
  if (!rc)
    return EXIT_DONE;
  if (explorer_progress(*out)->requests)
    return cli_fail(
        EXIT_ENVIRONMENT,
        "%s\nculprit: requests done and kept: %zu; the same command "
        "with --resume goes on",
        err.text, explorer_progress(*out)->requests);
  return cli_error(&err);
}

static int keep_sequences(Options *o, const Explorer *e, const Suite *suite) {
  Err err;
  const Visits *v = &o->visits;
  char *dir =
      mem_printf("%s/made/%lld", store_dir(v->store), (long long)v->session);
  int rc = explorer_write(e, suite, dir, &err);
  bool tell = !o->quiet && !strcmp(o->rank.format, "text");
  if (!rc && tell && suite->nfailures)
    escape_printf(
        stdout,
        "Requests that show each failure again: %s/failure-1.txt%s, for "
        "--requests; failure-1.sh%s with curl.\n",
        dir, suite->nfailures > 1 ? " ..." : "",
        suite->nfailures > 1 ? " ..." : "");
  free(dir);
  return rc ? cli_error(&err) : EXIT_DONE;
}

static void print_reached(const Options *o, const Explorer *e) {
  const ExplorerProgress *p = explorer_progress(e);
  if (o->quiet || strcmp(o->rank.format, "text") != 0)
    return;
  printf("Explored: %zu script%s, %zu of %zu lines, %zu branch%s, %zu state%s; "
         "%s.\n",
         p->scripts, plural(p->scripts), p->lines, p->statements, p->branches,
         p->branches == 1 ? "" : "es", p->states, plural(p->states),
         p->covered ? "enough is covered"
         : o->explore.max_failures && p->failures >= o->explore.max_failures
             ? "enough failures are found"
         : p->queued ? "the budget ended before the ideas"
                     : "nothing is left to try");
  if (p->dropped)
    printf("%zu more idea%s dropped: there is room for %d at a time.\n",
           p->dropped, p->dropped == 1 ? " was" : "s were", QUEUE_MOST);
  Str solved = {0};
  explorer_report_solving(e, &solved);
  printf("%s", str_text(&solved));
  str_release(&solved);
}

// --- reporting --------------------------------------------------------------

// Caller frees.
static char *refused_member(const Options *o) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  refused_json(&o->refusals, out);
  fclose(out);
  return text;
}

static int rank(Options *o) {
  Visits *v = &o->visits;
  char *more = refused_member(o);
  o->rank.session = v->session;
  o->rank.more = more;
  o->rank.color = cli_color(o->color, STDOUT_FILENO) == 1;
  int status = rank_print(v->store, &o->rank, stdout);
  o->rank.more = NULL;
  free(more);
  return status == EXIT_DONE ? EXIT_FAILED : status;
}

static void print_no_failures(const Options *o, const Suite *suite) {
  fputs("{\"version\":1", stdout);
  report_json_notes(suite, stdout);
  refused_json(&o->refusals, stdout);
  puts(",\"failures\":[]}");
}

static int report(Options *o, const Explorer *e, double seconds) {
  Err err;
  Suite suite = {0};
  if (store_load(o->visits.store, o->visits.session, &suite, &err))
    return cli_error(&err);
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
    print_reached(o, e);
    status = keep_sequences(o, e, &suite);
  }
  if (status == EXIT_DONE && !failing && !text)
    print_no_failures(o, &suite);
  suite_release(&suite);
  if (status != EXIT_DONE || (!failing && !text))
    return status;
  if (text)
    refused_print(&o->refusals, stdout);
  if (failing)
    return rank(o);
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
  if (rc || o->requests)
    return rc;
  char *dir = arena_printf(&o->arena, "%s/made/%lld", store_dir(v->store),
                           (long long)v->session);
  o->explore.saved = arena_printf(&o->arena, "%s/exploration", dir);
  if (o->explore.resume && !fs_exists(o->explore.saved))
    return err_set(err,
                   "%s: session %lld is no exploration; --resume goes on with "
                   "the newest session of the store",
                   store_dir(v->store), (long long)v->session);
  o->explore.resume |= continued && fs_exists(o->explore.saved);
  return fs_mkdirs(dir, err);
}

static int run_session(Options *o, const Requests *list, const char *command) {
  Err err;
  Visits *v = &o->visits;
  if (begin_session(o, command, &err))
    return cli_error(&err);
  double start = clock_now();
  Explorer *e = NULL;
  stop_orderly(STOP_SECONDS);
  int status = open_area(o);
  if (status == EXIT_DONE)
    status = prepare_confinement(o);
  if (status == EXIT_DONE)
    status = o->requests ? run_visits(o, list) : run_explorer(o, list, &e);
  if (store_flush(v->store, &err) ||
      (status == EXIT_DONE && session_finish(v->store, v->session, &err)))
    status = cli_error(&err);
  area_close(&o->area);
  stop_orderly(0);
  if (status == EXIT_DONE)
    status = report(o, e, clock_now() - start);
  explorer_free(e);
  return status;
}

// What PHP reports goes into the record, not into the page, which a message of
// a severity that is no failure would spoil. The user may want it otherwise.
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

static int web(Options *o, const char *command) {
  Err err;
  Requests list = {0};
  int status = check_root(o);
  if (status == EXIT_DONE)
    status = read_requests(o, &list);
  if (status == EXIT_DONE)
    status = check_entries(o);
  if (status == EXIT_DONE)
    status = find_extension(o);
  hide_messages(o);
  if (!o->requests)
    prepare_exploring(o);
  if (status == EXIT_DONE) {
    o->visits.oracle.timeout =
        o->visits.app.timeout > 0 ? o->visits.app.timeout : APP_SECONDS;
    char *dir = store_find(o->store);
    if (store_open(&o->visits.store, dir, STORE_CREATE, &err))
      status = cli_error(&err);
    else
      status = run_session(o, &list, command);
    store_close(o->visits.store);
    free(dir);
  }
  return status;
}

int cmd_web(int argc, char **argv) {
  Options o;
  options_init(&o);
  int status = EXIT_DONE;
  if (parse_arguments(&o, argc, argv)) {
    status = cli_usage_hint("web");
  } else if (o.help) {
    print_help();
  } else {
    char *command = cli_command_line(argv);
    cli_resumes(argv);
    status = web(&o, command);
    free(command);
  }
  options_release(&o);
  return status;
}
