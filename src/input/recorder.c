// Records runs of a program and replays them: see recorder.h.
#include "input/recorder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "run/testfile.h"
#include "util/mem.h"

// Bytes of a recorded run: more than replay goes through (search.c).
enum { STREAM_MAX = 256 << 20 };

static int load_program(const TraceBuild *build, Program *p, Err *err) {
  for (size_t i = 0; i < build->nirs; i++)
    if (program_add(p, build->irs[i], err))
      return -1;
  program_link(p);
  return 0;
}

int recorder_open(Recorder *r, Runner *runner, const char *program,
                  const char *cache, Err *err) {
  *r = (Recorder){.runner = runner, .stream_max = STREAM_MAX};
  if (trace_build(&r->build, program, cache, false, err))
    return -1;
  r->programs[0] = &r->program;
  return load_program(&r->build, &r->program, err);
}

int recorder_load_programs(Recorder *r, size_t n, Err *err) {
  assert(n <= RECORDER_THREADS);
  for (size_t i = 1; i < n; i++) {
    if (r->programs[i])
      continue;
    r->programs[i] = mem_new(Program);
    if (load_program(&r->build, r->programs[i], err))
      return -1;
  }
  return 0;
}

void recorder_close(Recorder *r) {
  for (size_t i = 1; i < RECORDER_THREADS; i++) {
    if (r->programs[i])
      program_release(r->programs[i]);
    free(r->programs[i]);
  }
  program_release(&r->program);
  trace_build_release(&r->build);
}

// --- recording --------------------------------------------------------------

static char *trace_dir(const Recorder *r, size_t i) {
  return mem_printf("%s/trace%zu", r->runner->scratch.dir, i);
}

static int prepare(const Recorder *r, size_t i, const Test *test, size_t slot,
                   Spawn *spawn, Arena *arena, Err *err) {
  const RunOptions *o = r->runner->options;
  char *dir = trace_dir(r, i);
  char *mark = arena_printf(arena, "CULPRIT_TRACE=%s", dir);
  char *most = arena_printf(arena, "CULPRIT_TRACE_MAX=%u", r->stream_max);
  char **env = environment_with((char *[]){mark, most, NULL}, arena);
  int rc = dir_make_empty(dir, err);
  *spawn = (Spawn){.env = test_environment(test, env, arena),
                   .cwd = test->cwd ? test->cwd : o->cwd,
                   .out = arena_printf(arena, "%s.out", dir),
                   .err = arena_printf(arena, "%s.err", dir),
                   .timeout = o->timeout,
                   .max_output = o->max_output,
                   .mark = mark,
                   .serve = o->serve};
  runner_confine(r->runner, slot, spawn, arena);
  test_prepare(test, r->build.program, arena, spawn);
  free(dir);
  return rc;
}

// What is recorded at one time. Spawns stay until the last has ended.
typedef struct {
  Recorder *recorder;
  size_t first, n, next, running;
  const Test *tests;
  Spawn *spawns;
  Arena arena;
} Recording;

static int start_next(Recording *s, size_t slot, Err *err) {
  size_t i = s->next++;
  if (prepare(s->recorder, s->first + i, &s->tests[i], slot, &s->spawns[i],
              &s->arena, err))
    return -1;
  pool_start(s->recorder->runner->pool, slot, &s->spawns[i]);
  s->running++;
  return 0;
}

// Each slot that becomes free gets the next one.
static int record_all(Recording *s, Err *err) {
  Runner *runner = s->recorder->runner;
  size_t slots = (size_t)runner->options->jobs;
  for (size_t i = 0; i < slots && s->next < s->n; i++)
    if (start_next(s, i, err))
      return -1;
  while (s->running) {
    size_t slot;
    Outcome outcome;
    PoolEvent event = pool_wait(runner->pool, -1, &slot, &outcome);
    if (event == POOL_INTERRUPTED) {
      runner->interrupted = true;
      pool_kill_all(runner->pool);
      return 0;
    }
    if (event != POOL_ENDED)
      continue;
    s->running--;
    if (outcome.end == END_UNSTARTED)
      return err_set(err, "%s", outcome.problem);
    if (s->next < s->n && start_next(s, slot, err))
      return -1;
  }
  return 0;
}

int recorder_record_at(Recorder *r, size_t first, const Test *tests, size_t n,
                       Err *err) {
  Recording s = {.recorder = r, .first = first, .n = n, .tests = tests};
  s.spawns = arena_array(&s.arena, Spawn, n);
  int rc = record_all(&s, err);
  if (rc)
    pool_kill_all(r->runner->pool);
  arena_release(&s.arena);
  return rc;
}

int recorder_record(Recorder *r, const Test *tests, size_t n, Err *err) {
  return recorder_record_at(r, 0, tests, n, err);
}

// --- replaying --------------------------------------------------------------

int recorder_replay_in(Recorder *r, size_t thread, size_t i, const Inputs *in,
                       ExprPool *pool, const ReplayOptions *options, Path *out,
                       Err *err) {
  char *dir = trace_dir(r, i), *path = NULL;
  Trace trace = {0};
  *out = (Path){0};
  int rc = trace_find(dir, &path, err);
  if (!rc) {
    rc = trace_open(&trace, path, err);
    if (!rc)
      rc =
          replay_with(r->programs[thread], &trace, in, pool, options, out, err);
    trace_close(&trace);
  }
  free(path);
  free(dir);
  return rc;
}

int recorder_replay(Recorder *r, size_t i, const Inputs *in, ExprPool *pool,
                    const ReplayOptions *options, Path *out, Err *err) {
  return recorder_replay_in(r, 0, i, in, pool, options, out, err);
}
