// Builds the user's tree with culprit-cc if it is not built with it yet:
// `culprit run -- make check` on a fresh source tree, or in a build directory
// of another compiler.
//
//   the tree has      what is done, below .culprit/build
//   CMakeLists.txt    cmake -S TREE -DCMAKE_C_COMPILER=culprit-cc
//   meson.build       CC=culprit-cc meson setup
//   configure         a copy, ./configure CC=culprit-cc, make; called from a
//                     build directory of its own, TREE/configure
//   configure.ac      a copy, autoreconf -fi, configure, make
//   configure.sh      a copy, configure.sh, make
//   Makefile          a copy of the tree, make CC=culprit-cc
//   (--build CMD)     a copy, CMD with CC set
//
// A later call finds what is there and builds only what has changed. The user's
// own tree is never written to.
#ifndef CULPRIT_ADAPTER_TREE_H
#define CULPRIT_ADAPTER_TREE_H

#include <stdbool.h>

#include "run/runner.h"

typedef struct {
  bool needed;
  const char *kind;    // "CMake", "Meson", "configure", "make", ...
  char *source;        // the user's tree
  bool outside;        // the user builds it in another directory
  char *copied;        // where a copy is made: of this, the tree or above it
  char *dir;           // the build
  char *work;          // where the tests run: in there
  const char *command; // of --build; NULL: none
  char *switched; // the option that was turned on to have tests; NULL: none
  const char *const *options; // of --build-option
  size_t noptions;
} Tree;

// Is such a build needed for these options, and of which kind? False if the
// options name programs themselves, if the directory is a build with culprit-cc
// already, or if nothing in it can be built.
bool tree_find(Tree *t, const RunOptions *o, const char *store);

// Configures and builds. Output goes to LOG; the message has its end.
int tree_build(Tree *t, int jobs, const char *log, Err *err);

// "CC=culprit-cc ...": the word for make in such a build. Memory: arena.
const char *tree_make_variable(const Tree *t, Arena *arena);

void tree_release(Tree *t);

#endif
