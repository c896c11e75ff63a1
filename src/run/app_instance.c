// One instance of the application: see app_instance.h.
#include "run/app_instance.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle/failure.h"
#include "run/kept_page.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

// --- settings of one worker -------------------------------------------------

static const char *expand(AppInstance *s, const char *text) {
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
  return arena_take(&s->arena, &out);
}

// NULL-terminated.
static const char *const *expand_all(AppInstance *s, const Texts *texts) {
  const char **out = arena_array(&s->arena, const char *, texts->len + 1);
  for (size_t i = 0; i < texts->len; i++)
    out[i] = expand(s, texts->items[i]);
  return out;
}

static const char *const *database_names(AppInstance *s) {
  const Visits *v = s->visits;
  const char **out = arena_array(&s->arena, const char *, v->databases.len + 1);
  for (size_t i = 0; i < v->databases.len; i++)
    out[i] = v->databases.items[i].name;
  return out;
}

static int start_database(AppInstance *s, Err *err) {
  const Visits *v = s->visits;
  if (!v->databases.len)
    return 0;
  const char *dir = arena_printf(&s->arena, "%s/db", s->dir);
  const char *log =
      v->logs ? arena_printf(&s->arena, "%s/mariadb-%d", v->logs, s->number)
              : NULL;
  int rc = v->logs ? fs_mkdirs(v->logs, err) : 0;
  if (!rc)
    rc = mariadb_start(&s->mariadb, dir, log, v->sql_mode, err);
  for (size_t i = 0; !rc && i < v->databases.len; i++)
    rc = mariadb_load(s->mariadb, v->databases.items[i].name,
                      v->databases.items[i].sql, err);
  return rc;
}

// The user's, and where PHP puts temporary files (php/worker.h): applications
// keep counters and keys there.
static const char *const *state_files(AppInstance *s) {
  const Texts *named = &s->visits->files;
  const char **out = arena_array(&s->arena, const char *, named->len + 2);
  for (size_t i = 0; i < named->len; i++)
    out[i] = expand(s, named->items[i]);
  out[named->len] = s->temporary;
  return out;
}

// What is no state of the application, though it may lie in its tree.
static const char *const *real_places(AppInstance *s) {
  const ConfinePlan *plan = &s->visits->confine;
  ARRAY(const char *) list = {0};
  array_push(&list, s->visits->scratch);
  for (const char *const *p = plan->seen; p && *p; p++)
    array_push(&list, *p);
  for (const char *const *p = plan->writable; p && *p; p++)
    array_push(&list, *p);
  array_push(&list, NULL);
  return arena_adopt(&s->arena, &list);
}

static const char *tree_of(const AppInstance *s) {
  const Visits *v = s->visits;
  const char *const *p = v->confine.writable;
  for (; p && *p; p++)
    if (path_lies_in(v->app.root, *p))
      return NULL; // it is real
  return v->tree_is_state ? v->app.root : NULL;
}

static int open_state(AppInstance *s, Err *err) {
  StatePlaces places = {.confine = s->confine,
                        .own = s->dir,
                        .tree = tree_of(s),
                        .excluded = real_places(s),
                        .session_dir = s->sessions,
                        .files = state_files(s)};
  if (s->mariadb) {
    places.mariadb_socket = mariadb_socket(s->mariadb);
    places.databases = database_names(s);
  }
  return app_state_open(&s->state, &places,
                        arena_printf(&s->arena, "%s/state", s->dir), err);
}

static int open_worker(AppInstance *s, Err *err) {
  const Visits *v = s->visits;
  WebApp app = v->app;
  app.maps = s->maps;
  app.session_dir = s->sessions;
  app.ini = expand_all(s, &v->ini);
  app.env = expand_all(s, &v->env);
  app.mariadb_socket = s->mariadb ? mariadb_socket(s->mariadb) : NULL;
  app.confine = s->confine;
  return worker_open(&s->worker, &app,
                     arena_printf(&s->arena, "%s/php", s->dir), err);
}

// Without a view the application must be a copy, or it would be the original.
static int check_copy(const AppInstance *s, Err *err) {
  const char *root = s->visits->app.root;
  char *inside = confine_inside(s->confine, root);
  bool copied = strcmp(inside, root) != 0;
  free(inside);
  if (copied || confine_has_view(s->confine))
    return 0;
  return err_set(
      err,
      "%s cannot be copied to %s (is it too large?), and this "
      "system has no other way to protect it; set TMPDIR, or let the "
      "application change it with --in-place",
      root, s->dir);
}

static void link_to(const char *target, const char *dir, const char *name) {
  char *link = mem_printf("%s/%s", dir, name);
  if (symlink(target, link))
    errno = 0; // the copy itself, or there already
  free(link);
}

// Beside a copy stands what stands beside the original, so that
// `../vendor/autoload.php` is found. `dir` holds the copy alone.
static void link_neighbours(const AppInstance *s, const char *dir) {
  const char *root = s->visits->app.root, *base = path_base(root);
  char *inside = confine_inside(s->confine, root);
  char *parent = mem_printf("%.*s", (int)(base - root), root);
  DIR *d = strcmp(inside, root) ? opendir(parent) : NULL;
  if (d)
    link_to(path_base(inside), dir, base);
  for (struct dirent *e; d && (e = readdir(d));) {
    char *target = mem_printf("%s%s", parent, e->d_name);
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
      link_to(target, dir, e->d_name);
    free(target);
  }
  if (d)
    closedir(d);
  free(parent);
  free(inside);
}

// What is to stay real in the tree is a link in its copy.
static void link_allowed(const AppInstance *s) {
  const char *root = s->visits->app.root;
  const char *const *p = s->visits->confine.writable;
  for (; p && *p; p++) {
    const char *real = path_below(root, *p) != root ? root : *p;
    char *inside = confine_inside(s->confine, real);
    if (strcmp(inside, real)) {
      fs_remove_tree(inside);
      if (symlink(real, inside))
        errno = 0; // it is missing, which the application shows
    }
    free(inside);
  }
}

// The worker may write into its own directory, to the maps that all workers
// share, and what the user allows; it reaches its own database server.
static int open_confine(AppInstance *s, int number, Err *err) {
  const Visits *v = s->visits;
  ARRAY(const char *) writable = {0};
  ConfinePlan plan = v->confine;
  if (v->in_place)
    return 0;
  for (const char *const *p = v->confine.writable; p && *p; p++)
    array_push(&writable, *p);
  array_push(&writable, s->maps);
  array_push(&writable, s->dir);
  if (s->mariadb) {
    const char *socket = mariadb_socket(s->mariadb);
    int n = (int)(path_base(socket) - socket - 1);
    array_push(&writable, arena_printf(&s->arena, "%.*s", n, socket));
  }
  array_push(&writable, NULL);
  plan.scratch = arena_printf(&s->arena, "%s/view", s->dir);
  plan.writable = writable.items;
  plan.copied = v->app.root;
  int rc = confine_open(&s->confine, &plan, err);
  array_release(&writable);
  if (rc || check_copy(s, err))
    return -1;
  link_neighbours(s, plan.scratch);
  link_allowed(s);
  if (number == 0 && v->confined)
    v->confined(v, s->confine);
  return 0;
}

// An empty session that is there from the start: starting it changes nothing.
static int make_session(AppInstance *s, const char *id, Err *err) {
  if (!id)
    return 0;
  return fs_write(arena_printf(&s->arena, "%s/sess_%s", s->sessions, id), "", 0,
                  err);
}

int app_instance_open(AppInstance *s, const Visits *v, const char *maps,
                      int number, const char *session, Err *err) {
  *s = (AppInstance){.visits = v, .maps = maps, .number = number};
  s->literals = literal_cache_new(maps);
  s->dir = arena_printf(&s->arena, "%s/w%d", v->scratch, number);
  s->sessions = arena_printf(&s->arena, "%s/sessions", s->dir);
  s->temporary = arena_printf(&s->arena, "%s/php/tmp", s->dir);
  if (fs_mkdirs(s->sessions, err) || fs_mkdirs(s->temporary, err) ||
      make_session(s, session, err) || start_database(s, err) ||
      open_confine(s, number, err) || open_state(s, err))
    return -1;
  return open_worker(s, err);
}

void app_instance_close(AppInstance *s) {
  worker_close(s->worker);
  app_state_close(s->state);
  confine_close(s->confine);
  mariadb_stop(s->mariadb);
  literal_cache_free(s->literals);
  arena_release(&s->arena);
  str_release(&s->refused);
}

// --- what is refused --------------------------------------------------------

typedef struct {
  AppInstance *instance;
  const Request *request;
  const char *script;
} Trying;

static void note_refusal(const Trying *t, Refusal *r) {
  AppInstance *s = t->instance;
  char *request = request_text(t->request);
  r->script = (char *)t->script;
  r->request = request;
  if (s->visits->refusals)
    refusals_add(s->visits->refusals, r);
  free(request);
}

static void take_refused(void *ctx, const Refused *r) {
  static const char *const words[] = {[REFUSED_CONNECT] = "connection to",
                                      [REFUSED_SIGNAL] = "signal to",
                                      [REFUSED_WRITE] = "write to"};
  const Trying *t = ctx;
  Refusal refusal = {
      .kind = refused_kind_name(r->kind), .what = r->what, .times = r->times};
  Str *text = &t->instance->refused, remedy = {0};
  note_refusal(t, &refusal);
  refusal_remedy(&refusal, &remedy);
  str_addf(text, "%sculprit refused the %s %s", text->len ? "; " : "",
           words[r->kind], r->what);
  if (remedy.len)
    str_addf(text, "; %s allows it", str_text(&remedy));
  str_release(&remedy);
}

static void take_mail(void *ctx, const char *to) {
  Refusal refusal = {.kind = "mail", .what = (char *)to, .times = 1};
  note_refusal(ctx, &refusal);
}

int app_instance_serve(AppInstance *s, const Request *r, const char *cookies,
                       Exchange *out, Arena *arena, Err *err) {
  int rc = worker_serve(s->worker, r, cookies, out, arena, err);
  str_clear(&s->refused);
  if (rc || !s->confine || out->is_static)
    return rc;
  Trying t = {.instance = s, .request = r, .script = out->script + 1};
  confine_take_refused(s->confine, take_refused, &t);
  worker_take_mail(s->worker, take_mail, &t);
  return 0;
}

static bool is_gap(const AppInstance *s, const char *what) {
  const char *gaps = confine_gaps(s->confine);
  return gaps && strstr(gaps, what);
}

// Messages that may be confinement's doing, and what allows it.
static const char *guess_remedy(const AppInstance *s, const char *message) {
  static const char *const kept[] = {"Permission denied", "readonly database",
                                     "Read-only file system", NULL};
  static const char *const refused[] = {"Permission denied",
                                        "Connection refused",
                                        "Network is unreachable", NULL};
  static const char *const connecting[] = {"connect", "SQLSTATE[HY000] [2002]",
                                           NULL};
  if (strstr(message, "No space left on device"))
    return "culprit limits how much the application may write; --allow-write "
           "DIR lifts that for DIR";
  if (strstr(message, "Invalid cross-device link") &&
      confine_has_view(s->confine))
    return "directories cannot be renamed while culprit confines the "
           "application; --allow-write DIR allows it in DIR";
  if (text_holds_any(message, connecting) && text_holds_any(message, refused))
    return is_gap(s, "TCP connections")
               ? NULL
               : "culprit refuses connections; --allow-connect PORT allows one";
  if (text_holds_any(message, kept) && !confine_has_view(s->confine) &&
      !is_gap(s, "writing and removing files"))
    return "culprit lets the application write below its root only; "
           "--allow-write DIR allows more";
  return NULL;
}

static void explain(const AppInstance *s, Run *run) {
  for (size_t i = 0; s->confine && i < run->failures.len; i++) {
    Failure *f = &run->failures.items[i];
    const char *why =
        s->refused.len ? str_text(&s->refused) : guess_remedy(s, f->message);
    if (!why || !strcmp(f->kind, "html"))
      continue;
    char *message = mem_printf("%s; %s", f->message, why);
    free(f->message);
    f->message = message;
  }
}

// --- one request ------------------------------------------------------------

static void read_record(AppInstance *s, Judged *j, Arena *arena) {
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
  char *base = mem_printf("%s/%u", v->pages, r->line);
  int rc = fs_mkdirs(v->pages, err);
  if (!rc)
    rc = page_write(base, "", x->response.body, x->response.body_len, record,
                    err);
  free(base);
  return rc;
}

int app_instance_judge(AppInstance *s, const Request *r, const Exchange *x,
                       const char *warning, Judged *j, Arena *arena, Err *err) {
  *j = (Judged){0};
  j->run.test = mem_printf("%u", r->line);
  j->run.command = request_text(r);
  if (warning)
    run_add_note(&j->run, "%s", warning);
  for (int sent; (sent = visits_signal_of(worker_process(s->worker)));)
    run_note_signal(&j->run, sent);
  read_record(s, j, arena);
  const PhpRecord *record = j->has_record ? &j->record : NULL;
  if (web_judge(&s->visits->oracle, x, record, s->literals, &j->run, arena,
                err))
    return -1;
  if (record && !record->nscripts)
    run_add_note(&j->run, "no script was executed: %s",
                 j->run.failures.len ? j->run.failures.items[0].message
                                     : "no script could be compiled");
  explain(s, &j->run);
  const Visits *v = s->visits;
  PhpRecord shown = record ? *record : (PhpRecord){0};
  if (record && (v->pages || j->run.failures.len))
    shown.pieces = web_shown_pieces(record, s->literals, arena);
  if (v->store &&
      kept_page_write(v->store, v->session, &j->run, x->response.body,
                      x->response.body_len, record ? &shown : NULL, err))
    return -1;
  return keep_page(v, r, x, record ? &shown : NULL, err);
}
