// Drives one instance of the application: see app_driver.h.
#include "explore/app_driver.h"

#include <stdio.h>
#include <xxhash.h>

#include "oracle/html/html_check.h"

// --- opening ----------------------------------------------------------------

int app_driver_open(AppDriver *d, const Visits *v, const char *maps, int number,
                    Err *err) {
  *d = (AppDriver){0};
  if (app_instance_open(&d->instance, v, maps, number, SESSION_ID, err))
    return -1;
  LocalState start = {.known = true, .cookies = cookie_history_start()};
  app_driver_note(d, 0, &start, app_driver_key(d, &start));
  return 0;
}

void app_driver_close(AppDriver *d) {
  app_instance_close(&d->instance);
  array_release(&d->locals);
  hashmap_release(&d->keys);
  arena_release(&d->arena);
}

// --- states -----------------------------------------------------------------

const LocalState *app_driver_at(const AppDriver *d, uint32_t state) {
  return state < d->locals.len && d->locals.items[state].known
             ? &d->locals.items[state]
             : NULL;
}

void app_driver_note(AppDriver *d, uint32_t state, const LocalState *after,
                     uint64_t key) {
  while (d->locals.len <= state)
    array_push(&d->locals, (LocalState){0});
  if (!d->locals.items[state].known) {
    d->locals.items[state] = *after;
    hashmap_put(&d->keys, &key, sizeof key, state);
  }
}

uint32_t app_driver_find(const AppDriver *d, uint64_t key) {
  uint64_t state;
  return hashmap_get(&d->keys, &key, sizeof key, &state) ? (uint32_t)state
                                                         : STATE_NONE;
}

typedef struct {
  const AppDriver *driver;
  uint32_t saved;
  char text[32];
} Renaming;

// Session ids are random: the session's content identifies it.
static const char *rename_session(void *ctx, const char *value) {
  Renaming *r = ctx;
  uint64_t digest =
      app_state_session_digest(r->driver->instance.state, r->saved, value);
  snprintf(r->text, sizeof r->text, "%016llx", (unsigned long long)digest);
  return digest ? r->text : NULL;
}

uint64_t app_driver_key(const AppDriver *d, const LocalState *at) {
  Renaming renaming = {.driver = d, .saved = at->saved};
  CookieJar *jar = cookie_history_jar(at->cookies);
  Str text = {0};
  str_addf(&text, "%016llx\n",
           (unsigned long long)app_state_digest(d->instance.state, at->saved,
                                                d->instance.dir));
  cookie_jar_list(jar, rename_session, &renaming, &text);
  uint64_t key = XXH3_64bits(text.data, text.len);
  str_release(&text);
  cookie_jar_free(jar);
  return key;
}

// --- asking -----------------------------------------------------------------

static Links read_links(const AppDriver *d, const Request *r, const Exchange *x,
                        Arena *arena) {
  const Response *res = &x->response;
  const char *type = headers_get(&res->headers, "Content-Type");
  if (x->end != EXCHANGE_DONE ||
      !html_is_page(type ? type : "text/html", res->body, res->body_len))
    return (Links){0};
  return links_read(res->body, res->body_len,
                    worker_app(d->instance.worker)->host, r->path, r->query,
                    arena);
}

int app_driver_send(AppDriver *d, const LocalState *from, const Ask *ask,
                    unsigned number, Answer *out, Arena *arena, Err *err) {
  Ask sent = value_swaps_apply(from->swaps, ask, arena);
  *out = (Answer){0};
  ask_request(&sent, number, &out->request, arena);
  const char *cookies = cookie_history_header(from->cookies, sent.path, arena);
  if (app_instance_serve(&d->instance, &out->request, cookies, &out->exchange,
                         arena, err))
    return -1;
  out->links = read_links(d, &out->request, &out->exchange, arena);
  return 0;
}

int app_driver_save(AppDriver *d, const LocalState *from, Answer *out,
                    Err *err) {
  out->after = *from;
  out->after.known = true;
  if (app_state_save(d->instance.state, &out->after.saved, err))
    return -1;
  const CookieHistory *brought =
      cookie_history_bring(from->cookies, &out->request.headers, &d->arena);
  out->after.cookies = cookie_history_take(
      brought, out->request.path, &out->exchange.response.headers, &d->arena);
  out->key = app_driver_key(d, &out->after);
  return 0;
}

// --- paths ------------------------------------------------------------------

static int go_again(AppDriver *d, const StateStep *step, Err *err) {
  Arena arena = {0};
  Answer answer;
  LocalState from = *app_driver_at(d, step->from);
  int rc = app_driver_send(d, &from, &step->ask, 0, &answer, &arena, err);
  if (!rc && answer.exchange.cut) {
    d->cut = true;
    rc = err_set(err, "time is up");
  }
  if (!rc)
    rc = app_driver_save(d, &from, &answer, err);
  if (!rc) {
    HiddenFields now = hidden_fields_of(&answer.links, &arena);
    answer.after.swaps =
        value_swaps_find(from.swaps, &step->hidden, &now, NULL, &d->arena);
    app_driver_note(d, step->state, &answer.after, answer.key);
    d->replayed++;
  }
  arena_release(&arena);
  return rc;
}

int app_driver_go(AppDriver *d, const StatePath *path, Err *err) {
  size_t known = path->len;
  while (known && !app_driver_at(d, path->items[known - 1].state))
    known--;
  uint32_t state = known ? path->items[known - 1].state : 0;
  int rc =
      app_state_restore(d->instance.state, app_driver_at(d, state)->saved, err);
  for (size_t i = known; !rc && i < path->len; i++)
    rc = go_again(d, &path->items[i], err);
  return rc;
}
