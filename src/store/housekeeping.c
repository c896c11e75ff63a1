// What `culprit store` does: listing, pruning and measuring.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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
                  "SELECT id FROM session ORDER BY id DESC LIMIT -1 OFFSET ?",
                  VALUES(v_int(skip)), err))
    return -1;
  int rc;
  while ((rc = query_next(&q, err)) > 0) {
    int64_t id = query_int(&q, 0);
    if (id != except && !session_is_held(s, id))
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

int prune_sessions(Store *s, size_t keep, int64_t except, size_t *removed,
                   Err *err) {
  *removed = 0;
  Ids ids = {0};
  if (db_begin_write(&s->db, err))
    return -1;
  int rc = old_sessions(s, keep, except, &ids, err);
  if (!rc)
    rc = delete_sessions(s, &ids, err);
  if (rc)
    db_rollback(&s->db);
  else
    rc = db_commit(&s->db, err);
  if (!rc)
    *removed = ids.len;
  array_release(&ids);
  return rc;
}

// Gives the freed pages back to the disk. Needs the store alone: while others
// use it the pages stay in the file, for the next runs to fill.
static int compact(Store *s, Err *err) {
  int rc = sqlite3_exec(s->db.handle, "VACUUM", NULL, NULL, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_wal_checkpoint_v2(s->db.handle, NULL,
                                   SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY)
    return 0;
  return db_fail(&s->db, err);
}

int store_prune(Store *s, size_t keep, size_t *removed, Err *err) {
  *removed = 0;
  if (store_flush(s, err) || prune_sessions(s, keep, 0, removed, err))
    return -1;
  return compact(s, err);
}

// --- size ------------------------------------------------------------------

// The file itself and what has been written but not yet moved into it.
int store_size(Store *s, int64_t *bytes, Err *err) {
  static const char *const suffixes[] = {"", "-wal"};
  *bytes = 0;
  if (store_flush(s, err))
    return -1;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char *path = mem_printf("%s%s", s->db.path, suffixes[i]);
    struct stat st;
    if (!stat(path, &st))
      *bytes += st.st_size;
    free(path);
  }
  return 0;
}

// --- copy ------------------------------------------------------------------

int store_copy(Store *s, const char *dir, Err *err) {
  char *path = mem_printf("%s/store.db", dir);
  int rc = store_flush(s, err);
  if (!rc)
    rc = db_run(&s->db, "VACUUM INTO ?", VALUES(v_text(path)), err);
  free(path);
  return rc;
}
