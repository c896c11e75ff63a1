// gcov --json-format, packed (.gcov.json.gz) or plain, or what gcov --stdout
// prints: one object per data file.
//
//   {"current_working_directory": "/src", "files": [
//     {"file": "a.c",
//      "functions": [{"name", "demangled_name", "start_line", "end_line",
//                     "execution_count"}],
//      "lines": [{"line_number", "count", "branches": [{"count", "throw"}]}]}]}
//
// Branches (gcov -b) have no names: they are numbered as they come. gcov cannot
// tell the operands of && and || apart: all branches of a line are one
// condition.
#include "import/coverage_format.h"
#include "import/json_file.h"

typedef struct {
  Json json;
  Coverage *out;
  uint32_t test, file;
} Reader;

static int read_branch(Reader *r, const json_t *branch, uint32_t line,
                       uint32_t number, Err *err) {
  double count;
  if (json_need_number(&r->json, branch, "count", &count, err))
    return -1;
  bool throws = json_is_true(json_object_get(branch, "throw"));
  Branch b = {.line = line,
              .outcome = number,
              .name = throws ? THROW_NAME : BRANCH_NAME};
  coverage_branch(r->out, r->test, r->file, &b, count > 0);
  return 0;
}

static int read_line(Reader *r, const json_t *line, Err *err) {
  uint32_t number;
  double count;
  if (json_need_line(&r->json, line, "line_number", &number, err) ||
      json_need_number(&r->json, line, "count", &count, err))
    return -1;
  coverage_line(r->out, r->test, r->file, number, count > 0);
  const json_t *branches = json_object_get(line, "branches");
  for (size_t i = 0; i < json_array_size(branches); i++) {
    size_t mark = json_enter(&r->json, "branches", i);
    if (read_branch(r, json_array_get(branches, i), number, (uint32_t)i, err))
      return -1;
    json_leave(&r->json, mark);
  }
  return 0;
}

static int read_function(Reader *r, const json_t *function, Err *err) {
  const char *name = json_need_text(&r->json, function, "name", err);
  const char *plain =
      json_string_value(json_object_get(function, "demangled_name"));
  uint32_t first, last;
  double count;
  if (!name || json_need_line(&r->json, function, "start_line", &first, err) ||
      json_need_line(&r->json, function, "end_line", &last, err) ||
      json_need_number(&r->json, function, "execution_count", &count, err))
    return -1;
  coverage_function(r->out, r->test, r->file, first, last,
                    plain && *plain ? plain : name, count > 0);
  return 0;
}

static int each(Reader *r, const json_t *parent, const char *key,
                int (*read)(Reader *, const json_t *, Err *), Err *err) {
  const json_t *array = json_need(&r->json, parent, key, JSON_ARRAY, err);
  if (!array)
    return -1;
  for (size_t i = 0; i < json_array_size(array); i++) {
    size_t mark = json_enter(&r->json, key, i);
    if (read(r, json_array_get(array, i), err))
      return -1;
    json_leave(&r->json, mark);
  }
  return 0;
}

static int read_file(Reader *r, const json_t *file, Err *err) {
  const char *path = json_need_text(&r->json, file, "file", err);
  const char *dir = json_string_value(
      json_object_get(r->json.value, "current_working_directory"));
  if (!path)
    return -1;
  if (!*path)
    return json_fail(&r->json, err, "\"file\" is empty");
  const char *dirs[] = {dir && *dir == '/' ? dir : NULL, NULL};
  r->file = coverage_file(r->out, path, dirs);
  if (each(r, file, "functions", read_function, err))
    return -1;
  return each(r, file, "lines", read_line, err);
}

static int read_all(Reader *r, Err *err) {
  int rc;
  size_t documents = 0;
  for (; (rc = json_next(&r->json, err)) > 0; documents++) {
    json_leave(&r->json, 0);
    if (each(r, r->json.value, "files", read_file, err))
      return -1;
  }
  if (!rc && !documents)
    return import_file_fail(r->json.in, 1, err, "empty: no JSON in it");
  return rc;
}

int gcov_read(const ImportFile *in, Coverage *out, Err *err) {
  Reader r = {.json = {.in = in}, .out = out};
  if (coverage_test_of(out, in, &r.test, err))
    return -1;
  int rc = read_all(&r, err);
  json_release(&r.json);
  return rc;
}
