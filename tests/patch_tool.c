// patch_tool: the modules of src/patch/ for tests/e2e/patch.
//
//   patch_tool build PROGRAM FILE TEXT SCRATCH
//
// Builds the program with the text in the place of the file and prints the
// name of the result.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/patch_build.h"
#include "util/fs.h"

static int build(char **argv) {
  Err err = {0};
  Str text = {0};
  char *program = NULL;
  char *file = path_absolute(argv[1], NULL);
  int rc = fs_read(argv[2], 0, &text, &err);
  if (!rc)
    rc = patch_build(argv[0], file, &text, argv[3], &program, &err);
  if (rc)
    fprintf(stderr, "%s\n", err.text);
  else
    puts(program);
  free(program);
  free(file);
  str_release(&text);
  return rc ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && !strcmp(argv[1], "build"))
    return build(argv + 2);
  fputs("usage: patch_tool build PROGRAM FILE TEXT SCRATCH\n", stderr);
  return 2;
}
