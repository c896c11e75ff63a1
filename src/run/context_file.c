// How tests can be started once more, on disk: see context_file.h.
#include "run/context_file.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

static const char head[] = "culprit contexts 1\n";

static char *path_of(const char *dir, int64_t session) {
  return mem_printf("%s/contexts/%lld", dir, (long long)session);
}

int contexts_write(const TestContexts *list, const char *dir, int64_t session,
                   Err *err) {
  if (!list->len)
    return 0;
  Str text = {0};
  char *place = mem_printf("%s/contexts", dir), *path = path_of(dir, session);
  str_add(&text, head);
  for (size_t i = 0; i < list->len; i++) {
    const TestContext *t = &list->items[i];
    str_addf(&text, "%zu %zu\n", strlen(t->test), t->size);
    str_add(&text, t->test);
    str_addn(&text, t->text, t->size);
  }
  int rc = fs_mkdirs(place, err) || fs_write(path, text.data, text.len, err);
  str_release(&text);
  free(place);
  free(path);
  return rc ? -1 : 0;
}

// "12 345\n"
static bool take_sizes(const char **at, const char *end, size_t *name,
                       size_t *size) {
  size_t *numbers[] = {name, size};
  for (int i = 0; i < 2; i++) {
    const char *start = *at;
    *numbers[i] = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && *at - start < 10; ++*at)
      *numbers[i] = *numbers[i] * 10 + (size_t)(**at - '0');
    if (*at == start || *at == end || *(*at)++ != (i ? '\n' : ' '))
      return false;
  }
  return true;
}

int contexts_parse(TestContexts *out, const char *text, size_t size) {
  const char *at = text + sizeof head - 1, *end = text + size;
  if (size < sizeof head - 1 || memcmp(text, head, sizeof head - 1) != 0)
    return -1;
  while (at < end) {
    size_t name, n;
    if (!take_sizes(&at, end, &name, &n) || name > (size_t)(end - at) ||
        n > (size_t)(end - at) - name)
      return -1;
    TestContext t = {.test = mem_printf("%.*s", (int)name, at), .size = n};
    t.text = mem_alloc(n + 1);
    memcpy(t.text, at + name, n);
    array_push(out, t);
    at += name + n;
  }
  return 0;
}

int contexts_read(TestContexts *out, const char *dir, int64_t session,
                  Err *err) {
  char *path = path_of(dir, session);
  Str text = {0};
  int rc = 0;
  if (fs_exists(path)) {
    rc = fs_read(path, 0, &text, err);
    if (!rc && contexts_parse(out, str_text(&text), text.len))
      rc = err_set(err, "%s is damaged; remove it and run the tests again",
                   path);
  }
  str_release(&text);
  free(path);
  return rc;
}

void contexts_release(TestContexts *list) {
  for (size_t i = 0; i < list->len; i++) {
    free(list->items[i].test);
    free(list->items[i].text);
  }
  array_release(list);
}
