// Makes, from a program built by culprit-cc and from nothing else, the build of
// it that records a trace, and its lowered IR. Both are kept in a cache
// directory under a name made from the program's units, and made only once.
//
// Measured (docs/internals/trace.md): a build of its own costs nothing in the spectrum
// build, which runs far more often; one build for both would carry the
// recording's code, cold, through every test of a suite.
#ifndef CULPRIT_PROGRAM_TRACE_BUILD_H
#define CULPRIT_PROGRAM_TRACE_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"

// The units of shared libraries that culprit-cc built (shared_code.h) are linked
// into the build, unless that fails.
typedef struct {
  char *program; // path
  char **irs;    // of each unit: file with its lowered IR
  size_t nirs;
  char *note; // what the user should know of it, or NULL
} TraceBuild;

// `cache`: directory, made if needed. `check`: record every block as well.
// Fails if the program carries no bitcode or was not linked by culprit-cc,
// naming reason and remedy.
int trace_build(TraceBuild *b, const char *program, const char *cache,
                bool check, Err *err);
// The same program once more, counting as it did, with tables of its link-time
// constants (links.h); its lowered IR is plain: each variable of the source is
// an alloca, each assignment a store.
int linked_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err);
// The same program, to be stopped at its branches (marks.h). It has no lowered
// IR of its own: `irs` are NULL.
int marked_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err);
void trace_build_release(TraceBuild *b);

#endif
