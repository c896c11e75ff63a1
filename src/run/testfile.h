// The tests file: every line is a test.
//
//   # comment            skipped, like blank lines
//   -v 3 < in/3.txt      test "2": physical line 2
//
// With a program (--exe) a line holds the shell words after it; without, a
// whole command.
#ifndef CULPRIT_RUN_TESTFILE_H
#define CULPRIT_RUN_TESTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "oracle/rules.h"
#include "process/process.h"
#include "util/arena.h"
#include "util/err.h"

enum { TEST_LINE_MAX = 1 << 20 }; // bytes

typedef struct {
  const char *name;          // "12"
  unsigned number;           // its line
  const char *line;          // NULL: argv instead
  char *const *argv;         // a command that no shell has to see
  char *const *env;          // further variables, "NAME=value"; NULL: none
  const char *cwd;           // where it runs; NULL: where all do
  const Redirect *redirects; // of argv
  size_t nredirects;
  const TestRules *rules; // how its runner judges it; NULL: the oracle does
  bool alone;             // no other test may run at the same time
} Test;

typedef struct {
  Test *tests;
  size_t ntests;
  Arena arena; // owns everything above
} Testfile;

// Fails on a NUL byte and on an overlong line, naming file and line, and if
// there is no test in it. `prefix` comes before the number in every name.
int testfile_read(Testfile *f, const char *path, const char *prefix, Err *err);
// The same from memory: the untrusted part.
int testfile_parse(Testfile *f, const char *path, const char *text, size_t size,
                   const char *prefix, Err *err);
void testfile_release(Testfile *f);

// Fills path, argv and redirects of `out`: how to execute the test with
// program `exe` (NULL: the line is a whole command). Lines that need a shell
// go to `sh -c`. Memory: arena.
void test_prepare(const Test *t, const char *exe, Arena *arena, Spawn *out);

// The same for a shell command.
void spawn_shell(Spawn *out, const char *text, Arena *arena);

// `env` with the test's own variables in front: of two of one name the first
// counts. Memory: arena.
char **test_environment(const Test *t, char **env, Arena *arena);

// The command as a shell would take it, for people. Memory: arena.
char *test_command(const Test *t, const char *exe, Arena *arena);

// Looks `name` up in PATH as a shell does; NULL if it is not there. A name with
// a slash is itself. Memory: arena.
char *path_lookup(const char *name, Arena *arena);

#endif
