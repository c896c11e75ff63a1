// What all commands share: the exit statuses of the contract, how messages are
// printed, and the entry point of each command.
#ifndef CULPRIT_CLI_CLI_H
#define CULPRIT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/err.h"

// Exit statuses: scripts rely on them (see culprit(1)).
enum {
  EXIT_DONE = 0,        // done, and nothing failed
  EXIT_FAILED = 1,      // tests failed; the ranking was printed
  EXIT_USAGE = 2,       // the command line is wrong
  EXIT_ENVIRONMENT = 3, // build, environment, corrupt or foreign data
  EXIT_NO_VERDICT = 4,  // nothing usable came out of the runs
  EXIT_INTERRUPTED = 130, // or 143, 129: see util/stop.h; main() knows
};

// argv[0] is the command's name. Returns an exit status.
typedef int CommandMain(int argc, char **argv);
CommandMain cmd_import, cmd_mutants;
CommandMain cmd_cc, cmd_run, cmd_rank, cmd_why, cmd_store, cmd_doctor;
CommandMain cmd_eval, cmd_web, cmd_input, cmd_near, cmd_spec, cmd_report;
CommandMain cmd_automake_driver; // internal: called by `make check`

// Print "culprit: message" on stderr and return the status.
int cli_fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int cli_error(const Err *err); // EXIT_ENVIRONMENT with err's text
// "culprit: interrupted: " and what is kept, and the command that resumes if
// there is one. EXIT_INTERRUPTED.
int cli_interrupted(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
// Says at least that, if nobody has.
void cli_interrupted_end(void);
// From here on the same command continues what a signal interrupts.
void cli_resumes(char **argv);
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// --color=auto|always|never, NO_COLOR, and whether fd is a terminal.
// `option` may be NULL. Returns -1 for a word that is none of the three.
int cli_color(const char *option, int fd);

// Values of options. -1 for one that does not fit: a whole number from 1;
// "pass" or "exclude" of --other-failures.
int cli_number(const char *text, int64_t *out);
int cli_others(const char *text, bool *pass);
// Seconds above 0; a number from 1; one up to `max`; a number or "all".
int cli_seconds(const char *text, double *out);
int cli_count(const char *text, size_t *out);
// Bytes from 1 up to `max`; K, M and G behind the number are powers of 1024.
int cli_size(const char *text, size_t max, size_t *out);
int cli_jobs(const char *text, int max, int *out);
int cli_top(const char *text, size_t *out);
// One per processor, `max` at most.
int cli_default_jobs(int max);

// `path` made absolute, in the arena.
const char *cli_absolute(Arena *arena, const char *path);
// "culprit run --tests 'a b'": how the command was called. Caller frees.
char *cli_command_line(char **argv);

// Goes through the options of argv (argv[0] is the command). `take` gets each
// with its argument; -1 from it: that is nothing the option takes. Returns the
// index of the first operand, or -1 after a message.
struct option; // getopt.h
typedef int TakeOption(void *options, int opt, const char *arg);
int cli_options(int argc, char **argv, const char *shorts,
                const struct option *longs, TakeOption *take, void *options);

// getopt_long, with messages that are safe to print.
int cli_getopt(int argc, char **argv, const char *shorts,
               const struct option *longs, int *index);

// getopt_long's '?' for any command: points to `culprit COMMAND --help`.
int cli_usage_hint(const char *command);

#endif
