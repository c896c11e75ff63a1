// The weights of the default method after a closer look (weigh.h). Fitted on
// all seeded faults by
//   bench/default-method --fit
// which also measures such weights on programs that they were not fitted on:
// docs/evaluation/default-method.md.
#ifndef CULPRIT_TALLY_WEIGHTS_H
#define CULPRIT_TALLY_WEIGHTS_H

#define WEIGHT_FAILING 15.71    // no failing run has it
#define WEIGHT_PASSING 3.08     // all passing runs have it: by their share,
#define WEIGHT_PASSING_LOG 5.99 // and by the logarithm of their number
#define WEIGHT_OTHERS 4.54      // no run with another failure has it
#define WEIGHT_SLICE 1.34       // the line is in no slice
#define WEIGHT_DEATH 1.37       // runs died, but not near the line

// What it is.
#define WEIGHT_EQUAL 0.0      // a comparison of two equal values
#define WEIGHT_LINE 0.35      // that the line is executed
#define WEIGHT_COMPARISON 1.0 // another outcome of a comparison
#define WEIGHT_CONDITION 1.96 // the outcome of a condition; a return class
#define WEIGHT_PAIR 2.92      // a definition and a use
#define WEIGHT_STORED 3.38    // the class of a stored value

#endif
