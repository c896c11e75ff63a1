// Shared by the adapters of test runners: recognising their commands, building
// before the tests, reading their files.
#ifndef CULPRIT_ADAPTER_SUITES_H
#define CULPRIT_ADAPTER_SUITES_H

#include <jansson.h>

#include "adapter/listed.h"

// Is the command `tool ... word ...` (word NULL: any)? "make" is also gmake,
// and every tool may be named with its directory.
bool command_is(char *const *command, const char *tool, const char *word);

// The build directory: the current one, or what the command names (-C DIR).
// Caller frees.
char *suite_dir(const RunOptions *o);

// A build directory remembers where its sources are. Caller frees; NULL: it is
// none.
char *source_of_build(const char *dir);

// command_capture of argv in `dir`.
int suite_capture(const char *dir, char *const *argv, Str *out);

// Runs argv in `dir`, output to `name` in the store. Not 0: the message has the
// end of what it said.
int suite_build(const Runner *r, const char *dir, char *const *argv,
                const char *name, Err *err);

// The last lines of what a tool said, for a message.
const char *output_tail(const Str *text);

// An array of strings (or one string) as words that end with NULL; NULL if
// there are none. Memory: arena.
char **json_words(const json_t *value, Arena *arena);

// Does `dir` have tests that are files: t/*.t, tests/*.sh?
bool scripts_there(const char *dir);

// The Makefile of a directory, and its target that runs tests, as far as
// reading tells or, with make_target, as make tells, which may write to the
// directory. NULL: none.
const char *makefile_name(const char *dir);
const char *makefile_target(const char *dir);
const char *make_target(const char *dir);

// Are the sources in and below `dir` C++, without any of C?
bool has_only_cxx(const char *dir);

// `dir` has a file of this name.
bool dir_has(const char *dir, const char *name);
// fs_match in that file: its result, and whether there is one.
char *file_match(const char *dir, const char *name, const char *pattern);
bool file_has(const char *dir, const char *name, const char *pattern);
bool is_automake_dir(const char *dir);

#endif
