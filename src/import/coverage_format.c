// The table of formats, and which files an argument stands for: see
// coverage_format.h.
#include "import/coverage_format.h"

#include <string.h>

#include "util/fs.h"
#include "verdict/files.h"

// clang-format off
static const ImportFormat formats[] = {
    {"lcov", lcov_read, NULL, {".info", ".lcov"},
     "lcov .info: every TN: is a test"},
    {"gcov", gcov_read, NULL,
     {".gcov.json.gz", ".gcov.json", ".json.gz", ".json"},
     "gcov --json-format: .gcov.json.gz, or unpacked"},
    {"llvm", llvm_read, NULL, {".json", ".json.gz"},
     "llvm-cov export: JSON"},
    {"cobertura", cobertura_read, NULL, {".xml", ".xml.gz"},
     "Cobertura XML: gcovr, coverage.py, ..."},
    {"jacoco", jacoco_read, NULL, {".xml", ".xml.gz"},
     "JaCoCo XML"},
    {"gzoltar", NULL, gzoltar_read, {0},
     "GZoltar: a directory, or matrix.txt spectra.csv [tests.csv]"},
    {"store", NULL, NULL, {0},
     "another culprit store (a directory like .culprit)"},
};
// clang-format on

const ImportFormat *import_formats(size_t *n) {
  *n = sizeof formats / sizeof *formats;
  return formats;
}

const ImportFormat *import_format_find(const char *name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (!strcmp(name, formats[i].name))
      return &formats[i];
  return NULL;
}

ImportArg import_arg(const char *text, Arena *arena) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || fs_exists(text))
    return (ImportArg){.path = text};
  return (ImportArg){.path = equals + 1,
                     .name =
                         arena_strndup(arena, text, (size_t)(equals - text))};
}

// --- reading file by file --------------------------------------------------

// `path` without the format's ending.
static const char *cut_ending(const ImportFormat *f, const char *path,
                              Arena *arena) {
  for (size_t i = 0; f->endings[i]; i++) {
    size_t n = strlen(path), m = strlen(f->endings[i]);
    if (n > m && text_ends(path, f->endings[i]))
      return arena_strndup(arena, path, n - m);
  }
  return path;
}

static int read_one(const ImportFormat *f, const char *path, const char *name,
                    bool named, Coverage *out, Err *err) {
  ImportFile in = {.path = path, .test = name, .named = named};
  int rc = import_file_read(&in, err);
  if (!rc)
    rc = f->read_file(&in, out, err);
  import_file_release(&in);
  return rc;
}

static int read_directory(const ImportFormat *f, const ImportArg *arg,
                          Coverage *out, Arena *arena, Err *err) {
  Paths paths = {0};
  files_below(arg->path, f->endings, arena, &paths);
  int rc = 0;
  if (!paths.len)
    rc = err_set(err, "%s: no file in it ends in %s%s%s", arg->path,
                 f->endings[0], f->endings[1] ? " or " : "",
                 f->endings[1] ? f->endings[1] : "");
  for (size_t i = 0; !rc && i < paths.len; i++) {
    const char *name = arg->name;
    if (!name)
      name = cut_ending(f, path_below(paths.items[i], arg->path), arena);
    rc = read_one(f, paths.items[i], name, arg->name != NULL, out, err);
  }
  array_release(&paths);
  return rc;
}

static int read_arg(const ImportFormat *f, const ImportArg *arg, Coverage *out,
                    Arena *arena, Err *err) {
  if (is_directory(arg->path))
    return read_directory(f, arg, out, arena, err);
  const char *name = arg->name;
  if (!name)
    name = cut_ending(f, path_base(arg->path), arena);
  return read_one(f, arg->path, name, arg->name != NULL, out, err);
}

static int read_files(const ImportFormat *f, const ImportArgs *args,
                      Coverage *out, Err *err) {
  Arena arena = {0};
  int rc = 0;
  for (size_t i = 0; !rc && i < args->len; i++)
    rc = read_arg(f, &args->items[i], out, &arena, err);
  arena_release(&arena);
  return rc;
}

int import_read(const ImportFormat *format, const ImportArgs *args,
                const Places *places, Foreign *out, Err *err) {
  Coverage c;
  coverage_init(&c, places);
  int rc = format->read_args ? format->read_args(args, &c, out, err)
                             : read_files(format, args, &c, err);
  if (!rc && !out->judged)
    rc = coverage_finish(&c, out, err);
  coverage_release(&c);
  return rc;
}
