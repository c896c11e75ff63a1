// Explores a PHP application from nothing: see site.h.
//
//   take the best request of the queue, restore its world, ask, judge, store;
//   the world it left behind is an old or a new one;
//   links and forms of the page            -> queue, in the new world
//   compared values, keys looked up        -> queue, in the world it began in
//
// Every visitor has a session cookie from the start, and its session is there,
// empty: so sessions have the same name in all worlds, and equal ones are found
// to be equal.
//
// Memory: asks and cookies lie in the queue's arena, everything of one request
// in its own.
#include "generate/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "generate/site_entry.h"
#include "generate/site_queue.h"
#include "generate/site_solve.h"
#include "oracle/html.h"
#include "php/child.h"
#include "php/route.h"
#include "php/scripts.h"
#include "php/state.h"
#include "run/seat.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

#define SESSION_ID "culpritvisitor0000000001"

enum { CHAIN_MOST = 64, CHAIN_SOLVED = 6, CRUMBS_MOST = 100, WORLDS_TRIED = 8 };

// A cookie that an answer set, and those before it: all that a jar is made of.
typedef struct Crumb Crumb;
struct Crumb {
  const Crumb *before;
  const char *path, *value;
};

typedef struct {
  uint32_t state;
  const Crumb *crumbs;
  uint32_t from;  // the world before
  Ask ask;        // what led here from there
  unsigned depth; // requests from the start
} World;

// A request that became a run; its number is its place, from 1.
typedef struct {
  uint32_t world;
  Ask ask;
} Asked;

struct Explorer {
  const SiteOptions *options;
  Seat seat;
  Scripts *scripts;
  char *maps;
  Queue queue;
  Seen seen;
  ARRAY(World) worlds;
  Hashmap world_index;
  ARRAY(Asked) asked;
  Bitset lines, conditions;
  Hashmap units, signatures;
  SiteProgress progress;
  double begin;
  Entries entries;
  Arena arena;      // of entries
  uint32_t reached; // the world that the last request left behind
};

// --- worlds -----------------------------------------------------------------

static void refill(CookieJar *jar, const Crumb *last) {
  if (!last)
    return;
  refill(jar, last->before);
  Header h = {.name = "Set-Cookie", .value = last->value};
  Headers one = {.items = &h, .len = 1};
  cookie_jar_take(jar, last->path, &one);
}

// What is sent to `path`; NULL: nothing.
static const char *cookies_for(const Crumb *crumbs, const char *path,
                               Arena *arena) {
  CookieJar *jar = cookie_jar_new();
  refill(jar, crumbs);
  const char *header = cookie_jar_header(jar, path, arena);
  cookie_jar_free(jar);
  return header;
}

static unsigned crumb_count(const Crumb *c) {
  unsigned n = 0;
  for (; c; c = c->before)
    n++;
  return n;
}

// The crumbs after an answer. Of a way that sets more and more of them, what
// comes after the first CRUMBS_MOST is ignored.
static const Crumb *take_crumbs(Explorer *e, const Crumb *last,
                                const Request *r, const Headers *headers) {
  for (size_t i = 0; i < headers->len; i++) {
    const Header *h = &headers->items[i];
    if (strcasecmp(h->name, "Set-Cookie") || crumb_count(last) >= CRUMBS_MOST)
      continue;
    Crumb *c = arena_new(&e->queue.arena, Crumb);
    *c = (Crumb){.before = last,
                 .path = arena_strdup(&e->queue.arena, r->path),
                 .value = arena_strdup(&e->queue.arena, h->value)};
    last = c;
  }
  return last;
}

// Which cookies are sent depends on the path: these tell jars apart well
// enough.
static uint32_t find_world(Explorer *e, uint32_t state, const Crumb *crumbs,
                           const char *path, Arena *arena) {
  const char *here = cookies_for(crumbs, path, arena);
  const char *top = cookies_for(crumbs, "/", arena);
  const char *key = arena_printf(arena, "%u\n%s\n%s", state, here ? here : "",
                                 top ? top : "");
  return (uint32_t)hashmap_intern(&e->world_index, key, strlen(key),
                                  e->worlds.len);
}

// The shortest way to a world is kept: ways only get shorter, so they never run
// in a circle.
static uint32_t enter_world(Explorer *e, uint32_t state, const Crumb *crumbs,
                            const QueueItem *item, Arena *arena) {
  uint32_t n = find_world(e, state, crumbs, item->ask.path, arena);
  unsigned depth = e->worlds.items[item->world].depth + 1;
  if (n == e->worlds.len) {
    World w = {.state = state,
               .crumbs = crumbs,
               .from = item->world,
               .ask = item->ask,
               .depth = depth};
    array_push(&e->worlds, w);
    return n;
  }
  World *w = &e->worlds.items[n];
  if (depth < w->depth) {
    w->from = item->world;
    w->ask = item->ask;
    w->depth = depth;
  }
  return n;
}

static void enter_first_world(Explorer *e) {
  static const Crumb session = {.path = "/",
                                .value = "PHPSESSID=" SESSION_ID "; path=/"};
  Arena arena = {0};
  find_world(e, 0, &session, "/", &arena);
  array_push(&e->worlds, (World){.crumbs = &session});
  arena_release(&arena);
}

// --- what comes next --------------------------------------------------------

static bool leads_to_page(const Explorer *e, const char *path, Arena *arena) {
  const Site *site = &e->options->visits->site;
  Err ignored;
  Route route;
  if (route_find(&route, site, site->root, path, arena, &ignored))
    return false;
  return route.kind == ROUTE_SCRIPT || route.kind == ROUTE_DIRECTORY ||
         (route.kind == ROUTE_FILE &&
          text_starts(content_type(route.file), "text/html"));
}

typedef struct {
  Explorer *e;
  const QueueItem *item; // what was asked
  bool lucky;            // and showed something new
  Arena *arena;
} Harvest;

static void offer(const Harvest *h, const Ask *ask, uint32_t world, Why why,
                  bool fresh, bool last) {
  Explorer *e = h->e;
  if (!leads_to_page(e, ask->path, h->arena))
    return;
  QueueItem item = {.ask = *ask,
                    .world = world,
                    .why = why,
                    .fresh = fresh,
                    .last = last,
                    .lucky = h->lucky,
                    .depth = e->worlds.items[world].depth};
  queue_add(&e->queue, item);
}

static void offer_all(const Harvest *h, Asks *asks, uint32_t world, Why why,
                      bool fresh, bool last) {
  for (size_t i = 0; i < asks->len; i++)
    offer(h, &asks->items[i], world, why, fresh, last);
  array_release(asks);
}

// Pages that nothing leads to may still be asked for.
static void offer_entries(Explorer *e, uint32_t world, Why why) {
  for (size_t i = 0; i < e->entries.len; i++)
    queue_add(&e->queue,
              (QueueItem){.ask = ask_link(e->entries.items[i], "", &e->arena),
                          .world = world,
                          .why = why,
                          .depth = e->worlds.items[world].depth});
}

static void follow_links(const Harvest *h, const Request *r, const Exchange *x,
                         uint32_t world) {
  const Response *res = &x->response;
  const char *type = headers_get(&res->headers, "Content-Type");
  if (!html_is_page(type ? type : "text/html", res->body, res->body_len))
    return;
  Links links =
      links_read(res->body, res->body_len, r->path, r->query, h->arena);
  for (size_t i = 0; i < links.len; i++) {
    const Link *l = &links.items[i];
    Asks asks = {0};
    if (l->form)
      ask_form(l, &asks, h->arena);
    else
      array_push(&asks, ask_link(l->path, l->query, h->arena));
    offer_all(h, &asks, world, l->form ? WHY_FORM : WHY_LINK, false, l->last);
  }
}

static void follow_redirect(const Harvest *h, const Request *r,
                            const Exchange *x, uint32_t world) {
  const char *to = headers_get(&x->response.headers, "Location");
  const char *path, *query;
  if (!to || !link_resolve(r->path, to, &path, &query, h->arena))
    return;
  Ask ask = ask_link(path, query, h->arena);
  offer(h, &ask, world, WHY_LINK, false, h->item->last);
}

// The value may have come with an earlier request, and a session kept it.
static void solve_earlier(const Harvest *h, const PhpCompare *c) {
  Explorer *e = h->e;
  uint32_t world = h->item->world;
  for (int i = 0; world && i < CHAIN_SOLVED; i++) {
    const World *w = &e->worlds.items[world];
    Asks asks = {0};
    solve_compare(c, &w->ask, &asks, h->arena);
    uint32_t from = w->from;
    offer_all(h, &asks, from, WHY_SOLVED, seen_one_way(&e->seen, c), false);
    world = from;
  }
}

static void solve_all(const Harvest *h, const PhpRecord *record) {
  Explorer *e = h->e;
  const QueueItem *item = h->item;
  Asks absent = {0};
  for (size_t i = 0; i < record->ncompares; i++)
    seen_add(&e->seen, &record->compares[i]);
  for (size_t i = 0; i < record->ncompares; i++) {
    const PhpCompare *c = &record->compares[i];
    Asks asks = {0};
    solve_compare(c, &item->ask, &asks, h->arena);
    if (!asks.len)
      solve_earlier(h, c);
    offer_all(h, &asks, item->world, WHY_SOLVED, seen_one_way(&e->seen, c),
              item->last);
  }
  solve_absent(record, &item->ask, &absent, h->arena);
  offer_all(h, &absent, item->world, WHY_ABSENT, false, item->last);
}

// --- one request ------------------------------------------------------------

static size_t add_bits(Bitset *all, const Bitset *more) {
  size_t before = bitset_count(all);
  bitset_union(all, more);
  return bitset_count(all) - before;
}

static bool take_coverage(Explorer *e, const PhpRecord *record,
                          const Run *run) {
  SiteProgress *p = &e->progress;
  size_t lines = add_bits(&e->lines, &run->hits[ENTITY_STATEMENT]);
  size_t more = add_bits(&e->conditions, &run->hits[ENTITY_CONDITION]);
  for (size_t i = 0; record && i < record->nscripts; i++)
    hashmap_put(&e->units, &record->scripts[i].unit, sizeof(UnitId), 1);
  for (size_t i = 0; i < run->failures.len; i++) {
    const char *s = run->failures.items[i].signature;
    hashmap_put(&e->signatures, s, strlen(s), 1);
  }
  p->lines += lines;
  p->scripts = e->units.len;
  p->failures = e->signatures.len;
  p->failing += run->verdict == VERDICT_FAIL;
  return lines || more;
}

// Judges and stores the answer; `lucky`: it showed something new.
static int keep(Explorer *e, const QueueItem *item, const Request *r,
                const Exchange *x, Judged *j, bool *lucky, Arena *arena,
                Err *err) {
  const Visits *v = e->options->visits;
  int rc = seat_judge(&e->seat, r, x, NULL, j, arena, err);
  if (!rc && j->has_record)
    scripts_collect(e->scripts, &j->record, &j->run);
  if (!rc)
    rc = store_add_run(v->store, v->session, &j->run, err);
  if (rc)
    return -1;
  *lucky = take_coverage(e, j->has_record ? &j->record : NULL, &j->run);
  array_push(&e->asked, (Asked){.world = item->world, .ask = item->ask});
  e->progress.requests = e->asked.len;
  return 0;
}

static int go_on(Explorer *e, const Harvest *h, const Request *r,
                 const Exchange *x, const PhpRecord *record, Err *err) {
  uint32_t state;
  if (state_save(e->seat.state, &state, err))
    return -1;
  const Crumb *crumbs = take_crumbs(e, e->worlds.items[h->item->world].crumbs,
                                    r, &x->response.headers);
  size_t before = e->worlds.len;
  uint32_t world = enter_world(e, state, crumbs, h->item, h->arena);
  if (e->worlds.len > before && world < WORLDS_TRIED)
    offer_entries(e, world, WHY_LINK);
  e->progress.worlds = e->worlds.len;
  e->reached = world;
  if (x->end == EXCHANGE_DONE) {
    follow_redirect(h, r, x, world);
    follow_links(h, r, x, world);
  }
  if (record)
    solve_all(h, record);
  return 0;
}

static int ask(Explorer *e, const QueueItem *item, Arena *arena, Err *err) {
  const World *w = &e->worlds.items[item->world];
  Request r;
  Exchange x;
  Judged j = {0};
  Harvest h = {.e = e, .item = item, .arena = arena};
  ask_request(&item->ask, (unsigned)e->asked.len + 1, &r, arena);
  const char *cookies = cookies_for(w->crumbs, r.path, arena);
  int rc = state_restore(e->seat.state, w->state, err);
  if (!rc)
    rc = worker_serve(e->seat.worker, &r, cookies, &x, arena, err);
  if (!rc && !x.is_static)
    rc = keep(e, item, &r, &x, &j, &h.lucky, arena, err);
  if (!rc)
    rc = go_on(e, &h, &r, &x, j.has_record ? &j.record : NULL, err);
  run_release(&j.run);
  return rc;
}

// --- the whole --------------------------------------------------------------

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  const Visits *v = ctx;
  return store_add_unit(v->store, v->session, unit, ids, err);
}

Explorer *explorer_new(const SiteOptions *o) {
  Explorer *e = mem_new(Explorer);
  e->options = o;
  e->queue.seed = o->seed;
  e->maps = mem_printf("%s/maps", o->visits->scratch);
  e->scripts = scripts_new(e->maps, assign_ids, o->visits);
  return e;
}

void explorer_free(Explorer *e) {
  if (!e)
    return;
  array_release(&e->worlds);
  array_release(&e->asked);
  hashmap_release(&e->world_index);
  hashmap_release(&e->units);
  hashmap_release(&e->signatures);
  bitset_release(&e->lines);
  bitset_release(&e->conditions);
  seen_release(&e->seen);
  queue_release(&e->queue);
  arena_release(&e->arena);
  scripts_free(e->scripts);
  free(e->maps);
  free(e);
}

const SiteProgress *explorer_progress(const Explorer *e) {
  return &e->progress;
}

static int add_entries(Explorer *e, Err *err) {
  const Site *site = &e->options->visits->site;
  int rc = site_entries(site->root, &e->entries, &e->arena, err);
  if (!rc && site->front)
    queue_add(&e->queue, (QueueItem){.ask = ask_link("/", "", &e->arena)});
  if (!rc)
    offer_entries(e, 0, WHY_ENTRY);
  if (!rc && !e->queue.items.len)
    rc = err_set(err,
                 "%s: no page to start from is below it; name the document "
                 "root, or the requests with --requests FILE",
                 site->root);
  return rc;
}

static bool may_go_on(Explorer *e) {
  const SiteOptions *o = e->options;
  e->progress.seconds = now_seconds() - e->begin;
  e->progress.queued = e->queue.items.len;
  if (o->progress)
    o->progress(&e->progress);
  return !visits_interrupted() && e->progress.seconds < o->budget &&
         (!o->max_tests || e->asked.len < o->max_tests);
}

static int ask_one(Explorer *e, const QueueItem *item, Err *err) {
  Arena arena = {0};
  int rc = ask(e, item, &arena, err);
  arena_release(&arena);
  return rc;
}

// The user's own requests: each goes on where the one before it ended.
static int ask_first(Explorer *e, Err *err) {
  const Requests *list = e->options->first;
  int rc = 0;
  for (size_t i = 0; !rc && list && i < list->len && may_go_on(e); i++) {
    const Request *r = &list->items[i];
    QueueItem item = {.why = WHY_ENTRY};
    if (!i || r->visitor != r[-1].visitor)
      e->reached = 0;
    item.world = e->reached;
    if (ask_from(r, &item.ask, &e->queue.arena))
      rc = ask_one(e, &item, err);
  }
  return rc;
}

static int explore(Explorer *e, Err *err) {
  QueueItem item;
  int rc = ask_first(e, err);
  while (!rc && may_go_on(e) && queue_take(&e->queue, &item))
    rc = ask_one(e, &item, err);
  return rc;
}

int explorer_run(Explorer *e, Err *err) {
  const Visits *v = e->options->visits;
  e->begin = now_seconds();
  enter_first_world(e);
  int rc = add_entries(e, err) || fs_mkdirs(e->maps, err) ? -1 : 0;
  if (!rc) {
    rc = seat_open(&e->seat, v, e->maps, 0, SESSION_ID, err);
    if (!rc)
      rc = explore(e, err);
    seat_close(&e->seat);
  }
  fs_remove_tree(v->scratch);
  return rc;
}

// --- how to show a failure again --------------------------------------------

static void write_ask(const Ask *a, bool setup, Str *out, Arena *arena) {
  Request r;
  ask_request(a, 0, &r, arena);
  char *text = request_text(&r);
  str_addf(out, "%s%s\n", setup ? "setup " : "", text);
  for (size_t i = 0; i < r.headers.len; i++)
    str_addf(out, "  %s: %s\n", r.headers.items[i].name,
             r.headers.items[i].value);
  free(text);
}

static void write_sequence(const Explorer *e, const Asked *a, Str *out) {
  const Ask *chain[CHAIN_MOST];
  Arena arena = {0};
  size_t n = 0;
  for (uint32_t w = a->world; w && n < CHAIN_MOST; w = e->worlds.items[w].from)
    chain[n++] = &e->worlds.items[w].ask;
  while (n)
    write_ask(chain[--n], true, out, &arena);
  write_ask(&a->ask, false, out, &arena);
  arena_release(&arena);
}

static const Asked *find_asked(const Explorer *e, const RunInfo *run) {
  unsigned long n = strtoul(run->test, NULL, 10);
  return n && n <= e->asked.len ? &e->asked.items[n - 1] : NULL;
}

static const Asked *shortest(const Explorer *e, const Suite *suite,
                             const FailureGroup *g) {
  const Asked *best = NULL;
  for (size_t i = 0; i < g->nruns; i++) {
    const Asked *a = find_asked(e, &suite->runs[g->runs[i]]);
    if (a && (!best || e->worlds.items[a->world].depth <
                           e->worlds.items[best->world].depth))
      best = a;
  }
  return best;
}

int explorer_write(const Explorer *e, const Suite *suite, const char *dir,
                   Err *err) {
  int rc = suite->nfailures ? fs_mkdirs(dir, err) : 0;
  for (size_t i = 0; !rc && i < suite->nfailures; i++) {
    const FailureGroup *g = &suite->failures[i];
    const Asked *a = shortest(e, suite, g);
    if (!a)
      continue;
    Str text = {0};
    str_addf(&text, "# %s: %s\n", g->kind, g->message);
    if (*g->place)
      str_addf(&text, "# %s\n", g->place);
    write_sequence(e, a, &text);
    char *path = mem_printf("%s/failure-%zu.txt", dir, i + 1);
    rc = fs_write(path, text.data, text.len, err);
    free(path);
    str_release(&text);
  }
  return rc;
}
