// The options of `culprit web`.
#ifndef CULPRIT_CLI_WEB_OPTIONS_H
#define CULPRIT_CLI_WEB_OPTIONS_H

#include <stdbool.h>

#include "cli/rank.h"
#include "cli/web.h"
#include "command/confine_options.h"
#include "command/options.h"
#include "explore/explorer.h"
#include "look/close_look.h"
#include "run/refusals.h"
#include "run/visits.h"
#include "util/area.h"
#include "util/arena.h"

// What they say, and what the command makes of it.
typedef struct {
  Visits visits;
  ExplorerOptions explore;
  RankOptions rank;
  const char *requests, *first, *host, *store;
  double close; // seconds for a closer look; below 0: not given
  CloseLookResult looked;
  bool tries; // --try
  ConfineOptions confine;
  WebExploreOptions more;
  Refusals refusals;
  bool quiet;
  Area area;
  Arena arena;
} WebOptions;

extern const Option web_options[]; // of a WebOptions

void web_options_init(WebOptions *o);
void web_options_release(WebOptions *o);

#endif
