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

static int read_branch(Json *j, const json_t *branch, uint32_t line,
                       uint32_t number) {
  double count;
  if (json_need_number(j, branch, "count", &count))
    return -1;
  bool throws = json_is_true(json_object_get(branch, "throw"));
  Branch b = {.line = line,
              .outcome = number,
              .name = throws ? THROW_NAME : BRANCH_NAME};
  coverage_branch(j->out, j->test, j->file, &b, count > 0);
  return 0;
}

static int read_line(Json *j, const json_t *line) {
  uint32_t number;
  double count;
  if (json_need_line(j, line, "line_number", &number) ||
      json_need_number(j, line, "count", &count))
    return -1;
  coverage_line(j->out, j->test, j->file, number, count > 0);
  const json_t *branches = json_object_get(line, "branches");
  for (size_t i = 0; i < json_array_size(branches); i++) {
    size_t mark = json_enter(j, "branches", i);
    if (read_branch(j, json_array_get(branches, i), number, (uint32_t)i))
      return -1;
    json_leave(j, mark);
  }
  return 0;
}

static int read_function(Json *j, const json_t *function) {
  const char *name = json_need_text(j, function, "name");
  const char *plain =
      json_string_value(json_object_get(function, "demangled_name"));
  uint32_t first, last;
  double count;
  if (!name || json_need_line(j, function, "start_line", &first) ||
      json_need_line(j, function, "end_line", &last) ||
      json_need_number(j, function, "execution_count", &count))
    return -1;
  coverage_function(j->out, j->test, j->file, first, last,
                    plain && *plain ? plain : name, count > 0);
  return 0;
}

static int read_file(Json *j, const json_t *file) {
  const char *path = json_need_text(j, file, "file");
  const char *dir =
      json_string_value(json_object_get(j->value, "current_working_directory"));
  if (!path)
    return -1;
  if (!*path)
    return json_fail(j, "\"file\" is empty");
  const char *dirs[] = {dir && *dir == '/' ? dir : NULL, NULL};
  j->file = coverage_file(j->out, path, dirs);
  if (json_need_each(j, file, "functions", read_function))
    return -1;
  return json_need_each(j, file, "lines", read_line);
}

static int read_document(Json *j, const json_t *document) {
  return json_need_each(j, document, "files", read_file);
}

int gcov_read(const ImportFile *in, Coverage *out, Err *err) {
  return json_read(in, out, read_document, err);
}
