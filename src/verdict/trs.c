// Verdicts from automake's .trs files: one per test, named after it.
//
//   :test-result: FAIL         one per subtest, if the test has some
//   :global-test-result: FAIL  of the test as a whole, if it says so
//   :recheck: yes
//
// XFAIL does not count, XPASS fails, as in `culprit run`.
#include <ctype.h>
#include <string.h>

#include "util/fs.h"
#include "verdict/verdict.h"

// The text behind ":field:" if the line is one; else NULL.
static const char *field(const char *line, const char *name) {
  line += strspn(line, " \t");
  if (!text_starts(line, name))
    return NULL;
  line += strlen(name);
  return line + strspn(line, " \t");
}

bool trs_recognises(const ImportFile *in) {
  if (text_ends(in->path, ".trs"))
    return true;
  Lines lines = {.in = in};
  Err ignored;
  bool found = false;
  while (!found && lines_next(&lines, &ignored) > 0)
    found = field(lines.text.data, ":test-result:") ||
            field(lines.text.data, ":global-test-result:");
  lines_release(&lines);
  return found;
}

// Of the subtests: failing beats error beats passing beats skipped.
static Verdict worse(Verdict a, Verdict b) {
  static const int weight[VERDICTS] = {[VERDICT_SKIP] = 0,
                                       [VERDICT_PASS] = 1,
                                       [VERDICT_FLAKY] = 2,
                                       [VERDICT_ERROR] = 3,
                                       [VERDICT_FAIL] = 4};
  return weight[a] > weight[b] ? a : b;
}

typedef struct {
  bool has_verdict, global;
  Verdict verdict;
} Result;

static int read_line(const Lines *l, Result *r, Err *err) {
  const char *global = field(l->text.data, ":global-test-result:");
  const char *word = global ? global : field(l->text.data, ":test-result:");
  if (!word || (r->global && !global))
    return 0;
  size_t n = 0;
  while (isalpha((unsigned char)word[n]))
    n++;
  int verdict = verdict_word(word, n);
  if (verdict < 0)
    return import_file_fail(l->in, l->number, err, "'%.40s' is no test result",
                            word);
  Verdict v = (Verdict)verdict;
  r->verdict = !r->has_verdict || global ? v : worse(r->verdict, v);
  r->has_verdict = true;
  r->global |= global != NULL;
  return 0;
}

static void add(const ImportFile *in, const Result *r, Verdicts *out) {
  char *name = mem_strdup(in->test);
  size_t n = strlen(name);
  if (n > 4 && text_ends(name, ".trs"))
    name[n - 4] = '\0';
  const char *base = path_base(name);
  TestVerdict t = {.name = name,
                   .brief = base != name && *base ? base : NULL,
                   .verdict = r->verdict};
  verdicts_add(out, &t);
  free(name);
}

int trs_read(const ImportFile *in, Verdicts *out, Err *err) {
  Lines lines = {.in = in};
  Result result = {0};
  int rc;
  while ((rc = lines_next(&lines, err)) > 0)
    if (read_line(&lines, &result, err)) {
      rc = -1;
      break;
    }
  lines_release(&lines);
  if (!rc && !result.has_verdict)
    rc = import_file_fail(in, 0, err, "no :test-result: in it");
  if (!rc)
    add(in, &result, out);
  return rc;
}
