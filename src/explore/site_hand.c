// What a worker does in its turn: hands in what it has done, and takes the next
// request. Part of site.c; everything here happens under its lock.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "explore/site_internal.h"
#include "php/child.h"
#include "php/fresh.h"
#include "php/record/record_format.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  WORLDS_TRIED = 8,   // in which all entries are asked for
  GIVEN_AGAIN = 8,    // requests of the user's that are made in other worlds
  SOLVED_AGAIN = 8,   // times that a comparison is solved in any case
  SOLVED_MOST = 60,   // while it is seen to go one way only
  SOLVED_FEW = 2,     // the same, while much that was solved is not asked yet
  MADE_ENOUGH = 2000, // ideas of that sort
  ROUNDS = 3,         // when nothing is left, four times as often each time
  ROUND_ASKED = 200,  // requests that are asked again for it
  BRANCHES_MOST = 60, // decisions of one request that are solved for,
  BRANCHES_LINE = 4,  // and of one of its lines
};

// --- what comes next --------------------------------------------------------

bool explorer_is_directed(const Explorer *e) {
  return e->options->strategy->from_failing;
}

void explorer_offer(Explorer *e, QueueItem item) {
  item.depth = e->atlas.worlds.items[item.world].depth;
  item.score = e->options->strategy->nearness == NEAR_NOTHING
                   ? 0
                   : target_score(&e->target, &item);
  queue_add(&e->queue, item);
}

// Pages that nothing leads to may still be asked for.
void explorer_offer_entries(Explorer *e, uint32_t world, Why why, bool early) {
  const Site *site = &e->options->visits->site;
  for (size_t i = 0; i < e->entries.len; i++) {
    const char *path = e->entries.items[i];
    Leads leads = route_leads(site, &e->routes, path, &e->arena);
    if (leads != LEADS_NOWHERE)
      explorer_offer(e, (QueueItem){.ask = ask_link(path, "", &e->arena),
                                    .world = world,
                                    .why = why,
                                    .early = early,
                                    .plain = leads == LEADS_TO_FILE});
  }
}

// A decision costs the more the longer the path before it is: so many are
// solved for of one request, and so many of one line.
static bool is_too_much(Explorer *e, const PhpCompare *c) {
  if (c->kind != COMPARE_BRANCH)
    return false;
  uint64_t line = (uint64_t)c->line << 1 | c->held, n = 0;
  uint64_t key = XXH3_64bits_withSeed(c->file, strlen(c->file), line);
  hashmap_get(&e->of_line, &key, sizeof key, &n);
  hashmap_put(&e->of_line, &key, sizeof key, n + 1);
  return n >= BRANCHES_LINE || e->branches++ >= BRANCHES_MOST;
}

// What was seen to go both ways is solved a few times more, in other company.
static bool is_solved_enough(const Explorer *e, const PhpCompare *c,
                             uint64_t solved) {
  uint64_t times = (uint64_t)1 << (2 * e->round);
  if (e->queue.made > MADE_ENOUGH && solved >= SOLVED_FEW)
    return true;
  return solved >= SOLVED_AGAIN * times &&
         (solved >= SOLVED_MOST * times || !seen_one_way(&e->seen, c));
}

static bool is_worth_solving(Explorer *e, const PhpCompare *c) {
  uint64_t key[2] = {compare_hash(c), c->held}, n = 0;
  hashmap_get(&e->solved, key, sizeof key, &n);
  bool worth = !is_solved_enough(e, c, n) && !is_too_much(e, c);
  if (worth)
    hashmap_put(&e->solved, key, sizeof key, n + 1);
  return worth;
}

static void choose_decisions(Explorer *e, Thought *t) {
  const PhpRecord *record = &t->catch.judged.record;
  e->branches = 0;
  hashmap_release(&e->of_line);
  for (uint32_t i = 0; i < record->ncompares; i++)
    if (t->vary || is_worth_solving(e, &record->compares[i]))
      array_push(&t->solved, i);
}

static bool has_input(const Explorer *e, const Catch *c) {
  return c->is_run && c->judged.has_record && !e->options->strategy->crawls;
}

// What is to be thought about, and what is known now: all that depends on whose
// turn it is.
static void begin_thought(Explorer *e, Post *p, bool lucky, bool vary) {
  Thought *t = &p->thought;
  t->open = true;
  t->item = p->item;
  t->run = p->run;
  t->vary = vary;
  t->lucky = lucky;
  t->way = p->way;
  t->catch = p->catch;
  p->way = (Way){0};
  p->catch = (Catch){0};
  if (has_input(e, &t->catch))
    choose_decisions(e, t);
  solving_begin(p->solving);
  size_t n = t->way.len;
  for (size_t i = 0; i < n && i < HELD_MOST; i++)
    solving_hold(p->solving, &t->way.items[n - 1 - i].ask);
}

void post_think(Post *p) {
  Thought *t = &p->thought;
  const Explorer *e = p->explorer;
  Catch *c = &t->catch;
  Finding f = {.site = &e->options->visits->site,
               .routes = &p->routes,
               .item = &t->item,
               .way = &t->way,
               .answer = &c->answer,
               .record = has_input(e, c) ? &c->judged.record : NULL,
               .failing = t->vary,
               .solved = t->solved.items,
               .nsolved = t->solved.len,
               .solving = p->solving,
               .arena = &c->arena};
  if (t->open)
    ideas_of_input(&f, &t->ideas);
}

// Who is the only worker, or the only one that may ask now, need not put off
// what he finds.
bool post_thinks_alone(const Explorer *e, const Post *p) {
  return e->nposts == 1 || p->given;
}

void thought_release(Thought *t) {
  catch_release(&t->catch);
  array_release(&t->way);
  array_release(&t->solved);
  array_release(&t->ideas);
  *t = (Thought){0};
}

// Told apart by the scripts that ran: behind one script with ?page=... there
// are many pages.
static void odd_key(const PhpRecord *record, const Odd *odd, Str *key) {
  uint64_t scripts = 0;
  for (size_t i = 0; i < record->nscripts; i++)
    scripts += XXH3_64bits(&record->scripts[i].unit, sizeof(UnitId));
  str_addf(key, "%llx %c %s", (unsigned long long)scripts, odd->kind,
           odd->name);
}

static void offer_odd(Explorer *e, Post *p) {
  Catch *c = &p->catch;
  Odds odds = {0};
  odd_asks(&p->item.ask, &odds, &c->arena);
  for (size_t i = 0; i < odds.len; i++) {
    Str key = {0};
    uint64_t times = 0;
    odd_key(&c->judged.record, &odds.items[i], &key);
    hashmap_get(&e->odd, key.data, key.len, &times);
    hashmap_put(&e->odd, key.data, key.len, times + 1);
    str_release(&key);
    if (odd_is_due(times))
      explorer_offer(e, (QueueItem){.ask = odds.items[i].ask,
                                    .world = p->item.world,
                                    .why = WHY_ODD,
                                    .fresh = !times,
                                    .last = p->item.last,
                                    .page = p->item.page,
                                    .base = p->run});
  }
  array_release(&odds);
}

static void offer_ideas(Explorer *e, const Ideas *ideas, const QueueItem *item,
                        uint32_t run, uint32_t after, bool lucky) {
  for (size_t i = 0; i < ideas->len; i++) {
    const Idea *idea = &ideas->items[i];
    bool from_page = idea->world == WORLD_AFTER;
    explorer_offer(e,
                   (QueueItem){.ask = idea->ask,
                               .world = from_page ? after : idea->world,
                               .why = idea->why,
                               .fresh = idea->compare &&
                                        seen_one_way(&e->seen, idea->compare),
                               .last = idea->last,
                               .lucky = lucky,
                               .plain = idea->plain,
                               .redirect = idea->redirect,
                               .sort = item->sort,
                               .page = from_page ? run : item->page,
                               .base = run,
                               .step = idea->step});
  }
}

void post_tell(Explorer *e, Post *p) {
  Thought *t = &p->thought;
  if (!t->open)
    return;
  solving_end(p->solving);
  offer_ideas(e, &t->ideas, &t->item, t->run, WORLD_NONE, t->lucky);
  thought_release(t);
}

void explorer_rescore(Explorer *e) {
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

void explorer_take_script(Explorer *e, const UnitId *unit) {
  uint64_t fresh = e->units.len;
  if (hashmap_intern(&e->units, unit, sizeof *unit, fresh) != fresh)
    return;
  Str hex = {0};
  for (size_t i = 0; i < sizeof *unit; i++)
    str_addf(&hex, "%02x", ((const unsigned char *)unit)[i]);
  array_push(&e->scripts_seen, arena_strdup(&e->arena, str_text(&hex)));
  str_release(&hex);
}

// How many lines and outcomes were new.
static size_t take_coverage(Explorer *e, const PhpRecord *record,
                            const Run *run) {
  SiteProgress *p = &e->progress;
  size_t lines = add_bits(&e->lines, &run->hits[ENTITY_STATEMENT]);
  size_t more = add_bits(&e->conditions, &run->hits[ENTITY_CONDITION]);
  for (size_t i = 0; record && i < record->nscripts; i++)
    explorer_take_script(e, &record->scripts[i].unit);
  p->lines += lines;
  p->branches += more;
  p->scripts = e->units.len;
  p->failing += run->verdict == VERDICT_FAIL;
  return lines + more;
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
  if (!explorer_is_directed(e) || !run->failures.len)
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
  size_t news = take_coverage(e, record, &j->run);
  *lucky = news > 0;
  if (!p->given)
    queue_learn(&e->queue, &p->item, news,
                outcomes_open(&e->outcomes, &j->run.hits[ENTITY_CONDITION],
                              &e->conditions));
  for (size_t i = 0; record && i < record->ncompares; i++)
    seen_add(&e->seen, &record->compares[i]);
  take_failures(e, &j->run, p->run);
  e->near_fails = p->near_failing && j->run.verdict == VERDICT_FAIL;
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

// What the user does, others can do after this: the editor logs in again after
// a visitor has asked something. Requests that need a page before them do not
// fit.
static void offer_given(Explorer *e, uint32_t world, Arena *arena) {
  const Requests *list = e->options->first;
  Ask ask;
  for (size_t i = 0; list && i < list->len && i < GIVEN_AGAIN; i++) {
    const Request *r = &list->items[i];
    if (!headers_get(&r->headers, FRESH_HEADER) &&
        (!i || r->visitor != r[-1].visitor) && ask_from(r, &ask, arena))
      explorer_offer(e,
                     (QueueItem){.ask = ask, .world = world, .why = WHY_LINK});
  }
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
    bool apart = e->options->apart;
    if (world < WORLDS_TRIED && !(apart && p->given))
      explorer_offer_entries(e, world, WHY_LINK,
                             p->given && !explorer_is_directed(e));
    if (p->item.ask.post && !p->given && !apart)
      offer_given(e, world, &p->catch.arena);
  }
  desk_note(&p->desk, world, &c->answer.after, c->answer.key);
  bitset_add(&p->near, world);
  e->progress.worlds = e->atlas.worlds.len;
  return world;
}

// A form that is sent twice, by a second click: in the world that it left.
static void offer_twice(Explorer *e, const Post *p, uint32_t after,
                        bool lucky) {
  const QueueItem *i = &p->item;
  if (!i->ask.post || !p->run || after == i->world || i->why == WHY_ODD)
    return;
  explorer_offer(e, (QueueItem){.ask = i->ask,
                                .world = after,
                                .why = WHY_FORM,
                                .last = i->last,
                                .lucky = lucky,
                                .page = i->page,
                                .base = p->run});
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

// Everything that could be asked because of this answer; its input has to be
// thought about first.
static void offer_all(Explorer *e, Post *p, uint32_t world, bool lucky,
                      bool vary) {
  const Catch *c = &p->catch;
  offer_ideas(e, &c->ideas, &p->item, p->run, world, lucky);
  offer_twice(e, p, world, lucky);
  if (has_input(e, c) && p->item.why != WHY_ODD && !explorer_is_directed(e))
    offer_odd(e, p);
  begin_thought(e, p, lucky, vary);
}

int post_hand_in(Explorer *e, Post *p, Err *err) {
  Catch *c = &p->catch;
  bool lucky = false;
  note_asked(e, p);
  if (c->is_run && keep_run(e, p, &lucky, err))
    return -1;
  bool failing = c->is_run && take_target(e, &c->judged.run, p);
  uint32_t world = enter(e, p);
  bool vary = failing && (p->given || !e->target.failing.len);
  if (failing && target_add(&e->target, p->run))
    explorer_rescore(e);
  if (p->given) {
    e->reached = world;
    e->page = hiddens_copy(&c->hiddens, &e->arena);
  }
  if (!(p->given && e->options->apart))
    offer_all(e, p, world, lucky, vary);
  return 0;
}

void catch_release(Catch *c) {
  if (c->is_run)
    run_release(&c->judged.run);
  array_release(&c->ideas);
  arena_release(&c->arena);
  *c = (Catch){0};
}

bool explorer_is_given_left(const Explorer *e) {
  const Requests *list = e->options->first;
  return (list && e->given < list->len) || (e->nposts && e->posts[0].given);
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

bool explorer_may_go_on(Explorer *e) {
  const SiteOptions *o = e->options;
  e->progress.seconds = clock_now() - e->begin;
  e->progress.queued = e->queue.items.len;
  e->progress.dropped = e->queue.dropped;
  if (o->progress)
    o->progress(&e->progress);
  explorer_log(e, false);
  return !e->stop && !stop_requested() && e->progress.seconds < o->budget &&
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

// A request near the failing one that fails too is nothing to compare with: the
// next is then any that covers most.
static bool ignores_scores(const Explorer *e) {
  return explorer_is_directed(e) && e->near_fails;
}

typedef struct {
  uint32_t open, number;
} Reopened;

static int by_open(const void *a, const void *b) {
  const Reopened *x = a, *y = b;
  if (x->open != y->open)
    return x->open > y->open ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

// Nothing is left, and still some conditions always had the same outcome: what
// went by them is asked again and solved for more often, in other company. One
// field may have to be right for each of several conditions.
static bool begin_round(Explorer *e) {
  if (e->round >= ROUNDS || e->options->strategy->crawls ||
      explorer_is_directed(e) ||
      !outcomes_open(&e->outcomes, &e->conditions, &e->conditions))
    return false;
  size_t n = e->atlas.asked.len;
  Reopened *list = mem_array(Reopened, n + 1);
  for (size_t i = 0; i < n; i++)
    list[i] = (Reopened){queue_open(&e->queue, &e->atlas.asked.items[i].ask),
                         (uint32_t)i};
  qsort(list, n, sizeof *list, by_open);
  e->round++;
  for (size_t i = 0; i < n && i < ROUND_ASKED && list[i].open; i++) {
    const Asked *a = &e->atlas.asked.items[list[i].number];
    queue_add_again(&e->queue, (QueueItem){.ask = a->ask,
                                           .world = a->world,
                                           .why = WHY_SOLVED,
                                           .page = a->page});
  }
  free(list);
  return e->queue.items.len > 0;
}

static bool is_thinking(const Explorer *e) {
  for (int i = 0; i < e->nposts; i++)
    if (e->posts[i].thought.open)
      return true;
  return false;
}

static bool take_idea(Explorer *e, Post *p) {
  const Bitset *near = e->nposts > 1 ? &p->near : NULL;
  return queue_take(&e->queue, near, &p->item) ||
         (!is_thinking(e) && begin_round(e) &&
          queue_take(&e->queue, near, &p->item));
}

bool post_take(Explorer *e, Post *p) {
  p->given = p->busy = false;
  if (!explorer_may_go_on(e))
    return false;
  if (explorer_is_given_left(e) && p->number)
    return false;
  e->queue.unscored = ignores_scores(e);
  if (!(p->number == 0 && take_given(e, p)) && !take_idea(e, p))
    return false;
  p->near_failing = !e->queue.unscored && !p->given;
  p->run = p->item.plain ? 0 : ++e->numbers;
  atlas_way(&e->atlas, p->item.world, &p->way);
  return p->busy = true;
}
