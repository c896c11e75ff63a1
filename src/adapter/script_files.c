// The adapters `tap` and `script`: files that are tests.
//
//   tap     prove's: every t/*.t prints TAP (or the files `prove` is given)
//   script  every tests/*.sh (test/*.sh, t/*.sh) is a test that exits with 0;
//           77 means skipped. A single one beside a Makefile that has a target
//           for tests is what that target calls. They run where `culprit run`
//           was called, or in their own directory if a Makefile there runs them
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/adapter.h"
#include "adapter/suites.h"
#include "process/words.h"
#include "util/fs.h"
#include "util/mem.h"

// --- files ------------------------------------------------------------------

// Adds the files that match `pattern` in `dir`, sorted by name.
static void add_matches(WordList *files, const char *dir, const char *pattern,
                        Arena *arena) {
  char *full = mem_printf("%s/%s", dir, pattern);
  glob_t found;
  if (!glob(full, 0, NULL, &found)) {
    for (size_t i = 0; i < found.gl_pathc; i++)
      array_push(files, arena_strdup(arena, found.gl_pathv[i]));
    globfree(&found);
  }
  free(full);
}

static size_t count_matches(const char *dir, const char *pattern) {
  Arena arena = {0};
  WordList files = {0};
  add_matches(&files, dir, pattern, &arena);
  size_t n = files.len;
  array_release(&files);
  arena_release(&arena);
  return n;
}

// How to run a file that may not be executable: by what its first line names.
static char **words_to_run(const char *file, const char *fallback,
                           const char *exec, Arena *arena) {
  Words w = {0};
  Str head = {0};
  Err ignored;
  char *line = NULL;
  if (exec) {
    line = arena_strdup(arena, exec);
  } else if (!fs_executable(file)) {
    fs_read(file, 256, &head, &ignored);
    const char *text = str_text(&head);
    line = text_starts(text, "#!")
               ? arena_strndup(arena, text + 2, strcspn(text + 2, "\r\n"))
               : arena_strdup(arena, fallback);
    str_release(&head);
  }
  if (line && !words_parse(&w, line, arena))
    w = (Words){0};
  char **argv = arena_array(arena, char *, w.argc + 2);
  for (size_t i = 0; i < w.argc; i++)
    argv[i] = w.argv[i];
  argv[w.argc] = arena_strdup(arena, file);
  return argv;
}

// --- TAP --------------------------------------------------------------------

typedef struct {
  WordList files;
  const char *exec; // prove's -e; NULL: none
  TestList list;
} TapFiles;

static bool takes_value(const char *option) {
  static const char *const names[] = {"-j", "--jobs",  "-I", "-P",
                                      "-M", "--timer", NULL};
  return text_is_one_of(option, names);
}

static void add_path(TapFiles *t, const char *path, const char *cwd) {
  struct stat st;
  char *full = path_absolute(path, cwd);
  if (!stat(full, &st) && S_ISDIR(st.st_mode)) {
    add_matches(&t->files, full, "*.t", &t->list.arena);
    add_matches(&t->files, full, "*/*.t", &t->list.arena);
  } else {
    array_push(&t->files, arena_strdup(&t->list.arena, full));
  }
  free(full);
}

static void read_prove_command(TapFiles *t, char *const *command,
                               const char *cwd) {
  for (size_t i = 1; command[i]; i++) {
    const char *word = command[i];
    bool exec = !strcmp(word, "-e") || !strcmp(word, "--exec");
    if ((exec || takes_value(word)) && command[i + 1]) {
      if (exec)
        t->exec = command[i + 1];
      i++;
    } else if (word[0] != '-') {
      add_path(t, word, cwd);
    }
  }
}

bool tap_detect(const RunOptions *o) {
  return command_is(o->command, "prove", NULL) ||
         (!o->command && count_matches(o->cwd, "t/*.t"));
}

static void add_tap_file(TapFiles *t, const char *file, const char *cwd) {
  TestRules *rules = list_rules(&t->list);
  rules->tap = true;
  char **argv = words_to_run(file, "perl", t->exec, &t->list.arena);
  list_add(&t->list, path_below(file, cwd), argv)->rules = rules;
}

int tap_run(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  TapFiles t = {0};
  if (o->command)
    read_prove_command(&t, o->command, o->cwd);
  if (!t.files.len)
    add_path(&t, "t", o->cwd);
  for (size_t i = 0; i < t.files.len; i++)
    add_tap_file(&t, t.files.items[i], o->cwd);
  int rc = t.files.len ? list_run(&t.list, r, "tap", err)
                       : err_set(err, "prove: no .t files below %s", o->cwd);
  array_release(&t.files);
  list_release(&t.list);
  return rc;
}

// --- scripts ----------------------------------------------------------------

static const char *const places[] = {"tests/*.sh", "test/*.sh", "t/*.sh", NULL};

bool script_detect(const RunOptions *o) {
  size_t n = 0;
  for (size_t i = 0; !o->command && places[i]; i++)
    n += count_matches(o->cwd, places[i]);
  return n > 1 || (n && !make_target(o->cwd));
}

// The directory of a script whose Makefile there runs it; NULL: none does.
static const char *own_directory(const char *file, Arena *arena) {
  const char *dir =
      arena_strndup(arena, file, (size_t)(path_base(file) - file));
  const char *name = makefile_name(dir);
  return name && file_has(dir, name, "\\.sh|(^|[^[:alnum:]])prove ") ? dir
                                                                     : NULL;
}

int script_run(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  TestList list = {0};
  WordList files = {0};
  for (size_t i = 0; places[i]; i++)
    add_matches(&files, o->cwd, places[i], &list.arena);
  for (size_t i = 0; i < files.len; i++) {
    TestRules *rules = list_rules(&list);
    rules->skip_status = 77;
    char **argv = words_to_run(files.items[i], "sh", NULL, &list.arena);
    Test *t = list_add(&list, path_below(files.items[i], o->cwd), argv);
    t->rules = rules;
    t->cwd = own_directory(files.items[i], &list.arena);
  }
  int rc = list_run(&list, r, "script", err);
  array_release(&files);
  list_release(&list);
  return rc;
}

// --- both --------------------------------------------------------------------

bool scripts_there(const char *dir) {
  RunOptions o = {.cwd = dir};
  return tap_detect(&o) || script_detect(&o);
}
