// Records runs of a program and replays them: see recorder.h.
#include "generate/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "run/testfile.h"
#include "util/fs.h"
#include "util/mem.h"

// Bytes of a recorded run: more than replay goes through (explore.c).
enum { STREAM_MAX = 256 << 20 };

static int load_program(Recorder *r, Err *err) {
  for (size_t i = 0; i < r->build.nirs; i++)
    if (program_add(&r->program, r->build.irs[i], err))
      return -1;
  return program_link(&r->program, err);
}

int recorder_open(Recorder *r, Runner *runner, const char *program,
                  const char *cache, Err *err) {
  *r = (Recorder){.runner = runner};
  if (trace_build(&r->build, program, cache, false, err))
    return -1;
  return load_program(r, err);
}

void recorder_close(Recorder *r) {
  program_release(&r->program);
  trace_build_release(&r->build);
}

// --- recording --------------------------------------------------------------

static char *trace_dir(const Recorder *r, size_t i) {
  return mem_printf("%s/trace%zu", r->runner->scratch.dir, i);
}

static int prepare(const Recorder *r, size_t i, const Test *test, Spawn *spawn,
                   Arena *arena, Err *err) {
  const RunOptions *o = r->runner->options;
  char *dir = trace_dir(r, i);
  char *mark = arena_printf(arena, "CULPRIT_TRACE=%s", dir);
  char *most = arena_printf(arena, "CULPRIT_TRACE_MAX=%u", STREAM_MAX);
  char **env = environment_with((char *[]){mark, most, NULL}, arena);
  int rc = dir_make_empty(dir, err);
  *spawn = (Spawn){.env = test_environment(test, env, arena),
                   .cwd = o->cwd,
                   .out = arena_printf(arena, "%s.out", dir),
                   .err = arena_printf(arena, "%s.err", dir),
                   .timeout = o->timeout,
                   .max_output = o->max_output,
                   .mark = mark};
  test_prepare(test, r->build.program, arena, spawn);
  free(dir);
  return rc;
}

static int wait_for(Runner *runner, size_t running, Err *err) {
  while (running) {
    size_t slot;
    Outcome outcome;
    PoolEvent event = pool_wait(runner->pool, -1, &slot, &outcome);
    if (event == POOL_INTERRUPTED) {
      runner->interrupted = true;
      pool_kill_all(runner->pool);
      return 0;
    }
    if (event == POOL_ENDED && outcome.end == END_UNSTARTED)
      return err_set(err, "%s", outcome.problem);
    running -= event == POOL_ENDED;
  }
  return 0;
}

int recorder_record(Recorder *r, const Test *tests, size_t n, Err *err) {
  size_t slots = (size_t)r->runner->options->jobs;
  Arena arena = {0};
  Spawn *spawns = arena_array(&arena, Spawn, n);
  int rc = 0;
  for (size_t i = 0; !rc && i < n; i += slots) {
    size_t k = 0;
    for (; !rc && k < slots && i + k < n; k++) {
      rc = prepare(r, i + k, &tests[i + k], &spawns[i + k], &arena, err);
      if (!rc)
        pool_start(r->runner->pool, k, &spawns[i + k]);
    }
    if (!rc)
      rc = wait_for(r->runner, k, err);
  }
  if (rc)
    pool_kill_all(r->runner->pool);
  arena_release(&arena);
  return rc;
}

// --- replaying --------------------------------------------------------------

int recorder_replay(Recorder *r, size_t i, const Inputs *in, ExprPool *pool,
                    const ReplayOptions *options, Path *out, Err *err) {
  char *dir = trace_dir(r, i), *path = NULL;
  Trace trace = {0};
  *out = (Path){0};
  int rc = trace_find(dir, &path, err);
  if (!rc) {
    rc = trace_open(&trace, path, err);
    if (!rc)
      rc = replay_with(&r->program, &trace, in, pool, options, out, err);
    trace_close(&trace);
  }
  free(path);
  free(dir);
  return rc;
}
