// What the adapters of test runners share: see suites.h.
#include "adapter/suites.h"

#include <stdlib.h>
#include <string.h>

#include "util/capture.h"
#include "util/fs.h"
#include "util/mem.h"

enum { TAIL_BYTES = 1200 };

bool command_is(char *const *command, const char *tool, const char *word) {
  if (!command)
    return false;
  const char *base = path_base(command[0]);
  if (strcmp(base, tool) != 0 &&
      !(!strcmp(tool, "make") && !strcmp(base, "gmake")))
    return false;
  for (size_t i = 1; word && command[i]; i++)
    if (!strcmp(command[i], word))
      return true;
  return !word;
}

char *suite_dir(const RunOptions *o) {
  static const char *const options[] = {"-C", "--directory="};
  for (size_t i = 1; o->command && o->command[0] && o->command[i]; i++)
    for (int k = 0; k < 2; k++) {
      const char *word = o->command[i], *option = options[k];
      if (!strcmp(word, option) && o->command[i + 1])
        return path_absolute(o->command[i + 1], o->cwd);
      if (text_starts(word, option))
        return path_absolute(word + strlen(option), o->cwd);
    }
  return mem_strdup(o->cwd);
}

const char *output_tail(const Str *text) {
  const char *start = str_text(text);
  if (text->len <= TAIL_BYTES)
    return start;
  start += text->len - TAIL_BYTES;
  const char *line = strchr(start, '\n');
  return line ? line + 1 : start;
}

int suite_build(const Runner *r, const char *dir, char *const *argv,
                const char *name, Err *err) {
  ARRAY(char *) words = {0};
  Str said = {0};
  array_push(&words, "env");
  array_push(&words, "-C");
  array_push(&words, (char *)dir);
  for (; *argv; argv++)
    array_push(&words, *argv);
  array_push(&words, NULL);
  int status = command_capture(words.items, NULL, &said);
  char *log = mem_printf("%s/%s", store_dir(r->store), name);
  int rc = fs_write(log, str_text(&said), said.len, err);
  if (!rc && status)
    rc = err_set(err, "`%s` failed in %s; the end of %s:\n%s", words.items[3],
                 dir, log, output_tail(&said));
  free(log);
  str_release(&said);
  array_release(&words);
  return rc;
}

char **json_words(const json_t *value, Arena *arena) {
  size_t n = json_is_string(value) ? 1 : json_array_size(value), k = 0;
  char **words = arena_array(arena, char *, n + 1);
  for (size_t i = 0; i < n; i++) {
    const json_t *item =
        json_is_string(value) ? value : json_array_get(value, i);
    if (json_is_string(item))
      words[k++] = arena_strdup(arena, json_string_value(item));
  }
  return k ? words : NULL;
}

bool dir_has(const char *dir, const char *name) {
  char *path = mem_printf("%s/%s", dir, name);
  bool there = fs_exists(path);
  free(path);
  return there;
}
