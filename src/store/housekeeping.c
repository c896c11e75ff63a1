// What `culprit store` does: listing, pruning and measuring.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/internal.h"
#include "util/mem.h"

// --- list ------------------------------------------------------------------

typedef ARRAY(SessionInfo) SessionList;

static void read_info(void *ctx, DbQuery *q) {
  SessionInfo info = {.id = query_int(q, 0),
                      .finished = query_bool(q, 3),
                      .runs = query_u32(q, 4),
                      .failing = query_u32(q, 5)};
  snprintf(info.started, sizeof info.started, "%s", query_text(q, 1));
  info.command = mem_strdup(query_text(q, 2));
  array_push((SessionList *)ctx, info);
}

int store_list(Store *s, SessionInfo **out, size_t *n, Err *err) {
  SessionList list = {0};
  *out = NULL;
  *n = 0;
  if (store_flush(s, err) ||
      query_each(&s->db,
                 "SELECT session.id, started, session.command,"
                 " finished IS NOT NULL, count(run.id),"
                 " count(*) FILTER (WHERE verdict = 'fail')"
                 " FROM session LEFT JOIN run ON run.session = session.id"
                 " GROUP BY session.id ORDER BY session.id DESC",
                 NULL, "session", read_info, &list, err)) {
    store_list_free(list.items, list.len);
    return -1;
  }
  *out = list.items;
  *n = list.len;
  return 0;
}

void store_list_free(SessionInfo *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    free(list[i].command);
  free(list);
}

// --- prune -----------------------------------------------------------------

typedef ARRAY(int64_t) Ids;

static int old_sessions(Store *s, size_t keep, int64_t except, Ids *ids,
                        Err *err) {
  int64_t skip = keep > INT32_MAX ? INT32_MAX : (int64_t)keep;
  DbQuery q;
  if (query_start(&q, &s->db,
                  "SELECT id FROM session ORDER BY id DESC LIMIT "
                  "9223372036854775807 OFFSET ?",
                  VALUES(v_int(skip)), err))
    return -1;
  int rc;
  while ((rc = query_next(&q, err)) > 0) {
    int64_t id = query_int(&q, 0);
    if (id != except && !db_is_held(&s->db, id))
      array_push(ids, id);
  }
  query_end(&q);
  return rc;
}

// Runs, failures, spectra and deaths go with their session by themselves.
static int delete_sessions(Store *s, const Ids *ids, Err *err) {
  for (size_t i = 0; i < ids->len; i++)
    if (db_run(&s->db, "DELETE FROM session WHERE id = ?",
               VALUES(v_int(ids->items[i])), err))
      return -1;
  if (!ids->len)
    return 0;
  return db_run(&s->db,
                "DELETE FROM unit"
                " WHERE id NOT IN (SELECT unit FROM session_unit)",
                NULL, err);
}

typedef struct {
  Store *store;
  size_t keep, removed;
  int64_t except;
} Pruning;

static int prune(void *ctx, Err *err) {
  Pruning *p = ctx;
  Ids ids = {0};
  int rc = old_sessions(p->store, p->keep, p->except, &ids, err);
  if (!rc)
    rc = delete_sessions(p->store, &ids, err);
  p->removed = ids.len;
  array_release(&ids);
  return rc;
}

int prune_sessions(Store *s, size_t keep, int64_t except, size_t *removed,
                   Err *err) {
  Pruning p = {.store = s, .keep = keep, .except = except};
  int rc = db_write(&s->db, DB_ALONE, prune, &p, err);
  *removed = rc ? 0 : p.removed;
  return rc;
}

int store_prune(Store *s, size_t keep, size_t *removed, Err *err) {
  *removed = 0;
  if (store_flush(s, err) || prune_sessions(s, keep, 0, removed, err))
    return -1;
  return db_compact(&s->db, err);
}

// --- size ------------------------------------------------------------------

int store_size(Store *s, int64_t *bytes, Err *err) {
  *bytes = 0;
  return store_flush(s, err) || db_size(&s->db, bytes, err) ? -1 : 0;
}

// --- roles -----------------------------------------------------------------

static const char roles[] =
    "-- A writer adds runs, and the sessions and units they belong to; where a"
    " test\n"
    "-- has a run already, that one stays. A reader ranks. Give each a"
    " password, or\n"
    "-- GRANT it to users that have one. Let the owner of the tables run "
    "this.\n"
    "CREATE ROLE culprit_writer LOGIN;\n"
    "CREATE ROLE culprit_reader LOGIN;\n"
    "GRANT USAGE ON SCHEMA %1$s TO culprit_writer, culprit_reader;\n"
    "GRANT SELECT ON ALL TABLES IN SCHEMA %1$s TO culprit_writer,"
    " culprit_reader;\n"
    "GRANT INSERT ON %1$s.session, %1$s.session_source, %1$s.session_unit,\n"
    "  %1$s.unit, %1$s.unit_source, %1$s.entity, %1$s.run, %1$s.spectrum,\n"
    "  %1$s.counts, %1$s.failure, %1$s.run_failure, %1$s.failure_place,\n"
    "  %1$s.death, %1$s.kept TO culprit_writer;\n"
    "GRANT UPDATE (entities, revision, finished, project, root)"
    " ON %1$s.session\n"
    "  TO culprit_writer;\n"
    "GRANT UPDATE (hash) ON %1$s.session_source TO culprit_writer;\n"
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA %1$s TO culprit_writer;\n";

int store_roles(const Store *s, Str *out, Err *err) {
  if (!db_is_server(&s->db))
    return err_set(err,
                   "%s is a directory, whose permissions say who may write; "
                   "roles are for a store on a PostgreSQL server",
                   s->name);
  const char *schema = db_schema(&s->db);
  for (const char *at = roles; *at;) {
    size_t n = strcspn(at, "%");
    str_addn(out, at, n);
    at += n;
    if (*at) {
      str_add(out, schema);
      at += strlen("%1$s");
    }
  }
  return 0;
}
