// Runs inputs for what they reach: see screen.h.
#include "input/screen.h"

#include <stdlib.h>

#include "input/made.h"
#include "util/fs.h"
#include "util/mem.h"

enum { SECONDS = 1 }; // an input that hangs is not worth more

// One input that is running. `env` has as many variables as a test of the
// session, so that one fork server does for both (process/server.h).
typedef struct {
  size_t input;
  char *run_dir;
  Spawn spawn;
  Arena arena;
} ScreenSlot;

typedef struct {
  Screen *screen;
  const Inputs *inputs, *given;
  size_t n, next, running;
  ScreenSlot *slots;
  Run *runs; // by input
  bool *ran; // likewise
} Screening;

void screen_release(Screen *s) {
  for (int kind = 0; kind < ENTITY_KINDS; kind++)
    bitset_release(&s->seen[kind]);
}

bool screen_note(Screen *s, const Run *run) {
  bool fresh = false;
  for (int kind = 0; kind < ENTITY_KINDS; kind++) {
    size_t before = bitset_count(&s->seen[kind]);
    bitset_union(&s->seen[kind], &run->hits[kind]);
    fresh |= bitset_count(&s->seen[kind]) != before;
  }
  return fresh;
}

static void prepare(Screening *g, size_t slot, const char *line, Err *err,
                    int *rc) {
  const Runner *r = g->screen->runner;
  const RunOptions *o = r->options;
  ScreenSlot *s = &g->slots[slot];
  Arena *a = &s->arena;
  char *dir = arena_printf(a, "%s/%zu", r->scratch.dir, slot);
  char *out = arena_printf(a, "%s/out", dir);
  char *errors = arena_printf(a, "%s/err", dir);
  s->run_dir = arena_printf(a, "%s/run", dir);
  char *extra[] = {arena_printf(a, "CULPRIT_RUN=%s", s->run_dir),
                   arena_printf(a, "CULPRIT_DIR=%s", o->cwd),
                   arena_printf(a, "CULPRIT_STDOUT=%s", out),
                   arena_printf(a, "CULPRIT_STDERR=%s", errors), NULL};
  Test test = {.name = "screened",
               .line = line,
               .env = made_environment(&g->inputs[s->input], a)};
  double most = o->timeout > 0 && o->timeout < SECONDS ? o->timeout : SECONDS;
  *rc = fs_mkdirs(dir, err) ? -1 : dir_make_empty(s->run_dir, err);
  s->spawn =
      (Spawn){.env = test_environment(&test, environment_with(extra, a), a),
              .cwd = o->cwd,
              .out = out,
              .err = errors,
              .timeout = runner_limit(r, most),
              .max_output = o->max_output,
              .mark = extra[0],
              .serve = o->serve};
  runner_confine(r, slot, &s->spawn, a);
  test_prepare(&test, g->screen->program, a, &s->spawn);
}

static int start(Screening *g, size_t slot, Err *err) {
  ScreenSlot *s = &g->slots[slot];
  Str line = {0};
  arena_release(&s->arena);
  s->input = g->next++;
  char *dir = arena_printf(&s->arena, "%s/%zu", g->screen->dir, slot);
  int rc = made_write(&g->inputs[s->input], g->given, dir, &line, err);
  if (!rc)
    prepare(g, slot, arena_strdup(&s->arena, str_text(&line)), err, &rc);
  str_release(&line);
  if (rc)
    return -1;
  pool_start(g->screen->runner->pool, slot, &s->spawn);
  g->running++;
  g->screen->runs++;
  return 0;
}

static int take(Screening *g, size_t slot, const Outcome *outcome, Err *err) {
  ScreenSlot *s = &g->slots[slot];
  g->running--;
  if (outcome->end == END_UNSTARTED)
    return err_set(err, "%s", outcome->problem);
  g->ran[s->input] = true;
  return runner_collect(g->screen->runner, s->run_dir, &g->runs[s->input], NULL,
                        err);
}

static int run_all(Screening *g, bool (*go_on)(void *context), void *context,
                   Err *err) {
  Runner *r = g->screen->runner;
  size_t slots = (size_t)r->options->jobs;
  for (size_t i = 0; i < slots && g->next < g->n; i++)
    if (start(g, i, err))
      return -1;
  while (g->running) {
    size_t slot;
    Outcome outcome;
    PoolEvent event = pool_wait(r->pool, -1, &slot, &outcome);
    if (event == POOL_INTERRUPTED) {
      r->interrupted = true;
      pool_kill_all(r->pool);
      return 0;
    }
    if (event != POOL_ENDED)
      continue;
    if (take(g, slot, &outcome, err) ||
        (g->next < g->n && go_on(context) && start(g, slot, err)))
      return -1;
  }
  return 0;
}

int screen_inputs(Screen *s, const Inputs *inputs, size_t n,
                  const Inputs *given, bool *fresh,
                  bool (*go_on)(void *context), void *context, Err *err) {
  Screening g = {.screen = s, .inputs = inputs, .given = given, .n = n};
  size_t slots = (size_t)s->runner->options->jobs;
  g.slots = mem_array(ScreenSlot, slots);
  g.runs = mem_array(Run, n + 1);
  g.ran = mem_array(bool, n + 1);
  int rc = run_all(&g, go_on, context, err);
  if (rc)
    pool_kill_all(s->runner->pool);
  for (size_t i = 0; i < n; i++) {
    fresh[i] = !rc && g.ran[i] && screen_note(s, &g.runs[i]);
    run_release(&g.runs[i]);
  }
  for (size_t i = 0; i < slots; i++)
    arena_release(&g.slots[i].arena);
  free(g.slots);
  free(g.runs);
  free(g.ran);
  return rc;
}
