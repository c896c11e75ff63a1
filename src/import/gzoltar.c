// GZoltar's text reports: three files that belong together.
//
//   spectra.csv   org.x$Foo#bar(int):12   what the columns of the matrix are;
//                 org.x.Foo#12            as older versions write it
//   matrix.txt    1 0 1 -                 a test a row: executed or not, + or -
//   tests.csv     name,outcome,runtime,stacktrace   what the rows are; without
//                 it the tests are called t1, t2, ...
//
// Files are named after their public class: org/x/Foo.java.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import/coverage_format.h"
#include "util/fs.h"
#include "verdict/files.h"

// A column of the matrix.
typedef struct {
  uint32_t file, line;
  uint32_t method; // index into methods
} Column;

typedef struct {
  const char *name; // Foo.bar; NULL: the report does not say
  uint32_t file, first, last;
  bool hit; // in the current row
} Method;

typedef struct {
  ImportFile matrix, spectra, tests; // path NULL: there is none
  Coverage *out;
  Verdicts *verdicts;
  ARRAY(Column) columns;
  ARRAY(Method) methods;
  Hashmap method_of;       // file and name -> index into methods
  ARRAY(TestVerdict) rows; // of tests.csv
  Arena arena;
} Reader;

// --- spectra.csv -----------------------------------------------------------

// org.x$Foo$Inner -> org/x/Foo.java; *simple: Foo$Inner. In older reports the
// package ends at the last dot.
static const char *class_file(Reader *r, char *class_name, bool older,
                              const char **simple) {
  char *dollar = strchr(class_name, '$');
  char *dot = strrchr(class_name, '.');
  if (older && dollar && dot > dollar) {
    *dollar = '\0';
    dot = strrchr(class_name, '.');
    *dollar = '$';
  }
  char *start =
      older ? (dot ? dot + 1 : class_name) : (dollar ? dollar + 1 : class_name);
  *simple = start;
  size_t n = strcspn(start, "$");
  if (start > class_name)
    start[-1] = '/';
  for (char *p = class_name; p < start; p++)
    if (*p == '.')
      *p = '/';
  const char *lead = *class_name == '/' ? class_name + 1 : class_name;
  return arena_printf(&r->arena, "%.*s.java", (int)(start + n - lead), lead);
}

static uint32_t method_named(Reader *r, const char *name, uint32_t file,
                             uint32_t line) {
  Str key = {0};
  str_addn(&key, &file, sizeof file);
  str_add(&key, name ? name : "");
  uint64_t i = hashmap_intern(&r->method_of, key.data, key.len, r->methods.len);
  str_release(&key);
  if (i == r->methods.len)
    array_push(&r->methods, (Method){name, file, line, line, false});
  Method *m = &r->methods.items[i];
  m->first = line < m->first ? line : m->first;
  m->last = line > m->last ? line : m->last;
  return (uint32_t)i;
}

static int bad_column(const Lines *l, Err *err) {
  return import_file_fail(l->in, l->number, err,
                          "'%.80s': should be package$Class#method(...):LINE",
                          l->text.data);
}

static int read_column(Reader *r, const Lines *l, Err *err) {
  char *class_name = arena_strdup(&r->arena, l->text.data);
  char *hash = strchr(class_name, '#');
  if (!hash || hash == class_name)
    return bad_column(l, err);
  *hash = '\0';
  char *method = hash + 1, *colon = strchr(method, ':');
  const char *number = colon ? colon + 1 : method, *end, *simple;
  uint32_t line;
  // Behind the line some benchmarks note which fault it is.
  if (!parse_line_number(number, &end, &line) || (*end && *end != ':'))
    return bad_column(l, err);
  const char *path = class_file(r, class_name, !colon, &simple), *name = NULL;
  if (colon) {
    method[strcspn(method, "(:")] = '\0';
    name = arena_printf(&r->arena, "%s.%s", simple, method);
  }
  uint32_t file = coverage_file(r->out, path, NULL);
  array_push(&r->columns,
             (Column){file, line, method_named(r, name, file, line)});
  return 0;
}

static int read_spectra(Reader *r, Err *err) {
  Lines lines = {.in = &r->spectra};
  int rc;
  while ((rc = lines_next(&lines, err)) > 0) {
    bool header = lines.number == 1 && !strcmp(lines.text.data, "name");
    if (!header && lines.text.len && read_column(r, &lines, err)) {
      rc = -1;
      break;
    }
  }
  lines_release(&lines);
  if (!rc && !r->columns.len)
    rc = import_file_fail(&r->spectra, 0, err, "lists no lines of code");
  return rc;
}

// --- tests.csv -------------------------------------------------------------

// The comma before the outcome; names may have commas, too.
static const char *find_outcome(const char *line, const char **after) {
  for (const char *p = strchr(line, ','); p; p = strchr(p + 1, ',')) {
    size_t n = strcspn(p + 1, ",");
    if (n && verdict_word(p + 1, n) >= 0) {
      *after = p + 1 + n;
      return p;
    }
  }
  return NULL;
}

// "java.lang.AssertionError: expected 3" -> the type, and the message
static void read_trace(Reader *r, const char *trace, TestVerdict *t) {
  while (*trace == '"' || *trace == ' ')
    trace++;
  size_t n = strcspn(trace, ":, ;\"");
  if (n && strcspn(trace, ".") < n)
    t->type = arena_strndup(&r->arena, trace, n);
  n = strcspn(trace, "\"");
  if (n)
    t->message = arena_strndup(&r->arena, trace, n < 300 ? n : 300);
}

// name,outcome,runtime,stacktrace. Further lines of a stack trace have no
// outcome.
static int read_test(Reader *r, const Lines *l, Err *err) {
  const char *line = l->text.data, *after;
  const char *comma = find_outcome(line, &after);
  if (!comma || comma == line)
    return r->rows.len
               ? 0
               : import_file_fail(l->in, l->number, err,
                                  "'%.80s': should be name,outcome,runtime,"
                                  "stacktrace",
                                  line);
  TestVerdict t = {.name =
                       arena_strndup(&r->arena, line, (size_t)(comma - line))};
  t.verdict = (Verdict)verdict_word(comma + 1, (size_t)(after - comma - 1));
  if (*after == ',') {
    char *end;
    double nanoseconds = strtod(after + 1, &end);
    if (nanoseconds > 0 && nanoseconds < 1e18)
      t.seconds = nanoseconds / 1e9;
    if (*end == ',')
      read_trace(r, end + 1, &t);
  }
  array_push(&r->rows, t);
  return 0;
}

static int read_tests(Reader *r, Err *err) {
  if (!r->tests.path)
    return 0;
  Lines lines = {.in = &r->tests};
  int rc;
  while ((rc = lines_next(&lines, err)) > 0) {
    bool header = lines.number == 1 && text_starts(lines.text.data, "name,");
    if (!header && lines.text.len && read_test(r, &lines, err)) {
      rc = -1;
      break;
    }
  }
  lines_release(&lines);
  return rc;
}

// --- matrix.txt ------------------------------------------------------------

static int read_cells(Reader *r, const Lines *l, uint32_t test,
                      const char **rest, Err *err) {
  const char *p = l->text.data;
  for (size_t i = 0; i < r->columns.len; i++) {
    const Column *c = &r->columns.items[i];
    p += strspn(p, " \t");
    if (!isdigit((unsigned char)*p))
      return import_file_fail(
          l->in, l->number, err,
          "number %zu of the row is missing; %s lists %zu line%s "
          "of code",
          i + 1, r->spectra.path, r->columns.len, plural(r->columns.len));
    bool hit = false;
    for (; isdigit((unsigned char)*p); p++)
      hit |= *p != '0';
    coverage_line(r->out, test, c->file, c->line, hit);
    r->methods.items[c->method].hit |= hit;
  }
  *rest = p + strspn(p, " \t");
  return 0;
}

static void add_methods(Reader *r, uint32_t test) {
  for (size_t i = 0; i < r->methods.len; i++) {
    Method *m = &r->methods.items[i];
    if (m->name)
      coverage_function(r->out, test, m->file, m->first, m->last, m->name,
                        m->hit);
    m->hit = false;
  }
}

static int read_row(Reader *r, const Lines *l, size_t row, Err *err) {
  TestVerdict t = {.name = arena_printf(&r->arena, "t%zu", row + 1)};
  if (r->tests.path && row >= r->rows.len)
    return import_file_fail(l->in, l->number, err, "%s lists only %zu test%s",
                            r->tests.path, r->rows.len, plural(r->rows.len));
  if (r->tests.path)
    t = r->rows.items[row];
  uint32_t test = coverage_test(r->out, t.name);
  const char *rest = "";
  if (read_cells(r, l, test, &rest, err))
    return -1;
  bool pass = !strcmp(rest, "+");
  if (!pass && strcmp(rest, "-") != 0)
    return import_file_fail(
        l->in, l->number, err,
        "'%.40s' at the end of the row: should be + or -, after "
        "%zu number%s",
        rest, r->columns.len, plural(r->columns.len));
  add_methods(r, test);
  t.verdict = pass ? VERDICT_PASS : VERDICT_FAIL;
  verdicts_add(r->verdicts, &t);
  return 0;
}

static int read_matrix(Reader *r, Err *err) {
  Lines lines = {.in = &r->matrix};
  size_t rows = 0;
  int rc;
  while ((rc = lines_next(&lines, err)) > 0) {
    if (!lines.text.len)
      continue;
    if (read_row(r, &lines, rows++, err)) {
      rc = -1;
      break;
    }
  }
  lines_release(&lines);
  if (!rc && r->tests.path && rows != r->rows.len)
    rc = import_file_fail(
        &r->matrix, 0, err, "has %zu row%s, but %s lists %zu test%s", rows,
        plural(rows), r->tests.path, r->rows.len, plural(r->rows.len));
  if (!rc && !rows)
    rc = import_file_fail(&r->matrix, 0, err, "has no rows");
  return rc;
}

// --- the files -------------------------------------------------------------

static ImportFile *file_for(Reader *r, const char *path) {
  const char *base = path_base(path);
  return text_starts(base, "matrix")    ? &r->matrix
         : text_starts(base, "spectra") ? &r->spectra
         : text_starts(base, "tests")   ? &r->tests
                                        : NULL;
}

static void look_in(Reader *r, const char *dir) {
  static const char *const names[] = {"matrix.txt", "matrix",    "spectra.csv",
                                      "spectra",    "tests.csv", "tests"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    ImportFile *in = file_for(r, names[i]);
    const char *path = arena_printf(&r->arena, "%s/%s", dir, names[i]);
    if (!in->path && fs_exists(path) && !is_directory(path))
      in->path = path;
  }
}

// What is not given lies beside the matrix.
static void look_beside_matrix(Reader *r) {
  if (!r->matrix.path)
    return;
  const char *path = r->matrix.path, *base = path_base(path);
  look_in(r, base == path
                 ? "."
                 : arena_strndup(&r->arena, path, (size_t)(base - path - 1)));
}

static int find_files(Reader *r, const ImportArgs *args, Err *err) {
  for (size_t i = 0; i < args->len; i++) {
    const char *path = args->items[i].path;
    if (args->items[i].name)
      return err_set(err, "%s=%s: a GZoltar report names its tests itself",
                     args->items[i].name, path);
    if (is_directory(path)) {
      look_in(r, path);
      continue;
    }
    ImportFile *in = file_for(r, path);
    if (!in || in->path)
      return err_set(err,
                     "%s: which file of a GZoltar report is it? Give its "
                     "directory, or matrix.txt, spectra.csv and tests.csv",
                     path);
    in->path = path;
  }
  look_beside_matrix(r);
  if (!r->matrix.path || !r->spectra.path)
    return err_set(err, "%s: no %s of a GZoltar report here",
                   args->items[0].path,
                   r->matrix.path ? "spectra.csv" : "matrix.txt");
  return 0;
}

static int read_files(Reader *r, Err *err) {
  if (import_file_read(&r->spectra, err) || import_file_read(&r->matrix, err) ||
      (r->tests.path && import_file_read(&r->tests, err)))
    return -1;
  if (read_spectra(r, err) || read_tests(r, err))
    return -1;
  return read_matrix(r, err);
}

int gzoltar_read(const ImportArgs *args, Coverage *out, Foreign *more,
                 Err *err) {
  Reader r = {.out = out, .verdicts = &more->verdicts};
  int rc = find_files(&r, args, err);
  if (!rc)
    rc = read_files(&r, err);
  import_file_release(&r.matrix);
  import_file_release(&r.spectra);
  import_file_release(&r.tests);
  array_release(&r.columns);
  array_release(&r.methods);
  hashmap_release(&r.method_of);
  array_release(&r.rows);
  arena_release(&r.arena);
  return rc;
}
