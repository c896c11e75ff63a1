// Watches a process that hangs, to say which of its loops turn, and how fast:
// how often the busiest thread comes back to where it is, in each of its
// innermost calls. Nothing is changed in the process; it runs slower meanwhile.
//
// A build with CULPRIT_MODE=counts knows how often its loops turned since they
// began; every other build is watched.
#ifndef CULPRIT_PROGRAM_TURNS_WATCH_H
#define CULPRIT_PROGRAM_TURNS_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "model/run.h"
#include "util/str.h"

#define TURNS_SUFFIX ".turns" // of a file with its lines, beside the run files

// Watches it for TURNS_SECONDS and adds a line per place to which it came back:
// "LINE COUNT FILE". Nothing if the process may not be traced, or waits.
// `steps`: do without the debug registers.
void turns_watch(pid_t pid, bool steps, Str *out);

#endif
