// Makes the failures of a run: their words, their place, and the signature
// that groups them. A signature holds no addresses, process numbers, test
// names or durations: the same fault gives the same one.
#ifndef CULPRIT_ORACLE_FAILURE_H
#define CULPRIT_ORACLE_FAILURE_H

#include <stdbool.h>

#include "model/run.h"
#include "oracle/message.h"
#include "oracle/oracle.h"
#include "process/process.h"

// Adds a failure unless the run has one with this signature; NULL signature:
// the message is the signature. Everything is copied.
void failure_add(Run *run, const char *kind, const char *place,
                 const char *signature, const char *message);

// Adds what the end of the process shows by itself: a signal, a timeout, too
// much of something. False if it just exited. Marks the run imprecise where
// the line at which it ended is unknown.
bool failure_add_end(Run *run, const Outcome *outcome, const char *root,
                     double timeout, uint64_t max_output);

// An exit status that means failure. If a process of the test crashed on the
// way (a shell script turns that into a status), the crash is the failure.
// NULL signature: the message.
void failure_add_exit(Run *run, const char *root, const char *signature,
                      const char *message);

// The exit status of the trial means failure: in its own words if it wrote any
// (message.h), so that failures which say different things are different ones;
// else by its status. `what`: "exit status 1"; `signature`: of a failure without
// words (NULL: `what`).
void failure_add_status(Run *run, const Trial *t, const char *what,
                        const char *signature);

// Keeps what the test wrote with its failures, and the lines of it that show
// them. Output that is compared is no message: not with those.
void failure_add_output(Run *run, const Trial *t);
// The same for a part of it; `m`: the message in there, NULL: none.
void failure_add_words(Run *run, const char *text, size_t n, const Message *m);

// "SIGSEGV". Caller frees.
char *signal_name(int signal);

#endif
