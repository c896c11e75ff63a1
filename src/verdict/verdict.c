// Verdicts of tests that ran somewhere else: see verdict.h.
#include "verdict/verdict.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"
#include "verdict/files.h"

void verdicts_release(Verdicts *v) {
  array_release(&v->items);
  hashmap_release(&v->index);
  arena_release(&v->arena);
}

static const char *copy(Verdicts *v, const char *text) {
  return text ? arena_strdup(&v->arena, text) : NULL;
}

// Once more: passed and failed is flaky; skipped or in error says less than the
// other.
static Verdict both(Verdict a, Verdict b) {
  bool a_judged = a == VERDICT_PASS || a == VERDICT_FAIL;
  bool b_judged = b == VERDICT_PASS || b == VERDICT_FAIL;
  if (a == b || (a_judged && !b_judged && b != VERDICT_FLAKY))
    return a;
  if (b_judged && !a_judged && a != VERDICT_FLAKY)
    return b;
  return a_judged && b_judged                       ? VERDICT_FLAKY
         : a == VERDICT_FLAKY || b == VERDICT_FLAKY ? VERDICT_FLAKY
                                                    : VERDICT_ERROR;
}

void verdicts_add(Verdicts *v, const TestVerdict *t) {
  uint64_t i =
      hashmap_intern(&v->index, t->name, strlen(t->name), v->items.len);
  if (i < v->items.len) {
    TestVerdict *known = &v->items.items[i];
    known->verdict = both(known->verdict, t->verdict);
    if (!known->message)
      known->message = copy(v, t->message);
    if (!known->type)
      known->type = copy(v, t->type);
    return;
  }
  array_push(&v->items, (TestVerdict){.name = copy(v, t->name),
                                      .brief = copy(v, t->brief),
                                      .verdict = t->verdict,
                                      .type = copy(v, t->type),
                                      .message = copy(v, t->message),
                                      .seconds = t->seconds});
}

int verdict_word(const char *word, size_t n) {
  static const struct {
    const char *word;
    Verdict verdict;
  } words[] = {
      {"pass", VERDICT_PASS},    {"passed", VERDICT_PASS},
      {"ok", VERDICT_PASS},      {"success", VERDICT_PASS},
      {"fail", VERDICT_FAIL},    {"failed", VERDICT_FAIL},
      {"failure", VERDICT_FAIL}, {"xpass", VERDICT_FAIL},
      {"skip", VERDICT_SKIP},    {"skipped", VERDICT_SKIP},
      {"xfail", VERDICT_SKIP},   {"ignored", VERDICT_SKIP},
      {"error", VERDICT_ERROR},  {"flaky", VERDICT_FLAKY},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == n && !strncasecmp(word, words[i].word, n))
      return words[i].verdict;
  return -1;
}

// --- reading ---------------------------------------------------------------

static const VerdictFormat formats[] = {
    {"junit", junit_recognises, junit_read, "JUnit XML"},
    {"trs", trs_recognises, trs_read, "an automake .trs file"},
    {"tap", tap_recognises, tap_read, "TAP"},
    {"columns", columns_recognises, columns_read,
     "lines of a test's name and pass, fail or skip"},
};
enum { NFORMATS = sizeof formats / sizeof *formats };

const VerdictFormat *verdict_formats(size_t *n) {
  *n = NFORMATS;
  return formats;
}

// `test`: the name of a test that its file names.
static int read_file(Verdicts *v, const char *path, const char *test,
                     Err *err) {
  ImportFile in = {.path = path, .test = test};
  int rc = import_file_read(&in, err);
  for (int i = 0; !rc && i < NFORMATS; i++) {
    if (!formats[i].recognises(&in))
      continue;
    rc = formats[i].read(&in, v, err);
    break;
  }
  import_file_release(&in);
  return rc;
}

static int read_directory(Verdicts *v, const char *dir, Err *err) {
  static const char *const endings[] = {".trs", ".xml", ".tap", NULL};
  Arena arena = {0};
  Paths paths = {0};
  files_below(dir, endings, &arena, &paths);
  int rc = 0;
  if (!paths.len)
    rc = err_set(err, "%s: no .trs, .xml or .tap file in it", dir);
  for (size_t i = 0; !rc && i < paths.len; i++)
    rc = read_file(v, paths.items[i], path_below(paths.items[i], dir), err);
  array_release(&paths);
  arena_release(&arena);
  return rc;
}

int verdicts_read(Verdicts *v, const char *path, Err *err) {
  size_t before = v->items.len;
  int rc = is_directory(path) ? read_directory(v, path, err)
                              : read_file(v, path, path, err);
  if (!rc && v->items.len == before)
    rc = err_set(err, "%s: no verdict of any test in it", path);
  return rc;
}

// --- finding ---------------------------------------------------------------

enum { SEVERAL = -2 }; // in a level: more than one verdict has this name

// "a.b::c[1]" -> "a_b_c_1"; a run of other characters is one "_".
static void add_plain(Str *out, const char *name) {
  for (; *name; name++) {
    if (isalnum((unsigned char)*name) || *name & 0x80)
      str_addc(out, *name);
    else if (out->len && out->data[out->len - 1] != '_')
      str_addc(out, '_');
  }
  while (out->len && out->data[out->len - 1] == '_')
    out->data[--out->len] = '\0';
}

static void put(Hashmap *level, const char *name, size_t n, size_t item) {
  if (hashmap_intern(level, name, n, item) != item)
    hashmap_put(level, name, n, (uint64_t)SEVERAL);
}

static void put_plain(Hashmap *level, const char *name, size_t item, Str *key) {
  str_clear(key);
  add_plain(key, name);
  if (key->len)
    put(level, key->data, key->len, item);
}

void finder_init(VerdictFinder *f, const Verdicts *v) {
  *f = (VerdictFinder){.verdicts = v, .used = mem_array(bool, v->items.len)};
  Str key = {0};
  for (size_t i = 0; i < v->items.len; i++) {
    const TestVerdict *t = &v->items.items[i];
    put(&f->levels[0], t->name, strlen(t->name), i);
    put_plain(&f->levels[2], t->name, i, &key);
    if (!t->brief)
      continue;
    put(&f->levels[1], t->brief, strlen(t->brief), i);
    put_plain(&f->levels[3], t->brief, i, &key);
  }
  str_release(&key);
}

void finder_release(VerdictFinder *f) {
  for (int i = 0; i < 4; i++)
    hashmap_release(&f->levels[i]);
  free(f->used);
}

const TestVerdict *finder_find(VerdictFinder *f, const char *test,
                               bool *ambiguous) {
  Str plain = {0};
  add_plain(&plain, test);
  uint64_t item = 0;
  bool found = false;
  for (int i = 0; i < 4 && !found; i++) {
    const char *name = i < 2 ? test : str_text(&plain);
    found = hashmap_get(&f->levels[i], name, strlen(name), &item);
  }
  str_release(&plain);
  *ambiguous = found && item == (uint64_t)SEVERAL;
  if (!found || *ambiguous)
    return NULL;
  f->used[item] = true;
  return &f->verdicts->items.items[item];
}
