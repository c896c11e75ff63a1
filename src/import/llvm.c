// llvm-cov export (JSON), from clang, rustc, swiftc, ...
//
//   {"type": "llvm.coverage.json.export", "data": [{
//     "files": [{"filename": "/src/a.c",
//       "segments": [[line, column, count, has count, region entry, gap]],
//       "branches": [[line, column, last line, last column, true, false]]}],
//     "functions": [{"name": "a.c:f", "count": 1, "filenames": ["/src/a.c"],
//       "regions": [[line, column, last line, last column, ...]]}]}]}
//
// A segment is where the counter of the text changes; which lines that makes
// executed is decided as llvm-cov show does (LineCoverageStats in LLVM's
// CoverageMapping.cpp): a line has the highest count of the segments that enter
// a region on it and of the one it begins in. So blank lines are none, but lone
// braces are.
//
// Branches are told apart by their columns, and by true and false.
#include <string.h>

#include "import/coverage_format.h"
#include "import/json_file.h"
#include "util/fs.h"

typedef struct {
  Json json;
  Coverage *out;
  uint32_t test, file;
} Reader;

// --- lines -----------------------------------------------------------------

typedef struct {
  uint32_t line;
  bool executed, has_count, entry, gap;
} CoverageSegment;

static int read_segment(Reader *r, const json_t *item, CoverageSegment *s, Err *err) {
  double count, has_count, entry, gap = 0;
  if (json_item_line(&r->json, item, 0, &s->line, err) ||
      json_item_number(&r->json, item, 2, &count, err) ||
      json_item_number(&r->json, item, 3, &has_count, err) ||
      json_item_number(&r->json, item, 4, &entry, err))
    return -1;
  if (json_array_size(item) > 5 && // since LLVM 10
      json_item_number(&r->json, item, 5, &gap, err))
    return -1;
  s->executed = count > 0;
  s->has_count = has_count != 0;
  s->entry = entry != 0;
  s->gap = gap != 0;
  return 0;
}

static bool begins_region(const CoverageSegment *s) {
  return !s->gap && s->has_count && s->entry;
}

// One line: the segments that begin on it, and the one it begins in.
static void add_line(Reader *r, uint32_t line, const CoverageSegment *s, size_t n,
                     const CoverageSegment *wrapped) {
  bool begins = false, executed = wrapped && wrapped->executed, mapped;
  bool skipped = n && !s->has_count && s->entry;
  for (size_t i = 0; i < n; i++)
    begins |= begins_region(&s[i]);
  mapped = !skipped && ((wrapped && wrapped->has_count) || begins);
  for (size_t i = 0; i < n; i++) {
    mapped |= s[i].entry && s[i].has_count;
    executed |= begins_region(&s[i]) && s[i].executed;
  }
  if (mapped)
    coverage_line(r->out, r->test, r->file, line, executed);
}

static void add_lines(Reader *r, const CoverageSegment *s, size_t n) {
  const CoverageSegment *wrapped = NULL;
  uint32_t line = n ? s->line : 0;
  for (size_t i = 0, next; i < n; i = next) {
    for (; line < s[i].line; line++)
      add_line(r, line, NULL, 0, wrapped);
    for (next = i; next < n && s[next].line == line; next++)
      ;
    add_line(r, line++, s + i, next - i, wrapped);
    wrapped = &s[next - 1];
  }
}

static int read_segments(Reader *r, const json_t *file, Err *err) {
  const json_t *array = json_need(&r->json, file, "segments", JSON_ARRAY, err);
  if (!array)
    return -1;
  size_t n = json_array_size(array);
  CoverageSegment *segments = mem_array(CoverageSegment, n);
  int rc = 0;
  for (size_t i = 0; !rc && i < n; i++) {
    size_t mark = json_enter(&r->json, "segments", i);
    rc = read_segment(r, json_array_get(array, i), &segments[i], err);
    if (!rc && i && segments[i].line < segments[i - 1].line)
      rc = json_fail(&r->json, err, "line %u comes after line %u",
                     segments[i].line, segments[i - 1].line);
    if (!rc)
      json_leave(&r->json, mark);
  }
  if (!rc)
    add_lines(r, segments, n);
  free(segments);
  return rc;
}

// --- branches --------------------------------------------------------------

static int read_branch(Reader *r, const json_t *item, Err *err) {
  uint32_t line, last;
  double col_lo, col_hi, taken, not_taken;
  if (json_item_line(&r->json, item, 0, &line, err) ||
      json_item_number(&r->json, item, 1, &col_lo, err) ||
      json_item_line(&r->json, item, 2, &last, err) ||
      json_item_number(&r->json, item, 3, &col_hi, err) ||
      json_item_number(&r->json, item, 4, &taken, err) ||
      json_item_number(&r->json, item, 5, &not_taken, err))
    return -1;
  if (!(col_lo >= 0 && col_lo <= LINE_MOST && col_hi >= 0 &&
        col_hi <= LINE_MOST))
    return json_fail(&r->json, err, "impossible column");
  Branch b = {.line = line,
              .col_lo = (uint32_t)col_lo,
              .col_hi = last == line && col_hi > col_lo
                            ? (uint32_t)col_hi - 1 // theirs is one behind
                            : (uint32_t)col_lo,
              .name = CONDITION_NAME};
  coverage_branch(r->out, r->test, r->file, &b, not_taken > 0);
  b.outcome = 1;
  coverage_branch(r->out, r->test, r->file, &b, taken > 0);
  return 0;
}

static int read_branches(Reader *r, const json_t *file, Err *err) {
  const json_t *array = json_object_get(file, "branches"); // since LLVM 12
  for (size_t i = 0; i < json_array_size(array); i++) {
    size_t mark = json_enter(&r->json, "branches", i);
    if (read_branch(r, json_array_get(array, i), err))
      return -1;
    json_leave(&r->json, mark);
  }
  return 0;
}

static int read_file(Reader *r, const json_t *file, Err *err) {
  const char *path = json_need_text(&r->json, file, "filename", err);
  if (!path)
    return -1;
  if (!*path)
    return json_fail(&r->json, err, "\"filename\" is empty");
  r->file = coverage_file(r->out, path, NULL);
  return read_segments(r, file, err) || read_branches(r, file, err) ? -1 : 0;
}

// --- functions -------------------------------------------------------------

// Functions that other files cannot see carry the name of theirs: "a.c:f",
// "a.c;f" since LLVM 17.
static const char *plain_name(const char *name, const char *path) {
  const char *const prefixes[] = {path, path_base(path)};
  for (size_t i = 0; i < 2; i++) {
    size_t n = strlen(prefixes[i]);
    if (text_starts(name, prefixes[i]) && (name[n] == ':' || name[n] == ';') &&
        name[n + 1])
      return name + n + 1;
  }
  return name;
}

static int read_function(Reader *r, const json_t *function, Err *err) {
  const char *name = json_need_text(&r->json, function, "name", err);
  const json_t *regions =
      json_need(&r->json, function, "regions", JSON_ARRAY, err);
  const json_t *files =
      json_need(&r->json, function, "filenames", JSON_ARRAY, err);
  uint32_t first, last;
  double count;
  if (!name || !regions || !files ||
      json_need_number(&r->json, function, "count", &count, err))
    return -1;
  const char *path = json_string_value(json_array_get(files, 0));
  const json_t *body = json_array_get(regions, 0);
  if (!path || !*path || !body)
    return json_fail(&r->json, err, "a function without region or file");
  size_t mark = json_enter(&r->json, "regions", 0);
  if (json_item_line(&r->json, body, 0, &first, err) ||
      json_item_line(&r->json, body, 2, &last, err))
    return -1;
  json_leave(&r->json, mark);
  coverage_function(r->out, r->test, coverage_file(r->out, path, NULL), first,
                    last, plain_name(name, path), count > 0);
  return 0;
}

// --- the file --------------------------------------------------------------

static int each(Reader *r, const json_t *array, const char *key,
                int (*read)(Reader *, const json_t *, Err *), Err *err) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    size_t mark = json_enter(&r->json, key, i);
    if (read(r, json_array_get(array, i), err))
      return -1;
    json_leave(&r->json, mark);
  }
  return 0;
}

static int read_export(Reader *r, const json_t *export, Err *err) {
  const json_t *files = json_need(&r->json, export, "files", JSON_ARRAY, err);
  if (!files || each(r, files, "files", read_file, err))
    return -1;
  // Not there with -summary-only and -skip-functions.
  return each(r, json_object_get(export, "functions"), "functions",
              read_function, err);
}

static int read_all(Reader *r, Err *err) {
  int rc = json_next(&r->json, err);
  if (rc <= 0)
    return rc ? rc : import_file_fail(r->json.in, 1, err, "empty: no JSON in it");
  const json_t *data =
      json_need(&r->json, r->json.value, "data", JSON_ARRAY, err);
  if (!data || each(r, data, "data", read_export, err))
    return -1;
  json_leave(&r->json, 0);
  rc = json_next(&r->json, err);
  return rc > 0 ? json_fail(&r->json, err, "something follows the export") : rc;
}

int llvm_read(const ImportFile *in, Coverage *out, Err *err) {
  Reader r = {.json = {.in = in}, .out = out};
  if (coverage_test_of(out, in, &r.test, err))
    return -1;
  int rc = read_all(&r, err);
  json_release(&r.json);
  return rc;
}
