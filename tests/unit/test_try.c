// Unit tests of experiments: which changes a site has (try/changes.h), clauses
// of conditions (try/clauses.h), the table of sites (program/site_table.h).
#include "test.h"

#include "program/site_table.h"
#include "try/changes.h"
#include "try/clauses.h"

// --- changes ----------------------------------------------------------------

static Changes changes_at(const Site *site) {
  Changes out = {0};
  changes_of(site, NULL, 0, &out);
  return out;
}

// The cost of a change, or -1: the site does not have it.
static int cost_of(const Changes *all, TryChange change, int64_t a) {
  for (size_t i = 0; i < all->len; i++)
    if (all->items[i].change == change && all->items[i].a == a)
      return (int)all->items[i].cost;
  return -1;
}

static void describes(const Site *site, TryChange change, int64_t a, int64_t b,
                      const char *expected) {
  Str text = {0};
  Change c = {.site = site, .change = change, .a = a, .b = b};
  change_describe(&c, &text);
  assert_string_equal(str_text(&text), expected);
  str_release(&text);
}

TEST(every_change_of_a_comparison_has_other_outcomes) {
  for (int op = 0; op < OP_COMPARES; op++) {
    Site site = {.kind = SITE_COMPARE, .op = (uint8_t)op, .text = ""};
    Changes all = changes_at(&site);
    Change none = {.site = &site};
    bool seen[8] = {false};
    seen[change_outcomes(&none)] = true;
    for (size_t i = 0; i < all.len; i++) {
      int outcomes = change_outcomes(&all.items[i]);
      assert_in_range(outcomes, 0, 7);
      assert_false(seen[outcomes]);
      seen[outcomes] = true;
    }
    assert_int_equal(all.len, 7); // all that there are
    array_release(&all);
  }
}

TEST(the_boundary_of_a_comparison_comes_first) {
  static const TryCompare boundary[][2] = {
      {OP_LT, OP_LE}, {OP_LE, OP_LT}, {OP_GT, OP_GE}, {OP_GE, OP_GT}};
  for (size_t i = 0; i < 4; i++) {
    Site site = {.kind = SITE_COMPARE, .op = (uint8_t)boundary[i][0]};
    Changes all = changes_at(&site);
    int least = cost_of(&all, CHANGE_COMPARE, boundary[i][1]);
    assert_int_equal(least, 0);
    for (size_t k = 0; k < all.len; k++)
      assert_true(all.items[k].a == boundary[i][1] || all.items[k].cost > 0);
    // Negated before forced, forced before another relation.
    assert_true(cost_of(&all, CHANGE_NEGATE, 0) <
                cost_of(&all, CHANGE_FORCE, 1));
    assert_true(cost_of(&all, CHANGE_FORCE, 1) <
                cost_of(&all, CHANGE_COMPARE, OP_EQ));
    array_release(&all);
  }
}

TEST(pointers_are_not_ordered_and_a_truth_value_has_no_operator) {
  Site pointer = {.kind = SITE_COMPARE, .op = OP_EQ, .flags = SITE_POINTER};
  Site truth = {.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT};
  Site natural = {.kind = SITE_COMPARE,
                  .op = OP_NE,
                  .flags = SITE_IMPLICIT | SITE_UNSIGNED};
  Site test = {.kind = SITE_TEST};
  Changes all = changes_at(&pointer);
  assert_int_equal(all.len, 3); // negated, true, false
  array_release(&all);
  all = changes_at(&truth);
  assert_int_equal(all.len, 4);
  assert_true(cost_of(&all, CHANGE_COMPARE, OP_GT) > 0);
  array_release(&all);
  all = changes_at(&natural); // n != 0 is n > 0
  assert_int_equal(all.len, 3);
  array_release(&all);
  all = changes_at(&test);
  assert_int_equal(all.len, 3);
  array_release(&all);
}

// What a constant becomes.
static int64_t value_after(const Change *c) {
  return c->change == CHANGE_ADD   ? c->site->value + c->a
         : c->change == CHANGE_SET ? c->a
                                   : -c->site->value;
}

TEST(a_constant_becomes_each_value_once_and_never_itself) {
  static const int64_t others[] = {3, 5, -5, 100, 0,         1,
                                   4, 6, -1, 7,   INT64_MIN, INT64_MAX};
  for (int64_t value = -7; value <= 7; value++) {
    Site site = {.kind = SITE_CONSTANT, .value = value};
    Changes all = {0};
    changes_of(&site, others, sizeof others / sizeof *others, &all);
    assert_int_equal(cost_of(&all, CHANGE_ADD, 1), 0);
    assert_int_equal(cost_of(&all, CHANGE_ADD, -1), 0);
    for (size_t i = 0; i < all.len; i++) {
      int64_t v = value_after(&all.items[i]);
      assert_int_not_equal(v, value);
      for (size_t k = 0; k < i; k++)
        assert_int_not_equal(value_after(&all.items[k]), v);
      if (v == 100)
        assert_true(all.items[i].cost > 3); // what stands elsewhere is last
    }
    array_release(&all);
  }
}

TEST(constants_of_the_function_are_tried_but_not_too_many) {
  int64_t others[100];
  for (int64_t i = 0; i < 100; i++)
    others[i] = 1000 + 10 * i;
  Site site = {.kind = SITE_CONSTANT, .value = 2};
  Changes all = {0};
  changes_of(&site, others, 100, &all);
  assert_in_range(all.len, 10, 24);
  array_release(&all);
  Site real = {.kind = SITE_CONSTANT, .flags = SITE_REAL};
  changes_of(&real, others, 100, &all);
  assert_int_equal(all.len, 2); // 0.0: plus and minus 1
  array_release(&all);
}

TEST(an_operator_becomes_another_and_the_nearest_first) {
  for (int op = 0; op < OP_ARITHS; op++) {
    Site site = {.kind = SITE_ARITH, .op = (uint8_t)op};
    Changes all = changes_at(&site);
    bool another = false;
    for (size_t i = 0; i < all.len; i++) {
      another |= all.items[i].change == CHANGE_ARITH;
      assert_false(all.items[i].change == CHANGE_ARITH && all.items[i].a == op);
      for (size_t k = 0; k < i; k++)
        assert_false(all.items[k].change == all.items[i].change &&
                     all.items[k].a == all.items[i].a);
    }
    assert_true(another);
    assert_true(cost_of(&all, CHANGE_LEFT, 0) > 0);
    assert_true(cost_of(&all, CHANGE_RIGHT, 0) > 0);
    array_release(&all);
  }
  Site plus = {.kind = SITE_ARITH, .op = OP_ADD};
  Site real = {.kind = SITE_ARITH, .op = OP_DIV, .flags = SITE_REAL};
  Changes all = changes_at(&plus);
  assert_true(cost_of(&all, CHANGE_ARITH, OP_SUB) <
              cost_of(&all, CHANGE_ARITH, OP_MUL));
  array_release(&all);
  all = changes_at(&real);
  assert_int_equal(cost_of(&all, CHANGE_ARITH, OP_REM), -1);
  array_release(&all);
}

TEST(a_declaration_is_not_left_out_and_a_pointer_not_added_to) {
  Site store = {.kind = SITE_STORE}, initial = store, pointer = store,
       compound = store;
  initial.flags = SITE_INITIAL;
  pointer.flags = SITE_POINTER;
  compound.flags = SITE_COMPOUND;
  Changes all = changes_at(&store);
  assert_true(cost_of(&all, CHANGE_SKIP, 0) >= 0);
  assert_true(cost_of(&all, CHANGE_PLUS, 0) >= 0);
  array_release(&all);
  all = changes_at(&initial);
  assert_int_equal(cost_of(&all, CHANGE_SKIP, 0), -1);
  assert_int_equal(cost_of(&all, CHANGE_PLUS, 0), -1);
  array_release(&all);
  all = changes_at(&pointer);
  assert_int_equal(cost_of(&all, CHANGE_ADD, 1), -1);
  assert_true(cost_of(&all, CHANGE_SET, 0) >= 0);
  array_release(&all);
  all = changes_at(&compound);
  assert_int_equal(cost_of(&all, CHANGE_PLUS, 0), -1);
  array_release(&all);
}

TEST(a_call_whose_value_is_not_used_has_none) {
  Site plain = {.kind = SITE_CALL, .width = 32};
  Site statement = {.kind = SITE_CALL, .flags = SITE_VOID};
  Changes all = changes_at(&plain);
  assert_int_equal(all.len, 2);
  int used = cost_of(&all, CHANGE_SKIP, 0);
  array_release(&all);
  all = changes_at(&statement);
  assert_int_equal(all.len, 1);
  assert_true(cost_of(&all, CHANGE_SKIP, 0) < used);
  array_release(&all);
}

TEST(names_take_the_place_of_a_variable_the_nearest_first) {
  static const SiteName names[] = {{'i', "a"}, {'i', "b"}, {'i', "c"},
                                   {'i', "d"}, {'i', "e"}, {'i', "f"},
                                   {'i', "g"}};
  for (int kind = SITE_VARIABLE; kind <= SITE_FIELD; kind++) {
    Site site = {.kind = kind, .names = names, .nnames = 7, .text = "v"};
    Changes all = changes_at(&site);
    assert_int_equal(all.len, 7);
    for (size_t i = 1; i < all.len; i++)
      assert_true(all.items[i - 1].cost <= all.items[i].cost);
    array_release(&all);
  }
  Site swap = {.kind = SITE_SWAP}, index = {.kind = SITE_INDEX};
  Changes all = changes_at(&swap);
  assert_int_equal(all.len, 1);
  array_release(&all);
  all = changes_at(&index);
  assert_int_equal(all.len, 2);
  array_release(&all);
}

TEST(changes_are_told_in_words) {
  static const SiteName names[] = {{'i', "n"}, {'p', "next"}, {'i', "k"}};
  Site less = {.kind = SITE_COMPARE,
               .op = OP_LT,
               .names = names,
               .nnames = 3,
               .text = ""};
  describes(&less, CHANGE_COMPARE, OP_LE, 0, "`<` to `<=`");
  describes(&less, CHANGE_NEGATE, 0, 0, "`<` to `>=`");
  describes(&less, CHANGE_FORCE, 1, 0, "the condition is always true");
  describes(&less, CHANGE_FORCE, 0, 0, "the condition is always false");
  describes(&less, CHANGE_AND, 0 | OP_GT << 8, 3,
            "the condition also needs `n > 3`");
  describes(&less, CHANGE_OR, 1 | OP_EQ << 8, 0,
            "the condition holds also if `next == NULL`");
  describes(&less, CHANGE_OR_NAME, 0 | OP_NE << 8, 2,
            "the condition holds also if `n != k`");
  Site truth = {.kind = SITE_TEST, .text = ""};
  describes(&truth, CHANGE_NEGATE, 0, 0, "the condition negated");
  Site plus = {.kind = SITE_ARITH, .op = OP_ADD, .text = ""};
  describes(&plus, CHANGE_ARITH, OP_SHL, 0, "`+` to `<<`");
  describes(&plus, CHANGE_LEFT, 0, 0, "only the left operand of `+`");
  Site five = {.kind = SITE_CONSTANT, .value = 5, .text = ""};
  describes(&five, CHANGE_ADD, -1, 0, "`5` to `4`");
  describes(&five, CHANGE_SET, 0, 0, "`5` to `0`");
  describes(&five, CHANGE_MINUS, 0, 0, "`5` to `-5`");
  Site most = {.kind = SITE_CONSTANT, .value = INT64_MAX, .text = ""};
  describes(&most, CHANGE_ADD, 1, 0,
            "`9223372036854775807` to `-9223372036854775808`");
  Site half = {.kind = SITE_CONSTANT, .flags = SITE_REAL, .text = ""};
  double value = 0.5;
  memcpy(&half.value, &value, sizeof value);
  describes(&half, CHANGE_ADD, 1, 0, "`0.5` to `1.5`");
  Site store = {.kind = SITE_STORE, .text = "sum"};
  describes(&store, CHANGE_SKIP, 0, 0, "without the assignment to `sum`");
  describes(&store, CHANGE_PLUS, 0, 0, "`=` to `+=`");
  Site call = {.kind = SITE_CALL, .text = "sort"};
  describes(&call, CHANGE_SKIP, 0, 0, "without the call of `sort`");
  Site swap = {.kind = SITE_SWAP, .operand = 0, .value = 2, .text = "f"};
  describes(&swap, CHANGE_SWAP, 0, 0, "arguments 1 and 3 of `f` exchanged");
  Site variable = {
      .kind = SITE_VARIABLE, .names = names, .nnames = 3, .text = "i"};
  describes(&variable, CHANGE_NAME, 2, 0, "`i` to `k`");
  Site result = {.kind = SITE_RETURN, .text = ""};
  describes(&result, CHANGE_SET, 1, 0, "the value returned is 1");
}

TEST(only_truth_values_of_comparisons_have_outcomes) {
  Site less = {.kind = SITE_COMPARE, .op = OP_LT}, test = {.kind = SITE_TEST};
  Change c = {.site = &less, .change = CHANGE_COMPARE, .a = OP_LE};
  assert_int_equal(change_outcomes(&c), 1 | 2);
  c.change = CHANGE_NEGATE;
  assert_int_equal(change_outcomes(&c), 2 | 4);
  c = (Change){.site = &less, .change = CHANGE_FORCE, .a = 1};
  assert_int_equal(change_outcomes(&c), 7);
  c.change = CHANGE_AND;
  assert_int_equal(change_outcomes(&c), -1);
  c = (Change){.site = &test, .change = CHANGE_FORCE};
  assert_int_equal(change_outcomes(&c), -1);
}

TEST(the_kind_of_a_change_is_that_of_the_formats) {
  Site less = {.kind = SITE_COMPARE}, swap = {.kind = SITE_SWAP},
       field = {.kind = SITE_FIELD};
  assert_string_equal(
      change_kind(&(Change){.site = &less, .change = CHANGE_COMPARE}),
      "compare");
  assert_string_equal(
      change_kind(&(Change){.site = &less, .change = CHANGE_NEGATE}),
      "condition");
  assert_string_equal(
      change_kind(&(Change){.site = &less, .change = CHANGE_OR_NAME}),
      "clause");
  assert_string_equal(
      change_kind(&(Change){.site = &swap, .change = CHANGE_SWAP}),
      "arguments");
  assert_string_equal(
      change_kind(&(Change){.site = &field, .change = CHANGE_NAME}),
      "variable");
  Site before = {.kind = SITE_BEFORE}, logic = {.kind = SITE_LOGIC};
  assert_string_equal(
      change_kind(&(Change){.site = &before, .change = CHANGE_LEAVE}),
      "insertion");
  assert_string_equal(
      change_kind(&(Change){.site = &logic, .change = CHANGE_LOGIC}),
      "operator");
}

// --- clauses ----------------------------------------------------------------

enum { NAMES = 3 };

static const SiteName named[NAMES] = {{'i', "n"}, {'i', "k"}, {'p', "p"}};
static const Site condition = {
    .kind = SITE_COMPARE, .names = named, .nnames = NAMES, .text = ""};

// One evaluation a row: fails, outcome, n, k, p.
typedef int64_t Row[2 + NAMES];

static Changes clauses_for(const Row *rows, size_t n) {
  SeenConditions seen = {0};
  Changes out = {0};
  for (size_t i = 0; i < n; i++)
    array_push(&seen, ((SeenCondition){rows[i] + 1, rows[i][0]}));
  clauses_find(&condition, &seen, NULL, 0, &out);
  array_release(&seen);
  return out;
}

static bool clause_holds(TryCompare op, int64_t a, int64_t b) {
  switch (op) {
  case OP_LT:
    return a < b;
  case OP_EQ:
    return a == b;
  case OP_GT:
    return a > b;
  case OP_GE:
    return a >= b;
  case OP_NE:
    return a != b;
  default:
    return a <= b;
  }
}

// What the condition gives with the clause.
static bool outcome_with(const Change *c, const Row row) {
  const int64_t *values = row + 2;
  bool by_name = c->change == CHANGE_AND_NAME || c->change == CHANGE_OR_NAME;
  bool clause = clause_holds((TryCompare)(c->a >> 8), values[c->a & 0xff],
                             by_name ? values[c->b] : c->b);
  return c->change == CHANGE_AND || c->change == CHANGE_AND_NAME
             ? row[1] && clause
             : row[1] || clause;
}

// How many passing (or failing) evaluations the clause changes.
static size_t count_changed(const Change *c, const Row *rows, size_t n,
                            bool failing) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += rows[i][0] == failing && outcome_with(c, rows[i]) != !!rows[i][1];
  return count;
}

static bool is_same_effect(const Change *a, const Change *b, const Row *rows,
                           size_t n) {
  for (size_t i = 0; i < n; i++)
    if (outcome_with(a, rows[i]) != outcome_with(b, rows[i]))
      return false;
  return true;
}

TEST(a_clause_changes_a_failing_evaluation_and_no_passing_one) {
  static const Row rows[] = {{1, 1, 0, 7, 1}, {1, 1, 4, 7, 1}, {0, 1, 3, 7, 1},
                             {0, 1, 5, 8, 1}, {0, 0, 0, 7, 1}, {0, 0, 9, 2, 1}};
  enum { N = 6 };
  Changes all = clauses_for(rows, N);
  assert_true(all.len > 0);
  assert_true(all.len <= CLAUSES_MOST);
  for (size_t i = 0; i < all.len; i++) {
    assert_ptr_equal(all.items[i].site, &condition);
    assert_true(count_changed(&all.items[i], rows, N, true) > 0);
    assert_int_equal(count_changed(&all.items[i], rows, N, false), 0);
    for (size_t k = 0; k < i; k++)
      assert_false(is_same_effect(&all.items[i], &all.items[k], rows, N));
  }
  // n != 0: the simplest that changes the first one.
  assert_int_equal(all.items[0].change, CHANGE_AND);
  assert_int_equal(all.items[0].a, 0 | OP_NE << 8);
  assert_int_equal(all.items[0].b, 0);
  array_release(&all);
}

TEST(a_pointer_is_compared_with_null_alone) {
  static const Row rows[] = {
      {1, 0, 3, 3, 0}, {0, 0, 3, 3, 500}, {0, 1, 3, 3, 900}};
  Changes all = clauses_for(rows, 3);
  assert_int_equal(all.len, 1);
  assert_int_equal(all.items[0].change, CHANGE_OR);
  assert_int_equal(all.items[0].a, 2 | OP_EQ << 8);
  assert_int_equal(all.items[0].b, 0);
  array_release(&all);
}

TEST(two_names_are_compared_with_each_other) {
  // True though n == k; the numbers alone do not tell.
  static const Row rows[] = {{1, 1, 4, 4, 1}, {1, 1, 9, 9, 1}, {0, 1, 4, 9, 1},
                             {0, 1, 9, 4, 1}, {0, 0, 4, 4, 1}, {0, 0, 9, 9, 1}};
  Changes all = clauses_for(rows, 6);
  assert_true(all.len > 0);
  bool found = false;
  for (size_t i = 0; i < all.len; i++)
    found |= all.items[i].change == CHANGE_AND_NAME &&
             all.items[i].a == (0 | OP_NE << 8) && all.items[i].b == 1;
  assert_true(found);
  array_release(&all);
}

TEST(where_no_clause_fits_one_passing_evaluation_in_four_may_change) {
  // n == 0 fails, and passes once where what was computed did not matter.
  static const Row rows[] = {{1, 1, 0, 2, 1}, {0, 1, 0, 2, 1}, {0, 1, 3, 2, 1},
                             {0, 1, 4, 2, 1}, {0, 1, 5, 2, 1}, {0, 1, 6, 2, 1}};
  enum { N = 6, PASSING = 5 };
  Changes all = clauses_for(rows, N);
  assert_true(all.len > 0);
  for (size_t i = 0; i < all.len; i++) {
    assert_true(count_changed(&all.items[i], rows, N, true) > 0);
    assert_true(4 * count_changed(&all.items[i], rows, N, false) <= PASSING);
  }
  array_release(&all);
  // Half of them: no clause.
  static const Row same[] = {{1, 1, 0, 2, 1}, {0, 1, 0, 2, 1}, {0, 0, 0, 2, 1}};
  all = clauses_for(same, 3);
  assert_int_equal(all.len, 0);
  array_release(&all);
}

// --- statements in front of others ------------------------------------------

enum { ALWAYS = TRY_ALWAYS << 8 };
static const Site before_number = {.kind = SITE_BEFORE,
                                   .width = 64,
                                   .names = named,
                                   .nnames = NAMES,
                                   .text = ""};

TEST(what_is_put_in_front_is_told_as_it_is_written) {
  Site nothing = before_number, truth = before_number, pointer = before_number;
  nothing.width = 0;
  truth.width = 1;
  pointer.flags = SITE_POINTER;
  int64_t minus = (int64_t)((uint64_t)-1 << 32);
  describes(&before_number, CHANGE_LEAVE, ALWAYS | minus, 0,
            "with `return -1;` before it");
  describes(&nothing, CHANGE_LEAVE, 2 | OP_EQ << 8, 0,
            "with `if (p == NULL) return;` before it");
  describes(&truth, CHANGE_LEAVE, 0 | OP_LT << 8 | (int64_t)1 << 32, 3,
            "with `if (n < 3) return true;` before it");
  describes(&pointer, CHANGE_LEAVE, 0 | OP_GT << 8 | TRY_NAMED, 1,
            "with `if (n > k) return NULL;` before it");
  describes(&before_number, CHANGE_ASSIGN, 2 | ALWAYS, 0,
            "with `p = NULL;` before it");
  describes(&before_number, CHANGE_ASSIGN, 0 | OP_GT << 8 | TRY_NAMED, 1,
            "with `if (n > k) n = k;` before it");
}

TEST(a_function_that_returns_a_structure_is_not_left) {
  Site stuck = before_number;
  stuck.flags = SITE_STUCK;
  Changes all = changes_at(&stuck);
  assert_true(all.len > 0);
  for (size_t i = 0; i < all.len; i++)
    assert_int_equal(all.items[i].change, CHANGE_ASSIGN);
  array_release(&all);
}

TEST(a_pointer_is_set_to_null_alone) {
  Changes all = changes_at(&before_number);
  for (size_t i = 0; i < all.len; i++)
    if (all.items[i].change == CHANGE_ASSIGN && (all.items[i].a & 0xff) == 2) {
      assert_int_equal(all.items[i].b, 0);
      assert_int_equal(all.items[i].a & TRY_NAMED, 0);
    }
  array_release(&all);
}

// What the statements that are offered for these rows do; each must do it in
// some failing row and in no passing one.
static Changes guards_for(const Row *rows, size_t n, bool limits) {
  SeenConditions seen = {0};
  Changes out = {0};
  for (size_t i = 0; i < n; i++)
    array_push(&seen, ((SeenCondition){rows[i] + 1, rows[i][0]}));
  if (limits)
    clauses_find_limits(&before_number, &seen, NULL, 0, &out);
  else
    clauses_find_leaves(&before_number, &seen, 5, NULL, 0, &out);
  for (size_t i = 0; i < out.len; i++) {
    const Change *c = &out.items[i];
    bool fails = false;
    for (size_t k = 0; k < n; k++) {
      const int64_t *values = rows[k] + 2;
      bool holds =
          clause_holds((TryCompare)(c->a >> 8 & 0xff), values[c->a & 0xff],
                       c->a & TRY_NAMED ? values[c->b] : c->b);
      assert_false(holds && !rows[k][0]);
      fails |= holds;
    }
    assert_true(fails);
  }
  array_release(&seen);
  return out;
}

TEST(a_guard_does_something_in_failing_runs_alone) {
  static const Row rows[] = {
      {1, 0, -1, 7, 1}, {1, 0, 4, 7, 1}, {0, 0, 3, 7, 1}, {0, 0, 0, 8, 1}};
  Changes all = guards_for(rows, 4, false);
  assert_true(all.len > 0);
  // n < 0, the simplest.
  assert_int_equal(all.items[0].change, CHANGE_LEAVE);
  assert_int_equal(all.items[0].a >> 32, 5);
  for (size_t i = 0; i < all.len; i++)
    assert_int_equal(all.items[i].change, CHANGE_LEAVE);
  array_release(&all);
}

TEST(a_limit_is_an_order_of_numbers) {
  static const Row rows[] = {{1, 0, 9, 7, 0}, {0, 0, 7, 7, 1}, {0, 0, 2, 7, 1}};
  Changes all = guards_for(rows, 3, true);
  bool found = false;
  for (size_t i = 0; i < all.len; i++) {
    int64_t op = all.items[i].a >> 8 & 0xff;
    assert_int_equal(all.items[i].change, CHANGE_ASSIGN);
    assert_true(op == OP_LT || op == OP_GT);
    assert_int_not_equal(all.items[i].a & 0xff, 2);
    found |= op == OP_GT && (all.items[i].a & 0xff) == 0;
  }
  assert_true(found);
  array_release(&all);
}

TEST(nothing_seen_gives_no_clause) {
  static const Row passing[] = {{0, 1, 1, 2, 3}};
  Changes all = clauses_for(NULL, 0);
  assert_int_equal(all.len, 0);
  array_release(&all);
  all = clauses_for(passing, 1);
  assert_int_equal(all.len, 0);
  array_release(&all);
}

// --- the table of sites -----------------------------------------------------

static const char texts[] = "\0/src/f.c\0main\0i:n\np:next\n\0count";
enum {
  TEXT_FILE = 1,
  TEXT_FUNCTION = 10,
  TEXT_NAMES = 15,
  TEXT_NAME = 27,
};

static void add_chunk(Str *out, unsigned char id, uint32_t nsites) {
  TrySitesHeader head = {.magic = TRY_MAGIC,
                         .version = TRY_VERSION,
                         .nsites = nsites,
                         .strings = sizeof texts};
  memset(head.id, id, sizeof head.id);
  str_addn(out, &head, sizeof head);
  for (uint32_t i = 0; i < nsites; i++) {
    bool compares = i % 2;
    TrySite site = {.kind = compares ? SITE_COMPARE : SITE_CONSTANT,
                    .op = compares ? OP_LE : 0,
                    .width = 32,
                    .file = TEXT_FILE,
                    .function = TEXT_FUNCTION,
                    .line = 10 + i,
                    .column = 3,
                    .owner = SITE_RETURN,
                    .value = -7,
                    .names = TEXT_NAMES,
                    .nnames = 2,
                    .text = TEXT_NAME};
    str_addn(out, &site, sizeof site);
  }
  str_addn(out, texts, sizeof texts);
}

static int parse(SiteTable *t, const Str *section, Err *err) {
  // A copy of its own size: a sanitizer sees what is read behind it.
  unsigned char *copy = malloc(section->len + 1);
  memcpy(copy, section->data, section->len);
  unsigned char *exact = realloc(copy, section->len ? section->len : 1);
  Bytes bytes = {exact, section->len};
  int rc = site_table_parse(t, bytes, "prog", err);
  free(exact);
  return rc;
}

TEST(a_table_of_sites_is_read_as_it_was_written) {
  Str section = {0};
  SiteTable t;
  Err err = {0};
  add_chunk(&section, 0xa1, 3);
  str_addn(&section, "\0\0\0\0\0\0\0", 8); // the linker aligns
  add_chunk(&section, 0xb2, 1);
  assert_int_equal(parse(&t, &section, &err), 0);
  assert_int_equal(t.sites.len, 4);
  const Site *s = &t.sites.items[1];
  assert_int_equal(s->number, 2);
  assert_int_equal(s->kind, SITE_COMPARE);
  assert_int_equal(s->op, OP_LE);
  assert_int_equal(s->line, 11);
  assert_int_equal(s->value, -7);
  assert_string_equal(s->file, "/src/f.c");
  assert_string_equal(s->function, "main");
  assert_string_equal(s->text, "count");
  assert_int_equal(s->nnames, 2);
  assert_int_equal(s->names[1].kind, 'p');
  assert_string_equal(s->names[1].name, "next");
  assert_int_equal(s->unit.bytes[15], 0xa1);
  assert_int_equal(t.sites.items[3].unit.bytes[0], 0xb2);
  assert_int_equal(t.sites.items[3].number, 1);
  site_table_release(&t);
  str_release(&section);
}

TEST(a_table_of_another_version_is_refused_by_name) {
  Str section = {0};
  SiteTable t;
  Err err = {0};
  add_chunk(&section, 1, 1);
  ((TrySitesHeader *)(void *)section.data)->version++;
  assert_int_equal(parse(&t, &section, &err), -1);
  assert_non_null(strstr(err.text, "prog: its sites have version"));
  site_table_release(&t);
  str_release(&section);
}

TEST(a_table_that_is_cut_short_is_damaged) {
  Str section = {0};
  add_chunk(&section, 1, 2);
  size_t whole = section.len;
  for (size_t len = 1; len < whole; len++) {
    SiteTable t;
    Err err = {0};
    section.len = len;
    assert_int_equal(parse(&t, &section, &err), -1);
    assert_non_null(strstr(err.text, "damaged"));
    site_table_release(&t);
  }
  section.len = whole;
  str_release(&section);
}

// Everything that is made of a site.
static void use(const Site *s) {
  Changes all = {0};
  Str text = {0};
  changes_of(s, NULL, 0, &all);
  for (size_t i = 0; i < all.len; i++) {
    change_describe(&all.items[i], &text);
    change_outcomes(&all.items[i]);
    assert_non_null(change_kind(&all.items[i]));
  }
  assert_true(strlen(s->file) + strlen(s->function) + strlen(s->text) < 100);
  str_release(&text);
  array_release(&all);
}

TEST(no_damage_to_a_table_harms_its_reader) {
  Str section = {0};
  add_chunk(&section, 1, 2);
  add_chunk(&section, 2, 1);
  for (size_t at = 0; at < section.len; at++)
    for (int bit = 0; bit < 8; bit++) {
      SiteTable t;
      Err err = {0};
      section.data[at] = (char)(section.data[at] ^ 1 << bit);
      if (parse(&t, &section, &err))
        assert_true(strstr(err.text, "damaged") || strstr(err.text, "version"));
      for (size_t i = 0; i < t.sites.len; i++)
        use(&t.sites.items[i]);
      site_table_release(&t);
      section.data[at] = (char)(section.data[at] ^ 1 << bit);
    }
  str_release(&section);
}

TEST(an_operator_that_there_is_not_is_damage) {
  for (int kind = SITE_COMPARE; kind <= SITE_ARITH; kind++) {
    Str section = {0};
    SiteTable t;
    Err err = {0};
    add_chunk(&section, 1, 1);
    TrySite *s = (void *)(section.data + sizeof(TrySitesHeader));
    s->kind = (uint8_t)kind;
    s->op = kind == SITE_ARITH ? OP_ARITHS : OP_COMPARES;
    if (kind == SITE_TEST)
      assert_int_equal(parse(&t, &section, &err), 0); // it has none
    else
      assert_int_equal(parse(&t, &section, &err), -1);
    site_table_release(&t);
    str_release(&section);
  }
}
