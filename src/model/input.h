// The input of one run of a C program, as an ordered list of named sources of
// bytes: standard input, arguments, files named on the command line,
// environment variables. Front ends make it and run it; generators change it.
//
//   Inputs in = {0};
//   inputs_add_stdin(&in, text, n);
//   inputs_add_arg(&in, 1, "-x");
//
// A variable is a byte of a source, called NAME[i], or the source's size,
// called NAME.size. Sources can grow and shrink: an argument ends at its first
// NUL, which is a variable too, as are INPUT_SLACK bytes behind it.
#ifndef CULPRIT_MODEL_INPUT_H
#define CULPRIT_MODEL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"
#include "util/err.h"

enum { INPUT_SLACK = 16 };

typedef enum { INPUT_STDIN, INPUT_ARG, INPUT_FILE, INPUT_ENV } InputKind;

typedef struct {
  InputKind kind;
  char *name;     // stdin, argv[1], file:NAME, env:NAME
  char *key;      // file: its path as given; environment: the variable
  uint32_t arg;   // INPUT_ARG: which
  uint8_t *bytes; // INPUT_SLACK + 1 zeros follow
  size_t size;
} InputSource;

typedef struct {
  ARRAY(InputSource) sources;
} Inputs;

// Each returns the number of the source.
size_t inputs_add_stdin(Inputs *in, const void *bytes, size_t n);
size_t inputs_add_arg(Inputs *in, uint32_t arg, const char *text);
size_t inputs_add_file(Inputs *in, const char *path, const void *bytes,
                       size_t n);
size_t inputs_add_env(Inputs *in, const char *name, const char *value);

// From a command line: its arguments, those of them that are readable files
// below `max` bytes (relative to `cwd`, NULL: here), and the file given as
// standard input (NULL: none).
int inputs_of_command(Inputs *in, char *const argv[], const char *cwd,
                      const char *stdin_path, size_t max, Err *err);

void inputs_copy(Inputs *to, const Inputs *from);
// Those sources with keep[i] (NULL: all); arguments are numbered anew.
void inputs_pick(Inputs *to, const Inputs *from, const bool *keep);
// The file that this argument names, if it is one of the sources; else NULL.
const InputSource *inputs_named(const Inputs *in, const InputSource *arg);
// The same source with these bytes; text ends at the first NUL.
void inputs_set(Inputs *in, size_t source, const void *bytes, size_t n);
// New bytes are `fill`.
void inputs_resize(Inputs *in, size_t source, size_t n, uint8_t fill);
void inputs_release(Inputs *in);

#endif
