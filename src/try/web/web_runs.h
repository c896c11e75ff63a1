// Makes requests of a session again, with one thing changed in a script: each
// job is a request, or all requests of a visitor, and a change
// (php/source/php_change.h). The requests are confined and judged as the session's
// were; nothing is stored.
//
//   WebRuns *r;
//   web_runs_open(&r, &options, err);
//   WebJob jobs[] = {{.test = 3, .change = &c, .outcomes = &o}, ...};
//   web_runs_do(r, jobs, 2, err);
//   web_runs_close(r);
//
// A request by itself is made in the state that it was made in, which was
// reached without the change. With all requests of its visitor, the change is
// there from the first on.
#ifndef CULPRIT_TRY_WEB_WEB_RUNS_H
#define CULPRIT_TRY_WEB_WEB_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/try_note.h"
#include "php/source/php_change.h"
#include "run/app_instance.h"
#include "run/visits.h"
#include "try/web/page_words.h"
#include "util/array.h"
#include "util/err.h"

// How a request ended.
typedef struct {
  bool ran;
  ARRAY(char *) signatures; // of its failures
  int status;               // of the response
  size_t size;              // of its body
  PageWords words;          // of its body
  uint64_t steps;           // statements executed
  uint8_t stops;            // RUN_OUT_OF_STEPS | ... (locate/try_note.h)
} WebOutcome;

void web_outcome_release(WebOutcome *o);
bool web_outcome_shows(const WebOutcome *o, const char *signature);

// Where requests come from: a list (list_again.h) or an exploration
// (explored_again.h). A worker belongs to the thread that opened it.
typedef struct {
  void *(*open)(void *context, const Visits *v, const char *maps, int number,
                Err *err); // NULL: failed
  void (*close)(void *worker);
  AppInstance *(*instance)(void *worker);
  // Afterwards `send` makes the request in its state, as often as one likes.
  int (*prepare)(void *worker, size_t test, Err *err);
  int (*send)(void *worker, size_t test, Request *request, Exchange *out,
              Arena *arena, Err *err);
  // Makes all requests of the visitor of that test, and hands over those that
  // are tests. NULL: every test is a visitor of its own.
  int (*visit)(void *worker, size_t test, void *context,
               int (*take)(void *context, size_t test, const Request *request,
                           const Exchange *x, Arena *arena, Err *err),
               Err *err);
  void *context;
} WebAgain;

typedef struct {
  size_t test;
  bool visitor;            // all tests of its visitor, in the order of the list
  const PhpChange *change; // NULL: nothing is changed
  uint64_t steps;          // that a changed request may make; 0: any number
  WebOutcome *outcomes;    // to be released
  size_t first, n;         // outcomes[i] is that of test first + i
} WebJob;

typedef struct {
  const Visits *visits; // without taker; its scratch directory exists
  const char *maps;     // exists
  WebAgain again;
  int workers;
  // What was requested before is looked up and added to; NULL: nothing. Then by
  // test: its name.
  struct WebMemory *memory;
  const char *(*name)(void *context, size_t test);
  // Asked often, by one thread at a time: go on? May be NULL.
  bool (*go_on)(void *context);
  void *context;
} WebRunOptions;

typedef struct WebRuns WebRuns;

int web_runs_open(WebRuns **out, const WebRunOptions *o, Err *err);
void web_runs_close(WebRuns *r); // NULL is fine

// Does all jobs, several at once. Jobs that were not begun because of go_on()
// have outcomes that did not run. Fails if the application cannot be run.
int web_runs_do(WebRuns *r, WebJob *jobs, size_t n, Err *err);
uint64_t web_runs_count(const WebRuns *r);    // requests made as tests
uint64_t web_runs_recalled(const WebRuns *r); // of these: made before
TriedStops web_runs_stops(const WebRuns *r);  // of changed ones

#endif
