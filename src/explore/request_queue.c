// The requests that the explorer could make next: see request_queue.h.
#include "explore/request_queue.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

// The end of a visit does no harm, since every request starts in a restored
// state: after LAST_AFTER requests, one in LAST_EVERY is one.
enum { LAST_COST = 100000, LAST_AFTER = 300, LAST_EVERY = 16 };

// The cost of one per cent of score less, and of having none.
enum { SCORE_COST = 10000, NO_SCORE = 200 * SCORE_COST };

enum { FAR_COST = 12 }; // of a state that the worker must be brought into

enum { VALUE_MOST = 40 }; // bytes; longer ones are texts, not choices

// Where scores decide, pages and input take turns among equals.
enum { OTHER_COST = 5000 };

// The least share of turns of a class; and the most new coverage that counts
// for one request, so that no single one decides.
#define LEAST_SHARE (1.0 / 16)
enum { NEWS_MOST = 60 };

// While the requests of one class cover that much each, solved input has an
// even smaller share. Another state has not: it may be behind a login. Odd input
// is there to fail, not to cover lines.
#define LEAST_OF_MUCH (1.0 / 48)
#define LEAST_OF_ODD (1.0 / 6)
enum { NEWS_MUCH = 20 };

static uint32_t number_of(Queue *q, char kind, const Str *key) {
  Str name = {0};
  str_addc(&name, kind);
  str_addn(&name, str_text(key), key->len);
  uint64_t fresh = q->counts.len;
  uint64_t n = hashmap_intern(&q->names, name.data, name.len, fresh);
  if (n == fresh)
    array_push(&q->counts, (UseCount){0});
  str_release(&name);
  return (uint32_t)n;
}

static bool is_known(Queue *q, uint32_t state, uint32_t request) {
  uint32_t key[2] = {state, request};
  uint64_t fresh = q->done.len;
  return hashmap_intern(&q->done, key, sizeof key, fresh) != fresh;
}

static uint32_t times_asked(const Queue *q, uint32_t number) {
  return q->counts.items[number].asked;
}

// --- parameters -------------------------------------------------------------

// Random values of pages and long texts are not choices.
static bool has_value(const Param *p) {
  return !p->page && strlen(p->value) <= VALUE_MOST;
}

// ?1700000000, different on each page, has one name and one value.
static void name_key(const Ask *a, const Param *p, Str *key) {
  str_addf(key, "%s\n%s", a->path, p->name);
  str_squeeze_digits(key);
}

static uint32_t number_of_name(Queue *q, const Ask *a, const Param *p) {
  Str key = {0};
  name_key(a, p, &key);
  uint32_t n = number_of(q, 'n', &key);
  str_release(&key);
  return n;
}

static uint32_t number_of_value(Queue *q, const Ask *a, const Param *p) {
  Str key = {0};
  name_key(a, p, &key);
  str_addf(&key, "\n%s", has_value(p) ? p->value : "");
  uint32_t n = number_of(q, 'v', &key);
  str_release(&key);
  return n;
}

// Without parameters: the script itself stands in for them.
static void number_params(Queue *q, QueueItem *item) {
  item->name = item->value = item->path;
  uint32_t least = UINT32_MAX, rarest = UINT32_MAX;
  for (size_t i = 0; i < item->ask.nparams; i++) {
    const Param *p = &item->ask.params[i];
    uint32_t name = number_of_name(q, &item->ask, p);
    uint32_t value = number_of_value(q, &item->ask, p);
    uint32_t n = times_asked(q, name), v = times_asked(q, value);
    if (v < rarest || (v == rarest && n < least)) {
      rarest = v;
      least = n;
      item->name = name;
      item->value = value;
    }
  }
}

static void count_params(Queue *q, const Ask *a) {
  for (size_t i = 0; i < a->nparams; i++) {
    uint32_t name = number_of_name(q, a, &a->params[i]);
    uint32_t value = number_of_value(q, a, &a->params[i]);
    q->counts.items[name].asked++;
    q->counts.items[name].values += !q->counts.items[value].asked;
    q->counts.items[value].asked++;
  }
}

// --- adding -----------------------------------------------------------------

// The same page after the same kind of change.
static void number_passage(Queue *q, QueueItem *item) {
  Str key = {0};
  str_addf(&key, "%u\n", item->request);
  if (item->way)
    ask_key(item->way, false, &key);
  item->way = NULL;
  item->passage = number_of(q, 'y', &key);
  str_release(&key);
}

static void number_all(Queue *q, QueueItem *item) {
  Str key = {0};
  ask_key(&item->ask, true, &key);
  item->request = number_of(q, 'r', &key);
  str_clear(&key);
  ask_key(&item->ask, false, &key);
  str_squeeze_digits(&key);
  item->shape = number_of(q, 's', &key);
  str_clear(&key);
  str_add(&key, item->ask.path);
  item->path = number_of(q, 'p', &key);
  str_clear(&key);
  str_addf(&key, "%u", item->state);
  item->place = number_of(q, 'w', &key);
  str_release(&key);
  number_passage(q, item);
  number_params(q, item);
}

static void count_taken(Queue *q, const QueueItem *item) {
  q->taken++;
  outcome_goals_try(q->goals, item->goal);
  q->counts.items[item->path].asked++;
  q->counts.items[item->shape].asked++;
  q->counts.items[item->request].asked++;
  q->counts.items[item->place].asked++;
  q->counts.items[item->passage].asked++;
  count_params(q, &item->ask);
}

static uint64_t cost(const Queue *q, const QueueItem *i);

typedef struct {
  bool kept; // whatever it costs
  uint64_t cost, order;
  size_t at;
} Priced;

static int by_cost(const void *a, const void *b) {
  const Priced *x = a, *y = b;
  if (x->kept != y->kept)
    return x->kept ? -1 : 1;
  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static int by_place(const void *a, const void *b) {
  const Priced *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

// Makes room by dropping the dearest requests.
static void drop_worst(Queue *q) {
  Priced *list = mem_array(Priced, q->items.len);
  size_t keep = 0;
  for (size_t i = 0; i < q->items.len; i++) {
    const QueueItem *item = &q->items.items[i];
    bool kept = outcome_goals_is_open(q->goals, item->goal);
    list[i] = (Priced){kept, cost(q, item), item->order, i};
    keep += kept;
  }
  keep = keep > QUEUE_KEPT ? keep : QUEUE_KEPT;
  qsort(list, q->items.len, sizeof *list, by_cost);
  qsort(list, keep, sizeof *list, by_place);
  for (size_t i = 0; i < keep; i++)
    q->items.items[i] = q->items.items[list[i].at];
  q->dropped += q->items.len - keep;
  q->items.len = keep;
  q->most = keep + QUEUE_MOST - QUEUE_KEPT;
  free(list);
}

static void insert(Queue *q, QueueItem item) {
  if (q->items.len >= (q->most ? q->most : QUEUE_MOST))
    drop_worst(q);
  item.order = q->count++;
  if (q->seed)
    item.order = XXH3_64bits_withSeed(&item.order, sizeof item.order, q->seed);
  item.ask = ask_copy(&item.ask, &q->arena);
  array_push(&q->items, item);
}

bool queue_add(Queue *q, QueueItem item) {
  if (item.last && q->last == LAST_NEVER)
    return false;
  if (q->last == LAST_ANY)
    item.last = false;
  number_all(q, &item);
  if (is_known(q, item.state, item.request))
    return false;
  insert(q, item);
  return true;
}

void queue_add_again(Queue *q, QueueItem item) {
  number_all(q, &item);
  insert(q, item);
}

uint32_t queue_open(Queue *q, const Ask *ask) {
  Str key = {0};
  ask_key(ask, true, &key);
  uint32_t n = number_of(q, 'r', &key);
  str_release(&key);
  return q->counts.items[n].open;
}

void queue_note(Queue *q, const Ask *ask, uint32_t state, uint64_t read) {
  QueueItem item = {.ask = *ask, .state = state};
  number_all(q, &item);
  is_known(q, state, item.request);
  count_taken(q, &item);
  q->counts.items[item.request].read = read;
}

static uint64_t at_most(uint64_t n, uint64_t most) {
  return n < most ? n : most;
}

// Found on a page, or an entry page.
static bool is_of_page(const QueueItem *i) {
  return i->origin == ORIGIN_ENTRY || i->origin == ORIGIN_FORM ||
         i->origin == ORIGIN_LINK;
}

static QueueClass class_of(const Queue *q, const QueueItem *i) {
  if (i->redirect)
    return i->class;
  if (i->early)
    return QUEUE_PAGE;
  if (i->origin == ORIGIN_ODD)
    return QUEUE_ODD;
  if (!is_of_page(i))
    return QUEUE_INPUT;
  return times_asked(q, i->request) ? QUEUE_AGAIN : QUEUE_PAGE;
}

// --- which first ------------------------------------------------------------

// A frequent shape costs more, unless a parameter or its value is new.
static uint64_t cost_of_shape(const Queue *q, const QueueItem *i) {
  const UseCount *name = &q->counts.items[i->name];
  uint64_t n = 8 * at_most(times_asked(q, i->shape), 40);
  if (i->origin == ORIGIN_ABSENT)
    return n + 8 * at_most(name->asked, 40);
  if (!is_of_page(i))
    return n;
  if (!name->asked)
    return 0;
  uint64_t few = 10 + 5 * (uint64_t)name->values;
  return times_asked(q, i->value) || n < few ? n + 20 : few;
}

static uint64_t cost_of_new(const Queue *q, const QueueItem *i) {
  static const uint64_t of[ORIGINS] = {
      [ORIGIN_ENTRY] = 0, [ORIGIN_SOLVED] = 60, [ORIGIN_ABSENT] = 30,
      [ORIGIN_FORM] = 30, [ORIGIN_LINK] = 40,   [ORIGIN_VARIED] = 50,
      [ORIGIN_ZERO] = 50, [ORIGIN_ODD] = 50};
  uint64_t path = times_asked(q, i->path), n = of[i->origin];
  if (i->redirect || i->early ||
      i->account) // a visitor goes there before anything else
    return 20;
  if (i->origin == ORIGIN_ODD) // of every page the first ideas, then the next
    return (i->fresh ? n : n + 60) + 3 * at_most(i->tried, 40);
  if (i->fresh || outcome_goals_is_open(q->goals, i->goal))
    n = 10;
  n += path ? 60 + at_most(path, 400) / 4 : 0;
  n += cost_of_shape(q, i);
  return n + 20 * at_most(times_asked(q, i->request), 40);
}

// Conditions with one outcome only may need another state; states near the
// start differ most, such as after the logins of several users.
static uint64_t cost_of_again(const Queue *q, const QueueItem *i) {
  const UseCount *r = &q->counts.items[i->request];
  uint64_t n = 200 - 4 * at_most(r->open, 20);
  if (r->read & i->written)
    return n - 100 + 20 * at_most(times_asked(q, i->passage), 20) +
           10 * at_most(i->depth, 20);
  for (uint32_t times = r->asked; times; times /= 2)
    n += 20;
  if (r->read && i->written && !i->role) // it would answer the same
    n += 100;
  return n + 40 * at_most(i->depth, 20);
}

static uint64_t cost(const Queue *q, const QueueItem *i) {
  bool again = class_of(q, i) == QUEUE_AGAIN && !i->redirect;
  uint64_t n = again ? cost_of_again(q, i) : cost_of_new(q, i);
  if (!again && i->origin != ORIGIN_ODD)
    n += at_most(times_asked(q, i->place), 200) / 2;
  if (!again)
    n += 3 * at_most(i->depth, 20);
  n += i->lucky ? 0 : 40;
  if (!q->unscored)
    n += i->score < 0 ? NO_SCORE : (uint64_t)((100 - i->score) * SCORE_COST);
  return n + (i->last ? LAST_COST : 0);
}

// --- turns ------------------------------------------------------------------

// The expected gain before the class was tried.
static double gain_of(const Queue *q, QueueClass class) {
  static const double expected[QUEUE_CLASSES] = {10, 10, 10, 4};
  return q->turns[class].gain > 0 ? q->turns[class].gain : expected[class];
}

// Squared, so that the best class has most of the turns; where none gains much,
// all have the same.
static double weight_of(const Queue *q, QueueClass class) {
  double gain = gain_of(q, class) + 0.5;
  return gain * gain;
}

static double share_of(const Queue *q, QueueClass class) {
  double sum = 0, least = LEAST_SHARE;
  for (int i = 0; i < QUEUE_CLASSES; i++) {
    sum += weight_of(q, (QueueClass)i);
    if (gain_of(q, (QueueClass)i) > NEWS_MUCH && class == QUEUE_INPUT)
      least = LEAST_OF_MUCH;
  }
  if (class == QUEUE_ODD)
    least = LEAST_OF_ODD;
  double share = weight_of(q, class) / sum;
  return share > least ? share : least;
}

void queue_learn(Queue *q, const QueueItem *taken, size_t news, size_t open,
                 uint64_t read) {
  q->counts.items[taken->request].read = read;
  Turns *t = &q->turns[taken->class];
  double gain = 0.9 * gain_of(q, taken->class);
  t->gain = gain + 0.1 * (double)at_most(news, NEWS_MOST) + 1e-9;
  q->counts.items[taken->request].open = (uint32_t)at_most(open, UINT32_MAX);
}

// --- without an answer ------------------------------------------------------

void queue_learn_late(Queue *q, const QueueItem *taken) {
  q->late++;
  q->counts.items[taken->request].late++;
  q->counts.items[taken->shape].late++;
  q->counts.items[taken->path].late++;
}

static bool is_mostly_late(const Queue *q, uint32_t number, uint32_t least) {
  const UseCount *c = &q->counts.items[number];
  return c->late >= least && 4 * (uint64_t)c->late >= c->asked;
}

static bool would_be_late(const Queue *q, const QueueItem *i) {
  return q->counts.items[i->request].late || is_mostly_late(q, i->shape, 2) ||
         is_mostly_late(q, i->path, 3);
}

static void spare_late(Queue *q) {
  size_t left = 0;
  for (size_t i = 0; i < q->items.len; i++)
    if (!would_be_late(q, &q->items.items[i]))
      q->items.items[left++] = q->items.items[i];
  q->spared += q->items.len - left;
  q->items.len = left;
}

// --- whose turn it is -------------------------------------------------------

// The class whose turn it is, of those that have a request; QUEUE_CLASSES:
// none.
static QueueClass next_class(Queue *q, const bool *has) {
  QueueClass next = QUEUE_CLASSES;
  for (int i = 0; i < QUEUE_CLASSES; i++) {
    if (!has[i])
      continue;
    if (q->turns[i].due < q->now) // it had no requests for a while
      q->turns[i].due = q->now;
    if (next == QUEUE_CLASSES || q->turns[i].due < q->turns[next].due)
      next = (QueueClass)i;
  }
  if (next != QUEUE_CLASSES) {
    q->now = q->turns[next].due;
    q->turns[next].due += 1 / share_of(q, next);
  }
  return next;
}

// --- taking -----------------------------------------------------------------

// The cheapest of each class, and behind them the cheapest for a new outcome,
// and the cheapest of the pages that were not seen yet.
enum { FIRST_OF_ALL = QUEUE_CLASSES, UNSEEN_PAGE, BESTS };
typedef struct {
  bool has[BESTS];
  uint64_t cost[BESTS];
  size_t at[BESTS];
  size_t made;
} Best;

static bool is_scored(const Queue *q) { return q->scored && !q->unscored; }

static uint64_t cost_now(const Queue *q, const Bitset *near,
                         const QueueItem *item) {
  bool pages = q->taken % 2 == 0;
  bool turn = q->taken >= LAST_AFTER && q->taken % LAST_EVERY == 0;
  uint64_t c = cost(q, item);
  if (near && !bitset_has(near, item->state))
    c += FAR_COST;
  if (is_scored(q) && is_of_page(item) != pages)
    c += OTHER_COST;
  if (item->last && turn)
    c -= LAST_COST;
  else if (turn)
    c += LAST_COST;
  return c;
}

// The end of a visit waits for its turn, whatever it may show.
static bool comes_first(const Queue *q, const QueueItem *item) {
  return !is_scored(q) && !item->last &&
         outcome_goals_comes_first(q->goals, item->goal);
}

// Where scores decide, all are of one class.
static int class_now(const Queue *q, const QueueItem *item) {
  if (comes_first(q, item))
    return FIRST_OF_ALL;
  return is_scored(q) ? QUEUE_INPUT : class_of(q, item);
}

// Where one script serves all pages, a value tells them apart (?page=...).
static bool is_unseen_page(const Queue *q, const QueueItem *item) {
  return !item->last && (item->early || item->redirect ||
                         (is_of_page(item) && !times_asked(q, item->value)));
}

static void take_better(const Queue *q, Best *best, int s, size_t i,
                        uint64_t c) {
  const QueueItem *items = q->items.items;
  if (best->has[s] &&
      (c > best->cost[s] ||
       (c == best->cost[s] && items[i].order >= items[best->at[s]].order)))
    return;
  best->has[s] = true;
  best->cost[s] = c;
  best->at[s] = i;
}

static void find_best(const Queue *q, const Bitset *near, Best *best) {
  for (size_t i = 0; i < q->items.len; i++) {
    const QueueItem *item = &q->items.items[i];
    uint64_t c = cost_now(q, near, item);
    best->made += !is_of_page(item);
    take_better(q, best, class_now(q, item), i, c);
    if (is_unseen_page(q, item))
      take_better(q, best, UNSEEN_PAGE, i, c);
  }
}

// A class with nothing but ends of visits has no turn while others have more.
static void leave_out_ends(Best *best) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < QUEUE_CLASSES; i++)
    if (best->has[i] && best->cost[i] < least)
      least = best->cost[i];
  for (int i = 0; i < QUEUE_CLASSES; i++)
    if (best->has[i] && best->cost[i] - least >= LAST_COST / 2)
      best->has[i] = false;
}

// A large application has new outcomes without end on its first pages: pages
// that were not seen yet take turns with them.
static int choose(Queue *q, const Best *best) {
  if (!best->has[FIRST_OF_ALL])
    return next_class(q, best->has);
  bool page = q->after_goal && best->has[UNSEEN_PAGE];
  q->after_goal = !page;
  return page ? UNSEEN_PAGE : FIRST_OF_ALL;
}

bool queue_take(Queue *q, const Bitset *near, QueueItem *out) {
  Best best = {0};
  if (q->late)
    spare_late(q);
  find_best(q, near, &best);
  q->made = best.made;
  leave_out_ends(&best);
  int s = choose(q, &best);
  if (!best.has[s])
    return false;
  *out = q->items.items[best.at[s]];
  out->class = class_of(q, out);
  q->items.items[best.at[s]] = q->items.items[--q->items.len];
  count_taken(q, out);
  return true;
}

void queue_release(Queue *q) {
  array_release(&q->items);
  array_release(&q->counts);
  hashmap_release(&q->names);
  hashmap_release(&q->done);
  arena_release(&q->arena);
}
