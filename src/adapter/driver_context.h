// How make started a log driver: its words, directory, environment and open
// files. With that culprit can start the test once more without make, which
// would remove the logs of all tests first.
#ifndef CULPRIT_ADAPTER_DRIVER_CONTEXT_H
#define CULPRIT_ADAPTER_DRIVER_CONTEXT_H

#include <stddef.h>

#include "process/words.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  char *cwd;
  char **argv, **env;
  Redirect *redirects; // open files beyond the standard ones lead nowhere
  size_t nredirects;
} DriverContext;

// Of this process, which was started with these words.
void driver_context_write(char *const *argv, Str *out);
// Memory: arena. False: it was cut off.
bool driver_context_read(DriverContext *c, const char *text, size_t size,
                         Arena *arena);

#endif
