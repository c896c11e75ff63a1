// Makes requests of an exploration once more: see request_again.h.
#include "explore/request_again.h"

#include "explore/explorer_internal.h"
#include "util/fs.h"
#include "util/stop.h"

static int judge_again(AppDriver *d, const Answer *answer, Arena *arena,
                       Err *err) {
  const VisitsTaker *t = d->instance.visits->taker;
  Judged j;
  int rc = app_instance_judge(&d->instance, &answer->request, &answer->exchange,
                              NULL, &j, arena, err);
  if (!rc)
    t->take(t->context, &j.run, j.has_record ? &j.record : NULL);
  run_release(&j.run);
  return rc;
}

int request_again_go(const Explorer *e, AppDriver *d, uint32_t number,
                     Err *err) {
  const MadeRequest *made = state_graph_request(&e->graph, number);
  StatePath path = {0};
  if (!made)
    return err_set(err, "the exploration has no request %u", number);
  state_graph_path(&e->graph, made->state, &path);
  int rc = app_driver_go(d, &path, err);
  array_release(&path);
  return rc;
}

int request_again_send(const Explorer *e, AppDriver *d, uint32_t number,
                       Answer *out, Arena *arena, Err *err) {
  const MadeRequest *made = state_graph_request(&e->graph, number);
  if (!made)
    return err_set(err, "the exploration has no request %u", number);
  LocalState from = *app_driver_at(d, made->state);
  return app_driver_send(d, &from, &made->ask, number, out, arena, err);
}

static int make_again(const Explorer *e, AppDriver *d, uint32_t number,
                      Err *err) {
  Arena arena = {0};
  Answer answer;
  if (!state_graph_request(&e->graph, number))
    return 0;
  int rc = request_again_go(e, d, number, err);
  if (!rc)
    rc = request_again_send(e, d, number, &answer, &arena, err);
  if (!rc)
    rc = judge_again(d, &answer, &arena, err);
  arena_release(&arena);
  return rc;
}

int request_again(const Explorer *e, const Visits *v, const char *maps,
                  const uint32_t *numbers, size_t n, Err *err) {
  AppDriver d = {0};
  int rc = app_driver_open(&d, v, maps, 0, err);
  for (size_t i = 0; !rc && i < n && v->taker->goes_on(v->taker->context); i++)
    rc = make_again(e, &d, numbers[i], err);
  app_driver_close(&d);
  fs_remove_tree(v->scratch);
  return rc;
}
