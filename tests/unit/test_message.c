// Why a test failed, in its own words: which line that is, what makes two
// messages the same, which lines name a test.
#include "oracle/message.h"
#include "test.h"
#include "util/mem.h"

static char *normal(const char *line) {
  Str s = {0};
  message_normalise(line, &s);
  return str_take(&s);
}

static void is_normal(const char *line, const char *expected) {
  char *got = normal(line);
  assert_string_equal(got, expected);
  free(got);
}

TEST(numbers_are_left_out_of_a_signature) {
  is_normal("half: 3 is not even", "half: N is not even");
  is_normal("got -12, expected +7", "got N, expected N");
  is_normal("3.25 != 0x1f", "N != N");
  is_normal("took 0.01s", "took Ns");
}

TEST(numbers_of_lines_behind_a_file_stay) {
  is_normal("parse.c:12: got 3", "parse.c:12: got N");
  is_normal("a/b.h:7:9: x", "a/b.h:7:N: x");
  is_normal("time: 12:30", "time: N:N");
}

TEST(numbers_inside_of_names_stay) {
  is_normal("utf8 and sha256", "utf8 and sha256");
  is_normal("test_3 failed", "test_3 failed");
}

TEST(quoted_values_are_left_out) {
  is_normal("expected \"a b\" got 'c'", "expected '...' got '...'");
  is_normal("token `x' is bad", "token '...' is bad");
  is_normal("it isn't so", "it isn't so");
}

TEST(addresses_and_temporary_files_are_left_out) {
  is_normal("freed 0x5581aa at 0xffff", "freed N at N");
  is_normal("cannot open /tmp/x.Qr8/in: gone", "cannot open /tmp/...: gone");
  is_normal("in /home/me/tmp/x", "in /home/me/tmp/x");
}

TEST(any_bytes_can_be_normalised) {
  char line[64];
  unsigned seed = 1;
  for (int i = 0; i < 20000; i++) {
    size_t n = (size_t)i % sizeof line;
    for (size_t k = 0; k < n; k++) {
      seed = seed * 1103515245 + 12345;
      line[k] = "ab1:. '\"`/-+x0\033[m\200"[(seed >> 16) % 18];
      line[k] = line[k] ? line[k] : '/';
    }
    line[n ? n - 1 : 0] = '\0';
    free(normal(line));
    Message m;
    if (message_find(line, strlen(line), i & 1, &m))
      message_release(&m);
  }
}

static void finds(const char *text, const char *line, const char *place) {
  Message m;
  assert_true(message_find(text, strlen(text), false, &m));
  assert_string_equal(m.line, line);
  assert_string_equal(m.place, place);
  message_release(&m);
}

TEST(the_line_that_says_most_is_the_message) {
  finds("start\nt.c:7: FAIL: x is 3\nbye\n", "t.c:7: FAIL: x is 3", "t.c:7");
  finds("one\ntwo\n", "two", "");
  finds("\033[31mfatal\033[0m \n3 tests run\n", "fatal", "");
}

static bool says(const char *text) {
  return message_says_failed(text, strlen(text), NULL);
}

TEST(lines_that_say_a_test_failed) {
  static const char *const lines[] = {
      "FAIL: x",
      "not ok 3 - y",
      "a.c:3: Assertion `x' failed",
      "expected 3, got 4",
      "check failed: a == b",
      "[  FAILED  ] name",
      "t.c:10: half(-4) == -2 failed",
      "check x == 3 failed",
      "FAIL: 'a' != 'b' in test 3 of 5",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (!says(lines[i]))
      fail_msg("not seen: %s", lines[i]);
}

TEST(lines_that_sum_up_blame_none) {
  static const char *const lines[] = {
      "0 failed",
      "3 of 9 tests failed",
      "Tests: 9, failures: 3",
      "no failures",
      "=== 2 failed, 3 passed in 0.1 s ===",
      "  2 tests passed, 1 failed",
      "100%: Checks: 6, Failures: 2",
      "FAIL test_span (exit status: 1)",
      "9 Tests 1 Failures 0 Ignored\nFAIL",
      "Run Summary:  Type Total Ran Passed Failed",
      "ok 3 - what failed_before is",
      "failover works",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (says(lines[i]))
      fail_msg("blames: %s", lines[i]);
}

TEST(the_users_own_lines_say_it_too) {
  regex_t also;
  assert_int_equal(regcomp(&also, "^[*]{3}", REG_EXTENDED | REG_NOSUB), 0);
  assert_true(message_says_failed("a\n*** off\n", 10, &also));
  assert_false(message_says_failed("a *** off\n", 10, &also));
  regfree(&also);
}

static void names(const char *line, const char *test, long iteration) {
  char *name;
  long i;
  assert_true(message_names_failed(line, &name, &i));
  assert_string_equal(name, test);
  assert_int_equal(i, iteration);
  free(name);
}

TEST(frameworks_name_what_failed) {
  char *name;
  long i;
  names("t.c:13:F:days:leap:2: Assertion '1 == 2' failed", "leap", 2);
  names("t.c:13:E:days:crash:0: (after this point) Received signal 11", "crash",
        0);
  names("[FAIL] suite::name: (0.00s)", "suite::name", -1);
  names("[  FAILED  ] peeks_deeper", "peeks_deeper", -1);
  names("  Suite two, Test meeting less had failures:", "meeting less", -1);
  names("t.c:3:test_x:FAIL: Expected 1 Was 2", "test_x", -1);
  names("test_meeting failed:", "test_meeting", -1);
  assert_false(message_names_failed("t.c:13:P:d:leap:0: Passed", &name, &i));
  assert_false(message_names_failed("[PASS] suite::name", &name, &i));
  assert_false(
      message_names_failed("[  FAILED  ] 2 test(s), listed below:", &name, &i));
}

static void skips(const char *line, const char *test) {
  char *name;
  assert_true(message_names_skipped(line, &name));
  assert_string_equal(name, test);
  free(name);
}

TEST(frameworks_name_what_was_skipped) {
  char *name;
  skips("[SKIP] suite::name: no net", "suite::name");
  skips("[  SKIPPED ] later", "later");
  skips("not ok 1 # SKIP later", "later");
  skips("t.c:3:test_x:IGNORE: not yet", "test_x");
  skips("t.c:3:test_x:IGNORE", "test_x");
  skips("ok 3 /span/later # SKIP not yet", "/span/later");
  skips("/span/later: SKIP (not yet)", "/span/later");
  assert_false(
      message_names_skipped("[  SKIPPED ] 2 test(s), listed below:", &name));
  assert_false(message_names_skipped("ok 3 /span/later", &name));
  assert_false(message_names_skipped("t.c:3:test_x:PASS", &name));
}

static void has_title(const char *line, const char *title) {
  char *got = message_tap_title(line, 9);
  assert_string_equal(got, title);
  free(got);
}

TEST(titles_of_tap) {
  has_title("ok 3 - parses nothing", "3 - parses nothing");
  has_title("not ok 3 parses nothing  ", "3 - parses nothing");
  has_title("  ok 12", "12");
  has_title("ok - parses", "9 - parses");
  has_title("ok", "9");
  has_title("ok 2nd try", "9 - 2nd try");
  has_title("ok 4 - # skip no net", "4");
  has_title("not ok 4 - issue #7 # TODO later", "4 - issue #7");
}

TEST(lines_of_tap) {
  assert_int_equal(message_tap("ok 1 - a"), TAP_OK);
  assert_int_equal(message_tap("  not ok 2"), TAP_NOT_OK);
  assert_int_equal(message_tap("not ok 3 - b # TODO later"), TAP_OK);
  assert_int_equal(message_tap("ok 4 # skip no net"), TAP_SKIPPED);
  assert_int_equal(message_tap("ok 5 - issue #7"), TAP_OK);
  assert_int_equal(message_tap("okay"), TAP_NOTHING);
  assert_int_equal(message_tap("# not ok"), TAP_NOTHING);
}
