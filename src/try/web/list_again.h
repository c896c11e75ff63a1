// The requests of a list, made again for experiments (web_runs.h): each in the
// state that the requests of its visitor before it left behind, which is saved
// once.
#ifndef CULPRIT_TRY_WEB_LIST_AGAIN_H
#define CULPRIT_TRY_WEB_LIST_AGAIN_H

#include "php/request.h"
#include "try/web/web_runs.h"

typedef struct {
  const Requests *list;
  const uint32_t *requests; // by test: in the list, ascending
  size_t ntests;
} ListedTests;

// The tests must stay as long as it is used.
WebAgain list_again(const ListedTests *tests);
// Numbers of the first test of the same visitor, and of the first behind it.
void listed_visitor(const ListedTests *t, size_t test, size_t *first,
                    size_t *end);

#endif
