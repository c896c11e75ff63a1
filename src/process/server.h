// Fork servers: instead of executing a program for every run, culprit loads and
// links it once, stops it before its first own instruction, and copies it with
// fork. That saves the work of the dynamic linker, most of the cost of a short
// run. src/runtime/fork_server.c is the part inside the program.
//
//   Servers servers = {0};
//   servers_open(&servers);
//   if (servers_start(&servers, &spawn, launch, context, &answer)) ...
//   else ... execute it ...
//   servers_close(&servers);
//
// Used only where a copy is as good as an execution: not for scripts, static
// programs, set-user-id programs, programs with a shared sanitizer runtime
// (which must be loaded first), and not if LD_PRELOAD is set. A request must
// have as many arguments and variables as the server, and the same values of
// the variables that the dynamic linker and the heap read; otherwise a new
// server is started.
//
// One thread uses a Servers. The servers are its children and do not count as
// orphans (orphan.h).
#ifndef CULPRIT_PROCESS_SERVER_H
#define CULPRIT_PROCESS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/spawn.h"

enum { SERVERS_MAX = 4 }; // programs: the tested one in two builds, a reference

typedef struct Server Server;

typedef struct {
  Server *list[SERVERS_MAX];
  unsigned next; // to be replaced
  char *library; // culprit-server.so; NULL: is not there
  int null;
} Servers;

void servers_open(Servers *s);
void servers_close(Servers *s);

// Executes `spawn` with `control` as descriptor SERVE_FD and its standard
// streams all `null`; -1: could not.
typedef pid_t ServerLaunch(void *context, const Spawn *spawn, int null,
                           int control);

// Starts a process. False: it must be executed instead. Else the answer is as
// for an execution.
bool servers_start(Servers *s, const Spawn *spawn, ServerLaunch *launch,
                   void *context, StartAnswer *answer);

#endif
