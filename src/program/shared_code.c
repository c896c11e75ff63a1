// The code of shared libraries: see shared_code.h.
#include "program/shared_code.h"

#include "compile/bitcode_format.h"
#include "program/loaded.h"

// The library keeps the bytes its units lie in.
static int add_library(void *program, const char *path, Err *err) {
  ProgramCode *p = program, library;
  if (!section_exists(path, BITCODE_SECTION))
    return 0;
  if (program_code_read(&library, path, err))
    return -1;
  for (size_t i = 0; i < library.units.len; i++)
    array_push(&p->units, library.units.items[i]);
  array_release(&library.units);
  array_push(&p->libraries, library);
  return 0;
}

int shared_code_add(ProgramCode *p, Err *err) {
  return loaded_libraries(p->path, add_library, p, err);
}
