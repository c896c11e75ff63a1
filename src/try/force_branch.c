// Forcing the branches that near names: see force_branch.h.
#include "try/force_branch.h"

#include <stdlib.h>
#include <string.h>

#include "program/site_table.h"
#include "program/trace_build.h"
#include "try/try_runs.h"
#include "util/clock.h"
#include "util/mem.h"

enum {
  BRANCHES_MOST = 6,
  SECONDS = 10,     // in all
  STEPS_FACTOR = 4, // of the unchanged run,
  STEPS_MORE = 500000,
  MEMORY = 1 << 30,
};

typedef struct {
  Near *near;
  TraceBuild build;
  SiteTable sites;
  Test test;
  TryTest tried;
  TryRuns *runs;
  RunFailure base; // of the unchanged run
  double end;
  Arena arena;
} Forcing;

// --- runs -------------------------------------------------------------------

static const char *build_of(void *context, const char *program) {
  (void)program;
  return ((const Forcing *)context)->build.program;
}

static bool go_on(void *context) {
  const Forcing *f = context;
  return clock_now() < f->end;
}

static int run(Forcing *f, const Experiment *e, RunFailure *failure,
               TryResult *out, Err *err) {
  TryJob job = {.experiment = e, .failure = failure};
  *failure = (RunFailure){0};
  if (try_runs_do(f->runs, &job, 1, err))
    return -1;
  *out = job.result;
  return 0;
}

static void end_failure(RunFailure *f) {
  free(f->signature);
  free(f->message);
}

static bool is_base(const Forcing *f, const RunFailure *now) {
  return now->signature && f->base.signature &&
         !strcmp(now->signature, f->base.signature);
}

static ForcedResult result_of(const Forcing *f, const TryResult *r,
                              const RunFailure *failure) {
  unsigned stopped = RUN_OUT_OF_STEPS | RUN_OUT_OF_TIME | RUN_OUT_OF_LIMITS;
  if (!r->ran || !r->changed)
    return FORCED_NOT;
  if (r->stops & stopped)
    return FORCED_ENDLESS;
  if (r->passes)
    return FORCED_PASSES;
  if (!failure->signature)
    return FORCED_UNJUDGED;
  return is_base(f, failure) ? FORCED_SAME : FORCED_OTHER;
}

// `execution` 0: every one. *executed: how often the branch was.
static int force(Forcing *f, const Site *site, bool needed, uint32_t execution,
                 ForcedEnd *out, uint64_t *executed, Err *err) {
  Experiment e = {.unit = site->unit,
                  .site = site->number,
                  .change = CHANGE_FORCE,
                  .a = needed,
                  .b = execution};
  RunFailure failure;
  TryResult r = {0};
  int rc = run(f, &e, &failure, &r, err);
  out->result = rc ? FORCED_NOT : result_of(f, &r, &failure);
  if (failure.message)
    out->message = arena_strdup(&f->near->arena, failure.message);
  *executed = r.executed;
  end_failure(&failure);
  return rc;
}

// --- branches ---------------------------------------------------------------

static bool is_branched_on(const Site *s) {
  return s->kind == SITE_TEST ||
         (s->kind == SITE_COMPARE && s->flags & SITE_BRANCHES);
}

// NULL: the line has more conditions than sites, or fewer.
static const Site *site_of(const Forcing *f, const NearBranch *b) {
  const Site *found = NULL;
  uint32_t n = 0;
  for (size_t i = 0; i < f->sites.sites.len; i++) {
    const Site *s = &f->sites.sites.items[i];
    if (!is_branched_on(s) || s->line != b->line ||
        strcmp(s->file, b->file) != 0)
      continue;
    if (n++ == b->nth)
      found = s;
  }
  return n == b->of ? found : NULL;
}

static int force_one(Forcing *f, const NearBranch *b, Err *err) {
  const Site *site = site_of(f, b);
  NearForced forced = {.event = b->event};
  uint64_t executed;
  if (!site)
    return 0;
  if (force(f, site, b->needed, b->execution, &forced.here, &executed, err))
    return -1;
  // Not the execution that was meant: then nothing is said of it.
  if (forced.here.result == FORCED_NOT)
    return 0;
  if (executed > 1 &&
      force(f, site, b->needed, 0, &forced.always, &executed, err))
    return -1;
  array_push(&f->near->forced, forced);
  return 0;
}

static int force_all(Forcing *f, const NearBranches *branches, Err *err) {
  TryResult base = {0};
  if (run(f, NULL, &f->base, &base, err))
    return -1;
  if (!base.ran || base.passes || !f->base.signature)
    return err_set(err, "the build for experiments does not fail with this "
                        "input");
  f->tried.steps = STEPS_FACTOR * base.steps + STEPS_MORE;
  for (size_t i = 0; i < branches->len && i < BRANCHES_MOST; i++)
    if (force_one(f, &branches->items[i], err))
      return -1;
  return 0;
}

static int prepare(Forcing *f, Err *err) {
  const SearchOptions *o = &f->near->search->options;
  Runner *r = f->near->search->runner;
  if (try_build(&f->build, o->program, o->cache, err) ||
      site_table_read(&f->sites, f->build.program, err))
    return -1;
  TryRunOptions options = {
      .build = build_of, .context = f, .memory = MEMORY, .go_on = go_on};
  f->test = near_failing_test(f->near, &f->arena);
  f->tried = (TryTest){.test = &f->test, .whole = true, .limit = r->timeout};
  f->end = clock_now() + SECONDS;
  return try_runs_open(&f->runs, r, NULL, &f->tried, 1, &options, err);
}

void force_branches(Near *n) {
  Forcing f = {.near = n};
  NearBranches branches = {0};
  Err err = {0};
  near_branches(n, &branches);
  if (branches.len && (prepare(&f, &err) || force_all(&f, &branches, &err)))
    n->force_problem = arena_strdup(&n->arena, err.text);
  try_runs_close(f.runs);
  end_failure(&f.base);
  site_table_release(&f.sites);
  trace_build_release(&f.build);
  arena_release(&f.arena);
  array_release(&branches);
}
