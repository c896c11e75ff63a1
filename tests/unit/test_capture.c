// What culprit-capture keeps of a start (capture/): trees of files, descriptions
// of starts, and their repetition.
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture_format.h"
#include "capture/file_tree.h"
#include "capture/program_start.h"
#include "util/fs.h"
#include "util/mem.h"

static char *dir;

TEARDOWN {
  if (dir)
    fs_remove_tree(dir);
  free(dir);
  return 0;
}

// An empty directory.
static const char *place(void) {
  if (!dir) {
    dir = mem_strdup("/tmp/culprit-capture-XXXXXX");
    assert_non_null(mkdtemp(dir));
  }
  char *path = mem_printf("%s/tree", dir);
  fs_remove_tree(path);
  assert_int_equal(mkdir(path, 0755), 0);
  assert_int_equal(chdir(path), 0);
  free(path);
  static char root[4096];
  snprintf(root, sizeof root, "%s/tree", dir);
  return root;
}

static void put_file(const char *path, const char *text) {
  Err err;
  assert_int_equal(fs_write(path, text, strlen(text), &err), 0);
}

static FileTree tree_of(const char *root, const struct timespec *since) {
  FileTree t = {0};
  Err err = {0};
  if (tree_read(&t, root, since, &err))
    fail_msg("%s", err.text);
  return t;
}

static void plant(void) {
  put_file("a", "first");
  put_file("a-b", "");
  assert_int_equal(mkdir("d", 0755), 0);
  put_file("d/x", "inner");
  assert_int_equal(link("d/x", "d/y"), 0);
  assert_int_equal(symlink("../a", "d/z"), 0);
  assert_int_equal(chmod("a", 0640), 0);
  assert_int_equal(chmod("d", 0711), 0);
}

static void expect_brought_back(const char *root, const FileTree *before) {
  Err err = {0};
  FileTree now = tree_of(root, NULL);
  assert_false(tree_same(&now, before));
  if (tree_apply(root, &now, before, false, &err))
    fail_msg("%s", err.text);
  tree_release(&now);
  now = tree_of(root, NULL);
  assert_true(tree_same(&now, before));
  assert_true(tree_hash(&now, 1) == tree_hash(before, 1));
  tree_release(&now);
}

TEST(a_tree_is_brought_back_whatever_was_done_to_it) {
  static const char *const damages[] = {
      "rm a",
      "rm -r d",
      "echo other > a",
      "chmod 600 a",
      "touch a",
      "echo more > new; mkdir -p e/f; touch e/f/g",
      "rm -r d; echo file > d",
      "rm a; mkdir a; touch a/b",
      "echo other > d/y",
      "rm d/y; echo inner > d/y",
      "rm d/z; ln -s elsewhere d/z",
      "ln a link",
      "chmod 700 d",
      NULL};
  for (size_t i = 0; damages[i]; i++) {
    const char *root = place();
    plant();
    FileTree before = tree_of(root, NULL);
    assert_int_equal(before.entries.len, 6);
    assert_int_equal(tree_inodes(&before), 5);
    assert_int_equal(system(damages[i]), 0);
    expect_brought_back(root, &before);
    tree_release(&before);
  }
}

TEST(a_tree_that_is_gone_is_made_again) {
  const char *root = place();
  plant();
  FileTree before = tree_of(root, NULL);
  assert_int_equal(system("rm -rf ./*"), 0);
  expect_brought_back(root, &before);
  struct stat x, y;
  assert_int_equal(stat("d/x", &x) | stat("d/y", &y), 0);
  assert_true(x.st_ino == y.st_ino);
  tree_release(&before);
}

TEST(times_from_a_moment_on_are_just_new) {
  const char *root = place();
  put_file("old", "x");
  put_file("young", "x");
  struct timespec then[] = {{1000, 5}, {1000, 5}};
  assert_int_equal(utimensat(AT_FDCWD, "old", then, 0), 0);
  struct timespec since = {2000, 0};
  FileTree one = tree_of(root, &since);
  assert_int_equal(system("sleep 0.02; touch young"), 0);
  FileTree two = tree_of(root, &since);
  assert_true(tree_same(&one, &two));
  then[1].tv_nsec = 6;
  assert_int_equal(utimensat(AT_FDCWD, "old", then, 0), 0);
  FileTree three = tree_of(root, &since);
  assert_false(tree_same(&one, &three));
  tree_release(&one);
  tree_release(&two);
  tree_release(&three);
}

static void expect_unreadable(const char *root, const char *why) {
  FileTree t = {0};
  Err err = {0};
  assert_int_equal(tree_read(&t, root, NULL, &err), -1);
  if (!strstr(err.text, why))
    fail_msg("%s", err.text);
  tree_release(&t);
}

TEST(trees_that_cannot_be_kept_are_refused) {
  const char *root = place();
  assert_int_equal(mkfifo("pipe", 0600), 0);
  expect_unreadable(root, "not a file or directory");
  root = place();
  assert_int_equal(system("truncate -s 5M large"), 0);
  expect_unreadable(root, "large");
  root = place();
  for (int i = 0; i <= CAPTURE_FILES; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    put_file(name, "");
  }
  expect_unreadable(root, "too many files");
}

TEST(a_tree_survives_being_kept_and_no_part_of_it_is_one) {
  const char *root = place();
  plant();
  FileTree before = tree_of(root, NULL);
  Str bytes = {0};
  tree_put(&before, &bytes);
  for (size_t n = 0; n <= bytes.len; n++) {
    // Exactly so many bytes, for the sanitizer.
    char *copy = mem_dup(bytes.data, n);
    const char *at = copy;
    FileTree t = {0};
    int rc = tree_take(&t, &at, copy + n);
    assert_int_equal(rc, n < bytes.len ? -1 : 0);
    if (!rc)
      assert_true(tree_same(&t, &before) && at == copy + n);
    tree_release(&t);
    free(copy);
  }
  str_release(&bytes);
  tree_release(&before);
}

// --- starts -----------------------------------------------------------------

static void add_word(StartWords *w, const char *word) {
  array_push(w, word ? mem_strdup(word) : NULL);
}

// "sh -c SCRIPT" with a pipe as standard input, and others as output.
static ProgramStart shell(const char *root, const char *script,
                          const char *input) {
  ProgramStart s = {.mask = 022};
  str_add(&s.name, "0123456789abcdef");
  str_add(&s.root, root);
  str_add(&s.cwd, root);
  add_word(&s.argv, "sh");
  add_word(&s.argv, "-c");
  add_word(&s.argv, script);
  add_word(&s.argv, NULL);
  add_word(&s.env, "PATH=/usr/bin:/bin");
  add_word(&s.env, NULL);
  for (int i = 0; i < RLIM_NLIMITS; i++)
    getrlimit((__rlimit_resource_t)i, &s.limits[i]);
  for (int i = 0; i < 3; i++)
    s.streams[i].kind = STREAM_PIPE;
  str_add(&s.streams[0].data, input);
  return s;
}

static void run(ProgramStart *s, StartDeed *d) {
  Err err = {0};
  if (start_run(s, "/bin/sh", s->env.items, false, d, &err))
    fail_msg("%s", err.text);
}

TEST(a_start_is_repeated_with_its_streams) {
  ProgramStart s = shell(place(), "cat; echo error >&2; exit 3", "input\n");
  run(&s, &s.deed);
  assert_string_equal(str_text(&s.deed.out), "input\n");
  assert_string_equal(str_text(&s.deed.err), "error\n");
  assert_int_equal(WEXITSTATUS(s.deed.status), 3);
  StartDeed again = {0};
  run(&s, &again);
  assert_true(deed_same(&s.deed, &again));
  assert_true(deed_hash(&s.deed) == deed_hash(&again));
  str_addc(&again.out, 'x');
  assert_false(deed_same(&s.deed, &again));
  assert_true(deed_hash(&s.deed) != deed_hash(&again));
  deed_release(&again);
  start_release(&s);
}

TEST(each_kind_of_stream_is_what_it_was) {
  const char *root = place();
  put_file("in", "one\ntwo\n");
  put_file("out", "kept\n");
  ProgramStart s =
      shell(root, "read l; echo \"$l\"; test -p /dev/fd/2 && echo pipe", "");
  s.streams[0].kind = STREAM_INSIDE;
  str_add(&s.streams[0].path, "in");
  s.streams[0].offset = 4;
  s.streams[1].kind = STREAM_INSIDE;
  str_add(&s.streams[1].path, "out");
  s.streams[1].flags = O_WRONLY | O_APPEND;
  StartDeed d = {0};
  run(&s, &d);
  assert_int_equal(d.in_offset, 8);
  Str text = {0};
  Err err;
  assert_int_equal(fs_read("out", 0, &text, &err), 0);
  assert_string_equal(str_text(&text), "kept\ntwo\npipe\n");
  str_release(&text);
  deed_release(&d);
  start_release(&s);
}

TEST(error_and_output_in_one_pipe_keep_their_order) {
  ProgramStart s =
      shell(place(), "echo a; echo b >&2; echo c; kill -TERM $$", "");
  s.streams[0].kind = STREAM_CLOSED;
  s.streams[2].kind = STREAM_SAME;
  StartDeed d = {0};
  run(&s, &d);
  assert_string_equal(str_text(&d.out), "a\nb\nc\n");
  assert_true(WIFSIGNALED(d.status));
  deed_release(&d);
  start_release(&s);
}

TEST(a_program_that_does_not_read_its_input_ends) {
  ProgramStart s = shell(place(), "exit 0", "");
  for (int i = 0; i < 20000; i++)
    str_add(&s.streams[0].data, "many lines\n");
  StartDeed d = {0};
  run(&s, &d);
  assert_int_equal(d.status, 0);
  deed_release(&d);
  start_release(&s);
}

TEST(a_start_survives_being_kept_and_no_part_of_it_is_one) {
  const char *root = place();
  plant();
  ProgramStart s = shell(root, "cat", "input");
  s.before = tree_of(root, NULL);
  run(&s, &s.deed);
  char *path = mem_printf("%s/record", dir);
  Err err = {0};
  assert_int_equal(start_write(&s, path, &err), 0);
  ProgramStart back = {0};
  assert_int_equal(start_read(&back, path, &err), 0);
  assert_true(deed_same(&s.deed, &back.deed));
  assert_true(tree_same(&s.before, &back.before));
  assert_string_equal(back.argv.items[2], "cat");
  assert_null(back.argv.items[3]);
  assert_string_equal(str_text(&back.streams[0].data), "input");
  start_release(&back);
  Str text = {0};
  assert_int_equal(fs_read(path, 0, &text, &err), 0);
  for (size_t n = 0; n < text.len; n += 1 + n / 64) {
    assert_int_equal(fs_write(path, text.data, n, &err), 0);
    ProgramStart part = {0};
    assert_int_equal(start_read(&part, path, &err), -1);
    start_release(&part);
  }
  str_release(&text);
  free(path);
  start_release(&s);
}
