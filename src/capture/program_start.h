// One start of a program by a script: with what it was started, and what it did.
#ifndef CULPRIT_CAPTURE_PROGRAM_START_H
#define CULPRIT_CAPTURE_PROGRAM_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "capture/file_tree.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef enum {
  STREAM_CLOSED,
  STREAM_NULL, // devices
  STREAM_ZERO,
  STREAM_FULL,
  STREAM_PIPE,
  STREAM_INSIDE, // a file in the tree
  STREAM_FILE,   // another
  STREAM_SAME,   // standard error: the same as standard output
  STREAM_KINDS
} StreamKind;

// A standard stream.
typedef struct {
  StreamKind kind;
  Str path;             // STREAM_INSIDE
  int32_t flags;        // of the open file
  int64_t offset;       // of a file
  struct timespec time; // of its last change
  Str data;             // standard input: what there was to read
} StartStream;

typedef ARRAY(char *) StartWords; // they end with NULL

// What it did.
typedef struct {
  int32_t status;    // as waitpid has it
  int64_t in_offset; // how far it has read a file; -1: no file
  Str out, err;      // if they are pipes or files outside of the tree
  FileTree after;
} StartDeed;

typedef struct {
  Str name; // of its build (runtime/close_name.h)
  Str root; // of the tree
  Str cwd;
  uint32_t mask; // umask
  StartWords argv, env;
  struct rlimit limits[RLIM_NLIMITS];
  StartStream streams[3];
  FileTree before;
  StartDeed deed;
} ProgramStart;

void start_release(ProgramStart *s);
void deed_release(StartDeed *d);
bool deed_same(const StartDeed *a, const StartDeed *b);
uint64_t deed_hash(const StartDeed *d);

int start_write(const ProgramStart *s, const char *path, Err *err);
// The file was written by this program, but other programs ran meanwhile:
// nothing is taken for granted.
int start_read(ProgramStart *s, const char *path, Err *err);

// Describes the process that calls it. Fails if that cannot be repeated: its
// streams are something unusual.
int start_describe(ProgramStart *s, const char *from, char **argv, Err *err);

// Executes `program` with these variables and waits for it. `own`: with the
// streams of this process, as start_describe has found them; what it reads from
// a pipe is added to the description. Otherwise everything is as described. The
// tree is not looked at.
int start_run(ProgramStart *s, const char *program, char **env, bool own,
              StartDeed *out, Err *err);

#endif
