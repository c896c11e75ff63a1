// Reading JSON: see json_file.h.
#include "import/json_file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int json_next(Json *j, Err *err) {
  json_decref(j->value);
  j->value = NULL;
  const Str *text = &j->in->text;
  while (j->at < text->len && isspace((unsigned char)text->data[j->at]))
    j->at++;
  if (j->at >= text->len)
    return j->at ? 0 : import_file_fail(j->in, 1, err, "empty: not JSON");
  json_error_t e;
  j->value = json_loadb(text->data + j->at, text->len - j->at,
                        JSON_DECODE_INT_AS_REAL | JSON_DISABLE_EOF_CHECK, &e);
  if (!j->value)
    return err_set(err, "%s:%d:%d: malformed JSON at byte %zu: %s", j->in->path,
                   e.line, e.column, j->at + (size_t)e.position, e.text);
  j->at += (size_t)e.position;
  return 1;
}

void json_release(Json *j) {
  json_decref(j->value);
  str_release(&j->place);
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

int json_fail(const Json *j, Err *err, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return import_file_fail(j->in, 0, err, "%s%s%s", str_text(&j->place),
                    j->place.len ? ": " : "", text);
}

static const char *type_name(json_type type) {
  return type == JSON_OBJECT   ? "an object"
         : type == JSON_ARRAY  ? "an array"
         : type == JSON_STRING ? "a string"
                               : "a number";
}

json_t *json_need(const Json *j, const json_t *object, const char *key,
                  json_type type, Err *err) {
  json_t *value = json_object_get(object, key);
  if (!json_is_object(object))
    json_fail(j, err, "should be an object");
  else if (!value)
    json_fail(j, err, "\"%s\" is missing", key);
  else if (json_typeof(value) != type)
    json_fail(j, err, "\"%s\" should be %s", key, type_name(type));
  else
    return value;
  return NULL;
}

const char *json_need_text(const Json *j, const json_t *object, const char *key,
                           Err *err) {
  return json_string_value(json_need(j, object, key, JSON_STRING, err));
}

int json_need_number(const Json *j, const json_t *object, const char *key,
                     double *number, Err *err) {
  const json_t *value = json_need(j, object, key, JSON_REAL, err);
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
                   uint32_t *line, Err *err) {
  double number;
  if (json_need_number(j, object, key, &number, err))
    return -1;
  if (to_line(number, line))
    return 0;
  return json_fail(j, err, "\"%s\" is %g: not the number of a line", key,
                   number);
}

int json_item_number(const Json *j, const json_t *array, size_t i,
                     double *number, Err *err) {
  const json_t *value = json_array_get(array, i);
  if (!json_is_number(value) && !json_is_boolean(value))
    return json_fail(j, err, "item %zu should be a number", i);
  *number =
      json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
  return 0;
}

int json_item_line(const Json *j, const json_t *array, size_t i, uint32_t *line,
                   Err *err) {
  double number;
  if (json_item_number(j, array, i, &number, err))
    return -1;
  if (to_line(number, line))
    return 0;
  return json_fail(j, err, "item %zu is %g: not the number of a line", i,
                   number);
}
