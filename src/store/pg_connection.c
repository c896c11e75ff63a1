// Connecting to a PostgreSQL server: see db_pg.h.
//
// Our tables are in a schema of their own, "culprit", so that they get along
// with others in the same database; an address that sets search_path
// (?options=-csearch_path%3DNAME) names another.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "store/db_pg.h"
#include "store/store_address.h"
#include "util/clock.h"
#include "util/mem.h"

#define OLDEST_SERVER 120000
#define OLDEST_SERVER_NAME "12"

// --- what went wrong -------------------------------------------------------

// What the server says has a state; what libpq says has none, and is about the
// connection.
static bool is_lost(const PgDb *pg) {
  static const char *const states[] = {"08", "57P01", "57P02", "57P03"};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (pg_state_is(pg, states[i]))
      return true;
  return !*pg->state || PQstatus(pg->conn) == CONNECTION_BAD;
}

bool pg_state_is(const PgDb *pg, const char *state) {
  return !strncmp(pg->state, state, strlen(state));
}

// One line, without "ERROR: " and without a full stop.
static char *one_line(const char *text) {
  static const char *const heads[] = {"ERROR:  ", "FATAL:  ", "PANIC:  "};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    const char *at = strstr(text, heads[i]);
    if (at)
      text = at + strlen(heads[i]);
  }
  return mem_printf("%.*s", (int)strcspn(text, "\n"), text);
}

void pg_note_error(PgDb *pg, const PGresult *result) {
  const char *state =
      result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  const char *text =
      result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
  snprintf(pg->state, sizeof pg->state, "%s", state ? state : "");
  free(pg->message);
  pg->message = one_line(text ? text : PQerrorMessage(pg->conn));
  pg->lost = pg->lost || is_lost(pg);
}

PGresult *pg_ask(PgDb *pg, const char *sql) {
  PGresult *r = PQexec(pg->conn, sql);
  ExecStatusType status = PQresultStatus(r);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
    return r;
  pg_note_error(pg, r);
  PQclear(r);
  return NULL;
}

static int tell(PgDb *pg, const char *sql) {
  PGresult *r = pg_ask(pg, sql);
  PQclear(r);
  return r ? 0 : -1;
}

// --- the address -----------------------------------------------------------

// libpq's own message would quote the address, and with it the password.
static int refuse_address(const Db *db, const char *why, Err *err) {
  return err_set(err,
                 "%s: not an address of a PostgreSQL database (%.*s); write "
                 "postgresql://USER@HOST:PORT/DATABASE, special characters in "
                 "it as %%XX, or service=NAME",
                 db->path, (int)strcspn(why, ":\"\n"), why);
}

static bool is_port(const char *port) {
  return !port || !port[strspn(port, "0123456789,")];
}

static int check_address(const Db *db, const char *address, Err *err) {
  char *why = NULL;
  PQconninfoOption *options = PQconninfoParse(address, &why);
  int rc = 0;
  if (!options)
    rc = refuse_address(db, why ? why : "out of memory", err);
  for (PQconninfoOption *o = options; o && o->keyword; o++)
    if (!strcmp(o->keyword, "port") && !is_port(o->val))
      rc = refuse_address(db, "its port is not a number", err);
  PQconninfoFree(options);
  PQfreemem(why);
  return rc;
}

// --- connecting ------------------------------------------------------------

static void be_silent(void *ctx, const char *message) {
  (void)ctx;
  (void)message;
}

static PGconn *dial(const char *address) {
  // What stands before `dbname` is a default that the address may change.
  const char *keys[] = {"connect_timeout",           "tcp_user_timeout",
                        "fallback_application_name", "dbname",
                        "client_encoding",           NULL};
  const char *values[] = {"10", "30000", "culprit", address, "UTF8", NULL};
  PGconn *conn = PQconnectdbParams(keys, values, 1);
  PQsetNoticeProcessor(conn, be_silent, NULL);
  return conn;
}

static int fail_connect(Db *db, Err *err) {
  PgDb *pg = pg_of(db);
  pg_note_error(pg, NULL);
  if (PQconnectionNeedsPassword(pg->conn) ||
      strstr(pg->message, "password authentication failed"))
    return err_set(err,
                   "%s: %s; put the password into ~/.pgpass, or into the file "
                   "that PGPASSFILE names",
                   db->path, pg->message);
  if (strstr(pg->message, "does not exist"))
    return err_set(err, "%s: %s; `createdb` makes a database", db->path,
                   pg->message);
  return err_set(err,
                 "%s: cannot connect: %s; see whether the server runs, and "
                 "whether host, port and database are right",
                 db->path, pg->message);
}

static int check_server(const Db *db, Err *err) {
  PGconn *conn = pg_of(db)->conn;
  const char *encoding = PQparameterStatus(conn, "server_encoding");
  if (PQserverVersion(conn) < OLDEST_SERVER)
    return err_set(err,
                   "%s: the server is too old; PostgreSQL " OLDEST_SERVER_NAME
                   " or newer is needed",
                   db->path);
  if (encoding && strcmp(encoding, "UTF8") != 0 &&
      strcmp(encoding, "SQL_ASCII") != 0)
    return err_set(err,
                   "%s: its encoding is %s; make a database with `createdb "
                   "--encoding=UTF8 --template=template0 NAME`",
                   db->path, encoding);
  return 0;
}

// --- schema ----------------------------------------------------------------

static bool is_plain_name(const char *s) {
  return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] &&
         strspn(s, "0123456789") == 0;
}

static int choose_schema(Db *db, Err *err) {
  PgDb *pg = pg_of(db);
  PGresult *r = pg_ask(pg, "SHOW search_path");
  if (!r)
    return db_fail(db, err);
  const char *path = PQgetvalue(r, 0, 0);
  if (!strcmp(path, "\"$user\", public"))
    path = "culprit";
  int rc = 0;
  if (is_plain_name(path))
    pg->schema = mem_strdup(path);
  else
    rc = err_set(err,
                 "%s: search_path is %s; it should name one schema, in small "
                 "letters",
                 db->path, path);
  PQclear(r);
  return rc;
}

static int set_up(PgDb *pg) {
  char *sql = mem_printf("SET search_path TO %s; SET lock_timeout TO '30s';"
                         "SET statement_timeout TO 0;"
                         "SET idle_in_transaction_session_timeout TO 0",
                         pg->schema);
  int rc = tell(pg, sql);
  free(sql);
  return rc;
}

int pg_open(Db *db, const char *address, Err *err) {
  PgDb *pg = mem_new(PgDb);
  *db = (Db){.backend = &db_postgres,
             .connection = pg,
             .path = address_shown(address)};
  pg->address = mem_strdup(address);
  pg->message = mem_strdup("");
  if (check_address(db, address, err))
    return -1;
  pg->conn = dial(address);
  if (PQstatus(pg->conn) != CONNECTION_OK)
    return fail_connect(db, err);
  if (check_server(db, err) || choose_schema(db, err))
    return -1;
  pg->lock_class = (int)XXH32(pg->schema, strlen(pg->schema), 0);
  return set_up(pg) ? db_fail(db, err) : 0;
}

// --- connecting again ------------------------------------------------------

static void hold_again(PgDb *pg) {
  for (size_t i = 0; i < pg->held.len; i++) {
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT pg_try_advisory_lock(%d, %d)",
             pg->lock_class, (int)pg->held.items[i]);
    tell(pg, sql);
  }
}

static bool reopen_once(PgDb *pg) {
  PQfinish(pg->conn);
  pg->conn = dial(pg->address);
  pg->lost = pg->in_transaction = pg->queue_fails = false;
  pg->queued = 0;
  for (size_t i = 0; i < pg->statements.len; i++)
    pg->statements.items[i].prepared = false;
  if (PQstatus(pg->conn) != CONNECTION_OK || set_up(pg)) {
    pg_note_error(pg, NULL);
    pg->lost = true;
    return false;
  }
  hold_again(pg);
  return true;
}

bool pg_reopen(Db *db, double give_up) {
  struct timespec pause = {.tv_nsec = 100000000};
  while (!reopen_once(pg_of(db))) {
    if (clock_now() > give_up)
      return false;
    nanosleep(&pause, NULL);
  }
  return true;
}
