// Sets of lines (look/line_sets.h), compared with plain bit sets.
#include "look/line_sets.h"
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
