// The weights of the default method after a closer look (weigh.h). Fitted on
// all seeded faults by
//   bench/default-method --fit
// which also measures such weights on programs that they were not fitted on:
// docs/evaluation/default-method.md. It says, too, why the weight of steps is
// from another fit.
#ifndef CULPRIT_TALLY_WEIGHTS_H
#define CULPRIT_TALLY_WEIGHTS_H

#define WEIGHT_FAILING 16.26    // no failing run has it
#define WEIGHT_PASSING 3.13     // all passing runs have it: by their share,
#define WEIGHT_PASSING_LOG 6.05 // and by the logarithm of their number
#define WEIGHT_OTHERS 5.49      // no run with another failure has it
#define WEIGHT_SLICE 1.37       // the line is in no slice
#define WEIGHT_DEATH 1.29       // runs died, but not near the line
#define WEIGHT_STEPS 0.73       // the failure showed far from the line

// What it is.
#define WEIGHT_EQUAL 0.0       // a comparison of two equal values
#define WEIGHT_LINE 0.3        // that the line is executed
#define WEIGHT_COMPARISON 0.99 // another outcome of a comparison
#define WEIGHT_CONDITION 1.93  // the outcome of a condition; a return class
#define WEIGHT_PAIR 2.92       // a definition and a use
#define WEIGHT_STORED 3.27     // the class of a stored value

#endif
