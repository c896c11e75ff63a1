// The requests of an exploration, made again for experiments (web_runs.h): each
// in the state that it was made in. A change is there in that request only, so
// every request is a visitor of its own.
#ifndef CULPRIT_TRY_WEB_EXPLORED_AGAIN_H
#define CULPRIT_TRY_WEB_EXPLORED_AGAIN_H

#include "explore/explorer.h"
#include "try/web/web_runs.h"

typedef struct {
  const Explorer *explorer;
  const uint32_t *numbers; // by test
} ExploredTests;

// The tests must stay as long as it is used.
WebAgain explored_again(const ExploredTests *tests);

#endif
