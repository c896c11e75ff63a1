// The requests that a response suggests: see follow_ups.h.
#include "explore/follow_ups.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "explore/survey/script_requests.h"
#include "oracle/html/html_check.h"
#include "php/route.h"
#include "util/str.h"

enum { VARIED_MOST = 24 };

// --- what answers -----------------------------------------------------------

static Leads look(const WebApp *app, const char *path, Arena *arena) {
  Err ignored;
  Route route;
  if (route_find(&route, app, app->root, path, arena, &ignored))
    return LEADS_NOWHERE;
  switch (route.kind) {
  case ROUTE_SCRIPT:
    return LEADS_TO_SCRIPT;
  case ROUTE_DIRECTORY:
    return LEADS_TO_FILE;
  case ROUTE_FILE:
    return text_starts(content_type(route.file), "text/html") ? LEADS_TO_FILE
                                                              : LEADS_NOWHERE;
  default:
    return LEADS_NOWHERE;
  }
}

Leads route_leads(const WebApp *app, Hashmap *routes, const char *path,
                  Arena *arena) {
  uint64_t known;
  size_t n = strlen(path);
  if (!hashmap_get(routes, path, n, &known)) {
    known = look(app, path, arena);
    hashmap_put(routes, path, n, known);
  }
  return (Leads)known;
}

static void add(const FollowUpSource *f, QueueItems *out, QueueItem item) {
  Leads leads = route_leads(f->app, f->routes, item.ask.path, f->arena);
  item.plain = leads == LEADS_TO_FILE;
  if (leads != LEADS_NOWHERE)
    array_push(out, item);
}

static void add_all(const FollowUpSource *f, QueueItems *out, Asks *asks,
                    QueueItem like) {
  for (size_t i = 0; i < asks->len; i++) {
    like.ask = asks->items[i];
    add(f, out, like);
  }
  array_release(asks);
}

// --- pages ------------------------------------------------------------------

// A button may end a visit even if the form does not.
static bool presses_end(const Link *form, const Ask *a) {
  if (form->form && link_ends_something(a->path))
    return true;
  for (size_t i = 0; i < form->nfields; i++) {
    const Field *f = &form->fields[i];
    if (f->kind != FIELD_BUTTON ||
        (!link_ends_something(f->name) && !link_ends_something(f->value)))
      continue;
    for (size_t k = 0; k < a->nparams; k++)
      if (!strcmp(a->params[k].name, f->name) &&
          !strcmp(a->params[k].value, f->value))
        return true;
  }
  return false;
}

static void follow_links(const FollowUpSource *f, QueueItems *out) {
  const Links *links = &f->answer->links;
  for (size_t i = 0; i < links->len; i++) {
    const Link *l = &links->items[i];
    Asks asks = {0};
    if (l->form)
      ask_form(l, &asks, f->arena);
    else
      array_push(&asks, ask_link(l->path, l->query, f->arena));
    for (size_t k = 0; k < asks.len; k++)
      add(f, out,
          (QueueItem){.ask = asks.items[k],
                      .state = STATE_AFTER,
                      .origin = l->form ? ORIGIN_FORM : ORIGIN_LINK,
                      .last = l->last || presses_end(l, &asks.items[k])});
    array_release(&asks);
  }
}

static void follow_redirect(const FollowUpSource *f, QueueItems *out) {
  const Answer *a = f->answer;
  const char *to = headers_get(&a->exchange.response.headers, "Location");
  const char *path, *query;
  if (!to || !link_resolve(a->request.path, to, &path, &query, f->arena))
    return;
  add(f, out,
      (QueueItem){.ask = ask_link(path, query, f->arena),
                  .state = STATE_AFTER,
                  .origin = ORIGIN_LINK,
                  .last = f->item->last,
                  .redirect = true});
}

// --- comparisons ------------------------------------------------------------

// The value may come from an earlier request and be kept in the session.
static void solve_earlier(const FollowUpSource *f, const PhpCompare *c,
                          uint32_t step, QueueItems *out) {
  size_t n = f->path->len;
  for (size_t i = 0; i < n && i < HELD_MOST; i++) {
    const StateStep *s = &f->path->items[n - 1 - i];
    Asks asks = {0};
    request_solver_solve_earlier(f->solver, c, &s->ask, &asks, f->arena);
    add_all(f, out, &asks,
            (QueueItem){.state = s->from,
                        .origin = ORIGIN_SOLVED,
                        .compare = c,
                        .step = step});
  }
}

static void solve_one(const FollowUpSource *f, uint32_t step, QueueItems *out) {
  const PhpCompare *c = &f->record->compares[step];
  Asks asks = {0};
  request_solver_solve(f->solver, c, &f->item->ask, &asks, f->arena);
  if (!asks.len)
    solve_earlier(f, c, step, out);
  add_all(f, out, &asks,
          (QueueItem){.state = f->item->state,
                      .origin = ORIGIN_SOLVED,
                      .last = f->item->last,
                      .compare = c,
                      .step = step});
}

static bool is_number(const char *text) {
  char *end;
  strtod(text, &end);
  return *text && !*end;
}

// If all parameters are numbers, the next one is probably a number too.
static bool wants_numbers(const Ask *a) {
  for (size_t i = 0; i < a->nparams; i++)
    if (!is_number(a->params[i].value))
      return false;
  return a->nparams > 0;
}

static Ask with_numbers(const Ask *a, size_t from, Arena *arena) {
  Ask out = *a;
  for (size_t i = from; i < a->nparams; i++)
    out = ask_with(&out, a->params[i].place, a->params[i].name, "1", arena);
  return out;
}

// The step on the path at which a key of this request was first looked up.
static uint32_t absent_step(const FollowUpSource *f, const Ask *a) {
  const PhpRecord *r = f->record;
  const char *name = a->nparams ? a->params[a->nparams - 1].name : "";
  for (uint32_t i = 0; i < r->ncompares; i++)
    if (!strcmp(r->compares[i].right, name) && *r->compares[i].left == '_')
      return i;
  return 0;
}

static void solve_keys(const FollowUpSource *f, QueueItems *out) {
  Asks asks = {0}, more = {0};
  const Ask *own = &f->item->ask;
  absent_keys_add(f->record, own, &asks, f->arena);
  for (size_t i = 0; i < asks.len; i++) {
    if (wants_numbers(own))
      array_push(&more, with_numbers(&asks.items[i], own->nparams, f->arena));
    array_push(&more, asks.items[i]);
  }
  array_release(&asks);
  for (size_t i = 0; i < more.len; i++)
    add(f, out,
        (QueueItem){.ask = more.items[i],
                    .state = f->item->state,
                    .origin = ORIGIN_ABSENT,
                    .last = f->item->last,
                    .step = absent_step(f, &more.items[i])});
  array_release(&more);
}

static void solve_all(const FollowUpSource *f, QueueItems *out) {
  for (size_t i = 0; i < f->nsolved; i++)
    solve_one(f, f->solved[i], out);
  solve_keys(f, out);
  request_solver_learn(f->solver, f->record, &f->item->ask);
}

// --- other values -----------------------------------------------------------

static const char *another(const char *value, int way, Arena *arena) {
  if (!is_number(value))
    return way ? "1" : "w";
  double n = strtod(value, NULL);
  return arena_printf(arena, "%.15g", way ? n * 2 + 3 : n + 1);
}

// Replaces each value of a failing request by two others: a value that nothing
// is compared with may matter too, for instance to a division.
static void vary(const FollowUpSource *f, QueueItems *out) {
  const Ask *a = &f->item->ask;
  uint32_t n = 0;
  QueueItem like = {.state = f->item->state, .origin = ORIGIN_VARIED};
  like.last = f->item->last;
  for (int way = 0; way < 2; way++)
    for (size_t i = 0; i < a->nparams && n < VARIED_MOST; i++) {
      const Param *p = &a->params[i];
      if (p->page || p->place == IN_FILE)
        continue;
      const char *value = another(p->value, way, f->arena);
      like.ask = ask_with(a, p->place, p->name, value, f->arena);
      like.step = n++;
      add(f, out, like);
    }
}

// Programs rarely check a divisor: one more request has 0 for all numbers that
// were guessed.
static void try_zero(const FollowUpSource *f, QueueItems *out) {
  const Ask *a = &f->item->ask;
  Ask zero = *a;
  size_t n = 0;
  for (size_t i = 0; i < a->nparams; i++)
    if (!strcmp(a->params[i].value, "1") && !a->params[i].page) {
      zero =
          ask_with(&zero, a->params[i].place, a->params[i].name, "0", f->arena);
      n++;
    }
  if (n)
    add(f, out,
        (QueueItem){.ask = zero,
                    .state = f->item->state,
                    .origin = ORIGIN_ZERO,
                    .last = f->item->last});
}

static bool follow_scripts(const FollowUpSource *f, QueueItems *out) {
  const Answer *a = f->answer;
  const Response *r = &a->exchange.response;
  const char *type = headers_get(&r->headers, "Content-Type");
  Asks asks = {0};
  if (!html_is_page(type ? type : "text/html", r->body, r->body_len))
    return false;
  bool more = script_requests_find(r->body, r->body_len, a->request.path,
                                   f->app->root, &asks, f->arena);
  for (size_t i = 0; i < asks.len; i++)
    add(f, out,
        (QueueItem){.ask = asks.items[i],
                    .state = STATE_AFTER,
                    .origin = ORIGIN_LINK,
                    .last = asks.items[i].method == ASK_DELETE});
  array_release(&asks);
  return more;
}

bool follow_ups_of_page(const FollowUpSource *f, QueueItems *out) {
  if (f->answer->exchange.end != EXCHANGE_DONE)
    return false;
  follow_redirect(f, out);
  follow_links(f, out);
  return follow_scripts(f, out);
}

void follow_ups_of_input(const FollowUpSource *f, QueueItems *out) {
  if (f->record) {
    solve_all(f, out);
    try_zero(f, out);
  }
  if (f->failing)
    vary(f, out);
}
