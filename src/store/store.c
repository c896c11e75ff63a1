// Opening and closing the store: see store.h.
#include "store/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"
#include "store/schema.h"
#include "util/fs.h"
#include "util/mem.h"

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

static bool is_blank(const char *path) {
  struct stat st;
  return stat(path, &st) || (S_ISREG(st.st_mode) && st.st_size == 0);
}

static int open_tables(Store *s, StoreMode mode, Err *err) {
  int version;
  if (schema_check(&s->db, &version, err))
    return -1;
  if (version == STORE_VERSION)
    return 0;
  if (!version && mode == STORE_EXISTING)
    return no_store(s->dir, err);
  return schema_create(&s->db, err);
}

static int open_all(Store *s, const char *path, StoreMode mode, Err *err) {
  if (read_keep(&s->keep, err))
    return -1;
  if (!*s->dir)
    return err_set(err, "the name of the store's directory is empty");
  if (mode == STORE_EXISTING && is_blank(path))
    return no_store(s->dir, err);
  if (mode == STORE_CREATE && fs_mkdirs(s->dir, err))
    return -1;
  if (db_open(&s->db, path, mode == STORE_CREATE, err))
    return -1;
  return open_tables(s, mode, err);
}

int store_open(Store **out, const char *dir, StoreMode mode, Err *err) {
  Store *s = mem_new(Store);
  s->dir = mem_strdup(dir);
  s->lock_fd = -1;
  char *path = mem_printf("%s/store.db", dir);
  int rc = open_all(s, path, mode, err);
  free(path);
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
  if (s->lock_fd >= 0)
    close(s->lock_fd);
  free(s->dir);
  free(s);
}

const char *store_dir(const Store *s) { return s->dir; }

size_t store_keep(const Store *s) { return s->keep; }
