// Verdicts from a plain text file: a name and a verdict a line.
//
//   # name        verdict
//   t1            pass
//   rounds up     fail
//
// The verdict is the last word: names may have blanks. Blank lines and lines
// that begin with # are skipped.
#include <ctype.h>
#include <string.h>

#include "verdict/verdict.h"

bool columns_recognises(const ImportFile *in) {
  (void)in;
  return true;
}

static size_t trimmed(const char *text, size_t n) {
  while (n && isspace((unsigned char)text[n - 1]))
    n--;
  return n;
}

static int read_line(const Lines *l, Verdicts *out, Err *err) {
  const char *line = l->text.data + strspn(l->text.data, " \t");
  size_t n = trimmed(line, strlen(line)), word = n;
  if (!n || *line == '#')
    return 0;
  while (word && !isspace((unsigned char)line[word - 1]))
    word--;
  int verdict = verdict_word(line + word, n - word);
  if (!word)
    return import_file_fail(
        l->in, l->number, err,
        "'%.60s': should be the name of a test and pass or fail", line);
  if (verdict < 0)
    return import_file_fail(
        l->in, l->number, err,
        "'%.*s' is no verdict: pass, fail, skip, flaky or error",
        (int)(n - word < 60 ? n - word : 60), line + word);
  TestVerdict t = {.name =
                       arena_strndup(&out->arena, line, trimmed(line, word)),
                   .verdict = (Verdict)verdict};
  verdicts_add(out, &t);
  return 0;
}

int columns_read(const ImportFile *in, Verdicts *out, Err *err) {
  Lines lines = {.in = in};
  int rc;
  while ((rc = lines_next(&lines, err)) > 0)
    if (read_line(&lines, out, err)) {
      rc = -1;
      break;
    }
  lines_release(&lines);
  return rc;
}
