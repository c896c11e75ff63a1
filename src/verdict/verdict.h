// Verdicts of tests that ran somewhere else: read from what a test runner
// wrote, then given to the runs that the coverage files brought.
//
// Every runner spells test names its own way, and so does every coverage tool.
// A run takes the verdict with exactly its name; else the only one whose short
// name that is; else the only one that is the same when everything but letters
// and digits is taken for "_" (a/test_b.py::c = a_test_b_py_c) - the full name
// first, then the short one.
#ifndef CULPRIT_VERDICT_VERDICT_H
#define CULPRIT_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/run.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"
#include "verdict/import_file.h"

typedef struct {
  const char *name;  // in full
  const char *brief; // without class, directory, ...; NULL: there is none
  Verdict verdict;
  const char *type;    // what kind of failure: "AssertionError"; NULL: unknown
  const char *message; // one line; NULL: none
  double seconds;      // 0: unknown
} TestVerdict;

typedef struct {
  ARRAY(TestVerdict) items;
  Hashmap index; // full name -> item
  Arena arena;
} Verdicts;

void verdicts_release(Verdicts *v);

// Adds one; everything is copied. A test that is named twice with different
// verdicts is flaky.
void verdicts_add(Verdicts *v, const TestVerdict *t);

// Reads a file in whichever format it has, or every .trs, .xml and .tap file
// below a directory.
int verdicts_read(Verdicts *v, const char *path, Err *err);

// The format of a text. The first of the table that recognises it; the last one
// takes everything.
typedef struct {
  const char *name;
  bool (*recognises)(const ImportFile *in);
  int (*read)(const ImportFile *in, Verdicts *out, Err *err);
  const char *help;
} VerdictFormat;
const VerdictFormat *verdict_formats(size_t *n);

// pass, fail, skip, ... as test runners call them, in upper or lower case. -1:
// no verdict.
int verdict_word(const char *word, size_t n);

// Looking verdicts up by the names of runs.
typedef struct {
  const Verdicts *verdicts;
  Hashmap levels[4]; // name, brief, plain name, plain brief -> item
  bool *used;        // by item: some run took it
} VerdictFinder;

void finder_init(VerdictFinder *f, const Verdicts *v);
void finder_release(VerdictFinder *f);
// NULL: there is none; *ambiguous: because several fit.
const TestVerdict *finder_find(VerdictFinder *f, const char *test,
                               bool *ambiguous);

// The readers of the table: junit.c, tap.c, trs.c, columns.c.
bool junit_recognises(const ImportFile *in),
    trs_recognises(const ImportFile *in), tap_recognises(const ImportFile *in),
    columns_recognises(const ImportFile *in);
int junit_read(const ImportFile *in, Verdicts *out, Err *err);
int trs_read(const ImportFile *in, Verdicts *out, Err *err);
int tap_read(const ImportFile *in, Verdicts *out, Err *err);
int columns_read(const ImportFile *in, Verdicts *out, Err *err);

#endif
