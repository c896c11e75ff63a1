// The tests inside a test: what each segment of a run executed, wrote and
// returned, read from what the runtime left (runtime/segment_format.h).
//
//   marks:    begin a | end | begin b | (longjmp) begin c | end
//   segments:   [ a ]           [ b ]                [ c ]
//
// What ran before the first segment ran for all of them; what ran between two
// belongs to the later one (its set-up); what ran after the last to none. A
// segment in which others begin is a suite of tests and no test. A process
// that a segment started belongs to it, by the time it started at.
//
// A test without boundaries that started many processes (a script) is made of
// those.
#ifndef CULPRIT_PROGRAM_SEGMENTS_H
#define CULPRIT_PROGRAM_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/run.h"
#include "program/runfile.h"
#include "runtime/segment_format.h"
#include "util/array.h"
#include "util/err.h"

// Where the output of the test stood, in bytes; -1: not known.
typedef struct {
  int64_t out, err;
} OutputPlace;

typedef struct {
  char *name;    // of the function, or as it was registered; "": a process, or
                 // a check that TAP reports
  char *title;   // of such a check: "3 - parses nothing"; NULL: not known
  char *program; // path
  Run run;       // hits and deaths; the verdict is the caller's
  OutputPlace begin, end;
  OutputPlace done; // when it returned
  bool returned;    // false: it was left otherwise, or the process ended in it
  bool has_result;
  bool has_verdict; // `result` is a SegmentVerdict
  bool tap;         // a line of TAP reports it; what that says counts
  int64_t result;
  bool died;     // its process ended by a fatal signal in it
  bool last;     // no other came after it in its process
  bool overlaps; // with another one: which output is whose is not known
} Segment;
typedef ARRAY(Segment) Segments;

void segments_release(Segments *s);

// Adds the segments of the test whose processes left their files in `dir`, in
// the order they began in; none if it has none. Call it after
// collector_collect, which adds what the whole test executed.
int collector_collect_segments(Collector *c, const char *dir, Segments *out,
                               Err *err);

// For collector_collect: counts what all segments executed.
void segments_unite(Collector *c, const char *dir);

#endif
