// Explores a PHP application from nothing: asks for every page with empty
// input, follows links, fills in forms, sends what its input was compared with,
// and judges every answer. The way of paper 000, with one difference: inputs
// are recognized in comparisons by their values instead of being followed as
// symbols through the program (php/ext/compare.c), so what is computed from
// them before it is compared is not solved for.
//
// A world is what a request starts from: the application's state (sessions,
// files, database) and the visitor's cookies. Whatever is found on a page is
// asked in the world that the page left behind, so a login leads to the pages
// behind it without anybody telling what a login is. Worlds of equal content
// are one.
//
// One worker, one thread; with the same application, seed and number of
// requests the same requests are made, unless the application itself depends on
// time or chance.
#ifndef CULPRIT_GENERATE_SITE_H
#define CULPRIT_GENERATE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "run/visits.h"
#include "util/err.h"

typedef struct {
  size_t requests; // answered by PHP: each is a run of the session
  size_t scripts;  // that were executed
  size_t lines;    // statements that were executed
  size_t failing;  // requests that showed a failure
  size_t failures; // different ones
  size_t worlds;   // that were reached
  size_t queued;   // left to be asked
  double seconds;
} SiteProgress;

typedef struct {
  Visits *visits; // settings, store and session; what it counts stays untouched
  double budget;  // seconds
  size_t max_tests;      // 0: as many as there is time for
  const Requests *first; // made before all others, and gone on from: a login
  uint64_t seed; // decides between requests that look equally good; 0: the
                 // one found first
  void (*progress)(const SiteProgress *p); // may be NULL
} SiteOptions;

typedef struct Explorer Explorer;

// Options must stay.
Explorer *explorer_new(const SiteOptions *o);
// Until nothing is left, the budget is spent or visits_interrupt was called.
// Every answered request is stored as a run, named by its number.
int explorer_run(Explorer *e, Err *err);
const SiteProgress *explorer_progress(const Explorer *e);
// For every failure of the suite a list of requests that shows it, the shortest
// known: `dir`/failure-1.txt, ... in the order of the suite's failures.
int explorer_write(const Explorer *e, const Suite *suite, const char *dir,
                   Err *err);
void explorer_free(Explorer *e);

#endif
