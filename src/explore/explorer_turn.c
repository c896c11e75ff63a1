// A worker's turn: it submits its result and takes the next request. Everything
// here but explore_worker_solve happens under the lock of explorer.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "explore/explorer_internal.h"
#include "php/child.h"
#include "php/fresh.h"
#include "php/record/record_format.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  SCRIPTED_MOST = 1000, // pages that are named
  STATES_TRIED = 8,     // in which all entry pages are requested
  LOGINS_TRIED = 3,     // and so many that a made account leads to
  SOLVED_AGAIN = 8,     // how often a comparison is solved in any case,
  SOLVED_MOST = 60,     // while it has had one outcome only,
  SOLVED_FEW = 2,       // and while many solutions are queued:
  MADE_ENOUGH = 2000,   // that many
  ROUNDS = 3,           // with an empty queue; each solves four times as often
  ROUND_ASKED = 200,    // requests that such a round makes again
  REPRODUCE_LEAST = 5,  // seconds left to reproduce failures
  BRANCHES_MOST = 60,   // comparisons of one request that are solved,
  BRANCHES_LINE = 4,    // and of one of its lines;
  BRANCHES_NEW = 400,   // those that may show a new outcome for the first time
};

// --- what comes next --------------------------------------------------------

bool explorer_is_directed(const Explorer *e) {
  return e->options->strategy->from_failing;
}

void explorer_place(const Explorer *e, QueueItem *item) {
  const VisitState *s = &e->graph.states.items[item->state];
  const MadeRequest *by = state_graph_request(&e->graph, s->by);
  item->depth = s->depth;
  item->written = s->written;
  item->way = by ? &by->ask : NULL;
}

void explorer_offer(Explorer *e, QueueItem item) {
  explorer_place(e, &item);
  item.score = e->options->strategy->nearness == NEAR_NOTHING
                   ? 0
                   : target_failure_score(&e->target, &item);
  queue_add(&e->queue, item);
}

void explorer_offer_entries(Explorer *e, uint32_t state, RequestOrigin origin,
                            bool early) {
  const WebApp *app = &e->options->visits->app;
  for (size_t i = 0; i < e->entries.len; i++) {
    const char *path = e->entries.items[i];
    Leads leads = route_leads(app, &e->routes, path, &e->arena);
    if (leads != LEADS_NOWHERE)
      explorer_offer(e, (QueueItem){.ask = ask_link(path, "", &e->arena),
                                    .state = state,
                                    .origin = origin,
                                    .early = early,
                                    .plain = leads == LEADS_TO_FILE});
  }
}

// Solving costs more the longer the path before the comparison is: limits their
// number per request and per line.
static bool is_too_much(Explorer *e, const PhpCompare *c) {
  if (c->kind != COMPARE_BRANCH)
    return false;
  uint64_t line = (uint64_t)c->line << 1 | c->held, n = 0;
  uint64_t key = XXH3_64bits_withSeed(c->file, strlen(c->file), line);
  hashmap_get(&e->of_line, &key, sizeof key, &n);
  hashmap_put(&e->of_line, &key, sizeof key, n + 1);
  return n >= BRANCHES_LINE || e->branches++ >= BRANCHES_MOST;
}

// A comparison that has had both outcomes is solved a few times more, with
// other values around it.
static bool is_solved_enough(const Explorer *e, const PhpCompare *c,
                             uint64_t solved) {
  uint64_t times = (uint64_t)1 << (2 * e->round);
  if (e->queue.made > MADE_ENOUGH && solved >= SOLVED_FEW)
    return true;
  return solved >= SOLVED_AGAIN * times &&
         (solved >= SOLVED_MOST * times ||
          !outcome_goals_one_sided(&e->goals, c));
}

// An outcome that was neither shown nor solved for.
static bool is_new(Explorer *e, const PhpCompare *c, uint64_t solved) {
  return !solved && e->news < BRANCHES_NEW &&
         outcome_goals_one_sided(&e->goals, c) && ++e->news;
}

static bool is_worth_solving(Explorer *e, const PhpCompare *c) {
  uint64_t key[2] = {compare_hash(c), c->held}, n = 0;
  hashmap_get(&e->solved, key, sizeof key, &n);
  bool worth =
      is_new(e, c, n) || (!is_solved_enough(e, c, n) && !is_too_much(e, c));
  if (worth)
    hashmap_put(&e->solved, key, sizeof key, n + 1);
  return worth;
}

static void choose_decisions(Explorer *e, PendingSolve *t) {
  const PhpRecord *record = &t->result.judged.record;
  e->branches = e->news = 0;
  hashmap_release(&e->of_line);
  for (uint32_t i = 0; i < record->ncompares; i++)
    if (t->vary || is_worth_solving(e, &record->compares[i]))
      array_push(&t->solved, i);
}

static bool has_input(const Explorer *e, const RequestResult *c) {
  return c->is_run && c->judged.has_record && !e->options->strategy->crawls;
}

// Keeps the result for solving, with all that depends on the order of turns.
static void begin_solve(Explorer *e, ExploreWorker *p, bool lucky, bool vary) {
  PendingSolve *t = &p->pending;
  t->open = true;
  t->item = p->item;
  t->run = p->run;
  t->vary = vary;
  t->lucky = lucky;
  t->path = p->path;
  t->result = p->result;
  p->path = (StatePath){0};
  p->result = (RequestResult){0};
  if (has_input(e, &t->result))
    choose_decisions(e, t);
  request_solver_begin(p->solver);
  size_t n = t->path.len;
  for (size_t i = 0; i < n && i < HELD_MOST; i++)
    request_solver_hold(p->solver, &t->path.items[n - 1 - i].ask);
}

void explore_worker_solve(ExploreWorker *p) {
  PendingSolve *t = &p->pending;
  const Explorer *e = p->explorer;
  RequestResult *c = &t->result;
  FollowUpSource f = {.app = &e->options->visits->app,
                      .routes = &p->routes,
                      .item = &t->item,
                      .path = &t->path,
                      .answer = &c->answer,
                      .record = has_input(e, c) ? &c->judged.record : NULL,
                      .failing = t->vary,
                      .solved = t->solved.items,
                      .nsolved = t->solved.len,
                      .solver = p->solver,
                      .arena = &c->arena};
  if (t->open)
    follow_ups_of_input(&f, &t->next);
}

bool explore_worker_solves_alone(const Explorer *e, const ExploreWorker *p) {
  return e->nworkers == 1 || p->given;
}

void pending_solve_release(PendingSolve *t) {
  request_result_release(&t->result);
  array_release(&t->path);
  array_release(&t->solved);
  array_release(&t->next);
  *t = (PendingSolve){0};
}

// The executed scripts identify the page: one script may serve many
// (?page=...).
static uint64_t page_key(const PhpRecord *record) {
  uint64_t scripts = 0;
  for (size_t i = 0; i < record->nscripts; i++)
    scripts += XXH3_64bits(&record->scripts[i].unit, sizeof(UnitId));
  return scripts;
}

// A page in a role: whoever may see more may also break more.
static void odd_page(const Explorer *e, const ExploreWorker *p, Str *key) {
  str_addf(key, "%llx %u",
           (unsigned long long)page_key(&p->result.judged.record),
           e->graph.states.items[p->item.state].role);
}

// Where a text is searched for depends on what else is sent. note[1] and
// note[2] are one field.
static void odd_key(const OddRequest *odd, const Str *page, Str *key) {
  if (odd->kind == 't')
    ask_key(&odd->ask, false, key);
  str_addf(key, "%c %s", odd->kind, odd->name);
  str_squeeze_digits(key);
  str_addf(key, "\n%s", str_text(page));
}

// How often it came up before.
static uint64_t count_odd(Explorer *e, const Str *key) {
  uint64_t times = 0;
  hashmap_get(&e->odd, str_text(key), key->len, &times);
  hashmap_put(&e->odd, str_text(key), key->len, times + 1);
  return times;
}

// Solved input that has executed something new: its values, and those that were
// good in other fields before, at the same time.
static void offer_good(Explorer *e, ExploreWorker *p) {
  const QueueItem *i = &p->item;
  const MadeRequest *base = state_graph_request(&e->graph, i->base);
  if (!base || (i->origin != ORIGIN_SOLVED && i->origin != ORIGIN_ABSENT))
    return;
  uint64_t page = page_key(&p->result.judged.record);
  Ask ask;
  if (good_values_apply(&e->good, page, &i->ask, &base->ask, &ask,
                        &p->result.arena))
    explorer_offer(e, (QueueItem){.ask = ask,
                                  .state = i->state,
                                  .origin = ORIGIN_SOLVED,
                                  .fresh = true,
                                  .last = i->last,
                                  .lucky = true,
                                  .page = i->page,
                                  .base = p->run});
  good_values_learn(&e->good, page, &i->ask, &base->ask);
}

static void offer_odd(Explorer *e, ExploreWorker *p) {
  RequestResult *c = &p->result;
  OddRequests odds = {0};
  Str page = {0}, key = {0};
  odd_page(e, p, &page);
  odd_texts_learn(&e->texts, c->judged.record.shadows);
  odd_requests(&p->item.ask, odd_texts_next(&e->texts), &odds, &c->arena);
  for (size_t i = 0; i < odds.len; i++) {
    str_clear(&key);
    odd_key(&odds.items[i], &page, &key);
    uint64_t times = count_odd(e, &key);
    if (odd_is_due(odds.items[i].kind, times))
      explorer_offer(e, (QueueItem){.ask = odds.items[i].ask,
                                    .state = p->item.state,
                                    .origin = ORIGIN_ODD,
                                    .fresh = !times,
                                    .tried = (unsigned)count_odd(e, &page),
                                    .last = p->item.last,
                                    .page = p->item.page,
                                    .base = p->run});
  }
  array_release(&odds);
  str_release(&page);
  str_release(&key);
}

static void offer_items(Explorer *e, const QueueItems *items,
                        const QueueItem *from, uint32_t run, uint32_t after,
                        bool lucky) {
  for (size_t i = 0; i < items->len; i++) {
    QueueItem item = items->items[i];
    bool of_page = item.state == STATE_AFTER;
    item.goal = item.compare ? outcome_goals_aim(&e->goals, item.compare) : 0;
    item.compare = NULL;
    item.state = of_page ? after : item.state;
    item.page = of_page ? run : from->page;
    item.lucky = lucky;
    item.class = from->class;
    item.base = run;
    explorer_offer(e, item);
  }
}

void explore_worker_offer(Explorer *e, ExploreWorker *p) {
  PendingSolve *t = &p->pending;
  if (!t->open)
    return;
  request_solver_end(p->solver);
  offer_items(e, &t->next, &t->item, t->run, STATE_NONE, t->lucky);
  pending_solve_release(t);
}

void explorer_rescore(Explorer *e) {
  for (size_t i = 0; i < e->queue.items.len; i++)
    e->queue.items.items[i].score =
        target_failure_score(&e->target, &e->queue.items.items[i]);
}

// --- handing in -------------------------------------------------------------

static size_t add_bits(Bitset *all, const Bitset *more) {
  size_t before = bitset_count(all);
  bitset_union(all, more);
  return bitset_count(all) - before;
}

void explorer_take_script(Explorer *e, const UnitId *unit) {
  uint64_t fresh = e->units.len;
  if (hashmap_intern(&e->units, unit, sizeof *unit, fresh) == fresh)
    array_push(&e->scripts_seen, *unit);
}

// How many lines and outcomes were new.
static size_t take_coverage(Explorer *e, const PhpRecord *record,
                            const Run *run) {
  ExplorerProgress *p = &e->progress;
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
  const MadeRequest *x = state_graph_request(&e->graph, a),
                    *y = state_graph_request(&e->graph, b);
  unsigned m = e->graph.states.items[x->state].depth;
  unsigned n = e->graph.states.items[y->state].depth;
  return m != n ? m < n : x->ask.nparams < y->ask.nparams;
}

void explorer_add_failure(Explorer *e, const char *signature, uint32_t number) {
  uint64_t fresh = e->failures.len;
  uint64_t n =
      hashmap_intern(&e->signatures, signature, strlen(signature), fresh);
  if (n == fresh)
    array_push(&e->failures,
               (FoundFailure){mem_strdup(signature), number, {0}});
  else if (is_shorter(e, number, e->failures.items[n].number))
    e->failures.items[n].number = number;
  e->progress.failures = e->failures.len;
}

// The failure to be explained is that of the user's last failing request, else
// the first one found. True: the run shows it.
static bool take_target(Explorer *e, const Run *run, const ExploreWorker *p) {
  if (!explorer_is_directed(e) || !run->failures.len)
    return false;
  if (!e->target.signature || p->given)
    target_failure_set(&e->target, run->failures.items[0].signature);
  for (size_t i = 0; i < run->failures.len; i++)
    if (!strcmp(run->failures.items[i].signature, e->target.signature))
      return true;
  return false;
}

static int keep_run(Explorer *e, ExploreWorker *p, bool *lucky, Err *err) {
  const Visits *v = e->options->visits;
  Judged *j = &p->result.judged;
  const PhpRecord *record = j->has_record ? &j->record : NULL;
  if (record)
    scripts_collect(e->scripts, record, &j->run);
  if (store_add_run(v->store, v->session, &j->run, err))
    return -1;
  size_t news = take_coverage(e, record, &j->run);
  *lucky = news > 0;
  outcome_goals_learn(&e->goals, p->item.goal, news);
  if (!p->given)
    queue_learn(&e->queue, &p->item, news,
                condition_outcomes_one_sided(&e->outcomes,
                                             &j->run.hits[ENTITY_CONDITION],
                                             &e->conditions),
                p->result.tables.read);
  for (size_t i = 0; record && i < record->ncompares; i++)
    if (outcome_goals_show(&e->goals, &record->compares[i]))
      accounts_note_compare(&e->accounts, &record->compares[i], &p->item.ask);
  for (size_t i = 0; i < j->run.failures.len; i++)
    explorer_add_failure(e, j->run.failures.items[i].signature, p->run);
  e->near_fails = p->near_failing && j->run.verdict == VERDICT_FAIL;
  e->progress.requests++;
  return 0;
}

static uint32_t enter(Explorer *e, ExploreWorker *p) {
  const RequestResult *c = &p->result;
  if (!p->run)
    return p->item.state;
  size_t before = e->graph.states.len;
  uint32_t state = app_driver_find(&p->driver, c->answer.key);
  if (state == STATE_NONE)
    state = state_graph_enter(&e->graph, c->answer.key, c->answer.after.cookies,
                              p->item.state, p->run);
  state_graph_shorten(&e->graph, state, p->item.state, p->run);
  if (e->graph.states.len > before) {
    VisitState *s = &e->graph.states.items[state];
    const VisitState *from = &e->graph.states.items[s->from];
    s->role = p->item.role ? p->item.role : from->role;
    s->written = c->tables.written ? c->tables.written : from->written;
    explorer_take_found(e, p, state);
    bool apart = e->options->apart;
    bool in = p->item.account && e->logged_in++ < LOGINS_TRIED;
    if ((state < STATES_TRIED || in) && !(apart && p->given))
      explorer_offer_entries(e, state, ORIGIN_LINK,
                             (p->given || in) && !explorer_is_directed(e));
    if (p->item.ask.post && !p->given && !apart)
      explorer_offer_given(e, state, &p->result.arena);
  }
  app_driver_note(&p->driver, state, &c->answer.after, c->answer.key);
  bitset_add(&p->near, state);
  e->progress.states = e->graph.states.len;
  return state;
}

// Sends a form twice, as by a second click: in the state that it left.
static void offer_twice(Explorer *e, const ExploreWorker *p, uint32_t after,
                        bool lucky) {
  const QueueItem *i = &p->item;
  if (!i->ask.post || !p->run || after == i->state || i->origin == ORIGIN_ODD)
    return;
  explorer_offer(e, (QueueItem){.ask = i->ask,
                                .state = after,
                                .origin = ORIGIN_FORM,
                                .last = i->last,
                                .lucky = lucky,
                                .page = i->page,
                                .base = p->run});
}

// A page that was found in one role is requested in the others: it may not be
// for them.
static void offer_roles(Explorer *e, const ExploreWorker *p) {
  const QueueItem *i = &p->item;
  if (i->ask.post || !p->run || i->origin == ORIGIN_ODD || i->last)
    return;
  for (size_t k = 0; k < e->roles.len; k++)
    explorer_offer(e, (QueueItem){.ask = i->ask,
                                  .state = e->roles.items[k],
                                  .origin = ORIGIN_LINK,
                                  .base = p->run});
}

static void note_scripted(Explorer *e, const ExploreWorker *p) {
  const char *path = p->item.ask.path;
  if (!p->result.scripted || e->scripted.len >= SCRIPTED_MOST)
    return;
  for (size_t i = 0; i < e->scripted.len; i++)
    if (!strcmp(e->scripted.items[i], path))
      return;
  array_push(&e->scripted, arena_strdup(&e->arena, path));
}

static void note_asked(Explorer *e, ExploreWorker *p) {
  const RequestResult *c = &p->result;
  if (c->linked)
    other_hosts_note(&e->hosts, c->other, &e->arena);
  if (p->run)
    state_graph_add_request(&e->graph, &(MadeRequest){.ask = p->item.ask,
                                                      .state = p->item.state,
                                                      .page = p->item.page,
                                                      .read = c->tables.read,
                                                      .hidden = c->hidden,
                                                      .steps = c->steps,
                                                      .nsteps = c->nsteps});
}

// Queues everything that follows from the result but its solutions.
static void offer_all(Explorer *e, ExploreWorker *p, uint32_t state, bool lucky,
                      bool vary) {
  const RequestResult *c = &p->result;
  offer_items(e, &c->next, &p->item, p->run, state, lucky);
  offer_twice(e, p, state, lucky);
  explorer_offer_logins(e, p, state);
  note_scripted(e, p);
  if (lucky && !explorer_is_directed(e)) {
    offer_roles(e, p);
    explorer_offer_beside(e, p);
  }
  if (has_input(e, c) && lucky && !explorer_is_directed(e))
    offer_good(e, p);
  if (has_input(e, c) && p->item.origin != ORIGIN_ODD &&
      !explorer_is_directed(e))
    offer_odd(e, p);
  begin_solve(e, p, lucky, vary);
}

static void note_late(Explorer *e, const ExploreWorker *p) {
  if (p->given)
    e->given_late++;
  else
    queue_learn_late(&e->queue, &p->item);
}

int explore_worker_submit(Explorer *e, ExploreWorker *p, Err *err) {
  RequestResult *c = &p->result;
  bool lucky = false;
  note_asked(e, p);
  if (c->cut) {
    if (!p->given)
      queue_add_again(&e->queue, p->item);
    return 0;
  }
  if (c->answer.exchange.end == EXCHANGE_TIMEOUT)
    note_late(e, p);
  if (c->is_run && keep_run(e, p, &lucky, err))
    return -1;
  bool failing = c->is_run && take_target(e, &c->judged.run, p);
  uint32_t state = enter(e, p);
  bool vary = failing && (p->given || !e->target.failing.len);
  if (failing && target_failure_add(&e->target, p->run))
    explorer_rescore(e);
  if (p->given) {
    e->reached = state;
    explorer_add_role(e, state);
    explorer_check_login(e, p, state);
    e->page = hidden_fields_copy(&c->hidden, &e->arena);
  }
  if (p->item.redirect)
    explorer_check_redirected(e, p);
  if (!(p->given && e->options->apart))
    offer_all(e, p, state, lucky, vary);
  return 0;
}

void request_result_release(RequestResult *c) {
  if (c->is_run)
    run_release(&c->judged.run);
  array_release(&c->next);
  arena_release(&c->arena);
  *c = (RequestResult){0};
}

bool explorer_is_given_left(const Explorer *e) {
  const Requests *list = e->options->first;
  return (list && e->given < list->len) || (e->nworkers && e->workers[0].given);
}

// --- taking -----------------------------------------------------------------

static bool is_covered(Explorer *e) {
  const ExplorerProgress *p = &e->progress;
  double want = e->options->coverage;
  if (want > 0 && p->statements &&
      100.0 * (double)p->lines >= want * (double)p->statements)
    e->progress.covered = true;
  return e->progress.covered;
}

// What failed is to be reproduced, and looked at, before the budget ends.
static double ends_at(const Explorer *e) {
  const ExplorerOptions *o = e->options;
  double reproduce = o->no_reduce ? 0 : o->budget / 8;
  reproduce = reproduce < REPRODUCE_LEAST ? reproduce : REPRODUCE_LEAST;
  return e->until - (e->failures.len ? reproduce + o->after : 0);
}

bool explorer_may_go_on(Explorer *e) {
  const ExplorerOptions *o = e->options;
  e->progress.seconds = clock_now() - e->begin;
  e->progress.queued = e->queue.items.len;
  e->progress.dropped = e->queue.dropped;
  if (o->progress)
    o->progress(&e->progress);
  explorer_log(e, false);
  return !e->stop && !stop_requested() && clock_now() < ends_at(e) &&
         !is_covered(e) &&
         (!o->max_failures || e->failures.len < o->max_failures) &&
         (!o->max_tests || e->numbers < o->max_tests);
}

// The value of this field on the page before; `otherwise` if it has none.
static const char *page_value(const Explorer *e, const char *name,
                              const char *otherwise) {
  for (size_t i = 0; i < e->page.len; i++)
    if (!strcmp(e->page.items[i].name, name))
      return e->page.items[i].value;
  return otherwise;
}

// Tokens come from the page before (Culprit-Fresh).
static void freshen(Explorer *e, const Request *r, Ask *ask) {
  const char *header = headers_get(&r->headers, FRESH_HEADER);
  for (size_t i = 0; header && i < ask->nparams; i++) {
    const Param *p = &ask->params[i];
    if (fresh_names(header, p->name))
      *ask = ask_with_fresh(ask, i, page_value(e, p->name, p->value),
                            &e->queue.arena);
  }
}

// A login is sent with the hidden fields of its form, whatever their names.
// They may be tokens, which a kept list takes from the page again.
static void complete_login(Explorer *e, Ask *ask) {
  for (size_t k = 0; k < e->page.len; k++) {
    const HiddenField *h = &e->page.items[k];
    if (strcmp(h->form, ask->path) || ask_has(ask, IN_BODY, h->name))
      continue;
    *ask = ask_with(ask, IN_BODY, h->name, h->value, &e->queue.arena);
    *ask = ask_with_fresh(ask, ask->nparams - 1, h->value, &e->queue.arena);
  }
}

// The first worker makes the user's requests, each in the state that the one
// before it left.
static bool take_given(Explorer *e, ExploreWorker *p) {
  const Requests *list = e->options->first;
  while (list && e->given < list->len) {
    const Request *r = &list->items[e->given++];
    p->item = (QueueItem){.origin = ORIGIN_ENTRY, .role = (uint32_t)e->given};
    if (e->given == 1 || r->visitor != r[-1].visitor)
      e->reached = 0;
    if (!ask_from(r, &p->item.ask, &e->queue.arena))
      continue;
    freshen(e, r, &p->item.ask);
    if (r->login)
      complete_login(e, &p->item.ask);
    p->item.state = e->reached;
    p->item.plain = route_leads(&e->options->visits->app, &e->routes,
                                p->item.ask.path, &e->arena) != LEADS_TO_SCRIPT;
    queue_note(&e->queue, &p->item.ask, p->item.state, 0);
    return p->given = true;
  }
  return false;
}

// If a request near the failing one fails too, the next is chosen by coverage:
// localization needs passing requests.
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

// The queue is empty, and some conditions have had one outcome only: makes the
// requests that executed them again, to solve them more often with other values
// around them. Several conditions may need one field each.
static bool begin_round(Explorer *e) {
  if (e->round >= ROUNDS || e->options->strategy->crawls ||
      explorer_is_directed(e) ||
      !condition_outcomes_one_sided(&e->outcomes, &e->conditions,
                                    &e->conditions))
    return false;
  size_t n = e->graph.requests.len;
  Reopened *list = mem_array(Reopened, n + 1);
  for (size_t i = 0; i < n; i++)
    list[i] = (Reopened){queue_open(&e->queue, &e->graph.requests.items[i].ask),
                         (uint32_t)i};
  qsort(list, n, sizeof *list, by_open);
  e->round++;
  for (size_t i = 0; i < n && i < ROUND_ASKED && list[i].open; i++) {
    const MadeRequest *a = &e->graph.requests.items[list[i].number];
    queue_add_again(&e->queue, (QueueItem){.ask = a->ask,
                                           .state = a->state,
                                           .origin = ORIGIN_SOLVED,
                                           .page = a->page});
  }
  free(list);
  return e->queue.items.len > 0;
}

static bool is_solving(const Explorer *e) {
  for (int i = 0; i < e->nworkers; i++)
    if (e->workers[i].pending.open)
      return true;
  return false;
}

static bool take_queued(Explorer *e, ExploreWorker *p) {
  const Bitset *near = e->nworkers > 1 ? &p->near : NULL;
  return queue_take(&e->queue, near, &p->item) ||
         (!is_solving(e) && begin_round(e) &&
          queue_take(&e->queue, near, &p->item));
}

bool explore_worker_take(Explorer *e, ExploreWorker *p) {
  p->given = p->busy = false;
  if (!explorer_may_go_on(e))
    return false;
  if (explorer_is_given_left(e) && p->number)
    return false;
  e->queue.unscored = ignores_scores(e);
  if (!(p->number == 0 && take_given(e, p)) && !take_queued(e, p))
    return false;
  p->near_failing = !e->queue.unscored && !p->given;
  p->run = p->item.plain ? 0 : ++e->numbers;
  state_graph_path(&e->graph, p->item.state, &p->path);
  return p->busy = true;
}
