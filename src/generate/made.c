// A made test: see made.h.
#include "generate/made.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "run/words.h"
#include "util/fs.h"
#include "util/mem.h"

enum { GROWTH_MAX = 4096 }; // bytes a source may grow by in one step

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

// The argument names a file whose content was changed: it names the copy now.
static int add_file(const Inputs *given, const InputSource *file,
                    const char *dir, Str *line, Err *err) {
  const InputSource *old = find_source(given, INPUT_FILE, file->key);
  if (old && same_bytes(old, file)) {
    words_quote(line, file->key);
    return 0;
  }
  char *path = mem_printf("%s/%s", dir, path_base(file->key));
  int rc = fs_mkdirs(dir, err) || fs_write(path, file->bytes, file->size, err);
  words_quote(line, path);
  free(path);
  return rc ? -1 : 0;
}

static int add_argument(const Inputs *in, const Inputs *given,
                        const InputSource *arg, const char *dir, Str *line,
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

static int add_stdin(const InputSource *s, const char *dir, Str *line,
                     Err *err) {
  char *path = mem_printf("%s/stdin", dir);
  int rc = fs_mkdirs(dir, err) || fs_write(path, s->bytes, s->size, err);
  str_add(line, line->len ? " < " : "< ");
  words_quote(line, path);
  free(path);
  return rc ? -1 : 0;
}

int made_write(const Inputs *in, const Inputs *given, const char *dir,
               Str *line, Err *err) {
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    if (s->kind == INPUT_ARG && add_argument(in, given, s, dir, line, err))
      return -1;
  }
  const InputSource *s = find_source(in, INPUT_STDIN, NULL);
  return s ? add_stdin(s, dir, line, err) : 0;
}

// --- models -----------------------------------------------------------------

static void set_byte(Inputs *in, size_t source, size_t at, uint8_t value) {
  InputSource *s = &in->sources.items[source];
  if (at >= s->size && (s->kind != INPUT_ARG || !value))
    return;
  if (at >= s->size)
    inputs_resize(in, source, at + 1, '0');
  in->sources.items[source].bytes[at] = value;
}

static void set_size(Inputs *in, size_t source, uint64_t size) {
  const InputSource *s = &in->sources.items[source];
  uint64_t most = s->size + GROWTH_MAX;
  if (s->kind != INPUT_ARG)
    inputs_resize(in, source, size < most ? size : most, '0');
}

// Sizes first: a model may give bytes beyond the old end.
static void apply(Inputs *in, const Path *path, const Binding *b, bool sizes) {
  for (size_t i = 0; i < in->sources.len && i < path->first_var.len; i++) {
    const InputSource *s = &in->sources.items[i];
    VarId first = path->first_var.items[i];
    size_t room = s->size + (s->kind == INPUT_ARG);
    if (sizes && b->var == path->size_var.items[i]) {
      set_size(in, i, b->value);
      return;
    }
    if (!sizes && b->var >= first && b->var < first + room) {
      set_byte(in, i, b->var - first, (uint8_t)b->value);
      return;
    }
  }
}

// An argument ends at its first NUL.
static void trim_arguments(Inputs *in) {
  for (size_t i = 0; i < in->sources.len; i++) {
    InputSource *s = &in->sources.items[i];
    if (s->kind == INPUT_ARG)
      inputs_resize(in, i, strnlen((const char *)s->bytes, s->size), 0);
  }
}

void made_apply(Inputs *in, const Path *path, const Model *model) {
  for (size_t i = 0; i < model->len; i++)
    apply(in, path, &model->items[i], false);
  for (size_t i = 0; i < model->len; i++)
    apply(in, path, &model->items[i], true);
  trim_arguments(in);
}

uint64_t made_hash(const Inputs *in) {
  uint64_t hash = in->sources.len;
  for (size_t i = 0; i < in->sources.len; i++) {
    const InputSource *s = &in->sources.items[i];
    hash = XXH3_64bits_withSeed(s->bytes, s->size, hash * 31 + s->size);
  }
  return hash;
}
