// Reading JSON: see json_file.h.
#include "import/json_file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// 1: there is another document; 0: there is none; -1: it is malformed.
static int next_document(Json *j) {
  json_decref(j->value);
  j->value = NULL;
  json_leave(j, 0);
  const Str *text = &j->in->text;
  while (j->at < text->len && isspace((unsigned char)text->data[j->at]))
    j->at++;
  if (j->at >= text->len)
    return 0;
  json_error_t e;
  j->value = json_loadb(text->data + j->at, text->len - j->at,
                        JSON_DECODE_INT_AS_REAL | JSON_DISABLE_EOF_CHECK, &e);
  if (!j->value)
    return err_set(j->err, "%s:%d:%d: malformed JSON at byte %zu: %s",
                   j->in->path, e.line, e.column, j->at + (size_t)e.position,
                   e.text);
  j->at += (size_t)e.position;
  j->documents++;
  return 1;
}

int json_read(const ImportFile *in, Coverage *out, JsonReader *read_document,
              Err *err) {
  Json j = {.in = in, .out = out, .err = err};
  int rc = coverage_test_of(out, in, &j.test, err);
  while (!rc && (rc = next_document(&j)) > 0)
    rc = read_document(&j, j.value);
  if (!rc && !j.documents)
    rc = import_file_fail(in, 1, err, "empty: no JSON in it");
  json_decref(j.value);
  str_release(&j.place);
  return rc;
}

int json_each(Json *j, const json_t *array, const char *key, JsonReader *read) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    size_t mark = json_enter(j, key, i);
    if (read(j, json_array_get(array, i)))
      return -1;
    json_leave(j, mark);
  }
  return 0;
}

size_t json_enter(Json *j, const char *array, size_t index) {
  size_t mark = j->place.len;
  str_addf(&j->place, "%s%s[%zu]", mark && *array ? "." : "", array, index);
  return mark;
}

void json_leave(Json *j, size_t mark) {
  j->place.len = mark;
  if (j->place.data)
    j->place.data[mark] = '\0';
}

int json_fail(const Json *j, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return import_file_fail(j->in, 0, j->err, "%s%s%s", str_text(&j->place),
                          j->place.len ? ": " : "", text);
}

static const char *type_name(json_type type) {
  return type == JSON_OBJECT   ? "an object"
         : type == JSON_ARRAY  ? "an array"
         : type == JSON_STRING ? "a string"
                               : "a number";
}

json_t *json_need(const Json *j, const json_t *object, const char *key,
                  json_type type) {
  json_t *value = json_object_get(object, key);
  if (!json_is_object(object))
    json_fail(j, "should be an object");
  else if (!value)
    json_fail(j, "\"%s\" is missing", key);
  else if (json_typeof(value) != type)
    json_fail(j, "\"%s\" should be %s", key, type_name(type));
  else
    return value;
  return NULL;
}

int json_need_each(Json *j, const json_t *object, const char *key,
                   JsonReader *read) {
  const json_t *array = json_need(j, object, key, JSON_ARRAY);
  return array ? json_each(j, array, key, read) : -1;
}

const char *json_need_text(const Json *j, const json_t *object,
                           const char *key) {
  return json_string_value(json_need(j, object, key, JSON_STRING));
}

int json_need_number(const Json *j, const json_t *object, const char *key,
                     double *number) {
  const json_t *value = json_need(j, object, key, JSON_REAL);
  *number = json_number_value(value);
  return value ? 0 : -1;
}

static bool to_line(double number, uint32_t *line) {
  if (!(number >= 1 && number <= LINE_MOST))
    return false;
  *line = (uint32_t)number;
  return *line == number;
}

int json_need_line(const Json *j, const json_t *object, const char *key,
                   uint32_t *line) {
  double number;
  if (json_need_number(j, object, key, &number))
    return -1;
  if (to_line(number, line))
    return 0;
  return json_fail(j, "\"%s\" is %g: not the number of a line", key, number);
}

int json_item_number(const Json *j, const json_t *array, size_t i,
                     double *number) {
  const json_t *value = json_array_get(array, i);
  if (!json_is_number(value) && !json_is_boolean(value))
    return json_fail(j, "item %zu should be a number", i);
  *number =
      json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
  return 0;
}

int json_item_line(const Json *j, const json_t *array, size_t i,
                   uint32_t *line) {
  double number;
  if (json_item_number(j, array, i, &number))
    return -1;
  if (to_line(number, line))
    return 0;
  return json_fail(j, "item %zu is %g: not the number of a line", i, number);
}
