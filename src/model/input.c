// The input of one run: see input.h.
#include "model/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

static size_t add(Inputs *in, InputSource s, const void *bytes, size_t n) {
  s.bytes = mem_alloc(n + 1 + INPUT_SLACK);
  if (n)
    memcpy(s.bytes, bytes, n);
  s.size = n;
  array_push(&in->sources, s);
  return in->sources.len - 1;
}

size_t inputs_add_stdin(Inputs *in, const void *bytes, size_t n) {
  return add(in,
             (InputSource){.kind = INPUT_STDIN, .name = mem_strdup("stdin")},
             bytes, n);
}

size_t inputs_add_arg(Inputs *in, uint32_t arg, const char *text) {
  return add(in,
             (InputSource){.kind = INPUT_ARG,
                           .name = mem_printf("argv[%u]", arg),
                           .arg = arg},
             text, strlen(text));
}

size_t inputs_add_file(Inputs *in, const char *path, const void *bytes,
                       size_t n) {
  return add(in,
             (InputSource){.kind = INPUT_FILE,
                           .name = mem_printf("file:%s", path),
                           .key = mem_strdup(path)},
             bytes, n);
}

size_t inputs_add_env(Inputs *in, const char *name, const char *value) {
  return add(in,
             (InputSource){.kind = INPUT_ENV,
                           .name = mem_printf("env:%s", name),
                           .key = mem_strdup(name)},
             value, strlen(value));
}

static void add_named_file(Inputs *in, const char *arg, const char *cwd,
                           size_t max) {
  struct stat st;
  Str text = {0};
  Err ignored;
  char *path = path_absolute(arg, cwd);
  if (*arg && !stat(path, &st) && S_ISREG(st.st_mode) &&
      (uint64_t)st.st_size <= max && !fs_read(path, 0, &text, &ignored))
    inputs_add_file(in, arg, str_text(&text), text.len);
  str_release(&text);
  free(path);
}

int inputs_of_command(Inputs *in, char *const argv[], const char *cwd,
                      const char *stdin_path, size_t max, Err *err) {
  Str text = {0};
  if (stdin_path) {
    if (fs_read(stdin_path, 0, &text, err))
      return -1;
    inputs_add_stdin(in, str_text(&text), text.len);
    str_release(&text);
  }
  for (uint32_t i = 1; argv[0] && argv[i]; i++)
    inputs_add_arg(in, i, argv[i]);
  for (uint32_t i = 1; argv[0] && argv[i]; i++)
    add_named_file(in, argv[i], cwd, max);
  return 0;
}

void inputs_pick(Inputs *to, const Inputs *from, const bool *keep) {
  uint32_t arg = 1;
  *to = (Inputs){0};
  for (size_t i = 0; i < from->sources.len; i++) {
    InputSource s = from->sources.items[i];
    if (keep && !keep[i])
      continue;
    bool is_arg = s.kind == INPUT_ARG;
    s.arg = is_arg ? arg++ : s.arg;
    s.name = is_arg ? mem_printf("argv[%u]", s.arg) : mem_strdup(s.name);
    s.key = s.key ? mem_strdup(s.key) : NULL;
    add(to, s, s.bytes, s.size);
  }
}

void inputs_copy(Inputs *to, const Inputs *from) {
  inputs_pick(to, from, NULL);
}

const InputSource *inputs_named(const Inputs *in, const InputSource *arg) {
  for (size_t i = 0; arg->kind == INPUT_ARG && i < in->sources.len; i++) {
    const InputSource *file = &in->sources.items[i];
    if (file->kind == INPUT_FILE && strlen(file->key) == arg->size &&
        !memcmp(file->key, arg->bytes, arg->size))
      return file;
  }
  return NULL;
}

void inputs_resize(Inputs *in, size_t source, size_t n, uint8_t fill) {
  InputSource *s = &in->sources.items[source];
  s->bytes = mem_realloc(s->bytes, n + 1 + INPUT_SLACK);
  if (n > s->size)
    memset(s->bytes + s->size, fill, n - s->size);
  memset(s->bytes + n, 0, 1 + INPUT_SLACK);
  s->size = n;
}

void inputs_set(Inputs *in, size_t source, const void *bytes, size_t n) {
  InputKind kind = in->sources.items[source].kind;
  if (kind == INPUT_ARG || kind == INPUT_ENV)
    n = strnlen(bytes, n);
  inputs_resize(in, source, n, 0);
  if (n)
    memcpy(in->sources.items[source].bytes, bytes, n);
}

void inputs_release(Inputs *in) {
  for (size_t i = 0; i < in->sources.len; i++) {
    free(in->sources.items[i].name);
    free(in->sources.items[i].key);
    free(in->sources.items[i].bytes);
  }
  array_release(&in->sources);
}
