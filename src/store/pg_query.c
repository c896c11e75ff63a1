// Statements of a PostgreSQL connection: see db_pg.h. All values travel in
// PostgreSQL's binary form: numbers in network byte order.
#include <assert.h>
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/db_dialect.h"
#include "store/db_pg.h"
#include "util/clock.h"
#include "util/mem.h"

enum {
  MAX_VALUES = 24,
  // The server's answers to so many fit into a socket's buffer: it can always
  // write them, and so always reads on.
  MAX_QUEUED = 256,
  // From the catalogue pg_type, the same in every server.
  OID_BOOL = 16,
  OID_BYTEA = 17,
  OID_NAME = 19,
  OID_INT8 = 20,
  OID_INT2 = 21,
  OID_INT4 = 23,
  OID_TEXT = 25,
  OID_FLOAT8 = 701,
  OID_VARCHAR = 1043
};

// --- parameters ------------------------------------------------------------

typedef struct {
  int n;
  Oid types[MAX_VALUES];
  const char *values[MAX_VALUES];
  int lengths[MAX_VALUES], formats[MAX_VALUES];
  uint64_t numbers[MAX_VALUES];
  Str texts[MAX_VALUES]; // of what had to be encoded
} Parameters;

static void set_number(Parameters *p, Oid type, uint64_t bits) {
  p->types[p->n] = type;
  p->numbers[p->n] = htobe64(bits);
  p->values[p->n] = (const char *)&p->numbers[p->n];
  p->lengths[p->n] = sizeof *p->numbers;
}

static void set_bytes(Parameters *p, Oid type, const void *bytes, size_t n) {
  p->types[p->n] = type;
  p->values[p->n] = n ? bytes : ""; // NULL would be NULL
  p->lengths[p->n] = (int)n;
}

static void set_text(Parameters *p, const char *text) {
  Str *own = &p->texts[p->n];
  if (!dialect_plain(text)) {
    dialect_encode(text, own);
    text = str_text(own);
  }
  set_bytes(p, OID_TEXT, text, strlen(text));
}

static void set_value(Parameters *p, const Value *v) {
  uint64_t bits;
  p->formats[p->n] = 1; // binary
  switch (v->type) {
  case V_INT:
    set_number(p, OID_INT8, (uint64_t)v->i);
    break;
  case V_REAL:
    memcpy(&bits, &v->r, sizeof bits);
    set_number(p, OID_FLOAT8, bits);
    break;
  case V_TEXT:
    set_text(p, v->p);
    break;
  case V_BLOB:
    set_bytes(p, OID_BYTEA, v->p, v->n);
    break;
  default: // NULL, of whatever type the server finds out
    p->types[p->n] = 0;
    p->values[p->n] = NULL;
  }
  p->n++;
}

static void set_values(Parameters *p, const Value *values) {
  p->n = 0;
  memset(p->texts, 0, sizeof p->texts);
  for (; values && values->type != V_END; values++) {
    assert(p->n < MAX_VALUES);
    set_value(p, values);
  }
}

static void parameters_release(Parameters *p) {
  for (int i = 0; i < p->n; i++)
    str_release(&p->texts[i]);
}

// --- statements ------------------------------------------------------------

// `name` receives the name it has on the server.
static PgStatement *find_statement(PgDb *pg, const char *sql, char name[24]) {
  size_t i = 0;
  while (i < pg->statements.len && pg->statements.items[i].sql != sql)
    i++;
  if (i == pg->statements.len)
    array_push(&pg->statements, (PgStatement){sql, dialect_postgres(sql), 0});
  snprintf(name, 24, "s%zu", i);
  return &pg->statements.items[i];
}

static bool succeeded(const PGresult *r) {
  ExecStatusType status = PQresultStatus(r);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
         status == PGRES_SINGLE_TUPLE;
}

// A type that was NULL the first time is the server's to find out.
static int prepare(PgDb *pg, const char *sql, const Parameters *p,
                   char name[24]) {
  PgStatement *s = find_statement(pg, sql, name);
  if (s->prepared)
    return 0;
  if (pg_collect(pg))
    return -1;
  PGresult *r = PQprepare(pg->conn, name, s->text, p->n, p->types);
  s->prepared = succeeded(r);
  if (!s->prepared)
    pg_note_error(pg, r);
  PQclear(r);
  return s->prepared ? 0 : -1;
}

// --- the queue -------------------------------------------------------------

// Reads one statement's results, the first error of all is noted.
static void collect_one(PgDb *pg) {
  PGresult *r;
  while ((r = PQgetResult(pg->conn))) {
    ExecStatusType status = PQresultStatus(r);
    if (!succeeded(r) && status != PGRES_PIPELINE_ABORTED && !pg->queue_fails) {
      pg->queue_fails = true;
      pg_note_error(pg, r);
    }
    PQclear(r);
  }
}

static int lose(PgDb *pg) {
  pg_note_error(pg, NULL);
  pg->lost = true;
  pg->queued = 0;
  return -1;
}

int pg_collect(PgDb *pg) {
  if (!pg->queued)
    return 0;
  if (!PQpipelineSync(pg->conn))
    return lose(pg);
  pg->queue_fails = false;
  for (; pg->queued; pg->queued--)
    collect_one(pg);
  PGresult *r = PQgetResult(pg->conn); // of the synchronization
  PQclear(r);
  if (!r || !PQexitPipelineMode(pg->conn))
    return pg->queue_fails ? -1 : lose(pg);
  return pg->queue_fails ? -1 : 0;
}

static int send_queued(PgDb *pg, const char *sql, const Parameters *p) {
  char name[24];
  if (prepare(pg, sql, p, name))
    return -1;
  if (!pg->queued && !PQenterPipelineMode(pg->conn))
    return lose(pg);
  if (!PQsendQueryPrepared(pg->conn, name, p->n, p->values, p->lengths,
                           p->formats, 1))
    return lose(pg);
  return ++pg->queued < MAX_QUEUED ? 0 : pg_collect(pg);
}

int pg_queue(Db *db, const char *sql, const Value *values, Err *err) {
  Parameters p;
  if (pg_of(db)->lost)
    return db_fail(db, err);
  set_values(&p, values);
  int rc = send_queued(pg_of(db), sql, &p);
  parameters_release(&p);
  return rc ? db_fail(db, err) : 0;
}

// --- queries ---------------------------------------------------------------

typedef struct {
  PGresult *result; // all rows, or the current one of a stream
  int row;
  bool stream;
  ARRAY(char *) texts; // of this row, decoded
} PgQuery;

static PgQuery *own(DbQuery *q) { return q->stmt; }

static int run_statement(PgDb *pg, PgQuery *own, const char *sql,
                         const Parameters *p) {
  char name[24];
  if (pg_collect(pg) || prepare(pg, sql, p, name))
    return -1;
  if (own->stream) {
    if (!PQsendQueryPrepared(pg->conn, name, p->n, p->values, p->lengths,
                             p->formats, 1) ||
        !PQsetSingleRowMode(pg->conn))
      return lose(pg);
    return 0;
  }
  own->result = PQexecPrepared(pg->conn, name, p->n, p->values, p->lengths,
                               p->formats, 1);
  if (succeeded(own->result))
    return 0;
  pg_note_error(pg, own->result);
  PQclear(own->result);
  own->result = NULL;
  return -1;
}

// Outside of a transaction nothing is lost with a connection but time.
static int run_anew(Db *db, PgQuery *own, const char *sql,
                    const Parameters *p) {
  PgDb *pg = pg_of(db);
  bool fresh = !pg->in_transaction;
  if (pg->lost && (!fresh || !pg_reopen(db, clock_now() + 10)))
    return -1;
  int rc = run_statement(pg, own, sql, p);
  if (rc && pg->lost && fresh && pg_reopen(db, clock_now() + 10))
    rc = run_statement(pg, own, sql, p);
  return rc;
}

int pg_start(DbQuery *q, const char *sql, const Value *values, bool stream,
             Err *err) {
  Parameters p;
  set_values(&p, values);
  q->stmt = mem_new(PgQuery);
  own(q)->row = -1;
  own(q)->stream = stream;
  int rc = run_anew(q->db, q->stmt, sql, &p);
  parameters_release(&p);
  if (!rc)
    return 0;
  free(q->stmt);
  return db_fail(q->db, err);
}

static void forget_texts(PgQuery *own) {
  for (size_t i = 0; i < own->texts.len; i++)
    free(own->texts.items[i]);
  own->texts.len = 0;
}

static int next_of_stream(DbQuery *q, Err *err) {
  PgQuery *own_ = own(q);
  PQclear(own_->result);
  own_->result = PQgetResult(pg_of(q->db)->conn);
  own_->row = 0;
  if (!own_->result)
    return 0;
  if (!succeeded(own_->result)) {
    pg_note_error(pg_of(q->db), own_->result);
    return db_fail(q->db, err);
  }
  return PQntuples(own_->result) > 0 ? 1 : next_of_stream(q, err);
}

int pg_next(DbQuery *q, Err *err) {
  forget_texts(own(q));
  if (own(q)->stream)
    return next_of_stream(q, err);
  return ++own(q)->row < PQntuples(own(q)->result);
}

// A stream that was left half-way is read to its end: the connection takes no
// other statement before.
void pg_end(DbQuery *q) {
  PgQuery *own_ = own(q);
  while (own_->stream && own_->result) {
    PQclear(own_->result);
    own_->result = PQgetResult(pg_of(q->db)->conn);
  }
  PQclear(own_->result);
  forget_texts(own_);
  array_release(&own_->texts);
  free(own_);
  q->stmt = NULL;
}

// --- values ----------------------------------------------------------------

int pg_type(DbQuery *q, int col) {
  const PGresult *r = own(q)->result;
  if (PQgetisnull(r, own(q)->row, col))
    return V_NULL;
  switch (PQftype(r, col)) {
  case OID_BOOL:
  case OID_INT2:
  case OID_INT4:
  case OID_INT8:
    return V_INT;
  case OID_FLOAT8:
    return V_REAL;
  case OID_TEXT:
  case OID_NAME:
  case OID_VARCHAR:
    return V_TEXT;
  case OID_BYTEA:
    return V_BLOB;
  default:
    return V_END; // none of ours
  }
}

static const char *raw(DbQuery *q, int col) {
  return PQgetvalue(own(q)->result, own(q)->row, col);
}

int64_t pg_integer(DbQuery *q, int col) {
  const unsigned char *p = (const unsigned char *)raw(q, col);
  int n = PQgetlength(own(q)->result, own(q)->row, col);
  uint64_t bits = n && p[0] & 0x80 ? UINT64_MAX : 0;
  for (int i = 0; i < n; i++)
    bits = bits << 8 | p[i];
  return (int64_t)bits;
}

double pg_real(DbQuery *q, int col) {
  int64_t bits = pg_integer(q, col);
  double r;
  memcpy(&r, &bits, sizeof r);
  return r;
}

const char *pg_text(DbQuery *q, int col) {
  const char *text = raw(q, col);
  char *decoded = dialect_decode(text);
  if (!decoded)
    return text;
  array_push(&own(q)->texts, decoded);
  return decoded;
}

const void *pg_blob(DbQuery *q, int col, size_t *n) {
  *n = (size_t)PQgetlength(own(q)->result, own(q)->row, col);
  return *n ? raw(q, col) : NULL;
}
