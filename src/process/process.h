// Executes up to N processes at once. One thread watches them and sleeps until
// something happens; other threads start them (spawn.h).
//
//   Pool *pool;
//   pool_open(&pool, 2, err);
//   pool_start(pool, 0, &a);
//   pool_start(pool, 1, &b);
//   while ((event = pool_wait(pool, -1, &slot, &outcome)) == POOL_ENDED) ...
//   pool_close(pool);
//
// Each process leads a session and process group of its own. When it ends or
// times out, the pool kills everything it left behind before it reports the
// end: the group at once, and processes that left the group (daemons, a fork
// bomb) one by one, because orphaned descendants become children of culprit
// (PR_SET_CHILD_SUBREAPER).
//
// pool_wait reports SIGINT, SIGTERM or SIGHUP (util/stop.h) as an event, once.
// If a test sent the signal, the pool ignores it and notes it in the outcome of
// the test's slot; the same holds for SIGQUIT, SIGALRM, SIGUSR1 and SIGUSR2. (A
// sender that was reaped before the pool could look counts as the user. Of two
// equal signals that arrive together the kernel keeps one.)
//
// Limits: the pool cannot tell to which running test an orphan belongs that
// also cleared its environment; it kills such an orphan when no other test
// runs, at the latest in pool_close. It gives up on a process that survives
// SIGKILL for PROCESS_GIVE_UP seconds.
#ifndef CULPRIT_PROCESS_PROCESS_H
#define CULPRIT_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "confine/confine.h"
#include "process/words.h"
#include "util/err.h"

enum {
  PROCESS_GIVE_UP = 5,  // seconds
  PROCESSES_MAX = 2000, // of one test: more is a test that forks for ever
};

typedef struct {
  const char *path; // what is executed
  char *const *argv;
  char *const *env;
  const char *cwd;           // NULL: the current directory
  const char *out, *err;     // files made anew for its output; NULL: inherited
  const Redirect *redirects; // done last, relative to cwd
  size_t nredirects;
  double timeout;         // seconds; 0: none
  uint64_t max_output;    // bytes in out and err together; 0: any number
  unsigned max_processes; // 0: PROCESSES_MAX
  const char *mark;       // an entry of env that tells its descendants from
                          // those of other slots; NULL: none
  bool serve;             // it runs many times: keep it ready (server.h)
  // Called when it has reached its timeout, before anything is done to it, with
  // the number of its session. NULL: nothing
  void (*hangs)(void *context, pid_t session);
  void *context;
  Confine *confine; // what it may do. Its view is fresh when it starts, and
                    // used by no other process. NULL: anything
} Spawn;

typedef enum {
  END_EXIT,
  END_SIGNAL,
  END_TIMEOUT,   // killed by us
  END_OUTPUT,    // killed by us: more output than max_output
  END_PROCESSES, // killed by us: more processes than it may have
  END_UNSTARTED, // could not be executed: see problem
} End;

typedef struct {
  End end;
  int status; // exit status, or -signal
  double seconds;
  int sent;          // the signal that it sent to culprit; 0: none
  char problem[512]; // END_UNSTARTED: what is wrong; else empty
} Outcome;

typedef struct Pool Pool;

typedef enum {
  POOL_ENDED,       // *slot ended with *outcome, and is free again
  POOL_INTERRUPTED, // the user wants culprit to stop
  POOL_IDLE,        // nothing happened for that long, or nothing runs
} PoolEvent;

int pool_open(Pool **pool, size_t slots, Err *err);
// Kills what still runs.
void pool_close(Pool *pool);

// `spawn` and what it points to must stay until the slot's end was reported,
// also if it could not be started.
void pool_start(Pool *pool, size_t slot, const Spawn *spawn);

// Waits for the next event, `milliseconds` at most (-1: as long as it takes).
PoolEvent pool_wait(Pool *pool, int milliseconds, size_t *slot,
                    Outcome *outcome);

// Kills all that runs and frees every slot, without reports.
void pool_kill_all(Pool *pool);
// Asks a slot's group to end (SIGTERM), for a program that cleans up.
void pool_terminate(Pool *pool, size_t slot);

#endif
