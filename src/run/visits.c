// Runs a list of requests against a PHP application: see visits.h.
//
// One thread per worker; the store, the scripts' entities and the progress are
// shared under one lock. Answering, checking the page and restoring the state
// happen outside of it.
#include "run/visits.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/failure.h"
#include "php/scripts.h"
#include "php/state.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { WORKERS_MAX = 64 };

static volatile sig_atomic_t interrupted;

void visits_interrupt(void) { interrupted = 1; }

// What all workers share.
typedef struct {
  Visits *visits;
  const Requests *requests;
  Scripts *scripts;
  const char *maps;
  pthread_mutex_t lock;
  // Under the lock:
  size_t next; // request that the next visitor begins with
  bool stop;
  Err err; // the first error
} Shared;

// One worker: thread, process, state.
typedef struct {
  Shared *shared;
  int number;
  pthread_t thread;
  bool started;
  char *dir, *sessions;
  MariaDb *mariadb;
  State *state;
  Worker *worker;
  Arena arena; // texts of the site
  Err err;
} Seat;

// --- settings of one worker -------------------------------------------------

static const char *expand(Seat *s, const char *text) {
  Str out = {0};
  for (const char *p = text; *p; p++) {
    if (p[0] == '%' && p[1] == 'w')
      str_add(&out, s->dir);
    else if (p[0] == '%' && p[1] == 's' && s->mariadb)
      str_add(&out, mariadb_socket(s->mariadb));
    else {
      str_addc(&out, *p);
      continue;
    }
    p++;
  }
  const char *copy = arena_strdup(&s->arena, str_text(&out));
  str_release(&out);
  return copy;
}

// NULL-terminated.
static const char *const *expand_all(Seat *s, const Texts *texts) {
  const char **out = arena_array(&s->arena, const char *, texts->len + 1);
  for (size_t i = 0; i < texts->len; i++)
    out[i] = expand(s, texts->items[i]);
  return out;
}

static const char *const *database_names(Seat *s) {
  const Visits *v = s->shared->visits;
  const char **out = arena_array(&s->arena, const char *, v->databases.len + 1);
  for (size_t i = 0; i < v->databases.len; i++)
    out[i] = v->databases.items[i].name;
  return out;
}

static int start_database(Seat *s, Err *err) {
  const Visits *v = s->shared->visits;
  if (!v->databases.len)
    return 0;
  char *dir = mem_printf("%s/db", s->dir);
  int rc = mariadb_start(&s->mariadb, dir, err);
  for (size_t i = 0; !rc && i < v->databases.len; i++)
    rc = mariadb_load(s->mariadb, v->databases.items[i].name,
                      v->databases.items[i].sql, err);
  free(dir);
  return rc;
}

static int open_state(Seat *s, Err *err) {
  StatePlaces places = {.session_dir = s->sessions,
                        .files = expand_all(s, &s->shared->visits->files)};
  if (s->mariadb) {
    places.mariadb_socket = mariadb_socket(s->mariadb);
    places.databases = database_names(s);
  }
  char *dir = mem_printf("%s/state", s->dir);
  int rc = state_open(&s->state, &places, dir, err);
  free(dir);
  return rc;
}

static int open_worker(Seat *s, Err *err) {
  const Visits *v = s->shared->visits;
  Site site = v->site;
  site.maps = s->shared->maps;
  site.session_dir = s->sessions;
  site.ini = expand_all(s, &v->ini);
  site.env = expand_all(s, &v->env);
  site.mariadb_socket = s->mariadb ? mariadb_socket(s->mariadb) : NULL;
  char *dir = mem_printf("%s/php", s->dir);
  int rc = worker_open(&s->worker, &site, dir, err);
  free(dir);
  return rc;
}

static int seat_open(Seat *s, Err *err) {
  s->dir = mem_printf("%s/w%d", s->shared->visits->scratch, s->number);
  s->sessions = mem_printf("%s/sessions", s->dir);
  if (fs_mkdirs(s->sessions, err) || start_database(s, err) ||
      open_state(s, err))
    return -1;
  return open_worker(s, err);
}

static void seat_close(Seat *s) {
  worker_close(s->worker);
  state_close(s->state);
  mariadb_stop(s->mariadb);
  free(s->dir);
  free(s->sessions);
  arena_release(&s->arena);
}

// --- one request ------------------------------------------------------------

static int read_record(Seat *s, PhpRecord *record, bool *has, Run *run,
                       Arena *arena) {
  const char *path = worker_record(s->worker);
  Err err = {0};
  *has = path && !php_record_read(path, record, arena, &err);
  if (path && !*has)
    run_add_note(run, "no record of this request: %s", err.text);
  return 0;
}

static int keep(Seat *s, const PhpRecord *record, Run *run, Err *err) {
  Shared *shared = s->shared;
  Visits *v = shared->visits;
  pthread_mutex_lock(&shared->lock);
  if (record)
    scripts_collect(shared->scripts, record, run);
  int rc = store_add_run(v->store, v->session, run, err);
  v->finished++;
  v->failing += run->verdict == VERDICT_FAIL;
  if (v->progress)
    v->progress(v);
  pthread_mutex_unlock(&shared->lock);
  return rc;
}

static void put_piece(const OutputPiece *p, Str *out) {
  static const char *const kinds[] = {[OUTPUT_PLAIN] = "plain",
                                      [OUTPUT_TEMPLATE] = "template",
                                      [OUTPUT_CHANGED] = "changed",
                                      [OUTPUT_UNKNOWN] = "unknown"};
  str_addf(out, "%llu\t%llu\t%s\t%s:%u\n", (unsigned long long)p->offset,
           (unsigned long long)p->length, kinds[p->kind],
           p->file ? p->file : "", p->line);
}

static int keep_page(const Visits *v, const Request *r, const Exchange *x,
                     const PhpRecord *record, Err *err) {
  if (!v->pages)
    return 0;
  char *body = mem_printf("%s/%u.body", v->pages, r->line);
  char *map = mem_printf("%s/%u.map", v->pages, r->line);
  Str text = {0};
  for (size_t i = 0; record && i < record->npieces; i++)
    put_piece(&record->pieces[i], &text);
  int rc = fs_mkdirs(v->pages, err);
  rc = rc || fs_write(body, x->response.body, x->response.body_len, err) ||
       fs_write(map, str_text(&text), text.len, err);
  str_release(&text);
  free(body);
  free(map);
  return rc ? -1 : 0;
}

static int judge(Seat *s, const Request *r, const Exchange *x,
                 const char *warning, Arena *arena, Err *err) {
  char *command = request_text(r);
  Run run = {.test = mem_printf("%u", r->line), .command = command};
  PhpRecord record;
  bool has;
  if (warning)
    run_add_note(&run, "%s", warning);
  int rc = read_record(s, &record, &has, &run, arena);
  if (!rc)
    rc = web_judge(&s->shared->visits->oracle, x, has ? &record : NULL, &run,
                   arena, err);
  if (has && !record.nscripts)
    run_add_note(&run, "nothing of it was executed: %s",
                 run.failures.len ? run.failures.items[0].message
                                  : "no script could be compiled");
  if (!rc)
    rc = keep_page(s->shared->visits, r, x, has ? &record : NULL, err);
  if (!rc)
    rc = keep(s, has ? &record : NULL, &run, err);
  run_release(&run);
  return rc;
}

static const char *setup_problem(const Request *r, const Exchange *x,
                                 Arena *arena) {
  if (x->end == EXCHANGE_DONE && x->response.status < 500)
    return NULL;
  return arena_printf(arena, "the setup request in line %u failed: %s", r->line,
                      x->end == EXCHANGE_TIMEOUT ? "no answer in time"
                      : x->how                   ? x->how
                                                 : "status 500 or above");
}

// --- one visitor ------------------------------------------------------------

static int serve_visitor(Seat *s, size_t from, size_t to, Err *err) {
  const Request *list = s->shared->requests->items;
  CookieJar *jar = cookie_jar_new();
  Arena visit = {0};
  const char *warning = NULL;
  int rc = state_restore(s->state, 0, err);
  for (size_t i = from; !rc && i < to && !interrupted; i++) {
    Arena arena = {0};
    Exchange x;
    const char *cookies = cookie_jar_header(jar, list[i].path, &arena);
    rc = worker_serve(s->worker, &list[i], cookies, &x, &arena, err);
    if (!rc) {
      cookie_jar_take(jar, list[i].path, &x.response.headers);
      if (list[i].setup)
        warning = setup_problem(&list[i], &x, &visit);
      else
        rc = judge(s, &list[i], &x, warning, &arena, err);
    }
    arena_release(&arena);
  }
  arena_release(&visit);
  cookie_jar_free(jar);
  return rc;
}

// --- sharing out ------------------------------------------------------------

static bool is_done(Visits *v, const Request *r) {
  char name[16];
  snprintf(name, sizeof name, "%u", r->line);
  return r->setup || (v->already && store_has_run(v->store, v->session, name));
}

// The next visitor with something to do, as a range of requests.
static bool next_visitor(Shared *shared, size_t *from, size_t *to) {
  const Requests *all = shared->requests;
  bool found = false;
  pthread_mutex_lock(&shared->lock);
  while (!found && !shared->stop && !interrupted && shared->next < all->len) {
    size_t i = *from = shared->next;
    for (; i < all->len && all->items[i].visitor == all->items[*from].visitor;
         i++)
      found |= !is_done(shared->visits, &all->items[i]);
    *to = shared->next = i;
  }
  pthread_mutex_unlock(&shared->lock);
  return found;
}

static void stop_all(Shared *shared, const Err *err) {
  pthread_mutex_lock(&shared->lock);
  if (!shared->stop)
    shared->err = *err;
  shared->stop = true;
  pthread_mutex_unlock(&shared->lock);
}

static void *work(void *arg) {
  Seat *s = arg;
  Err err = {0};
  size_t from, to;
  int rc = seat_open(s, &err);
  while (!rc && next_visitor(s->shared, &from, &to))
    rc = serve_visitor(s, from, to, &err);
  if (rc)
    stop_all(s->shared, &err);
  seat_close(s);
  return NULL;
}

static bool is_own(const char *path) { return strstr(path, "%w"); }

static int count_workers(const Visits *v, const Requests *requests) {
  cpu_set_t set;
  int n = v->workers;
  if (n < 1)
    n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  if (n > WORKERS_MAX)
    n = WORKERS_MAX;
  for (size_t i = 0; i < v->files.len; i++)
    if (!is_own(v->files.items[i]))
      n = 1;
  unsigned visitors =
      requests->len ? requests->items[requests->len - 1].visitor + 1 : 1;
  return n > (int)visitors ? (int)visitors : n;
}

static int start_all(Shared *shared, Seat *seats, int n, Err *err) {
  for (int i = 0; i < n; i++) {
    seats[i] = (Seat){.shared = shared, .number = i};
    seats[i].started = !pthread_create(&seats[i].thread, NULL, work, &seats[i]);
    if (!seats[i].started && i == 0)
      return err_set(err, "cannot start a thread");
  }
  for (int i = 0; i < n; i++)
    if (seats[i].started)
      pthread_join(seats[i].thread, NULL);
  if (shared->stop) {
    *err = shared->err;
    return -1;
  }
  return 0;
}

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  const Visits *v = ctx;
  return store_add_unit(v->store, v->session, unit, ids, err);
}

static void count_tests(Visits *v, const Requests *requests) {
  v->total = v->finished = v->failing = 0;
  v->already = 1; // ask the store
  size_t done = 0;
  for (size_t i = 0; i < requests->len; i++) {
    if (requests->items[i].setup)
      continue;
    v->total++;
    done += is_done(v, &requests->items[i]);
  }
  v->already = done;
}

int visits_run(Visits *v, const Requests *requests, Err *err) {
  char *maps = mem_printf("%s/maps", v->scratch);
  Shared shared = {.visits = v, .requests = requests, .maps = maps};
  pthread_mutex_init(&shared.lock, NULL);
  interrupted = 0;
  count_tests(v, requests);
  shared.scripts = scripts_new(maps, assign_ids, v);
  int n = count_workers(v, requests), rc = fs_mkdirs(maps, err);
  Seat *seats = mem_array(Seat, (size_t)n);
  if (!rc)
    rc = start_all(&shared, seats, n, err);
  v->interrupted = interrupted;
  free(seats);
  scripts_free(shared.scripts);
  pthread_mutex_destroy(&shared.lock);
  fs_remove_tree(v->scratch);
  free(maps);
  return rc;
}

void visits_release(Visits *v) {
  array_release(&v->ini);
  array_release(&v->env);
  array_release(&v->files);
  array_release(&v->databases);
}
