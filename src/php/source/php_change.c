// Experiments on PHP scripts: see php_change.h.
#include "php/source/php_change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"

// Bytes of a file of tokens, and of a text.
enum { TOKENS_MOST = 64 << 20, TEXT_MOST = 16 << 20 };

static int write_change(const char *path, const PhpChange *c, uint64_t steps,
                        Err *err) {
  PhpChangeHeader h = {.magic = PHP_CHANGE_MAGIC,
                       .hash = c->hash,
                       .steps = steps,
                       .offset = c->offset,
                       .length = c->length,
                       .path_length = (uint32_t)strlen(c->path),
                       .text_length = (uint32_t)strlen(c->with)};
  Str out = {0};
  str_addn(&out, &h, sizeof h);
  str_add(&out, c->path);
  str_add(&out, c->with);
  int rc = fs_write(path, out.data, out.len, err);
  str_release(&out);
  return rc;
}

int php_change_set(const char *dir, const PhpChange *c, uint64_t steps,
                   Err *err) {
  char *path = mem_printf("%s/%s", dir, PHP_CHANGE_FILE);
  int rc = 0;
  if (c)
    rc = write_change(path, c, steps, err);
  else if (unlink(path) && errno != ENOENT)
    rc = err_set(err, "%s: %s", path, strerror(errno));
  free(path);
  return rc;
}

static bool are_tokens(const PhpToken *list, size_t n, size_t size) {
  size_t end = 0;
  for (size_t i = 0; i < n; i++) {
    if (list[i].offset < end || list[i].length > size ||
        list[i].offset > size - list[i].length || list[i].kind >= TOKEN_KINDS)
      return false;
    end = list[i].offset + list[i].length;
  }
  return true;
}

int php_tokens_read(const char *maps, uint64_t hash, size_t size,
                    PhpTokens *out, Err *err) {
  char *path = mem_printf("%s/%016llx.tokens", maps, (unsigned long long)hash);
  Str data = {0};
  *out = (PhpTokens){0};
  int rc = fs_read_regular(path, TOKENS_MOST, &data, err);
  size_t n = data.len / sizeof *out->items;
  if (!rc) {
    array_reserve(out, n + 1);
    if (n)
      memcpy(out->items, data.data, n * sizeof *out->items);
    out->len = n;
    if (data.len % sizeof *out->items || !are_tokens(out->items, n, size))
      rc = err_set(err, "%s: not a list of tokens", path);
  }
  if (rc)
    array_release(out);
  str_release(&data);
  free(path);
  return rc;
}

int php_text_read(const char *maps, uint64_t hash, Str *text, PhpTokens *tokens,
                  Err *err) {
  char *path = mem_printf("%s/%016llx.text", maps, (unsigned long long)hash);
  int rc = fs_read_regular(path, TEXT_MOST, text, err);
  if (!rc)
    rc = php_tokens_read(maps, hash, text->len, tokens, err);
  free(path);
  return rc;
}
