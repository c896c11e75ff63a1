// Other builds of the programs that a session's tests run, for a closer look or
// for experiments (program/trace_build.h), in a directory where the programs
// find them (runtime/close_name.h).
#ifndef CULPRIT_LOOK_CLOSE_BUILDS_H
#define CULPRIT_LOOK_CLOSE_BUILDS_H

#include <stdbool.h>
#include <stddef.h>

#include "program/trace_build.h"
#include "run/runner.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"

typedef struct {
  char *program, *build; // paths
} CloseProgram;

// close_build or try_build.
typedef int OtherBuild(TraceBuild *b, const char *program, const char *cache,
                       Err *err);

typedef struct {
  OtherBuild *make;
  const char *purpose; // "no closer look at": what a note begins with
  char *dir;
  ARRAY(CloseProgram) programs;
  Hashmap index;         // paths of programs -> index
  ARRAY(char *) notes;   // which program has none, and why
  bool cut;              // there was no time for all of them
  const SeenModule *now; // that is being built
} CloseBuilds;

// Is asked while compilers run: is there still time?
typedef bool CloseGoOn(void *context);

// `make` and `purpose` are set. Makes those of the modules that are programs, the ones with most failing runs
// first. Fails if `dir` cannot be written to.
int close_builds_make(CloseBuilds *b, const SeenModule *modules, size_t n,
                      const char *cache, const char *dir, CloseGoOn *go_on,
                      void *context, Err *err);
void close_builds_release(CloseBuilds *b);

// Puts a build where the program finds it.
int close_builds_link(const char *dir, const char *program, const char *build,
                      Err *err);

// The build of a program; NULL: it has none.
const char *close_builds_of(const CloseBuilds *b, const char *program);
// Is the module one of the builds?
bool close_builds_has(const CloseBuilds *b, const char *module);

#endif
