// The exploration on disk: see checkpoint.h.
#include "explore/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "explore/explorer_internal.h"
#include "util/fs.h"
#include "util/leb.h"
#include "util/mem.h"
#include "util/str.h"

static const char magic[] = "culprit-explore\n";
enum { MAGIC = sizeof magic - 1, VERSION = 1, MOST = 1 << 28 };

// --- writing ----------------------------------------------------------------

static void put_text(Str *out, const char *text) {
  size_t n = strlen(text);
  leb_put(out, n);
  str_addn(out, text, n);
}

static void put_ask(Str *out, const Ask *a) {
  leb_put(out, a->post);
  put_text(out, a->path);
  leb_put(out, a->nparams);
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    put_text(out, p->name);
    put_text(out, p->value);
    leb_put(out, (uint64_t)p->place << 2 | (unsigned)p->bare << 1 | p->page);
  }
}

static void put_request(Str *out, const MadeRequest *a) {
  put_ask(out, &a->ask);
  leb_put(out, a->state);
  leb_put(out, a->page);
  leb_put(out, a->hidden.len);
  for (size_t i = 0; i < a->hidden.len; i++) {
    put_text(out, a->hidden.items[i].form);
    put_text(out, a->hidden.items[i].name);
    put_text(out, a->hidden.items[i].value);
  }
  leb_put(out, a->nsteps);
  for (size_t i = 0; i < a->nsteps; i++) {
    leb_put(out, a->steps[i].condition);
    leb_put(out, a->steps[i].outcome);
  }
}

static void put_cookies(Str *out, const CookieHistory *last) {
  size_t n = 0;
  for (const CookieHistory *c = last; c; c = c->before)
    n++;
  leb_put(out, n);
  for (; last; last = last->before) { // the last one first
    put_text(out, last->path);
    put_text(out, last->value);
  }
}

static void put_state(Str *out, const VisitState *w) {
  leb_put(out, w->key);
  leb_put(out, w->from);
  leb_put(out, w->by);
  leb_put(out, w->depth);
  put_cookies(out, w->cookies);
}

static void put_item(Str *out, const QueueItem *i) {
  put_ask(out, &i->ask);
  leb_put(out, i->state);
  leb_put(out, i->origin);
  leb_put(out, (unsigned)i->fresh | (unsigned)i->last << 1 |
                   (unsigned)i->lucky << 2 | (unsigned)i->plain << 3 |
                   (unsigned)i->redirect << 4);
  leb_put(out, i->depth);
  leb_put(out, i->page);
  leb_put(out, i->base);
  leb_put(out, i->step);
}

static void put_bits(Str *out, const Bitset *b) {
  Str bytes = {0};
  bitset_write(b, &bytes);
  leb_put(out, bytes.len);
  str_addn(out, str_text(&bytes), bytes.len);
  str_release(&bytes);
}

// Requests that are being made or solved for come first again.
static void put_items(Str *out, const Explorer *e) {
  QueueItems busy = {0};
  for (int i = 0; i < e->nworkers; i++) {
    const ExploreWorker *p = &e->workers[i];
    if (p->busy && !p->given)
      array_push(&busy, p->item);
    if (p->pending.open)
      array_push(&busy, p->pending.item);
  }
  const QueueItems *queued = &e->queue.items;
  leb_put(out, busy.len + queued->len);
  for (size_t i = 0; i < busy.len; i++)
    put_item(out, &busy.items[i]);
  for (size_t i = 0; i < queued->len; i++)
    put_item(out, &queued->items[i]);
  array_release(&busy);
}

static void put_places(Str *out, const StateGraph *g) {
  leb_put(out, g->requests.len);
  for (size_t i = 0; i < g->requests.len; i++)
    put_request(out, &g->requests.items[i]);
  leb_put(out, g->states.len);
  for (size_t i = 0; i < g->states.len; i++)
    put_state(out, &g->states.items[i]);
}

static void put_script(Str *out, const UnitId *unit) {
  leb_put(out, 2 * sizeof *unit);
  for (size_t i = 0; i < sizeof *unit; i++)
    str_addf(out, "%02x", unit->bytes[i]);
}

// A user's list that was not finished is made again from its beginning.
static void put_results(Str *out, const Explorer *e) {
  const TargetFailure *t = &e->target;
  put_bits(out, &e->lines);
  put_bits(out, &e->conditions);
  leb_put(out, e->failures.len);
  for (size_t i = 0; i < e->failures.len; i++) {
    put_text(out, e->failures.items[i].signature);
    leb_put(out, e->failures.items[i].number);
  }
  leb_put(out, e->scripts_seen.len);
  for (size_t i = 0; i < e->scripts_seen.len; i++)
    put_script(out, &e->scripts_seen.items[i]);
  leb_put(out, e->progress.statements);
  leb_put(out, explorer_is_given_left(e) ? 0 : e->given);
  leb_put(out, e->progress.failing);
  leb_put(out, e->queue.dropped);
  put_text(out, t->signature ? t->signature : "");
  leb_put(out, t->failing.len);
  for (size_t i = 0; i < t->failing.len; i++)
    leb_put(out, t->failing.items[i].number);
}

static int replace(const char *path, const Str *text, Err *err) {
  char *fresh = mem_printf("%s.new", path);
  int rc = fs_write(fresh, text->data, text->len, err);
  if (!rc && rename(fresh, path))
    rc = err_set(err, "%s: %s", path, strerror(errno));
  free(fresh);
  return rc;
}

int checkpoint_write(const Explorer *e, const char *path, Err *err) {
  Str body = {0}, text = {0};
  put_places(&body, &e->graph);
  put_items(&body, e);
  put_results(&body, e);
  uint64_t head[2] = {VERSION, XXH3_64bits(body.data, body.len)};
  str_addn(&text, magic, MAGIC);
  str_addn(&text, head, sizeof head);
  str_addn(&text, body.data, body.len);
  int rc = replace(path, &text, err);
  str_release(&body);
  str_release(&text);
  return rc;
}

// --- reading ----------------------------------------------------------------

typedef struct {
  const unsigned char *at, *end;
  bool bad; // damaged: everything read from now on is 0
  Arena *arena;
} Reader;

static uint64_t get(Reader *r) {
  uint64_t v = 0;
  if (r->bad || !leb_get(&r->at, r->end, &v)) {
    r->bad = true;
    return 0;
  }
  return v;
}

// A number below `limit`.
static uint32_t get_below(Reader *r, uint64_t limit) {
  uint64_t v = get(r);
  r->bad |= v >= limit;
  return r->bad ? 0 : (uint32_t)v;
}

// How many things of at least `size` bytes follow.
static size_t get_count(Reader *r, size_t size) {
  uint64_t n = get(r);
  r->bad |= n > (uint64_t)(r->end - r->at) / size;
  return r->bad ? 0 : (size_t)n;
}

static const char *get_text(Reader *r) {
  size_t n = get_count(r, 1);
  const char *text = (const char *)r->at;
  r->bad |= n && memchr(text, '\0', n);
  if (r->bad)
    return "";
  r->at += n;
  return arena_strndup(r->arena, text, n);
}

static Ask get_ask(Reader *r) {
  Ask a = {.post = get_below(r, 2), .path = get_text(r)};
  a.nparams = get_count(r, 3);
  Param *params = arena_array(r->arena, Param, a.nparams);
  for (size_t i = 0; i < a.nparams; i++) {
    params[i].name = get_text(r);
    params[i].value = get_text(r);
    uint32_t bits = get_below(r, (IN_FILE + 1) << 2);
    params[i].place = (ParamPlace)(bits >> 2);
    params[i].bare = bits & 2;
    params[i].page = bits & 1;
  }
  r->bad |= *a.path != '/';
  a.params = params;
  return a;
}

static HiddenFields get_hidden(Reader *r) {
  HiddenFields h = {.len = get_count(r, 3)};
  HiddenField *list = arena_array(r->arena, HiddenField, h.len);
  for (size_t i = 0; i < h.len; i++) {
    list[i].form = get_text(r);
    list[i].name = get_text(r);
    list[i].value = get_text(r);
  }
  h.items = list;
  return h;
}

static MadeRequest get_request(Reader *r) {
  MadeRequest a = {.ask = get_ask(r)};
  a.state = get_below(r, UINT32_MAX); // checked once all states are known
  a.page = get_below(r, UINT32_MAX);
  a.hidden = get_hidden(r);
  a.nsteps = get_count(r, 2);
  PathStep *steps = arena_array(r->arena, PathStep, a.nsteps);
  for (size_t i = 0; i < a.nsteps; i++) {
    steps[i].condition = get_below(r, UINT32_MAX);
    steps[i].outcome = get_below(r, UINT32_MAX);
  }
  a.steps = steps;
  return a;
}

static const CookieHistory *get_cookies(Reader *r) {
  size_t n = get_count(r, 2);
  CookieHistory *list = arena_array(r->arena, CookieHistory, n);
  for (size_t i = 0; i < n; i++) {
    list[i].path = get_text(r);
    list[i].value = get_text(r);
    list[i].before = i + 1 < n ? &list[i + 1] : NULL;
  }
  return n ? list : NULL;
}

static VisitState get_state(Reader *r, size_t number, size_t nasked) {
  VisitState w = {.key = get(r)};
  w.from = get_below(r, UINT32_MAX);
  w.by = get_below(r, nasked + 1);
  w.depth = get_below(r, UINT32_MAX);
  w.cookies = get_cookies(r);
  r->bad |= number && !w.by;
  return w;
}

// Paths lead to the start: the state before is always nearer to it.
static void check_places(Reader *r, const StateGraph *g) {
  for (size_t i = 0; i < g->requests.len; i++)
    r->bad |= g->requests.items[i].state >= g->states.len ||
              g->requests.items[i].page > g->requests.len;
  for (size_t i = 1; i < g->states.len; i++) {
    const VisitState *w = &g->states.items[i];
    r->bad |=
        w->from >= g->states.len || g->states.items[w->from].depth >= w->depth;
  }
}

static void get_places(Reader *r, StateGraph *g) {
  size_t n = get_count(r, 8);
  for (size_t i = 0; i < n && !r->bad; i++) {
    MadeRequest made = get_request(r);
    array_push(&g->requests, made);
  }
  n = get_count(r, 5);
  r->bad |= !n;
  g->states.len = 0;
  for (size_t i = 0; i < n && !r->bad; i++) {
    VisitState w = get_state(r, i, g->requests.len);
    array_push(&g->states, w);
    hashmap_put(&g->index, &w.key, sizeof w.key, i);
  }
  check_places(r, g);
}

static QueueItem get_item(Reader *r, const StateGraph *g) {
  QueueItem i = {.ask = get_ask(r), .score = -1};
  i.state = get_below(r, g->states.len);
  i.origin = (RequestOrigin)get_below(r, ORIGINS);
  uint32_t bits = get_below(r, 32);
  i.fresh = bits & 1;
  i.last = bits & 2;
  i.lucky = bits & 4;
  i.plain = bits & 8;
  i.redirect = bits & 16;
  i.depth = get_below(r, UINT32_MAX);
  i.page = get_below(r, g->requests.len + 1);
  i.base = get_below(r, g->requests.len + 1);
  i.step = get_below(r, UINT32_MAX);
  return i;
}

static void get_items(Reader *r, const StateGraph *g, Queue *q) {
  for (size_t i = 0; i < g->requests.len && !r->bad; i++)
    queue_note(q, &g->requests.items[i].ask, g->requests.items[i].state);
  size_t n = get_count(r, 8);
  for (size_t i = 0; i < n && !r->bad; i++) {
    QueueItem item = get_item(r, g);
    if (!r->bad)
      queue_add(q, item);
  }
}

static void get_bits(Reader *r, Bitset *b) {
  size_t n = get_count(r, 1);
  Err ignored;
  if (!r->bad && bitset_read(b, r->at, n, MOST, &ignored))
    r->bad = true;
  r->at += n;
}

static uint32_t get_number(Reader *r, const Explorer *e) {
  uint32_t number = get_below(r, e->graph.requests.len + 1);
  r->bad |= !number;
  return number;
}

static void get_script(Reader *r, Explorer *e) {
  UnitId unit = {0};
  const char *hex = get_text(r);
  r->bad |= strlen(hex) != 2 * sizeof unit;
  for (size_t i = 0; !r->bad && i < sizeof unit; i++)
    r->bad |= sscanf(hex + 2 * i, "%2hhx", &unit.bytes[i]) != 1;
  if (!r->bad)
    explorer_take_script(e, &unit);
}

static void get_target(Reader *r, Explorer *e) {
  const char *signature = get_text(r);
  if (*signature && explorer_is_directed(e))
    target_failure_set(&e->target, signature);
  size_t n = get_count(r, 1);
  for (size_t i = 0; i < n && !r->bad; i++) {
    uint32_t number = get_number(r, e);
    if (!r->bad && *signature)
      target_failure_add(&e->target, number);
  }
}

static void get_results(Reader *r, Explorer *e) {
  get_bits(r, &e->lines);
  get_bits(r, &e->conditions);
  size_t n = get_count(r, 2);
  for (size_t i = 0; i < n && !r->bad; i++) {
    const char *signature = get_text(r);
    uint32_t number = get_number(r, e);
    if (!r->bad)
      explorer_add_failure(e, signature, number);
  }
  n = get_count(r, 1);
  for (size_t i = 0; i < n && !r->bad; i++)
    get_script(r, e);
  e->progress.statements = get(r);
  e->given = get(r);
  e->progress.failing = get(r);
  e->queue.dropped = get(r);
  get_target(r, e);
}

static int read_body(Explorer *e, const Str *text, const char *path, Err *err) {
  uint64_t head[2];
  size_t skip = MAGIC + sizeof head;
  if (text->len < skip || memcmp(text->data, magic, MAGIC) != 0)
    return err_set(err,
                   "%s is not a saved exploration; explore anew, without "
                   "--resume",
                   path);
  memcpy(head, text->data + MAGIC, sizeof head);
  if (head[0] != VERSION)
    return err_set(err,
                   "%s: an exploration of version %llu, this build reads %d; "
                   "explore anew, without --resume",
                   path, (unsigned long long)head[0], VERSION);
  Reader r = {.at = (const unsigned char *)text->data + skip,
              .end = (const unsigned char *)text->data + text->len,
              .arena = &e->graph.arena};
  r.bad = XXH3_64bits(r.at, text->len - skip) != head[1];
  get_places(&r, &e->graph);
  get_items(&r, &e->graph, &e->queue);
  get_results(&r, e);
  if (r.bad || r.at != r.end)
    return err_set(err,
                   "%s is damaged; explore anew, without --resume (the runs "
                   "are in the store)",
                   path);
  return 0;
}

int checkpoint_read(Explorer *e, const char *path, Err *err) {
  Str text = {0};
  int rc = fs_read(path, 0, &text, err);
  if (!rc)
    rc = read_body(e, &text, path, err);
  str_release(&text);
  if (rc)
    return -1;
  explorer_rescore(e);
  e->numbers = (uint32_t)e->graph.requests.len;
  e->progress.requests = e->numbers;
  e->progress.scripts = e->units.len;
  e->progress.lines = bitset_count(&e->lines);
  e->progress.branches = bitset_count(&e->conditions);
  e->progress.states = e->graph.states.len;
  return 0;
}
