// What is said about a session that was imported: see imported.h.
#include "cli/imported.h"

#include <stdio.h>

#include "command/cli.h"
#include "util/escape.h"
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
