// The requests of a list, made again: see list_again.h.
#include "try/web/list_again.h"

#include <stdlib.h>

#include "php/fresh.h"
#include "util/mem.h"
#include "util/stop.h"

// A request that is ready to be made.
typedef struct {
  bool known;
  uint32_t saved; // the application's data
  const char *cookies;
  Request request;
} ReadyRequest;

typedef struct {
  const ListedTests *tests;
  AppInstance instance;
  ReadyRequest *ready; // by test
  Arena arena;         // of the requests
} ListWorker;

void listed_visitor(const ListedTests *t, size_t test, size_t *first,
                    size_t *end) {
  const Request *list = t->list->items;
  unsigned visitor = list[t->requests[test]].visitor;
  *first = *end = test;
  while (*first && list[t->requests[*first - 1]].visitor == visitor)
    --*first;
  while (*end < t->ntests && list[t->requests[*end]].visitor == visitor)
    ++*end;
}

static void close_worker(void *worker) {
  ListWorker *w = worker;
  app_instance_close(&w->instance);
  free(w->ready);
  arena_release(&w->arena);
  free(w);
}

static void *open_worker(void *context, const Visits *v, const char *maps,
                         int number, Err *err) {
  ListWorker *w = mem_new(ListWorker);
  w->tests = context;
  w->ready = mem_array(ReadyRequest, w->tests->ntests + 1);
  if (!app_instance_open(&w->instance, v, maps, number, NULL, err))
    return w;
  close_worker(w);
  return NULL;
}

static AppInstance *instance(void *worker) {
  return &((ListWorker *)worker)->instance;
}

// --- a visitor --------------------------------------------------------------

// What a browser would have.
typedef struct {
  CookieJar *jar;
  Fresh fresh;
} Visitor;

typedef int TakeAnswer(void *context, size_t test, const Request *request,
                       const Exchange *x, Arena *arena, Err *err);

static int make_request(ListWorker *w, Visitor *v, const Request *listed,
                        Request *sent, Exchange *x, Arena *arena, Err *err) {
  const char *cookies = cookie_jar_header(v->jar, listed->path, arena);
  *sent = fresh_apply(&v->fresh, listed, arena);
  if (app_instance_serve(&w->instance, sent, cookies, x, arena, err))
    return -1;
  fresh_note(&v->fresh, worker_app(w->instance.worker)->host, sent,
             &x->response);
  cookie_jar_take(v->jar, listed->path, &x->response.headers);
  return 0;
}

static int keep_ready(ListWorker *w, Visitor *v, size_t test, Err *err) {
  const Request *listed = &w->tests->list->items[w->tests->requests[test]];
  ReadyRequest *r = &w->ready[test];
  if (app_state_save(w->instance.state, &r->saved, err))
    return -1;
  r->cookies = cookie_jar_header(v->jar, listed->path, &w->arena);
  r->request = fresh_apply(&v->fresh, listed, &w->arena);
  r->known = true;
  return 0;
}

// One request of a visitor. `test`: it is the test's; SIZE_MAX: it is no test's.
static int step(ListWorker *w, Visitor *v, size_t at, size_t test,
                void *context, TakeAnswer *take, Err *err) {
  Arena arena = {0};
  Request sent;
  Exchange x;
  int rc =
      make_request(w, v, &w->tests->list->items[at], &sent, &x, &arena, err);
  if (!rc && test != SIZE_MAX && take)
    rc = take(context, test, &sent, &x, &arena, err);
  arena_release(&arena);
  return rc;
}

// Makes the requests of the visitor of `test`: all, and hands them over; or,
// without `take`, those before it, and keeps on the way what is needed to make
// each test by itself.
static int walk(ListWorker *w, size_t test, void *context, TakeAnswer *take,
                Err *err) {
  const ListedTests *t = w->tests;
  size_t next, end, last = t->requests[test], at = last;
  const Request *list = t->list->items;
  Visitor v = {.jar = cookie_jar_new()};
  listed_visitor(t, test, &next, &end);
  while (at && list[at - 1].visitor == list[last].visitor)
    at--;
  if (take)
    last = t->requests[end - 1];
  int rc = app_state_restore(w->instance.state, 0, err);
  for (; !rc && at <= last && !stop_requested(); at++) {
    bool is_test = next < end && t->requests[next] == at;
    if (is_test && !take)
      rc = keep_ready(w, &v, next, err);
    if (!rc && (take || at < last))
      rc = step(w, &v, at, is_test ? next : SIZE_MAX, context, take, err);
    next += is_test;
  }
  fresh_release(&v.fresh);
  cookie_jar_free(v.jar);
  return rc;
}

static int prepare(void *worker, size_t test, Err *err) {
  ListWorker *w = worker;
  int rc = w->ready[test].known ? 0 : walk(w, test, NULL, NULL, err);
  if (!rc && !w->ready[test].known)
    rc = err_set(err, "interrupted");
  return rc;
}

static int send_again(void *worker, size_t test, Request *request,
                      Exchange *out, Arena *arena, Err *err) {
  ListWorker *w = worker;
  const ReadyRequest *r = &w->ready[test];
  *request = r->request;
  if (app_state_restore(w->instance.state, r->saved, err))
    return -1;
  return app_instance_serve(&w->instance, request, r->cookies, out, arena, err);
}

static int visit(void *worker, size_t test, void *context, TakeAnswer *take,
                 Err *err) {
  return walk(worker, test, context, take, err);
}

WebAgain list_again(const ListedTests *tests) {
  return (WebAgain){.open = open_worker,
                    .close = close_worker,
                    .instance = instance,
                    .prepare = prepare,
                    .send = send_again,
                    .visit = visit,
                    .context = (void *)tests};
}
