// One PHP worker with all that belongs to it: see seat.h.
#include "run/seat.h"

#include <stdlib.h>
#include <string.h>

#include "oracle/failure.h"
#include "run/kept_page.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

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
  const Visits *v = s->visits;
  const char **out = arena_array(&s->arena, const char *, v->databases.len + 1);
  for (size_t i = 0; i < v->databases.len; i++)
    out[i] = v->databases.items[i].name;
  return out;
}

static int start_database(Seat *s, Err *err) {
  const Visits *v = s->visits;
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

// The user's, and where PHP puts temporary files (php/worker.h): applications
// keep counters and keys there.
static const char *const *state_files(Seat *s) {
  const Texts *named = &s->visits->files;
  const char **out = arena_array(&s->arena, const char *, named->len + 2);
  for (size_t i = 0; i < named->len; i++)
    out[i] = expand(s, named->items[i]);
  out[named->len] = s->temporary;
  return out;
}

static int open_state(Seat *s, Err *err) {
  StatePlaces places = {.session_dir = s->sessions, .files = state_files(s)};
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
  const Visits *v = s->visits;
  Site site = v->site;
  site.maps = s->maps;
  site.session_dir = s->sessions;
  site.ini = expand_all(s, &v->ini);
  site.env = expand_all(s, &v->env);
  site.mariadb_socket = s->mariadb ? mariadb_socket(s->mariadb) : NULL;
  char *dir = mem_printf("%s/php", s->dir);
  int rc = worker_open(&s->worker, &site, dir, err);
  free(dir);
  return rc;
}

// An empty session that is there from the start: starting it changes nothing.
static int make_session(Seat *s, const char *id, Err *err) {
  if (!id)
    return 0;
  char *path = mem_printf("%s/sess_%s", s->sessions, id);
  int rc = fs_write(path, "", 0, err);
  free(path);
  return rc;
}

int seat_open(Seat *s, const Visits *v, const char *maps, int number,
              const char *session, Err *err) {
  *s = (Seat){.visits = v, .maps = maps};
  s->dir = mem_printf("%s/w%d", v->scratch, number);
  s->sessions = mem_printf("%s/sessions", s->dir);
  s->temporary = mem_printf("%s/php/tmp", s->dir);
  if (fs_mkdirs(s->sessions, err) || fs_mkdirs(s->temporary, err) ||
      make_session(s, session, err) || start_database(s, err) ||
      open_state(s, err))
    return -1;
  return open_worker(s, err);
}

void seat_close(Seat *s) {
  worker_close(s->worker);
  state_close(s->state);
  mariadb_stop(s->mariadb);
  free(s->dir);
  free(s->sessions);
  free(s->temporary);
  arena_release(&s->arena);
}

// --- one request ------------------------------------------------------------

static void read_record(Seat *s, Judged *j, Arena *arena) {
  const char *path = worker_record(s->worker);
  Err err = {0};
  j->has_record = path && !php_record_read(path, &j->record, arena, &err);
  if (path && !j->has_record)
    run_add_note(&j->run, "no record of this request: %s", err.text);
}

static int keep_page(const Visits *v, const Request *r, const Exchange *x,
                     const PhpRecord *record, Err *err) {
  if (!v->pages || !r->line) // 0: no test
    return 0;
  char *body = mem_printf("%s/%u.body", v->pages, r->line);
  char *map = mem_printf("%s/%u.map", v->pages, r->line);
  Str text = {0};
  for (size_t i = 0; record && i < record->npieces; i++)
    kept_piece_line(&record->pieces[i], &text);
  int rc = fs_mkdirs(v->pages, err);
  rc = rc || fs_write(body, x->response.body, x->response.body_len, err) ||
       fs_write(map, str_text(&text), text.len, err);
  str_release(&text);
  free(body);
  free(map);
  return rc ? -1 : 0;
}

int seat_judge(Seat *s, const Request *r, const Exchange *x,
               const char *warning, Judged *j, Arena *arena, Err *err) {
  *j = (Judged){0};
  j->run.test = mem_printf("%u", r->line);
  j->run.command = request_text(r);
  if (warning)
    run_add_note(&j->run, "%s", warning);
  run_note_signal(&j->run, visits_signal_of(worker_process(s->worker)));
  read_record(s, j, arena);
  const PhpRecord *record = j->has_record ? &j->record : NULL;
  if (web_judge(&s->visits->oracle, x, record, &j->run, arena, err))
    return -1;
  if (record && !record->nscripts)
    run_add_note(&j->run, "nothing of it was executed: %s",
                 j->run.failures.len ? j->run.failures.items[0].message
                                     : "no script could be compiled");
  const Visits *v = s->visits;
  if (v->store &&
      kept_page_write(v->store, v->session, &j->run, x->response.body,
                      x->response.body_len, record, err))
    return -1;
  return keep_page(v, r, x, record, err);
}
