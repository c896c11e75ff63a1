// Parses a compiler command line as far as culprit-cc needs: what the compiler
// is asked to do, which inputs are C, and which options concern the front end,
// the code generator or the linker. Unknown options are passed on.
#ifndef CULPRIT_COMPILE_CC_ARGS_H
#define CULPRIT_COMPILE_CC_ARGS_H

#include <stdbool.h>

#include "util/array.h"
#include "util/err.h"

typedef ARRAY(const char *) Args;

typedef enum {
  ARG_OPTION,   // concerns every step or is unknown
  ARG_FRONT,    // preprocessor, language: not for code generation
  ARG_LANGUAGE, // -x and its value
  ARG_LINK,     // linker only
  ARG_SOURCE,   // a C file to instrument
  ARG_INPUT,    // any other input
  ARG_OUTPUT,   // -o and its file
  ARG_DROP,     // -c, and what we replace
} ArgRole;

typedef struct {
  const char *text;
  ArgRole role;
} Arg;

typedef struct {
  ARRAY(Arg) args;      // response files expanded
  const char *output;   // of -o, or NULL
  int nsources;         // ARG_SOURCE
  int ninputs;          // ARG_SOURCE and ARG_INPUT
  bool compile_only;    // -c
  bool passthrough;     // nothing for us to do: -E, -S, -M, queries, an input
                        // that is not there, ...
  bool lto;             // -flto was given (and is dropped)
  bool foreign_target;  // -m32, --target=...
  bool relocatable;     // -r
  bool linker_script;   // -T
  bool warnings_fail;   // some -Werror=...
  bool errors_all;      // -Werror
  bool pedantic;        // -pedantic-errors
  bool probe;           // a source is one by which configure, CMake or Meson
                        // finds out what the compiler can do
  const char *left_out; // the first option that is gcc's alone, or NULL
  bool depfile;         // -MD, -MMD, -Wp,-MD
  bool depfile_named;   // -MF
  bool deptarget_named; // -MT, -MQ
  char opt;             // '0'..'3', 's', 'z', 'g', 'f' (fast)
  Args prefix_maps;     // OLD=NEW of -ffile-prefix-map and friends
} CcArgs;

// `args` without the program name. Fails on an unreadable response file.
int cc_args_parse(CcArgs *c, int argc, char **argv, Err *err);

// What it takes to compile one of the sources again, beside the options of code
// generation (ARG_OPTION): the directory, the source as it was given, the
// options of the preprocessor and the language. Depfiles are left out. The
// directory is "" if an option keeps it out of the object file. Adds nothing for
// a source that is no file.
void cc_args_front(const CcArgs *c, const char *source, Args *out);

// Is it an option that gcc has, that clang refuses, and that does not change
// what a program means (-fno-gnu-unique, -fipa-pta)?
bool cc_args_gcc_alone(const char *arg);

#endif
