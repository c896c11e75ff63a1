// Drives a PHP application through a request list and prints what came back:
//
//   php_drive [OPTION...] ROOT LIST SCRATCH
//     --front FILE  --timeout SECONDS  --max BYTES  --php PROGRAM  --links
//     --ini NAME=VALUE     may be repeated
//     --state PATH         a file or directory the application writes
//     --sql FILE           a private MariaDB server with schema app
//     --speed WORKERS      the list a thousand times in each of them
//
//   200 done - GET /index.php: first line of the page
//
// Every visitor starts with no cookies and the first state.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "php/child.h"
#include "php/request.h"
#include "php/state/app_state.h"
#include "php/worker.h"
#include "util/clock.h"
#include "util/mem.h"

enum { ROUNDS = 1000 };

typedef struct {
  WebApp app;
  const char *list, *scratch, *sql, *state[8], *ini[8];
  int nstate, nini, speed;
  Requests requests;
} Drive;

static _Noreturn void die(const char *what) {
  fprintf(stderr, "php_drive: %s\n", what);
  exit(1);
}

static int take_option(Drive *d, char **argv) {
  const char *name = argv[0], *value = argv[1];
  if (!strcmp(name, "--links"))
    return d->app.follow_links = true, 1;
  if (!value)
    die("an option without value");
  if (!strcmp(name, "--front"))
    d->app.front = value;
  else if (!strcmp(name, "--timeout"))
    d->app.timeout = atof(value);
  else if (!strcmp(name, "--max"))
    d->app.max_body = strtoul(value, NULL, 10);
  else if (!strcmp(name, "--php"))
    d->app.php_cgi = value;
  else if (!strcmp(name, "--sql"))
    d->sql = value;
  else if (!strcmp(name, "--speed"))
    d->speed = atoi(value);
  else if (!strcmp(name, "--state") && d->nstate < 7)
    d->state[d->nstate++] = value;
  else if (!strcmp(name, "--ini") && d->nini < 7)
    d->ini[d->nini++] = value;
  else
    die(name);
  return 2;
}

static void print_exchange(const Request *r, const Exchange *e) {
  static const char *const ends[] = {"done", "died", "timeout"};
  const char *body = e->response.body ? e->response.body : "";
  char *text = request_text(r);
  printf("%d %s%s %s %.200s: %.*s\n", e->response.status, ends[e->end],
         e->response.cut ? " cut" : "", e->how ? e->how : "-", text,
         (int)strcspn(body, "\n"), body);
  fflush(stdout);
  free(text);
}

static void visit(const Drive *d, Worker *w, AppState *s) {
  CookieJar *jar = NULL;
  unsigned visitor = ~0U;
  Err err;
  for (size_t i = 0; i < d->requests.len; i++) {
    const Request *r = &d->requests.items[i];
    Arena arena = {0};
    Exchange e;
    if (r->visitor != visitor) {
      cookie_jar_free(jar);
      jar = cookie_jar_new();
      visitor = r->visitor;
      if (app_state_restore(s, 0, &err))
        die(err.text);
    }
    if (worker_serve(w, r, cookie_jar_header(jar, r->path, &arena), &e, &arena,
                     &err)) {
      printf("error %s\n", err.text);
    } else {
      cookie_jar_take(jar, r->path, &e.response.headers);
      print_exchange(r, &e);
    }
    arena_release(&arena);
  }
  cookie_jar_free(jar);
}

static void drive(Drive *d) {
  const char *databases[] = {"app", NULL};
  char *sessions = mem_printf("%s/sessions", d->scratch);
  char *worker = mem_printf("%s/worker", d->scratch);
  char *db = mem_printf("%s/db", d->scratch);
  MariaDb *m = NULL;
  Worker *w;
  AppState *s;
  Err err;
  if (d->sql && (mariadb_start(&m, db, NULL, NULL, &err) ||
                 mariadb_load(m, "app", d->sql, &err)))
    die(err.text);
  StatePlaces places = {.session_dir = sessions, .files = d->state};
  d->app.session_dir = sessions;
  if (m) {
    d->app.mariadb_socket = places.mariadb_socket = mariadb_socket(m);
    places.databases = databases;
  }
  if (worker_open(&w, &d->app, worker, &err) ||
      app_state_open(&s, &places, d->scratch, &err))
    die(err.text);
  visit(d, w, s);
  app_state_close(s);
  worker_close(w);
  mariadb_stop(m);
  free(sessions);
  free(worker);
  free(db);
}

// --- speed
// --------------------------------------------------------------------

typedef struct {
  const Drive *d;
  int number;
} Lane;

static void *race(void *lane) {
  const Lane *l = lane;
  char *scratch = mem_printf("%s/worker%d", l->d->scratch, l->number);
  Worker *w;
  Err err;
  if (worker_open(&w, &l->d->app, scratch, &err))
    die(err.text);
  for (size_t i = 0; i < ROUNDS * l->d->requests.len; i++) {
    const Request *r = &l->d->requests.items[i % l->d->requests.len];
    Arena arena = {0};
    Exchange e;
    if (worker_serve(w, r, NULL, &e, &arena, &err))
      die(err.text);
    if (e.end != EXCHANGE_DONE || e.response.status != 200)
      die("a request failed");
    arena_release(&arena);
  }
  worker_close(w);
  free(scratch);
  return NULL;
}

static void measure(const Drive *d) {
  pthread_t threads[16];
  Lane lanes[16];
  int n = d->speed < 16 ? d->speed : 16;
  double begin = clock_now();
  for (int i = 0; i < n; i++) {
    lanes[i] = (Lane){d, i};
    pthread_create(&threads[i], NULL, race, &lanes[i]);
  }
  for (int i = 0; i < n; i++)
    pthread_join(threads[i], NULL);
  printf("%.0f requests/s\n",
         n * ROUNDS * (double)d->requests.len / (clock_now() - begin));
}

int main(int argc, char **argv) {
  Drive d = {0};
  Arena arena = {0};
  Err err;
  int i = 1;
  while (i < argc && !strncmp(argv[i], "--", 2))
    i += take_option(&d, argv + i);
  if (argc - i != 3)
    die("php_drive [OPTION...] ROOT LIST SCRATCH");
  d.app.root = argv[i];
  d.list = argv[i + 1];
  d.scratch = argv[i + 2];
  d.app.ini = d.ini;
  if (request_list_read(d.list, &d.requests, &arena, &err))
    die(err.text);
  if (d.speed)
    measure(&d);
  else
    drive(&d);
  arena_release(&arena);
  return 0;
}
