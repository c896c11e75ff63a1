// culprit ingest: stores the run files that shipped programs left.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli.h"
#include "fleet/field.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"

enum { LISTED = 5, STOP_SECONDS = 20, SPOOL_MILLISECONDS = 1000 };

typedef struct {
  ARRAY(FieldProgram) programs;
  unsigned verdict; // index into verdict_words
  const char *spool, *store;
  bool verdict_given, quiet;
  Arena arena;
} Options;

static int take_program(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  const char *equals = strchr(arg, '=');
  bool labelled = equals && equals != arg && !fs_exists(arg);
  const char *path = labelled ? equals + 1 : arg;
  array_push(&options->programs,
             ((FieldProgram){cli_absolute(&options->arena, path),
                             labelled ? arena_strndup(&options->arena, arg,
                                                      (size_t)(equals - arg))
                                      : NULL}));
  return 0;
}

static int take_verdict(const Option *o, void *field, const char *arg) {
  (void)o;
  Options *options = field;
  options->verdict_given = true;
  options->verdict = (unsigned)verdict_parse(arg);
  return options->verdict == VERDICT_PASS || options->verdict == VERDICT_FAIL
             ? 0
             : -1;
}

static const OptionType option_program = {take_program, "PROG"};
static const OptionType option_verdict = {take_verdict, "pass or fail"};

static const Option options[] = {
    {"exe", "PROG", &option_program, 0,
     "a program that left the files, as it was before it was stripped; "
     "VERSION=PROG labels it",
     .repeats = true},
    {"verdict", "pass|fail", &option_verdict, 0,
     "verdict of all these runs (default: those that a signal ended fail)"},
    {"spool", "DIR", &option_text, offsetof(Options, spool),
     "watch DIR, and store what appears there, until a signal comes"},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// --- what came ---------------------------------------------------------------

static void print_counts(const FieldRuns *f) {
  size_t n, runs = 0, failing = 0, already = 0;
  const FieldCount *counts = field_counts(f, &n);
  for (size_t i = 0; i < n; i++) {
    runs += counts[i].runs;
    failing += counts[i].failing;
    already += counts[i].already;
  }
  printf("ingested %zu run%s: %zu failed, %zu passed", runs, plural(runs),
         failing, runs - failing);
  if (already)
    printf("; %zu %s there already", already, already == 1 ? "was" : "were");
  putchar('\n');
  for (size_t i = 0; i < n; i++)
    if (counts[i].session)
      escape_printf(stdout, "  %s: session %lld, %zu new run%s, %zu failing\n",
                    counts[i].version, (long long)counts[i].session,
                    counts[i].runs, plural(counts[i].runs), counts[i].failing);
}

static void print_refusals(const FieldRuns *f) {
  size_t n;
  const FieldRefusal *list = field_refusals(f, &n);
  if (n)
    printf("  %zu file%s left out:\n", n, n == 1 ? " was" : "s were");
  for (size_t i = 0; i < n && i < LISTED; i++)
    escape_printf(stdout, "    %s: %s\n", list[i].path, list[i].why);
  if (n > LISTED)
    printf("    and %zu more\n", n - LISTED);
}

static void print_next(const Options *o, const FieldRuns *f) {
  size_t n;
  const FieldCount *counts = field_counts(f, &n);
  for (size_t i = 0; i < n; i++)
    if (counts[i].failing) {
      escape_printf(stdout, "Next: culprit rank --session %lld%s%s\n",
                    (long long)counts[i].session, o->store ? " --store " : "",
                    o->store ? o->store : "");
      return;
    }
}

static void report(const Options *o, const FieldRuns *f) {
  if (o->quiet)
    return;
  print_counts(f);
  print_refusals(f);
  print_next(o, f);
  fflush(stdout);
}

// --- reading -----------------------------------------------------------------

// New runs are committed after each look.
static int watch(const Options *o, FieldRuns *f, Err *err) {
  size_t n, before = 0;
  stop_orderly(STOP_SECONDS);
  for (int rc = 0; !stop_requested();) {
    rc = field_add(f, o->spool, err) || field_flush(f, err) ? -1 : 0;
    if (rc)
      return -1;
    const FieldCount *counts = field_counts(f, &n);
    size_t runs = 0;
    for (size_t i = 0; i < n; i++)
      runs += counts[i].runs;
    if (runs != before && !o->quiet)
      printf("%zu run%s\n", runs, plural(runs));
    fflush(stdout);
    before = runs;
    for (int left = SPOOL_MILLISECONDS; left > 0 && !stop_requested();
         left -= 50)
      usleep(50000);
  }
  stop_orderly(0);
  return 0;
}

static int add_all(const Options *o, FieldRuns *f, char **operands, Err *err) {
  for (; *operands; operands++)
    if (field_add(f, *operands, err))
      return -1;
  if (field_flush(f, err))
    return -1;
  return o->spool ? watch(o, f, err) : 0;
}

static int ingest(const Options *o, char **operands, char **argv) {
  Err err = {0};
  Store *store;
  FieldRuns *f = NULL;
  char *command = cli_command_line(argv), *cwd = path_absolute(".", NULL);
  FieldOptions field = {.programs = o->programs.items,
                        .nprograms = o->programs.len,
                        .command = command,
                        .cwd = cwd,
                        .judged = o->verdict_given,
                        .verdict = (Verdict)o->verdict,
                        .waits = o->spool != NULL};
  int status = cli_open_store(&store, o->store, STORE_CREATE);
  if (status == EXIT_DONE) {
    if (field_open(&f, store, &field, &err) || add_all(o, f, operands, &err))
      status = cli_error(&err);
    else
      report(o, f);
    field_close(f);
    store_close(store);
  }
  free(cwd);
  free(command);
  return status;
}

static int ingest_main(int argc, char **argv) {
  Options o = {0};
  int first;
  int status = options_parse(&cmd_ingest, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && !o.programs.len)
    status = options_wrong(&cmd_ingest, "name the programs that left the "
                                        "files: --exe PROG");
  if (status == OPTIONS_TAKEN && first == argc && !o.spool)
    status = options_wrong(&cmd_ingest, "name run files or directories");
  if (status == OPTIONS_TAKEN)
    status = ingest(&o, argv + first, argv);
  array_release(&o.programs);
  arena_release(&o.arena);
  return status;
}

const Command cmd_ingest = {
    "ingest",
    "store the runs that shipped programs recorded",
    ingest_main,
    .usage = "--exe PROG DIR|FILE... [options]",
    .about =
        "Store run files that programs left where they were used: programs "
        "built by culprit-cc and started with CULPRIT_RUN=DIR (and "
        "CULPRIT_SAMPLE=100 to record one start in a hundred). Each version "
        "has a session of its own, which later files are added to, in any "
        "order and each once. Files are never changed or removed.\n\n"
        "Run files hold counters and, of a crash, the place: nothing that the "
        "program worked on.",
    .options = options,
    .end = "Exit status: 0 what could be read is stored, 2 usage, 3 a program "
           "without a map, or a store that cannot be written."};
