// An exploration on disk: see site_saved.h.
#include "explore/site_saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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

static void put_asked(Str *out, const Asked *a) {
  put_ask(out, &a->ask);
  leb_put(out, a->world);
  leb_put(out, a->page);
  leb_put(out, a->hiddens.len);
  for (size_t i = 0; i < a->hiddens.len; i++) {
    put_text(out, a->hiddens.items[i].form);
    put_text(out, a->hiddens.items[i].name);
    put_text(out, a->hiddens.items[i].value);
  }
  leb_put(out, a->nsteps);
  for (size_t i = 0; i < a->nsteps; i++) {
    leb_put(out, a->steps[i].condition);
    leb_put(out, a->steps[i].outcome);
  }
}

static void put_crumbs(Str *out, const Crumb *last) {
  size_t n = 0;
  for (const Crumb *c = last; c; c = c->before)
    n++;
  leb_put(out, n);
  for (; last; last = last->before) { // the last one first
    put_text(out, last->path);
    put_text(out, last->value);
  }
}

static void put_world(Str *out, const World *w) {
  leb_put(out, w->key);
  leb_put(out, w->from);
  leb_put(out, w->by);
  leb_put(out, w->depth);
  put_crumbs(out, w->crumbs);
}

static void put_item(Str *out, const QueueItem *i) {
  put_ask(out, &i->ask);
  leb_put(out, i->world);
  leb_put(out, i->why);
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

static void put_items(Str *out, const Queue *q, const QueueItem *extra,
                      size_t nextra) {
  leb_put(out, q->items.len + nextra);
  for (size_t i = 0; i < nextra; i++)
    put_item(out, &extra[i]);
  for (size_t i = 0; i < q->items.len; i++)
    put_item(out, &q->items.items[i]);
}

static void put_places(Str *out, const Atlas *a) {
  leb_put(out, a->asked.len);
  for (size_t i = 0; i < a->asked.len; i++)
    put_asked(out, &a->asked.items[i]);
  leb_put(out, a->worlds.len);
  for (size_t i = 0; i < a->worlds.len; i++)
    put_world(out, &a->worlds.items[i]);
}

static void put_results(Str *out, const Saved *s) {
  put_bits(out, s->lines);
  put_bits(out, s->conditions);
  leb_put(out, s->shown.len);
  for (size_t i = 0; i < s->shown.len; i++) {
    put_text(out, s->shown.items[i].signature);
    leb_put(out, s->shown.items[i].number);
  }
  leb_put(out, s->scripts.len);
  for (size_t i = 0; i < s->scripts.len; i++)
    put_text(out, s->scripts.items[i]);
  leb_put(out, s->statements);
  leb_put(out, s->given);
  leb_put(out, s->failing);
  leb_put(out, s->dropped);
  put_text(out, s->target ? s->target : "");
  leb_put(out, s->ntargets);
  for (size_t i = 0; i < s->ntargets; i++)
    leb_put(out, s->targets[i]);
}

static int replace(const char *path, const Str *text, Err *err) {
  char *fresh = mem_printf("%s.new", path);
  int rc = fs_write(fresh, text->data, text->len, err);
  if (!rc && rename(fresh, path))
    rc = err_set(err, "%s: %s", path, strerror(errno));
  free(fresh);
  return rc;
}

int saved_write(const Saved *s, const QueueItem *extra, size_t nextra,
                const char *path, Err *err) {
  Str body = {0}, text = {0};
  put_places(&body, s->atlas);
  put_items(&body, s->queue, extra, nextra);
  put_results(&body, s);
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
  bool bad; // and so is all that follows
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

static Hiddens get_hiddens(Reader *r) {
  Hiddens h = {.len = get_count(r, 3)};
  Hidden *list = arena_array(r->arena, Hidden, h.len);
  for (size_t i = 0; i < h.len; i++) {
    list[i].form = get_text(r);
    list[i].name = get_text(r);
    list[i].value = get_text(r);
  }
  h.items = list;
  return h;
}

static Asked get_asked(Reader *r) {
  Asked a = {.ask = get_ask(r)};
  a.world = get_below(r, UINT32_MAX); // checked once all worlds are known
  a.page = get_below(r, UINT32_MAX);
  a.hiddens = get_hiddens(r);
  a.nsteps = get_count(r, 2);
  PathStep *steps = arena_array(r->arena, PathStep, a.nsteps);
  for (size_t i = 0; i < a.nsteps; i++) {
    steps[i].condition = get_below(r, UINT32_MAX);
    steps[i].outcome = get_below(r, UINT32_MAX);
  }
  a.steps = steps;
  return a;
}

static const Crumb *get_crumbs(Reader *r) {
  size_t n = get_count(r, 2);
  Crumb *list = arena_array(r->arena, Crumb, n);
  for (size_t i = 0; i < n; i++) {
    list[i].path = get_text(r);
    list[i].value = get_text(r);
    list[i].before = i + 1 < n ? &list[i + 1] : NULL;
  }
  return n ? list : NULL;
}

static World get_world(Reader *r, size_t number, size_t nasked) {
  World w = {.key = get(r)};
  w.from = get_below(r, UINT32_MAX);
  w.by = get_below(r, nasked + 1);
  w.depth = get_below(r, UINT32_MAX);
  w.crumbs = get_crumbs(r);
  r->bad |= number && !w.by;
  return w;
}

// Ways lead to the start: the world before is always nearer to it.
static void check_places(Reader *r, const Atlas *a) {
  for (size_t i = 0; i < a->asked.len; i++)
    r->bad |= a->asked.items[i].world >= a->worlds.len ||
              a->asked.items[i].page > a->asked.len;
  for (size_t i = 1; i < a->worlds.len; i++) {
    const World *w = &a->worlds.items[i];
    r->bad |=
        w->from >= a->worlds.len || a->worlds.items[w->from].depth >= w->depth;
  }
}

static void get_places(Reader *r, Atlas *a) {
  size_t n = get_count(r, 8);
  for (size_t i = 0; i < n && !r->bad; i++) {
    Asked asked = get_asked(r);
    array_push(&a->asked, asked);
  }
  n = get_count(r, 5);
  r->bad |= !n;
  a->worlds.len = 0;
  for (size_t i = 0; i < n && !r->bad; i++) {
    World w = get_world(r, i, a->asked.len);
    array_push(&a->worlds, w);
    hashmap_put(&a->index, &w.key, sizeof w.key, i);
  }
  check_places(r, a);
}

static QueueItem get_item(Reader *r, const Atlas *a) {
  QueueItem i = {.ask = get_ask(r), .score = -1};
  i.world = get_below(r, a->worlds.len);
  i.why = (Why)get_below(r, WHYS);
  uint32_t bits = get_below(r, 32);
  i.fresh = bits & 1;
  i.last = bits & 2;
  i.lucky = bits & 4;
  i.plain = bits & 8;
  i.redirect = bits & 16;
  i.depth = get_below(r, UINT32_MAX);
  i.page = get_below(r, a->asked.len + 1);
  i.base = get_below(r, a->asked.len + 1);
  i.step = get_below(r, UINT32_MAX);
  return i;
}

static void get_items(Reader *r, const Atlas *a, Queue *q) {
  for (size_t i = 0; i < a->asked.len && !r->bad; i++)
    queue_note(q, &a->asked.items[i].ask, a->asked.items[i].world);
  size_t n = get_count(r, 8);
  for (size_t i = 0; i < n && !r->bad; i++) {
    QueueItem item = get_item(r, a);
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

static void get_shown(Reader *r, Saved *s) {
  s->shown.len = get_count(r, 2);
  s->shown.items = arena_array(r->arena, Shown, s->shown.len);
  for (size_t i = 0; i < s->shown.len; i++) {
    s->shown.items[i].signature = get_text(r);
    s->shown.items[i].number = get_below(r, s->atlas->asked.len + 1);
    r->bad |= !s->shown.items[i].number;
  }
}

static void get_results(Reader *r, Saved *s) {
  get_bits(r, s->lines);
  get_bits(r, s->conditions);
  get_shown(r, s);
  s->scripts.len = get_count(r, 1);
  s->scripts.items = arena_array(r->arena, const char *, s->scripts.len);
  for (size_t i = 0; i < s->scripts.len; i++)
    s->scripts.items[i] = get_text(r);
  s->statements = get(r);
  s->given = get(r);
  s->failing = get(r);
  s->dropped = get(r);
  s->target = get_text(r);
  s->ntargets = get_count(r, 1);
  uint32_t *targets = arena_array(r->arena, uint32_t, s->ntargets);
  for (size_t i = 0; i < s->ntargets; i++) {
    targets[i] = get_below(r, s->atlas->asked.len + 1);
    r->bad |= !targets[i];
  }
  s->targets = targets;
}

static int read_body(Saved *s, const Str *text, const char *path, Err *err) {
  uint64_t head[2];
  size_t skip = MAGIC + sizeof head;
  if (text->len < skip || memcmp(text->data, magic, MAGIC) != 0)
    return err_set(err, "%s: no exploration that could be gone on with", path);
  memcpy(head, text->data + MAGIC, sizeof head);
  if (head[0] != VERSION)
    return err_set(err,
                   "%s: an exploration of version %llu, this build reads %d; "
                   "explore anew, without --resume",
                   path, (unsigned long long)head[0], VERSION);
  Reader r = {.at = (const unsigned char *)text->data + skip,
              .end = (const unsigned char *)text->data + text->len,
              .arena = &s->atlas->arena};
  r.bad = XXH3_64bits(r.at, text->len - skip) != head[1];
  get_places(&r, s->atlas);
  get_items(&r, s->atlas, s->queue);
  get_results(&r, s);
  if (r.bad || r.at != r.end)
    return err_set(err,
                   "%s is damaged; explore anew, without --resume (the runs "
                   "are in the store)",
                   path);
  return 0;
}

int saved_read(Saved *s, const char *path, Err *err) {
  Str text = {0};
  int rc = fs_read(path, 0, &text, err);
  if (!rc)
    rc = read_body(s, &text, path, err);
  str_release(&text);
  return rc;
}
