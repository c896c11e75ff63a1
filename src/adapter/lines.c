// The adapters `testsfile` and `command`: tests that are command lines.
#include <stdlib.h>
#include <string.h>

#include "adapter/adapter.h"
#include "adapter/listed.h"
#include "util/fs.h"
#include "util/mem.h"

bool testsfile_detect(const RunOptions *o) { return o->tests != NULL; }

bool command_detect(const RunOptions *o) { return o->command != NULL; }

int testsfile_run(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  Testfile f = {0};
  // Tests added to a session must not replace those of another file.
  char *prefix =
      o->add ? mem_printf("%s:", path_base(o->tests)) : mem_strdup("");
  int rc = testfile_read(&f, o->tests, prefix, err);
  if (!rc)
    rc = listed_run(r, "testsfile", f.tests, f.ntests, err);
  testfile_release(&f);
  free(prefix);
  return rc;
}

int command_run(Runner *r, Err *err) {
  Test test = {.name = "1", .number = 1, .argv = r->options->command};
  return listed_run(r, "command", &test, 1, err);
}
