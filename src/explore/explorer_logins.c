// Who is logged in: the user's logins made again in other states, accounts that
// were registered or found, roles, and logins that failed. All of it under the
// lock of explorer.c.
#include <stdio.h>
#include <string.h>

#include "explore/explorer_internal.h"
#include "php/fresh.h"
#include "util/str.h"

enum {
  ROLES_MOST = 8,  // in which what is found is requested
  GIVEN_AGAIN = 8, // of the user's requests, made in other states
};

// --- logins again -----------------------------------------------------------

static void offer_login(Explorer *e, const Ask *ask, uint32_t state,
                        uint32_t role) {
  explorer_offer(
      e, (QueueItem){
             .ask = *ask, .state = state, .origin = ORIGIN_LINK, .role = role});
}

// Makes the user's requests again in the new state: the editor logs in after a
// visitor has sent something. Leaves out requests that need the page before
// them. Logins that were found are as good.
void explorer_offer_given(Explorer *e, uint32_t state, Arena *arena) {
  const Requests *list = e->options->first;
  Ask ask;
  for (size_t i = 0; list && i < list->len && i < GIVEN_AGAIN; i++) {
    const Request *r = &list->items[i];
    if (!headers_get(&r->headers, FRESH_HEADER) &&
        (r->login || !i || r->visitor != r[-1].visitor) &&
        ask_from(r, &ask, arena))
      offer_login(e, &ask, state, (uint32_t)i + 1);
  }
  for (size_t i = 0; i < e->accounts.found.len; i++)
    offer_login(e, &e->accounts.found.items[i], state,
                ROLE_BESIDE + (uint32_t)i);
}

void explorer_add_role(Explorer *e, uint32_t state) {
  for (size_t i = 0; i < e->roles.len; i++)
    if (e->roles.items[i] == state)
      return;
  if (e->roles.len < ROLES_MOST)
    array_push(&e->roles, state);
}

static bool redirects(const Answer *a) {
  return headers_get(&a->exchange.response.headers, "Location") != NULL;
}

// Nobody sees the page of a redirect.
static bool shows_form(const Answer *a, const Ask *login) {
  return !redirects(a) && accounts_asks_again(&a->links, login);
}

// A login with a name that was found beside another one has worked, as far as
// one can see.
void explorer_take_found(Explorer *e, const ExploreWorker *p, uint32_t state) {
  const QueueItem *i = &p->item;
  const Answer *a = &p->result.answer;
  if (i->role < ROLE_BESIDE || i->role == ROLE_ACCOUNT || i->state ||
      a->exchange.response.status >= 400 || shows_form(a, &i->ask))
    return;
  accounts_add_found(&e->accounts, &i->ask);
  explorer_add_role(e, state);
}

// --- other accounts ---------------------------------------------------------

// Logs in with an account that the request has made, if it has.
void explorer_offer_logins(Explorer *e, ExploreWorker *p, uint32_t after) {
  Asks logins = {0};
  accounts_note_forms(&e->accounts, &p->result.answer.links);
  if (p->run && p->item.ask.post && after != p->item.state)
    accounts_logins_after(&e->accounts, &p->item.ask, &logins,
                          &p->result.arena);
  for (size_t i = 0; i < logins.len; i++)
    explorer_offer(e, (QueueItem){.ask = logins.items[i],
                                  .state = after,
                                  .origin = ORIGIN_FORM,
                                  .account = true,
                                  .role = ROLE_ACCOUNT,
                                  .base = p->run});
  array_release(&logins);
}

// Logs in with names that the page shows beside those of the user's logins.
void explorer_offer_beside(Explorer *e, ExploreWorker *p) {
  const Requests *list = e->options->first;
  const Response *r = &p->result.answer.exchange.response;
  Asks logins = {0};
  Ask ask;
  for (size_t i = 0; r->body && list && i < list->len && i < GIVEN_AGAIN; i++)
    if (ask_from(&list->items[i], &ask, &p->result.arena))
      accounts_logins_beside(&e->accounts, &ask, r->body, r->body_len, &logins,
                             &p->result.arena);
  for (size_t i = 0; i < logins.len; i++)
    explorer_offer(
        e, (QueueItem){.ask = logins.items[i],
                       .origin = ORIGIN_FORM,
                       .account = true,
                       .role = ROLE_BESIDE + (uint32_t)e->accounts.beside.len,
                       .base = p->run});
  array_release(&logins);
}

// --- logins that failed -----------------------------------------------------

// The request of the user's list that it is, if that is a login; NULL: it is
// none.
static const Request *login_of(const Explorer *e, uint32_t role) {
  const Requests *list = e->options->first;
  if (!list || !role || role > list->len || !list->items[role - 1].login)
    return NULL;
  return &list->items[role - 1];
}

static void warn_login(Explorer *e, const Request *login, const char *what) {
  Str text = {0};
  Arena arena = {0};
  Ask ask;
  if (e->options->warn && ask_from(login, &ask, &arena)) {
    str_add(&text, "--login '");
    accounts_name_login(&e->accounts, &ask, &text);
    str_addf(&text,
             "': the login seems to have failed: %s; exploring goes on without "
             "it. Check its name, password and fields",
             what);
    e->options->warn(str_text(&text));
  }
  str_release(&text);
  arena_release(&arena);
}

void explorer_check_login(Explorer *e, const ExploreWorker *p, uint32_t after) {
  const Request *login = login_of(e, p->item.role);
  const Answer *a = &p->result.answer;
  int status = a->exchange.response.status;
  char what[64];
  if (!login)
    return;
  snprintf(what, sizeof what, "the answer was %d", status);
  if (status >= 400)
    warn_login(e, login, what);
  else if (shows_form(a, &p->item.ask))
    warn_login(e, login, "the answer shows the login form again");
  else if (after == p->item.state)
    warn_login(e, login,
               e->options->visits->tree_is_state
                   ? "it changed neither cookies nor the session"
                   : "it changed neither cookies nor the session, nor what "
                     "--state names");
  else if (redirects(a))
    array_push(&e->redirected, (RedirectedLogin){p->run, p->item.role});
}

void explorer_check_redirected(Explorer *e, const ExploreWorker *p) {
  const Answer *a = &p->result.answer;
  for (size_t i = 0; i < e->redirected.len; i++) {
    RedirectedLogin *r = &e->redirected.items[i];
    const MadeRequest *by = state_graph_request(&e->graph, r->run);
    const Request *login = login_of(e, r->role);
    if (r->run != p->item.base || !by || !login)
      continue;
    if (shows_form(a, &by->ask))
      warn_login(e, login,
                 "the page that it redirects to shows the login form again");
    r->run = redirects(a) ? p->run : 0;
  }
}
