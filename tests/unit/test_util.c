// Unit tests of src/util: the building blocks everything else stands on.
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/err.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

// --- err
// ------------------------------------------------------------------------

TEST(err_set_formats_and_returns_minus_one) {
  Err err;
  assert_int_equal(err_set(&err, "%s: version %d", "a.db", 3), -1);
  assert_string_equal(err.text, "a.db: version 3");
}

TEST(err_set_may_use_its_own_old_text) {
  Err err;
  err_set(&err, "inner");
  err_set(&err, "outer: %s", err.text);
  assert_string_equal(err.text, "outer: inner");
}

TEST(err_prefix_puts_the_context_first) {
  Err err;
  err_set(&err, "no such table");
  assert_int_equal(err_prefix(&err, "session %d", 7), -1);
  assert_string_equal(err.text, "session 7: no such table");
}

TEST(an_overlong_error_is_cut_not_overrun) {
  Err err;
  char *big = mem_alloc(10000);
  memset(big, 'x', 9999);
  err_set(&err, "%s", big);
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
  err_prefix(&err, "head");
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
  assert_true(text_starts(err.text, "head: xxx"));
  free(big);
}

// --- mem
// ------------------------------------------------------------------------

TEST(mem_alloc_gives_zeroed_memory_even_for_nothing) {
  char *p = mem_alloc(0);
  assert_non_null(p);
  free(p);
  int *n = mem_array(int, 100);
  for (int i = 0; i < 100; i++)
    assert_int_equal(n[i], 0);
  free(n);
}

TEST(mem_printf_and_dup_make_copies) {
  char *s = mem_printf("%d-%s", 12, "x");
  assert_string_equal(s, "12-x");
  char *t = mem_strdup(s);
  assert_ptr_not_equal(s, t);
  assert_string_equal(s, t);
  free(s);
  free(t);
}

// Runs f in a child, its messages thrown away; returns its wait status.
static int status_of(void (*f)(void)) {
  pid_t pid = fork();
  if (pid == 0) {
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    f();
    _exit(0);
  }
  int status;
  waitpid(pid, &status, 0);
  return status;
}

static void overflow_mem(void) { mem_alloc_array(SIZE_MAX / 2, 3); }

static void overflow_arena(void) {
  Arena a = {0};
  arena_alloc_array(&a, SIZE_MAX / 2, 3);
}

static void overflow_arena_size(void) {
  Arena a = {0};
  arena_alloc(&a, SIZE_MAX - 4);
}

TEST(a_size_that_overflows_ends_the_program_with_status_3) {
  void (*cases[])(void) = {overflow_mem, overflow_arena, overflow_arena_size};
  for (int i = 0; i < 3; i++) {
    int status = status_of(cases[i]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
  }
}

// --- arena
// ----------------------------------------------------------------------

TEST(arena_memory_is_zeroed_aligned_and_does_not_overlap) {
  Arena a = {0};
  unsigned char *p[500];
  for (int i = 0; i < 500; i++) {
    p[i] = arena_alloc(&a, (size_t)i);
    assert_int_equal((uintptr_t)p[i] % 16, 0);
    for (int k = 0; k < i; k++)
      assert_int_equal(p[i][k], 0);
    memset(p[i], i % 251 + 1, (size_t)i);
  }
  for (int i = 0; i < 500; i++)
    for (int k = 0; k < i; k++)
      assert_int_equal(p[i][k], i % 251 + 1);
  arena_release(&a);
  assert_null(a.chunks);
}

TEST(arena_takes_requests_larger_than_its_chunks) {
  Arena a = {0};
  char *small = arena_strdup(&a, "small");
  char *big = arena_alloc(&a, 5 << 20);
  big[(5 << 20) - 1] = 1;
  char *after = arena_strdup(&a, "after");
  assert_string_equal(small, "small");
  assert_string_equal(after, "after");
  arena_release(&a);
}

TEST(arena_strings_are_copies) {
  Arena a = {0};
  assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
  assert_string_equal(arena_strndup(&a, NULL, 0), "");
  assert_string_equal(arena_printf(&a, "%05d", 42), "00042");
  assert_string_equal(arena_printf(&a, "%s", ""), "");
  arena_release(&a);
}

// --- array
// ----------------------------------------------------------------------

TEST(an_array_grows_and_keeps_its_items) {
  ARRAY(int) a = {0};
  for (int i = 0; i < 1000; i++)
    array_push(&a, i * i);
  assert_int_equal(a.len, 1000);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(a.items[i], i * i);
  assert_int_equal(array_last(&a), 999 * 999);
  array_release(&a);
  assert_null(a.items);
  assert_int_equal(a.len, 0);
}

TEST(array_push_takes_compound_literals) {
  typedef struct {
    int x, y;
  } Point;
  ARRAY(Point) a = {0};
  array_push(&a, (Point){1, 2});
  assert_int_equal(a.items[0].y, 2);
  array_release(&a);
}

// --- str
// ------------------------------------------------------------------------

TEST(an_unused_string_reads_as_empty) {
  Str s = {0};
  assert_string_equal(str_text(&s), "");
  char *taken = str_take(&s);
  assert_string_equal(taken, "");
  free(taken);
  str_release(&s);
}

TEST(a_string_grows_by_text_bytes_and_format) {
  Str s = {0};
  str_add(&s, "ab");
  str_addn(&s, "c\0d", 3);
  str_addc(&s, 'e');
  str_addf(&s, "%d", 7);
  assert_int_equal(s.len, 7);
  assert_memory_equal(s.data, "abc\0de7", 8);
  str_clear(&s);
  assert_string_equal(str_text(&s), "");
  for (int i = 0; i < 10000; i++)
    str_addf(&s, "%d,", i % 10);
  assert_int_equal(s.len, 20000);
  assert_true(text_ends(s.data, "8,9,"));
  str_release(&s);
}

TEST(str_take_hands_over_the_memory) {
  Str s = {0};
  str_add(&s, "mine");
  char *p = str_take(&s);
  assert_null(s.data);
  str_add(&s, "other");
  assert_string_equal(p, "mine");
  free(p);
  str_release(&s);
}

TEST(text_starts_and_ends_compare_whole_affixes) {
  assert_true(text_starts("culprit-cc", "culprit"));
  assert_false(text_starts("cul", "culprit"));
  assert_true(text_starts("x", ""));
  assert_true(text_ends("a.c", ".c"));
  assert_false(text_ends("c", ".c"));
  assert_true(text_ends("", ""));
}

// --- hashmap
// --------------------------------------------------------------------

TEST(an_empty_map_has_nothing) {
  Hashmap m = {0};
  uint64_t v = 5;
  assert_false(hashmap_get(&m, "a", 1, &v));
  assert_int_equal(v, 5);
  hashmap_release(&m);
}

TEST(a_map_keeps_thousands_of_keys_apart) {
  Hashmap m = {0};
  char key[32];
  for (uint64_t i = 0; i < 5000; i++) {
    int n = snprintf(key, sizeof key, "key %d", (int)i);
    hashmap_put(&m, key, (size_t)n, i);
  }
  assert_int_equal(m.len, 5000);
  for (uint64_t i = 0; i < 5000; i++) {
    uint64_t v;
    int n = snprintf(key, sizeof key, "key %d", (int)i);
    assert_true(hashmap_get(&m, key, (size_t)n, &v));
    assert_int_equal(v, i);
  }
  uint64_t v;
  assert_false(hashmap_get(&m, "key 5000", 8, &v));
  hashmap_release(&m);
}

TEST(putting_again_replaces_interning_again_does_not) {
  Hashmap m = {0};
  uint64_t v;
  hashmap_put(&m, "a", 1, 1);
  hashmap_put(&m, "a", 1, 2);
  assert_true(hashmap_get(&m, "a", 1, &v));
  assert_int_equal(v, 2);
  assert_int_equal(hashmap_intern(&m, "a", 1, 9), 2);
  assert_int_equal(hashmap_intern(&m, "b", 1, 9), 9);
  assert_int_equal(hashmap_intern(&m, "b", 1, 10), 9);
  assert_int_equal(m.len, 2);
  hashmap_release(&m);
}

TEST(keys_are_bytes_with_length_not_strings) {
  Hashmap m = {0};
  uint64_t v;
  hashmap_put(&m, "a\0b", 3, 1);
  hashmap_put(&m, "a\0c", 3, 2);
  hashmap_put(&m, "a", 1, 3);
  hashmap_put(&m, "", 0, 4);
  assert_int_equal(m.len, 4);
  assert_true(hashmap_get(&m, "a\0c", 3, &v));
  assert_int_equal(v, 2);
  assert_true(hashmap_get(&m, "", 0, &v));
  assert_int_equal(v, 4);
  hashmap_release(&m);
}

// --- bitset
// ---------------------------------------------------------------------

static Bitset set_of(size_t n, const uint32_t *members) {
  Bitset b = {0};
  for (size_t i = 0; i < n; i++)
    bitset_add(&b, members[i]);
  return b;
}
#define SET(...)                                                               \
  set_of(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                 \
         (uint32_t[]){__VA_ARGS__})

TEST(a_set_has_what_was_added_and_nothing_else) {
  Bitset b = SET(0, 63, 64, 511, 512, 100000);
  assert_int_equal(bitset_count(&b), 6);
  assert_true(bitset_has(&b, 0));
  assert_true(bitset_has(&b, 63));
  assert_true(bitset_has(&b, 100000));
  assert_false(bitset_has(&b, 1));
  assert_false(bitset_has(&b, 99999));
  assert_false(bitset_has(&b, UINT32_MAX));
  bitset_add(&b, 63);
  assert_int_equal(bitset_count(&b), 6);
  bitset_release(&b);
  assert_int_equal(bitset_count(&b), 0);
}

TEST(members_come_in_order_whatever_lies_between_them) {
  const uint32_t members[] = {0, 63, 64, 511, 100000};
  Bitset b = SET(0, 63, 64, 511, 100000), none = {0};
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(&b, &i); i++)
    assert_int_equal(i, members[n++]);
  assert_int_equal(n, 5);
  uint32_t from = 65;
  assert_true(bitset_next(&b, &from));
  assert_int_equal(from, 511);
  from = UINT32_MAX;
  assert_false(bitset_next(&b, &from));
  from = 0;
  assert_false(bitset_next(&none, &from));
  bitset_release(&b);
}

TEST(a_union_has_the_members_of_both) {
  Bitset a = SET(1, 2), b = SET(2, 3000), c = SET(1, 2, 3000), none = {0};
  bitset_union(&a, &b);
  assert_true(bitset_equal(&a, &c));
  bitset_union(&a, &none);
  assert_true(bitset_equal(&a, &c));
  bitset_union(&none, &b);
  assert_true(bitset_equal(&none, &b));
  bitset_release(&a);
  bitset_release(&b);
  bitset_release(&c);
  bitset_release(&none);
}

TEST(equality_ignores_how_much_room_a_set_takes) {
  Bitset a = SET(5), b = SET(5), none = {0};
  Bitset wide = SET(90000);
  wide.words[90000 / 64] = 0;
  assert_true(bitset_equal(&a, &b));
  assert_true(bitset_equal(&none, &wide));
  assert_true(bitset_equal(&wide, &none));
  assert_false(bitset_equal(&a, &none));
  bitset_release(&a);
  bitset_release(&b);
  bitset_release(&wide);
}

TEST(tally_counts_members_and_ignores_those_out_of_range) {
  Bitset a = SET(0, 3, 70), b = SET(3, 69, 5000);
  uint32_t counts[70] = {0};
  bitset_tally(&a, counts, 70);
  bitset_tally(&b, counts, 70);
  assert_int_equal(counts[0], 1);
  assert_int_equal(counts[3], 2);
  assert_int_equal(counts[69], 1);
  assert_int_equal(counts[1], 0);
  bitset_release(&a);
  bitset_release(&b);
}

static void expect_round_trip(const Bitset *b) {
  Str blob = {0};
  Bitset back = SET(7); // what was there before is replaced
  Err err;
  bitset_write(b, &blob);
  assert_int_equal(bitset_read(&back, blob.data, blob.len, 1 << 20, &err), 0);
  assert_true(bitset_equal(b, &back));
  bitset_release(&back);
  str_release(&blob);
}

TEST(sets_survive_being_written_and_read) {
  Bitset none = {0}, one = SET(0), sparse = SET(5, 600000), dense = {0};
  for (uint32_t i = 0; i < 10000; i += 2)
    bitset_add(&dense, i);
  expect_round_trip(&none);
  expect_round_trip(&one);
  expect_round_trip(&sparse);
  expect_round_trip(&dense);
  bitset_release(&one);
  bitset_release(&sparse);
  bitset_release(&dense);
}

TEST(a_sparse_set_is_small_on_disk) {
  Bitset sparse = SET(5, 600000);
  Str blob = {0};
  bitset_write(&sparse, &blob);
  assert_true(blob.len < 300);
  str_release(&blob);
  bitset_release(&sparse);
}

TEST(every_truncation_of_a_blob_is_refused) {
  Bitset b = SET(1, 700, 5000, 5001);
  Str blob = {0};
  Err err;
  bitset_write(&b, &blob);
  for (size_t n = 0; n < blob.len; n++) {
    // A copy of its own, so that a read past its end is seen by sanitizers.
    char *cut = mem_dup(blob.data, n);
    Bitset back = {0};
    assert_int_equal(bitset_read(&back, cut, n, 1 << 20, &err), -1);
    bitset_release(&back);
    free(cut);
  }
  str_addc(&blob, 0);
  Bitset back = {0};
  assert_int_equal(bitset_read(&back, blob.data, blob.len, 1 << 20, &err), -1);
  bitset_release(&back);
  str_release(&blob);
  bitset_release(&b);
}

TEST(a_blob_that_spans_too_much_is_refused) {
  Bitset b = SET(100000), back = {0};
  Str blob = {0};
  Err err;
  bitset_write(&b, &blob);
  assert_int_equal(bitset_read(&back, blob.data, blob.len, 1000, &err), -1);
  unsigned char huge[] = {0xff, 0xff, 0xff, 0xff, 0};
  assert_int_equal(bitset_read(&back, huge, sizeof huge, SIZE_MAX / 2, &err),
                   -1);
  bitset_release(&back);
  str_release(&blob);
  bitset_release(&b);
}

TEST(any_bytes_are_refused_or_a_set) {
  unsigned seed = 12345;
  for (int round = 0; round < 20000; round++) {
    size_t n = (size_t)(rand_r(&seed) % 200);
    unsigned char *bytes = mem_alloc(n);
    for (size_t i = 0; i < n; i++)
      bytes[i] =
          (unsigned char)(i < 4 ? rand_r(&seed) % 4 * (i == 0) : rand_r(&seed));
    Bitset b = {0};
    Err err;
    if (bitset_read(&b, bytes, n, 4096, &err) == 0)
      expect_round_trip(&b);
    bitset_release(&b);
    free(bytes);
  }
}

// --- fs
// -------------------------------------------------------------------------

static char *scratch(void) {
  char *dir = mem_strdup("/tmp/culprit-unit-XXXXXX");
  assert_non_null(mkdtemp(dir));
  return dir;
}

TEST(a_file_is_read_as_it_was_written) {
  char *dir = scratch();
  char *path = mem_printf("%s/f", dir);
  Str data = {0}, back = {0};
  Err err;
  for (int i = 0; i < 200000; i++)
    str_addc(&data, (char)(i * 7));
  assert_int_equal(fs_write(path, data.data, data.len, &err), 0);
  assert_int_equal(fs_read(path, 0, &back, &err), 0);
  assert_int_equal(back.len, data.len);
  assert_memory_equal(back.data, data.data, data.len);
  str_clear(&back);
  assert_int_equal(fs_read(path, 70000, &back, &err), 0);
  assert_int_equal(back.len, 70000);
  str_release(&data);
  str_release(&back);
  fs_remove_tree(dir);
  free(path);
  free(dir);
}

// A FIFO, a directory, a link and a file that is too large are refused at once.
TEST(only_regular_files_are_read_from_where_others_write) {
  char dir[] = "/tmp/culprit-unit-XXXXXX";
  Str text = {0};
  Err err = {0};
  assert_non_null(mkdtemp(dir));
  char *file = mem_printf("%s/file", dir), *fifo = mem_printf("%s/fifo", dir);
  char *link = mem_printf("%s/link", dir);
  assert_int_equal(fs_write(file, "12345", 5, &err), 0);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  assert_int_equal(symlink(file, link), 0);
  assert_int_equal(fs_read_regular(fifo, 0, &text, &err), -1);
  assert_non_null(strstr(err.text, "not a regular file"));
  assert_int_equal(fs_read_regular(dir, 0, &text, &err), -1);
  assert_int_equal(fs_read_regular(link, 0, &text, &err), -1);
  assert_non_null(strstr(err.text, "symbolic link"));
  assert_int_equal(fs_read_regular("/dev/zero", 0, &text, &err), -1);
  assert_int_equal(fs_read_regular(file, 4, &text, &err), -1);
  assert_non_null(strstr(err.text, "larger than 4 bytes"));
  assert_int_equal(text.len, 0);
  assert_int_equal(fs_read_regular(file, 5, &text, &err), 0);
  assert_string_equal(str_text(&text), "12345");
  int fd = fs_open_regular(AT_FDCWD, link, true, &err);
  assert_true(fd >= 0);
  close(fd);
  fs_remove_tree(dir);
  str_release(&text);
  free(file);
  free(fifo);
  free(link);
}

TEST(a_file_error_names_the_file_and_the_reason) {
  Str s = {0};
  Err err;
  assert_int_equal(fs_read("/nonexistent/x", 0, &s, &err), -1);
  assert_string_equal(err.text, "/nonexistent/x: No such file or directory");
  assert_int_equal(fs_write("/nonexistent/x", "", 0, &err), -1);
  assert_true(text_starts(err.text, "/nonexistent/x: "));
  assert_int_equal(fs_read("/", 0, &s, &err), -1);
  assert_string_equal(err.text, "/: Is a directory");
  str_release(&s);
}

TEST(directories_are_made_and_removed_as_trees) {
  char *dir = scratch();
  char *deep = mem_printf("%s/a//b/c", dir);
  char *link = mem_printf("%s/a/link", dir);
  char *other = scratch();
  Err err;
  assert_int_equal(fs_mkdirs(deep, &err), 0);
  assert_int_equal(fs_mkdirs(deep, &err), 0); // again is no error
  assert_true(fs_exists(deep));
  assert_int_equal(symlink(other, link), 0);
  fs_remove_tree(dir);
  assert_false(fs_exists(dir));
  assert_true(fs_exists(other)); // links are not followed
  fs_remove_tree(other);
  fs_remove_tree(dir); // what is not there is no error
  free(other);
  free(link);
  free(deep);
  free(dir);
}

TEST(a_directory_below_a_file_cannot_be_made) {
  Err err;
  assert_int_equal(fs_mkdirs("/dev/null/x", &err), -1);
  assert_true(text_starts(err.text, "/dev/null"));
}

TEST(executable_means_a_regular_file_with_the_right) {
  assert_true(fs_executable("/bin/sh"));
  assert_false(fs_executable("/"));
  assert_false(fs_executable("/etc/passwd"));
  assert_false(fs_executable("/nonexistent"));
}

static void expect_absolute(const char *path, const char *dir,
                            const char *expected) {
  char *full = path_absolute(path, dir);
  assert_string_equal(full, expected);
  free(full);
}

TEST(absolute_paths_are_made_lexically) {
  expect_absolute("/a/./b/../c", NULL, "/a/c");
  expect_absolute("a", "/x/y", "/x/y/a");
  expect_absolute("../a", "/x/y", "/x/a");
  expect_absolute("../../../a", "/x/y", "/a");
  expect_absolute("/", NULL, "/");
  expect_absolute("..", "/", "/");
  expect_absolute("//a///b/", NULL, "/a/b");
  expect_absolute(".", "/x/", "/x");
  expect_absolute("..a/...", "/x", "/x/..a/...");
  expect_absolute("", "/x", "/x");
}

TEST(relative_paths_start_at_the_current_directory) {
  char cwd[PATH_MAX], expected[PATH_MAX + 8];
  assert_non_null(getcwd(cwd, sizeof cwd));
  snprintf(expected, sizeof expected, "%s/q.c", strcmp(cwd, "/") ? cwd : "");
  expect_absolute("q.c", NULL, expected);
}

TEST(path_below_cuts_only_whole_directories) {
  assert_string_equal(path_below("/a/b/c", "/a/b"), "c");
  assert_string_equal(path_below("/a/b/c", "/a/b/"), "c");
  assert_string_equal(path_below("/a/bc", "/a/b"), "/a/bc");
  assert_string_equal(path_below("/a/b", "/a/b"), "/a/b");
  assert_string_equal(path_below("/a", "/"), "a");
}

TEST(path_base_is_what_follows_the_last_slash) {
  assert_string_equal(path_base("/a/b.c"), "b.c");
  assert_string_equal(path_base("b.c"), "b.c");
  assert_string_equal(path_base("a/"), "");
}

TEST(path_of_self_is_the_directory_of_this_test) {
  char *dir = path_of_self();
  assert_int_equal(dir[0], '/');
  char *self = mem_printf("%s/test_util", dir);
  assert_true(fs_executable(self));
  free(self);
  free(dir);
}

TEST(a_slip_is_a_letter_too_many_too_few_another_or_two_swapped) {
  assert_int_equal(text_distance("run", "run"), 0);
  assert_int_equal(text_distance("rnu", "run"), 1);
  assert_int_equal(text_distance("runs", "run"), 1);
  assert_int_equal(text_distance("rn", "run"), 1);
  assert_int_equal(text_distance("rum", "run"), 1);
  assert_int_equal(text_distance("", "run"), 3);
  assert_int_equal(text_distance("kitten", "sitting"), 3);
  assert_true(text_is_slip("rnu", "run"));
  assert_true(text_is_slip("refernce", "reference"));
  assert_false(text_is_slip("web", "run"));
}
