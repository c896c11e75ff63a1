// Executes processes: up to N at once, watched by one thread that sleeps until
// something happens (starting them is left to others, see spawn.h).
//
//   Pool *pool;
//   pool_open(&pool, 2, err);
//   pool_start(pool, 0, &a);
//   pool_start(pool, 1, &b);
//   while ((event = pool_wait(pool, -1, &slot, &outcome)) == POOL_ENDED) ...
//   pool_close(pool);
//
// Each process leads a session and process group of its own. When it ends, or
// at its timeout, everything it left behind is killed before its end is
// reported: the group in one stroke, and what fled from the group (daemons, a
// process that forks for ever) one by one, because orphans of our descendants
// become our children (PR_SET_CHILD_SUBREAPER).
//
// SIGINT, SIGTERM and SIGHUP (util/stop.h) are an event of pool_wait, once. One
// that a test sends is not the user's wish: it is ignored, as are SIGQUIT,
// SIGALRM, SIGUSR1 and SIGUSR2 of a test, and the outcome of its slot tells. (A
// sender that was reaped before we could look counts as the user. Of two equal
// signals that arrive together the kernel keeps one.)
//
// Limits: an orphan that also cleared its environment cannot be told from those
// of other running tests; it is killed when no other test runs, at the latest
// by pool_close. A process that SIGKILL does not end is given up after
// PROCESS_GIVE_UP seconds.
#ifndef CULPRIT_PROCESS_PROCESS_H
#define CULPRIT_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
  double timeout;      // seconds; 0: none
  uint64_t max_output; // bytes in out and err together; 0: any number
  const char *mark;    // an entry of env that tells its descendants from
                       // those of other slots; NULL: none
  bool serve;          // it runs many times: keep it ready (server.h)
  Confine *confine;    // what it may do, and the view it has: as at first when
                       // it starts, and nobody else's meanwhile. NULL: all
} Spawn;

typedef enum {
  END_EXIT,
  END_SIGNAL,
  END_TIMEOUT,   // killed by us
  END_OUTPUT,    // killed by us: more output than max_output
  END_PROCESSES, // killed by us: more than PROCESSES_MAX processes
  END_UNSTARTED, // could not be executed: see problem
} End;

typedef struct {
  End end;
  int status; // exit status, or -signal
  double seconds;
  int sent;          // the signal that it sent to us; 0: none
  char problem[512]; // END_UNSTARTED: what is wrong; else empty
} Outcome;

typedef struct Pool Pool;

typedef enum {
  POOL_ENDED,       // *slot ended with *outcome, and is free again
  POOL_INTERRUPTED, // the user wants us to stop
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
