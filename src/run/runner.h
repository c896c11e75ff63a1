// What all adapters share: the session in the store, the scratch area, the
// processes, the collector of spectra, the oracle. An adapter (adapter.h) finds
// the tests and drives them. Each finished run is stored at once, so an
// interruption loses nothing.
#ifndef CULPRIT_RUN_RUNNER_H
#define CULPRIT_RUN_RUNNER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/run.h"
#include "oracle/oracle.h"
#include "process/process.h"
#include "program/runfile.h"
#include "program/segments.h"
#include "run/scratch.h"
#include "run/shard.h"
#include "run/testfile.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"

// As the user gave them; paths are absolute.
typedef struct {
  const char *exe, *tests;
  const char *reference, *expect, *oracle; // at most one of them
  const char *cwd;                         // where tests run
  char **command;                          // the words after --, NULL: none
  const char *build;   // a command that builds the tree; NULL: find out
  Texts build_options; // for configure, cmake, meson or make
  const char *make_cc; // the word that gives our compiler to make, NULL: none
  int jobs;            // tests at once
  double timeout;      // seconds; 0: the adapter's default
  uint64_t max_output; // bytes
  bool timeout_given;  // by the user
  Texts chosen; // tests to run, and whole tests they are part of; none: all
  bool failed, add, scratch, rerun;
  // Tests inside a test are tests of their own (program/segments.h).
  bool segments;
  bool isolate; // those of cmocka and Check run in processes of their own
  const char *segment;       // functions that are tests; NULL: the usual ones
  const char *failure_regex; // lines that say that a test failed; NULL: none
  Shard shard;               // which part of the tests; of all: none
  bool serve; // keep programs ready between tests (process/server.h)
  // What runs that the user did not write may do. The runner sets the scratch
  // area and what is copied. NULL: they may do what the user may.
  const ConfinePlan *confine;
} RunOptions;

typedef struct {
  char *test;
  Verdict verdict;
  bool inferred; // from tests that seem to be inside of it
} DoneTest;

typedef struct {
  char *path; // as /proc/self/exe or the dynamic linker has it
  size_t runs, failing;
  ARRAY(char *) tests; // that ran it, each once; of segments, the whole test
} SeenModule;
typedef ARRAY(SeenModule) SeenModules;

// How a test can be started once more, as its adapter keeps it.
typedef struct {
  char *test, *text;
  size_t size;
} TestContext;
typedef ARRAY(TestContext) TestContexts;

typedef struct Runner Runner;

// A closer look at tests whose runs are stored: they run once more, in other
// builds of their programs, and their runs are handed over instead of stored.
typedef struct {
  const char *dir;    // the builds (runtime/close_name.h), for CULPRIT_CLOSE
  const Suite *suite; // the session
  const bool *wanted; // by run: the others count as done
  AssignIds *assign;  // with `found`
  TakePair *pair;     // likewise
  void *found;
  // Where the test comes in the order they are to run in, if that is free.
  size_t (*place)(void *context, const char *test);
  // Its time limit in seconds, if it would be `full`.
  double (*limit)(void *context, const char *test, double full);
  // The build of a program; NULL: it has none.
  const char *(*build)(void *context, const char *program);
  // Is there a reason to go on? Asked before each test and while tests run.
  bool (*go_on)(void *context);
  // Gets each run once it is judged. `whole`: the run that it is a part of, or
  // itself.
  int (*take)(void *context, const Run *run, const Run *whole, Err *err);
  // Is given the tests instead of their being run one after the other. NULL:
  // they are run.
  int (*tests)(void *context, Runner *r, const Test *tests, size_t n, Err *err);
  void *context;
} CloseHooks;

struct Runner {
  const RunOptions *options;
  const char *command;     // our own command line, for the store
  const char *root;        // paths are shown relative to it
  const char *cwd;         // our directory, if that is another; NULL: root
  const char *project;     // Suite.project; NULL: none
  Store *store;            // set by the caller before runner_begin
  const CloseHooks *close; // NULL: an ordinary session
  Oracle oracle;
  regex_t *failure_lines; // of options->failure_regex; NULL: none
  double timeout;

  // From runner_begin on.
  int64_t session;
  bool continued; // the session had runs before
  Collector *collector;
  Scratch scratch;
  Pool *pool;
  Confine **confines;       // one per slot; NULL: runs are not confined
  ARRAY(DoneTest) done;     // tests that need not run
  Hashmap done_index;       // their names -> index
  size_t already;           // how many the adapter left out for that reason
  size_t listed;            // of all shards, if the adapter knows; else 0
  uint64_t shards;          // shards_digest of them
  size_t total;             // tests to run, 0: not known beforehand
  size_t finished, failing; // of this invocation
  // Limits derived from the tests that end: see runner_limit.
  double slowest; // seconds of a test that passed, or of the reference; 0: none
  double limit;   // the last that an execution ran into
  size_t overran, hung; // executions that did; tests that hang
  size_t disturbed;     // tests that fail beside others and pass alone
  bool interrupted;
  // Tests that were taken apart: how many, what the first is made of (NULL:
  // none was; the caller frees it), of how many tests all others are.
  size_t split, split_others;
  char *split_text;
  size_t undecided; // fail, and none of the tests inside is to blame
  bool marked;      // some test had boundaries inside
  Err warning;      // something the user should know at the end; may be empty
  // The programs and libraries that recorded the runs, and what a closer look
  // needs of tests; they stay after runner_close, until runner_forget.
  SeenModules seen;
  Hashmap seen_index;
  TestContexts contexts;
  bool stale; // the session cannot go on: the program was built anew
  bool fresh; // begin a new session, whatever is there

  // Called when a run is finished and when a session goes on. May be NULL.
  void (*progress)(const Runner *r);
  // Called with every run that was judged and stored. May be NULL.
  void (*judged)(void *context, const Run *run);
  void *judged_context;
};

// Checks what the options name: program, its map, oracle, expressions. Needs no
// store yet.
int runner_open(Runner *r, const RunOptions *o, Err *err);

// Begins or continues the session. The adapter calls it when it knows its
// tests are readable.
int runner_begin(Runner *r, const char *adapter, Err *err);

// Kills what runs, commits what was finished, removes the scratch area. If not
// all is done (`complete`), the same command continues the session.
int runner_close(Runner *r, bool complete, Err *err);

void runner_forget(Runner *r);

// The process is to run in that slot of the pool: confines it if all are.
// Memory: arena.
void runner_confine(const Runner *r, size_t slot, Spawn *spawn, Arena *arena);

// Need this test not run (continuing: it has; --failed: it did not fail)?
bool runner_is_done(const Runner *r, const char *test);

// Registers the lines of a program ahead of its runs.
int runner_add_module(Runner *r, const char *path, Err *err);
// Reads what the test's processes left in `dir` into the run, and what its
// segments left (NULL: nobody asks).
int runner_collect(Runner *r, const char *dir, Run *run, Segments *segments,
                   Err *err);
// Stores a finished run. `again` is the same test run a second time because it
// had failed (NULL: it was not). If it did not fail again, the test is flaky;
// if it failed in another way, the test fails, and a note says so.
int runner_add(Runner *r, Run *run, const Run *again, Err *err);
// The run passed alone, twice, after the test had failed as `beside` beside
// others.
void runner_note_disturbed(Runner *r, Run *run, const Run *beside);
// The segments of a judged run get their verdicts and, as tests, their names:
// "NAME/segment", or "segment" if `name` is NULL. Those that are too few, or of
// a run none of them is to blame for, are released. `again`: of the second
// execution.
void runner_judge_segments(Runner *r, Segments *s, const Run *run,
                           const Trial *t, const char *name, bool again);
// As runner_add. If the run has judged segments, each is stored as a test:
// segments[0] of it, segments[1] of `again`, which may be other ones.
int runner_add_segments(Runner *r, Run *run, const Run *again,
                        Segments *segments, Err *err);

// A limit for an execution whose full limit is `full` seconds: ten times the
// slowest test that passed (or answer of the reference), 1 s at least, `full`
// at most. Repeat an execution that reaches it with the full limit. `full` if
// nothing is known yet, the user named a limit, or tests run once only.
double runner_limit(const Runner *r, double full);
void runner_note_duration(Runner *r, double seconds);

// An environment for a process: ours without any CULPRIT_ variable, plus
// `extra` ("NAME=value", ends with NULL). Memory: arena.
// Looks at a session's processes, which hang, before they are ended: adds the
// stacks of all threads (program/unwind.h), under a line that says what they
// are, and leaves in `dir`, that of the run files, how their loops turn (NULL:
// nobody asks).
void runner_look_at_hang(pid_t session, const char *root, const char *dir,
                         Str *out);

char **environment_with(char *const *extra, Arena *arena);

#endif
