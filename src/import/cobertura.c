// Cobertura XML: from gcovr, coverage.py, coverlet, Istanbul, ...
//
//   <coverage><sources><source>/src</source></sources><packages><package>
//     <classes><class filename="a.py">
//       <methods><method name="f"><lines><line number="7" hits="1"/> ...
//       <lines><line number="7" hits="1" branch="true"
//                    condition-coverage="50% (1/2)" missing-branches="12"/>
//
// How many branches of a line were taken does not tell which, so most files
// bring lines only. Coverage.py says in missing-branches which were not taken.
#include <stdlib.h>
#include <string.h>

#include "import/coverage_format.h"
#include "verdict/xml.h"

typedef struct {
  Coverage *out;
  uint32_t test, file;
  ARRAY(const char *) sources; // ends with NULL once there is one
  bool in_source, in_class;
  Str text;           // of <source>
  const char *method; // its name; NULL: not in one
  uint32_t first, last;
  bool hit;
  Arena arena;
} Reader;

static int start_class(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *path;
  if (xml_need(x, "class", attributes, "filename", &path))
    return -1;
  if (!*path)
    return xml_fail(x, "<class> with an empty filename=");
  r->file = coverage_file(r->out, path, r->sources.items);
  r->in_class = true;
  return 0;
}

static int start_method(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *name;
  if (xml_need(x, "method", attributes, "name", &name))
    return -1;
  r->method = arena_strdup(&r->arena, name);
  r->first = r->last = 0;
  r->hit = false;
  return 0;
}

static int fail_missing(Xml *x, const char *text) {
  return xml_fail(x, "missing-branches=\"%.40s\": should be line numbers",
                  text);
}

// missing-branches="8,12,exit"
static int read_missing(Reader *r, Xml *x, uint32_t line, bool hit,
                        const char *text) {
  ARRAY(uint32_t) missed = {0};
  int rc = 0;
  for (const char *p = text ? text : ""; !rc && *p;) {
    uint32_t target = UINT32_MAX;
    if (text_starts(p, "exit"))
      p += 4;
    else if (!parse_line_number(p, &p, &target))
      rc = fail_missing(x, text);
    if (!rc && *p && *p++ != ',')
      rc = fail_missing(x, text);
    array_push(&missed, target);
  }
  if (!rc)
    coverage_leftover(r->out, &(Leftover){.test = r->test,
                                          .file = r->file,
                                          .line = line,
                                          .executed = hit,
                                          .missed = missed.items,
                                          .nmissed = missed.len});
  array_release(&missed);
  return rc;
}

static int start_line(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  uint32_t line;
  bool hit;
  if (!r->in_class)
    return xml_fail(x, "<line> outside of a <class>");
  if (xml_need_line(x, "line", attributes, "number", &line) ||
      xml_need_positive(x, "line", attributes, "hits", &hit))
    return -1;
  coverage_line(r->out, r->test, r->file, line, hit);
  if (r->method) {
    r->first = r->first && r->first < line ? r->first : line;
    r->last = r->last > line ? r->last : line;
    r->hit |= hit;
    return 0; // the lines of the class have it again
  }
  const char *branch = xml_attribute(attributes, "branch");
  if (!branch || strcmp(branch, "true") != 0)
    return 0;
  return read_missing(r, x, line, hit,
                      xml_attribute(attributes, "missing-branches"));
}

static int start_source(void *ctx, Xml *x, const char **attributes) {
  (void)x;
  (void)attributes;
  Reader *r = ctx;
  r->in_source = true;
  str_clear(&r->text);
  return 0;
}

static void end_source(void *ctx) {
  Reader *r = ctx;
  r->in_source = false;
  if (!r->text.len)
    return;
  if (r->sources.len)
    r->sources.len--;
  array_push(&r->sources, arena_strdup(&r->arena, r->text.data));
  array_push(&r->sources, NULL);
}

static void end_method(void *ctx) {
  Reader *r = ctx;
  if (r->method && r->first)
    coverage_function(r->out, r->test, r->file, r->first, r->last, r->method,
                      r->hit);
  r->method = NULL;
}

static void end_class(void *ctx) { ((Reader *)ctx)->in_class = false; }

static void text(void *ctx, const char *bytes, size_t n) {
  Reader *r = ctx;
  if (r->in_source)
    str_addn(&r->text, bytes, n);
}

static const XmlElement elements[] = {
    {"line", start_line, NULL},
    {"method", start_method, end_method},
    {"class", start_class, end_class},
    {"source", start_source, end_source},
    {0},
};

int cobertura_read(const ImportFile *in, Coverage *out, Err *err) {
  static const XmlHandlers handlers = {
      .root = "coverage", .elements = elements, .text = text};
  Reader r = {.out = out};
  if (coverage_test_of(out, in, &r.test, err))
    return -1;
  int rc = xml_read(in, &handlers, &r, err);
  array_release(&r.sources);
  str_release(&r.text);
  arena_release(&r.arena);
  return rc;
}
