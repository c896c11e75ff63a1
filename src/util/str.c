// A string that grows: see str.h.
#include "util/str.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static void reserve(Str *s, size_t n) {
  size_t need = s->len + n + 1;
  if (need <= s->cap)
    return;
  size_t cap = s->cap ? s->cap * 2 : 32;
  s->cap = cap < need ? need : cap;
  s->data = mem_realloc(s->data, s->cap);
}

void str_addn(Str *s, const void *bytes, size_t n) {
  reserve(s, n);
  if (n)
    memcpy(s->data + s->len, bytes, n);
  s->len += n;
  s->data[s->len] = '\0';
}

void str_add(Str *s, const char *text) { str_addn(s, text, strlen(text)); }

void str_addc(Str *s, char c) { str_addn(s, &c, 1); }

void str_addf(Str *s, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n > 0) {
    reserve(s, (size_t)n);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
    s->len += (size_t)n;
  }
  va_end(again);
}

void str_squeeze_digits(Str *s) {
  size_t to = 0;
  for (size_t i = 0; i < s->len; i++) {
    bool digit = s->data[i] >= '0' && s->data[i] <= '9';
    if (!digit || !to || s->data[to - 1] != '0')
      s->data[to++] = digit ? '0' : s->data[i];
  }
  s->len = to;
  if (s->data)
    s->data[to] = '\0';
}

void str_clear(Str *s) {
  s->len = 0;
  if (s->data)
    s->data[0] = '\0';
}

void str_release(Str *s) {
  free(s->data);
  *s = (Str){0};
}

char *str_take(Str *s) {
  char *data = s->data ? s->data : mem_strdup("");
  *s = (Str){0};
  return data;
}

const char *str_text(const Str *s) { return s->data ? s->data : ""; }

bool text_starts(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

int text_hex(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= ' ';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_holds_any(const char *text, const char *const *words) {
  for (; *words; words++)
    if (strcasestr(text, *words))
      return true;
  return false;
}

bool text_is_one_of(const char *text, const char *const *words) {
  while (*words && strcmp(text, *words) != 0)
    words++;
  return *words;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool text_calls(const char *text, const char *function) {
  size_t n = strlen(function);
  for (const char *p = text; (p = strstr(p, function)); p++)
    if (p[n] == '(' && (p == text || !is_name(p[-1])))
      return true;
  return false;
}

bool text_starts_one_of(const char *text, const char *const *words) {
  while (*words && !text_starts(text, *words))
    words++;
  return *words;
}

bool text_ends(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

const char *plural(size_t n) { return n == 1 ? "" : "s"; }

const char *verb_s(size_t n) { return n == 1 ? "s" : ""; }

// --- slips ------------------------------------------------------------------

enum { LETTERS = 63 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t text_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  size_t rows[3][LETTERS + 2]; // of the table of distances: the last three
  if (n > LETTERS || m > LETTERS)
    return n > m ? n : m;
  for (size_t j = 0; j <= m; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *now = rows[i % 3], *last = rows[(i - 1) % 3];
    const size_t *before = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= m; j++) {
      now[j] = least(least(last[j], now[j - 1]) + 1,
                     last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = least(now[j], before[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

bool text_is_slip(const char *word, const char *known) {
  return text_distance(word, known) <= 1 + strlen(known) / 5;
}
