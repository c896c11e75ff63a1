#include "greatest.h"
#include "span.h"

TEST reads_two_numbers(void) {
  Span s;
  ASSERT(span_parse("3-7", &s));
  ASSERT_EQ(3, s.from);
  PASS();
}

TEST reads_no_letters(void) {
  Span s;
  ASSERT(!span_parse("a-b", &s));
  PASS();
}

TEST counts_both_ends(void) {
  ASSERT_EQ(3, span_length((Span){1, 3}));
  PASS();
}

TEST is_for_later(void) { SKIPm("not written yet"); }

TEST meets_itself(void) {
  ASSERT_EQ(3, span_length(span_meet((Span){1, 3}, (Span){1, 3})));
  PASS();
}

TEST meets_its_beginning(void) {
  ASSERT_EQ(2, span_length(span_meet((Span){1, 3}, (Span){0, 2})));
  PASS();
}

TEST meets_a_part(void) {
  ASSERT_EQ(2, span_meet((Span){1, 3}, (Span){1, 2}).to);
  PASS();
}

static SUITE(all) {
  RUN_TEST(reads_two_numbers);
  RUN_TEST(reads_no_letters);
  RUN_TEST(counts_both_ends);
  RUN_TEST(is_for_later);
  RUN_TEST(meets_itself);
  RUN_TEST(meets_its_beginning);
  RUN_TEST(meets_a_part);
}

GREATEST_MAIN_DEFS()

int main(void) {
  GREATEST_MAIN_BEGIN();
  RUN_SUITE(all);
  GREATEST_MAIN_END();
}
