// Confinement of runs that the user did not write (generated inputs, mutants,
// explored pages). They may read what they could read before, write only into a
// scratch view that is thrown away, and open no connections.
//
//   Confine *c;
//   ConfinePlan plan = {.scratch = "/dev/shm/culprit-x", .seen = stores};
//   confine_open(&c, &plan, &err);
//   if (!fork()) { confine_enter(c); execve(...); }
//   ...
//   if (confine_is_dirty(c)) confine_reset(c, &err);
//   confine_close(c);
//
// The means, as far as the kernel offers them (CULPRIT_CONFINE lists those that
// may be used; "none": nothing):
//
//   namespaces  user, mount, network, IPC: every file system is an overlay
//   whose
//               upper layer is a small tmpfs. Programs may write anywhere; what
//               they wrote is discarded. The only network is loopback
//   landlock    without namespaces: writing is refused outside the scratch
//   area;
//               signals and abstract sockets stay inside (ABI 6)
//   seccomp     a thread of culprit decides about connecting and, where nothing
//               else prevents them, about signals and writing. It remembers
//               what it refused
//
// Without namespaces the run works in a copy of its directory (confine_inside).
// confine_gaps() says what is not confined.
//
// Limits: the memory of the scratch view is bounded (a full view is "No space
// left on device" to the program). A process outside that the program may
// ptrace is protected only where Landlock or Yama is active.
#ifndef CULPRIT_CONFINE_CONFINE_H
#define CULPRIT_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "util/str.h"

typedef struct {
  const char *scratch;     // absolute; the real one, writable
  const char *const *seen; // directories that culprit changes meanwhile: the
                           // real ones, read-only; ends with NULL, or NULL
  const char *const *writable; // the real ones, writable (--allow-write)
  const uint16_t *ports;       // TCP ports that may be connected to; NULL: none
  size_t nports;
  const char *copied; // directory to copy where there are no namespaces (the
                      // working directory, an application); NULL: none
} ConfinePlan;

typedef struct Confine Confine;

// Makes the view. Fails only if the scratch area cannot be used; what the
// kernel lacks is reported by confine_gaps.
int confine_open(Confine **c, const ConfinePlan *plan, Err *err);
void confine_close(Confine *c); // NULL is fine

// In the new process, before execve; only system calls. Returns 0, or -1 with
// errno. The current directory is "/" afterwards.
int confine_enter(const Confine *c);

// Where a confined run finds what is at `path` (absolute) outside: `path`
// itself, or its place in the copy. Caller frees.
char *confine_inside(const Confine *c, const char *path);
// Where culprit finds what a confined run has at `path` (an inside path). Only
// this process may read and write there. Caller frees.
char *confine_outside(const Confine *c, const char *path);

// Has a run changed anything in the view since it was made? Cheap.
bool confine_is_dirty(const Confine *c);
// Makes the view as it was at first. Nothing may be running in it.
int confine_reset(Confine *c, Err *err);

// Changes with every reset. A process started before still has the old view.
unsigned confine_generation(const Confine *c);

// May a confined run write anywhere, into a view of its own? False: writing
// outside the copy is refused, if the system can refuse it.
bool confine_has_view(const Confine *c);

// One sentence for the user about what is not confined; NULL: everything is.
const char *confine_gaps(const Confine *c);

// --- what was refused -------------------------------------------------------

typedef enum {
  REFUSED_CONNECT, // what: "127.0.0.1:3306", "/run/mysqld/mysqld.sock"
  REFUSED_SIGNAL,  // what: "process 123"
  REFUSED_WRITE,   // what: path
} RefusedKind;

typedef struct {
  RefusedKind kind;
  char *what;
  unsigned times;
} Refused;

// "connecting to", "signalling", "writing".
const char *confine_verb(RefusedKind kind);

// Calls `take` for each different thing refused since the last call, in the
// order of first refusal, and forgets them.
void confine_take_refused(Confine *c, void (*take)(void *ctx, const Refused *r),
                          void *ctx);

#endif
