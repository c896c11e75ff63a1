// The requests of an exploration, made again: see explored_again.h.
#include "try/web/explored_again.h"

#include <stdlib.h>

#include "explore/request_again.h"
#include "util/mem.h"

typedef struct {
  const ExploredTests *tests;
  AppDriver driver;
} ExploredWorker;

static void close_worker(void *worker) {
  ExploredWorker *w = worker;
  app_driver_close(&w->driver);
  free(w);
}

static void *open_worker(void *context, const Visits *v, const char *maps,
                         int number, Err *err) {
  ExploredWorker *w = mem_new(ExploredWorker);
  w->tests = context;
  if (!app_driver_open(&w->driver, v, maps, number, err))
    return w;
  close_worker(w);
  return NULL;
}

static AppInstance *instance(void *worker) {
  return &((ExploredWorker *)worker)->driver.instance;
}

// The driver knows the state from then on, and only restores it.
static int prepare(void *worker, size_t test, Err *err) {
  ExploredWorker *w = worker;
  return request_again_go(w->tests->explorer, &w->driver,
                          w->tests->numbers[test], err);
}

static int send_again(void *worker, size_t test, Request *request,
                      Exchange *out, Arena *arena, Err *err) {
  ExploredWorker *w = worker;
  Answer answer;
  if (prepare(worker, test, err) ||
      request_again_send(w->tests->explorer, &w->driver,
                         w->tests->numbers[test], &answer, arena, err))
    return -1;
  *request = answer.request;
  *out = answer.exchange;
  return 0;
}

WebAgain explored_again(const ExploredTests *tests) {
  return (WebAgain){.open = open_worker,
                    .close = close_worker,
                    .instance = instance,
                    .prepare = prepare,
                    .send = send_again,
                    .context = (void *)tests};
}
