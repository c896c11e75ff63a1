// Unit tests of confined PHP workers: what they write is state of their view or
// copy, and nothing outside changes.
#include "test.h"

#include "test_php.h"

#include <limits.h>

#include "php/app_files.h"
#include "php/state/app_state.h"
#include "php/state/file_entries.h"

// --- an application in its view ---------------------------------------------

// "" uses all that the kernel has, "none" copies.
static const char *const ways[] = {"", "none"};

typedef struct {
  Confine *c;
  AppState *s;
} App;

static void open_app(App *a, const char *way, const char *tree,
                     const char *const *files) {
  setenv("CULPRIT_CONFINE", way, 1);
  ConfinePlan plan = {.scratch = in_scratch("own"),
                      .copied = in_scratch("app")};
  check(fs_mkdirs(plan.scratch, &err));
  check(confine_open(&a->c, &plan, &err));
  StatePlaces p = {
      .confine = a->c, .own = in_scratch("own"), .tree = tree, .files = files};
  check(app_state_open(&a->s, &p, in_scratch("own/st"), &err));
}

static void close_app(App *a) {
  app_state_close(a->s);
  confine_close(a->c);
  unsetenv("CULPRIT_CONFINE");
}

// Where the application has `name`, for us.
static const char *seen(const App *a, const char *name) {
  static char out[PATH_MAX];
  char *inside = confine_inside(a->c, in_scratch(name));
  char *outside = confine_outside(a->c, inside);
  snprintf(out, sizeof out, "%s", outside);
  free(inside);
  free(outside);
  return out;
}

static void writes(const App *a, const char *name, const char *text) {
  check(fs_write(seen(a, name), text, strlen(text), &err));
}

static bool sees(const App *a, const char *name, const char *text) {
  Str s = {0};
  bool same =
      !fs_read(seen(a, name), 0, &s, &err) && !strcmp(str_text(&s), text);
  str_release(&s);
  return same;
}

static uint32_t save(const App *a) {
  uint32_t id;
  check(app_state_save(a->s, &id, &err));
  return id;
}

static void restore(const App *a, uint32_t id) {
  check(app_state_restore(a->s, id, &err));
}

static uint64_t digest(const App *a, uint32_t id) {
  return app_state_digest(a->s, id, in_scratch("own"));
}

// --- the tree ---------------------------------------------------------------

static void tree_comes_back(const char *way) {
  App a;
  struct stat st;
  begin();
  put("app/index.php", "index");
  put("app/data/keep", "keep");
  open_app(&a, way, in_scratch("app"), NULL);
  assert_int_equal(save(&a), 0);
  writes(&a, "app/new", "new");
  writes(&a, "app/index.php", "other");
  unlink(seen(&a, "app/data/keep"));
  rmdir(seen(&a, "app/data"));
  uint32_t later = save(&a);
  assert_int_not_equal(later, 0);
  restore(&a, 0);
  assert_true(sees(&a, "app/index.php", "index"));
  assert_true(sees(&a, "app/data/keep", "keep"));
  assert_int_not_equal(stat(seen(&a, "app/new"), &st), 0);
  assert_int_equal(save(&a), 0);
  restore(&a, later);
  assert_true(sees(&a, "app/new", "new"));
  assert_int_not_equal(stat(seen(&a, "app/data"), &st), 0);
  assert_true(holds("app/index.php", "index"));
  assert_true(holds("app/data/keep", "keep"));
  assert_false(fs_exists(in_scratch("app/new")));
  close_app(&a);
  tidy();
}

TEST(what_an_application_writes_in_its_tree_comes_back_and_stays_inside) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    tree_comes_back(ways[i]);
}

TEST(modes_and_links_in_the_tree_come_back) {
  App a;
  struct stat st;
  begin();
  put("app/x", "x");
  open_app(&a, "none", in_scratch("app"), NULL);
  chmod(seen(&a, "app/x"), 0);
  symlink("/etc/passwd", seen(&a, "app/link"));
  assert_int_not_equal(save(&a), 0);
  restore(&a, 0);
  check(lstat(seen(&a, "app/x"), &st));
  assert_int_equal(st.st_mode & 0777, 0644);
  assert_int_not_equal(lstat(seen(&a, "app/link"), &st), 0);
  close_app(&a);
  tidy();
}

static uint64_t digest_after(const char *way, const char *name,
                             uint64_t *first) {
  App a;
  begin();
  put("app/x", "x");
  put("app/logs/y", "y");
  const char *files[] = {in_scratch("app/logs/counted"), NULL};
  open_app(&a, way, in_scratch("app"), files);
  *first = digest(&a, 0);
  writes(&a, name, "z");
  uint32_t id = save(&a);
  assert_int_not_equal(id, 0);
  uint64_t after = digest(&a, id);
  close_app(&a);
  tidy();
  return after;
}

TEST(logs_do_not_tell_states_apart_unless_they_are_named) {
  uint64_t first;
  assert_true(digest_after("none", "app/x", &first) != first);
  assert_true(digest_after("none", "app/err.log", &first) == first);
  assert_true(digest_after("none", "app/logs/z", &first) == first);
  assert_true(digest_after("none", "app/logs/counted", &first) != first);
}

TEST(views_and_copies_give_states_the_same_digest) {
  uint64_t digests[2];
  begin();
  put("app/x", "x");
  char *file = mem_strdup(in_scratch("app/x"));
  const char *files[] = {file, NULL};
  for (int i = 0; i < 2; i++) {
    App a;
    open_app(&a, ways[i], NULL, files);
    writes(&a, "app/x", "y");
    digests[i] = digest(&a, save(&a));
    close_app(&a);
  }
  assert_true(digests[0] == digests[1]);
  free(file);
  tidy();
}

TEST(a_file_too_large_to_keep_is_as_it_was_at_first) {
  App a;
  begin();
  put("app/x", "x");
  open_app(&a, "none", in_scratch("app"), NULL);
  check(truncate(seen(&a, "app/x"), 17 << 20));
  assert_int_equal(save(&a), 0);
  restore(&a, 0);
  assert_true(sees(&a, "app/x", "x"));
  close_app(&a);
  tidy();
}

// --- links ------------------------------------------------------------------

static void link_is_not_followed(const char *way) {
  App a;
  begin();
  put("app/data/x", "x");
  put("outside/x", "outside");
  const char *files[] = {in_scratch("app/data/x"), NULL};
  open_app(&a, way, NULL, files);
  writes(&a, "app/data/x", "y");
  uint32_t later = save(&a);
  check(unlink(seen(&a, "app/data/x")));
  check(rmdir(seen(&a, "app/data")));
  check(symlink(in_scratch("outside"), seen(&a, "app/data")));
  save(&a);
  restore(&a, later);
  assert_true(sees(&a, "app/data/x", "y"));
  assert_true(holds("outside/x", "outside"));
  assert_true(holds("app/data/x", "x"));
  close_app(&a);
  tidy();
}

TEST(a_directory_that_became_a_link_is_not_written_through) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    link_is_not_followed(ways[i]);
}

TEST(links_lead_to_what_they_mean_in_the_view) {
  char real[PATH_MAX];
  struct stat st;
  App a;
  AppFiles *files;
  begin();
  put("app/x", "x");
  open_app(&a, "", NULL, NULL);
  writes(&a, "app/new", "new");
  check(symlink(in_scratch("app/new"), seen(&a, "app/link")));
  check(app_files_open(&files, a.c, &err));
  char *link = confine_inside(a.c, in_scratch("app/link"));
  char *target = confine_inside(a.c, in_scratch("app/new"));
  if (confine_has_view(a.c)) {
    check(app_file_look(files, link, real, &st));
    assert_string_equal(real, target);
  }
  assert_int_equal(app_file_look(files, "/no/such/file", real, &st), -1);
  free(link);
  free(target);
  app_files_close(files);
  close_app(&a);
  tidy();
}

// --- differences ------------------------------------------------------------

static FileEntry entry(const char *path, mode_t mode, uint64_t content) {
  return (FileEntry){.path = path, .mode = mode, .hash = {.low64 = content}};
}

TEST(a_difference_turns_one_list_into_the_other) {
  FileEntries base = {0}, now = {0}, diff = {0}, whole = {0};
  array_push(&base, entry("a", S_IFREG | 0644, 1));
  array_push(&base, entry("b", S_IFREG | 0644, 2));
  array_push(&base, entry("c", S_IFREG | 0644, 3));
  array_push(&now, entry("a", S_IFREG | 0644, 1));
  array_push(&now, entry("c", S_IFREG | 0600, 3));
  array_push(&now, entry("d", S_IFREG | 0644, 4));
  file_entries_diff(&base, &now, &diff);
  assert_int_equal(diff.len, 3);
  assert_string_equal(diff.items[0].path, "b");
  assert_int_equal(diff.items[0].mode, 0);
  file_entries_patch(&base, &diff, &whole);
  assert_int_equal(whole.len, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal(whole.items[i].path, now.items[i].path);
    assert_int_equal(whole.items[i].mode, now.items[i].mode);
  }
  array_release(&base);
  array_release(&now);
  array_release(&diff);
  array_release(&whole);
}

// --- workers ----------------------------------------------------------------

static void worker_is_confined(const char *way) {
  Bench b;
  Confine *c;
  begin();
  setenv("CULPRIT_CONFINE", way, 1);
  put("root/index.php",
      "<?php file_put_contents(__DIR__ . '/up.txt', 'up'); "
      "var_dump(mail('a@b.c', 's', 't')); echo file_exists('up.txt');");
  ConfinePlan plan = {.scratch = in_scratch("w"), .copied = in_scratch("root")};
  check(fs_mkdirs(plan.scratch, &err));
  check(confine_open(&c, &plan, &err));
  const char *ini[] = {"sendmail_path=/bin/false", NULL};
  WebApp s = {
      .root = in_scratch("root"), .timeout = 5, .confine = c, .ini = ini};
  open_worker(&b, &s);
  assert_string_equal(ask(&b, "/"), "bool(true)\n1");
  assert_string_equal(ask(&b, "/up.txt"), "up");
  assert_false(fs_exists(in_scratch("root/up.txt")));
  close_worker(&b);
  confine_close(c);
  unsetenv("CULPRIT_CONFINE");
  tidy();
}

TEST(a_confined_worker_sees_what_it_wrote_and_sends_no_mail) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    worker_is_confined(ways[i]);
}
