// The options of `culprit web`: see web_options.h.
#include "cli/web_options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli.h"
#include "locate/localizer.h"
#include "util/mem.h"
#include "util/str.h"

enum { JOBS_MAX = 64, EXPLORE_SECONDS = 60 };

// --- options ----------------------------------------------------------------

void web_options_init(WebOptions *o) {
  *o = (WebOptions){.area = AREA_NONE, .close = -1, .looked = {.ended = ""}};
  rank_options_init(&o->rank);
  refusals_init(&o->refusals);
  o->visits.oracle.severities = WEB_DEFAULT;
  o->explore.budget = EXPLORE_SECONDS;
  o->explore.strategy = web_strategy_find("base");
}

void web_options_release(WebOptions *o) {
  rank_options_release(&o->rank);
  visits_release(&o->visits);
  confine_options_release(&o->confine);
  web_explore_release(&o->more);
  refusals_release(&o->refusals);
  close_look_release(&o->looked);
  arena_release(&o->arena);
}

// A path, unless it begins in the worker's directory.
static const char *own_or_absolute(WebOptions *o, const char *path) {
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
  WebOptions *options = field;
  array_push(&options->visits.files, own_or_absolute(options, arg));
  return 0;
}

static int take_database(const Option *o, void *field, const char *arg) {
  (void)o;
  WebOptions *options = field;
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

const Option web_options[] = {
    {.title = "Requests"},
    {"requests", "FILE", &option_text, offsetof(WebOptions, requests),
     "list of requests, one per line: METHOD PATH[?QUERY] [BODY]. A line --- "
     "starts another visitor, `setup` before a request says that it is not a "
     "test, indented lines are headers. Or a browser's .har file"},
    {"host", "NAME", &option_text, offsetof(WebOptions, host),
     "take only requests to this host from a .har file"},
    {.title = "Exploring (without --requests)"},
    {"seed-requests", "FILE", &option_text, offsetof(WebOptions, first),
     "list of requests to start from: logins, or a failing request"},
    {.rows = web_login_options, .at = offsetof(WebOptions, more)},
    {"budget", "SECONDS", &option_real, offsetof(WebOptions, explore.budget),
     "time for everything but the ranking (default: 60)"},
    {"max-tests", "N", &option_count, offsetof(WebOptions, explore.max_tests),
     "make at most N requests"},
    {"coverage", "PERCENT", &option_real,
     offsetof(WebOptions, explore.coverage),
     "stop when this share of the statements is executed", .max = 100},
    {"max-failures", "N", &option_count,
     offsetof(WebOptions, explore.max_failures),
     "stop when N different failures are found"},
    {"strategy", "base|coverage|pcs|is|crawl", &option_strategy,
     offsetof(WebOptions, explore.strategy),
     "which request to make next: base (default), the one that covers most. "
     "Starting from a failing request, the last of --seed-requests or the "
     "first found: coverage; pcs, the most similar path; is, the most similar "
     "input. crawl: as base, but only links and forms, solve nothing"},
    {"destructive", "last|never|any", &option_choice,
     offsetof(WebOptions, explore.last),
     "when to request logout, delete and the like (default: last)"},
    {"seed", "N", &option_seed, offsetof(WebOptions, explore.seed),
     "seed of the order among equally good requests"},
    {"resume", NULL, &option_flag, offsetof(WebOptions, explore.resume),
     "continue the newest exploration"},
    {"seed-apart", NULL, &option_flag, offsetof(WebOptions, explore.apart),
     "make the requests of --seed-requests, but do not explore from them"},
    {"solve-seconds", "SECONDS", &option_real,
     offsetof(WebOptions, explore.solve_seconds),
     "time to solve for the branches of one request (default: 3)"},
    {"no-reduce", NULL, &option_flag, offsetof(WebOptions, explore.no_reduce),
     "do not minimise the requests that show a failure"},
    {.title = "Application (%w in a value: the worker's own directory; %s: the "
              "socket of "
              "its database server)"},
    {"front", "FILE", &option_text, offsetof(WebOptions, visits.app.front),
     "front controller: it serves every path that is not a file"},
    {"ini", "NAME=VALUE", &option_pair, offsetof(WebOptions, visits.ini),
     "setting of PHP", .repeats = true},
    {.rows = web_ini_options, .at = offsetof(WebOptions, more)},
    {"env", "NAME=VALUE", &option_pair, offsetof(WebOptions, visits.env),
     "variable of its environment", .repeats = true},
    {"state", "PATH", &option_state, 0,
     "file or directory that it writes (SQLite, uploads), restored for every "
     "visitor",
     .repeats = true},
    {"mariadb", "DB[=FILE]", &option_database, 0,
     "start a database server with this database, filled from the SQL in FILE; "
     "`localhost` means that server",
     .repeats = true},
    {"sql-mode", "MODE", &option_text, offsetof(WebOptions, visits.sql_mode),
     "sql_mode of that server, as '' or ANSI_QUOTES (default: its own)"},
    {"php-cgi", "PROG", &option_text, offsetof(WebOptions, visits.app.php_cgi),
     "PHP to run (default: php-cgi8.2)"},
    {"follow-links", NULL, &option_flag,
     offsetof(WebOptions, visits.app.follow_links),
     "let symbolic links lead out of DIR"},
    {"timeout", "SECONDS", &option_real,
     offsetof(WebOptions, visits.app.timeout),
     "limit for one request (default: 30; exploring: 5)"},
    {"jobs", "N", &option_int, offsetof(WebOptions, visits.workers),
     "workers (default: one per processor; one if they would share what "
     "--state names)",
     .letter = 'j', .max = JOBS_MAX},
    {"in-place", NULL, &option_flag, offsetof(WebOptions, visits.in_place),
     "do not confine it: it may change DIR and everything that you may change, "
     "connect and send mail"},
    {.rows = confine_options, .at = offsetof(WebOptions, confine)},
    {.title = "Oracle"},
    {"severity", "LIST", &option_severity,
     offsetof(WebOptions, visits.oracle.severities),
     "what is a failure: fatal, warning, notice, deprecated, query, html, "
     "status, all (default: fatal,query,html,status)"},
    {"doctype", NULL, &option_flag,
     offsetof(WebOptions, visits.oracle.html.doctype), "require a DOCTYPE"},
    {"no-explicit-end", NULL, &option_flag,
     offsetof(WebOptions, visits.oracle.html.no_explicit_end),
     "let <body> and <html> lack their end tags"},
    {"html-ignore", "KEYS", &option_text,
     offsetof(WebOptions, visits.oracle.html.ignore),
     "kinds of HTML failures to ignore, separated by commas"},
    {"nu", "[=PROG]", &option_checker, offsetof(WebOptions, visits.oracle.nu),
     "also check good pages with the Nu checker (default: vnu)"},
    {"max-page", "SIZE", &option_size,
     offsetof(WebOptions, visits.app.max_body),
     "limit for the size of pages to check, as 4M (default: 16M); the result "
     "names larger ones",
     .max = HTML_PAGE_MAX},
    {.title = "Output"},
    {"close", "SECONDS", &option_real0, offsetof(WebOptions, close),
     "time for a closer look at the requests that matter, which are made again "
     "(default: as long as all requests took, 5 to 10; none with --in-place or "
     "--allow-...; 0: none)"},
    {"try", NULL, &option_flag, offsetof(WebOptions, tries),
     "then change one thing at a time at the first suspects and see what "
     "repairs the failing requests, as `culprit try` does"},
    {"method", "METHOD", &option_text, offsetof(WebOptions, rank.method),
     "method of the ranking (default: " METHOD_WEB "; with --try: try)",
     .word = rank_method_word},
    {.rows = rank_others_options, .at = offsetof(WebOptions, rank)},
    {"output-map", "DIR", &option_text, offsetof(WebOptions, visits.pages),
     "keep every page in DIR, with a map of which line wrote which bytes"},
    {.rows = rank_shown_options, .at = offsetof(WebOptions, rank)},
    {"json", NULL, &option_name, offsetof(WebOptions, rank.format),
     "print JSON, for programs"},
    {.rows = option_quiet, .at = offsetof(WebOptions, quiet)},
    {.rows = option_store, .at = offsetof(WebOptions, store)},
    {0}};
