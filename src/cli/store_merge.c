// Merging stores, as a command: see store_merge.h.
#include "cli/store_merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/imported.h"
#include "command/cli.h"
#include "fleet/merge.h"
#include "run/summary.h"
#include "util/fs.h"
#include "util/mem.h"

static int report(const MergeRequest *r, const StoreMerge *m, Store *store) {
  Suite suite;
  Err err;
  if (r->quiet)
    return EXIT_DONE;
  if (store_load(store, m->session, &suite, &err))
    return cli_error(&err);
  VerdictCounts counts = suite_count(&suite);
  printf("merged %zu store%s: %zu test%s: ", r->inputs.len,
         plural(r->inputs.len), suite.nruns, plural(suite.nruns));
  imported_print_verdicts(counts.verdicts);
  imported_print_code(&suite);
  imported_print_end(&suite, store, r->store, r->add, m->replaced);
  suite_release(&suite);
  return EXIT_DONE;
}

static void warn(StoreMerge *m) {
  char *save = NULL, *text = m->warnings.data;
  for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
       line = strtok_r(NULL, "\n", &save))
    cli_warn("%s", line);
}

static bool is_same(const char *a, const char *b) {
  struct stat x, y;
  return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

static bool is_output(const MergeRequest *r, const char *output) {
  for (size_t i = 0; i < r->inputs.len; i++)
    if (is_same(r->inputs.items[i].path, output))
      return true;
  return false;
}

int store_merge(const MergeRequest *r) {
  Err err;
  Store *store;
  char *dir = store_find(r->store), *cwd = path_absolute(".", NULL);
  StoreMerge m = {.inputs = r->inputs,
                  .places = r->places,
                  .command = r->command,
                  .cwd = cwd,
                  .store = r->store,
                  .add = r->add};
  int status =
      is_output(r, dir)
          ? cli_fail(EXIT_USAGE, "%s is to be merged into itself", dir)
          : cli_open_store(&store, dir, r->add ? STORE_EXISTING : STORE_CREATE);
  if (status == EXIT_DONE) {
    status =
        stores_merge(&m, store, &err) ? cli_error(&err) : report(r, &m, store);
    warn(&m);
    store_close(store);
  }
  str_release(&m.warnings);
  free(cwd);
  free(dir);
  return status;
}
