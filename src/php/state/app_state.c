// What an application keeps between requests: see app_state.h. A state is a
// list of files and a list of tables with the versions of their contents;
// equal lists are one state.
#include "php/state/app_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "php/state/state_files.h"
#include "php/state/state_tables.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"

typedef struct {
  FileEntries files;
  TableEntries tables;
} SavedState;

struct AppState {
  FileState *files;
  TableState *tables; // NULL: no database
  char *sessions;     // directory; NULL: none
  Hashmap ids;
  ARRAY(SavedState) snapshots;
  char last[64];
};

static void snapshot_release(SavedState *s) {
  array_release(&s->files);
  array_release(&s->tables);
}

int app_state_open(AppState **out, const StatePlaces *places,
                   const char *scratch, Err *err) {
  AppState *s = mem_new(AppState);
  char *dir = path_absolute(scratch, NULL);
  uint32_t first;
  if (places->session_dir)
    s->sessions = path_absolute(places->session_dir, NULL);
  int rc = file_state_open(&s->files, places, dir, err);
  if (!rc && places->mariadb_socket && places->databases)
    rc = table_state_open(&s->tables, places->mariadb_socket, places->databases,
                          err);
  if (!rc)
    rc = app_state_save(s, &first, err);
  free(dir);
  *out = rc ? NULL : s;
  if (rc)
    app_state_close(s);
  return rc;
}

void app_state_close(AppState *s) {
  if (!s)
    return;
  for (size_t i = 0; i < s->snapshots.len; i++)
    snapshot_release(&s->snapshots.items[i]);
  array_release(&s->snapshots);
  hashmap_release(&s->ids);
  table_state_close(s->tables);
  file_state_close(s->files);
  free(s->sessions);
  free(s);
}

static uint32_t intern(AppState *s, SavedState *shot) {
  Str key = {0};
  file_entries_key(&shot->files, &key);
  str_addc(&key, '\0');
  if (shot->tables.len)
    str_addn(&key, shot->tables.items,
             shot->tables.len * sizeof *shot->tables.items);
  uint64_t fresh = s->snapshots.len;
  uint64_t id = hashmap_intern(&s->ids, key.data, key.len, fresh);
  if (id == fresh)
    array_push(&s->snapshots, *shot);
  else
    snapshot_release(shot);
  str_release(&key);
  return (uint32_t)id;
}

int app_state_save(AppState *s, uint32_t *id, Err *err) {
  SavedState shot = {0};
  int rc = file_state_save(s->files, &shot.files, err);
  if (!rc && s->tables)
    rc = table_state_save(s->tables, &shot.tables, err);
  if (rc)
    snapshot_release(&shot);
  else
    *id = intern(s, &shot);
  return rc;
}

int app_state_restore(AppState *s, uint32_t id, Err *err) {
  size_t files = 0, tables = 0;
  if (id >= s->snapshots.len)
    return err_set(err, "no state %u was saved", id);
  const SavedState *shot = &s->snapshots.items[id];
  int rc = file_state_restore(s->files, &shot->files, &files, err);
  if (!rc && s->tables)
    rc = table_state_restore(s->tables, &shot->tables, &tables, err);
  snprintf(s->last, sizeof s->last, "%zu file%s, %zu table%s", files,
           files == 1 ? "" : "s", tables, tables == 1 ? "" : "s");
  return rc;
}

uint64_t app_state_digest(const AppState *s, uint32_t id, const char *dir) {
  const SavedState *shot = &s->snapshots.items[id];
  uint64_t files =
      file_entries_digest(s->files, &shot->files, dir, s->sessions);
  uint64_t tables =
      s->tables ? table_state_digest(s->tables, &shot->tables) : 0;
  return files * 31 + tables;
}

static int by_path(const void *path, const void *entry) {
  return strcmp(path, ((const FileEntry *)entry)->path);
}

uint64_t app_state_session_digest(const AppState *s, uint32_t id,
                                  const char *session) {
  const FileEntries *files = &s->snapshots.items[id].files;
  if (!s->sessions || strchr(session, '/') || !files->len)
    return 0;
  char *path = mem_printf("%s/" SESSION_FILE "%s", s->sessions, session);
  const FileEntry *e =
      bsearch(path, files->items, files->len, sizeof *files->items, by_path);
  free(path);
  return e ? e->hash.low64 | 1 : 0;
}

const char *app_state_last(const AppState *s) { return s->last; }
