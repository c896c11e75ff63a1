// culprit: tells a developer which line to fix. This file is the table of
// commands; each one lives in cli/.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "util/area.h"
#include "util/stop.h"
#include "util/str.h"

#ifndef CULPRIT_VERSION
#define CULPRIT_VERSION "unknown"
#endif

typedef struct {
  const char *name;
  CommandMain *main;
  const char *summary; // NULL: internal, not listed
} Command;

static const Command commands[] = {
    {"run", cmd_run, "run the tests, store the runs, print the ranking"},
    {"rank", cmd_rank, "rank the stored runs again, another way"},
    {"report", cmd_report, "write a page (HTML) or files for CI (SARIF)"},
    {"why", cmd_why, "tell what speaks for and against one line"},
    {"import", cmd_import, "take coverage and verdicts of other tools"},
    {"cc", cmd_cc, "the compiler (the same as culprit-cc)"},
    {"mutants", cmd_mutants, "list or plant faults in a program"},
    {"input", cmd_input, "one failing input: makes neighbours, then ranks"},
    {"near", cmd_near, "one failing input: the nearest run that passes"},
    {"spec", cmd_spec, "a broken contract: the statements that break it"},
    {"web", cmd_web, "requests to a PHP application: failures, localized"},
    {"eval", cmd_eval, "measure methods on many faulty versions"},
    {"store", cmd_store, "list, prune or measure the stored sessions"},
    {"doctor", cmd_doctor, "say what is missing or wrong on this machine"},
    {"automake-driver", cmd_automake_driver, NULL},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out) {
  fputs("usage: culprit COMMAND [options]\n\n", out);
  for (int i = 0; i < NCOMMANDS; i++)
    if (commands[i].summary)
      fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
  fputs("\nBuild your program with CC=culprit-cc, then `culprit run`.\n"
        "`culprit COMMAND --help` tells more; so does culprit(1).\n",
        out);
}

// Those that others run by the dozen leave it to their callers to sweep.
static int run_command(const Command *c, int argc, char **argv) {
  stop_watch();
  if (c->summary && c->main != cmd_cc)
    areas_sweep_all();
  int status = c->main(argc, argv);
  if (stop_requested()) {
    stop_descendants(true);
    cli_interrupted_end();
  }
  return stop_status(status);
}

static void explain_unknown(const char *name) {
  for (int i = 0; i < NCOMMANDS; i++)
    if (commands[i].summary && text_is_slip(name, commands[i].name)) {
      cli_fail(EXIT_USAGE, "no command '%s'; did you mean `culprit %s`?", name,
               commands[i].name);
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
  for (int i = 0; i < NCOMMANDS; i++)
    if (!strcmp(name, commands[i].name))
      return run_command(&commands[i], argc - 1, argv + 1);
  explain_unknown(name);
  return EXIT_USAGE;
}
