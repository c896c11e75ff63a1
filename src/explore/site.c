// Explores a PHP application from nothing: see site.h.
//
//   take the best request of the queue, go to its world, ask, judge;
//   then hand in: store the run, enter the world it left behind,
//   links and forms of the page            -> queue, in the new world
//   compared values, keys looked up        -> queue, in the world it began in,
//                                             with the worker's next turn
//
// One thread per worker. Turns go round: whose turn it is hands in what it has
// done and takes the next request, both under the lock (site_hand.c); asking,
// judging, restoring and solving happen outside of it. So with n workers,
// request k is chosen knowing the answers up to k - n, and what was solved of
// those up to k - 2n, whoever was faster. A single worker solves at once.
//
// Memory: asks lie in the queue's and the atlas' arenas, everything of one
// request in its own.
#include "explore/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/site_internal.h"
#include "php/child.h"
#include "process/orphan.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  SHOW_REQUESTS = 60,
  SHOW_SECONDS = 20, // for all failures together, at most
};
#define SAVE_SECONDS 3.0

// --- one request ------------------------------------------------------------

static void find(Post *p) {
  Catch *c = &p->catch;
  Finding f = {.site = worker_site(p->desk.seat.worker),
               .routes = &p->routes,
               .item = &p->item,
               .answer = &c->answer,
               .arena = &c->arena};
  ideas_of_page(&f, &c->ideas);
  const Swap *swaps = desk_local(&p->desk, p->item.world)->swaps;
  for (size_t i = 0; swaps && i < c->ideas.len; i++)
    c->ideas.items[i].ask =
        swaps_undo(swaps, &c->ideas.items[i].ask, &c->arena);
  Hiddens hiddens = hiddens_of(&c->answer.links, &c->arena);
  c->hiddens = hiddens_undo(swaps, &hiddens, &c->arena);
  if (c->is_run && c->judged.has_record)
    c->steps = path_steps(&c->judged.record, &c->nsteps, &c->arena);
}

// Nothing of it is stored before the application's state could be saved: a
// database server that went away is no failure of the application.
static int work_on(Post *p, Err *err) {
  Catch *c = &p->catch;
  if (desk_go(&p->desk, &p->way, err))
    return -1;
  Local from = *desk_local(&p->desk, p->item.world);
  if (desk_ask(&p->desk, &from, &p->item.ask, p->run, &c->answer, &c->arena,
               err))
    return -1;
  if (p->run && !c->answer.exchange.is_static) {
    c->is_run = true;
    if (seat_judge(&p->desk.seat, &c->answer.request, &c->answer.exchange, NULL,
                   &c->judged, &c->arena, err))
      return -1;
  }
  if (desk_leave(&p->desk, &from, &c->answer, err))
    return -1;
  find(p);
  return 0;
}

// --- turns ------------------------------------------------------------------

static void give_up(Explorer *e, const Err *err) {
  if (!e->failed)
    e->err = *err;
  e->failed = e->stop = true;
}

static void pass_on(Explorer *e) {
  for (int i = 0; i < e->nposts; i++) {
    e->turn = (e->turn + 1) % e->nposts;
    if (!e->posts[e->turn].gone)
      break;
  }
  pthread_cond_broadcast(&e->passed);
}

// Hands in and takes; false: there is nothing more to do for this worker.
static bool have_turn(Post *p, int rc, Err *err) {
  Explorer *e = p->explorer;
  pthread_mutex_lock(&e->lock);
  while (e->turn != p->number)
    pthread_cond_wait(&e->passed, &e->lock);
  post_tell(e, p);
  if (!rc && p->busy && !e->failed)
    rc = post_hand_in(e, p, err);
  if (rc)
    give_up(e, err);
  catch_release(&p->catch);
  if (p->thought.open && post_thinks_alone(e, p)) {
    post_think(p);
    post_tell(e, p);
  }
  bool more = !e->failed && post_take(e, p);
  e->idle = more || p->thought.open ? 0 : e->idle + 1;
  if (!more && e->idle >= e->nposts)
    e->stop = true; // all workers wait, and nothing is left
  bool leaves =
      !more && !p->thought.open && (e->stop || !explorer_may_go_on(e));
  if (leaves)
    p->gone = true;
  if (clock_now() - e->saved_at > SAVE_SECONDS && !e->failed &&
      explorer_save(e, err))
    give_up(e, err);
  pass_on(e);
  pthread_mutex_unlock(&e->lock);
  return !leaves;
}

static bool all_gone(const Explorer *e) {
  for (int i = 0; i < e->nposts; i++)
    if (!e->posts[i].gone)
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

static void show_failures(Explorer *e, Desk *d);

static void *work(void *arg) {
  Post *p = arg;
  Explorer *e = p->explorer;
  Err err = {0};
  int rc = desk_open(&p->desk, e->options->visits, e->maps, p->number, &err);
  bitset_add(&p->near, 0);
  if (!rc && p->number == 0)
    atlas_begin(&e->atlas, desk_key(&p->desk, desk_local(&p->desk, 0)));
  while (have_turn(p, rc, &err)) {
    post_think(p);
    if (p->busy)
      rc = work_on(p, &err);
  }
  if (p->number == 0 && wait_for_others(e))
    show_failures(e, &p->desk);
  pthread_mutex_lock(&e->lock);
  e->progress.replayed += p->desk.replayed;
  pthread_mutex_unlock(&e->lock);
  desk_close(&p->desk);
  return NULL;
}

static void post_release(Post *p) {
  catch_release(&p->catch);
  thought_release(&p->thought);
  solving_free(p->solving);
  array_release(&p->way);
  hashmap_release(&p->routes);
  bitset_release(&p->near);
}

static int run_posts(Explorer *e, Err *err) {
  int n = visits_workers(e->options->visits);
  e->nposts = n;
  e->posts = mem_array(Post, (size_t)n);
  for (int i = 0; i < n; i++)
    e->posts[i] =
        (Post){.explorer = e, .number = i, .solving = solving_new(e->memory)};
  for (int i = 0; i < n; i++) {
    Post *p = &e->posts[i];
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
    if (e->posts[i].started)
      pthread_join(e->posts[i].thread, NULL);
  if (e->failed)
    *err = e->err;
  return e->failed ? -1 : 0;
}

// --- how to show a failure again --------------------------------------------

static void show_failures(Explorer *e, Desk *d) {
  double most = e->options->budget / 4, begin = clock_now();
  most = most < SHOW_SECONDS ? most : SHOW_SECONDS;
  for (size_t i = 0; i < e->shown.len; i++) {
    Failing *s = &e->shown.items[i];
    bool time = clock_now() - begin < most && !stop_requested();
    size_t budget = e->options->no_reduce || !time ? 0 : SHOW_REQUESTS;
    s->showing =
        showing_make(d, &e->atlas, s->number, s->signature, &budget, &e->arena);
  }
}

int explorer_write(const Explorer *e, const Suite *suite, const char *dir,
                   Err *err) {
  int rc = suite->nfailures ? fs_mkdirs(dir, err) : 0;
  for (size_t i = 0; !rc && i < suite->nfailures; i++) {
    const FailureGroup *g = &suite->failures[i];
    uint64_t n;
    if (!hashmap_get(&e->signatures, g->signature, strlen(g->signature), &n) ||
        !e->shown.items[n].showing.nsteps)
      continue;
    char *title = mem_printf("%s: %s%s%s", g->kind, g->message,
                             *g->place ? "\n" : "", g->place);
    char *base = mem_printf("%s/failure-%zu", dir, i + 1);
    rc = showing_write(&e->shown.items[n].showing, title, base, err);
    free(title);
    free(base);
  }
  return rc;
}

// --- the whole --------------------------------------------------------------

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  Explorer *e = ctx;
  const Visits *v = e->options->visits;
  for (size_t i = 0; i < unit->nentities; i++)
    e->statements += unit->entities[i].kind == ENTITY_STATEMENT;
  if (e->statements > e->progress.statements)
    e->progress.statements = e->statements;
  if (store_add_unit(v->store, v->session, unit, ids, err))
    return -1;
  outcomes_add(&e->outcomes, unit, ids);
  return 0;
}

Explorer *explorer_new(const SiteOptions *o) {
  Explorer *e = mem_new(Explorer);
  e->memory = solve_memory_new((SolveOptions){.request = o->solve_seconds});
  e->options = o;
  e->queue.seed = o->seed;
  e->queue.last = o->last;
  e->queue.scored = o->strategy->nearness != NEAR_NOTHING;
  e->target = (Target){.strategy = o->strategy, .atlas = &e->atlas};
  e->maps = mem_printf("%s/maps", o->visits->scratch);
  e->scripts = scripts_new(e->maps, assign_ids, e);
  atlas_init(&e->atlas);
  e->progress.worlds = 1;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->passed, NULL);
  return e;
}

void explorer_free(Explorer *e) {
  if (!e)
    return;
  for (int i = 0; i < e->nposts; i++)
    post_release(&e->posts[i]);
  free(e->posts);
  solve_memory_free(e->memory);
  for (size_t i = 0; i < e->shown.len; i++)
    free(e->shown.items[i].signature);
  array_release(&e->shown);
  array_release(&e->scripts_seen);
  hashmap_release(&e->units);
  hashmap_release(&e->signatures);
  hashmap_release(&e->solved);
  hashmap_release(&e->of_line);
  hashmap_release(&e->routes);
  hashmap_release(&e->odd);
  outcomes_release(&e->outcomes);
  bitset_release(&e->lines);
  bitset_release(&e->conditions);
  target_release(&e->target);
  seen_release(&e->seen);
  queue_release(&e->queue);
  atlas_release(&e->atlas);
  arena_release(&e->arena);
  scripts_free(e->scripts);
  pthread_cond_destroy(&e->passed);
  pthread_mutex_destroy(&e->lock);
  free(e->maps);
  free(e);
}

const SiteProgress *explorer_progress(const Explorer *e) {
  return &e->progress;
}

void explorer_report_solved(const Explorer *e, Str *out) {
  solve_report(e->memory, out);
}

static int add_entries(Explorer *e, Err *err) {
  const Site *site = &e->options->visits->site;
  Why why = explorer_is_directed(e) && e->options->first ? WHY_LINK : WHY_ENTRY;
  int rc = site_entries(site->root, &e->entries, &e->arena, err);
  if (!rc && site->front)
    explorer_offer(
        e, (QueueItem){.ask = ask_link("/", "", &e->arena), .why = why});
  if (!rc)
    explorer_offer_entries(e, 0, why, false);
  if (!rc && !e->queue.items.len && !e->atlas.asked.len)
    rc = err_set(err,
                 "%s: no page to start from is below it; name the document "
                 "root, or the requests with --requests FILE",
                 site->root);
  return rc;
}

int explorer_run(Explorer *e, Err *err) {
  const SiteOptions *o = e->options;
  Err ignored;
  e->begin = e->saved_at = clock_now();
  int rc = o->resume ? explorer_load(e, err) : 0;
  if (!rc)
    rc = add_entries(e, err);
  if (!rc)
    rc = fs_mkdirs(e->maps, err);
  stop_adopt();
  if (!rc) {
    rc = run_posts(e, err);
    explorer_save(e, rc ? &ignored : err);
  }
  e->progress.queued = e->queue.items.len;
  e->progress.seconds = clock_now() - e->begin;
  explorer_log(e, true);
  fs_remove_tree(o->visits->scratch);
  return rc;
}
