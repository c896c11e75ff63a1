// One execution of one test: what it covered and how it ended.
#ifndef CULPRIT_MODEL_RUN_H
#define CULPRIT_MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "util/array.h"
#include "util/bitset.h"

typedef enum {
  VERDICT_PASS,
  VERDICT_FAIL,
  VERDICT_SKIP,  // the test or its oracle said: does not count
  VERDICT_FLAKY, // failed once, not again
  VERDICT_ERROR, // the test could not be run or judged
  VERDICTS
} Verdict;

const char *verdict_name(Verdict v);
int verdict_parse(const char *name); // -1: no such verdict

// What a run shows when it fails. Two failures with the same signature are the
// same failure: signatures hold no addresses, numbers of processes or names of
// tests.
//   exit       exit status 3
//   signal     SIGSEGV in parse (src/a.c:12)
//   contract   list_delete: size_ok is violated at call 1 (list.c:9): ...
//   sanitizer  heap-buffer-overflow in copy (src/a.c:40)
//   timeout    still running after 10 s
//   output     standard output differs from the reference
//   oracle     oracle command: exit status 1
//   limit      more output than --max-output
//   verdict    AssertionError (an imported verdict says so)
//   fatal, warning, notice, deprecated, query
//              Call to a member function f() on null (a.php:12)
//   html       unclosed-element: h2 (view.php:18)

// What a line has to do with what a failure is about.
typedef enum {
  PLACE_OUTPUT,  // holds it, and printed it
  PLACE_TEXT,    // holds it; another line printed it
  PLACE_PRINTED, // printed what another line holds
  PLACE_BETWEEN, // wrote what comes where an element should have been closed
  PLACE_NEAR,    // holds what the database or PHP complains about
  PLACE_QUERY,   // holds another part of the failed query, or of a header, a
                 // cookie, a mail or a file that a failure is about
  PLACE_SENT,    // sent it, or called what did
  PLACE_ROLES
} PlaceRole;

const char *place_role_name(PlaceRole r); // output, text, printed, ...
int place_role_parse(const char *name);   // -1: no such role

// Where in the run's output, in its failed query or in what else it sent a
// failure shows, and which line wrote that.
typedef struct {
  char *file;         // absolute path, "": no known line
  uint32_t line;      // that holds it
  uint32_t statement; // line of the statement it belongs to; 0: the same
  PlaceRole role;
  char *what;    // "opened here"
  char *excerpt; // the output there, one line
} FailurePlace;
typedef ARRAY(FailurePlace) FailurePlaces;

typedef struct {
  char *kind;           // exit, signal, ...
  char *message;        // one line for people
  char *place;          // "file:line" or ""
  char *signature;      // what groups it with others
  char *excerpt;        // of the output, the lines that show it; NULL: none
  char *output;         // what the test wrote, or its end; NULL: not kept
  FailurePlaces places; // in the output; none if that is not known
} Failure;

void failure_place_release(FailurePlace *p);
void failure_release(Failure *f);

// Where a process died in the middle of a block, when that is known. Lines of
// that block after `line` were not executed by it.
typedef struct {
  char *file; // absolute path, "" if the place is unknown
  uint32_t line;
  char *function;
  char *how;  // SIGSEGV, ...
  bool exact; // false: which lines of the block ran is not certain
  // The calls that led there, innermost first, as far as they are in lines that
  // can be ranked: "LINE FUNCTION FILE\n" each. NULL: none is known.
  char *callers;
  // Of a process that hung: places to which it came back while it was watched
  // (program/turns_watch.h), with how often: "LINE COUNT FILE\n" each. NULL: not
  // known.
  char *turns;
} Death;

#define TURNS_SECONDS 0.5 // how long it is watched

void death_release(Death *d);

// One of the callers, or of the turns, whose count is `function`; the texts are
// not terminated.
typedef struct {
  const char *file, *function;
  size_t file_size, function_size;
  uint32_t line;
} DeathCaller;

// Reads the caller at *at and goes on to the next. False: there is none.
bool death_caller(const char **at, DeathCaller *out);

// How often an entity was executed.
typedef struct {
  uint32_t entity;
  uint64_t count;
} EntityCount;

// A Run is the union of all processes of one test.
typedef struct {
  char *test;    // name, unique within its session: "12", "tests/foo.sh"
  char *command; // the command as a shell would take it, for people
  Verdict verdict;
  int status; // exit status, or -signal
  double seconds;
  ARRAY(Failure) failures;
  ARRAY(Death) deaths;
  uint32_t processes; // instrumented processes that left a spectrum
  // Paths of the programs and libraries that did, each once; not stored, and
  // not known of a part of a run.
  ARRAY(char *) modules;
  bool imprecise; // some process was killed before its last lines could be
                  // confirmed
  char *note;     // what is missing in this run, or NULL
  Bitset hits[ENTITY_KINDS]; // of suite-wide entity ids, one set per kind
  // Conditions and returns of units built with CULPRIT_MODE=counts, by entity.
  ARRAY(EntityCount) counts;
} Run;

void run_release(Run *r);
void run_add_module(Run *r, const char *path); // if it is not there yet

// What the note of a failing run says whose repetition failed too, but with
// another signature. Its failures and hits are those of the first execution.
#define NOTE_VARIES "fails in a different way each time"
bool run_note_varies(const char *note); // NULL: no note

// Adds to what the run says is missing in it.
void run_add_note(Run *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

// The test sent this signal to culprit (0: none), which goes on.
void run_note_signal(Run *run, int signal);

#endif
