// Errors as values: see err.h.
#include "util/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(Err *err, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  // Through a copy, so that the old text may be an argument.
  char text[sizeof err->text];
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  memcpy(err->text, text, sizeof text);
  return -1;
}

int err_prefix(Err *err, const char *fmt, ...) {
  char head[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(head, sizeof head, fmt, ap);
  va_end(ap);
  return err_set(err, "%s: %s", head, err->text);
}
