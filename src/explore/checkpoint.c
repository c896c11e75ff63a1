// The exploration on disk: see checkpoint.h. Each code_ function describes a
// part of the file, for writing and for reading: it writes the value it is
// given and returns it, or returns the value it has read.
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
enum { MAGIC = sizeof magic - 1, VERSION = 3, MOST = 1 << 28 };

typedef struct {
  Str *out;                      // NULL: reading
  const unsigned char *at, *end; // of what is read
  bool bad;                      // damaged: everything read from now on is 0
  Arena *arena;
} Codec;

// --- numbers and texts ------------------------------------------------------

static uint64_t code(Codec *c, uint64_t v) {
  if (c->out)
    leb_put(c->out, v);
  else if (c->bad || !leb_get(&c->at, c->end, &v))
    c->bad = true;
  return c->bad ? 0 : v;
}

static uint32_t code_below(Codec *c, uint64_t v, uint64_t limit) {
  v = code(c, v);
  c->bad |= !c->out && v >= limit;
  return c->bad ? 0 : (uint32_t)v;
}

static uint32_t code_u32(Codec *c, uint32_t v) {
  return code_below(c, v, UINT32_MAX);
}

// How many things of at least `size` bytes follow.
static size_t code_count(Codec *c, size_t n, size_t size) {
  n = code(c, n);
  c->bad |= !c->out && n > (size_t)(c->end - c->at) / size;
  return c->bad ? 0 : n;
}

static const char *code_text(Codec *c, const char *text) {
  size_t n = code_count(c, text ? strlen(text) : 0, 1);
  if (c->out) {
    str_addn(c->out, text, n);
    return text;
  }
  text = (const char *)c->at;
  c->bad |= n && memchr(text, '\0', n);
  if (c->bad)
    return "";
  c->at += n;
  return arena_strndup(c->arena, text, n);
}

static void code_bits(Codec *c, Bitset *b) {
  Str bytes = {0};
  Err ignored;
  if (c->out)
    bitset_write(b, &bytes);
  size_t n = code_count(c, bytes.len, 1);
  if (c->out)
    str_addn(c->out, str_text(&bytes), n);
  else if (c->bad || bitset_read(b, c->at, n, MOST, &ignored))
    c->bad = true;
  else
    c->at += n;
  str_release(&bytes);
}

// `n` items of at least `size` bytes, each by `one`.
#define CODE_ARRAY(c, T, items, n, size, one)                                  \
  do {                                                                         \
    (n) = code_count((c), (n), (size));                                        \
    T *fresh_ = (c)->out ? NULL : arena_array((c)->arena, T, (n));             \
    for (size_t i_ = 0; i_ < (n); i_++) {                                      \
      T one_ = one((c), fresh_ ? (T){0} : (items)[i_]);                        \
      if (fresh_)                                                              \
        fresh_[i_] = one_;                                                     \
    }                                                                          \
    (items) = fresh_ ? fresh_ : (items);                                       \
  } while (0)

// --- requests and states ----------------------------------------------------

static Param code_param(Codec *c, Param p) {
  p.name = code_text(c, p.name);
  p.value = code_text(c, p.value);
  uint32_t bits = (uint32_t)p.place << 2 | (unsigned)p.bare << 1 | p.page;
  bits = code_below(c, bits, (IN_FILE + 1) << 2);
  p.place = (ParamPlace)(bits >> 2);
  p.bare = bits & 2;
  p.page = bits & 1;
  return p;
}

static Ask code_ask(Codec *c, Ask a) {
  uint32_t bits = (uint32_t)a.method << 2 | (unsigned)a.json << 1 | a.post;
  bits = code_below(c, bits, ASK_METHODS << 2);
  a.post = bits & 1;
  a.json = bits & 2;
  a.method = (AskMethod)(bits >> 2);
  a.path = code_text(c, a.path);
  CODE_ARRAY(c, Param, a.params, a.nparams, 3, code_param);
  c->bad |= !c->out && *a.path != '/';
  return a;
}

static HiddenField code_field(Codec *c, HiddenField h) {
  h.form = code_text(c, h.form);
  h.name = code_text(c, h.name);
  h.value = code_text(c, h.value);
  return h;
}

static PathStep code_step(Codec *c, PathStep s) {
  s.condition = code_u32(c, s.condition);
  s.outcome = code_u32(c, s.outcome);
  return s;
}

// Its state is checked once all states are known.
static MadeRequest code_request(Codec *c, MadeRequest r) {
  r.ask = code_ask(c, r.ask);
  r.state = code_u32(c, r.state);
  r.page = code_u32(c, r.page);
  r.read = code(c, r.read);
  CODE_ARRAY(c, HiddenField, r.hidden.items, r.hidden.len, 3, code_field);
  CODE_ARRAY(c, PathStep, r.steps, r.nsteps, 2, code_step);
  return r;
}

// The newest one first.
static const CookieHistory *code_cookies(Codec *c, const CookieHistory *last) {
  size_t n = 0;
  for (const CookieHistory *h = last; h; h = h->before)
    n++;
  n = code_count(c, n, 2);
  CookieHistory *list = c->out ? NULL : arena_array(c->arena, CookieHistory, n);
  const CookieHistory *at = last;
  for (size_t i = 0; i < n; i++) {
    const char *path = code_text(c, at ? at->path : NULL);
    const char *value = code_text(c, at ? at->value : NULL);
    if (list)
      list[i] = (CookieHistory){i + 1 < n ? &list[i + 1] : NULL, path, value};
    at = at ? at->before : NULL;
  }
  return list && n ? list : last;
}

static VisitState code_state(Codec *c, VisitState s) {
  s.key = code(c, s.key);
  s.from = code_u32(c, s.from);
  s.by = code_u32(c, s.by);
  s.depth = code_u32(c, s.depth);
  s.written = code(c, s.written);
  s.role = code_u32(c, s.role);
  s.cookies = code_cookies(c, s.cookies);
  return s;
}

// Paths lead to the start: the state before is always nearer to it.
static void check_graph(Codec *c, const StateGraph *g) {
  for (size_t i = 0; i < g->requests.len; i++)
    c->bad |= g->requests.items[i].state >= g->states.len ||
              g->requests.items[i].page > g->requests.len;
  for (size_t i = 1; i < g->states.len; i++) {
    const VisitState *s = &g->states.items[i];
    c->bad |= !s->by || s->by > g->requests.len || s->from >= g->states.len ||
              g->states.items[s->from].depth >= s->depth;
  }
}

static void read_graph(Codec *c, StateGraph *g) {
  size_t n = code_count(c, 0, 8);
  for (size_t i = 0; i < n && !c->bad; i++) {
    MadeRequest made = code_request(c, (MadeRequest){0});
    array_push(&g->requests, made);
  }
  n = code_count(c, 0, 5);
  c->bad |= !n;
  g->states.len = 0;
  for (size_t i = 0; i < n && !c->bad; i++) {
    VisitState s = code_state(c, (VisitState){0});
    array_push(&g->states, s);
    hashmap_put(&g->index, &s.key, sizeof s.key, i);
  }
  check_graph(c, g);
}

static void write_graph(Codec *c, const StateGraph *g) {
  code(c, g->requests.len);
  for (size_t i = 0; i < g->requests.len; i++)
    code_request(c, g->requests.items[i]);
  code(c, g->states.len);
  for (size_t i = 0; i < g->states.len; i++)
    code_state(c, g->states.items[i]);
}

// --- outcomes ---------------------------------------------------------------

static void code_sides(Codec *c, OutcomeGoals *g) {
  size_t n = code_count(c, g->sides.len, 2);
  for (size_t i = 0; i < n && !c->bad; i++) {
    const ComparedSides *s = c->out ? &g->sides.items[i] : NULL;
    uint64_t compare = code(c, s ? s->compare : 0);
    uint32_t shown = code_below(c, s ? s->shown : 0, 4);
    if (!s && !c->bad)
      outcome_goals_add_sides(g, compare, shown);
    c->bad |= g->sides.len <= i;
  }
}

static void code_goals(Codec *c, OutcomeGoals *g) {
  code_sides(c, g);
  size_t n = code_count(c, g->goals.len, 7);
  for (size_t i = 0; i < n && !c->bad; i++) {
    OutcomeGoal o = c->out ? g->goals.items[i] : (OutcomeGoal){0};
    uint32_t barren = c->out ? g->barren.items[o.place] : 0;
    o.sides = code_below(c, o.sides, g->sides.len);
    o.outcome = code_below(c, o.outcome, 2);
    o.file = code_text(c, o.file);
    o.line = code_u32(c, o.line);
    o.text = code_text(c, o.text);
    o.tries = code_u32(c, o.tries);
    barren = code_u32(c, barren);
    if (!c->out && !c->bad)
      outcome_goals_add(g, &o, barren);
  }
}

// --- the queue --------------------------------------------------------------

static QueueItem code_item(Codec *c, QueueItem i, const Explorer *e) {
  const StateGraph *g = &e->graph;
  size_t ngoals = e->goals.goals.len;
  i.ask = code_ask(c, i.ask);
  i.state = code_below(c, i.state, g->states.len);
  i.origin = (RequestOrigin)code_below(c, i.origin, ORIGINS);
  uint32_t bits = (unsigned)i.fresh | (unsigned)i.last << 1 |
                  (unsigned)i.lucky << 2 | (unsigned)i.plain << 3 |
                  (unsigned)i.redirect << 4 | (unsigned)i.account << 5 |
                  (unsigned)i.early << 6;
  bits = code_below(c, bits, 128);
  i.goal = code_below(c, i.goal, ngoals + 1);
  i.fresh = bits & 1;
  i.last = bits & 2;
  i.lucky = bits & 4;
  i.plain = bits & 8;
  i.redirect = bits & 16;
  i.account = bits & 32;
  i.early = bits & 64;
  i.role = code_u32(c, i.role);
  i.tried = code_u32(c, i.tried);
  i.page = code_below(c, i.page, g->requests.len + 1);
  i.base = code_below(c, i.base, g->requests.len + 1);
  i.step = code_u32(c, i.step);
  return i;
}

// Requests that are being made or solved for come first again.
static void write_queue(Codec *c, const Explorer *e) {
  QueueItems busy = {0};
  for (int i = 0; i < e->nworkers; i++) {
    const ExploreWorker *p = &e->workers[i];
    if (p->busy && !p->given)
      array_push(&busy, p->item);
    if (p->pending.open)
      array_push(&busy, p->pending.item);
  }
  const QueueItems *queued = &e->queue.items;
  code(c, busy.len + queued->len);
  for (size_t i = 0; i < busy.len; i++)
    code_item(c, busy.items[i], e);
  for (size_t i = 0; i < queued->len; i++)
    code_item(c, queued->items[i], e);
  array_release(&busy);
}

static void read_queue(Codec *c, Explorer *e) {
  const StateGraph *g = &e->graph;
  Queue *q = &e->queue;
  for (size_t i = 0; i < g->requests.len && !c->bad; i++)
    queue_note(q, &g->requests.items[i].ask, g->requests.items[i].state,
               g->requests.items[i].read);
  size_t n = code_count(c, 0, 8);
  for (size_t i = 0; i < n && !c->bad; i++) {
    QueueItem item = code_item(c, (QueueItem){.score = -1}, e);
    if (c->bad)
      return;
    explorer_place(e, &item);
    queue_add(q, item);
  }
}

// --- what it has learned ----------------------------------------------------

static AccountForm code_form(Codec *c, AccountForm f) {
  f.ask = code_ask(c, f.ask);
  f.password = code_text(c, f.password);
  f.nnames = code_below(c, f.nnames, ACCOUNT_NAMES + 1);
  for (size_t i = 0; i < f.nnames; i++)
    f.names[i] = code_text(c, f.names[i]);
  return f;
}

// A login has a name.
static void code_forms(Codec *c, Accounts *a, bool login) {
  const AccountForm *forms = login ? a->logins.items : a->registrations.items;
  size_t n = login ? a->logins.len : a->registrations.len;
  n = code_count(c, n, 5);
  for (size_t i = 0; i < n && !c->bad; i++) {
    AccountForm f = code_form(c, c->out ? forms[i] : (AccountForm){0});
    c->bad |= !f.nnames;
    if (!c->out && !c->bad)
      accounts_add_form(a, login, &f);
  }
}

static void code_hashes(Codec *c, Accounts *a) {
  size_t n = code_count(c, a->hashes.len, 8);
  for (size_t i = 0; i < n && !c->bad; i++) {
    HashCompare h = c->out ? a->hashes.items[i] : (HashCompare){0};
    h.compare.kind = code_below(c, h.compare.kind, COMPARE_BRANCH + 1);
    h.compare.held = code_below(c, h.compare.held, 2);
    h.compare.file = code_text(c, h.compare.file);
    h.compare.line = code_u32(c, h.compare.line);
    h.compare.right = code_text(c, h.compare.right);
    h.function = code_text(c, h.function);
    h.ask = code_ask(c, h.ask);
    if (!c->out && !c->bad)
      accounts_add_hash(a, &h);
  }
}

static void code_accounts(Codec *c, Accounts *a) {
  code_forms(c, a, true);
  code_forms(c, a, false);
  code_hashes(c, a);
  size_t n = code_count(c, a->beside.len, 1);
  for (size_t i = 0; i < n && !c->bad; i++) {
    const char *pair = code_text(c, c->out ? a->beside.items[i] : NULL);
    if (!c->out && !c->bad)
      accounts_add_beside(a, pair);
  }
  n = code_count(c, a->found.len, 3);
  for (size_t i = 0; i < n && !c->bad; i++) {
    Ask ask = code_ask(c, c->out ? a->found.items[i] : (Ask){0});
    if (!c->out && !c->bad)
      accounts_add_found(a, &ask);
  }
}

static void code_good(Codec *c, GoodValues *g) {
  size_t n = code_count(c, g->items.len, 4);
  for (size_t i = 0; i < n && !c->bad; i++) {
    GoodValue v = c->out ? g->items.items[i] : (GoodValue){0};
    v.page = code(c, v.page);
    v.param = code_param(c, v.param);
    if (!c->out && !c->bad)
      good_values_add(g, v.page, &v.param);
  }
}

static void code_texts(Codec *c, OddTexts *t) {
  size_t n = code_count(c, t->texts.len, 1);
  for (size_t i = 0; i < n && !c->bad; i++) {
    const char *text = code_text(c, c->out ? t->texts.items[i] : NULL);
    if (!c->out && !c->bad)
      odd_texts_add(t, text, strlen(text));
  }
  t->next = code(c, t->next);
}

static void code_roles(Codec *c, Explorer *e) {
  size_t n = code_count(c, e->roles.len, 1);
  for (size_t i = 0; i < n && !c->bad; i++) {
    uint32_t state =
        code_below(c, c->out ? e->roles.items[i] : 0, e->graph.states.len);
    if (!c->out && !c->bad)
      explorer_add_role(e, state);
  }
  e->logged_in = code(c, e->logged_in);
}

static void code_learned(Codec *c, Explorer *e) {
  code_accounts(c, &e->accounts);
  code_good(c, &e->good);
  code_texts(c, &e->texts);
  code_roles(c, e);
}

// --- results ----------------------------------------------------------------

static uint32_t code_number(Codec *c, uint32_t number, const Explorer *e) {
  number = code_below(c, number, e->graph.requests.len + 1);
  c->bad |= !c->out && !number;
  return number;
}

static void code_failures(Codec *c, Explorer *e) {
  size_t n = code_count(c, e->failures.len, 2);
  for (size_t i = 0; i < n && !c->bad; i++) {
    const FoundFailure *f = c->out ? &e->failures.items[i] : NULL;
    const char *signature = code_text(c, f ? f->signature : NULL);
    uint32_t number = code_number(c, f ? f->number : 0, e);
    if (!f && !c->bad)
      explorer_add_failure(e, signature, number);
  }
}

// 32 hexadecimal digits each.
static void code_scripts(Codec *c, Explorer *e) {
  size_t n = code_count(c, e->scripts_seen.len, 1);
  for (size_t i = 0; i < n && !c->bad; i++) {
    char hex[2 * sizeof(UnitId) + 1] = "";
    UnitId unit = {0};
    if (c->out)
      unit = e->scripts_seen.items[i];
    for (size_t k = 0; k < sizeof unit; k++)
      snprintf(hex + 2 * k, 3, "%02x", unit.bytes[k]);
    const char *text = code_text(c, hex);
    c->bad |= strlen(text) != sizeof hex - 1;
    for (size_t k = 0; !c->bad && k < sizeof unit; k++)
      c->bad |= sscanf(text + 2 * k, "%2hhx", &unit.bytes[k]) != 1;
    if (!c->out && !c->bad)
      explorer_take_script(e, &unit);
  }
}

static void code_target(Codec *c, Explorer *e) {
  TargetFailure *t = &e->target;
  const char *signature = code_text(c, t->signature ? t->signature : "");
  if (!c->out && *signature && explorer_is_directed(e))
    target_failure_set(t, signature);
  size_t n = code_count(c, t->failing.len, 1);
  for (size_t i = 0; i < n && !c->bad; i++) {
    uint32_t number =
        code_number(c, c->out ? t->failing.items[i].number : 0, e);
    if (!c->out && !c->bad && *signature)
      target_failure_add(t, number);
  }
}

// A user's list that was not finished is made again from its beginning.
static void code_results(Codec *c, Explorer *e) {
  code_bits(c, &e->lines);
  code_bits(c, &e->conditions);
  code_failures(c, e);
  code_scripts(c, e);
  e->progress.statements = code(c, e->progress.statements);
  e->resumed = c->out ? e->resumed : e->progress.statements;
  uint64_t given = code(c, explorer_is_given_left(e) ? 0 : e->given);
  e->given = c->out ? e->given : given;
  e->progress.failing = code(c, e->progress.failing);
  e->queue.dropped = code(c, e->queue.dropped);
  code_target(c, e);
}

// --- the file ---------------------------------------------------------------

static int replace(const char *path, const Str *text, Err *err) {
  char *fresh = mem_printf("%s.new", path);
  int rc = fs_write(fresh, text->data, text->len, err);
  if (!rc && rename(fresh, path))
    rc = err_set(err, "%s: %s", path, strerror(errno));
  free(fresh);
  return rc;
}

int checkpoint_write(Explorer *e, const char *path, Err *err) {
  Str body = {0}, text = {0};
  Codec c = {.out = &body};
  write_graph(&c, &e->graph);
  code_goals(&c, &e->goals);
  write_queue(&c, e);
  code_results(&c, e);
  code_learned(&c, e);
  uint64_t head[2] = {VERSION, XXH3_64bits(body.data, body.len)};
  str_addn(&text, magic, MAGIC);
  str_addn(&text, head, sizeof head);
  str_addn(&text, body.data, body.len);
  int rc = replace(path, &text, err);
  str_release(&body);
  str_release(&text);
  return rc;
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
  Codec c = {.at = (const unsigned char *)text->data + skip,
             .end = (const unsigned char *)text->data + text->len,
             .arena = &e->graph.arena};
  c.bad = XXH3_64bits(c.at, text->len - skip) != head[1];
  read_graph(&c, &e->graph);
  code_goals(&c, &e->goals);
  read_queue(&c, e);
  code_results(&c, e);
  code_learned(&c, e);
  if (c.bad || c.at != c.end)
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
