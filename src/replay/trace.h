// A recorded run: what a program made by program/trace_build.h wrote (see
// runtime/trace_format.h). The file is untrusted: reading beyond its end is
// refused everywhere.
#ifndef CULPRIT_REPLAY_TRACE_H
#define CULPRIT_REPLAY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ir/ir.h"
#include "model/entity.h"
#include "runtime/trace_format.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  UnitId id;
  uint32_t number;
  uint32_t nvalues;
  const unsigned char *values; // u64 each, not aligned
} TraceUnitView;

typedef struct {
  char *path;
  TraceHeader header;
  const unsigned char *file;
  size_t size;
  bool mapped;
  unsigned char *joined; // stream and window in one piece, or NULL
  const unsigned char *stream;
  size_t end;   // bytes that were certainly written
  size_t limit; // a crash may have left a few more behind it
  ARRAY(TraceUnitView) units;
} Trace;

// Fails on a file that is not a trace, is cut off before the stream, or comes
// from a program that started a thread.
int trace_open(Trace *t, const char *path, Err *err);
// The same over bytes in memory, which must stay.
int trace_parse(Trace *t, const void *data, size_t size, const char *path,
                Err *err);
void trace_close(Trace *t);

// Bytes `from` to `to` of the stream need not stay in memory: they are in the
// file, should anybody look at them again.
void trace_drop(const Trace *t, size_t from, size_t to);

// The trace in a directory: that of the process that was started first. Fails
// if there is none, saying why that may be. Caller frees *path.
int trace_find(const char *dir, char **path, Err *err);

// Gives the program's link-time constants the values they had in this run.
// Fails if the trace is of another program.
int program_bind(Program *p, const Trace *t, Err *err);

#endif
