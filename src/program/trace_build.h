// Makes the build of a program that records a trace, and the program's lowered
// IR, from nothing but the program that culprit-cc built. Both are made once
// and kept in a cache directory, named after the program's units.
//
// A separate trace build costs the spectrum build nothing, which runs far more
// often (docs/internals/trace.md). A single build for both would carry the
// recording code through every test of a suite.
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
// The same, recording a trace of code in which each variable of the source is
// an alloca and each assignment a store: no definition is lost. Slower, and its
// traces are several times as long.
int stores_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err);
// The same program once more, counting as it did, with tables of its link-time
// constants (link_table.h); its lowered IR is plain: each variable of the
// source is an alloca, each assignment a store.
int linked_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err);
// The same program, to be stopped at its branches (marks.h). It has no lowered
// IR of its own: `irs` are NULL.
int marked_build(TraceBuild *b, const char *program, const char *cache,
                 Err *err);
// The same program, recording relations and definition-use pairs
// (close/close_unit.h); no lowered IR either. The object files of units are kept
// too: programs that share them are only linked.
int close_build(TraceBuild *b, const char *program, const char *cache,
                Err *err);
// The same program with a hook at every operation, to change one at a time
// (runtime/try_format.h); the rest as for close_build.
int try_build(TraceBuild *b, const char *program, const char *cache, Err *err);
void trace_build_release(TraceBuild *b);

#endif
