// Waiting for queued tests: see run_queue.h.
#include "cli/run_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli.h"
#include "fleet/bundle.h"
#include "store/test_queue.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"

enum { LOOK = 50 }; // milliseconds between looks at signals
static const double ASK_SECONDS = 0.5;

// --- the bundle -------------------------------------------------------------

int run_queue_write(const char *dir, const char *hash, const Str *packed,
                    Err *err) {
  char *path = mem_printf("%s/%s.bundle", dir, hash);
  char *made = mem_printf("%s.%d", path, (int)getpid());
  int rc = fs_mkdirs(dir, err);
  rc = rc ? rc : fs_write(made, packed->data, packed->len, err);
  if (!rc && rename(made, path))
    rc = err_set(err, "%s: cannot be written", path);
  free(made);
  free(path);
  return rc;
}

// *hash: caller frees.
static int put_bundle(const RunQueue *q, const Runner *r, char **hash,
                      Err *err) {
  Str packed = {0};
  int rc = bundle_pack(r->options, r->timeout, &packed, err);
  *hash = rc ? NULL : bundle_hash(&packed);
  if (!rc)
    rc = q->shared ? run_queue_write(q->shared, *hash, &packed, err)
                   : test_queue_put_bundle(r->store, *hash, &packed, err);
  str_release(&packed);
  return rc;
}

// --- waiting ----------------------------------------------------------------

static void show(const RunQueue *q, const QueueStatus *s) {
  if (!q->show_progress)
    return;
  fprintf(stderr, "\r[%zu/%zu] %zu worker%s", s->done, s->all, s->workers,
          s->workers == 1 ? "" : "s");
  if (s->recent) {
    unsigned left = (unsigned)((s->all - s->done) * 60 / s->recent);
    fprintf(stderr, ", %u:%02u left", left / 60, left % 60);
  }
  fputs("\033[K", stderr);
  fflush(stderr);
}

static int wait_for_all(const RunQueue *q, Runner *r, Err *err) {
  QueueStatus s;
  for (;;) {
    if (test_queue_status(r->store, r->session, &s, err))
      return -1;
    r->finished = s.done;
    show(q, &s);
    if (s.done == s.all)
      return 0;
    for (double until = clock_now() + ASK_SECONDS; clock_now() < until;) {
      if (stop_requested()) {
        r->interrupted = true;
        return 0;
      }
      usleep(LOOK * 1000);
    }
  }
}

// For a closer look: the program recorded all runs.
static int note_program(Runner *r, Err *err) {
  Suite suite = {0};
  if (store_load(r->store, r->session, &suite, err))
    return -1;
  SeenModule m = {.path = mem_strdup(r->options->exe)};
  for (size_t i = 0; i < suite.nruns; i++) {
    const RunInfo *run = &suite.runs[i];
    if (!run->has_spectrum)
      continue;
    array_push(&m.tests, mem_strdup(run->test));
    m.runs++;
    m.failing += run->verdict == VERDICT_FAIL;
  }
  r->failing = m.failing;
  array_push(&r->seen, m);
  suite_release(&suite);
  return 0;
}

int run_queued(void *context, Runner *r, const Test *tests, size_t n,
               Err *err) {
  const RunQueue *q = context;
  char *hash = NULL;
  const char **names = mem_array(const char *, n);
  for (size_t i = 0; i < n; i++)
    names[i] = tests[i].name;
  int rc = test_queue_open(r->store, err);
  rc = rc ? rc : put_bundle(q, r, &hash, err);
  rc = rc ? rc : test_queue_add(r->store, r->session, hash, names, n, err);
  if (!rc && !q->quiet)
    escape_printf(stderr,
                  "queued %zu test%s in %s; `culprit worker` runs them\n", n,
                  plural(n), store_name(r->store));
  rc = rc ? rc : wait_for_all(q, r, err);
  if (q->show_progress)
    cli_progress_end();
  if (!rc && !r->interrupted)
    rc = note_program(r, err);
  free(names);
  free(hash);
  return rc;
}
