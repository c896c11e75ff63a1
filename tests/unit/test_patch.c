// Changes of the source: src/patch/.
#include <string.h>

#include "patch/diff.h"
#include "patch/edit.h"
#include "patch/literal.h"
#include "program/program_code.h"
#include "test.h"
#include "util/area.h"
#include "util/fs.h"

// The site stands in front of the mark `@` in the text.
typedef struct {
  Site site;
  EditChange change;
  const char *text;
  const char *want;  // the new text; NULL: there is no edit
  const char *words; // NULL: any
} Case;

#define NAMES(...)                                                             \
  .names = (const SiteName[]){__VA_ARGS__},                                    \
  .nnames = sizeof((const SiteName[]){__VA_ARGS__}) / sizeof(SiteName)

static void place(Site *site, const char *marked, Str *text) {
  const char *mark = strchr(marked, '@');
  assert_non_null(mark);
  str_addn(text, marked, (size_t)(mark - marked));
  site->line = 1;
  site->column = 1;
  for (const char *p = marked; p < mark; p++) {
    site->column = *p == '\n' ? 1 : site->column + 1;
    site->line += *p == '\n';
  }
  str_add(text, mark + 1);
}

static void check(const Case *c) {
  Arena arena = {0};
  SourceEdits edits = {0};
  Str text = {0}, new = {0};
  Site site = c->site;
  site.text = site.text ? site.text : "";
  place(&site, c->text, &text);
  edits_find(&site, c->change, str_text(&text), text.len, &arena, &edits);
  if (edits.len)
    edit_apply(&edits.items[0], str_text(&text), text.len, &new);
  if (!edits.len != !c->want ||
      (c->want && strcmp(str_text(&new), c->want) != 0))
    fail_msg("%s\ngives: %s\nwant:  %s", c->text,
             edits.len ? str_text(&new) : "no edit",
             c->want ? c->want : "no edit");
  if (c->words && strcmp(edits.items[0].words, c->words) != 0)
    fail_msg("%s\ngives: %s\nwant:  %s", c->text, edits.items[0].words,
             c->words);
  str_release(&text);
  str_release(&new);
  array_release(&edits);
  arena_release(&arena);
}

#define CHECK(...)                                                             \
  do {                                                                         \
    const Case cases[] = {__VA_ARGS__};                                        \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)                  \
      check(&cases[i]);                                                        \
  } while (0)

// clang-format off

TEST(a_comparison_gets_another_operator) {
  CHECK({{.kind = SITE_COMPARE, .op = OP_LT}, {CHANGE_COMPARE, OP_LE},
         "if (a @< b) x();", "if (a <= b) x();", "`<` to `<=`"},
        {{.kind = SITE_COMPARE, .op = OP_EQ}, {CHANGE_COMPARE, OP_LT},
         "x = a + 1 @== b;", "x = a + 1 < b;", "`==` to `<`"},
        {{.kind = SITE_COMPARE, .op = OP_LT}, {CHANGE_COMPARE, OP_EQ},
         "x = c != a @< b;", "x = c != (a == b);", "`<` to `==`"},
        {{.kind = SITE_COMPARE, .op = OP_NE}, {CHANGE_COMPARE, OP_GT},
         "while (/* c */ *s\n  @!= /* d */ '<') s++;",
         "while (/* c */ *s\n  > /* d */ '<') s++;"},
        {{.kind = SITE_COMPARE, .op = OP_LT}, {CHANGE_NEGATE},
         "\tif (!(a @< b))", "\tif (!(a >= b))", "`<` to `>=`"},
        {{.kind = SITE_COMPARE, .op = OP_LT}, {CHANGE_COMPARE, OP_LE},
         "if (@LESS(a, b)) x();", NULL},
        {{.kind = SITE_COMPARE, .op = OP_LT}, {CHANGE_NEGATE},
         "if (@LESS(a, b)) x();", "if (!LESS(a, b)) x();"});
}

TEST(a_truth_value_is_compared_negated_and_forced) {
  CHECK({{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT}, {CHANGE_NEGATE},
         "if (@p->f && x)", "if (!p->f && x)", "`p->f` to `!p->f`"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT}, {CHANGE_NEGATE},
         "if (!@p->f && x)", "if (p->f && x)", "`!p->f` to `p->f`"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT}, {CHANGE_NEGATE},
         "if (x @& 1)", "if (!(x & 1))"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT}, {CHANGE_COMPARE, OP_EQ},
         "y = @!x;", "y = x;"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT}, {CHANGE_COMPARE, OP_GT},
         "if (@x && y)", "if (x > 0 && y)", "`x` to `x > 0`"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT}, {CHANGE_COMPARE, OP_GT},
         "if (!@x)", "if (!(x > 0))"},
        {{.kind = SITE_COMPARE, .op = OP_LT}, {CHANGE_FORCE, 1},
         "if (a @< b && c)", "if (1 && c)", "`a < b` to `1`"},
        {{.kind = SITE_COMPARE, .op = OP_LT}, {CHANGE_FORCE, 1},
         "if (!(a @< b) || c)", "if (0 || c)"},
        {{.kind = SITE_COMPARE, .op = OP_NE}, {CHANGE_FORCE, 1},
         "while ((c = get()) @!= EOF)", "while ((c = get()) != EOF || 1)"},
        {{.kind = SITE_COMPARE, .op = OP_NE}, {CHANGE_FORCE, 0},
         "while (x || i++ @!= 3)", "while (x || (i++ != 3 && 0))"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT}, {CHANGE_FORCE, 0},
         "if (@f(a, b)) x();", "if (0) x();"});
}

TEST(a_branch_on_a_truth_value_is_found) {
  CHECK({{.kind = SITE_TEST}, {CHANGE_FORCE, 1},
         "if (@flag(x)) y();", "if (1) y();"},
        {{.kind = SITE_TEST}, {CHANGE_FORCE, 1},
         "if (@a < b && !flag(x)) y();", "if (a < b && 0) y();"},
        {{.kind = SITE_TEST}, {CHANGE_NEGATE},
         "if (q @&& flag(x)) y();", "if (!q && flag(x)) y();"},
        {{.kind = SITE_TEST}, {CHANGE_NEGATE},
         "if (p && !q @&& flag(x)) y();", "if (p && q && flag(x)) y();"},
        {{.kind = SITE_TEST}, {CHANGE_FORCE, 0},
         "@while (a && !flag(3)) x >>= 1;", "while (0) x >>= 1;"},
        {{.kind = SITE_TEST}, {CHANGE_NEGATE},
         "@for (; p->b; ) p = p->next;", "for (; !p->b; ) p = p->next;"},
        {{.kind = SITE_TEST}, {CHANGE_NEGATE},
         "do { x = -x; @} while (flag(x));", "do { x = -x; } while (!flag(x));"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT},
         {CHANGE_FORCE, 0},
         "@while (fgets(s, n, in)) x();", "while (0) x();"},
        {{.kind = SITE_TEST}, {CHANGE_NEGATE},
         "y = @q ? 1 : 2;", "y = !q ? 1 : 2;"});
}

TEST(a_condition_gets_a_clause) {
#define CLAUSE(op, name) ((name) | (op) << 8)
#define SOME NAMES({'i', "n"}, {'p', "next"}, {'i', "a[i]"})
  CHECK({{.kind = SITE_COMPARE, .op = OP_LT, SOME}, {CHANGE_AND, CLAUSE(OP_GT, 0), 0},
         "if (a @< b) x();", "if (a < b && n > 0) x();",
         "`a < b` also needs `n > 0`"},
        {{.kind = SITE_COMPARE, .op = OP_LT, SOME}, {CHANGE_OR, CLAUSE(OP_EQ, 2), -3},
         "if (a @< b) x();", "if (a < b || a[i] == -3) x();",
         "`a < b` also holds if `a[i] == -3`"},
        {{.kind = SITE_COMPARE, .op = OP_LT, SOME}, {CHANGE_AND, CLAUSE(OP_NE, 1), 0},
         "if (a @< b && c) x();", "if (a < b && next && c) x();"},
        {{.kind = SITE_COMPARE, .op = OP_LT, SOME}, {CHANGE_OR, CLAUSE(OP_EQ, 1), 0},
         "if (a @< b && c) x();", "if ((a < b || !next) && c) x();"},
        {{.kind = SITE_COMPARE, .op = OP_LT, SOME}, {CHANGE_AND, CLAUSE(OP_GT, 0), 0},
         "if (a @< b || c) x();", "if ((a < b && n > 0) || c) x();"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT, SOME},
         {CHANGE_AND, CLAUSE(OP_GT, 0), 0},
         "if (!@f(x)) y();", "if (!(f(x) && n > 0)) y();"},
        {{.kind = SITE_COMPARE, .op = OP_NE, .flags = SITE_IMPLICIT, SOME},
         {CHANGE_AND, CLAUSE(OP_GT, 0), 0},
         "if ((x @= y)) y();", "if (((x = y) && n > 0)) y();"},
        {{.kind = SITE_COMPARE, .op = OP_LT, SOME}, {CHANGE_AND_NAME, CLAUSE(OP_LE, 0), 2},
         "x = a @< b ? c : d;", "x = a < b && n <= a[i] ? c : d;"});
}

TEST(an_operator_is_replaced_in_parentheses_where_it_needs_them) {
  CHECK({{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_ARITH, OP_SUB},
         "x = a @+ b;", "x = a - b;", "`+` to `-`"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_ARITH, OP_MUL},
         "x = a + b @+ c;", "x = (a + b) * c;", "`+` to `*`"},
        {{.kind = SITE_ARITH, .op = OP_MUL}, {CHANGE_ARITH, OP_ADD},
         "x = a - b @* c;", "x = a - (b + c);"},
        {{.kind = SITE_ARITH, .op = OP_MUL}, {CHANGE_ARITH, OP_SUB},
         "x = a + b @* c;", "x = a + b - c;"},
        {{.kind = SITE_ARITH, .op = OP_MUL}, {CHANGE_ARITH, OP_ADD},
         "x = b @* c * d;", "x = (b + c) * d;"},
        {{.kind = SITE_ARITH, .op = OP_AND}, {CHANGE_ARITH, OP_OR},
         "if ((x @& 3) == 1)", "if ((x | 3) == 1)"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_ARITH, OP_SHL},
         "x = a @+ 1 < b;", "x = a << 1 < b;"},
        {{.kind = SITE_ARITH, .op = OP_SUB}, {CHANGE_LEFT},
         "f(n @- 1, m);", "f(n, m);", "`n - 1` to `n`"},
        {{.kind = SITE_ARITH, .op = OP_SUB}, {CHANGE_RIGHT},
         "x = (a + b) @- (c + d);", "x = (c + d);"},
        {{.kind = SITE_ARITH, .op = OP_DIV}, {CHANGE_LEFT}, "x = p @- q;", NULL},
        {{.kind = SITE_ARITH, .op = OP_SUB}, {CHANGE_RIGHT}, "x = @-y;", "x = y;"},
        {{.kind = SITE_ARITH, .op = OP_SUB}, {CHANGE_LEFT}, "x = a * @-y;", "x = a * 0;"});
}

TEST(compound_assignments_and_steps_change) {
  CHECK({{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_ARITH, OP_SUB},
         "x @+= y;", "x -= y;", "`+=` to `-=`"},
        {{.kind = SITE_ARITH, .op = OP_SHR}, {CHANGE_RIGHT},
         "x @>>= y + 1;", "x = y + 1;", "`>>=` to `=`"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_LEFT},
         "{\n  x @+= y;\n  z();\n}", "{\n  z();\n}", "without `x += y`"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_ARITH, OP_SUB},
         "for (;; i@++)", "for (;; i--)", "`++` to `--`"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_LEFT},
         "for (i = 0; i < n; i@++)", "for (i = 0; i < n;)", "without `i++`"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_RIGHT}, "n@--;", "n = -1;"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_RIGHT}, "x = a[@++n];", "x = a[n = 1];"},
        {{.kind = SITE_ARITH, .op = OP_ADD}, {CHANGE_RIGHT}, "x = a[n@++];", NULL},
        {{.kind = SITE_CONSTANT, .owner = SITE_ARITH, .operand = 1, .value = 1},
         {CHANGE_ADD, 1}, "for (;; i@++)", "for (;; i += 2)",
         "`i++` to `i += 2`"},
        {{.kind = SITE_CONSTANT, .owner = SITE_ARITH, .operand = 1, .value = -1},
         {CHANGE_SET, 0}, "x = a[i@--];", "x = a[i];"},
        {{.kind = SITE_CONSTANT, .owner = SITE_ARITH, .operand = 1, .value = 1},
         {CHANGE_MINUS}, "x = a[@++i];", "x = a[--i];"},
        {{.kind = SITE_CONSTANT, .owner = SITE_ARITH, .operand = 1, .value = 1},
         {CHANGE_ADD, 1}, "x = a[@++i];", "x = a[i += 2];"},
        {{.kind = SITE_CONSTANT, .owner = SITE_ARITH, .operand = 1, .value = 1},
         {CHANGE_ADD, 1}, "x = a[i@++];", NULL});
}

TEST(a_constant_is_found_in_its_operand) {
#define OPERAND(of, n, v) {.kind = SITE_CONSTANT, .width = 32, .owner = (of),      \
                             .operand = (n), .value = (v)}
  CHECK({OPERAND(SITE_COMPARE, 1, 10), {CHANGE_ADD, 1},
         "if (x + 10 @< 10)", "if (x + 10 < 11)", "`10` to `11`"},
        {OPERAND(SITE_ARITH, 0, 10), {CHANGE_SET, 0},
         "x = 10 @* 10;", "x = 0 * 10;", "`10` to `0`"},
        {OPERAND(SITE_ARITH, 1, 1), {CHANGE_ADD, 1}, "x = y-@1;", NULL},
        {OPERAND(SITE_ARITH, 1, 1), {CHANGE_MINUS},
         "x = y @- 1;", "x = y + 1;", "`y - 1` to `y + 1`"},
        {OPERAND(SITE_ARITH, 1, 1), {CHANGE_SET, 0},
         "x = y @+ 1;", "x = y;", "`y + 1` to `y`"},
        {OPERAND(SITE_ARITH, 1, 1), {CHANGE_MINUS},
         "x = y@*1;", "x = y*-1;"},
        {OPERAND(SITE_COMPARE, 1, -1), {CHANGE_ADD, 1},
         "if (x @== -1)", "if (x == 0)", "`-1` to `0`"},
        {OPERAND(SITE_COMPARE, 1, -1), {CHANGE_ADD, -1},
         "if (x @== -1)", "if (x == -2)"},
        {OPERAND(SITE_COMPARE, 1, -1), {CHANGE_ADD, -1},
         "if (x @== 0xffffffffu)", "if (x == 0xfffffffeu)"},
        {OPERAND(SITE_COMPARE, 1, 97), {CHANGE_ADD, 1},
         "if (c @!= 'a')", "if (c != 'a' + 1)", "`'a'` to `'a' + 1`"},
        {OPERAND(SITE_COMPARE, 1, 10), {CHANGE_SET, 0},
         "if (c @!= '\\n')", "if (c != 0)"},
        {OPERAND(SITE_COMPARE, 1, 20), {CHANGE_ADD, 1},
         "if (x @< LIMIT)", "if (x < LIMIT + 1)", "`LIMIT` to `LIMIT + 1`"},
        {OPERAND(SITE_ARITH, 1, 20), {CHANGE_ADD, -1},
         "x = y @* LIMIT;", "x = y * (LIMIT - 1);"},
        {OPERAND(SITE_COMPARE, 1, 19), {CHANGE_ADD, 1},
         "if (x @< LIMIT - 1)", "if (x < LIMIT)"},
        {OPERAND(SITE_ARITH, 1, 20), {CHANGE_MINUS},
         "x @+= LIMIT;", "x += -LIMIT;"},
        {OPERAND(SITE_ARITH, 0, 0), {CHANGE_ADD, 1}, "x = @-y;", NULL},
        {{.kind = SITE_CONSTANT, .flags = SITE_REAL, .owner = SITE_ARITH, .operand = 1,
          .value = 0x4004000000000000},
         {CHANGE_ADD, 1}, "d = d @* 2.5f;", "d = d * 3.5f;", "`2.5f` to `3.5f`"},
        {{.kind = SITE_CONSTANT, .flags = SITE_REAL, .owner = SITE_ARITH, .operand = 1,
          .value = 0x4004000000000000},
         {CHANGE_SET, 1}, "d = d @* 2.5;", "d = d * 1.0;"});
}

TEST(a_constant_is_found_where_it_is_stored_returned_passed) {
  CHECK({OPERAND(SITE_STORE, 0, 5), {CHANGE_ADD, 1},
         "int @v = 5, w = 5;", "int v = 6, w = 5;", "`5` to `6`"},
        {OPERAND(SITE_STORE, 0, 5), {CHANGE_ADD, 1},
         "p->v @= 5;", "p->v = 6;"},
        {OPERAND(SITE_STORE, 0, 2), {CHANGE_ADD, 1},
         "struct s v = @{1, 2};", "struct s v = {1, 3};"},
        {OPERAND(SITE_RETURN, 0, 0), {CHANGE_SET, 1},
         "@return 0;", "return 1;", "`0` to `1`"},
        {OPERAND(SITE_RETURN, 0, -1), {CHANGE_ADD, 1},
         "@return ERROR;", "return ERROR + 1;"},
        {OPERAND(SITE_CALL, 1, 7), {CHANGE_ADD, 1},
         "x = @f(7, 7) + 7;", "x = f(7, 8) + 7;"},
        {OPERAND(SITE_CALL, 2, 7), {CHANGE_ADD, 1},
         "x = @p->f(7, a);", "x = p->f(8, a);"},
        {OPERAND(SITE_INDEX, 2, 3), {CHANGE_ADD, -1},
         "x = @p->a[i][3];", "x = p->a[i][2];"},
        {OPERAND(SITE_INDEX, 1, -1), {CHANGE_ADD, 1},
         "q = p @- 1;", "q = p;"},
        {OPERAND(SITE_INDEX, 1, 1), {CHANGE_SET, 0}, "*p@++ = 1;", "*p = 1;"},
        {OPERAND(SITE_OTHER, 1, 7), {CHANGE_ADD, 1},
         "y = @x ? f(3) : 7;", "y = x ? f(3) : 8;"});
}

TEST(a_store_is_left_out) {
#define STORE {.kind = SITE_STORE, .width = 32}
  CHECK({STORE, {CHANGE_SKIP}, "{\n\tx @= 1; // one\n\ty = 2;\n}",
         "{\n\ty = 2;\n}", "without `x = 1`"},
        {STORE, {CHANGE_SKIP}, "{ x @= 1; y = 2; }", "{ y = 2; }"},
        {STORE, {CHANGE_SKIP}, "if (a)\n  x @= 1;\nelse y = 2;",
         "if (a)\n  ;\nelse y = 2;"},
        {STORE, {CHANGE_SKIP}, "if (a) y = 2; else x @= 1;",
         "if (a) y = 2; else ;"},
        {STORE, {CHANGE_SKIP}, "out: x @= 1;", "out: ;"},
        {STORE, {CHANGE_SKIP}, "switch (a) { case 1: x @= 1; break; }",
         "switch (a) { case 1: ; break; }"},
        {STORE, {CHANGE_SKIP}, "{\n  x /* a */ @=\n    1 +\n    2;\n  y();\n}",
         "{\n  y();\n}"},
        {STORE, {CHANGE_SKIP}, "{\r\n  x @= 1;\r\n  y();\r\n}",
         "{\r\n  y();\r\n}"},
        {STORE, {CHANGE_SKIP}, "{ a(); } x @= 1; }", "{ a(); } }"},
        {STORE, {CHANGE_SKIP}, "int @v = 5, w;", "int v, w;",
         "without the initial value `5` of `v`"},
        {STORE, {CHANGE_SKIP}, "for (i @= 0; i < n; i++)",
         "for (; i < n; i++)"},
        {STORE, {CHANGE_SKIP}, "for (i @= 0, j = 1; i < n; i++)",
         "for (j = 1; i < n; i++)"},
        {STORE, {CHANGE_SKIP}, "for (;; i++, j@--)", "for (;; i++)"},
        {STORE, {CHANGE_SKIP}, "{ a = 1, b @= 2; }", "{ a = 1; }"},
        {STORE, {CHANGE_SKIP}, "while ((c @= get()) != 'x')",
         "while ((get()) != 'x')"},
        {STORE, {CHANGE_SKIP}, "a @= b = 0;", "b = 0;", "without `a =`"},
        {STORE, {CHANGE_SKIP}, "a = b @= 0;", "a = 0;"},
        {STORE, {CHANGE_SKIP}, "x @= f(1);", "f(1);"},
        {STORE, {CHANGE_SKIP}, "y = x @+= 2;", "y = x + 2;"},
        {STORE, {CHANGE_SKIP}, "y = @++x;", "y = x + 1;"},
        {STORE, {CHANGE_SKIP}, "y = x@++ * 2;", "y = x * 2;"},
        {STORE, {CHANGE_SKIP}, "a[i++] @= 3;", "a[i++];"},
        {STORE, {CHANGE_PLUS}, "x @= y;", "x += y;", "`=` to `+=`"},
        {STORE, {CHANGE_LESS}, "x @= y;", "x -= y;"},
        {STORE, {CHANGE_PLUS}, "int @x = y;", NULL});
}

TEST(a_call_is_left_out) {
#define CALL(name, w, f)                                                       \
  {.kind = SITE_CALL, .width = (w), .flags = (f), .text = (name)}
  CHECK({CALL("free", 0, SITE_VOID), {CHANGE_SKIP},
         "{\n  @free(p);\n  q();\n}", "{\n  q();\n}", "without `free(p)`"},
        {CALL("f", 32, SITE_VOID), {CHANGE_SKIP},
         "{ (void)@f(p); q(); }", "{ q(); }"},
        {CALL("f", 32, 0), {CHANGE_SKIP, 1},
         "x = 2 * @f(a, g(b));", "x = 2 * 1;", "`f(a, g(b))` to `1`"},
        {CALL("f", 32, 0), {CHANGE_SKIP, -1}, "x = y -@f(a);", "x = y -(-1);"},
        {CALL("f", 0, SITE_VOID), {CHANGE_SKIP},
         "x ? @f() : g();", "x ? (void)0 : g();"},
        {CALL("__isoc99_sscanf", 32, 0), {CHANGE_SKIP, 0},
         "if (@sscanf(s, \"%d\", &n) == 1)", "if (0 == 1)"},
        {CALL("__assert_fail", 0, SITE_VOID), {CHANGE_SKIP},
         "@assert(x);", NULL},
        {CALL("", 32, 0), {CHANGE_SKIP, 0},
         "x = @p->ops[i].run(p, 3);", "x = 0;"},
        {CALL("", 32, 0), {CHANGE_SKIP, 0}, "x = @(*f)(3);", "x = 0;"});
}

TEST(arguments_are_exchanged_and_changed) {
  CHECK({{.kind = SITE_SWAP, .operand = 0, .value = 1, .text = "f"}, {CHANGE_SWAP},
         "x = @f(a, /* b */ (b, c), d);", "x = f((b, c), /* b */ a, d);",
         "`a` and `(b, c)` exchanged"},
        {{.kind = SITE_SWAP, .operand = 1, .value = 2, .text = "f"}, {CHANGE_SWAP},
         "x = @f(a,\n  b,\n  c);", "x = f(a,\n  c,\n  b);"},
        {{.kind = SITE_SWAP, .operand = 1, .value = 2, .text = "f"}, {CHANGE_SWAP},
         "x = @f(a, b);", "x = f(b, a);"},
        {{.kind = SITE_ARGUMENT, .operand = 1, .text = "f"}, {CHANGE_ADD, 1},
         "@f(x, n - 1);", "f(x, n);", "`n - 1` to `n`"},
        {{.kind = SITE_ARGUMENT, .operand = 0, .text = "f"}, {CHANGE_ADD, 1},
         "@f(x, n);", "f(x + 1, n);"},
        {{.kind = SITE_ARGUMENT, .operand = 0, .text = "f"}, {CHANGE_MINUS},
         "@f(x + 1, n);", "f(-(x + 1), n);"},
        {{.kind = SITE_ARGUMENT, .operand = 0, .text = "f"}, {CHANGE_ADD, -1},
         "@f(a ? b : c);", "f((a ? b : c) - 1);"});
}

TEST(an_index_is_moved) {
  CHECK({{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "x = @a[i];", "x = a[i + 1];",
         "`i` to `i + 1`"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "x = @a[i - 1];", "x = a[i];"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, -1}, "x = @a[i - 1];", "x = a[i - 2];"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "x = @a[b[i] + 1];",
         "x = a[b[i] + 2];"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "@p->ar[f(x)][y] = 4;",
         "p->ar[f(x) + 1][y] = 4;"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "x = *(p @+ n);", "x = *(p + n + 1);"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "x = *(p @- n);", "x = *(p - (n - 1));"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "x = @a[i & 7];",
         "x = a[(i & 7) + 1];"},
        {{.kind = SITE_INDEX}, {CHANGE_ADD, 1}, "x = @a[i++];", "x = a[i++ + 1];"});
}

TEST(names_and_returned_values_change) {
  CHECK({{.kind = SITE_VARIABLE, .text = "x", NAMES({'i', "y"}, {'i', "z"})}, {CHANGE_NAME, 1},
         "return a + @x;", "return a + z;", "`x` to `z`"},
        {{.kind = SITE_VARIABLE, .text = "x", NAMES({'i', "y"})}, {CHANGE_NAME, 0},
         "return @X(a);", NULL},
        {{.kind = SITE_VARIABLE, .text = "x"}, {CHANGE_ADD, 1},
         "y = 2 * @x;", "y = 2 * (x + 1);"},
        {{.kind = SITE_FIELD, .text = "f", NAMES({'i', "g"})}, {CHANGE_NAME, 0},
         "y = p->@f + 1;", "y = p->g + 1;", "`f` to `g`"},
        {{.kind = SITE_RETURN}, {CHANGE_ADD, 1}, "@return x ? y : z;",
         "return (x ? y : z) + 1;"},
        {{.kind = SITE_RETURN}, {CHANGE_SET, 0}, "@return f(x);", "return 0;",
         "`f(x)` to `0`"},
        {{.kind = SITE_RETURN}, {CHANGE_MINUS}, "@return -x;", "return x;"},
        {{.kind = SITE_RETURN}, {CHANGE_NEGATE}, "@return a < b;",
         "return !(a < b);"});
}
// clang-format on

// --- constants --------------------------------------------------------------

TEST(constants_are_read_as_c_writes_them) {
  static const struct {
    const char *text;
    int64_t value;
  } rows[] = {{"10", 10},    {"010", 8},      {"0x1FuL", 31},  {"'a'", 97},
              {"'\\n'", 10}, {"'\\0'", 0},    {"'\\x41'", 65}, {"'\\''", 39},
              {"0b101", 5},  {"'\\377'", -1}, {"0", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t value;
    assert_true(literal_integer(rows[i].text, strlen(rows[i].text), &value));
    assert_int_equal(value, rows[i].value);
  }
  int64_t ignored;
  assert_false(literal_integer("1.5", 3, &ignored));
  assert_false(literal_integer("\"a\"", 3, &ignored));
  assert_false(literal_integer("'ab'", 4, &ignored));
}

// --- diffs ------------------------------------------------------------------

static void expect_diff(const char *old, const char *new, const char *want) {
  Str out = {0};
  diff_write("d/f.c", old, strlen(old), new, strlen(new), &out);
  assert_string_equal(str_text(&out), want);
  str_release(&out);
}

#define HEAD "--- a/d/f.c\n+++ b/d/f.c\n"

TEST(a_diff_has_three_lines_around_the_change) {
  expect_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n",
              HEAD "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
  expect_diff("1\n2\n", "2\n", HEAD "@@ -1,2 +1,1 @@\n-1\n 2\n");
  expect_diff("1\n", "", HEAD "@@ -1,1 +0,0 @@\n-1\n");
  expect_diff("1\n1\n", "1\n1\n1\n", HEAD "@@ -1,2 +1,3 @@\n 1\n 1\n+1\n");
  expect_diff("1\n", "1\n", "");
}

TEST(a_diff_says_that_the_last_line_has_no_end) {
  expect_diff("1\n2", "1\n3",
              HEAD "@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n"
                   "+3\n\\ No newline at end of file\n");
  expect_diff("1\n2", "0\n2",
              HEAD "@@ -1,2 +1,2 @@\n-1\n+0\n 2\n"
                   "\\ No newline at end of file\n");
}

// --- any site, any text -----------------------------------------------------

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void random_text(uint32_t *seed, Str *out) {
  static const char *const words[] = {
      "x",  "(",  ")",      "[",    "]",    "{",     "}",  ";",   "=",
      "+=", "++", "--",     "-",    "+",    "*",     "&",  "!",   "<",
      "==", "&&", "||",     "?",    ":",    ",",     "1",  "'a'", "f",
      ".",  "->", "return", "if",   "for",  "while", "do", "int", "\n",
      "/*", "*/", "\"",     "else", "case", "sizeof"};
  size_t n = sizeof words / sizeof *words;
  for (uint32_t k = 5 + next_random(seed) % 40; k--;) {
    str_add(out, words[next_random(seed) % n]);
    str_add(out, next_random(seed) % 3 ? " " : "");
  }
}

TEST(no_site_in_any_text_harms_the_editor) {
  static const SiteName names[] = {{'i', "n"}, {'p', "q"}};
  uint32_t seed = 11;
  for (int round = 0; round < 60000; round++) {
    Arena arena = {0};
    SourceEdits edits = {0};
    Str text = {0}, new = {0};
    random_text(&seed, &text);
    Site site = {.kind = 1 + next_random(&seed) % (SITE_KINDS - 1),
                 .op = (uint8_t)(next_random(&seed) % 12),
                 .width = 32,
                 .flags = (uint8_t)next_random(&seed),
                 .line = 1 + next_random(&seed) % 2,
                 .column = 1 + next_random(&seed) % 60,
                 .operand = next_random(&seed) % 4,
                 .owner = next_random(&seed) % SITE_KINDS,
                 .value = next_random(&seed) % 3,
                 .names = names,
                 .nnames = 2,
                 .text = round % 2 ? "x" : ""};
    EditChange change = {next_random(&seed) % CHANGES,
                         (int64_t)(next_random(&seed) % 5) - 2, 1};
    edits_find(&site, change, str_text(&text), text.len, &arena, &edits);
    for (size_t i = 0; i < edits.len; i++) {
      assert_true(edits.items[i].at + edits.items[i].len <= text.len);
      edit_diff(&edits.items[i], "f.c", str_text(&text), text.len, &new);
      assert_true(new.len > 0);
      str_clear(&new);
    }
    str_release(&text);
    str_release(&new);
    array_release(&edits);
    arena_release(&arena);
  }
}

// --- how a unit was compiled ------------------------------------------------

TEST(a_program_says_how_its_units_were_compiled) {
  ProgramCode code;
  Err err = {0};
  assert_int_equal(program_code_read(&code, FIXTURE, &err), 0);
  const UnitCode *u = &code.units.items[0];
  assert_true(text_ends(u->source, "fixture.c"));
  assert_int_equal(*u->dir, '/');
  program_code_release(&code);
}

// Headers and options of chunks with any bytes.
TEST(no_damage_to_the_code_of_a_program_harms_the_reader) {
  Area area = AREA_NONE;
  Str program = {0};
  Err err = {0};
  assert_int_equal(area_open_temporary(&area, &err), 0);
  assert_int_equal(fs_read(FIXTURE, 0, &program, &err), 0);
  char *path = mem_printf("%s/program", area.dir);
  const char *chunk = memmem(program.data, program.len, "5CLUPLBC", 8);
  assert_non_null(chunk);
  size_t at = (size_t)(chunk - program.data);
  uint32_t seed = 3;
  for (int round = 0; round < 200; round++) {
    char kept[200];
    memcpy(kept, program.data + at, sizeof kept);
    for (int k = 0; k < 1 + round % 4; k++) {
      size_t where = next_random(&seed) % (round % 2 ? 72 : sizeof kept);
      program.data[at + where] = (char)next_random(&seed);
    }
    ProgramCode code;
    assert_int_equal(fs_write(path, program.data, program.len, &err), 0);
    if (!program_code_read(&code, path, &err)) {
      for (size_t i = 0; i < code.units.len; i++)
        assert_true(!code.units.items[i].source == !code.units.items[i].dir);
      program_code_release(&code);
    }
    memcpy(program.data + at, kept, sizeof kept);
  }
  free(path);
  str_release(&program);
  area_close(&area);
}
