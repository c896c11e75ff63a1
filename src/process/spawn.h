// Starts processes cheaply: until it executes its program, the child borrows
// culprit's memory (as vfork does), so the cost does not grow with culprit's
// size.
//
// The thread that starts a process this way sleeps until the program executes,
// which takes longer than many tests run. So every slot has a Starter, a thread
// that does nothing else. It also keeps programs ready that run many times
// (Spawn.serve, see server.h).
#ifndef CULPRIT_PROCESS_SPAWN_H
#define CULPRIT_PROCESS_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "process/process.h"

// Descriptors for its standard streams, all above 2; -1: inherited.
typedef struct {
  int in, out, err;
  int control; // of a server (server.h); -1: it is none
} Streams;

typedef struct Starter Starter;

// Answers are announced at the eventfd `bell`; processes start with `mask`. All
// signals that have handlers must be blocked.
Starter *starter_new(int bell, const sigset_t *mask);
void starter_free(Starter *s); // NULL is fine

// Asks for a process; `spawn` must stay until the answer was taken.
void starter_ask(Starter *s, const Spawn *spawn, Streams streams);

typedef struct {
  pid_t pid;         // -1: it could not be started
  bool try_again;    // and it may work later
  char problem[512]; // and this is why
} StartAnswer;

// False: there is no answer yet. Until it was taken, the process may be dead
// but must not be reaped.
bool starter_take(Starter *s, StartAnswer *answer);

#endif
