// The shared libraries that the dynamic linker would load for a program now, so
// that LD_LIBRARY_PATH counts. The loader itself is asked; the program is not
// run.
#ifndef CULPRIT_PROGRAM_LOADED_H
#define CULPRIT_PROGRAM_LOADED_H

#include "util/err.h"

// From now on libraries are also looked for in these directories, separated by
// colons: where tests found them, whatever variables they set. NULL: no longer.
void loaded_search(const char *directories);

// Gets a library's absolute path. Other than 0 ends the list.
typedef int LoadedLibrary(void *context, const char *path, Err *err);

// Returns what `each` returned last; 0 if there are no libraries.
int loaded_libraries(const char *program, LoadedLibrary *each, void *context,
                     Err *err);

#endif
