// Reproduces a failure: see reproduction.h.
#include "explore/reproduction.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "php/fresh.h"
#include "util/clock.h"
#include "util/ddmin.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

// --- making it again --------------------------------------------------------

// A request of the sequence, with the hidden fields of the page that it
// returned when it was first sent.
typedef struct {
  Ask ask;
  HiddenFields hidden;
} SentRequest;

typedef struct {
  AppDriver *driver;
  const char *signature;
  SentRequest *requests; // the last one fails
  size_t n;
  size_t *budget;
  double until;
  bool cut; // time was up in the middle of a sequence
  Str fresh;
  Arena *arena;
} Reproducer;

static bool has_failure(const Run *run, const char *signature) {
  for (size_t i = 0; i < run->failures.len; i++)
    if (!strcmp(run->failures.items[i].signature, signature))
      return true;
  return false;
}

static bool judge(Reproducer *a, const Answer *answer, Arena *arena) {
  Judged j;
  Err ignored;
  int rc = app_instance_judge(&a->driver->instance, &answer->request,
                              &answer->exchange, NULL, &j, arena, &ignored);
  bool shows = !rc && has_failure(&j.run, a->signature);
  run_release(&j.run);
  return shows;
}

// Sends a request; `at` becomes the state that it leaves behind.
static int send_one(Reproducer *a, const SentRequest *m, LocalState *at,
                    Answer *answer, Arena *arena) {
  Err ignored;
  if (app_driver_send(a->driver, at, &m->ask, 0, answer, arena, &ignored))
    return -1;
  if (answer->exchange.cut || clock_now() > a->until) {
    *a->budget = 0;
    a->cut = true;
    return -1;
  }
  HiddenFields now = hidden_fields_of(&answer->links, arena);
  at->swaps = value_swaps_find(at->swaps, &m->hidden, &now, &a->fresh, arena);
  at->cookies = cookie_history_take(at->cookies, answer->request.path,
                                    &answer->exchange.response.headers, arena);
  return 0;
}

// Do the requests with keep[i], and the last one, show the failure?
static bool shows(void *ctx, const bool *keep, size_t n) {
  Reproducer *a = ctx;
  Arena arena = {0};
  Err ignored;
  Answer answer;
  LocalState at = *app_driver_at(a->driver, 0);
  int rc = app_state_restore(a->driver->instance.state, at.saved, &ignored);
  for (size_t i = 0; !rc && i < n; i++)
    if (keep[i])
      rc = send_one(a, &a->requests[i], &at, &answer, &arena);
  if (!rc)
    rc = send_one(a, &a->requests[a->n - 1], &at, &answer, &arena);
  bool good = !rc && judge(a, &answer, &arena);
  arena_release(&arena);
  return good;
}

static bool shows_all(Reproducer *a) {
  bool *keep = mem_array(bool, a->n);
  memset(keep, true, a->n);
  if (*a->budget)
    --*a->budget;
  bool good = shows(a, keep, a->n - 1);
  free(keep);
  return good;
}

// --- making it shorter ------------------------------------------------------

static void drop_requests(Reproducer *a) {
  size_t n = a->n - 1, left = 0;
  bool *keep = mem_array(bool, n + 1);
  memset(keep, true, n + 1);
  if (n)
    ddmin(n, keep, shows, a, a->budget);
  for (size_t i = 0; i <= n; i++)
    if (keep[i])
      a->requests[left++] = a->requests[i];
  a->n = left;
  free(keep);
}

static void drop_values(Reproducer *a, SentRequest *m) {
  for (size_t i = m->ask.nparams; i-- && *a->budget;) {
    Ask before = m->ask;
    m->ask = ask_without(&before, i, a->arena);
    if (!shows_all(a))
      m->ask = before;
  }
}

static void shorten(Reproducer *a) {
  drop_requests(a);
  for (size_t i = a->n; i--;)
    drop_values(a, &a->requests[i]);
}

// --- the sequence -----------------------------------------------------------

static bool has_cookie(const Ask *ask, const char *name) {
  for (size_t i = 0; i < ask->nparams; i++)
    if (ask->params[i].place == IN_COOKIE && !strcmp(ask->params[i].name, name))
      return true;
  return false;
}

// Cookies that an earlier request brought (cookie_history_bring) belong to this
// one too.
static void carry_cookies(Reproducer *a, size_t to,
                          const CookieHistory *cookies) {
  for (size_t i = to; i--;) {
    const Ask *from = &a->requests[i].ask;
    for (size_t k = 0; k < from->nparams; k++) {
      const Param *p = &from->params[k];
      if (p->place == IN_COOKIE && !has_cookie(&a->requests[to].ask, p->name) &&
          cookie_history_brought(cookies, p->name))
        a->requests[to].ask = ask_with(&a->requests[to].ask, IN_COOKIE, p->name,
                                       p->value, a->arena);
    }
  }
}

// The page that the last request was found on may have to be requested again,
// because its hidden values have changed.
static void add_page(Reproducer *a, const MadeRequest *page,
                     const CookieHistory *cookies) {
  SentRequest *requests = arena_array(a->arena, SentRequest, a->n + 1);
  memcpy(requests, a->requests, a->n * sizeof *requests);
  requests[a->n] = requests[a->n - 1];
  requests[a->n - 1] = (SentRequest){page->ask, page->hidden};
  a->requests = requests;
  a->n++;
  carry_cookies(a, a->n - 2, cookies);
}

static void drop_page(Reproducer *a) {
  a->requests[a->n - 2] = a->requests[a->n - 1];
  a->n--;
}

static void begin(Reproducer *a, const StateGraph *graph,
                  const MadeRequest *last) {
  StatePath path = {0};
  state_graph_path(graph, last->state, &path);
  a->n = path.len + 1;
  a->requests = arena_array(a->arena, SentRequest, a->n);
  for (size_t i = 0; i < path.len; i++)
    a->requests[i] = (SentRequest){path.items[i].ask, path.items[i].hidden};
  a->requests[path.len] = (SentRequest){last->ask, last->hidden};
  for (size_t i = 1; i <= path.len; i++)
    carry_cookies(a, i, graph->states.items[path.items[i - 1].state].cookies);
  array_release(&path);
}

// Which of its hidden values change each time.
static const char *fresh_of(const Reproducer *a, const Ask *ask) {
  Str names = {0};
  for (size_t i = 0; i < ask->nparams; i++)
    if (ask->params[i].page &&
        fresh_names(str_text(&a->fresh), ask->params[i].name))
      str_addf(&names, "%s%s", names.len ? " " : "", ask->params[i].name);
  return arena_take(a->arena, &names);
}

static Reproduction settle(const Reproducer *a, bool shown) {
  Reproduction s = {.nsteps = a->n, .shown = shown};
  s.steps = arena_array(a->arena, ReproductionStep, a->n);
  for (size_t i = 0; i < a->n; i++)
    s.steps[i] = (ReproductionStep){ask_copy(&a->requests[i].ask, a->arena),
                                    fresh_of(a, &a->requests[i].ask)};
  return s;
}

Reproduction reproduction_make(AppDriver *d, const StateGraph *graph,
                               uint32_t number, const char *signature,
                               Str *fresh, size_t *budget, double until,
                               Arena *arena) {
  const MadeRequest *last = state_graph_request(graph, number);
  const MadeRequest *page = state_graph_request(graph, last->page);
  Reproducer a = {.driver = d,
                  .signature = signature,
                  .budget = budget,
                  .until = until,
                  .arena = arena};
  str_add(&a.fresh, str_text(fresh));
  begin(&a, graph, last);
  bool tried = *budget > 0;
  bool shown = *budget && shows_all(&a);
  if (!shown && *budget && page) {
    add_page(&a, page, graph->states.items[last->state].cookies);
    shown = shows_all(&a);
    if (!shown)
      drop_page(&a);
  }
  if (shown)
    shorten(&a);
  Reproduction s = settle(&a, shown);
  s.tried = tried && (shown || !a.cut);
  str_clear(fresh);
  str_add(fresh, str_text(&a.fresh));
  str_release(&a.fresh);
  return s;
}

// --- writing ----------------------------------------------------------------

typedef struct {
  const char *base;
  Str list, script;
  Err *err;
} Writer;

static bool has_type(const Request *r) {
  return headers_get(&r->headers, "Content-Type");
}

// Bodies that do not fit on a line lie beside the list.
static int write_body(Writer *w, const Request *r, size_t number, char **name) {
  *name = NULL;
  if (!has_type(r))
    return 0;
  char *path = mem_printf("%s-%zu.body", w->base, number);
  int rc = fs_write(path, r->body, r->body_len, w->err);
  *name = mem_strdup(path_base(path));
  free(path);
  return rc;
}

static void list_request(Writer *w, const Request *r, const char *fresh,
                         const char *body, bool setup) {
  char *text = request_text(r);
  str_add(&w->list, setup ? "setup " : "");
  if (body)
    str_addf(&w->list, "%s %s%s%s @%s", r->method, r->path,
             *r->query ? "?" : "", r->query, body);
  else
    str_add(&w->list, text);
  str_addc(&w->list, '\n');
  for (size_t i = 0; i < r->headers.len; i++)
    str_addf(&w->list, "  %s: %s\n", r->headers.items[i].name,
             r->headers.items[i].value);
  if (*fresh)
    str_addf(&w->list, "  " FRESH_HEADER ": %s\n", fresh);
  free(text);
}

// One word of a shell: 'it'\''s'.
static void add_word(Str *out, const char *text, size_t n) {
  str_addc(out, '\'');
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\'')
      str_add(out, "'\\''");
    else
      str_addc(out, text[i]);
  }
  str_addc(out, '\'');
}

static void script_body(Writer *w, const Request *r, const char *fresh,
                        const char *body) {
  if (body) {
    str_addf(&w->script, "cat '%s'", body);
  } else {
    str_add(&w->script, "printf %s ");
    add_word(&w->script, r->body, r->body_len);
  }
  for (const char *p = fresh; *p;) {
    size_t n = strcspn(p, " ");
    str_addf(&w->script, " |\n  fresh %.*s", (int)n, p);
    p += n + (p[n] == ' ');
  }
  str_add(&w->script, " |\n  ");
}

static void script_request(Writer *w, const Request *r, const char *fresh,
                           const char *body) {
  bool post = !strcmp(r->method, "POST");
  if (post)
    script_body(w, r, fresh, body);
  str_add(&w->script, "ask ");
  for (size_t i = 0; i < r->headers.len; i++) {
    str_add(&w->script, "-H ");
    char *line = mem_printf("%s: %s", r->headers.items[i].name,
                            r->headers.items[i].value);
    add_word(&w->script, line, strlen(line));
    str_addc(&w->script, ' ');
    free(line);
  }
  if (post)
    str_add(&w->script, "-e \"$site/\" -H \"Origin: $site\" --data-binary @- ");
  str_add(&w->script, "\"$site\"");
  char *target = mem_printf("%s%s%s", r->path, *r->query ? "?" : "", r->query);
  add_word(&w->script, target, strlen(target));
  str_addc(&w->script, '\n');
  free(target);
}

// `fresh NAME` replaces the value of NAME in the form data on its standard
// input by that of the last page's field.
static const char script_head[] =
    "site=${1:-http://localhost}\n"
    "cd \"$(dirname \"$0\")\"\n"
    "work=$(mktemp -d)\n"
    "trap 'rm -rf \"$work\"' EXIT\n"
    "ask() {\n"
    "  curl -sS -i -g -b \"$work/jar\" -c \"$work/jar\" "
    "-o \"$work/new\" \"$@\"\n"
    "  mv \"$work/new\" \"$work/page\"\n"
    "}\n"
    "fresh() {\n"
    "  value=$(tr '\\n' ' ' < \"$work/page\" | sed 's/</\\n</g' |\n"
    "    sed -n \"/name=[\\\"']*$1[\\\"' >]/s/.*value=[\\\"']*"
    "\\([^\\\"' >]*\\).*/\\1/p\" | head -n 1)\n"
    "  sed \"s|\\(^\\|&\\)$1=[^&]*|\\1$1=$value|\"\n"
    "}\n";

static int write_step(Writer *w, const Reproduction *s, size_t i) {
  Arena arena = {0};
  Request r;
  char *body;
  ask_request(&s->steps[i].ask, 0, &r, &arena);
  int rc = write_body(w, &r, i + 1, &body);
  list_request(w, &r, s->steps[i].fresh, body, i + 1 < s->nsteps);
  script_request(w, &r, s->steps[i].fresh, body);
  free(body);
  arena_release(&arena);
  return rc;
}

static int write_file(Writer *w, const char *end, const Str *text,
                      mode_t mode) {
  char *path = mem_printf("%s%s", w->base, end);
  int rc = fs_write(path, str_text(text), text->len, w->err);
  if (!rc)
    chmod(path, mode);
  free(path);
  return rc;
}

static void add_title(Str *out, const char *title) {
  for (const char *p = title; *p;) {
    size_t n = strcspn(p, "\n");
    str_addf(out, "# %.*s\n", (int)n, p);
    p += n + (p[n] == '\n');
  }
}

int reproduction_write(const Reproduction *s, const char *title,
                       const char *base, Err *err) {
  Writer w = {.base = base, .err = err};
  int rc = 0;
  add_title(&w.list, title);
  str_add(&w.script, "#!/bin/sh\n");
  add_title(&w.script, title);
  str_addf(&w.script, "# %s.sh [URL OF THE SITE]; prints the last answer\n",
           path_base(base));
  if (s->tried && !s->shown)
    str_add(&w.list, "# It did not show again when it was tried.\n");
  str_add(&w.script, script_head);
  for (size_t i = 0; !rc && i < s->nsteps; i++)
    rc = write_step(&w, s, i);
  str_add(&w.script, "cat \"$work/page\"\n");
  if (!rc)
    rc = write_file(&w, ".txt", &w.list, 0644);
  if (!rc)
    rc = write_file(&w, ".sh", &w.script, 0755);
  str_release(&w.list);
  str_release(&w.script);
  return rc;
}
