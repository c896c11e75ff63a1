// Sessions: one `culprit run` each.
//
// Whoever works on session N holds a lock on byte N of the file store.lock. The
// kernel drops it when the process ends, however it ends, so:
//
//   unfinished, byte locked      somebody is at work on it: left alone
//   unfinished, byte not locked  its owner was killed: may be continued
//
// Locks belong to the open file (F_OFD_SETLK), not to the process: two Stores
// in one process exclude each other too, and a test program, which is started
// with the descriptor closed, cannot keep a session alive.
//
// Limits: on a file system without locks every session looks abandoned; two
// identical `culprit run` at the same time would then share one.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/internal.h"
#include "util/mem.h"

// --- which process holds a session -----------------------------------------

static int lock_file(Store *s) {
  if (s->lock_fd < 0) {
    char *path = mem_printf("%s/store.lock", s->dir);
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    free(path);
  }
  return s->lock_fd;
}

static struct flock byte_lock(int64_t session, short type) {
  return (struct flock){
      .l_type = type, .l_whence = SEEK_SET, .l_start = session, .l_len = 1};
}

static bool hold(Store *s, int64_t session) {
  struct flock lock = byte_lock(session, F_WRLCK);
  return fcntl(lock_file(s), F_OFD_SETLK, &lock) == 0 ||
         (errno != EAGAIN && errno != EACCES);
}

static void let_go(Store *s, int64_t session) {
  struct flock lock = byte_lock(session, F_UNLCK);
  fcntl(lock_file(s), F_OFD_SETLK, &lock);
}

bool session_is_held(Store *s, int64_t session) {
  struct flock lock = byte_lock(session, F_WRLCK);
  return fcntl(lock_file(s), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

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
  if (rc > 0 && hold(s, id))
    *session = id;
  return rc < 0 ? -1 : 0;
}

static int insert_session(Store *s, const char *key, const char *command,
                          const char *cwd, int64_t *session, Err *err) {
  char started[32];
  if (db_run(&s->db,
             "INSERT INTO session (key, command, cwd, started)"
             " VALUES (?, ?, ?, ?)",
             VALUES(v_text(key), v_text(command), v_text(cwd),
                    v_text(timestamp(started))),
             err))
    return -1;
  *session = sqlite3_last_insert_rowid(s->db.handle);
  hold(s, *session);
  return 0;
}

int session_begin(Store *s, const char *key, const char *command,
                  const char *cwd, int64_t *session, bool *continued,
                  Err *err) {
  assert(key && command && cwd);
  if (db_begin_write(&s->db, err))
    return -1;
  int rc = find_unfinished(s, key, session, err);
  *continued = *session != 0;
  if (!rc && !*continued)
    rc = insert_session(s, key, command, cwd, session, err);
  if (!rc && *session <= 0)
    rc = db_corrupt(&s->db, err, "impossible session number");
  if (!rc && !db_commit(&s->db, err))
    return 0;
  db_rollback(&s->db);
  if (*session)
    let_go(s, *session);
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

int session_extend(Store *s, const char *key, const char *command,
                   const char *cwd, int64_t *session, Err *err) {
  if (db_begin_write(&s->db, err))
    return -1;
  int rc = find_session(s, key, session, err);
  if (!rc && *session)
    hold(s, *session);
  else if (!rc)
    rc = insert_session(s, key, command, cwd, session, err);
  if (!rc && !db_commit(&s->db, err))
    return 0;
  db_rollback(&s->db);
  return -1;
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
  hold(s, *session);
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
  if (db_begin_write(&s->db, err))
    return -1;
  if (db_run(&s->db, "UPDATE session SET finished = ? WHERE id = ?",
             VALUES(v_text(timestamp(finished)), v_int(session)), err)) {
    db_rollback(&s->db);
    return -1;
  }
  return db_commit(&s->db, err);
}

int session_finish(Store *s, int64_t session, Err *err) {
  if (store_flush(s, err) || mark_finished(s, session, err))
    return -1;
  let_go(s, session);
  size_t removed;
  return prune_sessions(s, s->keep, session, &removed, err);
}
