// The adapter `make`: the target of a Makefile that runs its tests (check, test
// or tests). make starts them itself, so they are one test for us; the tests
// inside of it are told apart as segments (program/segments.h).
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
  char *pattern =
      mem_printf("^([^#\t:=]*[[:space:]])?%s([[:space:]][^#:=]*)?::?([^=]|$)",
                 target);
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

static bool is_make_command(char *const *command) {
  for (size_t i = 0; targets[i]; i++)
    if (command_is(command, "make", targets[i]))
      return true;
  return false;
}

bool make_detect(const RunOptions *o) {
  if (o->command)
    return o->make_cc && is_make_command(o->command);
  return makefile_target(o->cwd) != NULL;
}

int make_run(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  TestList list = {0};
  ARRAY(char *) argv = {0};
  char *target = (char *)makefile_target(o->cwd);
  if (o->command) {
    for (char **word = o->command; *word; word++)
      array_push(&argv, *word);
  } else {
    array_push(&argv, "make");
    array_push(&argv, target);
  }
  if (o->make_cc)
    array_push(&argv, (char *)o->make_cc);
  array_push(&argv, NULL);
  char *name = o->command ? "make" : mem_printf("make %s", target);
  list_add(&list, name, argv.items);
  int rc = list_run(&list, r, "make", err);
  if (!o->command)
    free(name);
  array_release(&argv);
  list_release(&list);
  return rc;
}
