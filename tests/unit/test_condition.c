// Conditions as they are written: source/expression.h, source/macro.h.
#include <string.h>

#include "source/expression.h"
#include "source/macro.h"
#include "test.h"
#include "util/arena.h"

// The token that `at` begins in `text`; of several the n-th, from 0.
static size_t token_at(const Code *c, const char *at, int n) {
  for (size_t i = 0; i < c->tokens.len; i++)
    if (code_is(c, i, at) && !n--)
      return i;
  return CODE_NONE;
}

// The condition around the n-th token `at`, and how many `!` are outside of
// what is computed there.
static void expect_condition(const char *text, const char *at, int n,
                             const char *want, unsigned negated) {
  Code c;
  Str shown = {0};
  unsigned negations = 0;
  code_lex(&c, text, strlen(text));
  Extent e = code_expression(&c, token_at(&c, at, n));
  code_show(&c, code_condition(&c, e, &negations), &shown);
  if (strcmp(str_text(&shown), want) != 0 || negations != negated)
    fail_msg("%s: '%s' negated %u times, want '%s' and %u", text,
             str_text(&shown), negations, want, negated);
  str_release(&shown);
  code_release(&c);
}

TEST(an_operator_takes_what_binds_tighter) {
  expect_condition("if (a + 1 < b && c)", "<", 0, "a + 1 < b", 0);
  expect_condition("if (a || b & 4)", "&", 0, "b & 4", 0);
  expect_condition("if (!x == 0)", "==", 0, "!x == 0", 0);
  expect_condition("if (a) b == c;", "==", 0, "b == c", 0);
  expect_condition("if ((c = getchar()) != EOF)", "!=", 0,
                   "(c = getchar()) != EOF", 0);
  expect_condition("if ((x = a && b))", "=", 0, "x = a && b", 0);
  expect_condition("y = a < b ? c == d : e > f;", "==", 0, "c == d", 0);
  expect_condition("while (i < n && s[i] == '&' && t) i++;", "==", 0,
                   "s[i] == '&'", 0);
  expect_condition("if (a - 1 == -1)", "==", 0, "a - 1 == -1", 0);
  expect_condition("if (*p == *q)", "==", 0, "*p == *q", 0);
}

TEST(an_operand_takes_its_members_calls_and_indexes) {
  expect_condition("if (p->q.r[1] && x)", "r", 0, "p->q.r[1]", 0);
  expect_condition("if (f(a, b)->c)", "c", 0, "f(a, b)->c", 0);
  expect_condition("if (!strcmp(a, \")\") && b)", "strcmp", 0,
                   "!strcmp(a, \")\")", 1);
  expect_condition("if (*p++ && x)", "*", 0, "*p++", 0);
  expect_condition("if (n++ && x)", "++", 0, "n++", 0);
  expect_condition("if (--n && x)", "--", 0, "--n", 0);
  expect_condition("if (!(int)x)", "x", 0, "!(int)x", 1);
  expect_condition("if ((char *)p)", "p", 0, "(char *)p", 0);
}

TEST(negations_around_are_counted_and_shown) {
  expect_condition("if (!x)", "x", 0, "!x", 1);
  expect_condition("if (!!x)", "x", 0, "!!x", 2);
  expect_condition("if (!!x)", "!", 0, "!!x", 0);
  expect_condition("if (((!(x))))", "x", 0, "!(x)", 1);
  expect_condition("if (!(a == b))", "==", 0, "!(a == b)", 1);
  expect_condition("if (!(a && !b))", "a", 0, "a", 0);
  expect_condition("if (!(a && !b))", "b", 0, "!b", 1);
  expect_condition("return !x ? 1 : 2;", "x", 0, "!x", 1);
  expect_condition("f(!x)", "x", 0, "!x", 1);
}

TEST(comments_and_lines_do_not_matter) {
  expect_condition("if (! /* no */ x // &&\n    ->y)", "y", 0, "! x ->y", 1);
  expect_condition("if (a &&\n#ifdef X\n    !b &&\n#endif\n    c)", "b", 0,
                   "!b", 1);
}

static bool true_is_next(const char *text, const char *at) {
  Code c;
  unsigned negations = 0;
  code_lex(&c, text, strlen(text));
  Extent e = code_expression(&c, token_at(&c, at, 0));
  bool next = code_true_is_next(&c, code_condition(&c, e, &negations));
  code_release(&c);
  return next;
}

TEST(the_block_that_comes_next_is_known_from_the_operators) {
  assert_true(true_is_next("if (x) y();", "x"));
  assert_true(true_is_next("if (!x) y();", "x"));
  assert_true(true_is_next("if (x && y) z();", "x"));
  assert_false(true_is_next("if (x || y) z();", "x"));
  assert_true(true_is_next("if (y || x) z();", "x"));
  assert_false(true_is_next("if (!(y || x)) z();", "x"));
  assert_true(true_is_next("if ((y || x) && z) w();", "x"));
  assert_false(true_is_next("if ((y && x) || z) w();", "x"));
}

static void expect_conditions(const char *text, const char *want) {
  Code c;
  Str shown = {0};
  Extents list = {0};
  code_lex(&c, text, strlen(text));
  code_conditions(&c, (Extent){0, c.tokens.len - 2}, &list);
  for (size_t i = 0; i < list.len; i++) {
    str_add(&shown, i ? " | " : "");
    code_show(&c, list.items[i], &shown);
  }
  if (strcmp(str_text(&shown), want) != 0)
    fail_msg("%s: '%s', want '%s'", text, str_text(&shown), want);
  str_release(&shown);
  array_release(&list);
  code_release(&c);
}

TEST(every_condition_of_a_text_is_found_in_order) {
  expect_conditions("((a) && !(b || c))", "(a) | b | c");
  expect_conditions("((x) > (y) ? (x) : (y))", "(x) > (y)");
  expect_conditions("(f(a && b) ? 1 : 2)", "a | b | f(a && b)");
  expect_conditions("do { if (!x) g(); } while (0)", "!x");
  expect_conditions("({ for (i = 0; i < 3; i++) g(); })", "i < 3");
  expect_conditions("1 && x", "x");
}

static void expect_expanded(const char *source, const char *use,
                            const char *want) {
  Macros m = {0};
  Str out = {0};
  macros_read(&m, "/nowhere/f.c", source, strlen(source));
  bool good = macros_expand(&m, use, 100, &out);
  if (want ? !good || strcmp(str_text(&out), want) != 0 : good)
    fail_msg("%s: %s '%s', want '%s'", use, good ? "" : "refused,",
             str_text(&out), want ? want : "refusal");
  str_release(&out);
  macros_release(&m);
}

TEST(macros_are_replaced_by_what_they_stand_for) {
  expect_expanded("#define BAD(x) (!(x))\n", "BAD(p->q)", "(!(p->q))");
  expect_expanded("#define TWO \\\n  (a /* x */ && b)\n", "TWO", "(a && b)");
  expect_expanded("# define A(x, y) ((x) && B(y))\n#define B(z) !(z)\n",
                  "A(f(1, 2), w)", "((f(1, 2)) && !(w))");
  expect_expanded("#define f(x) f(x)\n", "f(1)", "f(1)");
  expect_expanded("#define E 1\n", "E", "1");
  expect_expanded("", "assert(!x || y)", "((!x || y) ? 0 : 1)");
  expect_expanded("#define L(fmt, ...) p(fmt, __VA_ARGS__)\n", "L(a, b)",
                  "p(a, b)");
  expect_expanded("#define PASTE(a) a##_x\n", "PASTE(b)", NULL);
  expect_expanded("#define F(x) (x)\n", "F(1", NULL);
}

TEST(of_several_definitions_the_last_in_front_counts) {
  static const char source[] = "#define A 1\n#undef A\n#define A 2\n";
  Macros m = {0};
  macros_read(&m, "/nowhere/f.c", source, strlen(source));
  assert_string_equal(macros_find(&m, "A", 1, 2)->body, "1");
  assert_string_equal(macros_find(&m, "A", 1, 9)->body, "2");
  assert_null(macros_find(&m, "B", 1, 9));
  macros_release(&m);
}

TEST(any_text_is_survived) {
  static const char *const texts[] = {"",      "(",          ")",     "!",
                                      "((((",  "a ? b",      "&& ||", "if (",
                                      "for",   "while ()",   "= = =", "a[",
                                      "{ ; }", "#define A(", "x->",   "(int)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    Code c;
    Extents list = {0};
    Macros m = {0};
    Str out = {0};
    unsigned negations = 0;
    code_lex(&c, texts[i], strlen(texts[i]));
    for (size_t k = 0; k + 1 < c.tokens.len; k++) {
      Extent e = code_condition(&c, code_expression(&c, k), &negations);
      code_true_is_next(&c, e);
      code_show(&c, e, &out);
    }
    if (c.tokens.len > 1)
      code_conditions(&c, (Extent){0, c.tokens.len - 2}, &list);
    macros_read(&m, "/nowhere/f.c", texts[i], strlen(texts[i]));
    macros_expand(&m, texts[i], 1, &out);
    array_release(&list);
    str_release(&out);
    macros_release(&m);
    code_release(&c);
  }
}
