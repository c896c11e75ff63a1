// Definition-use pairs in a run file or in the records of a segment: reads the
// log that a close build keeps (runtime/close_format.h), and finds the
// statements that its offsets stand for. Inside of the collector.
#ifndef CULPRIT_PROGRAM_PAIR_LOG_H
#define CULPRIT_PROGRAM_PAIR_LOG_H

#include <stdint.h>

#include "program/collector.h"

typedef struct {
  uint64_t begin, end; // bytes of the module's counters
  KnownUnit *unit;
} UnitRange;

// Where the counters of a module's units lie, and its log of pairs.
typedef struct {
  ARRAY(UnitRange) ranges; // ascending
  uint64_t log, log_end;   // bytes of the module's counters; equal: none
} CounterRanges;

// The units must be known already; `size`: of the run file.
void counter_ranges_read(CounterRanges *r, const Collector *c,
                         const RunHeader *h);
void counter_ranges_release(CounterRanges *r);
// The unit whose counters have this byte; NULL: none.
const UnitRange *counter_range_of(const CounterRanges *r, uint64_t byte);

// Is this the descriptor of a log, not of a unit?
bool is_pair_log(const unsigned char *id);
// Takes one word of the log. Nothing in it is trusted.
void pair_log_take(Collector *c, const CounterRanges *r, uint64_t index,
                   uint64_t word);
// Takes the log of a run file.
void pair_log_read(Collector *c, const RunHeader *h, size_t size);
// Adds the pairs taken so far to the run; begins anew.
void pair_log_translate(Collector *c, Run *run);

#endif
