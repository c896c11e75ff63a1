// Strategies of exploring: which request next (Artzi, Dolby, Tip and Pistoia
// 2010, "Directed test generation for effective fault localization").
//
//   base      what covers most, from the empty input
//   coverage  what covers most, from the failing request
//   pcs       the path most like that of a failing request
//   is        the input most like that of a failing request
//   crawl     as base, but links and forms alone: what solver is worth
//
// The path of a request is what its input was compared with, in order, and how
// each comparison went. What a solved request is going to do is predicted: as
// the request it was made from, with the comparison that was solved the other
// path. (To take what comes behind it for lost would mean to turn round the
// last comparisons first: input/strategy.c.) Its likeness is a share of
// comparisons (model/similarity.h), the largest over all failing requests;
// among equals decides what covers most. A request that differs from a failing
// one in a value nothing was compared with is predicted to go the same way: the
// first comes before all others, the next ones between them.
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
  bool crawls;       // nothing is solved for
} WebStrategy;

const WebStrategy *web_strategy_find(const char *name); // NULL: no such one

enum { FAILING_MOST = 24 };

// The path of a request, in the order of similarity_sorted.
typedef struct {
  uint32_t number; // 0: none
  PathStep *steps;
  size_t n;
} SortedPath;

// Which requests fail the way that is to be explained.
typedef struct {
  const WebStrategy *strategy;
  const StateGraph *graph;
  char *signature;           // of the failure; NULL: none yet
  ARRAY(SortedPath) failing; // at most FAILING_MOST
  // The request looked at last, and what it has in common with each of them.
  SortedPath base;
  size_t common[FAILING_MOST], ncommon;
} TargetFailure;

void target_failure_release(TargetFailure *t);
// Another failure is the one to be explained.
void target_failure_set(TargetFailure *t, const char *signature);
// Request `number` shows it. True: scores are others now.
bool target_failure_add(TargetFailure *t, uint32_t number);

// What the request's input was compared with; memory: arena.
const PathStep *path_steps(const PhpRecord *record, size_t *n, Arena *arena);
// How near an item is to the failing requests, in per cent; below 0: that
// cannot be told.
double target_failure_score(TargetFailure *t, const QueueItem *item);

#endif
