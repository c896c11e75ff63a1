// The files through which `culprit run` and its log driver under `make check`
// communicate, in one directory (CULPRIT_SPOOL):
//
//   config      timeout, whether to repeat failing tests, root directory;
//               replaced (rename) when a shorter limit can be derived
//   done        tests that need not run, one a line: "PASS tests/foo.sh"
//   shards      shards of tests whose times are known: "3 tests/foo.sh"
//   run-XXXXXX  a test's run files, made by the driver
//   rec-PID     the result of a test; appears complete (rename)
//   ctx-PID     how make started its driver (driver_context.h)
//   gate, turn, turns  which tests run at once: turns.h
#ifndef CULPRIT_ADAPTER_SPOOL_H
#define CULPRIT_ADAPTER_SPOOL_H

#include <stdbool.h>

#include "process/process.h"
#include "run/repeat.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

#define SPOOL_ENV "CULPRIT_SPOOL"

typedef struct {
  double timeout;
  double limit;      // less, to be tried first (runner_limit); timeout: none
  int rerun;         // 0, 1
  char *root;        // the build directory, absolute
  char *source;      // paths are shown relative to it
  int shard, shards; // of the tests only these are to run (run/shard.h); 0: all
  char *close; // for a closer look: CULPRIT_CLOSE; the test's files are not for
               // make. "": make has started the driver
} SpoolConfig;

// One execution of one test.
typedef struct {
  char *result; // of the .trs file: PASS, FAIL, ...; "": none
  int status;   // exit status of the test as its log tells it; -1: unknown
  End end;
  double seconds;
  int sent;  // signal that it sent to its driver, which is culprit; 0: none
  char *log; // files
  char *run; // directory of run files
} SpoolResult;

typedef struct {
  char *test;    // "tests/foo.sh", relative to the root
  char *command; // for people
  SpoolResult results[ATTEMPTS_MOST];
  int nresults;
  double overran; // the derived limit that it ran into; 0: none
  char *context;  // file; "": none
  Arena arena;    // of what was read
} SpoolRecord;

int spool_write_config(const char *dir, const SpoolConfig *c, Err *err);
int spool_read_config(const char *dir, SpoolConfig *c, Arena *arena, Err *err);

int spool_write_record(const char *dir, const SpoolRecord *r, Err *err);
// Takes one record out of the spool. 1: got it; 0: there is none.
int spool_take_record(const char *dir, SpoolRecord *r, Err *err);
void spool_record_release(SpoolRecord *r);

// Reads the result from an automake .trs file; "" if there is none in it.
// Memory: arena.
char *trs_result(const char *path, Arena *arena);
// Reads "(exit status: N)" from the last line of a log; -1 if it is not there.
int log_status(const char *path);

#endif
