// Where tests come from. An adapter finds the tests of one kind of test runner
// and drives them through a Runner; a new one is one file and one row of the
// table in adapter.c.
//
//   testsfile  --tests FILE: one test a line
//   automake   `make check` of an automake build directory, test by test
//   ctest      the tests of a CMake build directory (ctest, make test)
//   meson      the tests of a Meson build directory (meson test, ninja test)
//   tap        t/*.t, which print TAP (prove)
//   script     tests/*.sh
//   make       a Makefile's target check, test or tests: one test
//   program    programs named like tests, if nothing else is there
//   command    -- CMD: one test
//
// Programs that hold many tests (cmocka, Check) are split: split.h.
#ifndef CULPRIT_ADAPTER_ADAPTER_H
#define CULPRIT_ADAPTER_ADAPTER_H

#include "run/runner.h"

typedef struct {
  const char *name;
  double timeout; // default, in seconds
  // Is this the adapter for these options (and the directory they name)?
  bool (*detect)(const RunOptions *o);
  // Runs all tests: runner_begin, then runner_add for each.
  int (*run)(Runner *r, Err *err);
} Adapter;

// The first that recognises the options; fails with a remedy if none does.
int adapter_find(const Adapter **a, const RunOptions *o, Err *err);

// The rows.
bool testsfile_detect(const RunOptions *o);
int testsfile_run(Runner *r, Err *err);
bool automake_detect(const RunOptions *o);
int automake_run(Runner *r, Err *err);
bool ctest_detect(const RunOptions *o);
int ctest_run(Runner *r, Err *err);
bool meson_detect(const RunOptions *o);
int meson_run(Runner *r, Err *err);
bool program_detect(const RunOptions *o);
int program_run(Runner *r, Err *err);
bool tap_detect(const RunOptions *o);
int tap_run(Runner *r, Err *err);
bool script_detect(const RunOptions *o);
int script_run(Runner *r, Err *err);
bool make_detect(const RunOptions *o);
int make_run(Runner *r, Err *err);
bool command_detect(const RunOptions *o);
int command_run(Runner *r, Err *err);

#endif
