// Judging a test by its runner's own rules: see rules.h.
#include "oracle/rules.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/failure.h"
#include "oracle/kinds.h"
#include "util/fs.h"
#include "util/mem.h"
#include "verdict/verdict.h"

enum { OUTPUT_MOST = 16 << 20 }; // bytes that are searched

// --- the exit status --------------------------------------------------------

// How many checks of a test program failed, which is what frameworks end with,
// does not tell one failure from another.
static void fail_by_status(const Trial *t, Run *run) {
  run->verdict = VERDICT_FAIL;
  char what[64];
  snprintf(what, sizeof what, "exit status %d", t->outcome->status);
  failure_add_status(run, t, what, "exit status not 0");
}

static void judge_status(const TestRules *rules, const Trial *t, Run *run) {
  int status = t->outcome->status;
  if (rules->will_fail && !status) {
    run->verdict = VERDICT_FAIL;
    failure_add(run, "exit", "", NULL,
                "passes but is expected to fail (exit status 0)");
  } else if (status && !rules->will_fail) {
    fail_by_status(t, run);
  } else {
    run->verdict = VERDICT_PASS;
  }
}

// --- the output -------------------------------------------------------------

// The first of the expressions that matches; NULL: none does. One that is no
// extended regular expression is searched for as it stands.
static const char *find_match(char *const *patterns, const char *text) {
  for (; patterns && *patterns; patterns++) {
    regex_t re;
    if (regcomp(&re, *patterns, REG_EXTENDED | REG_NOSUB)) {
      if (strstr(text, *patterns))
        return *patterns;
      continue;
    }
    bool found = !regexec(&re, text, 0, NULL, 0);
    regfree(&re);
    if (found)
      return *patterns;
  }
  return NULL;
}

static int read_output(const Trial *t, Str *out, Err *err) {
  if (fs_read(t->out, OUTPUT_MOST, out, err))
    return -1;
  if (t->merged)
    return 0;
  return fs_read(t->err, OUTPUT_MOST, out, err);
}

static void fail_by_output(Run *run, const char *fmt, const char *what) {
  char message[2200];
  snprintf(message, sizeof message, fmt, what);
  run->verdict = VERDICT_FAIL;
  failure_add(run, "output", "", NULL, message);
}

// True: the output decides.
static bool judge_text(const TestRules *rules, const char *text, Run *run) {
  const char *bad = find_match(rules->fail, text);
  if (find_match(rules->skip, text)) {
    run->verdict = VERDICT_SKIP;
  } else if (rules->will_fail && (bad || rules->pass)) {
    bool failed = bad || !find_match(rules->pass, text);
    run->verdict = VERDICT_PASS;
    if (!failed)
      fail_by_output(run, "%s", "passes, and is expected to fail");
  } else if (bad) {
    fail_by_output(run, "its output has what it must not have: %s", bad);
  } else if (rules->pass && !find_match(rules->pass, text)) {
    fail_by_output(run, "its output has nothing like: %s", rules->pass[0]);
  } else if (rules->pass) {
    run->verdict = VERDICT_PASS;
  } else {
    return false;
  }
  return true;
}

// --- TAP --------------------------------------------------------------------

static void add_tap_failure(Run *run, const Trial *t, const TestVerdict *v) {
  Str message = {0};
  str_addf(&message, "not ok: %s", v->name);
  failure_add_exit(run, t->root, NULL, message.data);
  run->verdict = VERDICT_FAIL;
  str_release(&message);
}

static void judge_tap_lines(const Verdicts *v, const Trial *t, Run *run) {
  size_t skipped = 0;
  run->verdict = VERDICT_PASS;
  for (size_t i = 0; i < v->items.len; i++) {
    const TestVerdict *item = &v->items.items[i];
    skipped += item->verdict == VERDICT_SKIP;
    if (item->verdict == VERDICT_FAIL || item->verdict == VERDICT_FLAKY)
      add_tap_failure(run, t, item);
  }
  if (run->verdict == VERDICT_FAIL)
    return;
  if (t->outcome->status)
    fail_by_status(t, run);
  else if (skipped == v->items.len)
    run->verdict = VERDICT_SKIP;
}

static int judge_tap(const Trial *t, Run *run, Err *err) {
  ImportFile in = {.path = t->test, .test = t->test};
  Verdicts v = {0};
  Err why = {0};
  if (fs_read(t->out, 0, &in.text, err))
    return -1;
  if (!in.text.len)
    str_add(&in.text, "\n");
  if (tap_read(&in, &v, &why)) {
    fail_by_output(run, "its TAP is incomplete: %s", why.text);
  } else {
    judge_tap_lines(&v, t, run);
  }
  verdicts_release(&v);
  import_file_release(&in);
  return 0;
}

// --- all --------------------------------------------------------------------

int rules_judge(const TestRules *rules, const Trial *t, Run *run, Err *err) {
  int status = t->outcome->status;
  if (status == rules->skip_status && rules->skip_status >= 0) {
    run->verdict = VERDICT_SKIP;
    return 0;
  }
  if (status == rules->error_status && rules->error_status >= 0) {
    run->verdict = VERDICT_ERROR;
    run_add_note(run, "the test skipped itself (exit status %d)", status);
    return 0;
  }
  if (rules->tap)
    return judge_tap(t, run, err);
  if (rules->pass || rules->fail || rules->skip) {
    Str text = {0};
    int rc = read_output(t, &text, err);
    bool decided = !rc && judge_text(rules, str_text(&text), run);
    str_release(&text);
    if (rc || decided)
      return rc;
  }
  judge_status(rules, t, run);
  return 0;
}
