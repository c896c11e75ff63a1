// Writing JSON as it comes: see json_out.h.
#include "report/json_out.h"

#include <stdlib.h>
#include <string.h>

#include "util/escape.h"

// How many of the n bytes at `s` need no escape.
static size_t plain_length(const char *s, size_t n) {
  size_t i = 0;
  while (i < n && s[i] != '"' && s[i] != '\\' && (unsigned char)s[i] >= 0x20 &&
         s[i] != 0x7f) {
    size_t len = utf8_length(s + i, n - i);
    if (!len)
      break;
    i += len;
  }
  return i;
}

void json_string(const char *s, FILE *out) {
  const char *end = s + strlen(s);
  fputc('"', out);
  while (s < end) {
    size_t plain = plain_length(s, (size_t)(end - s));
    fwrite(s, 1, plain, out);
    s += plain;
    if (s == end)
      break;
    unsigned char c = (unsigned char)*s++;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < 0x80)
      fprintf(out, "\\u%04x", c);
    else
      fputs("\\ufffd", out);
  }
  fputc('"', out);
}

// The shortest form that reads back as the same number.
void json_number(double x, FILE *out) {
  char text[32];
  int digits = 14;
  do
    snprintf(text, sizeof text, "%.*g", ++digits, x);
  while (digits < 17 && strtod(text, NULL) != x);
  fputs(text, out);
}

// A member of an object, other than the first.
void json_text(const char *key, const char *value, FILE *out) {
  fprintf(out, ",\"%s\":", key);
  json_string(value, out);
}

void json_double(const char *key, double value, FILE *out) {
  fprintf(out, ",\"%s\":", key);
  json_number(value, out);
}

void json_bool(const char *key, bool value, FILE *out) {
  fprintf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

void json_separator(bool *first, FILE *out) {
  if (!*first)
    fputc(',', out);
  *first = false;
}

void json_counts(uint32_t ef, uint32_t ep, RunCounts of, FILE *out) {
  if (of.failing)
    fprintf(out, ",\"ef\":%u,\"ep\":%u,\"failing\":%u,\"passing\":%u", ef, ep,
            of.failing, of.passing);
}

void json_close(const Ranking *r, FILE *out) {
  if (r->close.failing || r->close.passing)
    fprintf(out, ",\"close\":{\"failing\":%u,\"passing\":%u}", r->close.failing,
            r->close.passing);
}

void json_evidence(const Evidence *items, size_t n, FILE *out) {
  for (size_t i = 0; i < n; i++) {
    fputs(i ? ",{\"kind\":" : "{\"kind\":", out);
    json_string(items[i].kind, out);
    json_text("text", items[i].text, out);
    json_counts(items[i].ef, items[i].ep, items[i].of, out);
    fputc('}', out);
  }
}
