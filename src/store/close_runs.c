// What a closer look saw of runs that are in the store already.
#include <assert.h>

#include "store/internal.h"

static int find_run(Store *s, int64_t session, const char *test, int64_t *run,
                    Err *err) {
  DbQuery q;
  if (query_start(&q, &s->db,
                  "SELECT id FROM run WHERE session = ? AND test = ?",
                  VALUES(v_int(session), v_text(test)), err))
    return -1;
  int rc = query_next(&q, err);
  if (rc > 0)
    *run = query_int(&q, 0);
  else if (rc == 0)
    err_set(err, "%s: test %s of session %lld is no longer there", s->db.path,
            test, (long long)session);
  query_end(&q);
  return rc > 0 ? 0 : -1;
}

static int replace_hits(Store *s, int64_t run, EntityKind kind,
                        const Bitset *hits, Err *err) {
  const char *name = entity_kind_name(kind);
  if (db_run(&s->db, "DELETE FROM spectrum WHERE run = ? AND kind = ?",
             VALUES(v_int(run), v_text(name)), err))
    return -1;
  if (!bitset_count(hits))
    return 0;
  Str text = {0};
  bitset_write(hits, &text);
  int rc = db_run(&s->db, "INSERT INTO spectrum VALUES (?, ?, ?)",
                  VALUES(v_int(run), v_text(name), v_blob(text.data, text.len)),
                  err);
  str_release(&text);
  return rc;
}

static int add_close(Store *s, int64_t run, CloseStratum stratum,
                     const Bitset hits[ENTITY_KINDS], const char *wrong,
                     Err *err) {
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    if (CLOSE_KINDS & 1u << k && replace_hits(s, run, k, &hits[k], err))
      return -1;
  return db_run(&s->db, "UPDATE run SET close = ?, wrong = ? WHERE id = ?",
                VALUES(v_int(stratum), v_text(wrong), v_int(run)), err);
}

typedef struct {
  Store *store;
  int64_t session;
  const char *test, *wrong;
  CloseStratum stratum;
  const Bitset *hits;
} CloseLook;

static int write_close(void *ctx, Err *err) {
  CloseLook *c = ctx;
  int64_t run;
  if (find_run(c->store, c->session, c->test, &run, err))
    return -1;
  return add_close(c->store, run, c->stratum, c->hits, c->wrong, err);
}

int store_add_close(Store *s, int64_t session, const char *test,
                    CloseStratum stratum, const Bitset hits[ENTITY_KINDS],
                    const char *wrong, Err *err) {
  assert(session > 0 && stratum > CLOSE_NONE && stratum < CLOSE_STRATA);
  CloseLook c = {s, session, test, wrong, stratum, hits};
  if (store_flush(s, err))
    return -1;
  return db_write(&s->db, DB_ALONE, write_close, &c, err);
}

static int forget_hits(Store *s, int64_t session, Err *err) {
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    if (CLOSE_KINDS & 1u << k &&
        db_run(&s->db,
               "DELETE FROM spectrum WHERE kind = ? AND run IN"
               " (SELECT id FROM run WHERE session = ? AND close > 0)",
               VALUES(v_text(entity_kind_name(k)), v_int(session)), err))
      return -1;
  return db_run(&s->db,
                "UPDATE run SET close = 0, wrong = '' WHERE session = ?",
                VALUES(v_int(session)), err);
}

typedef struct {
  Store *store;
  int64_t session;
} OneSession;

static int forget_close(void *ctx, Err *err) {
  OneSession *o = ctx;
  if (forget_hits(o->store, o->session, err))
    return -1;
  return db_run(&o->store->db, "UPDATE session SET close = '' WHERE id = ?",
                VALUES(v_int(o->session)), err);
}

int store_forget_close(Store *s, int64_t session, Err *err) {
  OneSession o = {s, session};
  if (store_flush(s, err))
    return -1;
  return db_write(&s->db, DB_ALONE, forget_close, &o, err);
}

typedef struct {
  Store *store;
  const char *sql, *text;
  int64_t session;
} SessionUpdate;

static int update_session(void *ctx, Err *err) {
  SessionUpdate *u = ctx;
  return db_run(&u->store->db, u->sql,
                VALUES(v_text(u->text), v_int(u->session)), err);
}

int session_update(Store *s, const char *sql, const char *text, int64_t session,
                   Err *err) {
  SessionUpdate u = {s, sql, text, session};
  return db_write(&s->db, DB_ALONE, update_session, &u, err);
}

int session_set_close(Store *s, int64_t session, const char *close, Err *err) {
  return session_update(s, "UPDATE session SET close = ? WHERE id = ?", close,
                        session, err);
}

int session_set_root(Store *s, int64_t session, const char *dir, Err *err) {
  return session_update(s, "UPDATE session SET root = ? WHERE id = ?", dir,
                        session, err);
}

int session_set_project(Store *s, int64_t session, const char *dir, Err *err) {
  return session_update(s, "UPDATE session SET project = ? WHERE id = ?", dir,
                        session, err);
}
