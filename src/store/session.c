// Sessions: one `culprit run` each.
//
// Whoever works on session N holds it (db_hold), and lets it go by ending,
// however it ends. So:
//
//   unfinished, held      somebody is at work on it: left alone
//   unfinished, not held  its owner was killed: may be continued
//
// Limits: on a file system without locks every session looks abandoned; two
// identical `culprit run` at the same time would then share one.
#include <assert.h>
#include <time.h>

#include "store/internal.h"
#include "store/kept.h"
#include "util/mem.h"

// --- begin, reopen, finish -------------------------------------------------

static const char *timestamp(char text[32]) {
  time_t t = time(NULL);
  struct tm utc;
  gmtime_r(&t, &utc);
  strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// *session = 0: the newest one is finished, other work, or somebody else's.
static int find_unfinished(Store *s, const char *key, int64_t *session,
                           Err *err) {
  *session = 0;
  DbQuery q;
  if (query_start(&q, &s->db,
                  "SELECT id FROM session"
                  " WHERE id = (SELECT max(id) FROM session)"
                  " AND finished IS NULL AND key = ?",
                  VALUES(v_text(key)), err))
    return -1;
  int rc = query_next(&q, err);
  int64_t id = rc > 0 ? query_int(&q, 0) : 0;
  query_end(&q);
  if (rc > 0 && db_hold(&s->db, id))
    *session = id;
  return rc < 0 ? -1 : 0;
}

static int insert_session(Store *s, const char *key, const char *command,
                          const char *cwd, int64_t *session, Err *err) {
  char started[32];
  if (db_insert(&s->db,
                "INSERT INTO session (key, command, cwd, started)"
                " VALUES (?, ?, ?, ?) RETURNING id",
                VALUES(v_text(key), v_text(command), v_text(cwd),
                       v_text(timestamp(started))),
                session, err))
    return -1;
  db_hold(&s->db, *session);
  return 0;
}

typedef struct {
  Store *store;
  const char *key, *command, *cwd;
  int64_t *session;
  bool *continued;
} Beginning;

static int begin_session(void *ctx, Err *err) {
  Beginning *b = ctx;
  Store *s = b->store;
  if (find_unfinished(s, b->key, b->session, err))
    return -1;
  *b->continued = *b->session != 0;
  if (!*b->continued &&
      insert_session(s, b->key, b->command, b->cwd, b->session, err))
    return -1;
  if (*b->session <= 0)
    return db_corrupt(&s->db, err, "impossible session number");
  return 0;
}

int session_begin(Store *s, const char *key, const char *command,
                  const char *cwd, int64_t *session, bool *continued,
                  Err *err) {
  assert(key && command && cwd);
  Beginning b = {s, key, command, cwd, session, continued};
  *session = 0;
  if (!db_write(&s->db, DB_ALONE, begin_session, &b, err))
    return 0;
  if (*session)
    db_let_go(&s->db, *session);
  return -1;
}

static int find_session(Store *s, const char *key, int64_t *session, Err *err) {
  DbQuery q;
  *session = 0;
  if (query_start(&q, &s->db,
                  "SELECT id FROM session WHERE key = ?"
                  " ORDER BY id DESC LIMIT 1",
                  VALUES(v_text(key)), err))
    return -1;
  int rc = query_next(&q, err);
  if (rc > 0)
    *session = query_int(&q, 0);
  query_end(&q);
  return rc < 0 ? -1 : 0;
}

static int extend_session(void *ctx, Err *err) {
  Beginning *b = ctx;
  Store *s = b->store;
  if (find_session(s, b->key, b->session, err))
    return -1;
  *b->continued = *b->session != 0;
  if (!*b->continued)
    return insert_session(s, b->key, b->command, b->cwd, b->session, err);
  db_hold(&s->db, *b->session);
  return 0;
}

int session_extend(Store *s, const char *key, const char *command,
                   const char *cwd, int64_t *session, Err *err) {
  bool continued;
  Beginning b = {s, key, command, cwd, session, &continued};
  return db_write(&s->db, DB_ALONE, extend_session, &b, err);
}

int session_newest(Store *s, int64_t *session, Err *err) {
  *session = 0;
  DbQuery q;
  if (query_start(&q, &s->db,
                  "SELECT id FROM session ORDER BY"
                  " EXISTS (SELECT 1 FROM run WHERE run.session = session.id)"
                  " DESC, id DESC LIMIT 1",
                  NULL, err))
    return -1;
  int rc = query_next(&q, err);
  if (rc > 0) {
    *session = query_int(&q, 0);
    rc = *session > 0 ? 0 : query_corrupt(&q, "session", err);
  }
  query_end(&q);
  return rc;
}

int session_reopen(Store *s, int64_t *session, Err *err) {
  if (session_newest(s, session, err))
    return -1;
  if (!*session)
    return err_set(err, "%s holds no session yet; `culprit run` makes one",
                   s->db.path);
  db_hold(&s->db, *session);
  return 0;
}

char *store_session_key(Store *s, int64_t session, Err *err) {
  DbQuery q;
  char *key = NULL;
  if (query_start(&q, &s->db, "SELECT key FROM session WHERE id = ?",
                  VALUES(v_int(session)), err))
    return NULL;
  int rc = query_next(&q, err);
  if (rc > 0)
    key = mem_strdup(query_text(&q, 0));
  else if (!rc)
    err_set(err, "%s: no session %lld; see `culprit store list`", s->db.path,
            (long long)session);
  query_end(&q);
  return key;
}

static int mark_finished(Store *s, int64_t session, Err *err) {
  char finished[32];
  return session_update(s, "UPDATE session SET finished = ? WHERE id = ?",
                        timestamp(finished), session, err);
}

int session_finish(Store *s, int64_t session, Err *err) {
  if (store_flush(s, err) || mark_finished(s, session, err))
    return -1;
  db_let_go(&s->db, session);
  size_t removed;
  bool may;
  if (store_may_remove(s, &may, err))
    return -1;
  if (!may)
    return 0;
  Err ignored; // what is not folded is only slower to read
  if (db_is_server(&s->db))
    kept_fold(s, session, &ignored);
  return prune_sessions(s, s->keep, session, &removed, err);
}
