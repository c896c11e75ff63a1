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

// --- lines -----------------------------------------------------------------

typedef struct {
  uint32_t line;
  bool executed, has_count, entry, gap;
} CoverageSegment;

static int read_segment(Json *j, const json_t *item, CoverageSegment *s) {
  double count, has_count, entry, gap = 0;
  if (json_item_line(j, item, 0, &s->line) ||
      json_item_number(j, item, 2, &count) ||
      json_item_number(j, item, 3, &has_count) ||
      json_item_number(j, item, 4, &entry))
    return -1;
  if (json_array_size(item) > 5 && // since LLVM 10
      json_item_number(j, item, 5, &gap))
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
static void add_line(Json *j, uint32_t line, const CoverageSegment *s, size_t n,
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
    coverage_line(j->out, j->test, j->file, line, executed);
}

static void add_lines(Json *j, const CoverageSegment *s, size_t n) {
  const CoverageSegment *wrapped = NULL;
  uint32_t line = n ? s->line : 0;
  for (size_t i = 0, next; i < n; i = next) {
    for (; line < s[i].line; line++)
      add_line(j, line, NULL, 0, wrapped);
    for (next = i; next < n && s[next].line == line; next++)
      ;
    add_line(j, line++, s + i, next - i, wrapped);
    wrapped = &s[next - 1];
  }
}

static int read_segments(Json *j, const json_t *file) {
  const json_t *array = json_need(j, file, "segments", JSON_ARRAY);
  if (!array)
    return -1;
  size_t n = json_array_size(array);
  CoverageSegment *segments = mem_array(CoverageSegment, n);
  int rc = 0;
  for (size_t i = 0; !rc && i < n; i++) {
    size_t mark = json_enter(j, "segments", i);
    rc = read_segment(j, json_array_get(array, i), &segments[i]);
    if (!rc && i && segments[i].line < segments[i - 1].line)
      rc = json_fail(j, "line %u comes after line %u", segments[i].line,
                     segments[i - 1].line);
    if (!rc)
      json_leave(j, mark);
  }
  if (!rc)
    add_lines(j, segments, n);
  free(segments);
  return rc;
}

// --- branches --------------------------------------------------------------

static int read_branch(Json *j, const json_t *item) {
  uint32_t line, last;
  double col_lo, col_hi, taken, not_taken;
  if (json_item_line(j, item, 0, &line) ||
      json_item_number(j, item, 1, &col_lo) ||
      json_item_line(j, item, 2, &last) ||
      json_item_number(j, item, 3, &col_hi) ||
      json_item_number(j, item, 4, &taken) ||
      json_item_number(j, item, 5, &not_taken))
    return -1;
  if (!(col_lo >= 0 && col_lo <= LINE_MOST && col_hi >= 0 &&
        col_hi <= LINE_MOST))
    return json_fail(j, "impossible column");
  Branch b = {.line = line,
              .col_lo = (uint32_t)col_lo,
              .col_hi = last == line && col_hi > col_lo
                            ? (uint32_t)col_hi - 1 // theirs is one behind
                            : (uint32_t)col_lo,
              .name = CONDITION_NAME};
  coverage_branch(j->out, j->test, j->file, &b, not_taken > 0);
  b.outcome = 1;
  coverage_branch(j->out, j->test, j->file, &b, taken > 0);
  return 0;
}

static int read_file(Json *j, const json_t *file) {
  const char *path = json_need_text(j, file, "filename");
  if (!path)
    return -1;
  if (!*path)
    return json_fail(j, "\"filename\" is empty");
  j->file = coverage_file(j->out, path, NULL);
  if (read_segments(j, file))
    return -1;
  return json_each(j, json_object_get(file, "branches"), // since LLVM 12
                   "branches", read_branch);
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

static int read_function(Json *j, const json_t *function) {
  const char *name = json_need_text(j, function, "name");
  const json_t *regions = json_need(j, function, "regions", JSON_ARRAY);
  const json_t *files = json_need(j, function, "filenames", JSON_ARRAY);
  uint32_t first, last;
  double count;
  if (!name || !regions || !files ||
      json_need_number(j, function, "count", &count))
    return -1;
  const char *path = json_string_value(json_array_get(files, 0));
  const json_t *body = json_array_get(regions, 0);
  if (!path || !*path || !body)
    return json_fail(j, "a function without region or file");
  size_t mark = json_enter(j, "regions", 0);
  if (json_item_line(j, body, 0, &first) || json_item_line(j, body, 2, &last))
    return -1;
  json_leave(j, mark);
  coverage_function(j->out, j->test, coverage_file(j->out, path, NULL), first,
                    last, plain_name(name, path), count > 0);
  return 0;
}

// --- the file --------------------------------------------------------------

static int read_export(Json *j, const json_t *export) {
  if (json_need_each(j, export, "files", read_file))
    return -1;
  // Not there with -summary-only and -skip-functions.
  return json_each(j, json_object_get(export, "functions"), "functions",
                   read_function);
}

static int read_document(Json *j, const json_t *document) {
  if (j->documents > 1)
    return json_fail(j, "something follows the export");
  return json_need_each(j, document, "data", read_export);
}

int llvm_read(const ImportFile *in, Coverage *out, Err *err) {
  return json_read(in, out, read_document, err);
}
