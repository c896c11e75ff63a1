// Makes requests of a session again, with changes: see web_runs.h.
//
// A thread per worker. Jobs are taken in order under one lock; what a job needs
// is its own.
#include "try/web/web_runs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "try/web/web_memory.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

typedef struct {
  WebRuns *runs;
  pthread_t thread;
  bool started;
  int number;
  void *worker;
} WebRunner;

struct WebRuns {
  WebRunOptions options;
  WebRunner *runners;
  int nrunners;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  // Under the lock:
  WebJob *jobs;
  size_t njobs, next, finished;
  uint64_t count, recalled;
  TriedStops stops;
  int alive; // runners that can take jobs
  bool closing;
  bool failed;
  Err err; // the first
};

// --- outcomes ---------------------------------------------------------------

void web_outcome_release(WebOutcome *o) {
  for (size_t i = 0; i < o->signatures.len; i++)
    free(o->signatures.items[i]);
  array_release(&o->signatures);
  array_release(&o->words);
}

bool web_outcome_shows(const WebOutcome *o, const char *signature) {
  for (size_t i = 0; i < o->signatures.len; i++)
    if (!strcmp(o->signatures.items[i], signature))
      return true;
  return false;
}

static uint64_t count_steps(const PhpRecord *record) {
  uint64_t n = 0;
  for (size_t i = 0; i < record->nscripts; i++)
    for (size_t k = 0; k < record->scripts[i].ncounts; k++)
      n += record->scripts[i].counts[k].count;
  return n;
}

static bool made_too_many_steps(const PhpRecord *record) {
  for (size_t i = 0; i < record->nfaults; i++)
    if (text_starts(record->faults[i].message, PHP_CHANGE_STEPS))
      return true;
  return false;
}

static int judge(AppInstance *s, const Request *r, const Exchange *x,
                 WebOutcome *out, Arena *arena, Err *err) {
  Judged j;
  int rc = app_instance_judge(s, r, x, NULL, &j, arena, err);
  out->ran = !rc;
  out->status = x->response.status;
  out->size = x->response.body_len;
  page_words(x->response.body, x->response.body_len, &out->words);
  if (x->end == EXCHANGE_TIMEOUT)
    out->stops = RUN_OUT_OF_TIME;
  for (size_t i = 0; i < j.run.failures.len; i++)
    array_push(&out->signatures, mem_strdup(j.run.failures.items[i].signature));
  if (j.has_record) {
    out->steps = count_steps(&j.record);
    if (made_too_many_steps(&j.record))
      out->stops = RUN_OUT_OF_STEPS;
  }
  if (s->refused.len)
    out->stops |= RUN_REFUSED_CONFINE;
  run_release(&j.run);
  return rc;
}

// --- one job ----------------------------------------------------------------

typedef struct {
  WebRunner *runner;
  WebJob *job;
} JobWork;

// Of unchanged requests nothing is counted or kept but that they were made.
static uint64_t key_of(const WebRuns *r, const WebJob *job, size_t test) {
  const WebRunOptions *o = &r->options;
  return web_memory_key(o->name(o->context, test), job->change, job->visitor);
}

static void note_outcome(WebRuns *r, const WebJob *job, size_t test,
                         const WebOutcome *o) {
  pthread_mutex_lock(&r->lock);
  r->count++;
  if (job->change)
    stops_count(&r->stops, o->stops);
  if (job->change && o->ran && r->options.memory)
    web_memory_add(r->options.memory, key_of(r, job, test), o);
  pthread_mutex_unlock(&r->lock);
}

static void forget_outcomes(WebJob *job) {
  for (size_t i = 0; i < job->n; i++) {
    web_outcome_release(&job->outcomes[i]);
    job->outcomes[i] = (WebOutcome){0};
  }
}

// Are the outcomes of all its requests known from before?
static bool recall(WebRuns *r, WebJob *job) {
  bool known = job->change && r->options.memory, before = false;
  pthread_mutex_lock(&r->lock);
  for (size_t i = 0; known && i < job->n; i++)
    known = web_memory_find(r->options.memory, key_of(r, job, job->first + i),
                            &job->outcomes[i], &before);
  for (size_t i = 0; known && i < job->n; i++)
    stops_count(&r->stops, job->outcomes[i].stops);
  r->count += known ? job->n : 0; // so that the search goes as it went
  r->recalled += known && before ? job->n : 0;
  pthread_mutex_unlock(&r->lock);
  if (!known)
    forget_outcomes(job);
  return known;
}

static int take(void *context, size_t test, const Request *request,
                const Exchange *x, Arena *arena, Err *err) {
  JobWork *w = context;
  const WebAgain *a = &w->runner->runs->options.again;
  if (test < w->job->first || test - w->job->first >= w->job->n)
    return 0;
  WebOutcome *out = &w->job->outcomes[test - w->job->first];
  int rc = judge(a->instance(w->runner->worker), request, x, out, arena, err);
  note_outcome(w->runner->runs, w->job, test, out);
  return rc;
}

static int set_change(const WebRunner *p, const WebJob *job, Err *err) {
  const WebAgain *a = &p->runs->options.again;
  const char *dir = worker_dir(a->instance(p->worker)->worker);
  return php_change_set(dir, job ? job->change : NULL, job ? job->steps : 0,
                        err);
}

static int do_single(WebRunner *p, WebJob *job, Err *err) {
  const WebAgain *a = &p->runs->options.again;
  JobWork w = {p, job};
  Arena arena = {0};
  Request request;
  Exchange x;
  int rc = set_change(p, NULL, err) || a->prepare(p->worker, job->test, err) ||
                   set_change(p, job, err) ||
                   a->send(p->worker, job->test, &request, &x, &arena, err)
               ? -1
               : take(&w, job->test, &request, &x, &arena, err);
  arena_release(&arena);
  return rc;
}

static int do_job(WebRunner *p, WebJob *job, Err *err) {
  const WebAgain *a = &p->runs->options.again;
  JobWork w = {p, job};
  if (!job->visitor || !a->visit)
    return do_single(p, job, err);
  return set_change(p, job, err)
             ? -1
             : a->visit(p->worker, job->test, &w, take, err);
}

// --- threads ----------------------------------------------------------------

static bool goes_on(WebRuns *r) {
  const WebRunOptions *o = &r->options;
  pthread_mutex_lock(&r->lock);
  bool yes =
      !r->failed && !stop_requested() && (!o->go_on || o->go_on(o->context));
  pthread_mutex_unlock(&r->lock);
  return yes;
}

static void note_failure(WebRuns *r, const Err *err) {
  if (!r->failed)
    r->err = *err;
  r->failed = true;
}

// The next job; NULL: there will be none.
static WebJob *next_job(WebRuns *r) {
  WebJob *job = NULL;
  pthread_mutex_lock(&r->lock);
  while (!r->closing && r->next >= r->njobs)
    pthread_cond_wait(&r->work, &r->lock);
  if (!r->closing)
    job = &r->jobs[r->next++];
  pthread_mutex_unlock(&r->lock);
  return job;
}

static void end_job(WebRuns *r, int rc, const Err *err) {
  pthread_mutex_lock(&r->lock);
  if (rc)
    note_failure(r, err);
  r->finished++;
  pthread_cond_broadcast(&r->done);
  pthread_mutex_unlock(&r->lock);
}

static void *work(void *arg) {
  WebRunner *p = arg;
  WebRuns *r = p->runs;
  const WebAgain *a = &r->options.again;
  Err err = {0};
  p->worker =
      a->open(a->context, r->options.visits, r->options.maps, p->number, &err);
  if (p->worker)
    for (WebJob *job; (job = next_job(r));) {
      int rc = goes_on(r) && !recall(r, job) ? do_job(p, job, &err) : 0;
      // What a signal broke off is not an error.
      end_job(r, stop_requested() ? 0 : rc, &err);
    }
  pthread_mutex_lock(&r->lock);
  if (!p->worker)
    note_failure(r, &err);
  r->alive--;
  pthread_cond_broadcast(&r->done);
  pthread_mutex_unlock(&r->lock);
  if (p->worker)
    a->close(p->worker);
  return NULL;
}

int web_runs_open(WebRuns **out, const WebRunOptions *o, Err *err) {
  WebRuns *r = *out = mem_new(WebRuns);
  r->options = *o;
  r->nrunners = o->workers > 0 ? o->workers : 1;
  r->runners = mem_array(WebRunner, (size_t)r->nrunners);
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->work, NULL);
  pthread_cond_init(&r->done, NULL);
  stop_adopt();
  for (int i = 0; i < r->nrunners; i++) {
    WebRunner *p = &r->runners[i];
    *p = (WebRunner){.runs = r, .number = i};
    pthread_mutex_lock(&r->lock);
    p->started = !pthread_create(&p->thread, NULL, work, p);
    r->alive += p->started;
    pthread_mutex_unlock(&r->lock);
  }
  return r->alive ? 0 : err_set(err, "cannot start a thread");
}

void web_runs_close(WebRuns *r) {
  if (!r)
    return;
  pthread_mutex_lock(&r->lock);
  r->closing = true;
  pthread_cond_broadcast(&r->work);
  pthread_mutex_unlock(&r->lock);
  for (int i = 0; i < r->nrunners; i++)
    if (r->runners[i].started)
      pthread_join(r->runners[i].thread, NULL);
  pthread_mutex_destroy(&r->lock);
  pthread_cond_destroy(&r->work);
  pthread_cond_destroy(&r->done);
  free(r->runners);
  free(r);
}

int web_runs_do(WebRuns *r, WebJob *jobs, size_t n, Err *err) {
  pthread_mutex_lock(&r->lock);
  r->jobs = jobs;
  r->njobs = n;
  r->next = r->finished = 0;
  pthread_cond_broadcast(&r->work);
  while (r->finished < n && r->alive)
    pthread_cond_wait(&r->done, &r->lock);
  r->njobs = r->next = 0;
  int rc = r->failed ? -1 : 0;
  if (rc)
    *err = r->err;
  pthread_mutex_unlock(&r->lock);
  return rc;
}

uint64_t web_runs_count(const WebRuns *r) { return r->count; }
uint64_t web_runs_recalled(const WebRuns *r) { return r->recalled; }
TriedStops web_runs_stops(const WebRuns *r) { return r->stops; }
