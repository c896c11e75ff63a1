// The adapter `make`: the target of a Makefile that runs its tests (check, test
// or tests). make starts them itself, so they are one test for us; the tests
// inside of it are told apart as segments (program/segments.h). Where the
// target only builds a program of that name, the program is the test.
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/adapter.h"
#include "adapter/suites.h"
#include "util/fs.h"
#include "util/mem.h"

enum { MAKEFILE_MOST = 4 << 20 };

static const char *const targets[] = {"check", "test", "tests", NULL};

const char *makefile_name(const char *dir) {
  // In the order in which make looks for them.
  static const char *const names[] = {"GNUmakefile", "makefile", "Makefile",
                                      NULL};
  for (size_t i = 0; names[i]; i++)
    if (dir_has(dir, names[i]))
      return names[i];
  return NULL;
}

// Is there a rule for the target? It may stand among others: "check test: all".
static bool has_rule(const char *text, const char *target) {
  regex_t rule;
  char *pattern = mem_printf(
      "^([^#\t:=]*[[:space:]])?%s([[:space:]][^#:=]*)?::?([^=]|$)", target);
  bool has = !regcomp(&rule, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE) &&
             !regexec(&rule, text, 0, NULL, 0);
  regfree(&rule);
  free(pattern);
  return has;
}

const char *makefile_target(const char *dir) {
  const char *name = makefile_name(dir), *found = NULL;
  if (!name)
    return NULL;
  char *path = mem_printf("%s/%s", dir, name);
  Str text = {0};
  Err ignored;
  if (!fs_read(path, MAKEFILE_MOST, &text, &ignored))
    for (size_t i = 0; targets[i] && !found; i++)
      found = has_rule(str_text(&text), targets[i]) ? targets[i] : NULL;
  str_release(&text);
  free(path);
  return found;
}

// What `make -n TARGET` says, and its exit status.
static int ask(const char *dir, const char *option, const char *target,
               Str *said) {
  char *argv[] = {
      "env",          "LC_ALL=C",     "make", "--no-print-directory",
      (char *)option, (char *)target, NULL};
  return suite_capture(dir, argv, said);
}

// Has the Makefile a rule for the target that reading it does not show? make
// itself knows; what only its own rules can build (test from test.c) has none.
static bool make_knows(const char *dir, const char *target) {
  Str said = {0}, bare = {0};
  char *none = mem_printf("No rule to make target '%s'.", target);
  bool knows = !ask(dir, "-n", target, &said) &&
               !strstr(str_text(&said), "Nothing to be done for") &&
               ask(dir, "-rn", target, &bare) >= 0 &&
               !strstr(str_text(&bare), none) &&
               !strstr(str_text(&bare), "Nothing to be done for");
  free(none);
  str_release(&said);
  str_release(&bare);
  return knows;
}

const char *make_target(const char *dir) {
  const char *found = makefile_target(dir);
  for (size_t i = 0; !found && makefile_name(dir) && targets[i]; i++)
    found = make_knows(dir, targets[i]) ? targets[i] : NULL;
  return found;
}

// Does the target only build the program of its name? Then linking that is what
// make does last, or it is up to date.
static bool builds_program(const char *dir, const char *target) {
  Str said = {0};
  char *done = mem_printf("'%s' is up to date", target);
  char *pattern = mem_printf(" -o *(\\./)?%s( [^\n;&|]*)?\n*$", target);
  regex_t link;
  bool builds = false;
  if (!ask(dir, "-n", target, &said)) {
    bool links = !regcomp(&link, pattern, REG_EXTENDED | REG_NOSUB) &&
                 !regexec(&link, str_text(&said), 0, NULL, 0);
    regfree(&link);
    builds = links || (strstr(str_text(&said), done) && dir_has(dir, target));
  }
  free(pattern);
  free(done);
  str_release(&said);
  return builds;
}

static bool is_make_command(char *const *command) {
  for (size_t i = 0; targets[i]; i++)
    if (command_is(command, "make", targets[i]))
      return true;
  return false;
}

bool make_detect(const RunOptions *o) {
  if (o->command)
    return o->make_cc && is_make_command(o->command);
  return make_target(o->cwd) != NULL;
}

// The target that a command names, or that of the Makefile.
static const char *target_of(const RunOptions *o) {
  for (size_t i = 0; o->command && targets[i]; i++)
    if (command_is(o->command, "make", targets[i]))
      return targets[i];
  return make_target(o->cwd);
}

static void words_of_make(const RunOptions *o, const char *target,
                          WordList *argv) {
  if (o->command) {
    array_push_all(argv, o->command);
  } else {
    array_push(argv, "make");
    array_push(argv, (char *)target);
  }
  if (o->make_cc)
    array_push(argv, (char *)o->make_cc);
  array_push(argv, NULL);
}

int make_run(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  TestList list = {0};
  WordList make = {0};
  const char *target = target_of(o);
  char *program[] = {arena_printf(&list.arena, "./%s", target), NULL};
  bool builds = builds_program(o->cwd, target);
  char *name =
      builds ? program[0] : arena_printf(&list.arena, "make %s", target);
  static char *const lenient[] = {"CULPRIT_LENIENT=1", NULL};
  words_of_make(o, target, &make);
  list_add(&list, name, builds ? program : make.items)->env = lenient;
  int rc = builds ? suite_build(r, o->cwd, make.items, "make.log", err) : 0;
  if (!rc)
    rc = list_run(&list, r, "make", err);
  array_release(&make);
  list_release(&list);
  return rc;
}
