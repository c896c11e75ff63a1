// Where tests come from. An adapter finds the tests of one kind of test runner
// and drives them through a Runner; a new one is one file and one row of the
// table in adapter.c.
//
//   testsfile  --tests FILE: one test a line
//   automake   `make check` of an automake build directory, test by test
//   command    -- CMD: one test
#ifndef CULPRIT_RUN_ADAPTER_H
#define CULPRIT_RUN_ADAPTER_H

#include "run/runner.h"

typedef struct {
  const char *name;
  double timeout; // default, in seconds
  // Is this the adapter for these options (and the directory they name)?
  bool (*detect)(const RunOptions *o);
  // Runs all tests: runner_begin, then runner_add for each.
  int (*run)(Runner *r, Err *err);
} Adapter;

// The first that wants these options. -1: none, and what the user can do.
int adapter_find(const Adapter **a, const RunOptions *o, Err *err);

// The rows.
bool testsfile_detect(const RunOptions *o);
int testsfile_run(Runner *r, Err *err);
bool automake_detect(const RunOptions *o);
int automake_run(Runner *r, Err *err);
bool command_detect(const RunOptions *o);
int command_run(Runner *r, Err *err);

#endif
