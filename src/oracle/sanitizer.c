// Recognises the reports of the sanitizers: see sanitizer.h.
//
// Lines are looked at one by one; a report opened by an ERROR or WARNING line
// is closed by its SUMMARY line, the next report, or the end. Its place is the
// first stack frame in the user's own code: the summary of an overflow in
// strcpy names strcpy's interceptor.
#include "oracle/sanitizer.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/failure.h"
#include "util/fs.h"
#include "util/str.h"

typedef struct {
  Run *run;
  const char *root;
  size_t found;
  bool open; // inside a report
  Str kind, function, place;
} Scanner;

// Numbers and addresses become N: they differ from run to run.
static void add_stable(Str *out, const char *text, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t word = 0;
    bool digit = isdigit((unsigned char)text[i]);
    while (digit && i + word < n && isalnum((unsigned char)text[i + word]))
      word++;
    if (digit)
      str_addc(out, 'N');
    else
      str_addc(out, text[i]);
    i += digit ? word : 1;
  }
}

// Length of the ":NUMBER" that ends at text[n]; 0: there is none.
static size_t number_before(const char *text, size_t n) {
  size_t i = n;
  while (i && isdigit((unsigned char)text[i - 1]))
    i--;
  return i < n && i > 1 && text[i - 1] == ':' ? n - i + 1 : 0;
}

// Length of FILE:LINE in "FILE:LINE" or "FILE:LINE:COLUMN" (n bytes); 0: it is
// neither.
static size_t find_place(const char *text, size_t n) {
  size_t last = number_before(text, n);
  size_t before = last ? number_before(text, n - last) : 0;
  return before ? n - last : last ? n : 0;
}

static void set_place(Scanner *s, const char *text, size_t n) {
  size_t len = find_place(text, n);
  str_clear(&s->place);
  if (!len)
    return;
  str_addn(&s->place, text, len);
  const char *below = path_below(s->place.data, s->root);
  if (below != s->place.data) {
    char *copy = strdup(below);
    str_clear(&s->place);
    str_add(&s->place, copy);
    free(copy);
  }
}

// One line often breaks several rules at once: the first report of a place is
// the failure.
static bool is_told(const Scanner *s) {
  for (size_t i = 0; s->place.len && i < s->run->failures.len; i++)
    if (!strcmp(s->run->failures.items[i].place, s->place.data))
      return true;
  return false;
}

static void emit(Scanner *s) {
  Str message = {0};
  str_add(&message, s->kind.len ? s->kind.data : "report");
  if (s->function.len)
    str_addf(&message, " in %s", s->function.data);
  if (s->place.len)
    str_addf(&message, " (%s)", s->place.data);
  if (s->found++ < SANITIZER_FAILURES_MAX && !is_told(s))
    failure_add(s->run, "sanitizer", str_text(&s->place), NULL, message.data);
  str_release(&message);
  str_clear(&s->kind);
  str_clear(&s->function);
  str_clear(&s->place);
  s->open = false;
}

// "FILE:LINE:COLUMN: runtime error: TEXT". Other programs print lines like it,
// but hardly with a column.
static void runtime_error_line(Scanner *s, const char *line) {
  static const char mark[] = ": runtime error: ";
  const char *at = strstr(line, mark);
  size_t n = at ? (size_t)(at - line) : 0;
  if (!find_place(line, n) || find_place(line, n) == n)
    return;
  if (s->open)
    emit(s);
  set_place(s, line, n);
  const char *text = at + strlen(mark);
  add_stable(&s->kind, text, strcspn(text, ":"));
  emit(s);
}

// The kind in "heap-buffer-overflow on address 0x..", "data race (pid=7)".
static void set_kind(Scanner *s, const char *text) {
  static const char *const ends[] = {" on ", " (", " 0x", ": "};
  size_t n = strlen(text);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const char *end = strstr(text, ends[i]);
    if (end && (size_t)(end - text) < n)
      n = (size_t)(end - text);
  }
  while (n && (text[n - 1] == ':' || text[n - 1] == '.'))
    n--;
  str_clear(&s->kind);
  if (n >= 8 && !memcmp(text, "detected", 8))
    str_add(&s->kind, "memory-leak");
  else
    add_stable(&s->kind, text, n);
}

// What follows "XSanitizer: " in a line that contains `word` before it.
static const char *after_name(const char *line, const char *word) {
  const char *at = strstr(line, word);
  const char *name = at ? strstr(at, "Sanitizer: ") : NULL;
  return name ? name + strlen("Sanitizer: ") : NULL;
}

static void head_line(Scanner *s, const char *line) {
  const char *text = after_name(line, "ERROR: ");
  if (!text)
    text = after_name(line, "WARNING: ");
  if (!text)
    return;
  if (s->open)
    emit(s);
  s->open = true;
  set_kind(s, text);
}

static bool is_foreign(const char *path) {
  static const char *const parts[] = {"sanitizer", "compiler-rt", "../sysdeps",
                                      "../csu",    "./csu",       "nptl/"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(path, parts[i]))
      return true;
  return false;
}

// "#0 0x55d1 in copy /src/a.c:40:12" or, thread sanitizer, "#0 copy /src/a.c:4
// (prog+0x12)".
static void frame_line(Scanner *s, const char *line) {
  const char *at = line + strspn(line, " ");
  if (*at != '#' || s->place.len || is_foreign(at))
    return;
  at += strcspn(at, " ");
  at += strspn(at, " ");
  if (text_starts(at, "0x")) {
    const char *in = strstr(at, " in ");
    if (!in)
      return;
    at = in + strlen(" in ");
  }
  size_t name = strcspn(at, " (");
  const char *path = at + strcspn(at, " ");
  path += strspn(path, " ");
  const char *extra = strstr(path, " (");
  set_place(s, path, extra ? (size_t)(extra - path) : strlen(path));
  if (!s->place.len)
    return;
  str_clear(&s->function);
  str_addn(&s->function, at, name);
}

// "SUMMARY: XSanitizer: KIND PLACE in FUNCTION"
static bool summary_line(Scanner *s, const char *line) {
  const char *text = after_name(line, "SUMMARY: ");
  if (!text)
    return false;
  if (!s->open) {
    if (s->found) // already told by "runtime error:"
      return true;
    set_kind(s, text);
  }
  if (strstr(text, "leaked in")) {
    str_clear(&s->kind);
    str_add(&s->kind, "memory-leak");
    emit(s);
    return true;
  }
  const char *in = strstr(text, " in ");
  size_t n = in ? (size_t)(in - text) : strlen(text);
  size_t kind = strcspn(text, " ");
  if (text_starts(text, "data race"))
    kind = strlen("data race");
  str_clear(&s->kind);
  add_stable(&s->kind, text, kind);
  if (!s->place.len && kind < n && text[kind + 1] != '(') {
    set_place(s, text + kind + 1, n - kind - 1);
    if (is_foreign(str_text(&s->place)))
      str_clear(&s->place);
  }
  if (!s->function.len && in)
    str_addn(&s->function, in + 4, strcspn(in + 4, " ("));
  emit(s);
  return true;
}

static void look_at_line(Scanner *s, char *line) {
  line[strcspn(line, "\r\n")] = '\0';
  if (s->open && strchr(line, '#'))
    frame_line(s, line);
  if (strstr(line, "Sanitizer: ")) {
    if (!summary_line(s, line))
      head_line(s, line);
  } else if (strstr(line, "runtime error: ")) {
    runtime_error_line(s, line);
  }
}

bool sanitizer_scan(const char *file, const char *root, Run *run) {
  Err ignored;
  int fd = fs_open_regular(AT_FDCWD, file, false, &ignored);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
  if (!f)
    return false;
  Scanner s = {.run = run, .root = root};
  char line[4096]; // of a longer line, the parts
  while (fgets(line, sizeof line, f))
    look_at_line(&s, line);
  if (s.open)
    emit(&s);
  fclose(f);
  str_release(&s.kind);
  str_release(&s.function);
  str_release(&s.place);
  return s.found > 0;
}
