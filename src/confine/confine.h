// Confinement: runs that the user did not write (made inputs, changed programs,
// explored pages) may read what they could read before, write only into a
// scratch view that is thrown away, and connect nowhere.
//
//   Confine *c;
//   ConfinePlan plan = {.scratch = "/dev/shm/culprit-x", .seen = stores};
//   confine_open(&c, &plan, &err);
//   if (!fork()) { confine_enter(c); execve(...); }
//   ...
//   if (confine_is_dirty(c)) confine_reset(c, &err);
//   confine_close(c);
//
// What is used, as far as the kernel has it (CULPRIT_CONFINE lists what may be
// used; "none": nothing):
//
//   namespaces  user, mount, network, IPC: every file system is an overlay whose
//               upper layer is a small tmpfs of our own, so programs may write
//               anywhere, and it vanishes; only loopback is there
//   landlock    without namespaces: writing is refused outside of the scratch
//               area; signals and abstract sockets stay inside (ABI 6)
//   seccomp     connecting and, where nothing else stops them, signals and
//               writing are decided by a thread of ours, which remembers what
//               it refused
//
// Where namespaces are missing the working directory is a copy (confine_path).
// confine_gaps() says what is not confined.
//
// Limits: memory of the scratch view is bounded (a full one is "No space left on
// device" to the program); a process outside that the program may ptrace is not
// protected where neither Landlock nor Yama is active.
#ifndef CULPRIT_CONFINE_CONFINE_H
#define CULPRIT_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "util/str.h"

typedef struct {
  const char *scratch;         // absolute; stays real and may be written
  const char *const *seen;     // directories that we change meanwhile: stay
                               // real, read-only; NULL-terminated, or NULL
  const char *const *writable; // stay real and may be written (--allow-write)
  const uint16_t *ports;       // TCP ports that may be connected to; NULL: none
  size_t nports;
  const char *copied; // directory to copy where there are no namespaces (the
                      // working directory, an application); NULL: none
} ConfinePlan;

typedef struct Confine Confine;

// Makes the view. Fails only if the scratch area cannot be used: a kernel that
// lacks something is told by confine_gaps.
int confine_open(Confine **c, const ConfinePlan *plan, Err *err);
void confine_close(Confine *c); // NULL is fine

// In the new process, before execve; only system calls. Returns 0, or -1 with
// errno. The current directory is "/" afterwards.
int confine_enter(const Confine *c);

// Where a confined run finds what is at `path` (absolute) outside: `path`
// itself, or its place in the copy. Caller frees.
char *confine_inside(const Confine *c, const char *path);
// Where we find what a confined run has at `path` (an inside path). It may be
// read and written by this process only. Caller frees.
char *confine_outside(const Confine *c, const char *path);

// Has a run changed anything in the view since it was made? Cheap.
bool confine_is_dirty(const Confine *c);
// The view as at first. Nothing may run in it.
int confine_reset(Confine *c, Err *err);

// Changes with every reset: what was started before has the old view.
unsigned confine_generation(const Confine *c);

// Does every confined run see and write a view of its own, wherever it writes?
// False: writing outside of the copy is refused, or not even that.
bool confine_has_view(const Confine *c);

// What is not confined here, as one sentence for the user; NULL: everything is.
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

// "connecting to", "signalling", "writing": what it was that was refused.
const char *confine_verb(RefusedKind kind);

// Calls `take` for each different thing refused since the last call, in the
// order of first refusal, and forgets them.
void confine_take_refused(Confine *c, void (*take)(void *ctx, const Refused *r),
                          void *ctx);

#endif
