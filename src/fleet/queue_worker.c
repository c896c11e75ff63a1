// Workers: see queue_worker.h.
//
// Tests are taken in batches that grow while they are short. The lease is
// extended between looks at the processes that run (Runner.tick); a worker
// that is killed extends nothing.
#include "fleet/queue_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "adapter/adapter.h"
#include "fleet/bundle.h"
#include "store/test_queue.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"

enum {
  BATCH_FIRST = 2, // tests per job, taken at first
  BATCH_MOST = 64,
};
static const double BATCH_SECONDS = 5; // that a batch is to take
static const double LOOK_SECONDS = 1;  // until an idle worker looks again

typedef struct {
  const WorkerOptions *options;
  Store *store;
  WorkerResult *result;
  char name[128];
  int64_t session;
  double extended; // when the lease was
  size_t per_job;
  Err *err;
  bool lost; // the lease could not be extended
} QueueWorker;

static void name_worker(QueueWorker *w) {
  char host[64] = "host";
  uint32_t random = 0;
  gethostname(host, sizeof host - 1);
  if (getrandom(&random, sizeof random, 0) < 0)
    random = (uint32_t)(clock_now() * 1e6);
  snprintf(w->name, sizeof w->name, "%s:%d:%08x", host, (int)getpid(), random);
}

static void extend_lease(void *worker) {
  QueueWorker *w = worker;
  double now = clock_now();
  if (now - w->extended < w->options->lease / 4)
    return;
  Err err = {0};
  w->extended = now;
  w->lost |= test_queue_extend(w->store, w->session, w->name, w->options->lease,
                               &err) != 0;
}

// --- bundles ----------------------------------------------------------------

static int load_bundle(QueueWorker *w, const char *hash, Str *out, Err *err) {
  if (!w->options->shared)
    return test_queue_get_bundle(w->store, hash, out, err);
  char *path = mem_printf("%s/%s.bundle", w->options->shared, hash);
  int rc = fs_read(path, 0, out, err);
  free(path);
  return rc;
}

// *dir: where it is unpacked; caller frees.
static int have_bundle(QueueWorker *w, const char *hash, char **dir, Err *err) {
  Str packed = {0};
  int rc = fs_mkdirs(w->options->bundles, err);
  *dir = mem_printf("%s/%s", w->options->bundles, hash);
  if (!rc && !fs_exists(*dir)) {
    rc = load_bundle(w, hash, &packed, err);
    rc = rc ? rc : bundle_unpack(&packed, hash, *dir, err);
  }
  str_release(&packed);
  return rc;
}

// --- a session --------------------------------------------------------------

static int run_batch(QueueWorker *w, Runner *r, const QueueLease *lease,
                     Err *err) {
  Hashmap wanted = {0};
  for (size_t i = 0; i < lease->tests.len; i++)
    hashmap_put(&wanted, lease->tests.items[i], strlen(lease->tests.items[i]),
                1);
  r->wanted = &wanted;
  w->extended = clock_now();
  double start = w->extended;
  int rc = testsfile_run(r, err);
  if (!rc && r->total != lease->tests.len)
    rc = err_set(err, "the bundle's list of tests has not all that are queued");
  if (!rc && !r->interrupted) {
    rc = test_queue_finish(w->store, w->session, w->name, err);
    w->result->tests += lease->tests.len;
  }
  if (clock_now() - start < BATCH_SECONDS / 2 && w->per_job < BATCH_MOST)
    w->per_job *= 2;
  else if (clock_now() - start > BATCH_SECONDS && w->per_job > 1)
    w->per_job /= 2;
  hashmap_release(&wanted);
  return rc;
}

static int run_batches(QueueWorker *w, Runner *r, Err *err) {
  for (;;) {
    QueueLease lease;
    size_t most = w->per_job * (size_t)w->options->jobs;
    if (test_queue_take(w->store, w->session, w->name, w->options->lease, most,
                        &lease, err))
      return -1;
    size_t n = lease.tests.len;
    int rc = n ? run_batch(w, r, &lease, err) : 0;
    test_queue_lease_release(&lease);
    if (rc || !n || r->interrupted || stop_requested())
      return rc;
  }
}

// The session says where it ran and what paths are relative to.
static int run_session(QueueWorker *w, Bundle *b, Err *err) {
  Suite suite = {0};
  if (store_load(w->store, w->session, &suite, err))
    return -1;
  b->options.jobs = w->options->jobs;
  b->options.confine = w->options->confine;
  Runner r = {.command = "culprit worker",
              .root = *suite.project ? suite.project : suite.cwd,
              .cwd = suite.cwd,
              .store = w->store,
              .work = w->session,
              .shown_exe = b->exe,
              .tick = extend_lease,
              .tick_context = w};
  Err second = {0};
  int rc = runner_open(&r, &b->options, err);
  rc = rc ? rc : run_batches(w, &r, err);
  w->result->failing += r.failing;
  w->result->interrupted |= r.interrupted || stop_requested();
  if (runner_close(&r, false, &second) && !rc) {
    *err = second;
    rc = -1;
  }
  if (rc || w->result->interrupted) // others need not wait for the lease's end
    test_queue_return(w->store, w->session, w->name, &second);
  runner_forget(&r);
  free(r.split_text);
  suite_release(&suite);
  return rc;
}

static void use_libraries(const Bundle *b) {
  if (b->lib)
    setenv("LD_LIBRARY_PATH", b->lib, 1);
  else
    unsetenv("LD_LIBRARY_PATH");
}

static int work_on(QueueWorker *w, const char *hash, Err *err) {
  char *dir;
  Bundle b = {0};
  int rc = have_bundle(w, hash, &dir, err);
  rc = rc ? rc : bundle_read(&b, dir, err);
  if (!rc) {
    use_libraries(&b);
    w->result->sessions++;
    rc = run_session(w, &b, err);
  }
  bundle_release(&b);
  free(dir);
  return rc;
}

int worker_run(const WorkerOptions *o, Store *store, WorkerResult *out,
               Err *err) {
  QueueWorker w = {
      .options = o, .store = store, .result = out, .per_job = BATCH_FIRST};
  double idle = clock_now();
  *out = (WorkerResult){0};
  name_worker(&w);
  while (!stop_requested() && !out->interrupted) {
    char *hash = NULL;
    int rc = test_queue_next_session(store, &w.session, &hash, err);
    if (!rc && w.session) {
      rc = work_on(&w, hash, err);
      idle = clock_now();
    }
    bool nothing = !w.session;
    free(hash);
    if (rc)
      return -1;
    if (nothing && clock_now() - idle >= o->wait)
      break;
    for (double until = clock_now() + LOOK_SECONDS;
         nothing && clock_now() < until && !stop_requested();)
      usleep(20000);
  }
  out->interrupted |= stop_requested();
  return 0;
}
