// Reading coverage from JSON: values that must be there, errors that name the
// place.
//
//   static int read_file(Json *j, const json_t *file) {
//     const char *path = json_need_text(j, file, "file");
//     ...
//     return path ? json_need_each(j, file, "lines", read_line) : -1;
//   }
//
// Functions return 0, or -1 or NULL after a message.
#ifndef CULPRIT_IMPORT_JSON_FILE_H
#define CULPRIT_IMPORT_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "import/coverage.h"
#include "verdict/import_file.h"

typedef struct {
  const ImportFile *in;
  size_t at;        // where the next document begins
  size_t documents; // how many were begun
  json_t *value;    // the current document
  Str place;        // in it: "data[0].files[2]"
  Coverage *out;
  uint32_t test, file; // what is being read
  Err *err;
} Json;

typedef int JsonReader(Json *j, const json_t *value);

// Reads a file with one or several documents, all about one test. Numbers are
// all reals: counters may exceed 63 bits.
int json_read(const ImportFile *in, Coverage *out, JsonReader *read_document,
              Err *err);

// Reads the items of an array, which messages call `key`. NULL: there are none.
int json_each(Json *j, const json_t *array, const char *key, JsonReader *read);
// The same for a member of an object that must be there.
int json_need_each(Json *j, const json_t *object, const char *key,
                   JsonReader *read);

size_t json_enter(Json *j, const char *array, size_t index);
void json_leave(Json *j, size_t mark);

int json_fail(const Json *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

// Members of `object`, which must be an object.
json_t *json_need(const Json *j, const json_t *object, const char *key,
                  json_type type);
const char *json_need_text(const Json *j, const json_t *object,
                           const char *key);
int json_need_line(const Json *j, const json_t *object, const char *key,
                   uint32_t *line);
int json_need_number(const Json *j, const json_t *object, const char *key,
                     double *number);

// Items of an array of numbers (true and false are numbers here).
int json_item_number(const Json *j, const json_t *array, size_t i,
                     double *number);
int json_item_line(const Json *j, const json_t *array, size_t i,
                   uint32_t *line);

#endif
