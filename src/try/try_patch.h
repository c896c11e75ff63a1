// A change that passes all tests, tried once more as a change of the source: the
// file is edited in a copy (patch/edit.h), the program built from it
// (patch/patch_build.h), and all tests run. What passes becomes a diff.
#ifndef CULPRIT_TRY_TRY_PATCH_H
#define CULPRIT_TRY_TRY_PATCH_H

#include "look/close_builds.h"
#include "try/try_search.h"
#include "util/arena.h"

typedef struct {
  const TrySession *session;
  const CloseBuilds *builds;
  const SiteTable *tables; // of each build
  const char *scratch;     // a directory
  size_t made;             // how many programs were built there
} TryPatches;

typedef struct {
  const char *words; // as the source has it; NULL: not found there
  const char *diff;  // NULL: none passes
} TryPatch;

// Memory: arena. False: the environment is broken, or the time is up.
bool try_patch(TryPatches *p, const FoundChange *c, size_t failure,
               Arena *arena, TryPatch *out, Err *err);

#endif
