// Verdicts from JUnit XML, which has no one schema: what pytest, Maven, Gradle,
// CTest, GoogleTest and others have in common.
//
//   <testsuites><testsuite>
//     <testcase classname="pkg.Class" name="test" time="0.1">
//       <failure type="AssertionError" message="1 != 2">...</failure>
//
// <failure> and <error> mean that the test failed; <skipped>, or a status that
// says so, that it did not count; <flakyFailure> and <flakyError> (Maven's
// reruns) that it is flaky.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/verdict.h"
#include "verdict/xml.h"

enum { MESSAGE_MOST = 300 };

typedef struct {
  Verdicts *out;
  bool in_case, in_failure;
  Str name, brief, type, message;
  bool has_brief;
  Verdict verdict;
  double seconds;
} Reader;

bool junit_recognises(const ImportFile *in) {
  const char *text = str_text(&in->text);
  if (text_starts(text, "\xef\xbb\xbf"))
    text += 3;
  text += strspn(text, " \t\r\n");
  return *text == '<' || text_starts(text, "\xfe\xff") ||
         text_starts(text, "\xff\xfe");
}

static void set(Str *s, const char *text) {
  str_clear(s);
  str_add(s, text ? text : "");
}

static int start_case(void *ctx, Xml *x, const char **attributes) {
  Reader *r = ctx;
  const char *name, *class_name = xml_attribute(attributes, "classname");
  const char *time = xml_attribute(attributes, "time");
  const char *status = xml_attribute(attributes, "status");
  if (r->in_case)
    return xml_fail(x, "<testcase> inside of a <testcase>");
  if (xml_need(x, "testcase", attributes, "name", &name))
    return -1;
  if (!*name)
    return xml_fail(x, "<testcase> with an empty name=");
  r->has_brief = class_name && *class_name;
  set(&r->name, r->has_brief ? class_name : name);
  set(&r->brief, name);
  if (r->has_brief)
    str_addf(&r->name, ".%s", name);
  set(&r->type, NULL);
  set(&r->message, NULL);
  r->seconds = time ? strtod(time, NULL) : 0;
  if (!isfinite(r->seconds) || r->seconds < 0)
    r->seconds = 0;
  bool skipped =
      status && (!strcmp(status, "notrun") || !strcmp(status, "disabled") ||
                 !strcmp(status, "skipped"));
  r->verdict = skipped ? VERDICT_SKIP : VERDICT_PASS;
  r->in_case = true;
  return 0;
}

// "ValueError: 3" -> "ValueError", for those who give no type. Only what looks
// like the name of an exception: other messages differ from test to test.
static size_t exception_name(const char *message) {
  size_t n = strspn(message, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
  static const char *const ends[] = {"Error", "Exception", "Failure"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t m = strlen(ends[i]);
    if (n >= m && !strncmp(message + n - m, ends[i], m))
      return n;
  }
  return 0;
}

static int start_failure(void *ctx, Xml *x, const char **attributes) {
  (void)x;
  Reader *r = ctx;
  if (!r->in_case || r->verdict == VERDICT_FAIL)
    return 0; // the first one says what failed
  r->verdict = VERDICT_FAIL;
  r->in_failure = true;
  const char *type = xml_attribute(attributes, "type");
  set(&r->type, type);
  set(&r->message, xml_attribute(attributes, "message"));
  size_t n = exception_name(str_text(&r->message));
  if (!r->type.len && n)
    str_addn(&r->type, r->message.data, n);
  return 0;
}

static int doubt(Reader *r, Verdict verdict) {
  if (r->in_case && r->verdict == VERDICT_PASS)
    r->verdict = verdict;
  return 0;
}

static int start_skipped(void *ctx, Xml *x, const char **attributes) {
  (void)x;
  (void)attributes;
  return doubt(ctx, VERDICT_SKIP);
}

static int start_flaky(void *ctx, Xml *x, const char **attributes) {
  (void)x;
  (void)attributes;
  return doubt(ctx, VERDICT_FLAKY);
}

// One line, not too long; NULL if nothing is left.
static const char *one_line(Str *s) {
  char *text = s->data;
  if (!s->len)
    return NULL;
  text += strspn(text, " \t\r\n");
  text[strcspn(text, "\r\n")] = '\0';
  if (strlen(text) > MESSAGE_MOST)
    text[MESSAGE_MOST] = '\0';
  return *text ? text : NULL;
}

static void end_case(void *ctx) {
  Reader *r = ctx;
  TestVerdict t = {.name = r->name.data,
                   .brief = r->has_brief ? r->brief.data : NULL,
                   .verdict = r->verdict,
                   .type = one_line(&r->type),
                   .message = one_line(&r->message),
                   .seconds = r->seconds};
  verdicts_add(r->out, &t);
  r->in_case = false;
}

static void end_failure(void *ctx) { ((Reader *)ctx)->in_failure = false; }

// The text of a failure is its message if it has no other.
static void text(void *ctx, const char *bytes, size_t n) {
  Reader *r = ctx;
  if (r->in_failure && r->message.len < MESSAGE_MOST)
    str_addn(&r->message, bytes, n);
}

static const XmlElement elements[] = {
    {"testcase", start_case, end_case},
    {"failure", start_failure, end_failure},
    {"error", start_failure, end_failure},
    {"skipped", start_skipped, NULL},
    {"flakyFailure", start_flaky, NULL},
    {"flakyError", start_flaky, NULL},
    {0},
};

int junit_read(const ImportFile *in, Verdicts *out, Err *err) {
  static const XmlHandlers handlers = {"testsuites", "testsuite", elements,
                                       text};
  Reader r = {.out = out};
  int rc = xml_read(in, &handlers, &r, err);
  str_release(&r.name);
  str_release(&r.brief);
  str_release(&r.type);
  str_release(&r.message);
  return rc;
}
