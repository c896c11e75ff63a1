// Runs from the field: run files that shipped programs left (CULPRIT_RUN=DIR),
// on any machine, become runs of a session; each version of a program has a
// session of its own.
//
// Files of one start of a program are one run: those of the program and its
// libraries, and of the processes it forked. They are looked for in the same
// directory, which should hold files of one machine only. A run is known by the
// content of its files, and is stored once however often and in whichever order
// they come.
//
// Run files are untrusted. The only modules that are read are the programs
// given and the libraries these are linked with; a run file whose units are
// not theirs is left alone. Files are read, never changed or removed.
#ifndef CULPRIT_FLEET_FIELD_H
#define CULPRIT_FLEET_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/run.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *path;    // of a program built by culprit-cc
  const char *version; // a label; NULL: the hash of its units
} FieldProgram;

typedef struct {
  const FieldProgram *programs;
  size_t nprograms;
  const char *command, *cwd; // of the sessions
  bool judged;               // every run has this verdict
  Verdict verdict; // pass or fail; else: it fails if a signal ended it
  bool waits;      // leave files of processes that may still run
} FieldOptions;

// Of one version.
typedef struct {
  const char *version;
  int64_t session; // 0: no run of it has come
  size_t runs, failing, already;
} FieldCount;

typedef struct {
  char *path, *why;
} FieldRefusal;

typedef struct FieldRuns FieldRuns;

// Reads the programs; the store is not touched before the first run of one.
int field_open(FieldRuns **out, Store *store, const FieldOptions *o, Err *err);
// Adds all run files of a directory and what is below it, or one run file.
// Fails only if the store does; what cannot be read is a refusal.
int field_add(FieldRuns *f, const char *path, Err *err);
// Commits what has come.
int field_flush(FieldRuns *f, Err *err);
const FieldCount *field_counts(const FieldRuns *f, size_t *n);
const FieldRefusal *field_refusals(const FieldRuns *f, size_t *n);
void field_close(FieldRuns *f);

#endif
