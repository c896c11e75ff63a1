// A monotonic clock, in seconds: for durations and deadlines.
#ifndef CULPRIT_UTIL_CLOCK_H
#define CULPRIT_UTIL_CLOCK_H

double clock_now(void);

#endif
