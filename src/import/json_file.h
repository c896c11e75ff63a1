// Reading JSON: values that must be there, errors that name the place.
//
//   Json j;
//   json_open(&j, in, err);
//   size_t mark = json_enter(&j, "files", i);     // now at files[i]
//   json_t *lines = json_need(&j, file, "lines", JSON_ARRAY, err);
//   json_leave(&j, mark);
#ifndef CULPRIT_IMPORT_JSON_FILE_H
#define CULPRIT_IMPORT_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "verdict/import_file.h"

typedef struct {
  const ImportFile *in;
  size_t at;     // where the next document begins
  json_t *value; // the current document
  Str place;     // in it: "data[0].files[2]"
} Json;

// Reads the next of one or several documents; 1: there is one, 0: no more, -1:
// malformed. Numbers are all reals: counters may exceed 63 bits.
int json_next(Json *j, Err *err);
void json_release(Json *j);

size_t json_enter(Json *j, const char *array, size_t index);
void json_leave(Json *j, size_t mark);

int json_fail(const Json *j, Err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

// Members of `object`, which must be one; NULL or -1 after a message.
json_t *json_need(const Json *j, const json_t *object, const char *key,
                  json_type type, Err *err);
const char *json_need_text(const Json *j, const json_t *object, const char *key,
                           Err *err);
int json_need_line(const Json *j, const json_t *object, const char *key,
                   uint32_t *line, Err *err);
int json_need_number(const Json *j, const json_t *object, const char *key,
                     double *number, Err *err);

// Items of an array of numbers (true and false are numbers here).
int json_item_number(const Json *j, const json_t *array, size_t i,
                     double *number, Err *err);
int json_item_line(const Json *j, const json_t *array, size_t i, uint32_t *line,
                   Err *err);

#endif
