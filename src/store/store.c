// Opening and closing the store: see store.h.
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"
#include "store/schema.h"
#include "store/store_address.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { DEFAULT_KEEP = 10 };

char *store_find(const char *option) {
  if (option)
    return mem_strdup(option);
  const char *env = getenv("CULPRIT_STORE");
  return mem_strdup(env && *env ? env : ".culprit");
}

// CULPRIT_KEEP is looked at when the store is opened: a run that takes hours
// must not learn at its end that a variable is wrong.
static int read_keep(size_t *keep, Err *err) {
  *keep = DEFAULT_KEEP;
  const char *env = getenv("CULPRIT_KEEP");
  if (!env || !*env)
    return 0;
  char *end;
  unsigned long n = strtoul(env, &end, 10);
  if (*end || *env < '0' || *env > '9' || !n)
    return err_set(err,
                   "CULPRIT_KEEP=%s: should be the number of sessions to "
                   "keep, 1 or more",
                   env);
  *keep = n;
  return 0;
}

static int no_store(const char *dir, Err *err) {
  return err_set(err,
                 "%s: no runs are stored here; `culprit run` stores some, "
                 "--store names another directory",
                 dir);
}

// 1: there is no store; -1: there may be one, but it cannot be looked at.
static int is_blank(const char *path, Err *err) {
  struct stat st;
  if (!stat(path, &st))
    return S_ISREG(st.st_mode) && st.st_size == 0;
  if (errno == ENOENT || errno == ENOTDIR)
    return 1;
  return err_set(err, "%s: %s", path, strerror(errno));
}

static int open_tables(Store *s, StoreMode mode, Err *err) {
  int version;
  if (schema_check(&s->db, &version, err))
    return -1;
  if (version == STORE_VERSION)
    return 0;
  if (!version && mode == STORE_EXISTING)
    return no_store(s->name, err);
  return schema_create(&s->db, err);
}

// --- a store that we may only read ------------------------------------------

static bool may_write(const char *path) {
  return !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

// Is there something in its write-ahead log, for instance of a killed process?
static bool has_log(const char *path) {
  struct stat st;
  char *log = mem_printf("%s-wal", path);
  bool has = !stat(log, &st) && st.st_size > 0;
  free(log);
  return has;
}

static int copy_file(const char *from, const char *to, Err *err) {
  char buf[65536];
  int in = open(from, O_RDONLY | O_CLOEXEC);
  int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  ssize_t n = in < 0 || out < 0 ? -1 : 0;
  while (n >= 0 && (n = read(in, buf, sizeof buf)) > 0)
    if (write(out, buf, (size_t)n) != n)
      n = -1;
  int rc = n < 0 ? err_set(err, "cannot copy %s to %s: %s", from, to,
                           strerror(errno))
                 : 0;
  if (in >= 0)
    close(in);
  if (out >= 0)
    close(out);
  return rc;
}

static int copy_store(const char *path, const char *to, Err *err) {
  if (copy_file(path, to, err))
    return -1;
  char *log = mem_printf("%s-wal", path), *log_to = mem_printf("%s-wal", to);
  int rc = has_log(path) ? copy_file(log, log_to, err) : 0;
  free(log);
  free(log_to);
  return rc;
}

// In a copy the log can be read and tables of an older version be brought up to
// date. Its files are removed at once: the open one serves us as long as we
// need it. What would be written to it would be lost, and is refused.
static int open_copy(Store *s, const char *path, Err *err) {
  const char *tmp = getenv("TMPDIR");
  char *dir = mem_printf("%s/culprit-store-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(dir)) {
    err_set(err, "cannot make a directory for a copy of %s: %s: %s", path, dir,
            strerror(errno));
    free(dir);
    return -1;
  }
  char *copy = mem_printf("%s/store.db", dir);
  int rc = copy_store(path, copy, err) ||
                   db_open(&s->db, copy, DB_WRITE, err) ||
                   db_exec(&s->db, "PRAGMA journal_mode = DELETE", err) ||
                   open_tables(s, STORE_EXISTING, err) ||
                   db_exec(&s->db, "PRAGMA query_only = ON", err)
               ? -1
               : 0;
  fs_remove_tree(dir);
  free(s->db.path);
  s->db.path = mem_strdup(path);
  free(copy);
  free(dir);
  return rc;
}

// As it is if that works, else a copy of our own.
static int open_read_only(Store *s, const char *path, Err *err) {
  int version = 0;
  int rc = db_open(&s->db, path, has_log(path) ? DB_READ : DB_IMMUTABLE, err);
  rc = rc || schema_check(&s->db, &version, err) ? -1 : 0;
  if (!rc && !version)
    return no_store(s->dir, err);
  if (rc ? !db_needs_writing(&s->db) ||
               faccessat(AT_FDCWD, path, R_OK, AT_EACCESS)
         : version == STORE_VERSION)
    return rc;
  db_close(&s->db);
  return open_copy(s, path, err);
}

// --- opening and closing ----------------------------------------------------

static int open_existing(Store *s, const char *path, Err *err) {
  int blank = is_blank(path, err);
  if (blank)
    return blank < 0 ? -1 : no_store(s->dir, err);
  if (!may_write(path) || !may_write(s->dir))
    return open_read_only(s, path, err);
  if (db_open(&s->db, path, DB_WRITE, err))
    return -1;
  return open_tables(s, STORE_EXISTING, err);
}

// What is in .culprit is nothing to be committed. A directory of another name
// may hold the user's own files.
static void ignore_by_git(const char *dir) {
  Err ignored;
  char *path = mem_printf("%s/.gitignore", dir);
  if (!strcmp(path_base(dir), ".culprit") && !fs_exists(path))
    fs_write(path, "*\n", 2, &ignored);
  free(path);
}

static int make_directory(const char *dir, Err *err) {
  if (fs_mkdirs(dir, err))
    return -1;
  ignore_by_git(text_starts(dir, ".culprit/") ? ".culprit" : dir);
  return 0;
}

static int open_server(Store *s, const char *address, StoreMode mode,
                       Err *err) {
  if (db_connect(&s->db, address, err))
    return -1;
  if (mode == STORE_CREATE && make_directory(s->dir, err))
    return -1;
  return open_tables(s, mode, err);
}

static int open_directory(Store *s, const char *path, StoreMode mode,
                          Err *err) {
  if (mode == STORE_EXISTING)
    return open_existing(s, path, err);
  if (make_directory(s->dir, err))
    return -1;
  if (db_open(&s->db, path, DB_CREATE, err))
    return -1;
  return open_tables(s, mode, err);
}

static int open_all(Store *s, const char *where, StoreMode mode, Err *err) {
  if (read_keep(&s->keep, err))
    return -1;
  if (!*where)
    return err_set(err, "the name of the store's directory is empty");
  if (address_is_server(where))
    return open_server(s, where, mode, err);
  char *path = mem_printf("%s/store.db", where);
  int rc = open_directory(s, path, mode, err);
  free(path);
  return rc;
}

int store_open(Store **out, const char *where, StoreMode mode, Err *err) {
  Store *s = mem_new(Store);
  s->dir = address_directory(where);
  s->name = address_shown(where);
  int rc = open_all(s, where, mode, err);
  if (rc) {
    store_close(s);
    s = NULL;
  }
  *out = s;
  return rc;
}

void store_close(Store *s) {
  if (!s)
    return;
  Err ignored;
  store_flush(s, &ignored);
  for (size_t i = 0; i < s->pending.len; i++)
    pending_release(&s->pending.items[i]);
  array_release(&s->pending);
  registry_release(&s->registry);
  db_close(&s->db);
  free(s->dir);
  free(s->name);
  free(s);
}

const char *store_dir(const Store *s) { return s->dir; }

const char *store_name(const Store *s) { return s->name; }

size_t store_keep(const Store *s) { return s->keep; }
