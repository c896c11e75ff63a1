// The table of formats that `culprit import` reads. A new one is a file with a
// reader and a row in coverage_format.c.
#ifndef CULPRIT_IMPORT_COVERAGE_FORMAT_H
#define CULPRIT_IMPORT_COVERAGE_FORMAT_H

#include <stddef.h>

#include "import/coverage.h"
#include "import/foreign.h"
#include "import/places.h"
#include "verdict/import_file.h"

// One argument of the import: [NAME=]FILE.
typedef struct {
  const char *path, *name; // name: NULL: none given
} ImportArg;

typedef struct {
  const ImportArg *items;
  size_t len;
} ImportArgs;

typedef struct {
  const char *name;
  // Stores have no reader: fleet/merge.h copies them. Most formats are read
  // file by file ...
  int (*read_file)(const ImportFile *in, Coverage *out, Err *err);
  // ... in some, files belong together, or bring more than coverage.
  int (*read_args)(const ImportArgs *args, Coverage *out, Foreign *more,
                   Err *err);
  const char *endings[5]; // of its files in a directory; cut off for names;
                          // the last is NULL
  const char *help;
} ImportFormat;

const ImportFormat *import_formats(size_t *n);
const ImportFormat *import_format_find(const char *name); // NULL: none

// Splits NAME=FILE; a file that is there with such a name is a file. `name`
// lies in `arena`.
ImportArg import_arg(const char *text, Arena *arena);

// Reads everything into `out`. A directory stands for all files below it with
// the endings of the format.
int import_read(const ImportFormat *format, const ImportArgs *args,
                const Places *places, Foreign *out, Err *err);

// The readers of the table.
int lcov_read(const ImportFile *in, Coverage *out, Err *err);
int gcov_read(const ImportFile *in, Coverage *out, Err *err);
int llvm_read(const ImportFile *in, Coverage *out, Err *err);
int cobertura_read(const ImportFile *in, Coverage *out, Err *err);
int jacoco_read(const ImportFile *in, Coverage *out, Err *err);
int gzoltar_read(const ImportArgs *args, Coverage *out, Foreign *more,
                 Err *err);

#endif
