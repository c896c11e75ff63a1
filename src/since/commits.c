// Finds the commit after which tests fail: see commits.h.
#include "since/commits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/testcode.h"
#include "util/fs.h"
#include "util/mem.h"

enum { CONFIRMATIONS = 2 }; // runs more at the good version

// --- names -------------------------------------------------------------------

static void set_name(char to[OID_SIZE], const char *oid) {
  *stpncpy(to, oid, OID_SIZE - 1) = 0;
}

static void add_name(CommitNames *list, const char *oid) {
  CommitName n;
  set_name(n.oid, oid);
  array_push(list, n);
}

static bool has_name(const CommitNames *list, const char *oid) {
  for (size_t i = 0; i < list->len; i++)
    if (!strcmp(list->items[i].oid, oid))
      return true;
  return false;
}

// The first word of each line.
static void take_names(const Str *text, CommitNames *out) {
  for (const char *line = str_text(text); *line;) {
    size_t n = strcspn(line, " \n");
    if (n && n < OID_SIZE) {
      CommitName name = {0};
      memcpy(name.oid, line, n);
      array_push(out, name);
    }
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
}

static int list_names(const CommitSearch *s, const char *const *words,
                      CommitNames *out, Err *err) {
  Str text = {0};
  int rc = git_run(&s->checkout->repo, words, NULL, &text, err);
  if (!rc)
    take_names(&text, out);
  str_release(&text);
  return rc;
}

int commit_text(const CommitSearch *s, const char *oid, CommitText *out,
                Err *err) {
  Str text = {0};
  *out = (CommitText){0};
  if (s->checkout->dirty && !strcmp(oid, s->latest)) {
    out->name = mem_strdup("");
    out->date = mem_strdup("");
    out->subject = mem_strdup("uncommitted changes");
    out->text = mem_strdup("uncommitted changes");
    return 0;
  }
  const char *words[] = {"log",
                         "-1",
                         "--no-show-signature",
                         "--date=short",
                         "--format=%h%n%cd%n%s",
                         oid,
                         NULL};
  if (git_line(&s->checkout->repo, words, &text, err)) {
    str_release(&text);
    return -1;
  }
  char *date = text.data + strcspn(text.data, "\n");
  *date++ = 0;
  char *subject = date + strcspn(date, "\n");
  *subject++ = 0;
  out->name = mem_strdup(text.data);
  out->date = mem_strdup(date);
  out->subject = mem_strdup(subject);
  out->text = mem_printf("%s (%s, '%s')", text.data, date, subject);
  str_release(&text);
  return 0;
}

void commit_text_release(CommitText *t) {
  free(t->name);
  free(t->date);
  free(t->subject);
  free(t->text);
  *t = (CommitText){0};
}

// --- one version -------------------------------------------------------------

bool commits_is_test(const CommitSearch *s, const char *path) {
  for (size_t i = 0; i < s->named->len; i++)
    if (path_lies_in(path, s->named->items[i]))
      return true;
  return testcode_is_named_so(path);
}

// What the tests of now differ in.
static int list_carried(CommitSearch *s, const char *commit, TreeEdits *out,
                        Arena *arena, Err *err) {
  FileChanges changes = {0};
  char *tree = mem_printf("%s^{tree}", commit);
  int rc = s->own_tests
               ? 0
               : changes_list(&s->checkout->repo, tree, s->checkout->now, false,
                              &changes, arena, err);
  for (size_t i = 0; i < changes.len; i++) {
    const FileChange *f = &changes.items[i];
    if (f->status != 'D' && !entry_is_submodule(&f->now) &&
        commits_is_test(s, f->path))
      array_push(out, (TreeEdit){f->path, f->now});
  }
  array_release(&changes);
  free(tree);
  return rc;
}

static int tree_of(CommitSearch *s, const char *commit, bool carried,
                   char out[OID_SIZE], bool *differs, Err *err) {
  TreeEdits edits = {0};
  Arena arena = {0};
  char *tree = mem_printf("%s^{tree}", commit);
  int rc = git_object(&s->checkout->repo, tree, out, err);
  if (!rc && carried)
    rc = list_carried(s, commit, &edits, &arena, err);
  *differs = edits.len > 0;
  if (!rc && edits.len)
    rc = checkout_edit(s->checkout, tree, &edits, out, err);
  array_release(&edits);
  arena_release(&arena);
  free(tree);
  return rc;
}

int commits_tree(CommitSearch *s, const char *commit, char out[OID_SIZE],
                 Err *err) {
  bool ignored;
  return tree_of(s, commit, true, out, &ignored, err);
}

typedef enum { VERSION_GOOD, VERSION_BAD, VERSION_SKIPPED } VersionEnd;

static bool is_broken(const char *letters) { return *letters == TRIAL_BROKEN; }

static VersionEnd judge(const CommitSearch *s, const char *letters) {
  bool none = is_broken(letters);
  for (size_t i = 0; !none && i < s->tests->len; i++)
    if (s->used[i] && (letters[i] == TRIAL_FAIL || letters[i] == TRIAL_FLAKY))
      return VERSION_BAD;
  for (size_t i = 0; !none && i < s->tests->len; i++)
    none = s->used[i] && letters[i] == TRIAL_NONE;
  return none ? VERSION_SKIPPED : VERSION_GOOD;
}

// Has no test a verdict?
static bool is_empty(const CommitSearch *s, const char *letters) {
  for (size_t i = 0; !is_broken(letters) && i < s->tests->len; i++)
    if (s->used[i] && letters[i] != TRIAL_NONE)
      return false;
  return true;
}

static int try_version(CommitSearch *s, const char *commit, char tree[OID_SIZE],
                       const char **letters, Err *err) {
  CommitText text;
  bool differs, ignored;
  if (commit_text(s, commit, &text, err))
    return -1;
  int rc = tree_of(s, commit, true, tree, &differs, err);
  if (!rc)
    rc = trial(s->trials, tree, text.text, letters, err);
  if (!rc && differs && !s->trials->spent && is_empty(s, *letters)) {
    rc = tree_of(s, commit, false, tree, &ignored, err);
    if (!rc)
      rc = trial(s->trials, tree, text.text, letters, err);
  }
  commit_text_release(&text);
  return rc;
}

// --- the tree as it is -------------------------------------------------------

static int name_latest(CommitSearch *s, Err *err) {
  Checkout *c = s->checkout;
  const char *words[] = {"commit-tree",         c->now, "-p", c->head, "-m",
                         "uncommitted changes", NULL};
  Str line = {0};
  int rc = c->dirty ? git_line(&c->repo, words, &line, err) : 0;
  if (!rc)
    set_name(s->latest, c->dirty ? str_text(&line) : c->head);
  str_release(&line);
  return rc;
}

int commits_begin(CommitSearch *s, CommitsEnd *end, Err *err) {
  const char *letters;
  s->used = mem_array(bool, s->tests->len + 1);
  for (size_t i = 0; i < s->tests->len; i++)
    s->used[i] = true;
  if (name_latest(s, err) ||
      trial(s->trials, s->checkout->now, "the tree as it is", &letters, err))
    return -1;
  VersionEnd v = judge(s, letters);
  *end = s->trials->spent       ? COMMITS_SPENT
         : v == VERSION_BAD     ? COMMITS_FOUND
         : v == VERSION_SKIPPED ? COMMITS_BROKEN_NOW
                                : COMMITS_PASS_NOW;
  for (size_t i = 0; *end == COMMITS_FOUND && i < s->tests->len; i++)
    s->used[i] = letters[i] == TRIAL_FAIL || letters[i] == TRIAL_FLAKY;
  set_name(s->bad, s->latest);
  return 0;
}

void commits_release(CommitSearch *s) {
  free(s->used);
  array_release(&s->goods);
  array_release(&s->skipped);
  array_release(&s->candidates);
  array_release(&s->failed);
  arena_release(&s->arena);
}

// --- a good version ----------------------------------------------------------

static size_t count_used(const CommitSearch *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->tests->len; i++)
    n += s->used[i];
  return n;
}

// Tests that are not there cannot tell; the others decide.
static void leave_out_unknown(CommitSearch *s, const char *letters) {
  bool some = false;
  for (size_t i = 0; !is_broken(letters) && i < s->tests->len; i++)
    some |= s->used[i] && letters[i] == TRIAL_PASS;
  for (size_t i = 0; some && i < s->tests->len; i++)
    if (s->used[i] && letters[i] == TRIAL_NONE) {
      s->used[i] = false;
      s->unknown++;
    }
}

// A test that passes here once and fails another time is of no use.
static int leave_out_flaky(CommitSearch *s, const char *tree, Err *err) {
  for (unsigned k = 1; k <= CONFIRMATIONS; k++) {
    const char *letters;
    if (trial_repeat(s->trials, tree, k, "the good version again", &letters,
                     err))
      return -1;
    for (size_t i = 0; !is_broken(letters) && i < s->tests->len; i++)
      if (s->used[i] && letters[i] != TRIAL_PASS) {
        s->used[i] = false;
        s->flaky++;
      }
  }
  return 0;
}

// Flaky tests fail a version. Not the good one: they are left out.
static void leave_out_seen_flaky(CommitSearch *s, const char *letters) {
  bool fails = false;
  for (size_t i = 0; !is_broken(letters) && i < s->tests->len; i++)
    fails |= s->used[i] && letters[i] == TRIAL_FAIL;
  for (size_t i = 0; !fails && !is_broken(letters) && i < s->tests->len; i++)
    if (s->used[i] && letters[i] == TRIAL_FLAKY) {
      s->used[i] = false;
      s->flaky++;
    }
}

// *v: is it good, with the tests that can tell?
static int try_good(CommitSearch *s, const char *commit, VersionEnd *v,
                    CommitsEnd *why, Err *err) {
  const char *letters;
  char tree[OID_SIZE];
  if (try_version(s, commit, tree, &letters, err))
    return -1;
  *why = s->trials->spent     ? COMMITS_SPENT
         : is_broken(letters) ? COMMITS_GOOD_BROKEN
                              : COMMITS_UNKNOWN_TESTS;
  if (is_empty(s, letters)) {
    *v = VERSION_SKIPPED;
    return 0;
  }
  leave_out_seen_flaky(s, letters);
  leave_out_unknown(s, letters);
  *v = count_used(s) ? judge(s, letters) : VERSION_GOOD;
  *why = COMMITS_GOOD_FAILS;
  if (*v == VERSION_GOOD && leave_out_flaky(s, tree, err))
    return -1;
  if (*v == VERSION_GOOD) {
    *why = count_used(s) ? COMMITS_FOUND : COMMITS_FLAKY;
    set_name(s->good, commit);
    add_name(&s->goods, commit);
  }
  return 0;
}

static bool is_ancestor(const CommitSearch *s, const char *a, const char *b) {
  return git_asks(&s->checkout->repo,
                  (const char *[]){"merge-base", "--is-ancestor", a, b, NULL});
}

static int named_good(CommitSearch *s, const char *good, CommitsEnd *end,
                      Err *err) {
  char oid[OID_SIZE];
  VersionEnd ignored;
  char *commit = mem_printf("%s^{commit}", good);
  int rc = git_object(&s->checkout->repo, commit, oid, err);
  free(commit);
  if (rc)
    return err_set(err, "'%s' names no commit of %s%s", good,
                   s->checkout->repo.top,
                   s->checkout->repo.shallow
                       ? ", which is a shallow clone: `git fetch --unshallow` "
                         "gets the rest"
                       : "");
  if (!is_ancestor(s, oid, s->latest)) {
    Str base = {0};
    Err none;
    const char *words[] = {"merge-base", oid, s->latest, NULL};
    if (git_line(&s->checkout->repo, words, &base, &none))
      rc = err_set(err,
                   "'%s' has no commit in common with HEAD: name an "
                   "earlier version of this branch",
                   good);
    else
      rc = err_set(err,
                   "'%s' is not an ancestor of HEAD; their newest common "
                   "ancestor is %.12s: `culprit since %.12s`",
                   good, str_text(&base), str_text(&base));
    str_release(&base);
    return rc;
  }
  return try_good(s, oid, &ignored, end, err);
}

// Which version comes next: 1, 2, 4, ... commits back; tags first.
static int list_steps(CommitSearch *s, CommitNames *out, Err *err) {
  CommitNames tags = {0}, line = {0};
  // Of an annotated tag, what it names; of another, the commit itself.
  const char *list_tags[] = {
      "for-each-ref",
      "--merged=HEAD",
      "--sort=-creatordate",
      "--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%("
      "end)",
      "refs/tags",
      NULL};
  const char *list_line[] = {"rev-list", "--first-parent", "HEAD", NULL};
  int rc = list_names(s, list_tags, &tags, err) ||
                   list_names(s, list_line, &line, err)
               ? -1
               : 0;
  for (size_t i = 0; !rc && i < tags.len; i = i * 2 + 1)
    if (strcmp(tags.items[i].oid, s->latest) != 0)
      add_name(out, tags.items[i].oid);
  if (!rc && tags.len && !has_name(out, array_last(&tags).oid))
    add_name(out, array_last(&tags).oid);
  for (size_t i = s->checkout->dirty ? 0 : 1; !rc && i < line.len;
       i = i ? i * 2 : 1)
    add_name(out, line.items[i].oid);
  if (!rc && line.len > 1 && !has_name(out, array_last(&line).oid))
    add_name(out, array_last(&line).oid);
  array_release(&tags);
  array_release(&line);
  return rc;
}

// A step that fails makes all between it and now irrelevant; so does a later
// step that lies there.
static bool is_known_bad(const CommitSearch *s, const char *commit) {
  for (size_t i = 0; i < s->failed.len; i++)
    if (is_ancestor(s, s->failed.items[i].oid, commit))
      return true;
  return false;
}

static int look_for_good(CommitSearch *s, CommitsEnd *end, Err *err) {
  CommitNames steps = {0};
  int rc = list_steps(s, &steps, err);
  *end = COMMITS_NEVER;
  for (size_t i = 0; !rc && *end == COMMITS_NEVER && i < steps.len; i++) {
    const char *commit = steps.items[i].oid;
    VersionEnd v = VERSION_SKIPPED;
    CommitsEnd why;
    if (is_known_bad(s, commit))
      continue;
    rc = try_good(s, commit, &v, &why, err);
    if (!rc && v == VERSION_BAD)
      add_name(&s->failed, commit);
    if (!rc && (v == VERSION_GOOD || why == COMMITS_SPENT))
      *end = why;
  }
  // The oldest that fails after it is where the search begins.
  for (size_t i = s->failed.len; !rc && *end == COMMITS_FOUND && i-- > 0;)
    if (is_ancestor(s, s->good, s->failed.items[i].oid)) {
      set_name(s->bad, s->failed.items[i].oid);
      break;
    }
  array_release(&steps);
  return rc;
}

int commits_good(CommitSearch *s, const char *good, CommitsEnd *end, Err *err) {
  int rc = good ? named_good(s, good, end, err) : look_for_good(s, end, err);
  s->good_builds = s->trials->builds;
  return rc;
}

// --- bisection ---------------------------------------------------------------

// What lies between; `bad` is one of it. `order`: --bisect-all, the most telling
// first, or --topo-order.
static int list_between(const CommitSearch *s, const char *order,
                        CommitNames *out, Err *err) {
  Texts words = {0};
  Arena arena = {0};
  array_push(&words, "rev-list");
  array_push(&words, order);
  array_push(&words, s->bad);
  for (size_t i = 0; i < s->goods.len; i++)
    array_push(&words, arena_printf(&arena, "^%s", s->goods.items[i].oid));
  array_push(&words, NULL);
  int rc = list_names(s, words.items, out, err);
  arena_release(&arena);
  array_release(&words);
  return rc;
}

// Versions that do not build often follow each other. How likely is it that one
// builds, by its place among those that were passed over? Between two of them
// it hardly does.
static double likely_to_build(const size_t *passed, size_t n, size_t place,
                              size_t all) {
  size_t nearest = all, gap = all / 6 > 4 * n ? all / 6 : 4 * n;
  bool below = false, above = false;
  for (size_t i = 0; i < n; i++) {
    size_t d = passed[i] > place ? passed[i] - place : place - passed[i];
    nearest = d < nearest ? d : nearest;
    below |= passed[i] < place;
    above |= passed[i] > place;
  }
  return below && above   ? 0.01
         : nearest >= gap ? 1
                          : (double)nearest / (double)gap;
}

// Where each is in `order`.
static void find_places(const CommitNames *order, Hashmap *out) {
  for (size_t i = 0; i < order->len; i++)
    hashmap_put(out, order->items[i].oid, strlen(order->items[i].oid), i);
}

static size_t place_of(const Hashmap *places, const char *oid) {
  uint64_t at = 0;
  hashmap_get(places, oid, strlen(oid), &at);
  return at;
}

// The next to try: it tells much, and is likely to build. NULL: none is left.
static const char *choose(const CommitSearch *s, const CommitNames *between,
                          const CommitNames *order) {
  const char *best = NULL;
  double most = -1;
  Hashmap places = {0};
  ARRAY(size_t) passed = {0};
  find_places(order, &places);
  for (size_t i = 0; i < between->len; i++)
    if (has_name(&s->skipped, between->items[i].oid))
      array_push(&passed, place_of(&places, between->items[i].oid));
  for (size_t i = 0; i < between->len; i++) {
    const char *oid = between->items[i].oid;
    if (!strcmp(oid, s->bad) || has_name(&s->skipped, oid))
      continue;
    double tells = (double)(between->len - i);
    double value =
        tells * likely_to_build(passed.items, passed.len,
                                place_of(&places, oid), between->len);
    if (value > most) {
      most = value;
      best = oid;
    }
  }
  array_release(&passed);
  hashmap_release(&places);
  return best;
}

static int take_step(CommitSearch *s, const char *commit, Err *err) {
  const char *letters;
  char tree[OID_SIZE];
  if (try_version(s, commit, tree, &letters, err))
    return -1;
  switch (judge(s, letters)) {
  case VERSION_GOOD:
    add_name(&s->goods, commit);
    set_name(s->good, commit);
    break;
  case VERSION_BAD:
    set_name(s->bad, commit);
    break;
  case VERSION_SKIPPED:
    add_name(&s->skipped, commit);
    break;
  }
  return 0;
}

// Of the tests, those that fail in the guilty version are what it broke.
static int keep_broken(CommitSearch *s, Err *err) {
  const char *letters;
  char tree[OID_SIZE];
  if (try_version(s, s->bad, tree, &letters, err))
    return -1;
  for (size_t i = 0; !is_broken(letters) && i < s->tests->len; i++)
    s->used[i] &= letters[i] == TRIAL_FAIL || letters[i] == TRIAL_FLAKY;
  return 0;
}

int commits_bisect(CommitSearch *s, CommitsEnd *end, Err *err) {
  for (;;) {
    CommitNames between = {0}, order = {0};
    if (list_between(s, "--bisect-all", &between, err) ||
        list_between(s, "--topo-order", &order, err))
      return -1;
    const char *commit = choose(s, &between, &order);
    array_release(&order);
    if (!commit) {
      *end = between.len > 1 ? COMMITS_AMONG : COMMITS_FOUND;
      set_name(s->guilty, between.len > 1 ? "" : s->bad);
      if (between.len > 1)
        s->candidates = between;
      else
        array_release(&between);
      return keep_broken(s, err);
    }
    int rc = take_step(s, commit, err);
    array_release(&between);
    if (rc || s->trials->spent) {
      *end = COMMITS_SPENT;
      return rc;
    }
  }
}
