// Verdicts from TAP, the Test Anything Protocol.
//
//   1..3
//   ok 1 - adds
//   not ok 2 - divides # TODO later
//   ok 3 # SKIP no network
//
// A test's name is its description, without one its number; its number is its
// short name. "not ok # TODO" is an expected failure: it does not count.
// Subtests (indented) are summed up by the line that follows them. Lines that
// are not TAP are what the tests printed.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "verdict/verdict.h"

typedef struct {
  const ImportFile *in;
  Verdicts *out;
  Lines lines;
  bool has_plan, bailed_out;
  unsigned long planned, seen;
} Reader;

// "1..3", with or without a comment
static bool parse_plan(const char *line, unsigned long *n) {
  if (!text_starts(line, "1..") || !isdigit((unsigned char)line[3]))
    return false;
  char *end;
  *n = strtoul(line + 3, &end, 10);
  end += strspn(end, " \t");
  return !*end || *end == '#';
}

// "ok", "not ok", then nothing or a blank; *rest is behind it.
static bool parse_result(const char *line, bool *ok, const char **rest) {
  *ok = !text_starts(line, "not ");
  line += *ok ? 0 : 4;
  *rest = line + 2;
  return text_starts(line, "ok") &&
         (!line[2] || isspace((unsigned char)line[2]));
}

bool tap_recognises(const ImportFile *in) {
  Lines lines = {.in = in};
  Err ignored;
  bool found = false;
  while (!found && lines_next(&lines, &ignored) > 0) {
    const char *line = lines.text.data, *rest;
    unsigned long n;
    bool ok;
    found = text_starts(line, "TAP version ") || parse_plan(line, &n) ||
            (parse_result(line, &ok, &rest) &&
             isdigit((unsigned char)rest[strspn(rest, " \t")]));
  }
  lines_release(&lines);
  return found;
}

// Cuts "# SKIP ..." or "# TODO ..." off; returns the letter it begins with, or
// 0. A backslash takes the meaning of # away.
static char cut_directive(char *text) {
  for (char *p = text; (p = strchr(p, '#')); p++) {
    if (p > text && p[-1] == '\\')
      continue;
    const char *word = p + 1 + strspn(p + 1, " \t");
    bool skip = !strncasecmp(word, "skip", 4);
    if (!skip && strncasecmp(word, "todo", 4) != 0)
      continue;
    *p = '\0';
    return skip ? 'S' : 'T';
  }
  return 0;
}

static char *trim(char *text) {
  text += strspn(text, " \t");
  if (text_starts(text, "- "))
    text += 2 + strspn(text + 2, " \t");
  size_t n = strlen(text);
  while (n && isspace((unsigned char)text[n - 1]))
    text[--n] = '\0';
  return text;
}

static int read_result(Reader *r, bool ok, const char *rest, Err *err) {
  char *text = mem_strdup(rest + strspn(rest, " \t")), *end = text;
  unsigned long number = r->seen;
  if (isdigit((unsigned char)*text))
    number = strtoul(text, &end, 10);
  char number_text[24];
  snprintf(number_text, sizeof number_text, "%lu", number);
  int rc = 0;
  if (number != r->seen)
    rc = import_file_fail(
        r->in, r->lines.number, err,
        "test %lu comes where test %lu should: lines are missing", number,
        r->seen);
  char directive = cut_directive(end);
  const char *name = trim(end);
  TestVerdict t = {.name = *name ? name : number_text,
                   .brief = *name ? number_text : NULL,
                   .verdict = directive == 'S' || (directive == 'T' && !ok)
                                  ? VERDICT_SKIP
                              : ok ? VERDICT_PASS
                                   : VERDICT_FAIL};
  if (!rc)
    verdicts_add(r->out, &t);
  free(text);
  return rc;
}

static int read_line(Reader *r, Err *err) {
  const char *line = r->lines.text.data, *rest;
  unsigned long n;
  bool ok;
  if (parse_plan(line, &n)) {
    r->has_plan = true;
    r->planned = n;
  } else if (parse_result(line, &ok, &rest)) {
    r->seen++;
    return read_result(r, ok, rest, err);
  } else if (text_starts(line, "Bail out!")) {
    r->bailed_out = true;
  }
  return 0;
}

int tap_read(const ImportFile *in, Verdicts *out, Err *err) {
  Reader r = {.in = in, .out = out, .lines = {.in = in}};
  int rc;
  while ((rc = lines_next(&r.lines, err)) > 0)
    if (read_line(&r, err)) {
      rc = -1;
      break;
    }
  if (!rc && r.has_plan && r.planned != r.seen && !r.bailed_out)
    rc = import_file_fail(in, r.lines.number, err,
                          "cut off? It promises %lu tests (1..%lu) and has %lu",
                          r.planned, r.planned, r.seen);
  lines_release(&r.lines);
  return rc;
}
