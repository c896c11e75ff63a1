// The table of adapters: see adapter.h.
#include "adapter/adapter.h"

#include "adapter/suites.h"
#include "adapter/switches.h"

static const Adapter adapters[] = {
    {"testsfile", 10, testsfile_detect, testsfile_run},
    {"automake", 300, automake_detect, automake_run},
    {"ctest", 300, ctest_detect, ctest_run},
    {"meson", 30, meson_detect, meson_run},
    {"tap", 300, tap_detect, tap_run},
    {"script", 300, script_detect, script_run},
    {"make", 300, make_detect, make_run},
    {"command", 10, command_detect, command_run},
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
                 "no tests found in %s: not an automake, CMake or Meson build "
                 "directory, no t/*.t or tests/*.sh, and no Makefile with a "
                 "target check, test or tests; name a tests "
                 "file (--exe PROG --tests FILE) or a command (-- CMD)",
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
