// culprit: tells a developer which line to fix. This file is the table of
// commands; each is a file of cli/.
#include <stdio.h>
#include <string.h>

#include "command/cli.h"
#include "util/area.h"
#include "util/stop.h"
#include "util/str.h"

#ifndef CULPRIT_VERSION
#define CULPRIT_VERSION "unknown"
#endif

// In the order of --help.
static const Command *const commands[] = {
    &cmd_run,
    &cmd_rank,
    &cmd_try,
    &cmd_report,
    &cmd_why,
    &cmd_import,
    &cmd_cc,
    &cmd_mutants,
    &cmd_input,
    &cmd_near,
    &cmd_spec,
    &cmd_web,
    &cmd_since,
    &cmd_eval,
    &cmd_store,
    &cmd_doctor,
    &cmd_automake_driver,
    NULL,
};

static void print_help(FILE *out) {
  fputs("usage: culprit COMMAND [options]\n\n", out);
  for (const Command *const *c = commands; *c; c++)
    if ((*c)->summary)
      fprintf(out, "  %-8s %s\n", (*c)->name, (*c)->summary);
  fputs("\nBuild your program with CC=culprit-cc, then `culprit run`.\n"
        "See `culprit COMMAND --help` and culprit(1).\n",
        out);
}

// Build tools run the compiler and the test driver by the dozen: their callers
// sweep.
static int run_command(const Command *c, int argc, char **argv) {
  stop_watch();
  if (c->summary && c != &cmd_cc)
    areas_sweep_all();
  int status = c->main(argc, argv);
  if (stop_requested()) {
    stop_descendants(true);
    cli_interrupted_end();
  }
  return stop_status(status);
}

static void explain_unknown(const char *name) {
  for (const Command *const *c = commands; *c; c++)
    if ((*c)->summary && text_is_slip(name, (*c)->name)) {
      cli_fail(EXIT_USAGE, "no command '%s'; did you mean `culprit %s`?", name,
               (*c)->name);
      return;
    }
  cli_fail(EXIT_USAGE, "no command '%s'", name);
  print_help(stderr);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  const char *name = argv[1];
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
    puts("culprit " CULPRIT_VERSION);
    return EXIT_DONE;
  }
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
    print_help(stdout);
    return EXIT_DONE;
  }
  if (!strcmp(name, "--options")) { // for tools/completions and tools/man-page
    options_dump(commands, stdout);
    return EXIT_DONE;
  }
  for (const Command *const *c = commands; *c; c++)
    if (!strcmp(name, (*c)->name))
      return run_command(*c, argc - 1, argv + 1);
  explain_unknown(name);
  return EXIT_USAGE;
}
