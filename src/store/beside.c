// What lies beside a store on a server: see beside.h.
//
// STORE_DIR/.agreed says which version of each file both sides had last:
//
//   HASH NAME\n
#include "store/beside.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "store/internal.h"
#include "util/fs.h"
#include "util/mem.h"

enum { MOST_BYTES = 64 << 20 };

static const char *const patterns[] = {"near/*.tsv", "spec/*.tsv", "try/*.tsv",
                                       "made/*/pages/*"};

// The server's names are not believed: none leads out of the directory.
static bool is_ours(const char *name) {
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (!fnmatch(patterns[i], name, FNM_PATHNAME | FNM_PERIOD))
      return true;
  return false;
}

static uint64_t hash_of(const void *data, size_t n) {
  return XXH3_64bits(data, n);
}

// --- what both sides had ---------------------------------------------------

static char *agreed_path(const Store *s) {
  return mem_printf("%s/.agreed", s->dir);
}

static void read_agreed(const Store *s, Hashmap *out) {
  Err ignored;
  Str text = {0};
  char *path = agreed_path(s), *rest = NULL;
  if (!fs_read(path, MOST_BYTES, &text, &ignored) && text.len) {
    str_addc(&text, '\0');
    for (char *line = strtok_r(text.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
      char *name;
      uint64_t hash = strtoull(line, &name, 16);
      if (*name == ' ')
        hashmap_put(out, name + 1, strlen(name + 1), hash);
    }
  }
  str_release(&text);
  free(path);
}

static void add_agreed(Str *out, const char *name, uint64_t hash) {
  str_addf(out, "%016llx %s\n", (unsigned long long)hash, name);
}

static int write_agreed(const Store *s, const Str *text, Err *err) {
  char *path = agreed_path(s);
  int rc = fs_write(path, str_text(text), text->len, err);
  free(path);
  return rc;
}

static bool agrees(const Hashmap *agreed, const char *name, uint64_t hash) {
  uint64_t known;
  return hashmap_get(agreed, name, strlen(name), &known) && known == hash;
}

// --- from the server -------------------------------------------------------

typedef struct {
  Store *store;
  Hashmap agreed;
  Texts names; // to be fetched
  Str now;     // what will be agreed
  Arena arena;
  Err *err;
  bool failed;
} Fetching;

static void read_name(void *ctx, DbQuery *q) {
  Fetching *f = ctx;
  const char *name = query_text(q, 0);
  uint64_t hash = (uint64_t)query_int(q, 1);
  if (!is_ours(name))
    q->bad = true;
  else if (!agrees(&f->agreed, name, hash))
    array_push(&f->names, arena_strdup(&f->arena, name));
  else
    add_agreed(&f->now, name, hash);
}

static int write_file(const char *dir, const char *name, const void *data,
                      size_t n, Err *err) {
  char *path = mem_printf("%s/%s", dir, name);
  char *folder = mem_printf("%.*s", (int)(path_base(path) - path - 1), path);
  int rc = fs_mkdirs(folder, err) || fs_write(path, data, n, err) ? -1 : 0;
  free(path);
  free(folder);
  return rc;
}

static void read_file(void *ctx, DbQuery *q) {
  Fetching *f = ctx;
  size_t n;
  const char *name = query_text(q, 0);
  const void *data = query_blob(q, 1, &n);
  if (q->bad || f->failed)
    return;
  f->failed = write_file(f->store->dir, name, data, n, f->err);
  add_agreed(&f->now, name, hash_of(data, n));
}

// A directory that may be written to.
static int find_place(Store *s, Err *err) {
  if (!fs_mkdirs(s->dir, err) && !access(s->dir, W_OK))
    return 0;
  const char *tmp = getenv("TMPDIR");
  char *dir =
      mem_printf("%s/culprit-beside-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(dir)) {
    err_set(err, "cannot make a directory for the notes of %s: %s: %s", s->name,
            dir, strerror(errno));
    free(dir);
    return -1;
  }
  free(s->dir);
  s->dir = dir;
  s->dir_is_ours = true;
  return 0;
}

static int fetch_files(Fetching *f) {
  Db *db = &f->store->db;
  if (!f->names.len)
    return 0;
  if (find_place(f->store, f->err))
    return -1;
  for (size_t i = 0; i < f->names.len; i++)
    if (query_each(db, "SELECT name, data FROM beside WHERE name = ?",
                   VALUES(v_text(f->names.items[i])), "beside", read_file, f,
                   f->err) ||
        f->failed)
      return -1;
  return write_agreed(f->store, &f->now, f->err);
}

int beside_fetch(Store *s, Err *err) {
  Fetching f = {.store = s, .err = err};
  read_agreed(s, &f.agreed);
  int rc = query_each(&s->db, "SELECT name, hash FROM beside", NULL, "beside",
                      read_name, &f, err);
  if (!rc)
    rc = fetch_files(&f);
  hashmap_release(&f.agreed);
  array_release(&f.names);
  str_release(&f.now);
  arena_release(&f.arena);
  return rc;
}

// --- to the server ---------------------------------------------------------

typedef struct {
  Store *store;
  const char *name;
  Str data;
} SentFile;

static int send_file(void *ctx, Err *err) {
  const SentFile *f = ctx;
  Db *db = &f->store->db;
  if (db_run(db, "DELETE FROM beside WHERE name = ?", VALUES(v_text(f->name)),
             err))
    return -1;
  return db_run(db, "INSERT INTO beside (name, hash, data) VALUES (?, ?, ?)",
                VALUES(v_text(f->name),
                       v_int((int64_t)hash_of(f->data.data, f->data.len)),
                       v_blob(str_text(&f->data), f->data.len)),
                err);
}

static void send_changed(Store *s, const Hashmap *agreed, const char *path,
                         Str *now) {
  Err ignored;
  SentFile f = {.store = s, .name = path + strlen(s->dir) + 1};
  if (!fs_read_regular(path, MOST_BYTES, &f.data, &ignored)) {
    uint64_t hash = hash_of(str_text(&f.data), f.data.len);
    if (agrees(agreed, f.name, hash) ||
        !db_write(&s->db, DB_ALONE, send_file, &f, &ignored))
      add_agreed(now, f.name, hash);
  }
  str_release(&f.data);
}

static void send_matching(Store *s, const Hashmap *agreed, const char *pattern,
                          Str *now) {
  glob_t found;
  char *full = mem_printf("%s/%s", s->dir, pattern);
  if (!glob(full, 0, NULL, &found)) {
    for (size_t i = 0; i < found.gl_pathc; i++)
      send_changed(s, agreed, found.gl_pathv[i], now);
    globfree(&found);
  }
  free(full);
}

void beside_send(Store *s) {
  Err ignored;
  Hashmap agreed = {0};
  Str now = {0};
  read_agreed(s, &agreed);
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    send_matching(s, &agreed, patterns[i], &now);
  if (now.len)
    write_agreed(s, &now, &ignored);
  hashmap_release(&agreed);
  str_release(&now);
}

void beside_release(Store *s) {
  if (s->dir_is_ours)
    fs_remove_tree(s->dir);
}
