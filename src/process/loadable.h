// What an executable file asks of the dynamic linker.
#ifndef CULPRIT_PROCESS_LOADABLE_H
#define CULPRIT_PROCESS_LOADABLE_H

#include <stdbool.h>

// May a shared object be put in front of it by LD_PRELOAD without changing what
// it does? Not if it is a script or linked statically, has other rights than
// its caller, or needs a library that insists on being the first.
bool loadable_with_preload(const char *path);

#endif
