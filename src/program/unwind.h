// Where a process was when a fatal signal ended it: unwinds the registers and
// the part of the stack that the runtime saved, with the unwind and line tables
// of the mapped modules. The dying process itself cannot do that safely.
#ifndef CULPRIT_PROGRAM_UNWIND_H
#define CULPRIT_PROGRAM_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/format.h"
#include "util/str.h"

typedef struct {
  char *file; // absolute path as in the line table
  uint32_t line;
} CodePlace;

// Where a module that a process had mapped lies here; NULL: it is not to be
// read.
typedef struct {
  const char *(*find)(void *context, const char *path);
  void *context;
} ModuleFinder;

// Up to `max` places, innermost first and each but once; frames without line
// information are left out. The caller frees each `file`. 0 if nothing could be
// found. `complete`: the stack was followed to its end.
// `h` is followed by its death area in the same buffer of `size` bytes; both
// are untrusted. `here`: NULL: modules lie where the process had them. Else it
// may have run on another machine, with other libraries: if the stack cannot be
// followed, its return addresses in the modules that are here are the places.
size_t unwind_death(const RunHeader *h, size_t size, const ModuleFinder *here,
                    CodePlace *out, size_t max, bool *complete);

// One place of one frame of a running thread; those of code that was inlined
// have the frame's address, too.
typedef struct {
  uint64_t pc;
  bool exact; // the next instruction; else where a call returns to
  CodePlace place;
} CodeFrame;

// The places of that thread of a running process which has worked most, among
// those in known code, innermost first: up to `max`, and the thread's number.
// The caller frees each file. 0: none, or the process may not be traced.
size_t unwind_busiest(pid_t pid, pid_t *thread, CodeFrame *out, size_t max);

// Adds the stacks of all threads of a running process, as text, innermost frame
// first:
//
//   prog, thread 1:
//     spin at parse.c:12
//     main at main.c:30
//
// `root`: paths are shown relative to it. The process is stopped meanwhile.
// Threads without a line of known code are left out. Best effort: nothing if
// the process may not be traced.
void unwind_process(pid_t pid, const char *root, Str *out);

#endif
