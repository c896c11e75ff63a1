// What tells changes apart that pass all tests: outputs compared and shortened
// (try/question_text.h), inputs that differ little (input/variations.h), and the
// order of changes (try/oddity.h).
#include <string.h>

#include "input/near_inputs.h"
#include "input/variations.h"
#include "test.h"
#include "try/oddity.h"
#include "try/question_text.h"

// --- outputs ----------------------------------------------------------------

static QuestionAnswer answer(const char *output, int status) {
  QuestionAnswer a = {.status = status, .ran = true};
  str_add(&a.output, output);
  return a;
}

static void expect_told(const char *first, const char *second, uint32_t line,
                        const char *told, const char *other) {
  Arena arena = {0};
  QuestionAnswer a[] = {answer(first, 0), answer(second, 0)};
  AnswerPlace place = answers_place(a, 2);
  assert_int_equal(place.line, line);
  assert_string_equal(answer_told(&a[0], 0, &place, &arena).output, told);
  assert_string_equal(answer_told(&a[1], 1, &place, &arena).output, other);
  for (size_t i = 0; i < 2; i++)
    str_release(&a[i].output);
  arena_release(&arena);
}

TEST(outputs_are_told_from_the_first_line_that_differs_on) {
  expect_told("7\n", "8\n", 1, "7\n", "8\n");
  expect_told("a\nb\n7 x\nend\n", "a\nb\n7 y\nend\n", 3, "7 x\nend\n",
              "7 y\nend\n");
  expect_told("a\n", "a\nb\n", 2, "", "b\n");
  expect_told("", "b", 1, "", "b");
  expect_told("a", "a\n", 1, "a", "a\n");
  expect_told("same\nsame\n", "same\nsame\n", 1, "same\nsame\n",
              "same\nsame\n");
}

TEST(a_difference_far_to_the_right_is_seen) {
  char left[101], right[101];
  memset(left, 'x', 100);
  left[100] = 0;
  memcpy(right, left, sizeof right);
  right[80] = 'y';
  expect_told(left, right, 1, "...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
              "...xxxxxxxxxxyxxxxxxxxxxxxxxxxxxx");
}

TEST(bytes_that_are_no_text_are_shown_as_numbers_and_long_text_is_cut) {
  Arena arena = {0};
  char many[1000];
  memset(many, 'a', sizeof many);
  assert_string_equal(question_text("a\0b\x1b\xff\n\t\xc3\xa9", 9, &arena),
                      "a\\x00b\\x1b\\xff\n\t\xc3\xa9");
  const char *cut = question_text(many, sizeof many, &arena);
  assert_true(strlen(cut) < 500 && text_ends(cut, "aaa..."));
  arena_release(&arena);
}

TEST(answers_differ_by_output_status_and_whether_they_end) {
  QuestionAnswer a = answer("7", 0), b = answer("7", 1), c = answer("8", 0),
                 d = answer("9", 0), e = answer("", -9);
  assert_true(answer_equals(&a, &a));
  assert_false(answer_equals(&a, &b));
  assert_false(answer_equals(&a, &c));
  d.endless = e.endless = true;
  assert_true(answer_equals(&d, &e));
  assert_false(answer_equals(&a, &d));
  str_release(&a.output);
  str_release(&b.output);
  str_release(&c.output);
  str_release(&d.output);
  str_release(&e.output);
}

// --- inputs -----------------------------------------------------------------

// Its sources, "|" between.
static bool is_made(const InputVariations *v, const char *want) {
  bool found = false;
  for (size_t i = 0; i < v->len; i++) {
    Str text = {0};
    for (size_t k = 0; k < v->items[i].sources.len; k++) {
      const InputSource *s = &v->items[i].sources.items[k];
      str_addf(&text, "%s%.*s", k ? "|" : "", (int)s->size,
               (const char *)s->bytes);
    }
    found |= !strcmp(str_text(&text), want);
    str_release(&text);
  }
  return found;
}

TEST(variations_change_numbers_and_arguments) {
  Inputs in = {0};
  InputVariations v = {0};
  inputs_add_stdin(&in, "x\n5 y\n", 6);
  inputs_add_arg(&in, 1, "-3");
  inputs_add_arg(&in, 2, "a1");
  variations_of(&in, &v);
  static const char *const wanted[] = {
      "x\n6 y\n|-3|a1",  "x\n4 y\n|-3|a1", "x\n0 y\n|-3|a1", "x\n-5 y\n|-3|a1",
      "x\n10 y\n|-3|a1", "x\n5 y\n|-2|a1", "x\n5 y\n|-4|a1", "x\n5 y\n|0|a1",
      "x\n5 y\n|3|a1",   "x\n5 y\n|-3|a2", "x\n5 y\n|a1|-3", "x\n5 y\n|-3",
      "x\n5 y|-3|a1",    "x\n|-3|a1"};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (!is_made(&v, wanted[i]))
      fail_msg("not made: %s", wanted[i]);
  assert_false(is_made(&v, "x\n5 y\n|-3|a1"));
  for (size_t i = 0; i < v.len; i++)
    inputs_release(&v.items[i]);
  array_release(&v);
  inputs_release(&in);
}

TEST(variations_are_few) {
  Inputs in = {0};
  InputVariations v = {0};
  for (uint32_t i = 1; i < 40; i++)
    inputs_add_arg(&in, i, "1 2 3 4 5 6 7 8 9 99999999999999999999999");
  variations_of(&in, &v);
  assert_true(v.len && v.len <= VARIATIONS_MOST + 1);
  for (size_t i = 0; i < v.len; i++)
    inputs_release(&v.items[i]);
  array_release(&v);
  inputs_release(&in);
}

TEST(an_input_is_text_or_not) {
  Inputs in = {0};
  inputs_add_arg(&in, 1, "h\xc3\xa9 ~");
  inputs_add_stdin(&in, "a\tb\n", 4);
  assert_true(inputs_are_text(&in));
  inputs_set(&in, 1, "a\0b", 3);
  assert_false(inputs_are_text(&in));
  inputs_set(&in, 1, "", 0);
  inputs_set(&in, 0, "\xff", 1);
  assert_false(inputs_are_text(&in));
  inputs_set(&in, 0, "a\nb", 3); // in an argument
  assert_false(inputs_are_text(&in));
  inputs_release(&in);
}

// --- changes ----------------------------------------------------------------

static unsigned oddity_at(SiteKind kind, unsigned flags, TryChange change,
                          int64_t b) {
  Site site = {.kind = kind, .flags = (uint8_t)flags};
  Change c = {.site = &site, .change = change, .b = b};
  return change_oddity(&c);
}

TEST(changes_that_people_make_are_less_odd) {
  unsigned compare = oddity_at(SITE_COMPARE, 0, CHANGE_COMPARE, 0);
  unsigned negated = oddity_at(SITE_COMPARE, SITE_IMPLICIT, CHANGE_NEGATE, 0);
  unsigned forced = oddity_at(SITE_COMPARE, 0, CHANGE_FORCE, 0);
  assert_true(compare < negated && negated < forced);
  assert_int_equal(oddity_at(SITE_COMPARE, 0, CHANGE_NEGATE, 0), compare);
  assert_int_equal(oddity_at(SITE_ARITH, 0, CHANGE_ARITH, 0), compare);
  assert_int_equal(oddity_at(SITE_LOGIC, 0, CHANGE_LOGIC, 0), compare);
  assert_int_equal(oddity_at(SITE_CONSTANT, 0, CHANGE_ADD, 0), compare);
  assert_int_equal(oddity_at(SITE_VARIABLE, 0, CHANGE_NAME, 0), compare);
  assert_int_equal(oddity_at(SITE_CONSTANT, 0, CHANGE_NAME, 0), negated);
  assert_int_equal(oddity_at(SITE_RETURN, 0, CHANGE_ADD, 0), negated);
  assert_int_equal(oddity_at(SITE_COMPARE, 0, CHANGE_AND, 0), negated);
  assert_int_equal(oddity_at(SITE_COMPARE, 0, CHANGE_AND, 63), forced);
  assert_int_equal(oddity_at(SITE_COMPARE, 0, CHANGE_OR_NAME, 63), negated);
  assert_int_equal(oddity_at(SITE_STORE, 0, CHANGE_SKIP, 0), forced);
}
