// A unified diff: see diff.h.
#include "patch/diff.h"

#include <stdbool.h>
#include <string.h>

#include "util/array.h"

enum { CONTEXT = 3 };

typedef struct {
  const char *text;
  size_t len; // with its line break, if it has one
} DiffLine;

typedef ARRAY(DiffLine) DiffLines;

static void split(const char *text, size_t len, DiffLines *out) {
  for (size_t at = 0; at < len;) {
    const char *end = memchr(text + at, '\n', len - at);
    size_t n = end ? (size_t)(end - (text + at)) + 1 : len - at;
    array_push(out, (DiffLine){text + at, n});
    at += n;
  }
}

static bool is_same(DiffLine a, DiffLine b) {
  return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

static void write_lines(char mark, const DiffLines *l, size_t from, size_t to,
                        Str *out) {
  for (size_t i = from; i < to; i++) {
    DiffLine line = l->items[i];
    str_addc(out, mark);
    str_addn(out, line.text, line.len);
    if (line.text[line.len - 1] != '\n')
      str_add(out, "\n\\ No newline at end of file\n");
  }
}

// Lines are counted from 1; no lines at all stand behind the line before.
static void write_range(char mark, size_t from, size_t to, Str *out) {
  str_addf(out, "%c%zu,%zu ", mark, from == to ? from : from + 1, to - from);
}

void diff_write(const char *path, const char *old, size_t old_len,
                const char *new, size_t new_len, Str *out) {
  DiffLines a = {0}, b = {0};
  split(old, old_len, &a);
  split(new, new_len, &b);
  size_t first = 0, last = 0; // equal lines at the beginning, at the end
  size_t most = a.len < b.len ? a.len : b.len;
  while (first < most && is_same(a.items[first], b.items[first]))
    first++;
  while (last < most - first &&
         is_same(a.items[a.len - 1 - last], b.items[b.len - 1 - last]))
    last++;
  if (first < a.len || first < b.len) {
    size_t from = first < CONTEXT ? 0 : first - CONTEXT;
    size_t behind = last < CONTEXT ? last : CONTEXT;
    str_addf(out, "--- a/%s\n+++ b/%s\n@@ ", path, path);
    write_range('-', from, a.len - last + behind, out);
    write_range('+', from, b.len - last + behind, out);
    str_add(out, "@@\n");
    write_lines(' ', &a, from, first, out);
    write_lines('-', &a, first, a.len - last, out);
    write_lines('+', &b, first, b.len - last, out);
    write_lines(' ', &a, a.len - last, a.len - last + behind, out);
  }
  array_release(&a);
  array_release(&b);
}
