// What is read of git and of an earlier search, and where lines went.
#include "test.h"

#include "history/last_changes.h"
#include "history/version_changes.h"
#include "since/trial.h"

static Arena arena;

static int parse_hunks(const char *text, Hunks *out, bool *binary) {
  return hunks_parse(text, strlen(text), out, binary, &arena);
}

TEST(hunks_have_ranges_and_declarations) {
  Hunks h = {0};
  bool binary;
  assert_int_equal(parse_hunks("diff --git a b\n--- a\n+++ b\n"
                               "@@ -3,2 +3 @@ int f(void)\n-a\n-b\n+c\n"
                               "@@ -9,0 +9,2 @@\n+@@ -1 +1 @@\n+x\n",
                               &h, &binary),
                   0);
  assert_int_equal(h.len, 2);
  assert_int_equal(h.items[0].old_start, 3);
  assert_int_equal(h.items[0].old_count, 2);
  assert_int_equal(h.items[0].count, 1);
  assert_string_equal(h.items[0].declaration, "int f(void)");
  assert_int_equal(h.items[1].old_start, 10); // in front of line 10
  assert_int_equal(h.items[1].start, 9);
  assert_false(binary);
  array_release(&h);
}

TEST(binary_files_have_no_hunks) {
  Hunks h = {0};
  bool binary;
  assert_int_equal(
      parse_hunks("diff --git a b\nBinary files a and b differ\n", &h, &binary),
      0);
  assert_true(binary);
  assert_int_equal(h.len, 0);
}

TEST(a_damaged_header_of_a_hunk_is_refused) {
  static const char *const bad[] = {"@@ -x +1 @@\n", "@@ -1,2 1 @@\n",
                                    "@@ -99999999999 +1 @@\n", "@@\n", "@@ -1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Hunks h = {0};
    bool binary;
    assert_int_equal(parse_hunks(bad[i], &h, &binary), -1);
    array_release(&h);
  }
}

// Lines 3-4 became line 3, and two lines came in front of the old line 10.
static Hunks two_hunks(void) {
  Hunks h = {0};
  array_push(&h, (Hunk){3, 2, 3, 1, ""});
  array_push(&h, (Hunk){10, 0, 9, 2, ""});
  return h;
}

TEST(unchanged_lines_are_followed_and_changed_ones_are_not) {
  Hunks h = two_hunks();
  uint32_t to;
  assert_true(hunks_map(&h, 1, 2, &to) && to == 1);
  assert_true(hunks_map(&h, 5, 3, &to) && to == 4);
  assert_true(hunks_map(&h, 10, 1, &to) && to == 11);
  assert_false(hunks_map(&h, 2, 2, &to));
  assert_false(hunks_map(&h, 4, 1, &to));
  assert_false(hunks_map(&h, 9, 2, &to)); // lines were put between these
  array_release(&h);
}

TEST(deleted_lines_are_followed_by_the_place_they_were_at) {
  Hunks h = two_hunks();
  uint32_t to;
  assert_true(hunks_map(&h, 3, 0, &to) && to == 3);
  assert_true(hunks_map(&h, 5, 0, &to) && to == 4);
  assert_false(hunks_map(&h, 4, 0, &to));
  assert_false(hunks_map(&h, 10, 0, &to)); // in front or behind?
  array_release(&h);
}

#define OID "0123456789abcdef0123456789abcdef01234567"

TEST(names_of_files_are_bytes) {
  static const char text[] = ":100644 100644 " OID " " OID " M\0a\n\377 b\0"
                             ":100644 100644 " OID " " OID " R090\0old\0new\0";
  FileChanges files = {0};
  assert_int_equal(changes_parse(text, sizeof text - 1, &files, &arena), 0);
  assert_int_equal(files.len, 2);
  assert_string_equal(files.items[0].path, "a\n\377 b");
  assert_string_equal(files.items[1].old_path, "old");
  assert_string_equal(files.items[1].path, "new");
  array_release(&files);
}

TEST(every_prefix_of_a_list_of_changes_can_be_read) {
  static const char text[] = ":100644 100644 " OID " " OID " R090\0old\0new\0";
  for (size_t n = 0; n < sizeof text - 1; n++) {
    FileChanges files = {0};
    char *copy = malloc(n + 1); // so that a read past the end shows
    memcpy(copy, text, n);
    assert_int_equal(changes_parse(copy, n, &files, &arena), n ? -1 : 0);
    array_release(&files);
    free(copy);
  }
}

static int parse_outcomes(const char *text, size_t n, Texts *letters) {
  Hashmap known = {0};
  int rc = outcomes_parse(text, n, "k1", 2, &known, letters, &arena);
  hashmap_release(&known);
  return rc;
}

TEST(outcomes_that_were_cut_off_end_before_the_cut) {
  static const char text[] = "culprit since 1 k1\n" OID " pf\n" OID ":2 -\n";
  Texts letters = {0};
  assert_int_equal(parse_outcomes(text, sizeof text - 1, &letters), 0);
  assert_int_equal(letters.len, 2);
  assert_string_equal(letters.items[0], "pf");
  letters.len = 0;
  assert_int_equal(parse_outcomes(text, sizeof text - 3, &letters), 0);
  assert_int_equal(letters.len, 1);
  array_release(&letters);
}

TEST(outcomes_of_another_search_or_damaged_ones_are_refused) {
  static const char *const bad[] = {"",
                                    "culprit since 2 k1\n",
                                    "culprit since 1 k2\n",
                                    "culprit since 1 k1\n" OID " p\n",
                                    "culprit since 1 k1\n" OID " pfp\n",
                                    "culprit since 1 k1\n" OID " px\n",
                                    "culprit since 1 k1\n" OID OID " pf\n",
                                    "culprit since 1 k1\npf\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Texts letters = {0};
    assert_int_equal(parse_outcomes(bad[i], strlen(bad[i]), &letters), -1);
    array_release(&letters);
  }
}

// Bytes of valid files changed at random: nothing is read past the end.
TEST(readers_survive_random_bytes) {
  static const char *const seeds[] = {":100644 100644 " OID " " OID
                                      " M\nname\n",
                                      "@@ -3,2 +3 @@ int f(void)\n-a\n+c\n",
                                      "culprit since 1 k1\n" OID " pf\n"};
  srand(23);
  for (int i = 0; i < 30000; i++) {
    const char *seed = seeds[i % 3];
    size_t n = strlen(seed);
    char *text = mem_strdup(seed);
    for (int k = 0; k < 3; k++)
      text[(size_t)rand() % n] = (char)rand();
    FileChanges files = {0};
    Hunks hunks = {0};
    Texts letters = {0};
    bool binary;
    changes_parse(text, n, &files, &arena);
    hunks_parse(text, n, &hunks, &binary, &arena);
    parse_outcomes(text, n, &letters);
    array_release(&files);
    array_release(&hunks);
    array_release(&letters);
    free(text);
    if (i % 1000 == 0)
      arena_release(&arena);
  }
}

TEST(lines_begin_behind_line_ends) {
  LineStarts at = {0};
  line_starts("a\nb\nc", 5, &at);
  assert_int_equal(at.len, 4);
  assert_int_equal(at.items[2], 4);
  assert_int_equal(at.items[3], 5);
  array_release(&at);
}

TEST(blame_names_commit_date_and_subject_of_each_line) {
  static const char text[] =
      OID " 3 4 1\nauthor a\ncommitter-time 1673654400\n"
          "committer-tz +0100\nsummary Parse links\n"
          "filename a.c\n\tint x;\n" OID " 5 9 1\nfilename a.c\n\tint y;\n";
  LineChanges list = {0};
  assert_int_equal(blame_parse(text, &list, &arena), 0);
  assert_int_equal(list.len, 2);
  assert_int_equal(list.items[1].line, 9);
  assert_string_equal(list.items[1].text,
                      "last changed 2023-01-14 by 0123456 'Parse links'");
  array_release(&list);
}

TEST(a_long_subject_is_cut_in_front_of_a_character) {
  Str text = {0};
  LineChanges list = {0};
  str_add(&text, OID " 1 1 1\nsummary ");
  for (int i = 0; i < 71; i++)
    str_addc(&text, 'x');
  str_add(&text, "\303\244yyyy\n\tint x;\n");
  assert_int_equal(blame_parse(str_text(&text), &list, &arena), 0);
  assert_true(strstr(list.items[0].text, "xxx...'") != NULL);
  assert_null(strchr(list.items[0].text, '\303'));
  str_release(&text);
  array_release(&list);
}

TEST(blame_that_is_damaged_is_refused_or_read_in_part) {
  static const char seed[] = OID " 3 4 1\nsummary s\n\tint x;\n";
  LineChanges list = {0};
  assert_int_equal(blame_parse("fatal: no\n", &list, &arena), -1);
  srand(5);
  for (int i = 0; i < 5000; i++) {
    char *text = mem_strdup(seed);
    text[(size_t)rand() % (sizeof seed - 1)] = (char)rand();
    list.len = 0;
    blame_parse(text, &list, &arena);
    free(text);
  }
  array_release(&list);
}

TEARDOWN {
  arena_release(&arena);
  return 0;
}
