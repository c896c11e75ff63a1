// Text from outside as it may be shown: see escape.h.
#include "util/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The character at `s`, and its length, 0 if it is not valid UTF-8 (overlong
// forms, surrogates and what lies beyond U+10FFFF included).
static size_t decode(const char *s, size_t n, uint32_t *c) {
  const unsigned char *p = (const unsigned char *)s;
  size_t len = p[0] < 0x80   ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;
  if (!len || len > n)
    return 0;
  *c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
  for (size_t i = 1; i < len; i++) {
    if ((p[i] & 0xc0) != 0x80)
      return 0;
    *c = *c << 6 | (p[i] & 0x3f);
  }
  bool overlong = (len == 3 && *c < 0x800) || (len == 4 && *c < 0x10000);
  bool surrogate = *c >= 0xd800 && *c < 0xe000;
  return overlong || surrogate || *c > 0x10ffff ? 0 : len;
}

size_t utf8_length(const char *s, size_t n) {
  uint32_t c;
  return n ? decode(s, n, &c) : 0;
}

static bool is_harmful(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) ||
         (c >= 0x200b && c <= 0x200f) || // zero width, direction marks
         (c >= 0x2028 && c <= 0x202e) || // line separators, embeddings
         (c >= 0x2066 && c <= 0x2069) || // isolates
         c == 0xfeff;
}

Glyph glyph_at(const char *s, size_t n) {
  Glyph g = {.bytes = 1, .width = 1};
  uint32_t c = 0;
  size_t len = decode(s, n, &c);
  if (len && !is_harmful(c)) {
    g.bytes = len;
    memcpy(g.text, s, len);
    return g;
  }
  int width;
  if (len > 1) {
    g.bytes = len;
    width = snprintf(g.text, sizeof g.text, "<U+%04X>", (unsigned)c);
  } else {
    width = snprintf(g.text, sizeof g.text, "\\x%02x", (unsigned char)*s);
  }
  g.width = (size_t)width;
  return g;
}

// `keep`: characters that stay as they are.
static void add_escaped(Str *out, const char *text, const char *keep) {
  size_t n = strlen(text);
  for (size_t i = 0; i < n;) {
    Glyph g = glyph_at(text + i, n - i);
    if (strchr(keep, text[i]))
      str_addc(out, text[i]);
    else
      str_add(out, g.text);
    i += g.bytes;
  }
}

void escape_add(Str *out, const char *text) { add_escaped(out, text, ""); }

void escape_vprintf(FILE *out, const char *fmt, va_list ap) {
  char *text;
  Str shown = {0};
  if (vasprintf(&text, fmt, ap) < 0)
    return;
  add_escaped(&shown, text, "\n\t");
  fputs(str_text(&shown), out);
  str_release(&shown);
  free(text);
}

void escape_printf(FILE *out, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  escape_vprintf(out, fmt, ap);
  va_end(ap);
}
