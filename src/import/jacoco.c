// JaCoCo XML (report.dtd 1.1): Java, Kotlin, ...
//
//   <report><package name="org/x">
//     <class name="org/x/Foo" sourcefilename="Foo.java">
//       <method name="bar" desc="(I)V" line="12">
//         <counter type="METHOD" missed="0" covered="1"/></method></class>
//     <sourcefile name="Foo.java">
//       <line nr="12" mi="0" ci="4" mb="1" cb="1"/></sourcefile>
//
// A line was executed if an instruction of it was (ci). mb and cb count
// branches without saying which: they are not imported. Where a method ends is
// not said: the next one begins there.
#include <stdlib.h>
#include <string.h>

#include "import/coverage_format.h"
#include "util/fs.h"
#include "verdict/xml.h"

typedef struct {
  Coverage *out;
  uint32_t test;
  Str package; // with / at its end, or empty
  Str path;
  bool has_file; // in a class or source file
  uint32_t file;
  Str class_name, method;
  bool in_method;
  uint32_t line; // of the method; 0: unknown
} Reader;

static void enter_file(Reader *r, const char *name) {
  str_clear(&r->path);
  str_add(&r->path, str_text(&r->package));
  str_add(&r->path, name);
  r->file = coverage_file(r->out, r->path.data, NULL);
  r->has_file = true;
}

static int start_package(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *name;
  if (xml_need(x, "package", attributes, "name", &name))
    return -1;
  str_clear(&r->package);
  if (*name)
    str_addf(&r->package, "%s/", name);
  return 0;
}

static int start_class(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *name, *file = xml_attribute(attributes, "sourcefilename");
  if (xml_need(x, "class", attributes, "name", &name))
    return -1;
  str_clear(&r->class_name);
  str_add(&r->class_name, path_base(name));
  r->has_file = false;
  if (file && *file)
    enter_file(r, file);
  return 0;
}

static int start_method(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *name;
  if (xml_need(x, "method", attributes, "name", &name))
    return -1;
  str_clear(&r->method);
  str_addf(&r->method, "%s.%s", str_text(&r->class_name), name);
  r->in_method = true;
  r->line = 0;
  if (!xml_attribute(attributes, "line"))
    return 0;
  return xml_need_line(x, "method", attributes, "line", &r->line);
}

static int start_counter(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *type;
  bool hit;
  if (xml_need(x, "counter", attributes, "type", &type) ||
      xml_need_positive(x, "counter", attributes, "covered", &hit))
    return -1;
  if (r->in_method && r->has_file && r->line && !strcmp(type, "METHOD"))
    coverage_function(r->out, r->test, r->file, r->line, 0, r->method.data,
                      hit);
  return 0;
}

static int start_sourcefile(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *name;
  if (xml_need(x, "sourcefile", attributes, "name", &name))
    return -1;
  if (!*name)
    return xml_fail(x, "<sourcefile> with an empty name=");
  enter_file(r, name);
  return 0;
}

static int start_line(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  uint32_t line;
  bool hit;
  if (!r->has_file)
    return xml_fail(x, "<line> outside of a <sourcefile>");
  if (xml_need_line(x, "line", attributes, "nr", &line) ||
      xml_need_positive(x, "line", attributes, "ci", &hit))
    return -1;
  coverage_line(r->out, r->test, r->file, line, hit);
  return 0;
}

static void end_method(void *ctx) { ((Reader *)ctx)->in_method = false; }

static void end_file(void *ctx) { ((Reader *)ctx)->has_file = false; }

static void end_package(void *ctx) { str_clear(&((Reader *)ctx)->package); }

static const XmlElement elements[] = {
    {"line", start_line, NULL},
    {"counter", start_counter, NULL},
    {"method", start_method, end_method},
    {"class", start_class, end_file},
    {"sourcefile", start_sourcefile, end_file},
    {"package", start_package, end_package},
    {0},
};

int jacoco_read(const ImportFile *in, Coverage *out, Err *err) {
  static const XmlHandlers handlers = {.root = "report", .elements = elements};
  Reader r = {.out = out};
  if (coverage_test_of(out, in, &r.test, err))
    return -1;
  int rc = xml_read(in, &handlers, &r, err);
  str_release(&r.package);
  str_release(&r.path);
  str_release(&r.class_name);
  str_release(&r.method);
  return rc;
}
