// The slice of a recorded run's first wrong byte, as text: for tests/slices and
// tests/e2e/slice.
//
//   slice_tool CACHE PROGRAM                           path of the trace build
//   slice_tool CACHE PROGRAM TRACES ACTUAL EXPECTED [killed]    the slice
//
// TRACES is what CULPRIT_TRACE named when the build ran; ACTUAL and EXPECTED are
// files with its output and the right one; the run was killed, or not.
// SLICE_STRICT in the environment: without stores that were skipped.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "look/output_slice.h"
#include "util/fs.h"

static int die(const Err *err) {
  fprintf(stderr, "slice_tool: %s\n", err->text);
  return 3;
}

static void show(const OutputSlice *s, double seconds) {
  printf("found %d end %d offset %zu\n", s->found, s->at_end, s->offset);
  printf("at %s:%u by %s\n", path_base(s->source), s->line,
         s->by ? s->by : "-");
  printf("right %u lines %zu executed %zu instructions %llu seconds %.4f\n",
         s->nright, s->lines.len, s->executed,
         (unsigned long long)s->instructions, seconds);
  printf("note %s\n", s->note ? s->note : "-");
  for (size_t i = 0; i < s->lines.len; i++)
    printf("line %s:%u %u\n", path_base(s->lines.items[i].source),
           s->lines.items[i].line, s->lines.items[i].right);
}

static int slice(SliceProgram *p, char **argv, bool killed, Err *err) {
  Str actual = {0}, expected = {0};
  OutputSlice s = {0};
  int rc = -1;
  if (!fs_read(argv[1], 0, &actual, err) &&
      !fs_read(argv[2], 0, &expected, err)) {
    clock_t start = clock();
    SlicedRun run = {.traces = argv[0],
                     .actual = str_text(&actual),
                     .nactual = actual.len,
                     .expected = str_text(&expected),
                     .nexpected = expected.len,
                     .killed = killed,
                     .strict = getenv("SLICE_STRICT") != NULL};
    rc = output_slice(p, &run, &s, err);
    if (!rc)
      show(&s, (double)(clock() - start) / CLOCKS_PER_SEC);
    output_slice_release(&s);
  }
  str_release(&actual);
  str_release(&expected);
  return rc;
}

int main(int argc, char **argv) {
  Err err = {0};
  SliceProgram p;
  if (argc != 3 && argc != 6 && argc != 7) {
    fprintf(
        stderr,
        "usage: slice_tool CACHE PROGRAM [TRACES ACTUAL EXPECTED [killed]]\n");
    return 2;
  }
  int rc = slice_program_open(&p, argv[2], argv[1], &err);
  if (!rc && argc == 3)
    puts(p.build.program);
  else if (!rc)
    rc = slice(&p, argv + 3, argc == 7, &err);
  slice_program_close(&p);
  return rc ? die(&err) : 0;
}
