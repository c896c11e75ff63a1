// Experiments on a session of requests: see web_session.h.
#include "try/web/web_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "locate/try_note.h"
#include "php/application.h"
#include "try/suspects.h"
#include "try/web/explored_again.h"
#include "try/web/list_again.h"
#include "try/web/web_memory.h"
#include "try/web/web_search.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/stop.h"

#define COLLECT "culprit.collect="

enum {
  SLOWER = 10,     // times that a request may take as long as before
  LIMIT_LEAST = 2, // seconds
};

typedef struct {
  const WebTryOptions *options;
  TrySummary *summary;
  Store *store;
  Suite suite;
  Bitset *executes;               // by run
  ARRAY(uint32_t) runs, requests; // by test
  size_t *test_of;                // by run
  size_t *first, *end;            // by test: its visitor
  bool *has_setup;
  WebTrySession session;
  double start, stop;
  TriedStops stops; // of the failure that is being tried
  WebMemory memory;
  Arena arena;
} WebTryWork;

// --- tests ------------------------------------------------------------------

static void add_test(WebTryWork *w, uint32_t run, uint32_t request) {
  w->test_of[run] = w->runs.len;
  array_push(&w->runs, run);
  array_push(&w->requests, request);
}

// Runs are named after the lines of the requests.
static void list_tests(WebTryWork *w) {
  const Requests *list = w->options->list;
  Hashmap names = {0};
  for (uint32_t i = 0; i < w->suite.nruns; i++) {
    const RunInfo *run = &w->suite.runs[i];
    if (suspects_is_tried(run))
      hashmap_put(&names, run->test, strlen(run->test), i);
  }
  for (uint32_t i = 0; i < list->len; i++) {
    char name[16];
    uint64_t run;
    int n = snprintf(name, sizeof name, "%u", list->items[i].line);
    if (!list->items[i].setup && hashmap_get(&names, name, (size_t)n, &run))
      add_test(w, (uint32_t)run, i);
  }
  hashmap_release(&names);
}

// Runs are named after the numbers of the requests.
static void list_explored(WebTryWork *w) {
  for (uint32_t i = 0; i < w->suite.nruns; i++)
    if (suspects_is_tried(&w->suite.runs[i]))
      add_test(w, i, (uint32_t)strtoul(w->suite.runs[i].test, NULL, 10));
}

static void list_visitors(WebTryWork *w, const ListedTests *tests) {
  size_t n = w->runs.len;
  w->first = arena_array(&w->arena, size_t, n + 1);
  w->end = arena_array(&w->arena, size_t, n + 1);
  w->has_setup = arena_array(&w->arena, bool, n + 1);
  for (size_t t = 0; t < n; t++) {
    w->first[t] = t;
    w->end[t] = t + 1;
    if (!tests)
      continue;
    const Request *list = tests->list->items;
    unsigned visitor = list[tests->requests[t]].visitor;
    size_t of_visitor = 0;
    listed_visitor(tests, t, &w->first[t], &w->end[t]);
    for (size_t i = 0; i < tests->list->len; i++)
      of_visitor += list[i].visitor == visitor;
    w->has_setup[t] = of_visitor > w->end[t] - w->first[t];
  }
}

// --- one failure ------------------------------------------------------------

static bool go_on(void *context) {
  WebTryWork *w = context;
  w->summary->interrupted |= stop_requested();
  return !w->summary->interrupted && clock_now() < w->stop;
}

static void show_progress(void *context, uint64_t runs, size_t found) {
  WebTryWork *w = context;
  const TryOptions *o = w->options->options;
  if (o->progress)
    o->progress(o->progress_context, w->summary->runs + runs, found);
}

static const char *path_of(const WebTryWork *w, uint32_t statement) {
  return w->suite.sources[w->suite.entities[statement].source].path;
}

static const char *diff_of(WebTryWork *w, const WebFoundChange *c) {
  Str out = {0};
  const ScriptText *script = web_script(&w->session, c->statement);
  if (!w->options->options->diffs || !script)
    return NULL;
  script_change_diff(script, &c->change,
                     suite_shown(&w->suite, path_of(w, c->statement)), &out);
  return arena_take(&w->arena, &out);
}

// The changed text is what was run: a diff needs no further check.
static void fill_note(WebTryWork *w, const WebFound *f, TryNote *note) {
  note->failing = f->failing;
  note->passing = f->passing;
  note->runs = (uint32_t)f->runs;
  note->cut = f->cut;
  note->stops = w->stops;
  for (size_t i = 0; i < f->lines.len; i++) {
    uint32_t statement = f->lines.items[i].statement;
    array_push(&note->lines,
               (TriedLine){.file = path_of(w, statement),
                           .line = w->suite.entities[statement].line,
                           .tried = f->lines.items[i].tried});
  }
  for (size_t i = 0; i < f->changes.len; i++) {
    const WebFoundChange *c = &f->changes.items[i];
    array_push(&note->changes,
               (TriedChange){.file = path_of(w, c->statement),
                             .line = w->suite.entities[c->statement].line,
                             .kind = c->change.kind,
                             .text = c->change.words,
                             .diff = diff_of(w, c),
                             .repaired = c->repaired,
                             .failing = c->failing,
                             .kept = c->kept,
                             .passing = c->passing,
                             .all_tests = c->all});
  }
}

static int write_note(WebTryWork *w, size_t failure, const WebFound *f,
                      Err *err) {
  TryNote note = {0};
  fill_note(w, f, &note);
  int rc =
      suspects_write_note(&w->suite, failure, store_dir(w->store), &note, err);
  note_release(&try_note_kind, &note);
  return rc;
}

static int try_failure(void *context, OpenLocalizer *l, size_t failure,
                       size_t left, Err *err) {
  WebTryWork *w = context;
  const TryOptions *o = w->options->options;
  uint64_t runs = o->runs > w->summary->runs ? o->runs - w->summary->runs : 0;
  Statements lines = {0};
  WebFound found = {0};
  int rc = suspects_list(l, &w->suite, failure, o->lines, &lines, err);
  WebSearchOptions options = {.lines = lines.items,
                              .nlines = lines.len,
                              .failure = failure,
                              .most = runs / left,
                              .seed = o->seed,
                              .kinds = {.variables = o->variables,
                                        .statements = o->statements,
                                        .constants = o->constants},
                              .progress = show_progress,
                              .context = w};
  // Each failure has its share of the time that is left.
  double now = clock_now(), end = w->start + o->seconds;
  w->stop = now + (end - now) / (double)left;
  TriedStops before = web_runs_stops(w->session.runs);
  if (!rc)
    rc = web_search(&w->session, &options, &found, err);
  w->stops = stops_since(web_runs_stops(w->session.runs), before);
  stops_add(&w->summary->stops, w->stops);
  w->stop = end;
  w->summary->runs += found.runs;
  w->summary->cut |= found.cut;
  if (!rc && found.lines.len) {
    w->summary->failures++;
    rc = write_note(w, failure, &found, err);
  }
  web_found_release(&found);
  array_release(&lines);
  return rc;
}

// --- the session ------------------------------------------------------------

static double limit_of(const WebTryWork *w) {
  const WebApp *app = &w->options->visits->app;
  double full = app->timeout > 0 ? app->timeout : APP_SECONDS, longest = 0;
  for (size_t i = 0; i < w->runs.len; i++) {
    double s = w->suite.runs[w->runs.items[i]].seconds;
    longest = s > longest ? s : longest;
  }
  longest *= SLOWER;
  longest = longest < LIMIT_LEAST ? LIMIT_LEAST : longest;
  return longest < full ? longest : full;
}

static const char *name_of(void *context, size_t test) {
  const WebTryWork *w = context;
  return w->suite.runs[w->runs.items[test]].test;
}

// --- what was requested before ------------------------------------------------

static char *memory_path(const WebTryWork *w) {
  return mem_printf("%s/try/%lld.requests", store_dir(w->store),
                    (long long)w->suite.session);
}

static uint64_t app_now(const WebTryWork *w) {
  return app_hash(w->options->visits->app.root, "", 0);
}

static int recall(WebTryWork *w, Err *err) {
  char *path = memory_path(w);
  bool resume = w->options->options->resume;
  int rc = resume ? web_memory_read(&w->memory, path, app_now(w), err) : 0;
  free(path);
  if (!rc && resume)
    memory_explain(w->memory.state, "the application has", w->summary);
  return rc;
}

static int remember(WebTryWork *w, Err *err) {
  char *dir = mem_printf("%s/try", store_dir(w->store));
  char *path = memory_path(w);
  int rc =
      fs_mkdirs(dir, err) || web_memory_write(&w->memory, path, app_now(w), err)
          ? -1
          : 0;
  free(path);
  free(dir);
  return rc;
}

static Visits settings_of(const WebTryWork *w) {
  Visits v = *w->options->visits;
  v.ini = (Texts){0};
  for (size_t i = 0; i < w->options->visits->ini.len; i++)
    if (!text_starts(w->options->visits->ini.items[i], COLLECT))
      array_push(&v.ini, w->options->visits->ini.items[i]);
  array_push(&v.ini, COLLECT "statements,conditions,output,try");
  v.app.timeout = v.oracle.timeout = limit_of(w);
  v.store = NULL; // no pages are kept
  v.taker = NULL;
  v.refusals = NULL;
  v.confined = NULL;
  v.pages = NULL;
  v.progress = NULL;
  return v;
}

static int try_requests(WebTryWork *w, WebAgain again, Err *err) {
  Visits v = settings_of(w);
  WebRuns *runs = NULL;
  const char *maps = arena_printf(&w->arena, "%s/maps", v.scratch);
  WebRunOptions options = {.visits = &v,
                           .maps = maps,
                           .again = again,
                           .workers = w->options->workers,
                           .memory = &w->memory,
                           .name = name_of,
                           .go_on = go_on,
                           .context = w};
  int rc = fs_mkdirs(maps, err) || recall(w, err) ? -1 : 0;
  if (!rc)
    rc = web_runs_open(&runs, &options, err);
  size_t n = w->runs.len;
  w->session =
      (WebTrySession){.suite = &w->suite,
                      .executes = w->executes,
                      .run_of = w->runs.items,
                      .test_of = w->test_of,
                      .ntests = n,
                      .visitor_first = w->first,
                      .visitor_end = w->end,
                      .has_setup = w->has_setup,
                      .runs = runs,
                      .maps = maps,
                      .base = mem_array(WebOutcome, n + 1),
                      .unlike = mem_array(bool, n + 1),
                      .varies = mem_array(bool, n + 1),
                      .visited = mem_array(bool, n + 1),
                      .scripts = mem_array(TriedScript, w->suite.nsources + 1)};
  if (!rc)
    rc = suspects_each(w->store, &w->suite, w->options->options->method, go_on,
                       try_failure, w, err);
  w->summary->seconds = clock_now() - w->start;
  if (runs)
    w->summary->recalled = web_runs_recalled(runs);
  if (!rc)
    rc = remember(w, err);
  web_runs_close(runs);
  web_try_session_release(&w->session);
  array_release(&v.ini);
  return rc;
}

static int try_tests(WebTryWork *w, Err *err) {
  const WebTryOptions *o = w->options;
  w->test_of = arena_array(&w->arena, size_t, w->suite.nruns + 1);
  for (size_t i = 0; i < w->suite.nruns; i++)
    w->test_of[i] = SIZE_MAX;
  if (o->explorer)
    list_explored(w);
  else
    list_tests(w);
  ListedTests listed = {o->list, w->requests.items, w->requests.len};
  ExploredTests explored = {o->explorer, w->requests.items};
  list_visitors(w, o->explorer ? NULL : &listed);
  if (!w->runs.len)
    return 0;
  return try_requests(
      w, o->explorer ? explored_again(&explored) : list_again(&listed), err);
}

int web_try_session(const WebTryOptions *o, Store *store, int64_t session,
                    TrySummary *out, Err *err) {
  *out = (TrySummary){0};
  WebTryWork w = {.options = o, .summary = out, .store = store};
  int rc = store_load(store, session, &w.suite, err);
  if (!rc)
    rc = suspects_executed(store, &w.suite, &w.executes, err);
  w.start = clock_now();
  w.stop = w.start + o->options->seconds;
  if (!rc)
    rc = try_tests(&w, err);
  suspects_free_executed(&w.suite, w.executes);
  array_release(&w.runs);
  array_release(&w.requests);
  web_memory_release(&w.memory);
  arena_release(&w.arena);
  suite_release(&w.suite);
  return rc;
}
