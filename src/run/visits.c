// Runs a list of requests against a PHP application: see visits.h.
//
// One thread per worker; the store, the scripts' entities and the progress are
// shared under one lock. Answering, checking the page and restoring the state
// happen outside of it.
#include "run/visits.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "php/fresh.h"
#include "php/source/php_scripts.h"
#include "php/state/app_state.h"
#include "process/orphan.h"
#include "run/app_instance.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum { WORKERS_MAX = 64 };

// --- signals ----------------------------------------------------------------

typedef struct {
  pid_t child;
  int number;
} SentSignal;

enum { SENT_MOST = 64 };
static struct {
  pthread_mutex_t lock;
  SentSignal list[SENT_MOST];
  size_t n;
} unsaid = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int take_signal_of(pid_t child) {
  for (size_t i = 0; i < unsaid.n; i++)
    if (unsaid.list[i].child == child) {
      int number = unsaid.list[i].number;
      unsaid.list[i] = unsaid.list[--unsaid.n];
      return number;
    }
  return 0;
}

// An application that signals its parent is not the user who wants to stop.
int visits_signal_of(pid_t child) {
  pid_t pid;
  pthread_mutex_lock(&unsaid.lock);
  for (int number; unsaid.n < SENT_MOST && (number = stop_take_sent(&pid));)
    unsaid.list[unsaid.n++] = (SentSignal){process_ancestor(pid), number};
  int number = child ? take_signal_of(child) : 0;
  pthread_mutex_unlock(&unsaid.lock);
  return number;
}

// What all workers share.
typedef struct {
  Visits *visits;
  const Requests *requests;
  Scripts *scripts;
  const char *maps;
  pthread_mutex_t lock;
  // Under the lock:
  size_t next; // request that the next visitor begins with
  bool stop;
  Err err; // the first error
} Shared;

// One worker: thread, process, state.
typedef struct {
  Shared *shared;
  int number;
  pthread_t thread;
  bool started;
  AppInstance instance;
} VisitWorker;

// --- one request ------------------------------------------------------------

static int keep(Shared *shared, const PhpRecord *record, Run *run, Err *err) {
  Visits *v = shared->visits;
  int rc = 0;
  pthread_mutex_lock(&shared->lock);
  if (v->taker) {
    v->taker->take(v->taker->context, run, record);
  } else {
    if (record)
      scripts_collect(shared->scripts, record, run);
    rc = store_add_run(v->store, v->session, run, err);
  }
  v->finished++;
  v->failing += run->verdict == VERDICT_FAIL;
  if (v->progress)
    v->progress(v);
  pthread_mutex_unlock(&shared->lock);
  return rc;
}

static int judge(VisitWorker *p, const Request *r, const Exchange *x,
                 const char *warning, Arena *arena, Err *err) {
  Judged j;
  int rc = app_instance_judge(&p->instance, r, x, warning, &j, arena, err);
  if (!rc)
    rc = keep(p->shared, j.has_record ? &j.record : NULL, &j.run, err);
  run_release(&j.run);
  return rc;
}

static const char *setup_problem(const Request *r, const Exchange *x,
                                 Arena *arena) {
  if (x->end == EXCHANGE_DONE && x->response.status < 500)
    return NULL;
  return arena_printf(arena, "the setup request in line %u failed: %s", r->line,
                      x->end == EXCHANGE_TIMEOUT ? "no answer in time"
                      : x->how                   ? x->how
                                                 : "status 500 or above");
}

static bool is_wanted(const Visits *v, const Request *r) {
  char name[16];
  snprintf(name, sizeof name, "%u", r->line);
  return !v->taker || v->taker->wants(v->taker->context, name);
}

static bool is_wanted_now(Shared *shared, const Request *r) {
  pthread_mutex_lock(&shared->lock);
  bool wanted = is_wanted(shared->visits, r);
  pthread_mutex_unlock(&shared->lock);
  return wanted;
}

// --- one visitor ------------------------------------------------------------

static bool wants_fresh(const Request *list, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    if (headers_get(&list[i].headers, FRESH_HEADER))
      return true;
  return false;
}

static int serve_visitor(VisitWorker *p, size_t from, size_t to, Err *err) {
  const Request *list = p->shared->requests->items;
  AppInstance *s = &p->instance;
  CookieJar *jar = cookie_jar_new();
  Fresh fresh = {0};
  bool note = wants_fresh(list, from, to);
  Arena visit = {0};
  const char *warning = NULL;
  int rc = app_state_restore(s->state, 0, err);
  for (size_t i = from; !rc && i < to && !stop_requested(); i++) {
    Arena arena = {0};
    Exchange x;
    const char *cookies = cookie_jar_header(jar, list[i].path, &arena);
    Request sent = fresh_apply(&fresh, &list[i], &arena);
    rc = app_instance_serve(s, &sent, cookies, &x, &arena, err);
    if (!rc && note)
      fresh_note(&fresh, &sent, &x.response);
    if (!rc) {
      cookie_jar_take(jar, list[i].path, &x.response.headers);
      if (list[i].setup)
        warning = setup_problem(&list[i], &x, &visit);
      else if (is_wanted_now(p->shared, &list[i]))
        rc = judge(p, &sent, &x, warning, &arena, err);
    }
    arena_release(&arena);
  }
  arena_release(&visit);
  fresh_release(&fresh);
  cookie_jar_free(jar);
  return rc;
}

// --- sharing out ------------------------------------------------------------

static bool is_done(Visits *v, const Request *r) {
  char name[16];
  snprintf(name, sizeof name, "%u", r->line);
  if (v->taker)
    return r->setup || !is_wanted(v, r);
  return r->setup || (v->already && store_has_run(v->store, v->session, name));
}

static bool may_begin(const Shared *shared) {
  const VisitsTaker *t = shared->visits->taker;
  return !t || t->goes_on(t->context);
}

// The next visitor with something to do, as a range of requests.
static bool next_visitor(Shared *shared, size_t *from, size_t *to) {
  const Requests *all = shared->requests;
  bool found = false;
  pthread_mutex_lock(&shared->lock);
  while (!found && !shared->stop && !stop_requested() && may_begin(shared) &&
         shared->next < all->len) {
    size_t i = *from = *to = shared->next;
    for (; i < all->len && all->items[i].visitor == all->items[*from].visitor;
         i++)
      if (!is_done(shared->visits, &all->items[i])) {
        found = true;
        *to = i + 1;
      }
    shared->next = i;
    if (!shared->visits->taker)
      *to = i;
  }
  pthread_mutex_unlock(&shared->lock);
  return found;
}

static void stop_all(Shared *shared, const Err *err) {
  pthread_mutex_lock(&shared->lock);
  if (!shared->stop)
    shared->err = *err;
  shared->stop = true;
  pthread_mutex_unlock(&shared->lock);
}

static void *work(void *arg) {
  VisitWorker *p = arg;
  Shared *shared = p->shared;
  Err err = {0};
  size_t from, to = 0;
  int rc = app_instance_open(&p->instance, shared->visits, shared->maps,
                             p->number, NULL, &err);
  while (!rc && next_visitor(shared, &from, &to))
    rc = serve_visitor(p, from, to, &err);
  if (rc)
    stop_all(shared, &err);
  app_instance_close(&p->instance);
  return NULL;
}

// Does every worker have a file of its own there?
static bool is_own(const Visits *v, const char *path) {
  if (strstr(path, "%w"))
    return true;
  if (v->in_place)
    return false;
  const char *const *p = v->confine.writable;
  for (; p && *p; p++)
    if (path_lies_in(path, *p))
      return false;
  return v->has_view || path_lies_in(path, v->app.root);
}

int visits_workers(const Visits *v) {
  cpu_set_t set;
  int n = v->workers;
  if (n < 1)
    n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  if (n > WORKERS_MAX)
    n = WORKERS_MAX;
  for (size_t i = 0; i < v->files.len; i++)
    if (!is_own(v, v->files.items[i]))
      n = 1;
  return n;
}

static int count_workers(const Visits *v, const Requests *requests) {
  int n = visits_workers(v);
  unsigned visitors =
      requests->len ? requests->items[requests->len - 1].visitor + 1 : 1;
  return n > (int)visitors ? (int)visitors : n;
}

static int start_all(Shared *shared, VisitWorker *workers, int n, Err *err) {
  for (int i = 0; i < n; i++) {
    workers[i] = (VisitWorker){.shared = shared, .number = i};
    workers[i].started =
        !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    if (!workers[i].started && i == 0)
      return err_set(err, "cannot start a thread");
  }
  for (int i = 0; i < n; i++)
    if (workers[i].started)
      pthread_join(workers[i].thread, NULL);
  if (shared->stop) {
    *err = shared->err;
    return -1;
  }
  return 0;
}

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  const Visits *v = ctx;
  return store_add_unit(v->store, v->session, unit, ids, err);
}

static void count_tests(Visits *v, const Requests *requests) {
  v->total = v->finished = v->failing = 0;
  v->already = 1; // ask the store
  size_t done = 0;
  for (size_t i = 0; i < requests->len; i++) {
    if (requests->items[i].setup)
      continue;
    v->total++;
    done += is_done(v, &requests->items[i]);
  }
  v->already = done;
}

int visits_run(Visits *v, const Requests *requests, Err *err) {
  char *maps = mem_printf("%s/maps", v->scratch);
  Shared shared = {.visits = v, .requests = requests, .maps = maps};
  pthread_mutex_init(&shared.lock, NULL);
  count_tests(v, requests);
  shared.scripts = scripts_new(maps, assign_ids, v);
  int n = count_workers(v, requests), rc = fs_mkdirs(maps, err);
  VisitWorker *workers = mem_array(VisitWorker, (size_t)n);
  stop_adopt();
  if (!rc)
    rc = start_all(&shared, workers, n, err);
  v->interrupted = stop_requested();
  free(workers);
  scripts_free(shared.scripts);
  pthread_mutex_destroy(&shared.lock);
  fs_remove_tree(v->scratch);
  free(maps);
  return rc;
}

void visits_release(Visits *v) {
  array_release(&v->ini);
  array_release(&v->env);
  array_release(&v->files);
  array_release(&v->databases);
}
