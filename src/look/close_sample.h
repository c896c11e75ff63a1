// Which runs of a session are looked at closely, and in which order: a function
// of the session alone. A look that ends early has taken the first ones.
//
//   failing   all, but of each failure FAILING_MOST at most, evenly
//   passing   by turns the nearest to one that fails, by the statements they
//             executed, and one at random
//
// Both kinds take turns until all failing ones are there.
#ifndef CULPRIT_LOOK_CLOSE_SAMPLE_H
#define CULPRIT_LOOK_CLOSE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

enum { FAILING_MOST = 50 };

typedef struct {
  uint32_t run; // of the suite
  CloseStratum stratum;
  // It passes, and executed less than a tenth of the statements of each failing
  // run: close_sample_draw tells.
  bool little;
} SampledRun;

typedef ARRAY(SampledRun) CloseSample; // in order

// `nearness`: by run, how near it is to a run that fails; more is nearer.
// Only runs with a spectrum are taken.
void close_sample_order(const Suite *suite, const double *nearness,
                        CloseSample *out);
// Takes the nearness from the stored spectra.
int close_sample_draw(Store *store, const Suite *suite, CloseSample *out,
                      Err *err);

#endif
