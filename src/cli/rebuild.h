// Waiting for a rebuild: `culprit run --watch`.
#ifndef CULPRIT_CLI_REBUILD_H
#define CULPRIT_CLI_REBUILD_H

#include <stddef.h>

#include "process/words.h"

// Returns when one of the files has changed and they have been left alone for
// a moment: a linker writes its output in several steps. Sleeps in between; an
// interrupt ends the program as usual.
void rebuild_wait(const WordList *files);

// Runs ourselves with these arguments and returns the exit status.
int rebuild_round(const WordList *args);

#endif
