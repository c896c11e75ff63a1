// What an executable file asks of the dynamic linker.
#ifndef CULPRIT_PROCESS_LOADABLE_H
#define CULPRIT_PROCESS_LOADABLE_H

#include <stdbool.h>

// Can LD_PRELOAD add a shared object without changing what the program does?
// Not for a script, a static program, one that runs with other rights than its
// caller, or one that needs a library which must be loaded first.
bool loadable_with_preload(const char *path);

#endif
