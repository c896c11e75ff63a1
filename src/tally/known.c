// Failures that were there before: see known.h.
#include "tally/known.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"

void known_release(KnownFailures *k) { hashmap_release(&k->names); }

bool known_is_session(const char *given) {
  return *given && !given[strspn(given, "0123456789")];
}

static void add(KnownFailures *k, const char *name, size_t n) {
  if (n)
    hashmap_put(&k->names, name, n, 1);
}

static int add_session(KnownFailures *k, int64_t session, Store *store,
                       Err *err) {
  Suite suite = {0};
  int rc = store_load(store, session, &suite, err);
  for (size_t i = 0; !rc && i < suite.nfailures; i++)
    add(k, suite.failures[i].signature, strlen(suite.failures[i].signature));
  suite_release(&suite);
  return rc;
}

static int add_json(KnownFailures *k, const char *path, const Str *text,
                    Err *err) {
  json_error_t e;
  json_t *root = json_loadb(text->data, text->len, 0, &e);
  if (!root)
    return err_set(err, "%s:%d:%d: malformed JSON: %s", path, e.line, e.column,
                   e.text);
  const json_t *failures = json_object_get(root, "failures");
  int rc = json_is_array(failures)
               ? 0
               : err_set(err,
                         "%s: no \"failures\" in it; give the output of "
                         "`culprit rank --json`",
                         path);
  for (size_t i = 0; i < json_array_size(failures); i++) {
    const json_t *s = json_object_get(json_array_get(failures, i), "signature");
    if (json_is_string(s))
      add(k, json_string_value(s), json_string_length(s));
  }
  json_decref(root);
  return rc;
}

static void add_lines(KnownFailures *k, char *text) {
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
    line += strspn(line, " \t");
    size_t n = strlen(line);
    while (n && strchr(" \t\r", line[n - 1]))
      n--;
    if (*line != '#')
      add(k, line, n);
  }
}

static int add_file(KnownFailures *k, const char *path, Err *err) {
  Str text = {0};
  if (fs_read(path, 0, &text, err))
    return -1;
  const char *start = str_text(&text);
  int rc = 0;
  if (start[strspn(start, " \t\r\n")] == '{')
    rc = add_json(k, path, &text, err);
  else if (text.len)
    add_lines(k, text.data);
  str_release(&text);
  return rc;
}

int known_load(KnownFailures *k, const char *given, Store *store, Err *err) {
  *k = (KnownFailures){0};
  return known_is_session(given)
             ? add_session(k, strtoll(given, NULL, 10), store, err)
             : add_file(k, given, err);
}

static bool has(const KnownFailures *k, const char *name) {
  uint64_t ignored;
  return hashmap_get(&k->names, name, strlen(name), &ignored);
}

static bool is_new(const FailureGroup *g, const RunInfo *run, const void *ctx) {
  return !has(ctx, g->signature) && !has(ctx, run->test);
}

// How many failures are known, at least of one test.
static size_t known_groups(const KnownFailures *k, const Suite *suite) {
  size_t n = 0;
  for (size_t i = 0; i < suite->nfailures; i++) {
    const FailureGroup *g = &suite->failures[i];
    bool known = false;
    for (size_t r = 0; r < g->nruns; r++)
      known |= !is_new(g, &suite->runs[g->runs[r]], k);
    n += known;
  }
  return n;
}

// How many tests show a failure of the suite.
static size_t failing_tests(const Suite *suite) {
  bool *fails = mem_array(bool, suite->nruns + 1);
  size_t n = 0;
  for (size_t i = 0; i < suite->nfailures; i++)
    for (size_t k = 0; k < suite->failures[i].nruns; k++) {
      bool *test = &fails[suite->failures[i].runs[k]];
      n += !*test;
      *test = true;
    }
  free(fails);
  return n;
}

KnownCounts known_set_aside(const KnownFailures *k, Suite *suite) {
  size_t before = failing_tests(suite);
  KnownCounts c = {.failures = known_groups(k, suite)};
  suite_filter_failures(suite, is_new, k);
  c.tests = before - failing_tests(suite);
  return c;
}
