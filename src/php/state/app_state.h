// What an application keeps between requests: session files, other files,
// MariaDB tables. A state is saved under a number and restored before a request
// that starts from it; only what has changed since is restored.
//
//   AppState *s;
//   app_state_open(&s, &places, scratch, &err);      // saves state 0: the
//   start
//   ... a request ...
//   app_state_save(s, &id, &err);
//   ... other requests ...
//   app_state_restore(s, id, &err);
#ifndef CULPRIT_PHP_STATE_APP_STATE_H
#define CULPRIT_PHP_STATE_APP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "confine/confine.h"
#include "util/err.h"

typedef struct {
  const Confine *confine;      // of who writes the files; NULL: nobody's. Paths
                               // are as we have them
  const char *own;             // no link in its name; holds what the view is
                               // made of
  const char *tree;            // the application itself, if all that it
                               // writes there is state too; NULL: it is not
  const char *const *excluded; // of the tree; NULL-terminated, or NULL
  const char *session_dir;     // NULL: none
  const char *const *files;    // files and directories the application writes
                               // (SQLite, uploads, caches); NULL-terminated
  const char *mariadb_socket;  // NULL: no database server
  const char *const *databases; // schemas to keep; NULL-terminated
} StatePlaces;

typedef struct AppState AppState;

int app_state_open(AppState **s, const StatePlaces *places, const char *scratch,
                   Err *err);
void app_state_close(AppState *s);

// The state as it is now. States with the same content have the same id.
int app_state_save(AppState *s, uint32_t *id, Err *err);
// Fails if the database server is gone: the message says so.
int app_state_restore(AppState *s, uint32_t id, Err *err);
// A hash of its content: the same for equal contents of different workers,
// whatever their sessions are called. `dir`: the worker's own directory, whose
// name does not count.
uint64_t app_state_digest(const AppState *s, uint32_t id, const char *dir);
// The same of one session; 0: the state has none of that name.
uint64_t app_state_session_digest(const AppState *s, uint32_t id,
                                  const char *session);
// What the last restore changed: "2 files, 1 table".
const char *app_state_last(const AppState *s);

// --- a private MariaDB server -----------------------------------------------

// mariadbd in `dir` on the socket dir/mariadb.sock (one in /tmp if that name is
// too long for a socket), no network, data directory made if it is not there.
// Stopped by mariadb_stop and when the thread that started it ends. It knows no
// privileges: any user and password will do. Its log is `log`.log, that of what
// is loaded `log`-load.log; NULL: beside the socket.
typedef struct MariaDb MariaDb;
int mariadb_start(MariaDb **m, const char *dir, const char *log,
                  const char *sql_mode, Err *err);
const char *mariadb_socket(const MariaDb *m);
bool mariadb_alive(MariaDb *m);
// Runs a file of SQL (the application's schema and first data) in `schema`,
// which is made if it is not there. NULL: only makes that.
int mariadb_load(MariaDb *m, const char *schema, const char *sql_file,
                 Err *err);
void mariadb_stop(MariaDb *m);

#endif
