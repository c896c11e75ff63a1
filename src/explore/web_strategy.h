// Strategies of an exploration: which request comes next (Artzi, Dolby, Tip and
// Pistoia, ISSTA 2010, "Directed test generation for effective fault
// localization").
//
//   base      most new coverage, from the empty input
//   coverage  most new coverage, from the failing request
//   pcs       the path most similar to that of a failing request
//   is        the input most similar to that of a failing request
//   crawl     as base, but links and forms only: shows what solving adds
//
// The path of a request is the sequence of comparisons of its input, each with
// its outcome. The path of a solved request is predicted: that of the request
// it was made from, with the solved comparison inverted. (Cutting the path
// there would prefer the last comparisons: input/strategy.c.) Its similarity is
// a share of comparisons (model/similarity.h), the largest over all failing
// requests; new coverage decides among equals. A request that differs from a
// failing one only in a value that nothing was compared with is predicted to
// take the same path: the first such request comes before all others, later
// ones in between.
#ifndef CULPRIT_EXPLORE_WEB_STRATEGY_H
#define CULPRIT_EXPLORE_WEB_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore/request_queue.h"
#include "explore/state_graph.h"
#include "model/similarity.h"
#include "php/record/php_record.h"

typedef enum { NEAR_NOTHING, NEAR_PATH, NEAR_INPUT } Nearness;

typedef struct {
  const char *name, *doc;
  Nearness nearness;
  bool from_failing; // starts from the failing request, pages come last
  bool crawls;       // never solves
} WebStrategy;

const WebStrategy *web_strategy_find(const char *name); // NULL: unknown

enum { FAILING_MOST = 24 };

// The path of a request, in the order of similarity_sorted.
typedef struct {
  uint32_t number; // 0: none
  PathStep *steps;
  size_t n;
} SortedPath;

// The failure to be explained, and the requests that show it.
typedef struct {
  const WebStrategy *strategy;
  const StateGraph *graph;
  char *signature;           // of the failure; NULL: none yet
  ARRAY(SortedPath) failing; // at most FAILING_MOST
  // The request scored last, and the steps it shares with each of them.
  SortedPath base;
  size_t common[FAILING_MOST], ncommon;
} TargetFailure;

void target_failure_release(TargetFailure *t);
// Changes the failure to be explained.
void target_failure_set(TargetFailure *t, const char *signature);
// Request `number` shows it. True: scores have changed.
bool target_failure_add(TargetFailure *t, uint32_t number);

// The path of a request. Memory: arena.
const PathStep *path_steps(const PhpRecord *record, size_t *n, Arena *arena);
// How similar an item is to the failing requests, in per cent; below 0:
// unknown.
double target_failure_score(TargetFailure *t, const QueueItem *item);

#endif
