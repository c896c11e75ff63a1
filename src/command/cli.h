// What all commands share: the exit statuses of the contract, how messages are
// printed, and the entry point of each command.
#ifndef CULPRIT_COMMAND_CLI_H
#define CULPRIT_COMMAND_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/options.h"
#include "store/store.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

// Exit statuses: scripts rely on them (see culprit(1)).
enum {
  EXIT_DONE = 0,          // done, and nothing failed
  EXIT_FAILED = 1,        // tests failed; the ranking was printed
  EXIT_USAGE = 2,         // the command line is wrong
  EXIT_ENVIRONMENT = 3,   // build, environment, corrupt or foreign data
  EXIT_NO_VERDICT = 4,    // nothing usable came out of the runs
  EXIT_INTERRUPTED = 130, // or 143, 129: see util/stop.h; main() knows
};

extern const Command cmd_cc, cmd_run, cmd_rank, cmd_try, cmd_why, cmd_report,
    cmd_import, cmd_mutants, cmd_input, cmd_near, cmd_spec, cmd_web, cmd_eval,
    cmd_since, cmd_store, cmd_doctor;
extern const Command cmd_automake_driver; // `make check` calls it

// Print "culprit: message" on stderr and return the status.
int cli_fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void cli_vfail(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));
int cli_error(const Err *err); // EXIT_ENVIRONMENT with err's text
// "culprit: interrupted: " and what is kept, and the command that resumes if
// there is one. EXIT_INTERRUPTED.
int cli_interrupted(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
// Says at least that, if no command has.
void cli_interrupted_end(void);
// From here on the same command continues what a signal interrupts.
void cli_resumes(char **argv);
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Is standard output a terminal that takes colours, and NO_COLOR not set?
bool cli_color(void);
// One per processor, `max` at most.
int cli_default_jobs(int max);

// Opens the store of --store (NULL: the usual one). EXIT_DONE, or
// EXIT_ENVIRONMENT after a message.
int cli_open_store(Store **out, const char *option, StoreMode mode);

// Appends standard input, unless it is a terminal: *there says which.
int cli_read_stdin(Str *out, bool *there, Err *err);

// Removes a progress line from standard error, if that is a terminal.
void cli_progress_end(void);

// `path` made absolute, in the arena.
const char *cli_absolute(Arena *arena, const char *path);
// Goes to a directory; returns what cli_return() needs to come back, -1 after a
// message. cli_return: -1 after a message.
int cli_enter(const char *dir);
int cli_return(int here);
// "culprit run --tests 'a b'": how the command was called. Caller frees.
char *cli_command_line(char **argv);

#endif
