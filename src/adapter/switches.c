// Finds the switch that builds a project's tests: see switches.h.
#include "adapter/switches.h"

#include <ctype.h>
#include <stdio.h>
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

void test_switch_release(TestSwitch *s) {
  free(s->name);
  free(s->place);
  *s = (TestSwitch){0};
}

static char *hint(const TestSwitch *s) {
  return mem_printf("; %s %s %s: try `culprit run --build-option -D%s=%s`",
                    s->place, s->declared ? "has option" : "asks for", s->name,
                    s->name, s->on);
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

// Without a switch: is there a script?
static int lists_none(const char *tool, const char *dir, TestSwitch *s,
                      Err *err) {
  char *source = source_of_build(dir), *found = s->name ? hint(s) : NULL;
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
  free(source);
  test_switch_release(s);
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

static char *const cmake_files[] = {"--include=CMakeLists.txt",
                                    "--include=*.cmake", NULL};

// Where the project itself declares the option or sets the variable; NULL:
// nowhere.
static char *place_of_setting(const char *source, const char *name) {
  char *pattern =
      mem_printf("(option|set)[[:space:]]*\\([[:space:]]*%s\\b", name);
  char *place = find_place(source, cmake_files, pattern);
  free(pattern);
  return place;
}

// An option in the cache of `dir`.
static bool find_in_cache(const char *dir, const char *source, TestSwitch *s) {
  char *path = mem_printf("%s/CMakeCache.txt", dir);
  Str text = {0};
  Err ignored;
  if (!fs_read(path, 0, &text, &ignored))
    for (const char *line = str_text(&text); !s->place && *line;) {
      size_t n = strcspn(line, "\r\n");
      free(s->name);
      s->name = switch_that_is_off(line, n);
      s->place = s->name ? place_of_setting(source, s->name) : NULL;
      line += n + (line[n] != '\0');
    }
  str_release(&text);
  free(path);
  s->declared = s->place != NULL;
  if (!s->place)
    test_switch_release(s);
  return s->declared;
}

// Does a line begin with that command of CMake?
static bool is_command(const char *line, const char *name) {
  size_t n = strlen(name);
  line += strspn(line, " \t");
  return !strncasecmp(line, name, n) &&
         line[n + strspn(line + n, " \t")] == '(';
}

// Do the lines from the `if` that begins here to its else or end add tests?
static bool block_adds_tests(const char *text) {
  static const char *const adds[] = {"enable_testing", "add_test",
                                     "gtest_discover_tests"};
  int depth = 0;
  for (const char *line = text; *line;
       line += strcspn(line, "\n"), line += *line == '\n') {
    char copy[256];
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    depth += is_command(copy, "if") - is_command(copy, "endif");
    if (!depth || (depth == 1 &&
                   (is_command(copy, "else") || is_command(copy, "elseif"))))
      return false;
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++)
      if (is_command(copy, adds[i]))
        return true;
    bool directory = is_command(copy, "add_subdirectory");
    if ((directory || is_command(copy, "include")) && strcasestr(copy, "test"))
      return true;
  }
  return false;
}

static const char *nth_line(const char *text, unsigned long n) {
  for (; n > 1 && *text; n--) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return text;
}

// A line "./FILE:LINE:  if(NAME ...": a switch that nothing declares, whose
// block adds tests?
static bool is_asked_for(const char *source, const char *line, TestSwitch *s) {
  const char *colon = strchr(line, ':');
  const char *end = colon ? strchr(colon + 1, ':') : NULL;
  const char *name = end ? strchr(end, '(') : NULL;
  if (!name)
    return false;
  name += 1 + strspn(name + 1, " \t");
  size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "abcdefghijklmnopqrstuvwxyz0123456789_");
  const char *after = name + n + strspn(name + n, " \t");
  if (!is_about_tests(name, n) || (*after != ')' && !text_starts(after, "AND")))
    return false;
  char *path = mem_printf("%s/%.*s", source, (int)(colon - line), line);
  Str text = {0};
  Err ignored;
  *s = (TestSwitch){
      .name = mem_printf("%.*s", (int)n, name), .on = "ON", .off = "OFF"};
  char *set = place_of_setting(source, s->name);
  if (!set && !fs_read(path, 0, &text, &ignored) &&
      block_adds_tests(
          nth_line(str_text(&text), strtoul(colon + 1, NULL, 10)))) {
    const char *file = text_starts(line, "./") ? line + 2 : line;
    s->place = mem_printf("%.*s", (int)(end - file), file);
  }
  free(set);
  free(path);
  str_release(&text);
  if (!s->place)
    test_switch_release(s);
  return s->place != NULL;
}

// A variable that the project's files ask for, and that only the user sets.
static bool find_asked_for(const char *source, TestSwitch *s) {
  Str said = {0};
  char *argv[] = {"grep",
                  "-rnsiE",
                  "--exclude-dir=.culprit",
                  cmake_files[0],
                  cmake_files[1],
                  "-e",
                  "^[[:space:]]*if[[:space:]]*\\([[:space:]]*[A-Z0-9_]*"
                  "test(s|ing|suite)?\\b",
                  ".",
                  NULL};
  bool found = false;
  if (!suite_capture(source, argv, &said))
    for (const char *line = str_text(&said); *line && !found;) {
      size_t n = strcspn(line, "\n");
      char *copy = mem_printf("%.*s", (int)n, line);
      found = is_asked_for(source, copy, s);
      free(copy);
      line += n + (line[n] != '\0');
    }
  str_release(&said);
  return found;
}

bool cmake_test_switch(const char *dir, TestSwitch *s) {
  char *source = source_of_build(dir);
  *s = (TestSwitch){.on = "ON", .off = "OFF"};
  bool found =
      source && (find_in_cache(dir, source, s) || find_asked_for(source, s));
  free(source);
  return found;
}

int cmake_lists_none(const char *dir, Err *err) {
  TestSwitch s;
  cmake_test_switch(dir, &s);
  return lists_none("ctest", dir, &s, err);
}

// --- Meson ------------------------------------------------------------------

static json_t *load_info(const char *dir, const char *name) {
  char *path = mem_printf("%s/meson-info/%s", dir, name);
  json_error_t ignored;
  json_t *root = json_load_file(path, 0, &ignored);
  free(path);
  return root;
}

// Is an option of Meson's about tests, and off?
static bool is_meson_switch(const char *source, const json_t *option,
                            TestSwitch *s) {
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
    return false;
  char *pattern = mem_printf("option[[:space:]]*\\([[:space:]]*'%s'", name);
  char *place = source ? find_place(source, files, pattern) : NULL;
  *s = (TestSwitch){.name = mem_strdup(name),
                    .place = place ? place : mem_strdup("the project"),
                    .declared = true,
                    .on = feature ? "enabled" : "true",
                    .off = feature ? "disabled" : "false"};
  free(pattern);
  return true;
}

bool meson_test_switch(const char *dir, TestSwitch *s) {
  json_t *options = load_info(dir, "intro-buildoptions.json"), *option;
  char *source = source_of_build(dir);
  bool found = false;
  size_t i;
  *s = (TestSwitch){0};
  json_array_foreach(options, i, option) {
    found = found || is_meson_switch(source, option, s);
  }
  free(source);
  json_decref(options);
  return found;
}

int meson_lists_none(const char *dir, Err *err) {
  TestSwitch s;
  meson_test_switch(dir, &s);
  return lists_none("meson", dir, &s, err);
}

bool meson_has_no_tests(const char *dir) {
  json_t *tests = load_info(dir, "intro-tests.json");
  bool none = json_is_array(tests) && !json_array_size(tests);
  json_decref(tests);
  return none;
}
