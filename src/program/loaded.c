// The shared libraries of a program: see loaded.h.
#include "program/loaded.h"

#include <stdlib.h>
#include <string.h>

#include "program/sections.h"
#include "util/capture.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

// One line of the loader's list, "\tlibfoo.so => ./libfoo.so (0x7f..)", or that
// of the loader itself, "\t/lib64/ld-linux-x86-64.so.2 (0x7f..)". NULL: it
// names no file. Caller frees.
static char *library_of(char *line) {
  static const char arrow[] = " => ";
  char *path = strstr(line, arrow), *end = strstr(line, " (0x");
  path = path ? path + strlen(arrow) : line + strspn(line, "\t");
  if (!end || end <= path)
    return NULL;
  *end = '\0';
  return strchr(path, '/') ? path_absolute(path, NULL) : NULL;
}

// --- where libraries are that are not installed -------------------------------

static char *also; // directories, separated by colons; NULL: none

void loaded_search(const char *directories) {
  free(also);
  also = directories ? mem_strdup(directories) : NULL;
}

// Those behind the ones that the user named.
static char *search_path(void) {
  const char *own = getenv("LD_LIBRARY_PATH");
  return mem_printf("LD_LIBRARY_PATH=%s%s%s", own ? own : "",
                    own && *own && also ? ":" : "", also ? also : "");
}

// --- asking the loader ---------------------------------------------------------

int loaded_libraries(const char *program, LoadedLibrary *each, void *context,
                     Err *err) {
  if (!program_is_dynamic(program))
    return 0;
  // The loader answers in the program's place.
  char *full = path_absolute(program, NULL);
  char *search = search_path();
  char *const argv[] = {"env", search, "LD_TRACE_LOADED_OBJECTS=1", full, NULL};
  Str list = {0};
  command_capture(argv, NULL, &list);
  int rc = 0;
  char *rest = list.data;
  for (char *line; !rc && (line = strsep(&rest, "\n"));) {
    char *path = library_of(line);
    rc = path ? each(context, path, err) : 0;
    free(path);
  }
  str_release(&list);
  free(search);
  free(full);
  return rc;
}
