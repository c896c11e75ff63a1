// What `culprit web` says about exploring, and options that only concern it:
// see web.h.
#include <stdlib.h>
#include <string.h>

#include "cli/run_close.h"
#include "cli/web.h"
#include "command/cli.h"
#include "report/json_out.h"
#include "run/visits_confine.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

// --- options ----------------------------------------------------------------

const Option web_login_options[] = {
    {"login", "REQUEST", &option_list, offsetof(WebExploreOptions, logins),
     "log in before exploring: 'POST /login.php user=NAME password=WORD'; one "
     "for each role"},
    {0}};

const Option web_ini_options[] = {{"php-ini", "FILE", &option_text,
                                   offsetof(WebExploreOptions, php_ini),
                                   "php.ini to read (default: none)"},
                                  {0}};

// Blanks between values, which cannot stand in form data, are `&`.
static const char *join_values(const char *login, Arena *arena) {
  char *text = arena_strdup(arena, login);
  char *at = text + strcspn(text, " ");
  at += strspn(at, " ");
  at += strcspn(at, " ");
  at += strspn(at, " ");
  for (; *at; at++)
    if (*at == ' ')
      *at = '&';
  return text;
}

// Reads the login page first: a form may have a token.
static int add_login(const char *login, Requests *list, Arena *arena) {
  Err err;
  Requests one = {0};
  const char *line = join_values(login, arena);
  if (request_list_parse("--login", line, strlen(line), &one, arena, &err))
    return cli_fail(EXIT_USAGE, "%s", err.text);
  if (one.len != 1 || !one.items[0].body_len ||
      strcmp(one.items[0].method, "POST") != 0)
    return cli_fail(EXIT_USAGE,
                    "--login %s: not a login; write it as 'POST /login.php "
                    "user=NAME password=WORD'",
                    login);
  Request r = one.items[0], page = r;
  r.login = true;
  page.method = "GET";
  page.body = "";
  page.body_len = 0;
  r.visitor = page.visitor =
      list->len ? list->items[list->len - 1].visitor + 1 : 0;
  array_push(list, page);
  array_push(list, r);
  return EXIT_DONE;
}

static int add_logins(const WebExploreOptions *o, Requests *list,
                      Arena *arena) {
  Requests all = {0};
  int status = EXIT_DONE;
  for (size_t i = 0; i < list->len; i++)
    array_push(&all, list->items[i]);
  for (size_t i = 0; status == EXIT_DONE && i < o->logins.len; i++)
    status = add_login(o->logins.items[i], &all, arena);
  arena_adopt(arena, &all);
  *list = all;
  return status;
}

int web_explore_prepare(WebExploreOptions *o, Visits *v, const char *given,
                        Requests *list, Arena *arena) {
  if (given && o->logins.len)
    return cli_fail(EXIT_USAGE, "give either --requests, or --login to "
                                "explore; a list has its own logins");
  if (o->php_ini) {
    v->app.php_ini = cli_absolute(arena, o->php_ini);
    if (!fs_exists(v->app.php_ini))
      return cli_fail(EXIT_USAGE, "--php-ini %s: no such file", o->php_ini);
  }
  return o->logins.len ? add_logins(o, list, arena) : EXIT_DONE;
}

void web_explore_begin(ExplorerOptions *o, Visits *v, double close) {
  if (!v)
    return;
  double most = o->budget / (close < 0 ? 4 : 2);
  v->app.until = clock_now() + o->budget;
  if (close >= 0 || !visits_have_effects(v))
    o->after = run_close_seconds(close, o->budget);
  o->after = o->after < most ? o->after : most;
}

void web_explore_release(WebExploreOptions *o) { array_release(&o->logins); }

// --- what it keeps ----------------------------------------------------------

int web_explore_keep(const Explorer *e, const Visits *v, const Suite *suite,
                     bool tell) {
  Err err;
  char *dir =
      mem_printf("%s/made/%lld", store_dir(v->store), (long long)v->session);
  int rc = explorer_write(e, suite, dir, &err);
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

// --- what it reached --------------------------------------------------------

void web_explore_print(const Explorer *e, FILE *out) {
  Str text = {0};
  if (e)
    explorer_report(e, &text);
  escape_printf(out, "%s", str_text(&text));
  str_release(&text);
}

static void json_outcomes(const ExplorerGaps *g, FILE *out) {
  fputs(",\"not_shown\":[", out);
  for (size_t i = 0; i < g->noutcomes; i++) {
    const OutcomeGoal *o = g->outcomes[i];
    fputs(i ? ",{\"file\":" : "{\"file\":", out);
    json_string(o->file, out);
    fprintf(out, ",\"line\":%u", o->line);
    json_text("condition", o->text, out);
    json_bool("outcome", o->outcome, out);
    fprintf(out, ",\"requests\":%u}", o->tries);
  }
  fputc(']', out);
}

static void json_texts(const char *key, const char *const *texts, size_t n,
                       FILE *out) {
  fprintf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < n; i++) {
    if (i)
      fputc(',', out);
    json_string(texts[i], out);
  }
  fputc(']', out);
}

void web_explore_json(const Explorer *e, FILE *out) {
  Arena arena = {0};
  ExplorerGaps gaps;
  if (!e)
    return;
  const ExplorerProgress *p = explorer_progress(e);
  explorer_gaps(e, &gaps, &arena);
  fprintf(out,
          ",\"exploration\":{\"requests\":%zu,\"scripts\":%zu,\"executed\":%zu,"
          "\"statements\":%zu,\"branches\":%zu,\"states\":%zu,\"queued\":%zu,"
          "\"dropped\":%zu,\"files\":%zu,\"uncompiled\":%zu",
          p->requests, p->scripts, p->lines, p->statements, p->branches,
          p->states, p->queued, p->dropped, gaps.scripts, gaps.nuncompiled);
  json_texts("pages_never_ran", gaps.files, gaps.npages, out);
  json_texts("files_never_ran", gaps.files, gaps.nfiles, out);
  json_texts("script_pages", gaps.scripted, gaps.nscripted, out);
  json_outcomes(&gaps, out);
  fputc('}', out);
  arena_release(&arena);
}

char *web_members(const Refusals *r, const Explorer *e) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  refused_json(r, out);
  web_explore_json(e, out);
  fclose(out);
  return text;
}
