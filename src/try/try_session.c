// Experiments on a stored session: see try_session.h.
#include "try/try_session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "locate/try_note.h"
#include "look/close_builds.h"
#include "program/site_table.h"
#include "try/question.h"
#include "try/suspects.h"
#include "try/try_memory.h"
#include "try/try_patch.h"
#include "try/try_search.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/stop.h"

enum {
  SLOWER = 10,        // times that a run may take as long as before
  LIMIT_LEAST = 5,    // seconds: endless loops are ended by their steps
  SURVEY_RUNS = 3,    // of each verdict, to see which programs there are
  DIFFS_MOST = 6,     // changes that are tried in the source
  DIFF_SECONDS = 20,  // that this may take for a failure
  QUESTION_SHARE = 3, // of the budget: for what tells survivors apart
};

typedef struct {
  const TryOptions *options;
  TrySummary *summary;
  Store *store;
  Suite suite;
  Bitset *executes; // by run
  CloseBuilds builds;
  Hashmap builds_of;
  SeenModules modules;
  Hashmap module_index;
  SiteTable sites;         // of all builds; the texts are in `tables`
  ARRAY(SiteTable) tables; // of each build
  bool *wanted;
  const char *scratch;
  Runner *runner;
  TryRunOptions run_options;
  TryMemory memory;
  double start, end;
  TriedStops stops; // of the failure that is being tried
  ARRAY(TryTest) tests;
  size_t *test_of;
  TrySession session;
  Arena arena;
} TryWork;

void try_summary_release(TrySummary *s) {
  for (size_t i = 0; i < s->notes.len; i++)
    free(s->notes.items[i]);
  array_release(&s->notes);
}

static void add_note(TryWork *w, char *text) {
  array_push(&w->summary->notes, text);
}

// --- the session ------------------------------------------------------------

static int load(TryWork *w, int64_t session, Err *err) {
  if (store_load(w->store, session, &w->suite, err))
    return -1;
  w->wanted = arena_array(&w->arena, bool, w->suite.nruns + 1);
  return suspects_executed(w->store, &w->suite, &w->executes, err);
}

// --- what the runner asks ---------------------------------------------------

static bool go_on(void *context) {
  TryWork *w = context;
  w->summary->interrupted |= stop_requested();
  return !w->summary->interrupted && clock_now() < w->end;
}

static bool builds_go_on(void *context) {
  TryWork *w = context;
  const TryOptions *o = w->options;
  if (o->progress)
    o->progress(o->progress_context, 0, 0);
  w->summary->interrupted |= stop_requested();
  return !w->summary->interrupted;
}

static size_t place(void *context, const char *test) {
  (void)context;
  (void)test;
  return 0;
}

static double limit(void *context, const char *test, double full) {
  (void)context;
  (void)test;
  return full;
}

static const char *build_of(void *context, const char *program) {
  TryWork *w = context;
  uint64_t known;
  if (hashmap_get(&w->builds_of, program, strlen(program), &known))
    return (const char *)(uintptr_t)known;
  char path[PATH_MAX];
  const char *build = *program == '/' && realpath(program, path)
                          ? close_builds_of(&w->builds, path)
                          : NULL;
  hashmap_put(&w->builds_of, program, strlen(program), (uintptr_t)build);
  return build;
}

// What runs executed is not looked at: ids are the unit's own.
static int assign_ids(void *context, const Unit *unit, uint32_t *ids,
                      Err *err) {
  (void)context;
  (void)err;
  for (uint32_t i = 0; i < unit->nentities; i++)
    ids[i] = i;
  return 0;
}

static uint32_t take_pair(void *context, uint32_t def, uint32_t use) {
  (void)context;
  (void)def;
  (void)use;
  return 0;
}

static void add_module(TryWork *w, const char *path, bool fails) {
  uint64_t at =
      hashmap_intern(&w->module_index, path, strlen(path), w->modules.len);
  if (at == w->modules.len)
    array_push(&w->modules, (SeenModule){.path = mem_strdup(path)});
  w->modules.items[at].runs++;
  w->modules.items[at].failing += fails;
}

static int take_run(void *context, const Run *run, const Run *whole, Err *err) {
  TryWork *w = context;
  (void)err;
  for (size_t i = 0; i < whole->modules.len; i++)
    add_module(w, whole->modules.items[i], run->verdict == VERDICT_FAIL);
  return 0;
}

static CloseHooks hooks_of(TryWork *w) {
  return (CloseHooks){.dir = w->builds.dir ? w->builds.dir : "",
                      .suite = &w->suite,
                      .wanted = w->wanted,
                      .assign = assign_ids,
                      .pair = take_pair,
                      .place = place,
                      .limit = limit,
                      .build = build_of,
                      .go_on = go_on,
                      .take = take_run,
                      .context = w};
}

// --- tests ------------------------------------------------------------------

static bool is_inside(const char *run, const char *test) {
  size_t n = strlen(test);
  return !strncmp(run, test, n) && run[n] == '/';
}

static double limit_of(const TryWork *w, const TryTest *t, double full) {
  double seconds = 0;
  for (size_t i = 0; i < t->nruns; i++)
    seconds += w->suite.runs[t->runs[i]].seconds;
  seconds *= SLOWER;
  seconds = seconds < LIMIT_LEAST ? LIMIT_LEAST : seconds;
  return seconds < full ? seconds : full;
}

// The runs of the session that this test is, or that are inside of it.
static void add_test(TryWork *w, const Test *test, bool only, double full) {
  uint32_t *runs = arena_array(&w->arena, uint32_t, w->suite.nruns + 1);
  TryTest t = {.test = test, .runs = runs, .only = only};
  for (uint32_t i = 0; i < w->suite.nruns; i++) {
    const char *name = w->suite.runs[i].test;
    bool same = !strcmp(name, test->name);
    if (!suspects_is_tried(&w->suite.runs[i]) ||
        !(same || is_inside(name, test->name) || only))
      continue;
    t.whole = same;
    w->test_of[i] = w->tests.len;
    runs[t.nruns++] = i;
  }
  t.limit = limit_of(w, &t, full);
  if (t.nruns)
    array_push(&w->tests, t);
}

static void map_tests(TryWork *w, const Runner *r, const Test *tests,
                      size_t n) {
  w->test_of = arena_array(&w->arena, size_t, w->suite.nruns + 1);
  for (size_t i = 0; i < w->suite.nruns; i++)
    w->test_of[i] = SIZE_MAX;
  if (n == 1 && !r->already && !r->options->shard.n) {
    add_test(w, &tests[0], true, r->timeout);
    return;
  }
  Hashmap names = {0};
  for (uint32_t i = 0; i < w->suite.nruns; i++)
    hashmap_put(&names, w->suite.runs[i].test, strlen(w->suite.runs[i].test),
                i);
  for (size_t i = 0; i < n; i++) {
    uint64_t run;
    // Nearly always: no need to look through all of them.
    if (hashmap_get(&names, tests[i].name, strlen(tests[i].name), &run)) {
      uint32_t *one = arena_array(&w->arena, uint32_t, 1);
      one[0] = (uint32_t)run;
      TryTest t = {.test = &tests[i], .runs = one, .nruns = 1, .whole = true};
      if (!suspects_is_tried(&w->suite.runs[run]))
        continue;
      w->test_of[run] = w->tests.len;
      t.limit = limit_of(w, &t, r->timeout);
      array_push(&w->tests, t);
    } else {
      add_test(w, &tests[i], false, r->timeout);
    }
  }
  hashmap_release(&names);
}

static bool has_contracts(const TryWork *w) {
  for (size_t i = 0; i < w->suite.nfailures; i++)
    if (!strcmp(w->suite.failures[i].kind, "contract"))
      return true;
  return false;
}

// Do verdicts need more than output and status?
static bool needs_collecting(const TryWork *w) {
  for (size_t i = 0; i < w->tests.len; i++)
    if (!w->tests.items[i].whole)
      return true;
  return has_contracts(w);
}

// --- one failure ------------------------------------------------------------

static const char *path_of(const TryWork *w, uint32_t statement) {
  return w->suite.sources[w->suite.entities[statement].source].path;
}

static const char *words_of(TryWork *w, const Change *c) {
  Str text = {0};
  change_describe(c, &text);
  const char *copy = arena_strdup(&w->arena, str_text(&text));
  str_release(&text);
  return copy;
}

// The first changes that pass all tests, of each line one before the next: can
// they be made in the source?
static int try_in_source(TryWork *w, const TrySession *session, size_t failure,
                         const TryFound *f, TryPatch *out, Err *err) {
  TryPatches p = {.session = session,
                  .builds = &w->builds,
                  .tables = w->tables.items,
                  .scratch = w->scratch};
  double end = w->end;
  size_t tried = 0;
  Err problem = {0};
  w->end = clock_now() + DIFF_SECONDS;
  for (size_t i = 0; w->options->diffs && i < f->changes.len; i++) {
    const FoundChange *c = &f->changes.items[i];
    if (tried == DIFFS_MOST || !found_survives(c) ||
        !try_patch(&p, c, failure, &w->arena, &out[i], &problem))
      break;
    tried++;
  }
  w->end = end;
  if (*problem.text)
    *err = problem;
  return *problem.text ? -1 : 0;
}

// Two sites may be changed to the same text: `n = 1` to `n = 0` by its constant
// and by the value stored. The first counts.
static void drop_same(TryFound *f, TryPatch *patches) {
  size_t n = 0;
  for (size_t i = 0; i < f->changes.len; i++) {
    bool again = false;
    for (size_t k = 0; k < n && patches[i].diff; k++)
      again |= patches[k].diff && !strcmp(patches[i].diff, patches[k].diff);
    if (again)
      continue;
    f->changes.items[n] = f->changes.items[i];
    patches[n++] = patches[i];
  }
  f->changes.len = n;
}

static void fill_note(TryWork *w, const TryFound *f, const TryPatch *patches,
                      TryNote *note) {
  note->stops = w->stops;
  note->failing = f->failing;
  note->passing = f->passing;
  note->runs = (uint32_t)f->runs;
  note->cut = f->cut;
  for (size_t i = 0; i < f->lines.len; i++)
    if (f->lines.items[i].tried)
      array_push(
          &note->lines,
          ((TriedLine){.file = path_of(w, f->lines.items[i].statement),
                       .line =
                           w->suite.entities[f->lines.items[i].statement].line,
                       .tried = f->lines.items[i].tried}));
  for (size_t i = 0; i < f->changes.len; i++) {
    const FoundChange *c = &f->changes.items[i];
    array_push(
        &note->changes,
        ((TriedChange){.file = path_of(w, c->statement),
                       .line = w->suite.entities[c->statement].line,
                       .kind = change_kind(&c->change),
                       .text = patches[i].words ? patches[i].words
                                                : words_of(w, &c->change),
                       .diff = patches[i].diff,
                       .repaired = c->repaired,
                       .failing = c->failing,
                       .kept = c->kept,
                       .passing = c->passing,
                       .all_tests = c->all}));
  }
}

// Several changes pass all tests: what tells them apart?
static int ask_question(TryWork *w, size_t failure, const TryFound *f,
                        const TryPatch *patches, TryNote *note, Err *err) {
  Arena *a = &w->arena;
  double end = w->end, start = clock_now();
  if (!w->options->question || tried_survivors(note) < 2 || stop_requested())
    return 0;
  char *dir = path_absolute(store_dir(w->store), NULL);
  QuestionOptions o = {
      .session = &w->session,
      .runner = w->runner,
      .runs = &w->run_options,
      .found = f,
      .patches = patches,
      .failure = failure,
      .cache = arena_printf(a, "%s/trace", dir),
      .scratch = arena_printf(a, "%s/question%zu", w->scratch, failure),
      .keep = arena_printf(a, "%s/try/%lld-%zu.input", dir,
                           (long long)w->suite.session, failure + 1),
      .seconds = w->options->seconds / QUESTION_SHARE,
      .end = &w->end};
  int rc = question_find(&o, &note->question, &w->summary->asked, a, err);
  w->end = end + clock_now() - start;
  free(dir);
  return rc;
}

static int write_note(TryWork *w, size_t failure, TryFound *f, Err *err) {
  TryNote note = {0};
  TryPatch *patches = arena_array(&w->arena, TryPatch, f->changes.len + 1);
  if (try_in_source(w, &w->session, failure, f, patches, err))
    return -1;
  drop_same(f, patches);
  fill_note(w, f, patches, &note);
  int rc = ask_question(w, failure, f, patches, &note, err);
  if (!rc)
    rc = suspects_write_note(&w->suite, failure, store_dir(w->store), &note,
                             err);
  note_release(&try_note_kind, &note);
  return rc;
}

static void show_progress(void *context, uint64_t runs, size_t found) {
  TryWork *w = context;
  const TryOptions *o = w->options;
  if (o->progress)
    o->progress(o->progress_context, w->summary->runs + runs, found);
}

static bool is_any_tried(const TryFound *f) {
  for (size_t i = 0; i < f->lines.len; i++)
    if (f->lines.items[i].tried)
      return true;
  return f->cut;
}

static int try_failure(void *context, OpenLocalizer *l, size_t failure,
                       size_t left, Err *err) {
  TryWork *w = context;
  Statements lines = {0};
  TryFound found = {0};
  const TryOptions *o = w->options;
  uint64_t runs = o->runs > w->summary->runs ? o->runs - w->summary->runs : 0;
  int rc = suspects_list(l, &w->suite, failure, o->lines, &lines, err);
  TrySearchOptions options = {.lines = lines.items,
                              .nlines = lines.len,
                              .failure = failure,
                              .most = runs / left,
                              .seed = o->seed,
                              .clauses = o->clauses,
                              .variables = o->variables,
                              .statements = o->statements,
                              .constants = o->constants,
                              .insertions = o->insertions,
                              .progress = show_progress,
                              .context = w};
  uint64_t decided = try_runs_decided(w->session.runs);
  TriedStops before = try_runs_stops(w->session.runs);
  if (!rc)
    rc = try_search(&w->session, &options, &found, err);
  TriedStops now = try_runs_stops(w->session.runs);
  w->stops = stops_since(now, before);
  w->summary->decided += try_runs_decided(w->session.runs) - decided;
  if (!rc && found.failing) {
    stops_add(&w->summary->stops, w->stops);
    w->summary->runs += found.runs;
    w->summary->cut |= found.cut;
    w->summary->failures++;
    if (!is_any_tried(&found))
      add_note(w, mem_printf("failure %zu: none of its lines can be changed; "
                             "their code is not in the build for experiments "
                             "(in a shared library? link it statically)",
                             failure + 1));
    rc = write_note(w, failure, &found, err);
  }
  try_found_release(&found);
  array_release(&lines);
  return rc;
}

// --- what was run before ----------------------------------------------------

static char *memory_path(const TryWork *w) {
  return mem_printf("%s/try/%lld.runs", store_dir(w->store),
                    (long long)w->suite.session);
}

// The units of all programs that are changed.
static uint64_t build_hash(const TryWork *w) {
  uint64_t hash = 0;
  for (size_t i = 0; i < w->sites.sites.len; i++)
    hash = hash * 31 + w->sites.sites.items[i].unit.bytes[i % 16];
  return hash;
}

void memory_explain(MemoryState state, const char *changed, TrySummary *s) {
  if (state == MEMORY_NONE)
    array_push(&s->notes,
               mem_strdup("nothing to resume: no experiments on this session "
                          "are kept"));
  else if (state == MEMORY_OTHER)
    array_push(&s->notes,
               mem_printf("%s changed since the last experiments, so that "
                          "nothing is taken over from them",
                          changed));
}

static int remember(TryWork *w, Err *err) {
  char *dir = mem_printf("%s/try", store_dir(w->store));
  char *path = memory_path(w);
  int rc = fs_mkdirs(dir, err) ||
                   try_memory_write(&w->memory, path, build_hash(w), err)
               ? -1
               : 0;
  free(path);
  free(dir);
  return rc;
}

static int recall(TryWork *w, Err *err) {
  char *path = memory_path(w);
  int rc = w->options->resume
               ? try_memory_read(&w->memory, path, build_hash(w), err)
               : 0;
  free(path);
  if (!rc && w->options->resume)
    memory_explain(w->memory.state, "the programs have", w->summary);
  return rc;
}

// The adapter has found its tests.
static int take_tests(void *context, Runner *r, const Test *tests, size_t n,
                      Err *err) {
  TryWork *w = context;
  TryRuns *runs = NULL;
  map_tests(w, r, tests, n);
  if (!w->tests.len)
    return 0;
  w->run_options = (TryRunOptions){
      .dir = w->builds.dir,
      .build = build_of,
      .context = w,
      .memory = w->options->memory,
      .collect = needs_collecting(w),
      .capture = has_contracts(w) ? CAPTURE_NEVER : w->options->capture,
      .go_on = go_on,
      .memory_of_runs = &w->memory};
  w->runner = r;
  w->scratch = r->scratch.dir;
  w->start = clock_now();
  w->end = w->start + w->options->seconds;
  int rc = recall(w, err);
  if (!rc)
    rc = try_runs_open(&runs, r, &w->suite, w->tests.items, w->tests.len,
                       &w->run_options, err);
  w->session =
      (TrySession){.suite = &w->suite,
                   .executes = w->executes,
                   .tests = w->tests.items,
                   .ntests = w->tests.len,
                   .test_of = w->test_of,
                   .runs = runs,
                   .sites = &w->sites,
                   .dropped = arena_array(&w->arena, bool, w->suite.nruns + 1)};
  if (!rc)
    rc = suspects_each(w->store, &w->suite, w->options->method, go_on,
                       try_failure, w, err);
  if (!rc)
    rc = remember(w, err);
  w->summary->seconds = clock_now() - w->start;
  if (runs)
    w->summary->recalled = try_runs_recalled(runs);
  try_runs_close(runs);
  return rc;
}

// --- builds -----------------------------------------------------------------

// Of programs that share units each site is wanted once.
static int read_sites(TryWork *w, Err *err) {
  Hashmap seen = {0};
  int rc = 0;
  for (size_t i = 0; i < w->builds.programs.len && !rc; i++) {
    SiteTable t;
    rc = site_table_read(&t, w->builds.programs.items[i].build, err);
    for (size_t k = 0; k < t.sites.len && !rc; k++) {
      const Site *s = &t.sites.items[k];
      if (hashmap_intern(&seen, s->unit.bytes, sizeof s->unit.bytes, i) == i)
        array_push(&w->sites.sites, *s);
    }
    array_push(&w->tables, t);
  }
  hashmap_release(&seen);
  return rc;
}

static int make_builds(TryWork *w, Runner *r, Err *err) {
  const TryOptions *o = w->options;
  char *dir = arena_printf(&w->arena, "%s/try", r->scratch.dir);
  char *cache = arena_printf(&w->arena, "%s/trace", store_dir(r->store));
  double start = clock_now();
  w->builds.make = try_build;
  w->builds.purpose = "no experiments in";
  const SeenModule *modules = o->modules ? o->modules : w->modules.items;
  size_t n = o->modules ? o->nmodules : w->modules.len;
  int rc = close_builds_make(&w->builds, modules, n, cache, dir, builds_go_on,
                             w, err);
  for (size_t i = 0; i < w->builds.notes.len; i++)
    add_note(w, mem_strdup(w->builds.notes.items[i]));
  if (!rc)
    rc = read_sites(w, err);
  w->summary->building = clock_now() - start;
  return rc;
}

// --- running the adapter ----------------------------------------------------

static int with_runner(TryWork *w, const Runner *like, bool survey, Err *err) {
  RunOptions options = *like->options;
  options.rerun = options.failed = options.add = false;
  options.serve = options.exe != NULL;
  Runner r = {.command = like->command,
              .root = like->root,
              .store = w->store,
              .contexts = like->contexts};
  CloseHooks hooks;
  int rc = runner_open(&r, &options, err) ||
                   scratch_open(&r.scratch, store_dir(w->store), err)
               ? -1
               : 0;
  if (!rc && !survey)
    rc = make_builds(w, &r, err);
  if (!rc && (survey || w->builds.programs.len)) {
    hooks = hooks_of(w);
    hooks.tests = survey ? NULL : take_tests;
    r.close = &hooks;
    rc = w->options->run(w->options->run_context, &r, err);
    w->summary->interrupted |= r.interrupted;
  }
  Err ignored;
  runner_close(&r, false, &ignored);
  return rc;
}

// Which programs do the tests run?
static int survey(TryWork *w, const Runner *like, Err *err) {
  size_t taken[2] = {0};
  for (size_t i = 0; i < w->suite.nruns; i++) {
    bool fails = w->suite.runs[i].verdict == VERDICT_FAIL;
    w->wanted[i] =
        suspects_is_tried(&w->suite.runs[i]) && taken[fails]++ < SURVEY_RUNS;
  }
  w->end = clock_now() + 3600;
  return with_runner(w, like, true, err);
}

static int find_modules(TryWork *w, const Runner *like, Err *err) {
  char path[PATH_MAX];
  const char *exe = like->options->exe;
  if (w->options->modules)
    return 0;
  if (!exe)
    return survey(w, like, err);
  if (realpath(exe, path))
    add_module(w, path, true);
  return 0;
}

static void release(TryWork *w) {
  suspects_free_executed(&w->suite, w->executes);
  for (size_t i = 0; i < w->modules.len; i++)
    free(w->modules.items[i].path);
  array_release(&w->modules);
  try_memory_release(&w->memory);
  array_release(&w->tests);
  array_release(&w->sites.sites);
  for (size_t i = 0; i < w->tables.len; i++)
    site_table_release(&w->tables.items[i]);
  array_release(&w->tables);
  hashmap_release(&w->module_index);
  hashmap_release(&w->builds_of);
  close_builds_release(&w->builds);
  arena_release(&w->arena);
  suite_release(&w->suite);
}

int try_session(const TryOptions *o, const Runner *like, Store *store,
                int64_t session, TrySummary *out, Err *err) {
  *out = (TrySummary){0};
  TryWork w = {.options = o, .summary = out, .store = store};
  int rc = load(&w, session, err);
  if (!rc)
    rc = find_modules(&w, like, err);
  for (size_t i = 0; !rc && i < w.suite.nruns; i++)
    w.wanted[i] = suspects_is_tried(&w.suite.runs[i]);
  if (!rc)
    rc = with_runner(&w, like, false, err);
  release(&w);
  return rc;
}
