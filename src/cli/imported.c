// Sessions that were imported or merged: see imported.h.
#include "cli/imported.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/cli.h"
#include "fleet/merge.h"
#include "run/summary.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

void imported_print_verdicts(const size_t counts[VERDICTS]) {
  static const char *const words[VERDICTS] = {
      [VERDICT_PASS] = "passed",    [VERDICT_FAIL] = "failed",
      [VERDICT_SKIP] = "skipped",   [VERDICT_FLAKY] = "flaky",
      [VERDICT_ERROR] = "in error",
  };
  for (int v = 0; v < VERDICTS; v++)
    if (counts[v] || v == VERDICT_PASS || v == VERDICT_FAIL)
      printf("%s%zu %s", v ? ", " : "", counts[v], words[v]);
  putchar('\n');
}

// Of all units together; what several units have in common counts once.
void imported_print_code(const Suite *suite) {
  size_t counts[ENTITY_KINDS] = {0};
  for (size_t i = 0; i < suite->nentities; i++)
    counts[suite->entities[i].kind]++;
  printf("  %zu line%s of %zu source file%s", counts[ENTITY_STATEMENT],
         plural(counts[ENTITY_STATEMENT]), suite->nsources,
         plural(suite->nsources));
  if (counts[ENTITY_FUNCTION])
    printf(", %zu function%s", counts[ENTITY_FUNCTION],
           plural(counts[ENTITY_FUNCTION]));
  if (counts[ENTITY_CONDITION])
    printf(", %zu condition outcome%s", counts[ENTITY_CONDITION],
           plural(counts[ENTITY_CONDITION]));
  putchar('\n');
}

// What to type next: a ranking needs both failing and passing runs.
static void print_next(const Suite *suite, const char *option) {
  bool failing = false, passing = false;
  for (size_t i = 0; i < suite->nruns; i++) {
    const RunInfo *run = &suite->runs[i];
    failing |= run->has_spectrum && run->verdict == VERDICT_FAIL;
    passing |= run->has_spectrum && run->verdict == VERDICT_PASS;
  }
  if (failing && passing)
    escape_printf(stdout, "Next: culprit rank%s%s\n", option ? " --store " : "",
                  option ? option : "");
  else if (!failing && !passing)
    puts("Nothing can be ranked: no test has both coverage and a verdict.\n"
         "Give the verdicts with --verdicts FILE.");
  else if (!failing)
    puts("Nothing can be ranked: no test that failed has coverage. Add one\n"
         "that shows the fault, with --add.");
  else
    puts("Nothing can be ranked: no test that passed has coverage to compare\n"
         "with. Add some, with --add.");
}

void imported_print_end(const Suite *suite, Store *store, const char *option,
                        bool added, size_t replaced) {
  if (replaced)
    printf("  %zu replaced %s\n", replaced,
           replaced == 1 ? "an earlier run of the same test"
                         : "earlier runs of the same tests");
  escape_printf(stdout, "store: %s, session %lld%s\n", store_name(store),
                (long long)suite->session, added ? " (added)" : "");
  print_next(suite, option);
}

// --- merging ----------------------------------------------------------------

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
    if (!strcmp(r->inputs.items[i].path, output) ||
        is_same(r->inputs.items[i].path, output))
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
          ? cli_fail(EXIT_USAGE, "a store is to be merged into itself")
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
