// Sets of lines (look/line_sets.h), compared with plain bit sets.
#include "look/line_sets.h"
#include "model/library_effects.h"
#include "model/wrong_byte.h"
#include "test.h"

enum { LINES = 1000, SETS = 200 };

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

TEST(sets_with_the_same_lines_have_the_same_number) {
  LineSets s;
  line_sets_init(&s, LINES);
  uint32_t a = line_sets_with(&s, line_sets_with(&s, 0, 3), 700);
  uint32_t b = line_sets_with(&s, line_sets_with(&s, 0, 700), 3);
  assert_int_equal(a, b);
  assert_int_equal(line_sets_union(&s, a, 0), a);
  assert_int_equal(line_sets_union(&s, 0, a), a);
  assert_int_equal(line_sets_with(&s, a, 700), a);
  assert_int_not_equal(line_sets_with(&s, a, 4), a);
  line_sets_release(&s);
}

// Every union of two earlier sets has the lines of both.
TEST(unions_have_the_lines_of_both_sets) {
  LineSets s;
  uint32_t sets[SETS], state = 7;
  Bitset plain[SETS] = {0};
  line_sets_init(&s, LINES);
  for (uint32_t i = 0; i < SETS; i++) {
    uint32_t a = i ? next_random(&state) % i : 0;
    uint32_t b = i ? next_random(&state) % i : 0;
    uint32_t line = next_random(&state) % LINES;
    sets[i] = i ? line_sets_union(&s, sets[a], sets[b]) : 0;
    if (i) {
      bitset_union(&plain[i], &plain[a]);
      bitset_union(&plain[i], &plain[b]);
    }
    sets[i] = line_sets_with(&s, sets[i], line);
    bitset_add(&plain[i], line);
    Bitset listed = {0};
    line_sets_list(&s, sets[i], &listed);
    assert_true(bitset_equal(&listed, &plain[i]));
    bitset_release(&listed);
  }
  for (uint32_t i = 0; i < SETS; i++)
    bitset_release(&plain[i]);
  assert_false(s.full);
  line_sets_release(&s);
}

TEST(a_wrong_byte_is_read_as_it_was_written) {
  WrongByte b = {17, '5', '3', "/a b/f.c", 90}, back;
  Str text = {0};
  wrong_byte_write(&b, "printf", &text);
  assert_string_equal(str_text(&text), "17 35 33 90 printf /a b/f.c");
  assert_true(wrong_byte_read(str_text(&text), &back));
  assert_int_equal(back.offset, 17);
  assert_int_equal(back.line, 90);
  assert_string_equal(back.source, "/a b/f.c");
  str_clear(&text);
  wrong_byte_tell(&back, &text);
  assert_string_equal(str_text(&text), "`3` where `5` was expected");
  str_release(&text);
}

TEST(ends_and_bytes_that_are_not_shown_are_told) {
  static const struct {
    const char *text, *told;
  } cases[] = {
      {"0 - 0a 1 puts f.c", "a line end where the end of the output was "
                            "expected"},
      {"0 20 - 1 - f.c", "where a blank was expected"},
      {"0 60 ff 1 puts f.c", "byte 0xff where byte 0x60 was expected"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    WrongByte b;
    Str text = {0};
    assert_true(wrong_byte_read(cases[i].text, &b));
    wrong_byte_tell(&b, &text);
    assert_string_equal(str_text(&text), cases[i].told);
    str_release(&text);
  }
}

TEST(a_damaged_wrong_byte_says_nothing) {
  static const char *const bad[] = {"",
                                    "17",
                                    "17 zz 33 90 printf f.c",
                                    "17 35 35 90 printf f.c",
                                    "- 35 33 90 printf f.c",
                                    "17 35 33 90 "};
  WrongByte b;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_false(wrong_byte_read(bad[i], &b));
}

static void expect_pointee(const char *name, int arg, PointeeUse use) {
  LibraryPointee p = library_pointee(library_call(name), arg);
  assert_int_equal(p.use, use);
}

TEST(a_call_reads_writes_or_leaves_what_its_arguments_point_to) {
  expect_pointee("strcpy", 0, POINTEE_WRITTEN);
  expect_pointee("strcpy", 1, POINTEE_TEXT);
  expect_pointee("strcat", 0, POINTEE_TEXT); // and written
  expect_pointee("free", 0, POINTEE_UNUSED);
  expect_pointee("snprintf", 2, POINTEE_TEXT);
  expect_pointee("snprintf", 3, POINTEE_UNKNOWN);
  expect_pointee("strtok_r", 0, POINTEE_TEXT);
  expect_pointee("strtok_r", 2, POINTEE_UNKNOWN);
  expect_pointee("bsearch", 1, POINTEE_UNKNOWN);
  expect_pointee("a_function_of_the_program", 0, POINTEE_UNKNOWN);
  LibraryPointee p = library_pointee(library_call("qsort"), 0);
  assert_int_equal(p.use, POINTEE_BYTES);
  assert_int_equal(p.size, 1);
  assert_int_equal(p.factor, 2);
}

TEST(only_printf_has_a_format_to_print) {
  assert_int_equal(library_format(library_call("__snprintf_chk")), 4);
  assert_int_equal(library_format(library_call("sscanf")), -1);
  assert_int_equal(library_format(NULL), -1);
}
