// A connection to MariaDB: see sql.h.
#include "php/state/sql.h"

#include <errmsg.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void begin_library(void) { mysql_library_init(0, NULL, NULL); }

static int fail(const Sql *s, const char *text, Err *err) {
  unsigned code = mysql_errno(s->db);
  bool gone = code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST ||
              code == CR_CONNECTION_ERROR || code == CR_CONN_HOST_ERROR;
  if (gone)
    return err_set(err,
                   "the database server on %s is gone (%s); its log is one of "
                   "logs/mariadb-*.log in the store's directory",
                   s->socket, mysql_error(s->db));
  return err_set(err, "MariaDB: %s, at: %.200s", mysql_error(s->db), text);
}

Sql *sql_open(const char *socket, Err *err) {
  pthread_once(&once, begin_library);
  Sql *s = mem_new(Sql);
  s->socket = mem_strdup(socket);
  s->db = mysql_init(NULL);
  if (mysql_real_connect(s->db, NULL, "root", "", NULL, 0, socket,
                         CLIENT_MULTI_STATEMENTS) &&
      !mysql_query(s->db, "SET NAMES utf8mb4"))
    return s;
  fail(s, "connect", err);
  sql_close(s);
  return NULL;
}

void sql_close(Sql *s) {
  if (!s)
    return;
  mysql_close(s->db);
  free(s->socket);
  free(s);
}

static char *format(const char *fmt, va_list ap) {
  char *text = NULL;
  if (vasprintf(&text, fmt, ap) < 0)
    mem_alloc_array(SIZE_MAX, 2); // out of memory: dies
  return text;
}

int sql_run(Sql *s, Err *err, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = format(fmt, ap);
  va_end(ap);
  int rc = mysql_real_query(s->db, text, strlen(text));
  while (!rc) { // one answer a statement
    mysql_free_result(mysql_store_result(s->db));
    rc = mysql_next_result(s->db);
  }
  rc = rc > 0 ? fail(s, text, err) : 0; // -1: that was the last
  free(text);
  return rc;
}

MYSQL_RES *sql_rows(Sql *s, Err *err, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = format(fmt, ap);
  va_end(ap);
  MYSQL_RES *rows = NULL;
  if (!mysql_real_query(s->db, text, strlen(text)))
    rows = mysql_store_result(s->db);
  if (!rows)
    fail(s, text, err);
  free(text);
  return rows;
}

MYSQL_RES *sql_more(Sql *s, Err *err) {
  MYSQL_RES *rows = NULL;
  if (mysql_next_result(s->db) == 0)
    rows = mysql_store_result(s->db);
  if (!rows)
    fail(s, "a later statement", err);
  return rows;
}

MYSQL_RES *sql_stream(Sql *s, Err *err, const char *text) {
  MYSQL_RES *rows = NULL;
  if (!mysql_real_query(s->db, text, strlen(text)))
    rows = mysql_use_result(s->db);
  if (!rows)
    fail(s, text, err);
  return rows;
}

int sql_check(Sql *s, const char *text, Err *err) {
  return mysql_errno(s->db) ? fail(s, text, err) : 0;
}

void sql_quote(Str *out, const char *name) {
  str_addc(out, '`');
  for (; *name; name++) {
    str_addc(out, *name);
    if (*name == '`')
      str_addc(out, '`');
  }
  str_addc(out, '`');
}

void sql_literal(Sql *s, Str *out, const char *text) {
  size_t n = strlen(text);
  char *buf = mem_alloc(2 * n + 1);
  mysql_real_escape_string(s->db, buf, text, n);
  str_addf(out, "'%s'", buf);
  free(buf);
}
