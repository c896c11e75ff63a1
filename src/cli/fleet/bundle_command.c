// culprit bundle: packs a program and its tests for other machines.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_queue.h"
#include "command/cli.h"
#include "command/given.h"
#include "fleet/bundle.h"
#include "util/escape.h"
#include "util/mem.h"

#define MB (1ull << 20)

typedef struct {
  RunOptions run;
  const char *output;
  Arena arena;
} Options;

static const Option options[] = {
    {"exe", "PROG", &option_text, offsetof(Options, run.exe),
     "program under test"},
    {"tests", "FILE", &option_text, offsetof(Options, run.tests),
     "list of tests, as for `culprit run`"},
    {.rows = oracle_options, .at = offsetof(Options, run)},
    {"expect", "DIR", &option_text, offsetof(Options, run.expect),
     "expected outputs, as for `culprit run`"},
    {"cwd", "DIR", &option_text, offsetof(Options, run.cwd),
     "directory to run the tests in, with their inputs (default: the current "
     "one)"},
    {"timeout", "SECONDS", &option_real, offsetof(Options, run.timeout),
     "limit for one test (default: 10)"},
    {"output", "DIR", &option_text, offsetof(Options, output),
     "directory to write HASH.bundle to (default: the current one)",
     .letter = 'o'},
    {0}};

static void resolve(Options *o) {
  const char **paths[] = {&o->run.exe, &o->run.tests, &o->run.reference,
                          &o->run.expect};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (*paths[i])
      *paths[i] = cli_absolute(&o->arena, *paths[i]);
  o->run.cwd = cli_absolute(&o->arena, o->run.cwd ? o->run.cwd : ".");
  o->output = o->output ? o->output : ".";
  o->run.timeout_given = o->run.timeout > 0;
  if (!o->run.timeout_given)
    o->run.timeout = 10;
  o->run.max_output = 256 * MB;
  o->run.rerun = o->run.segments = true;
}

static int pack(const Options *o) {
  Err err = {0};
  Str packed = {0};
  int rc = bundle_pack(&o->run, o->run.timeout, &packed, &err);
  char *hash = rc ? NULL : bundle_hash(&packed);
  rc = rc ? rc : run_queue_write(o->output, hash, &packed, &err);
  if (!rc)
    escape_printf(stdout, "%s/%s.bundle\n", o->output, hash);
  free(hash);
  str_release(&packed);
  return rc ? cli_error(&err) : EXIT_DONE;
}

static int bundle_main(int argc, char **argv) {
  Options o = {0};
  int first;
  int status = options_parse(&cmd_bundle, argc, argv, &o, &first);
  if (status == OPTIONS_TAKEN && (!o.run.exe || !o.run.tests))
    status = options_wrong(&cmd_bundle, "give --exe and --tests");
  if (status == OPTIONS_TAKEN) {
    resolve(&o);
    status = pack(&o);
  }
  arena_release(&o.arena);
  return status;
}

const Command cmd_bundle = {
    "bundle",
    "pack a program and its tests for other machines",
    bundle_main,
    .usage = "--exe PROG --tests FILE [options]",
    .about = "Pack a program, its libraries built by culprit-cc, a list of "
             "tests, what judges them, and the directory they run in, into "
             "one file. `culprit run --queue` does so by itself.",
    .options = options,
    .end = "Exit status: 0 written, 2 usage, 3 a file cannot be read or "
           "written."};
