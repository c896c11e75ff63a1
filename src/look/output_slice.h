// What the first wrong byte of a run's output depends on: the lines of its
// dynamic backward slice, over data and control dependences. follower.h says
// what counts as a dependence.
//
//   SliceProgram p;
//   slice_program_open(&p, "prog", ".culprit/cache", err);
//   // run p.build.program with CULPRIT_TRACE=DIR, standard output in FILE
//   OutputSlice s;
//   output_slice(&p, &run, &s, err);
//   if (s.found) ... s.lines
//   output_slice_release(&s);
//
// If the output ends before the expected one does, its end takes the place of
// the byte: what decided that the run ended there, and that no more was printed
// since the last byte. For a run that hangs that is what it did when it was
// killed, or when its trace was full, for then it hung most likely already.
//
// Nothing is claimed (found is false, `note` says why) if the output is as
// expected, the byte was written in a way that cannot be followed, or the trace
// is cut short before it. Where something it may depend on is not known, found
// is true and `note` says what.
#ifndef CULPRIT_LOOK_OUTPUT_SLICE_H
#define CULPRIT_LOOK_OUTPUT_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/control.h"
#include "ir/ir.h"
#include "program/trace_build.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  TraceBuild build; // stores_build
  Program program;
  Control control;
} SliceProgram;

// `cache`: where the build is kept.
int slice_program_open(SliceProgram *p, const char *program, const char *cache,
                       Err *err);
void slice_program_close(SliceProgram *p);

typedef struct {
  const char *source;
  uint32_t line;
  uint32_t right; // pieces of the output before it that depend on this line
} SliceLine;

typedef struct {
  bool found;
  bool right;            // the output is the expected one
  bool at_end;           // the output ends where more was expected
  size_t offset;         // of the first wrong byte
  int expected, printed; // there; -1: the end
  const char *source; // where it was written, or the run ended; line 0: unknown
  uint32_t line;
  const char *by; // function that was called to write it; NULL: at_end
  ARRAY(SliceLine) lines;
  uint32_t nright;       // pieces of output before it
  size_t executed;       // lines that the run executed
  uint64_t instructions; // replayed
  const char *note;      // NULL: nothing to say
  Arena arena;           // owns every text
} OutputSlice;

// A run in the trace build.
typedef struct {
  const char *traces; // CULPRIT_TRACE: a directory
  const char *actual; // its standard output
  size_t nactual;
  const char *expected;
  size_t nexpected;
  bool killed;   // it did not end by itself
  bool strict;   // without stores that were skipped (skipped.h)
  uint64_t most; // instructions that are followed; 0: 500 million
} SlicedRun;

// Fails if there is no trace, or it cannot be replayed; `s` is to be released
// even then.
int output_slice(SliceProgram *p, const SlicedRun *run, OutputSlice *s,
                 Err *err);
void output_slice_release(OutputSlice *s);

#endif
