// Allocation that cannot fail: see mem.h.
#include "util/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p) {
  if (!p) {
    fputs("culprit: out of memory\n", stderr);
    exit(3);
  }
  return p;
}

void *mem_alloc(size_t size) { return or_die(calloc(1, size ? size : 1)); }

void *mem_alloc_array(size_t n, size_t size) {
  if (size && n > SIZE_MAX / size)
    or_die(NULL);
  return mem_alloc(n * size);
}

void *mem_realloc(void *p, size_t size) {
  return or_die(realloc(p, size ? size : 1));
}

void *mem_dup(const void *p, size_t size) {
  void *q = mem_alloc(size);
  if (size)
    memcpy(q, p, size);
  return q;
}

char *mem_strdup(const char *s) { return mem_dup(s, strlen(s) + 1); }

char *mem_printf(const char *fmt, ...) {
  char *s = NULL;
  va_list ap;
  va_start(ap, fmt);
  int n = vasprintf(&s, fmt, ap);
  va_end(ap);
  return or_die(n < 0 ? NULL : s);
}
