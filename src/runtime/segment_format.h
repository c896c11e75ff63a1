// What the runtime writes at the boundary of a segment (a part of a run that is
// a test of its own), and program/segments.c reads. Guest code.
//
// Every module of a process appends its records to DIR/PID-UNIT.seg; UNIT is
// that of its run file. A record holds what the module counted since the record
// before it, and the counters begin at zero again:
//
//   SegmentRecord | name, padded to 8 bytes | SegmentWord[nwords]
//
// What is counted after the last record stays in the run file. Records of the
// same boundary in several modules have the same time.
#ifndef CULPRIT_RUNTIME_SEGMENT_FORMAT_H
#define CULPRIT_RUNTIME_SEGMENT_FORMAT_H

#include <stdint.h>

#define SEGMENT_MAGIC 0x31474553u // "SEG1"

typedef enum {
  SEGMENT_BEGIN = 1, // the test `name` is about to run
  SEGMENT_END = 2,   // it has returned; not written when it was left otherwise
  SEGMENT_POINT = 3, // a line of TAP, which closes what ran since the last one
  SEGMENT_MORE = 4,  // words that did not fit the record that follows
} SegmentKind;

// In `flags`: `result` is what the test returned, or a SegmentVerdict.
enum { SEGMENT_HAS_RESULT = 1, SEGMENT_HAS_VERDICT = 2 };

typedef enum {
  SEGMENT_PASSED = 0,
  SEGMENT_FAILED = 1,
  SEGMENT_SKIPPED = 2,
} SegmentVerdict;

typedef struct {
  uint32_t magic;
  uint32_t size;    // of the record, with name and words
  uint64_t time;    // ns, CLOCK_MONOTONIC
  uint64_t frame;   // a stack address of the function that runs the test
  int64_t out, err; // bytes written so far; -1: not known
  int64_t result;
  uint32_t kind; // SegmentKind
  uint32_t flags;
  uint32_t name_size;
  uint32_t nwords;
} SegmentRecord;

// Eight bytes of the module's counters.
typedef struct {
  uint64_t index; // of the word, from the start of the counters
  uint64_t value;
} SegmentWord;

// The module's function that closes what was counted so far. Other modules of
// the process find it through an ELF note: int64_t, its address relative to
// that of the note's description.
typedef void SegmentCut(const SegmentRecord *mark, const char *name);
#define SEGMENT_NOTE_NAME "culprit"
enum { SEGMENT_NOTE_TYPE = 1 };

#endif
