// Explores a PHP application from nothing: see site.h.
//
//   take the best request of the queue, go to its world, ask, judge;
//   then hand in: store the run, enter the world it left behind,
//   links and forms of the page            -> queue, in the new world
//   compared values, keys looked up        -> queue, in the world it began in
//
// One thread per worker. Turns go round: whose turn it is hands in what it has
// done and takes the next request, both under the lock; asking, judging,
// solving and restoring happen outside of it. So with n workers, request k is
// chosen knowing the answers up to k - n, whoever was faster.
//
// Memory: asks lie in the queue's and the atlas' arenas, everything of one
// request in its own.
#include "generate/site.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate/site_atlas.h"
#include "generate/site_desk.h"
#include "generate/site_entry.h"
#include "generate/site_find.h"
#include "generate/site_saved.h"
#include "generate/site_show.h"
#include "generate/site_solve.h"
#include "php/child.h"
#include "php/fresh.h"
#include "php/scripts.h"
#include "run/seat.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  WORLDS_TRIED = 8, // in which all entries are asked for
  SHOW_REQUESTS = 60,
  SHOW_SECONDS = 20, // for all failures together, at most
};
#define SAVE_SECONDS 3.0
#define LOG_SECONDS 1.0

// What came of a request, not yet handed in.
typedef struct {
  Answer answer;
  Judged judged;
  bool is_run;
  Ideas ideas;
  Hiddens hiddens;
  const PathStep *steps;
  size_t nsteps;
  Arena arena;
} Catch;

// One worker.
typedef struct {
  Explorer *explorer;
  int number;
  pthread_t thread;
  bool started, gone;
  Desk desk;
  Hashmap routes;
  Bitset near; // worlds that are at this desk
  bool busy;
  QueueItem item; // what it is about
  bool given;     // by the user's list
  uint32_t run;   // number of the request; 0: answered without PHP
  Way way;
  Catch catch;
} Post;

typedef struct {
  char *signature;
  uint32_t number;
  Showing showing; // once it was made
} Failing;

struct Explorer {
  const SiteOptions *options;
  Scripts *scripts;
  char *maps;
  Queue queue;
  Seen seen;
  Atlas atlas;
  Target target;
  Bitset lines, conditions;
  Hashmap units, signatures;
  ARRAY(Failing) shown; // by number of the signature
  ARRAY(const char *) scripts_seen;
  SiteProgress progress;
  double begin, saved_at, logged;
  Entries entries;
  Arena arena; // of entries and texts
  Hashmap routes;
  size_t statements; // of the scripts that this process has seen
  uint32_t numbers;  // given to requests so far
  size_t given;      // requests of the user's list that were taken
  uint32_t reached;  // the world that the last of them left behind
  Hiddens page;      // and the hidden fields of its page
  // Turns:
  pthread_mutex_t lock;
  pthread_cond_t passed;
  Post *posts;
  int nposts, turn, idle;
  bool stop, failed;
  Err err;
};

// --- what comes next --------------------------------------------------------

static bool is_directed(const Explorer *e) {
  return e->options->strategy->from_failing;
}

static void offer(Explorer *e, QueueItem item) {
  item.depth = e->atlas.worlds.items[item.world].depth;
  item.score = e->options->strategy->nearness == NEAR_NOTHING
                   ? 0
                   : target_score(&e->target, &item);
  queue_add(&e->queue, item);
}

// Pages that nothing leads to may still be asked for.
static void offer_entries(Explorer *e, uint32_t world, Why why) {
  const Site *site = &e->options->visits->site;
  for (size_t i = 0; i < e->entries.len; i++) {
    const char *path = e->entries.items[i];
    Leads leads = route_leads(site, &e->routes, path, &e->arena);
    if (leads != LEADS_NOWHERE)
      offer(e, (QueueItem){.ask = ask_link(path, "", &e->arena),
                           .world = world,
                           .why = why,
                           .plain = leads == LEADS_TO_FILE});
  }
}

static void offer_ideas(Explorer *e, const Post *p, uint32_t after, bool lucky,
                        bool vary) {
  const Catch *c = &p->catch;
  for (size_t i = 0; i < c->ideas.len; i++) {
    const Idea *idea = &c->ideas.items[i];
    bool from_page = idea->world == WORLD_AFTER;
    if (idea->why == WHY_VARIED && !vary)
      continue;
    offer(e, (QueueItem){.ask = idea->ask,
                         .world = from_page ? after : idea->world,
                         .why = idea->why,
                         .fresh = idea->compare &&
                                  seen_one_way(&e->seen, idea->compare),
                         .last = idea->last,
                         .lucky = lucky,
                         .plain = idea->plain,
                         .page = from_page ? p->run : p->item.page,
                         .base = p->run,
                         .step = idea->step});
  }
}

static void rescore(Explorer *e) {
  for (size_t i = 0; i < e->queue.items.len; i++)
    e->queue.items.items[i].score =
        target_score(&e->target, &e->queue.items.items[i]);
}

// --- handing in -------------------------------------------------------------

static size_t add_bits(Bitset *all, const Bitset *more) {
  size_t before = bitset_count(all);
  bitset_union(all, more);
  return bitset_count(all) - before;
}

static void take_script(Explorer *e, const UnitId *unit) {
  uint64_t fresh = e->units.len;
  if (hashmap_intern(&e->units, unit, sizeof *unit, fresh) != fresh)
    return;
  Str hex = {0};
  for (size_t i = 0; i < sizeof *unit; i++)
    str_addf(&hex, "%02x", ((const unsigned char *)unit)[i]);
  array_push(&e->scripts_seen, arena_strdup(&e->arena, str_text(&hex)));
  str_release(&hex);
}

// True: it showed something new.
static bool take_coverage(Explorer *e, const PhpRecord *record,
                          const Run *run) {
  SiteProgress *p = &e->progress;
  size_t lines = add_bits(&e->lines, &run->hits[ENTITY_STATEMENT]);
  size_t more = add_bits(&e->conditions, &run->hits[ENTITY_CONDITION]);
  for (size_t i = 0; record && i < record->nscripts; i++)
    take_script(e, &record->scripts[i].unit);
  p->lines += lines;
  p->branches += more;
  p->scripts = e->units.len;
  p->failing += run->verdict == VERDICT_FAIL;
  return lines || more;
}

static bool is_shorter(const Explorer *e, uint32_t a, uint32_t b) {
  const Asked *x = atlas_asked(&e->atlas, a), *y = atlas_asked(&e->atlas, b);
  unsigned m = e->atlas.worlds.items[x->world].depth;
  unsigned n = e->atlas.worlds.items[y->world].depth;
  return m != n ? m < n : x->ask.nparams < y->ask.nparams;
}

static void take_failures(Explorer *e, const Run *run, uint32_t number) {
  for (size_t i = 0; i < run->failures.len; i++) {
    const char *s = run->failures.items[i].signature;
    uint64_t fresh = e->shown.len;
    uint64_t n = hashmap_intern(&e->signatures, s, strlen(s), fresh);
    if (n == fresh)
      array_push(&e->shown, (Failing){mem_strdup(s), number, {0}});
    else if (is_shorter(e, number, e->shown.items[n].number))
      e->shown.items[n].number = number;
  }
  e->progress.failures = e->shown.len;
}

// The failure to be explained is that of the user's last failing request, or
// the first that is found. True: the run shows it.
static bool take_target(Explorer *e, const Run *run, const Post *p) {
  if (!is_directed(e) || !run->failures.len)
    return false;
  if (!e->target.target || p->given)
    target_set(&e->target, run->failures.items[0].signature);
  for (size_t i = 0; i < run->failures.len; i++)
    if (!strcmp(run->failures.items[i].signature, e->target.target))
      return true;
  return false;
}

static int keep_run(Explorer *e, Post *p, bool *lucky, Err *err) {
  const Visits *v = e->options->visits;
  Judged *j = &p->catch.judged;
  const PhpRecord *record = j->has_record ? &j->record : NULL;
  if (record)
    scripts_collect(e->scripts, record, &j->run);
  if (store_add_run(v->store, v->session, &j->run, err))
    return -1;
  *lucky = take_coverage(e, record, &j->run);
  for (size_t i = 0; record && i < record->ncompares; i++)
    seen_add(&e->seen, &record->compares[i]);
  take_failures(e, &j->run, p->run);
  e->progress.requests++;
  return 0;
}

// Copies the crumbs: those of the desk go with it.
static const Crumb *keep_crumbs(Explorer *e, const Crumb *last) {
  if (!last)
    return NULL;
  Crumb *c = arena_new(&e->atlas.arena, Crumb);
  *c = (Crumb){.before = keep_crumbs(e, last->before),
               .path = arena_strdup(&e->atlas.arena, last->path),
               .value = arena_strdup(&e->atlas.arena, last->value)};
  return c;
}

static uint32_t enter(Explorer *e, Post *p) {
  const Catch *c = &p->catch;
  if (!p->run)
    return p->item.world;
  size_t before = e->atlas.worlds.len;
  uint32_t world = desk_world(&p->desk, c->answer.key);
  if (world == WORLD_NONE)
    world = atlas_find(&e->atlas, c->answer.key, c->answer.after.crumbs,
                       p->item.world, p->run);
  atlas_shorten(&e->atlas, world, p->item.world, p->run);
  World *w = &e->atlas.worlds.items[world];
  if (e->atlas.worlds.len > before) {
    w->crumbs = keep_crumbs(e, w->crumbs);
    if (world < WORLDS_TRIED)
      offer_entries(e, world, WHY_LINK);
  }
  desk_note(&p->desk, world, &c->answer.after, c->answer.key);
  bitset_add(&p->near, world);
  e->progress.worlds = e->atlas.worlds.len;
  return world;
}

static void note_asked(Explorer *e, Post *p) {
  const Catch *c = &p->catch;
  if (p->run)
    atlas_add(&e->atlas, &(Asked){.ask = p->item.ask,
                                  .world = p->item.world,
                                  .page = p->item.page,
                                  .hiddens = c->hiddens,
                                  .steps = c->steps,
                                  .nsteps = c->nsteps});
}

static int hand_in(Explorer *e, Post *p, Err *err) {
  Catch *c = &p->catch;
  bool lucky = false;
  note_asked(e, p);
  if (c->is_run && keep_run(e, p, &lucky, err))
    return -1;
  bool failing = c->is_run && take_target(e, &c->judged.run, p);
  uint32_t world = enter(e, p);
  bool vary = failing && (p->given || !e->target.failing.len);
  if (failing && target_add(&e->target, p->run))
    rescore(e);
  offer_ideas(e, p, world, lucky, vary);
  if (p->given) {
    e->reached = world;
    e->page = hiddens_copy(&c->hiddens, &e->arena);
  }
  return 0;
}

static void catch_release(Catch *c) {
  if (c->is_run)
    run_release(&c->judged.run);
  array_release(&c->ideas);
  arena_release(&c->arena);
  *c = (Catch){0};
}

static bool is_given_left(const Explorer *e) {
  const Requests *list = e->options->first;
  return (list && e->given < list->len) || (e->nposts && e->posts[0].given);
}

// --- keeping it -------------------------------------------------------------

// What is asked right now comes first again; of a list that is not yet made to
// its end, all of it.
static int save(Explorer *e, Err *err) {
  const SiteOptions *o = e->options;
  ARRAY(QueueItem) busy = {0};
  Saved s = {.atlas = &e->atlas,
             .queue = &e->queue,
             .lines = &e->lines,
             .conditions = &e->conditions,
             .statements = e->progress.statements,
             .given = is_given_left(e) ? 0 : e->given,
             .failing = e->progress.failing,
             .dropped = e->queue.dropped,
             .target = e->target.target,
             .targets = e->target.failing.items,
             .ntargets = e->target.failing.len};
  if (!o->saved)
    return 0;
  for (int i = 0; i < e->nposts; i++)
    if (e->posts[i].busy && !e->posts[i].given)
      array_push(&busy, e->posts[i].item);
  for (size_t i = 0; i < e->shown.len; i++)
    array_push(&s.shown,
               (Shown){e->shown.items[i].signature, e->shown.items[i].number});
  for (size_t i = 0; i < e->scripts_seen.len; i++)
    array_push(&s.scripts, e->scripts_seen.items[i]);
  int rc = store_flush(o->visits->store, err);
  if (!rc)
    rc = saved_write(&s, busy.items, busy.len, o->saved, err);
  array_release(&busy);
  array_release(&s.shown);
  array_release(&s.scripts);
  e->saved_at = now_seconds();
  return rc;
}

// What was reached, a row a second.
static void log_progress(Explorer *e) {
  const SiteProgress *p = &e->progress;
  if (!e->options->saved || p->seconds < e->logged)
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
            p->requests, p->scripts, p->lines, p->branches, p->worlds,
            p->failing, p->failures, p->queued);
  if (f)
    fclose(f);
  free(path);
  e->logged = p->seconds + LOG_SECONDS;
}

static void adopt_scripts(Explorer *e, const Saved *s) {
  for (size_t i = 0; i < s->scripts.len; i++) {
    UnitId unit = {0};
    unsigned char *bytes = (unsigned char *)&unit;
    for (size_t k = 0; k < sizeof unit; k++)
      sscanf(s->scripts.items[i] + 2 * k, "%2hhx", &bytes[k]);
    take_script(e, &unit);
  }
}

static int load(Explorer *e, Err *err) {
  Saved s = {.atlas = &e->atlas,
             .queue = &e->queue,
             .lines = &e->lines,
             .conditions = &e->conditions};
  if (saved_read(&s, e->options->saved, err))
    return -1;
  for (size_t i = 0; i < s.shown.len; i++) {
    const char *signature = s.shown.items[i].signature;
    hashmap_put(&e->signatures, signature, strlen(signature), e->shown.len);
    array_push(&e->shown,
               (Failing){mem_strdup(signature), s.shown.items[i].number, {0}});
  }
  adopt_scripts(e, &s);
  if (*s.target && is_directed(e))
    target_set(&e->target, s.target);
  for (size_t i = 0; *s.target && i < s.ntargets; i++)
    target_add(&e->target, s.targets[i]);
  rescore(e);
  e->given = s.given;
  e->numbers = (uint32_t)e->atlas.asked.len;
  e->queue.dropped = s.dropped;
  e->progress = (SiteProgress){.requests = e->atlas.asked.len,
                               .scripts = e->units.len,
                               .lines = bitset_count(&e->lines),
                               .statements = s.statements,
                               .branches = bitset_count(&e->conditions),
                               .failing = s.failing,
                               .failures = e->shown.len,
                               .worlds = e->atlas.worlds.len};
  return 0;
}

// --- taking -----------------------------------------------------------------

static bool is_covered(Explorer *e) {
  const SiteProgress *p = &e->progress;
  double want = e->options->coverage;
  if (want > 0 && p->statements &&
      100.0 * (double)p->lines >= want * (double)p->statements)
    e->progress.covered = true;
  return e->progress.covered;
}

static bool may_go_on(Explorer *e) {
  const SiteOptions *o = e->options;
  e->progress.seconds = now_seconds() - e->begin;
  e->progress.queued = e->queue.items.len;
  e->progress.dropped = e->queue.dropped;
  if (o->progress)
    o->progress(&e->progress);
  log_progress(e);
  return !e->stop && !visits_interrupted() && e->progress.seconds < o->budget &&
         !is_covered(e) &&
         (!o->max_failures || e->shown.len < o->max_failures) &&
         (!o->max_tests || e->numbers < o->max_tests);
}

// Tokens come from the page before (Culprit-Fresh).
static void freshen(Explorer *e, const Request *r, Ask *ask) {
  const char *header = headers_get(&r->headers, FRESH_HEADER);
  for (size_t i = 0; header && i < ask->nparams; i++) {
    const Param *p = &ask->params[i];
    for (size_t k = 0; k < e->page.len; k++)
      if (fresh_names(header, p->name) &&
          !strcmp(e->page.items[k].name, p->name)) {
        *ask = ask_with(ask, p->place, p->name, e->page.items[k].value,
                        &e->queue.arena);
        break;
      }
  }
}

// The user's own requests: each goes on where the one before it ended. The
// first worker makes them.
static bool take_given(Explorer *e, Post *p) {
  const Requests *list = e->options->first;
  while (list && e->given < list->len) {
    const Request *r = &list->items[e->given++];
    p->item = (QueueItem){.why = WHY_ENTRY};
    if (e->given == 1 || r->visitor != r[-1].visitor)
      e->reached = 0;
    if (!ask_from(r, &p->item.ask, &e->queue.arena))
      continue;
    freshen(e, r, &p->item.ask);
    p->item.world = e->reached;
    p->item.plain = route_leads(&e->options->visits->site, &e->routes,
                                p->item.ask.path, &e->arena) != LEADS_TO_SCRIPT;
    queue_note(&e->queue, &p->item.ask, p->item.world);
    return p->given = true;
  }
  return false;
}

static bool take(Explorer *e, Post *p) {
  p->given = p->busy = false;
  if (!may_go_on(e))
    return false;
  if (is_given_left(e) && p->number)
    return false;
  if (!(p->number == 0 && take_given(e, p)) &&
      !queue_take(&e->queue, e->nposts > 1 ? &p->near : NULL, &p->item))
    return false;
  p->run = p->item.plain ? 0 : ++e->numbers;
  atlas_way(&e->atlas, p->item.world, &p->way);
  return p->busy = true;
}

// --- one request ------------------------------------------------------------

static void find(Post *p, bool failing) {
  Explorer *e = p->explorer;
  Catch *c = &p->catch;
  const PhpRecord *record =
      c->is_run && c->judged.has_record ? &c->judged.record : NULL;
  Finding f = {.site = &e->options->visits->site,
               .routes = &p->routes,
               .item = &p->item,
               .way = &p->way,
               .answer = &c->answer,
               .record = e->options->strategy->crawls ? NULL : record,
               .failing = failing && is_directed(e),
               .arena = &c->arena};
  ideas_find(&f, &c->ideas);
  const Swap *swaps = desk_local(&p->desk, p->item.world)->swaps;
  for (size_t i = 0; swaps && i < c->ideas.len; i++)
    c->ideas.items[i].ask =
        swaps_undo(swaps, &c->ideas.items[i].ask, &c->arena);
  Hiddens hiddens = hiddens_of(&c->answer.links, &c->arena);
  c->hiddens = hiddens_undo(swaps, &hiddens, &c->arena);
  if (record)
    c->steps = path_steps(record, &c->nsteps, &c->arena);
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
  find(p, c->is_run && c->judged.run.verdict == VERDICT_FAIL);
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
  if (!rc && p->busy && !e->failed)
    rc = hand_in(e, p, err);
  if (rc)
    give_up(e, err);
  catch_release(&p->catch);
  bool more = !e->failed && take(e, p);
  e->idle = more ? 0 : e->idle + 1;
  if (!more && e->idle >= e->nposts)
    e->stop = true; // all workers wait, and nothing is left
  bool leaves = !more && (e->stop || !may_go_on(e));
  if (leaves)
    p->gone = true;
  if (now_seconds() - e->saved_at > SAVE_SECONDS && !e->failed && save(e, err))
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
  while (have_turn(p, rc, &err))
    if (p->busy)
      rc = work_on(p, &err);
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
  array_release(&p->way);
  hashmap_release(&p->routes);
  bitset_release(&p->near);
}

static int run_posts(Explorer *e, Err *err) {
  int n = visits_workers(e->options->visits);
  e->nposts = n;
  e->posts = mem_array(Post, (size_t)n);
  for (int i = 0; i < n; i++)
    e->posts[i] = (Post){.explorer = e, .number = i};
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
  double most = e->options->budget / 4, begin = now_seconds();
  most = most < SHOW_SECONDS ? most : SHOW_SECONDS;
  for (size_t i = 0; i < e->shown.len; i++) {
    Failing *s = &e->shown.items[i];
    bool time = now_seconds() - begin < most && !visits_interrupted();
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
  return store_add_unit(v->store, v->session, unit, ids, err);
}

Explorer *explorer_new(const SiteOptions *o) {
  Explorer *e = mem_new(Explorer);
  e->options = o;
  e->queue.seed = o->seed;
  e->queue.last = o->last;
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
  for (size_t i = 0; i < e->shown.len; i++)
    free(e->shown.items[i].signature);
  array_release(&e->shown);
  array_release(&e->scripts_seen);
  hashmap_release(&e->units);
  hashmap_release(&e->signatures);
  hashmap_release(&e->routes);
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

static int add_entries(Explorer *e, Err *err) {
  const Site *site = &e->options->visits->site;
  Why why = is_directed(e) && e->options->first ? WHY_LINK : WHY_ENTRY;
  int rc = site_entries(site->root, &e->entries, &e->arena, err);
  if (!rc && site->front)
    offer(e, (QueueItem){.ask = ask_link("/", "", &e->arena), .why = why});
  if (!rc)
    offer_entries(e, 0, why);
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
  e->begin = e->saved_at = now_seconds();
  int rc = o->resume ? load(e, err) : 0;
  if (!rc)
    rc = add_entries(e, err);
  if (!rc)
    rc = fs_mkdirs(e->maps, err);
  if (!rc) {
    rc = run_posts(e, err);
    save(e, rc ? &ignored : err);
  }
  e->progress.queued = e->queue.items.len;
  e->progress.seconds = now_seconds() - e->begin;
  e->logged = e->logged > 0 ? 1e-9 : 0; // the last row
  log_progress(e);
  fs_remove_tree(o->visits->scratch);
  return rc;
}
