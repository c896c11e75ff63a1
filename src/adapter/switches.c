// Finds the switch that builds a project's tests: see switches.h.
#include "adapter/switches.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/suites.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

// BUILD_TESTING, ENABLE_TESTS, build-tests, unit_test; not TEST_RUNNER_PATH.
static bool is_about_tests(const char *name, size_t n) {
  static const char *const ends[] = {"tests", "test", "testing", "testsuite"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t length = strlen(ends[i]);
    if (n >= length && !strncasecmp(name + n - length, ends[i], length))
      return true;
  }
  return false;
}

// "FILE:LINE" of the first line below `source` that matches; NULL: none.
static char *find_place(const char *source, char *const *files,
                        const char *pattern) {
  WordList argv = {0};
  Str said = {0};
  char *first[] = {"grep", "-rnsiE", "--exclude-dir=.culprit", NULL};
  array_push_all(&argv, first);
  array_push_all(&argv, files);
  char *last[] = {"-e", (char *)pattern, ".", NULL};
  array_push_all(&argv, last);
  array_push(&argv, NULL);
  char *place = NULL;
  if (!suite_capture(source, argv.items, &said)) {
    const char *text = str_text(&said);
    const char *file = text_starts(text, "./") ? text + 2 : text;
    const char *colon = strchr(file, ':'),
               *end = colon ? strchr(colon + 1, ':') : NULL;
    place = end ? mem_printf("%.*s", (int)(end - file), file) : NULL;
  }
  str_release(&said);
  array_release(&argv);
  return place;
}

static char *hint(const char *place, const char *name, const char *value) {
  return mem_printf("; %s has option %s: try `culprit run --build-option "
                    "-D%s=%s`",
                    place, name, name, value);
}

// A script of the project's that is named as if it ran the tests. Caller frees;
// NULL: none.
static char *find_runner(const char *source) {
  Str said = {0};
  char *argv[] = {"find",
                  ".",
                  "-maxdepth",
                  "3",
                  "-type",
                  "f",
                  "-regextype",
                  "posix-extended",
                  "-regex",
                  "\\./([^.][^/]*/)*(run[-_]?(all[-_]?)?(unit[-_]?)?"
                  "tests?|test[-_]?runner)\\.(sh|py|pl)",
                  "-print",
                  "-quit",
                  NULL};
  bool found = !suite_capture(source, argv, &said) && said.len > 2;
  const char *text = str_text(&said);
  char *name =
      found ? mem_printf("%.*s", (int)strcspn(text + 2, "\n"), text + 2) : NULL;
  str_release(&said);
  return name;
}

static const char *interpreter_of(const char *script) {
  return text_ends(script, ".py")   ? "python3"
         : text_ends(script, ".pl") ? "perl"
                                    : "sh";
}

// Takes over the hint about a switch. Without one: is there a script?
static int lists_none(const char *tool, const char *dir, const char *source,
                      char *found, Err *err) {
  char *runner = found || !source ? NULL : find_runner(source);
  if (runner)
    found = mem_printf("; %s may run them: try `cd %s && culprit run -- %s "
                       "%s/%s`",
                       runner, dir, interpreter_of(runner), source, runner);
  free(runner);
  err_set(err, "%s lists no tests in %s%s", tool, dir,
          found ? found
                : "; write their commands to a file, one per line, and give "
                  "--tests FILE");
  free(found);
  return -1;
}

// --- CMake ------------------------------------------------------------------

// A line "NAME:BOOL=OFF" of the cache, if NAME is about tests: caller frees.
static char *switch_that_is_off(const char *line, size_t n) {
  static const char *const off[] = {"OFF", "0", "NO", "FALSE", "N", ""};
  static const char type[] = ":BOOL=";
  const char *at = memmem(line, n, type, sizeof type - 1);
  if (!at || !is_about_tests(line, (size_t)(at - line)))
    return NULL;
  const char *value = at + sizeof type - 1;
  size_t length = (size_t)(line + n - value);
  for (size_t i = 0; i < sizeof off / sizeof *off; i++)
    if (strlen(off[i]) == length && !strncasecmp(value, off[i], length))
      return mem_printf("%.*s", (int)(at - line), line);
  return NULL;
}

// The hint about the option, if the project itself declares it.
static char *hint_of_cmake(const char *source, const char *name) {
  static char *const files[] = {"--include=CMakeLists.txt", "--include=*.cmake",
                                NULL};
  char *pattern =
      mem_printf("(option|set)[[:space:]]*\\([[:space:]]*%s\\b", name);
  char *place = find_place(source, files, pattern);
  char *found = place ? hint(place, name, "ON") : NULL;
  free(pattern);
  free(place);
  return found;
}

// The switch in the cache of `dir`, and the hint about it; NULL: none.
static char *find_cmake_switch(const char *dir, const char *source,
                               char **hint_of_it) {
  char *path = mem_printf("%s/CMakeCache.txt", dir), *name = NULL;
  Str text = {0};
  Err ignored;
  *hint_of_it = NULL;
  if (source && !fs_read(path, 0, &text, &ignored))
    for (const char *line = str_text(&text); !*hint_of_it && *line;) {
      size_t n = strcspn(line, "\r\n");
      free(name);
      name = switch_that_is_off(line, n);
      *hint_of_it = name ? hint_of_cmake(source, name) : NULL;
      line += n + (line[n] != '\0');
    }
  str_release(&text);
  free(path);
  return name;
}

int cmake_lists_none(const char *dir, Err *err) {
  char *source = source_of_build(dir), *found;
  free(find_cmake_switch(dir, source, &found));
  int rc = lists_none("ctest", dir, source, found, err);
  free(source);
  return rc;
}

char *cmake_test_switch(const char *dir) {
  char *source = source_of_build(dir), *found;
  char *name = find_cmake_switch(dir, source, &found);
  if (!found) {
    free(name);
    name = NULL;
  }
  free(found);
  free(source);
  return name;
}

// --- Meson ------------------------------------------------------------------

static json_t *load_info(const char *dir, const char *name) {
  char *path = mem_printf("%s/meson-info/%s", dir, name);
  json_error_t ignored;
  json_t *root = json_load_file(path, 0, &ignored);
  free(path);
  return root;
}

// The hint about an option of Meson's, if it is about tests and off.
static char *hint_of_meson(const char *source, const json_t *option) {
  static char *const files[] = {"--include=meson_options.txt",
                                "--include=meson.options", NULL};
  const char *name = json_string_value(json_object_get(option, "name"));
  const char *section = json_string_value(json_object_get(option, "section"));
  const json_t *value = json_object_get(option, "value");
  const char *word = json_string_value(value);
  bool feature = word && !strcmp(word, "disabled");
  if (!name || !section || strcmp(section, "user") != 0 ||
      !is_about_tests(name, strlen(name)) ||
      (!json_is_false(value) && !feature))
    return NULL;
  char *pattern = mem_printf("option[[:space:]]*\\([[:space:]]*'%s'", name);
  char *place = find_place(source, files, pattern);
  char *found =
      hint(place ? place : "the project", name, feature ? "enabled" : "true");
  free(pattern);
  free(place);
  return found;
}

int meson_lists_none(const char *dir, Err *err) {
  json_t *info = load_info(dir, "meson-info.json");
  json_t *options = load_info(dir, "intro-buildoptions.json"), *option;
  const char *source = json_string_value(
      json_object_get(json_object_get(info, "directories"), "source"));
  char *found = NULL;
  size_t i;
  json_array_foreach(options, i, option) {
    if (source && !found)
      found = hint_of_meson(source, option);
  }
  int rc = lists_none("meson", dir, source, found, err);
  json_decref(info);
  json_decref(options);
  return rc;
}
