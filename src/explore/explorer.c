// Explores a PHP application: see explorer.h.
//
// Each worker repeats: take the best request of the queue, bring the
// application into its state, send it, judge the response. Then submit: store
// the run and enter the state that it left behind. What follows from it goes to
// the queue:
//
//   links and forms of the page      in the new state
//   solved input, keys looked up     in the state the request started in, in
//   the
//                                    worker's next turn
//
// One thread per worker. Workers take turns: the worker whose turn it is
// submits its result and takes the next request, both under the lock
// (explorer_turn.c). Sending, judging, restoring and solving happen outside of
// it. So with n workers, request k is chosen with knowledge of the responses up
// to k - n and of the solutions up to k - 2n, whichever worker is faster. A
// single worker solves at once.
//
// Memory: requests lie in the arenas of the queue and the graph, everything
// else of one request in its own.
#include "explore/explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/checkpoint.h"
#include "explore/explorer_internal.h"
#include "php/child.h"
#include "php/fresh.h"
#include "process/orphan.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  REPRODUCE_REQUESTS = 60,
  REPRODUCE_SECONDS = 20, // for all failures together, at most
  SURVEY_SECONDS = 10,    // to compile all scripts, at most
};
#define SAVE_SECONDS 3.0
#define LOG_SECONDS 1.0

// --- one request ------------------------------------------------------------

static void find_other_host(ExploreWorker *p) {
  RequestResult *c = &p->result;
  const Response *r = &c->answer.exchange.response;
  const char *host = worker_app(p->driver.instance.worker)->host;
  const char *to = headers_get(&r->headers, "Location");
  c->other = to ? link_other_host(to, host, &c->arena)
                : other_host_of(r->body, r->body_len, host, &c->arena);
  c->linked = to || c->other || c->answer.links.len;
}

static void find_follow_ups(ExploreWorker *p) {
  RequestResult *c = &p->result;
  FollowUpSource f = {.app = worker_app(p->driver.instance.worker),
                      .routes = &p->routes,
                      .item = &p->item,
                      .answer = &c->answer,
                      .arena = &c->arena};
  c->scripted = follow_ups_of_page(&f, &c->next);
  find_other_host(p);
  const ValueSwap *swaps = app_driver_at(&p->driver, p->item.state)->swaps;
  for (size_t i = 0; swaps && i < c->next.len; i++)
    c->next.items[i].ask =
        value_swaps_undo(swaps, &c->next.items[i].ask, &c->arena);
  HiddenFields hidden = hidden_fields_of(&c->answer.links, &c->arena);
  c->hidden = hidden_fields_undo(swaps, &hidden, &c->arena);
  if (!c->is_run || !c->judged.has_record)
    return;
  const PhpRecord *record = &c->judged.record;
  for (size_t i = 0; i < record->nqueries; i++)
    sql_tables_add(&c->tables, record->queries[i]);
  c->steps = path_steps(record, &c->nsteps, &c->arena);
}

// Nothing is stored before the application's state is saved: the end of the
// database server is not a failure of the application.
static int work_on(ExploreWorker *p, Err *err) {
  RequestResult *c = &p->result;
  if (app_driver_go(&p->driver, &p->path, err)) {
    c->cut = p->driver.cut;
    return c->cut ? 0 : -1;
  }
  LocalState from = *app_driver_at(&p->driver, p->item.state);
  if (app_driver_send(&p->driver, &from, &p->item.ask, p->run, &c->answer,
                      &c->arena, err))
    return -1;
  c->cut = c->answer.exchange.cut;
  if (c->cut)
    return 0;
  if (p->run && !c->answer.exchange.is_static) {
    c->is_run = true;
    if (app_instance_judge(&p->driver.instance, &c->answer.request,
                           &c->answer.exchange, NULL, &c->judged, &c->arena,
                           err))
      return -1;
  }
  if (app_driver_save(&p->driver, &from, &c->answer, err))
    return -1;
  find_follow_ups(p);
  return 0;
}

// --- on disk ----------------------------------------------------------------

static int save(Explorer *e, Err *err) {
  const ExplorerOptions *o = e->options;
  e->saved_at = clock_now();
  if (!o->saved)
    return 0;
  return store_flush(o->visits->store, err) ||
                 checkpoint_write(e, o->saved, err)
             ? -1
             : 0;
}

void explorer_log(Explorer *e, bool now) {
  const ExplorerProgress *p = &e->progress;
  if (!e->options->saved || (!now && p->seconds < e->logged))
    return;
  char *path = mem_printf("%s.tsv", e->options->saved);
  bool resumed = e->options->resume || e->logged > 0;
  FILE *f = fopen(path, resumed ? "a" : "w");
  if (f && !resumed)
    fputs("seconds\trequests\tscripts\tlines\tbranches\tstates\tfailing\t"
          "failures\tqueued\n",
          f);
  if (f)
    fprintf(f, "%.1f\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\n", p->seconds,
            p->requests, p->scripts, p->lines, p->branches, p->states,
            p->failing, p->failures, p->queued);
  if (f)
    fclose(f);
  free(path);
  e->logged = p->seconds + LOG_SECONDS;
}

// --- turns ------------------------------------------------------------------

static void give_up(Explorer *e, const Err *err) {
  if (!e->failed)
    e->err = *err;
  e->failed = e->stop = true;
}

static void pass_on(Explorer *e) {
  for (int i = 0; i < e->nworkers; i++) {
    e->turn = (e->turn + 1) % e->nworkers;
    if (!e->workers[e->turn].gone)
      break;
  }
  pthread_cond_broadcast(&e->passed);
}

// Submits and takes; false: the worker is done.
static bool have_turn(ExploreWorker *p, int rc, Err *err) {
  Explorer *e = p->explorer;
  pthread_mutex_lock(&e->lock);
  while (e->turn != p->number)
    pthread_cond_wait(&e->passed, &e->lock);
  explore_worker_offer(e, p);
  if (!rc && p->busy && !e->failed)
    rc = explore_worker_submit(e, p, err);
  if (rc)
    give_up(e, err);
  request_result_release(&p->result);
  if (p->pending.open && explore_worker_solves_alone(e, p)) {
    explore_worker_solve(p);
    explore_worker_offer(e, p);
  }
  bool more = !e->failed && explore_worker_take(e, p);
  e->idle = more || p->pending.open ? 0 : e->idle + 1;
  if (!more && e->idle >= e->nworkers)
    e->stop = true; // all workers wait for each other
  bool leaves =
      !more && !p->pending.open && (e->stop || !explorer_may_go_on(e));
  if (leaves)
    p->gone = true;
  if (clock_now() - e->saved_at > SAVE_SECONDS && !e->failed && save(e, err))
    give_up(e, err);
  pass_on(e);
  pthread_mutex_unlock(&e->lock);
  return !leaves;
}

static bool all_gone(const Explorer *e) {
  for (int i = 0; i < e->nworkers; i++)
    if (!e->workers[i].gone)
      return false;
  return true;
}

// False: something went wrong.
static bool wait_for_others(Explorer *e) {
  pthread_mutex_lock(&e->lock);
  while (!all_gone(e))
    pthread_cond_wait(&e->passed, &e->lock);
  bool good = !e->failed;
  pthread_mutex_unlock(&e->lock);
  return good;
}

// What Culprit-Fresh names in the user's requests.
static void add_given_fresh(const Explorer *e, Str *out) {
  const Requests *list = e->options->first;
  for (size_t i = 0; list && i < list->len; i++) {
    const char *names = headers_get(&list->items[i].headers, FRESH_HEADER);
    if (names)
      str_addf(out, "%s%s", out->len ? " " : "", names);
  }
}

// Those that there was no time for take the same values from the page as the
// others.
static void settle_untried(Explorer *e, AppDriver *d, Str *fresh) {
  for (size_t i = 0; i < e->failures.len; i++) {
    FoundFailure *s = &e->failures.items[i];
    size_t none = 0;
    if (!s->reproduction.tried)
      s->reproduction = reproduction_make(d, &e->graph, s->number, s->signature,
                                          fresh, &none, 0, &e->arena);
  }
}

static void reproduce_failures(Explorer *e, AppDriver *d) {
  Str fresh = {0};
  add_given_fresh(e, &fresh);
  double most = e->options->budget / 4, until = e->until - e->options->after;
  most = most < REPRODUCE_SECONDS ? most : REPRODUCE_SECONDS;
  if (clock_now() + most < until)
    until = clock_now() + most;
  for (size_t i = 0; i < e->failures.len; i++) {
    FoundFailure *s = &e->failures.items[i];
    bool time = clock_now() < until && !stop_requested();
    size_t budget = e->options->no_reduce || !time ? 0 : REPRODUCE_REQUESTS;
    s->reproduction = reproduction_make(d, &e->graph, s->number, s->signature,
                                        &fresh, &budget, until, &e->arena);
  }
  settle_untried(e, d, &fresh);
  str_release(&fresh);
}

// A resumed exploration does not know how many it knew before.
static void count_statements(Explorer *e) {
  size_t n = e->statements + e->survey.statements;
  e->progress.statements = n > e->resumed ? n : e->resumed;
}

// What the first worker does before the others have a turn.
static void begin(ExploreWorker *p) {
  Explorer *e = p->explorer;
  const Visits *v = e->options->visits;
  Err ignored;
  double seconds = e->options->budget / 10;
  seconds = seconds < SURVEY_SECONDS ? seconds : SURVEY_SECONDS;
  state_graph_begin(&e->graph,
                    app_driver_key(&p->driver, app_driver_at(&p->driver, 0)));
  script_survey_make(&e->survey, v->app.root, p->driver.instance.worker,
                     e->maps, seconds, &ignored);
  count_statements(e);
}

static void *work(void *arg) {
  ExploreWorker *p = arg;
  Explorer *e = p->explorer;
  Err err = {0};
  int rc =
      app_driver_open(&p->driver, e->options->visits, e->maps, p->number, &err);
  bitset_add(&p->near, 0);
  if (!rc && p->number == 0)
    begin(p);
  while (have_turn(p, rc, &err)) {
    explore_worker_solve(p);
    if (p->busy)
      rc = work_on(p, &err);
  }
  if (p->number == 0 && wait_for_others(e))
    reproduce_failures(e, &p->driver);
  pthread_mutex_lock(&e->lock);
  e->progress.replayed += p->driver.replayed;
  pthread_mutex_unlock(&e->lock);
  app_driver_close(&p->driver);
  return NULL;
}

static void explore_worker_release(ExploreWorker *p) {
  request_result_release(&p->result);
  pending_solve_release(&p->pending);
  request_solver_free(p->solver);
  array_release(&p->path);
  hashmap_release(&p->routes);
  bitset_release(&p->near);
}

static int run_workers(Explorer *e, Err *err) {
  int n = visits_workers(e->options->visits);
  e->nworkers = n;
  e->workers = mem_array(ExploreWorker, (size_t)n);
  for (int i = 0; i < n; i++)
    e->workers[i] =
        (ExploreWorker){.explorer = e,
                        .number = i,
                        .solver = request_solver_new(e->solve_memory)};
  for (int i = 0; i < n; i++) {
    ExploreWorker *p = &e->workers[i];
    p->started = !pthread_create(&p->thread, NULL, work, p);
    if (!p->started) {
      pthread_mutex_lock(&e->lock);
      p->gone = true;
      if (i == 0)
        e->failed = err_set(&e->err, "cannot start a thread");
      if (e->turn == i)
        pass_on(e);
      pthread_mutex_unlock(&e->lock);
    }
  }
  for (int i = 0; i < n; i++)
    if (e->workers[i].started)
      pthread_join(e->workers[i].thread, NULL);
  if (e->failed)
    *err = e->err;
  return e->failed ? -1 : 0;
}

int explorer_write(const Explorer *e, const Suite *suite, const char *dir,
                   Err *err) {
  int rc = suite->nfailures ? fs_mkdirs(dir, err) : 0;
  for (size_t i = 0; !rc && i < suite->nfailures; i++) {
    const FailureGroup *g = &suite->failures[i];
    uint64_t n;
    if (!hashmap_get(&e->signatures, g->signature, strlen(g->signature), &n) ||
        !e->failures.items[n].reproduction.nsteps)
      continue;
    char *title = mem_printf("%s: %s%s%s", g->kind, g->message,
                             *g->place ? "\n" : "", g->place);
    char *base = mem_printf("%s/failure-%zu", dir, i + 1);
    rc = reproduction_write(&e->failures.items[n].reproduction, title, base,
                            err);
    free(title);
    free(base);
  }
  return rc;
}

// --- the whole --------------------------------------------------------------

// A script that the application writes (a compiled template), and a text given to
// eval(), may be another one each time: the longest counts.
static void count_other(Explorer *e, const Unit *unit) {
  uint64_t n = unit_statements(unit), before = 0;
  hashmap_get(&e->others, unit->name, strlen(unit->name), &before);
  if (n > before) {
    hashmap_put(&e->others, unit->name, strlen(unit->name), n);
    e->statements += n - before;
  }
}

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  Explorer *e = ctx;
  const Visits *v = e->options->visits;
  if (!script_survey_take(&e->survey, v->app.root, unit))
    count_other(e, unit);
  count_statements(e);
  if (store_add_unit(v->store, v->session, unit, ids, err))
    return -1;
  condition_outcomes_add(&e->outcomes, unit, ids);
  return 0;
}

Explorer *explorer_new(const ExplorerOptions *o) {
  Explorer *e = mem_new(Explorer);
  e->options = o;
  e->solve_memory = solve_memory_new(0, o->solve_seconds);
  e->queue.seed = o->seed;
  e->queue.last = o->last;
  e->queue.goals = &e->goals;
  e->queue.scored = o->strategy->nearness != NEAR_NOTHING;
  e->target = (TargetFailure){.strategy = o->strategy, .graph = &e->graph};
  e->maps = mem_printf("%s/maps", o->visits->scratch);
  e->scripts = scripts_new(e->maps, assign_ids, e);
  state_graph_init(&e->graph);
  e->progress.states = 1;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->passed, NULL);
  return e;
}

void explorer_free(Explorer *e) {
  if (!e)
    return;
  for (int i = 0; i < e->nworkers; i++)
    explore_worker_release(&e->workers[i]);
  free(e->workers);
  for (size_t i = 0; i < e->failures.len; i++)
    free(e->failures.items[i].signature);
  array_release(&e->failures);
  array_release(&e->scripts_seen);
  array_release(&e->roles);
  array_release(&e->redirected);
  array_release(&e->scripted);
  other_hosts_release(&e->hosts);
  hashmap_release(&e->units);
  hashmap_release(&e->signatures);
  hashmap_release(&e->solved);
  hashmap_release(&e->of_line);
  hashmap_release(&e->routes);
  hashmap_release(&e->odd);
  condition_outcomes_release(&e->outcomes);
  bitset_release(&e->lines);
  bitset_release(&e->conditions);
  target_failure_release(&e->target);
  outcome_goals_release(&e->goals);
  accounts_release(&e->accounts);
  good_values_release(&e->good);
  odd_texts_release(&e->texts);
  script_survey_release(&e->survey);
  hashmap_release(&e->others);
  solve_memory_free(e->solve_memory);
  queue_release(&e->queue);
  state_graph_release(&e->graph);
  arena_release(&e->arena);
  scripts_free(e->scripts);
  pthread_cond_destroy(&e->passed);
  pthread_mutex_destroy(&e->lock);
  free(e->maps);
  free(e);
}

const ExplorerProgress *explorer_progress(const Explorer *e) {
  return &e->progress;
}

static int add_entries(Explorer *e, Err *err) {
  const WebApp *app = &e->options->visits->app;
  RequestOrigin origin =
      explorer_is_directed(e) && e->options->first ? ORIGIN_LINK : ORIGIN_ENTRY;
  int rc = entry_pages_find(app->root, &e->entries, &e->arena, err);
  if (!rc && app->front)
    explorer_offer(
        e, (QueueItem){.ask = ask_link("/", "", &e->arena), .origin = origin});
  if (!rc)
    explorer_offer_entries(e, 0, origin, false);
  if (!rc && !e->queue.items.len && !e->graph.requests.len)
    rc = err_set(err,
                 "%s holds no page to start from; name the document root, or "
                 "the requests with --requests FILE",
                 app->root);
  return rc;
}

int explorer_run(Explorer *e, Err *err) {
  const ExplorerOptions *o = e->options;
  Err ignored;
  e->begin = e->saved_at = clock_now();
  e->until = o->visits->app.until;
  if (!(e->until > 0))
    e->until = e->begin + o->budget;
  e->solve_memory->until = e->until;
  int rc = o->resume ? checkpoint_read(e, o->saved, err) : 0;
  if (!rc)
    rc = add_entries(e, err);
  if (!rc)
    rc = fs_mkdirs(e->maps, err);
  stop_adopt();
  if (!rc) {
    rc = run_workers(e, err);
    save(e, rc ? &ignored : err);
  }
  e->progress.queued = e->queue.items.len;
  e->progress.seconds = clock_now() - e->begin;
  explorer_log(e, true);
  fs_remove_tree(o->visits->scratch);
  return rc;
}
