#include <criterion/criterion.h>

#include "span.h"

Test(reading, two_numbers) {
  Span s;
  cr_assert(span_parse("3-7", &s));
  cr_assert_eq(s.to, 7);
}

Test(reading, nothing) {
  Span s;
  cr_assert_not(span_parse("", &s));
}

Test(length, both_ends) { cr_assert_eq(span_length((Span){2, 4}), 3); }

Test(meeting, itself) {
  cr_assert_eq(span_meet((Span){2, 5}, (Span){2, 5}).to, 5);
}

Test(meeting, less) {
  cr_assert_eq(span_meet((Span){2, 5}, (Span){2, 4}).to, 4);
}

Test(meeting, the_rest) {
  cr_assert_eq(span_meet((Span){2, 5}, (Span){4, 9}).from, 4);
}

Test(meeting, nowhere) {
  cr_expect_eq(span_meet((Span){2, 5}, (Span){0, 2}).to, 2);
}
