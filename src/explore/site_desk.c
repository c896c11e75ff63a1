// Where one worker of the exploration sits: see site_desk.h.
#include "explore/site_desk.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "oracle/html/html.h"
#include "php/fresh.h"
#include "util/str.h"

// --- hidden values ----------------------------------------------------------

static bool has_value(const Hiddens *h, const Hidden *like) {
  for (size_t i = 0; i < h->len; i++)
    if (!strcmp(h->items[i].name, like->name) &&
        !strcmp(h->items[i].value, like->value))
      return true;
  return false;
}

// The n-th field of that form and name.
static const Hidden *find_nth(const Hiddens *h, const Hidden *like, size_t n) {
  for (size_t i = 0; i < h->len; i++)
    if (!strcmp(h->items[i].name, like->name) &&
        !strcmp(h->items[i].form, like->form) && !n--)
      return &h->items[i];
  return NULL;
}

static size_t place_of(const Hiddens *h, size_t at) {
  size_t n = 0;
  for (size_t i = 0; i < at; i++)
    n += !strcmp(h->items[i].name, h->items[at].name) &&
         !strcmp(h->items[i].form, h->items[at].form);
  return n;
}

const Swap *swaps_find(const Swap *before, const Hiddens *then,
                       const Hiddens *now, Str *names, Arena *arena) {
  for (size_t i = 0; i < then->len; i++) {
    const Hidden *old = &then->items[i];
    const Hidden *other = find_nth(now, old, place_of(then, i));
    if (!other || has_value(now, old))
      continue;
    Swap *s = arena_new(arena, Swap);
    *s = (Swap){.before = before,
                .old = arena_strdup(arena, old->value),
                .now = arena_strdup(arena, other->value)};
    before = s;
    if (names && !fresh_names(str_text(names), old->name))
      str_addf(names, "%s%s", names->len ? " " : "", old->name);
  }
  return before;
}

static const char *swapped(const Swap *s, const char *value, bool back) {
  for (; s; s = s->before)
    if (!strcmp(back ? s->now : s->old, value))
      return back ? s->old : s->now;
  return NULL;
}

static Ask swap_all(const Swap *swaps, const Ask *ask, bool back,
                    Arena *arena) {
  if (!swaps)
    return *ask;
  Param *params = arena_array(arena, Param, ask->nparams);
  for (size_t i = 0; i < ask->nparams; i++) {
    params[i] = ask->params[i];
    const char *other =
        params[i].page ? swapped(swaps, params[i].value, back) : NULL;
    if (other)
      params[i].value = other;
  }
  Ask out = *ask;
  out.params = params;
  return out;
}

Ask swaps_apply(const Swap *swaps, const Ask *ask, Arena *arena) {
  return swap_all(swaps, ask, false, arena);
}

Ask swaps_undo(const Swap *swaps, const Ask *ask, Arena *arena) {
  return swap_all(swaps, ask, true, arena);
}

Hiddens hiddens_undo(const Swap *swaps, const Hiddens *h, Arena *arena) {
  Hidden *list = arena_array(arena, Hidden, h->len);
  for (size_t i = 0; i < h->len; i++) {
    const char *old = swapped(swaps, h->items[i].value, true);
    list[i] = h->items[i];
    list[i].value = old ? old : list[i].value;
  }
  return (Hiddens){.items = list, .len = h->len};
}

// --- opening ----------------------------------------------------------------

int desk_open(Desk *d, const Visits *v, const char *maps, int number,
              Err *err) {
  *d = (Desk){0};
  if (seat_open(&d->seat, v, maps, number, SESSION_ID, err))
    return -1;
  Local start = {.here = true, .crumbs = crumbs_start()};
  desk_note(d, 0, &start, desk_key(d, &start));
  return 0;
}

void desk_close(Desk *d) {
  seat_close(&d->seat);
  array_release(&d->locals);
  hashmap_release(&d->keys);
  arena_release(&d->arena);
}

// --- worlds -----------------------------------------------------------------

const Local *desk_local(const Desk *d, uint32_t world) {
  return world < d->locals.len && d->locals.items[world].here
             ? &d->locals.items[world]
             : NULL;
}

void desk_note(Desk *d, uint32_t world, const Local *after, uint64_t key) {
  while (d->locals.len <= world)
    array_push(&d->locals, (Local){0});
  if (!d->locals.items[world].here) {
    d->locals.items[world] = *after;
    hashmap_put(&d->keys, &key, sizeof key, world);
  }
}

uint32_t desk_world(const Desk *d, uint64_t key) {
  uint64_t world;
  return hashmap_get(&d->keys, &key, sizeof key, &world) ? (uint32_t)world
                                                         : WORLD_NONE;
}

typedef struct {
  const Desk *desk;
  uint32_t state;
  char text[32];
} Renaming;

// A session's id is drawn by lot: what is in the session stands in for it.
static const char *rename_session(void *ctx, const char *value) {
  Renaming *r = ctx;
  uint64_t digest = state_session_digest(r->desk->seat.state, r->state, value);
  snprintf(r->text, sizeof r->text, "%016llx", (unsigned long long)digest);
  return digest ? r->text : NULL;
}

uint64_t desk_key(const Desk *d, const Local *at) {
  Renaming renaming = {.desk = d, .state = at->state};
  CookieJar *jar = crumbs_jar(at->crumbs);
  Str text = {0};
  str_addf(
      &text, "%016llx\n",
      (unsigned long long)state_digest(d->seat.state, at->state, d->seat.dir));
  cookie_jar_list(jar, rename_session, &renaming, &text);
  uint64_t key = XXH3_64bits(text.data, text.len);
  str_release(&text);
  cookie_jar_free(jar);
  return key;
}

// --- asking -----------------------------------------------------------------

static Links read_links(const Request *r, const Exchange *x, Arena *arena) {
  const Response *res = &x->response;
  const char *type = headers_get(&res->headers, "Content-Type");
  if (x->end != EXCHANGE_DONE ||
      !html_is_page(type ? type : "text/html", res->body, res->body_len))
    return (Links){0};
  return links_read(res->body, res->body_len, r->path, r->query, arena);
}

int desk_ask(Desk *d, const Local *from, const Ask *ask, unsigned number,
             Answer *out, Arena *arena, Err *err) {
  Ask sent = swaps_apply(from->swaps, ask, arena);
  *out = (Answer){0};
  ask_request(&sent, number, &out->request, arena);
  const char *cookies = crumbs_header(from->crumbs, sent.path, arena);
  if (seat_serve(&d->seat, &out->request, cookies, &out->exchange, arena,
                 err))
    return -1;
  out->links = read_links(&out->request, &out->exchange, arena);
  return 0;
}

int desk_leave(Desk *d, const Local *from, Answer *out, Err *err) {
  out->after = *from;
  out->after.here = true;
  if (state_save(d->seat.state, &out->after.state, err))
    return -1;
  const Crumb *brought =
      crumbs_bring(from->crumbs, &out->request.headers, &d->arena);
  out->after.crumbs = crumbs_take(brought, out->request.path,
                                  &out->exchange.response.headers, &d->arena);
  out->key = desk_key(d, &out->after);
  return 0;
}

// --- ways -------------------------------------------------------------------

static int go_again(Desk *d, const Stage *stage, Err *err) {
  Arena arena = {0};
  Answer answer;
  Local from = *desk_local(d, stage->from);
  int rc = desk_ask(d, &from, &stage->ask, 0, &answer, &arena, err);
  if (!rc)
    rc = desk_leave(d, &from, &answer, err);
  if (!rc) {
    Hiddens now = hiddens_of(&answer.links, &arena);
    answer.after.swaps =
        swaps_find(from.swaps, &stage->hiddens, &now, NULL, &d->arena);
    desk_note(d, stage->world, &answer.after, answer.key);
    d->replayed++;
  }
  arena_release(&arena);
  return rc;
}

int desk_go(Desk *d, const Way *way, Err *err) {
  size_t known = way->len;
  while (known && !desk_local(d, way->items[known - 1].world))
    known--;
  uint32_t world = known ? way->items[known - 1].world : 0;
  int rc = state_restore(d->seat.state, desk_local(d, world)->state, err);
  for (size_t i = known; !rc && i < way->len; i++)
    rc = go_again(d, &way->items[i], err);
  return rc;
}
