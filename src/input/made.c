// A made test: see made.h.
#include "input/made.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "process/words.h"
#include "util/fs.h"
#include "util/mem.h"

// --- to files ---------------------------------------------------------------

static const InputSource *find_source(const Inputs *in, InputKind kind,
                                      const char *key) {
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    if (s->kind == kind && (!key || (s->key && !strcmp(s->key, key))))
      return s;
  }
  return NULL;
}

static bool same_bytes(const InputSource *a, const InputSource *b) {
  return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

// Where a test's files go. The directory is made with the first of them.
typedef struct {
  const char *path;
  bool there;
} Folder;

// Writes the source's bytes to a file there and adds its name to the line.
static int keep(Folder *dir, const char *name, const InputSource *s, Str *line,
                Err *err) {
  char *path = mem_printf("%s/%s", dir->path, name);
  int rc = dir->there ? 0 : fs_mkdirs(dir->path, err);
  dir->there = !rc;
  if (!rc)
    rc = fs_write(path, s->bytes, s->size, err);
  words_quote(line, path);
  free(path);
  return rc;
}

// The argument names a file whose content was changed: it names the copy now.
static int add_file(const Inputs *given, const InputSource *file, Folder *dir,
                    Str *line, Err *err) {
  const InputSource *old = find_source(given, INPUT_FILE, file->key);
  if (!old || !same_bytes(old, file))
    return keep(dir, path_base(file->key), file, line, err);
  words_quote(line, file->key);
  return 0;
}

static int add_argument(const Inputs *in, const Inputs *given,
                        const InputSource *arg, Folder *dir, Str *line,
                        Err *err) {
  char *text = mem_alloc(arg->size + 1);
  memcpy(text, arg->bytes, arg->size); // ends at the first NUL
  const InputSource *file = find_source(in, INPUT_FILE, text);
  if (line->len)
    str_addc(line, ' ');
  int rc = 0;
  if (file)
    rc = add_file(given, file, dir, line, err);
  else
    words_quote(line, text);
  free(text);
  return rc;
}

// A file for nothing would be one of two for a test that reads a file.
static int add_stdin(const InputSource *s, Folder *dir, Str *line, Err *err) {
  str_add(line, line->len ? " < " : "< ");
  if (s->size)
    return keep(dir, "stdin", s, line, err);
  str_add(line, "/dev/null");
  return 0;
}

int made_write(const Inputs *in, const Inputs *given, const char *path,
               Str *line, Err *err) {
  Folder dir = {.path = path};
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    if (s->kind == INPUT_ARG && add_argument(in, given, s, &dir, line, err))
      return -1;
  }
  const InputSource *s = find_source(in, INPUT_STDIN, NULL);
  return s ? add_stdin(s, &dir, line, err) : 0;
}

void made_rename(Inputs *in, const Inputs *given, const char *dir) {
  for (size_t i = 0; i < in->sources.len; i++) {
    InputSource *s = &in->sources.items[i];
    if (s->kind != INPUT_FILE)
      continue;
    const InputSource *old = find_source(given, INPUT_FILE, s->key);
    if (old && same_bytes(old, s))
      continue;
    char *key = mem_printf("%s/%s", dir, path_base(s->key));
    free(s->key);
    s->key = key;
  }
}

// A value ends at its first NUL.
char **made_environment(const Inputs *in, Arena *arena) {
  char **env = arena_array(arena, char *, in->sources.len + 1);
  size_t n = 0;
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    if (s->kind == INPUT_ENV)
      env[n++] = arena_printf(arena, "%s=%.*s", s->key, (int)s->size,
                              (const char *)s->bytes);
  }
  return n ? env : NULL;
}

size_t made_size(const Inputs *in) {
  size_t n = 0;
  for (size_t i = 0; i < in->sources.len; i++)
    n += in->sources.items[i].size;
  return n;
}

uint64_t made_hash(const Inputs *in) {
  uint64_t hash = in->sources.len;
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    hash = XXH3_64bits_withSeed(s->bytes, s->size, hash * 31 + s->size);
  }
  return hash;
}
