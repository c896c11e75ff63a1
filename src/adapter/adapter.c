// The table of adapters: see adapter.h.
#include "adapter/adapter.h"

#include "adapter/suites.h"
#include "adapter/switches.h"

// The limit of one test. A program or command has 10 s. Tests of a project are
// often programs or scripts that hold many: 60 s; meson itself allows 30 s. A
// whole `make check` as one test has the most. Limits that the project's own
// files give come first (oracle/rules.h), and run/batch.c derives lower ones
// from the tests that pass.
enum { ONE = 10, MESON = 30, PROJECT = 60, WHOLE_SUITE = 300 };

static const Adapter adapters[] = {
    {"testsfile", ONE, testsfile_detect, testsfile_run},
    {"automake", PROJECT, automake_detect, automake_run},
    {"ctest", PROJECT, ctest_detect, ctest_run},
    {"meson", MESON, meson_detect, meson_run},
    {"tap", PROJECT, tap_detect, tap_run},
    {"script", PROJECT, script_detect, script_run},
    {"make", WHOLE_SUITE, make_detect, make_run},
    {"program", PROJECT, program_detect, program_run},
    {"command", ONE, command_detect, command_run},
};

static int none_found(const RunOptions *o, Err *err) {
  if (dir_has(o->cwd, "CMakeCache.txt"))
    return cmake_lists_none(o->cwd, err);
  if (dir_has(o->cwd, "configure") && !dir_has(o->cwd, "Makefile"))
    return err_set(err,
                   "no tests found in %s: it is not configured yet; run "
                   "`CC=culprit-cc ./configure && make` first",
                   o->cwd);
  return err_set(err,
                 "no tests found in %s. Looked for: configure, configure.ac, "
                 "CMakeLists.txt or meson.build; a build directory of "
                 "automake, CMake or Meson; a Makefile with a target check, "
                 "test or tests; t/*.t; tests/*.sh; programs named like tests. "
                 "Go to the directory that has one of these, or name the "
                 "tests: --exe PROG --tests "
                 "FILE, or -- COMMAND",
                 o->cwd);
}

int adapter_find(const Adapter **a, const RunOptions *o, Err *err) {
  for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++) {
    *a = &adapters[i];
    if (adapters[i].detect(o))
      return 0;
  }
  return none_found(o, err);
}
