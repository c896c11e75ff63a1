// One file given to an import: its bytes, and the test they speak of.
#ifndef CULPRIT_VERDICT_IMPORT_FILE_H
#define CULPRIT_VERDICT_IMPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "util/str.h"

typedef struct {
  const char *path; // as the user gave it: for messages
  const char *test; // NAME of NAME=FILE, else made from the file's name
  bool named;       // the user gave NAME=
  Str text;         // unpacked
} ImportFile;

// Reads in->path into in->text, and unpacks it.
int import_file_read(ImportFile *in, Err *err);
// Unpacks in->text if gzip packed it, whatever the file's name.
int import_file_unpack(ImportFile *in, Err *err);
void import_file_release(ImportFile *in);

// "FILE:LINE: ..." or "FILE: ...". Return -1.
int import_file_fail(const ImportFile *in, size_t line, Err *err,
                     const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

// The lines of a text file, one after the other, without their ends (\n or
// \r\n) and NUL-terminated.
//
//   Lines lines = {.in = in};
//   for (int rc; (rc = lines_next(&lines, err)) > 0;) use(lines.text.data);
typedef struct {
  const ImportFile *in;
  size_t at;     // where the next line begins
  size_t number; // of the current line, from 1
  Str text;      // the current line
} Lines;

int lines_next(Lines *l, Err *err); // 1: a line; 0: no more; -1: a NUL byte
void lines_release(Lines *l);

// No source file has a line with a higher number: one that does comes from a
// damaged file.
#define LINE_MOST ((uint32_t)1 << 20)

// Decimal digits up to `*end`; false if there are none or they are no line.
bool parse_line_number(const char *text, const char **end, uint32_t *line);

#endif
