// What a session suspects, by lines of the repository: hunks are tried in that
// order, and lines inside of them are ranked by it.
#ifndef CULPRIT_SINCE_LINE_SUSPECTS_H
#define CULPRIT_SINCE_LINE_SUSPECTS_H

#include <stdint.h>

#include "store/store.h"
#include "util/arena.h"
#include "util/array.h"

typedef struct {
  const char *path; // below the top directory
  uint32_t line, rank, ef, ep;
  double score;
} LineSuspect;

typedef struct {
  ARRAY(LineSuspect) lines; // best first
  Arena arena;
} LineSuspects;

// The default ranking of the session (0: the newest). Without a ranking there are
// no lines. -1: the store cannot be read.
int line_suspects_load(LineSuspects *out, Store *store, int64_t session,
                       const char *top, Err *err);
void line_suspects_release(LineSuspects *s);

// A HunkSuspicion (taken_back.h): of the best line there, or of those next to
// what was deleted.
double line_suspects_of(void *suspects, const char *path, uint32_t line,
                        uint32_t lines);
// Does the suspect lie there?
bool line_suspect_in(const LineSuspect *s, const char *path, uint32_t line,
                     uint32_t lines);

#endif
