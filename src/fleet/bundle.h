// A bundle: all that another machine needs to run tests of a list, in one zstd
// file. docs/reference/formats.md describes it.
//
//   manifest       how the tests run and are judged
//   exe/NAME       the program; lib/NAME: its libraries built by culprit-cc
//   tests          the list
//   reference/NAME, expect/...   what they are judged by
//   cwd/...        the directory they run in, with their inputs
//
// It is known by a hash of its bytes. It is unpacked into a directory of that
// name, once; what is in it may not leave that directory.
#ifndef CULPRIT_FLEET_BUNDLE_H
#define CULPRIT_FLEET_BUNDLE_H

#include <stddef.h>

#include "run/runner.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

#define BUNDLE_MAGIC "CLBUNDL1"
#define BUNDLE_VERSION 1u

// Packs what these options name: a program and a list of tests are needed.
// `timeout`: of a test. Left out of the directory: .culprit, .git, what is no
// regular file. Fails if it has more than 1 GB.
int bundle_pack(const RunOptions *o, double timeout, Str *out, Err *err);

// Of packed bytes; 32 digits. Caller frees.
char *bundle_hash(const Str *packed);

// Makes `dir` if it is not there: completely, or not at all. Refuses bytes that
// have another hash, and names that lead elsewhere.
int bundle_unpack(const Str *packed, const char *hash, const char *dir,
                  Err *err);

// What an unpacked bundle says.
typedef struct {
  RunOptions options; // paths below `dir`; without jobs and confinement
  const char *exe;    // the program's path where it was packed
  const char *lib;    // directory of libraries; NULL: none
  double timeout;
  Arena arena; // owns everything above
} Bundle;

int bundle_read(Bundle *b, const char *dir, Err *err);
void bundle_release(Bundle *b);

#endif
