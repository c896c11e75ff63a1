// The table of adapters: see adapter.h.
#include "run/adapter.h"

#include <stdlib.h>

#include "util/fs.h"
#include "util/mem.h"

static const Adapter adapters[] = {
    {"testsfile", 10, testsfile_detect, testsfile_run},
    {"automake", 300, automake_detect, automake_run},
    {"command", 10, command_detect, command_run},
};

static bool has_file(const char *dir, const char *name) {
  char *path = mem_printf("%s/%s", dir, name);
  bool there = fs_exists(path);
  free(path);
  return there;
}

static int none_found(const RunOptions *o, Err *err) {
  if (has_file(o->cwd, "configure") && !has_file(o->cwd, "Makefile"))
    return err_set(err,
                   "no tests found in %s: it is not configured yet; run "
                   "`CC=culprit-cc ./configure && make` first",
                   o->cwd);
  return err_set(err,
                 "no tests found in %s: it is no automake build directory; "
                 "give a tests file (--exe PROG --tests FILE) or one command "
                 "(-- CMD)",
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
