// Unit tests of php/record/term.h (PHP's rules outside of PHP), of the shadows
// in a record (tests/data/php/decide.rec: decide.php with n=3&s=%20Bob&p=7-x,
// recorded by culprit.so) and of solver them (explore/solve/request_solver*.h).
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "explore/solve/named_input.h"
#include "explore/solve/request_solver.h"
#include "php/record/php_record.h"
#include "util/fs.h"

#define RECORD TEST_DATA "/php/decide.rec"

static PhpValue text(const char *s) { return php_string(s, strlen(s)); }

// --- values -----------------------------------------------------------------

// Each line was taken from php8.2.
TEST(loose_comparison_is_that_of_php_8) {
  Arena a = {0};
  struct {
    PhpValue x, y;
    int order;
  } cases[] = {
      {text("abc"), php_int(0), 1},     {text("1e3"), text("1000"), 0},
      {text(" 5 "), php_int(5), 0},     {text("5x"), php_int(5), 1},
      {text("abc"), text("ABC"), 1},    {text("10"), text("9"), 1},
      {text("10"), text("9a"), -1},     {php_null(), text(""), 0},
      {php_null(), text("a"), -1},      {php_null(), php_int(-1), -1},
      {php_bool(true), php_int(2), 0},  {text("0"), php_bool(false), 0},
      {text("0.0"), php_bool(true), 0}, {php_float(1.5), text("1.5"), 0},
      {php_int(7), php_float(7.5), -1}, {text(""), text("0"), -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(php_order(cases[i].x, cases[i].y, &a), cases[i].order);
    assert_int_equal(php_order(cases[i].y, cases[i].x, &a), -cases[i].order);
  }
  arena_release(&a);
}

TEST(strict_comparison_looks_at_the_type) {
  assert_true(php_same(text("1"), text("1")));
  assert_false(php_same(text("1"), php_int(1)));
  assert_false(php_same(php_int(1), php_float(1)));
  assert_true(php_same(php_null(), php_null()));
}

TEST(strings_become_numbers_as_far_as_they_are_some) {
  assert_int_equal(php_to_int(text("12abc")).i, 12);
  assert_int_equal(php_to_int(text(" 1e2")).i, 100);
  assert_int_equal(php_to_int(text("x")).i, 0);
  assert_true(php_to_int(text("99999999999999999999")).i == INT64_MAX);
  assert_int_equal(php_to_number(text("x")).type, VALUE_UNKNOWN);
  assert_int_equal(php_to_number(text("1.5kg")).type, VALUE_FLOAT);
}

TEST(floats_are_printed_as_php_does) {
  Arena a = {0};
  assert_string_equal(php_to_string(php_float(0.1), &a).s, "0.1");
  assert_string_equal(php_to_string(php_float(7), &a).s, "7");
  assert_string_equal(php_to_string(php_float(1e15), &a).s, "1.0E+15");
  assert_string_equal(php_to_string(php_float(1e-5), &a).s, "1.0E-5");
  assert_string_equal(php_to_string(php_float(-INFINITY), &a).s, "-INF");
  arena_release(&a);
}

static const char *call(TermOp op, PhpValue x, PhpValue y, PhpValue z,
                        unsigned n, Arena *a) {
  PhpValue args[3] = {x, y, z};
  return php_to_string(term_call(op, args, n, a), a).s;
}

TEST(functions_do_what_those_of_php_do) {
  Arena a = {0};
  PhpValue no = php_null();
  assert_string_equal(call(TERM_TRIM, text(" a\n"), no, no, 1, &a), "a");
  assert_string_equal(call(TERM_TRIM, text("xyax"), text("x..z"), no, 2, &a),
                      "a");
  assert_string_equal(
      call(TERM_SUBSTR, text("abcdef"), php_int(-3), php_int(-1), 3, &a), "de");
  assert_string_equal(call(TERM_SUBSTR, text("abc"), php_int(5), no, 2, &a),
                      "");
  assert_string_equal(
      call(TERM_STRPOS, text("abcabc"), text("c"), php_int(3), 3, &a), "5");
  assert_int_equal(
      term_call(TERM_STRPOS, (PhpValue[]){text("a"), text("b")}, 2, &a).type,
      VALUE_FALSE);
  assert_string_equal(
      call(TERM_REPLACE, text("a"), text("bb"), text("aca"), 3, &a), "bbcbb");
  assert_string_equal(call(TERM_ESCAPE_HTML, text("<'&\">"), no, no, 1, &a),
                      "&lt;&#039;&amp;&quot;&gt;");
  assert_string_equal(call(TERM_STRCMP, text("a"), text("abc"), no, 2, &a),
                      "-1");
  assert_string_equal(call(TERM_ROUND, php_float(-2.5), no, no, 1, &a), "-3");
  arena_release(&a);
}

// Its number differs between processors.
TEST(of_strcmp_only_the_sign_is_known) {
  Arena a = {0};
  PhpValue args[] = {text("a"), text("c"), php_int(9)};
  for (TermOp op = TERM_STRCMP; op <= TERM_STRNCASECMP; op++) {
    PhpValue v = term_call(op, args, op < TERM_STRNCMP ? 2 : 3, &a);
    assert_int_equal(php_order(v, php_int(0), &a), -1);
    assert_int_equal(php_order(php_int(0), v, &a), 1);
    assert_int_equal(php_order(v, php_int(-2), &a), 2);
    assert_int_equal(php_order(php_int(-1), v, &a), 2);
    assert_int_equal(php_order(v, php_int(1), &a), -1);
    assert_int_equal(php_order(v, php_bool(true), &a), 0);
    assert_int_equal(php_to_string(v, &a).type, VALUE_UNKNOWN);
  }
  arena_release(&a);
}

// strcmp(GET.s, "c"), and whether it is `n`; the run's was -35258420.
TEST(the_run_knows_the_number_strcmp_returned) {
  PhpTerm terms[] = {
      {.name = ""},
      {.op = TERM_VAR, .name = "GET.s", .value = text("a")},
      {.op = TERM_CONST, .name = "", .value = text("c")},
      {TERM_STRCMP, 2, {1, 2}, php_int(-35258420), ""},
      {.op = TERM_CONST, .name = "", .value = php_int(-35258420)},
      {TERM_EQ, 2, {3, 4}, php_bool(true), ""},
      {.op = TERM_CONST, .name = "", .value = php_int(0)},
      {TERM_LT, 2, {3, 6}, php_bool(true), ""},
  };
  PhpShadows sh = {.terms = terms, .nterms = 8};
  TermEval *ev = term_eval_new(&sh);
  assert_true(term_decides(ev, 5, true));
  term_eval_set(ev, 1, text("b"));
  assert_int_equal(term_eval(ev, 5).type, VALUE_UNKNOWN);
  assert_true(term_decides(ev, 7, true));
  term_eval_set(ev, 1, text("d"));
  assert_true(term_decides(ev, 5, false));
  assert_true(term_decides(ev, 7, false));
  term_eval_free(ev);
}

TEST(patterns_match_as_pcre_does) {
  Arena a = {0};
  assert_int_equal(term_preg(text("/^a+$/i"), text("AAA"), -1, &a).i, 1);
  assert_int_equal(term_preg(text("{b}"), text("AAA"), -1, &a).i, 0);
  assert_string_equal(term_preg(text("~(\\d+)-(\\w)~"), text("x12-y"), 1, &a).s,
                      "12");
  char alternatives[3000] = "/never"; // as lexers put them together
  for (int i = 0; i < 400; i++)
    strcat(alternatives, "|none");
  strcat(alternatives, "|y/");
  assert_int_equal(term_preg(text(alternatives), text("xy"), -1, &a).i, 1);
  assert_int_equal(term_preg(text("/(/"), text("x"), -1, &a).type,
                   VALUE_UNKNOWN);
  assert_int_equal(term_preg(text("/a/e"), text("x"), -1, &a).type,
                   VALUE_UNKNOWN);
  arena_release(&a);
}

TEST(examples_of_a_pattern_match_it) {
  static const char *const patterns[] = {
      "/^[A-Z]{2}-\\d{4}$/",      "/^(?:cat|dog)s?\\/\\d+$/",
      "/^[^@\\s]+@\\w+\\.org$/",  "#^(?<y>\\d{4})-(\\d\\d)$#",
      "/^[[:alpha:]_]\\w*$/",     "/a.c/",
      "/^\\+?\\d{1,3}( \\d+)*$/", "/^$|^x{3,}$/"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    Arena a = {0};
    PhpValue out[EXAMPLES_MOST];
    size_t n = pattern_examples(text(patterns[i]), out, &a), good = 0;
    for (size_t k = 0; k < n; k++)
      good += term_preg(text(patterns[i]), out[k], -1, &a).i == 1;
    assert_true(n >= 2 && good == n);
    arena_release(&a);
  }
}

TEST(a_pattern_that_is_too_hard_or_broken_has_no_example) {
  static const char *const patterns[] = {
      "/(?=x)y/", "/[/", "/((((((((((a/", "/\\", "x", "", "/(a{900}){900}/"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    Arena a = {0};
    PhpValue out[EXAMPLES_MOST];
    size_t n = pattern_examples(text(patterns[i]), out, &a);
    for (size_t k = 0; k < n; k++)
      assert_true(out[k].n <= 600);
    arena_release(&a);
  }
}

// --- the record -------------------------------------------------------------

static Str load(void) {
  Str s = {0};
  Err err;
  assert_int_equal(fs_read(RECORD, 0, &s, &err), 0);
  return s;
}

static const PhpRecord *sample(Arena *a) {
  static PhpRecord r;
  Err err;
  assert_int_equal(php_record_read(RECORD, &r, a, &err), 0);
  return &r;
}

TEST(a_record_tells_its_decisions_in_order) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  static const char *const want[] = {
      "isset(GET.n)",
      "(10 < (intval(GET.n) * 2))",
      "isset(POST.user)",
      "(strtolower(trim(GET.s)) === 'admin')",
  };
  assert_int_equal(r->shadows->nbranches, 9);
  assert_int_equal(r->ncompares, 9);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(r->compares[i].kind, COMPARE_BRANCH);
    assert_string_equal(r->compares[i].right, want[i]);
  }
  assert_true(r->compares[0].held && !r->compares[1].held);
  assert_int_equal(r->compares[1].line, 3);
  assert_string_equal(path_base(r->compares[1].file), "decide.php");
  arena_release(&a);
}

TEST(a_decision_names_the_outcome_it_was_counted_as) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  const PhpBranch *key = &r->shadows->branches[0];
  const PhpBranch *b = &r->shadows->branches[1];
  assert_true(key->entity == ENTITY_NONE); // no condition of the source
  assert_int_equal(b->script, 0);
  bool counted = false;
  for (size_t i = 0; i < r->scripts[0].ncounts; i++)
    counted |= r->scripts[0].counts[i].entity == b->entity;
  assert_true(counted);
  arena_release(&a);
}

TEST(what_the_session_keeps_and_what_is_opaque_is_told) {
  Arena a = {0};
  char shown[100];
  const PhpShadows *sh = sample(&a)->shadows;
  assert_int_equal(sh->nkept, 1);
  assert_string_equal(sh->kept[0].name, "SESSION.n");
  term_show(sh, sh->kept[0].number, shown, sizeof shown);
  assert_string_equal(shown, "(intval(GET.n) + 1)");
  assert_int_equal(sh->nopaque, 1);
  assert_string_equal(sh->opaque[0].name, "md5");
  arena_release(&a);
}

TEST(every_decision_is_what_its_term_says) {
  Arena a = {0};
  assert_int_equal(term_check(sample(&a)->shadows, NULL), 0);
  arena_release(&a);
}

TEST(a_decision_that_was_turned_around_is_found_out) {
  Arena a = {0};
  PhpShadows sh = *sample(&a)->shadows;
  PhpBranch *b = arena_array(&a, PhpBranch, sh.nbranches);
  memcpy(b, sh.branches, sh.nbranches * sizeof *b);
  b[3].outcome = !b[3].outcome;
  sh.branches = b;
  size_t first = 0;
  assert_int_equal(term_check(&sh, &first), 1);
  assert_int_equal(first, 3);
  arena_release(&a);
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

// Evaluates, shows and solves whatever was read.
static void use(const PhpRecord *r, Arena *a) {
  char shown[300];
  Ask ask = ask_link("/decide.php", "n=3&s=+Bob&p=7-x", a);
  term_check(r->shadows, NULL);
  for (size_t i = 0; i < r->shadows->nkept; i++)
    term_show(r->shadows, r->shadows->kept[i].number, shown, sizeof shown);
  SolveStats st = {0};
  KnownCalls known = {0};
  BranchSolver s = {.sh = r->shadows,
                    .ev = term_eval_new(r->shadows),
                    .known = &known,
                    .stats = &st,
                    .no_z3 = true,
                    .arena = a};
  for (uint32_t i = 0; i < r->shadows->nbranches; i++) {
    InputAnswers answers = {0};
    Ask out;
    branch_solve(&s, i, &answers);
    for (size_t k = 0; k < answers.len && answers.items[k].n; k++)
      input_change(&ask, r->shadows->terms[answers.items[k].items[0].var].name,
                   answers.items[k].items[0].value, &out, a);
    array_release(&answers);
  }
  term_eval_free(s.ev);
}

TEST(a_record_with_damaged_terms_is_refused_or_harmless) {
  static const unsigned char nasty[] = {0, 1, 2, 5, 0x7f, 0x80, 0xff};
  Str s = load();
  uint32_t random = 3;
  int good = 0, bad = 0;
  for (int i = 0; i < 4000; i++) {
    Arena a = {0};
    PhpRecord r;
    Err err;
    char *copy = mem_dup(s.data, s.len);
    for (uint32_t k = 1 + next_random(&random) % 4; k; k--) {
      size_t at = sizeof(PhpRecordHeader) +
                  next_random(&random) % (s.len - sizeof(PhpRecordHeader));
      copy[at] = (char)nasty[next_random(&random) % sizeof nasty];
    }
    if (php_record_parse(copy, s.len, &r, &a, &err)) {
      bad++;
    } else {
      use(&r, &a);
      good++;
    }
    free(copy);
    arena_release(&a);
  }
  assert_true(good > 100 && bad > 100);
  str_release(&s);
}

// --- solver ----------------------------------------------------------------

static const char *query_of(const Ask *a, Arena *arena) {
  Request r;
  ask_request(a, 1, &r, arena);
  return a->post ? arena_printf(arena, "%s %s", r.query, r.body) : r.query;
}

static bool solves_to(const PhpRecord *r, uint32_t compare, const char *query,
                      Arena *a) {
  Ask ask = ask_link("/decide.php", "n=3&s=+Bob&p=7-x", a);
  Asks out = {0};
  bool found = false;
  SolveMemory *memory = solve_memory_new(0, 0);
  RequestSolver *s = request_solver_new(memory);
  request_solver_begin(s);
  request_solver_solve(s, &r->compares[compare], &ask, &out, a);
  request_solver_free(s);
  solve_memory_free(memory);
  for (size_t i = 0; i < out.len; i++)
    found |= !strcmp(query_of(&out.items[i], a), query);
  array_release(&out);
  return found;
}

TEST(decisions_are_solved_for_the_other_way) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  assert_true(solves_to(r, 0, "s=+Bob&p=7-x", &a));
  assert_true(solves_to(r, 1, "n=6&s=+Bob&p=7-x", &a));
  assert_true(solves_to(r, 3, "n=3&s=admin&p=7-x", &a));
  assert_true(solves_to(r, 8, "n=3&s=green&p=7-x", &a));
  arena_release(&a);
}

TEST(what_comes_before_a_decision_stays_as_it_was) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Ask ask = ask_link("/decide.php", "n=3&s=+Bob&p=7-x", &a);
  Asks out = {0};
  SolveMemory *memory = solve_memory_new(0, 0);
  RequestSolver *s = request_solver_new(memory);
  request_solver_begin(s);
  request_solver_solve(s, &r->compares[6], &ask, &out, &a); // the group is > 5
  request_solver_free(s);
  assert_true(out.len > 0);
  for (size_t i = 0; i < out.len; i++) {
    const char *p = strstr(query_of(&out.items[i], &a), "p=") + 2;
    assert_int_equal(
        term_preg(text("/^[0-5]-x$/"), php_string(p, strlen(p)), -1, &a).i, 1);
  }
  array_release(&out);
  solve_memory_free(memory);
  arena_release(&a);
}

TEST(a_hash_that_was_seen_before_is_turned_back) {
  Arena a = {0};
  PhpShadows sh = *sample(&a)->shadows;
  const PhpBranch *b = &sh.branches[7]; // md5(GET.p) == 'abc'
  KnownCalls known = {0};
  PhpTerm *terms = arena_array(&a, PhpTerm, sh.nterms);
  memcpy(terms, sh.terms, sh.nterms * sizeof *terms);
  uint32_t hash = terms[b->term].args[0], want = terms[b->term].args[1];
  terms[want].value = terms[hash].value; // of another request: md5("7-x")
  known_calls_add(&known, &sh);
  terms[hash].value = text("another");
  sh.terms = terms;
  InputChanges out = {0};
  BranchSolver s = {
      .sh = &sh, .ev = term_eval_new(&sh), .known = &known, .arena = &a};
  propose(&s, b->term, true, &out);
  assert_int_equal(out.len, 1);
  assert_string_equal(out.items[0].value.s, "7-x");
  array_release(&out);
  term_eval_free(s.ev);
  known_calls_release(&known);
  arena_release(&a);
}

// The session's n is n + 1 of the request. Another worker knows that from its
// first turn on that comes after the end of ours.
TEST(a_session_value_is_solved_for_the_request_that_left_it) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Ask ask = ask_link("/decide.php", "n=3&s=+Bob&p=7-x", &a);
  Asks out = {0};
  SolveMemory *memory = solve_memory_new(0, 0);
  RequestSolver *first = request_solver_new(memory);
  RequestSolver *s = request_solver_new(memory);
  request_solver_begin(first);
  request_solver_learn(first, r, &ask); // remembers what it keeps
  PhpTerm terms[] = {{.name = ""},
                     {.op = TERM_VAR, .name = "SESSION.n", .value = php_int(4)},
                     {.op = TERM_CONST, .name = "", .value = php_int(100)},
                     {.op = TERM_EQ, .nargs = 2, .args = {1, 2}, .name = ""}};
  PhpBranch branch = {.term = 3, .file = "", .entity = ENTITY_NONE};
  PhpShadows later = {.serial = UINT64_MAX,
                      .terms = terms,
                      .nterms = 4,
                      .branches = &branch,
                      .nbranches = 1};
  PhpCompare c = {.kind = COMPARE_BRANCH, .shadows = &later, .right = ""};
  request_solver_begin(s);
  request_solver_hold(s, &ask);
  request_solver_end(first);
  request_solver_solve_earlier(s, &c, &ask, &out, &a);
  assert_int_equal(out.len, 0);
  request_solver_end(s);
  request_solver_begin(s);
  request_solver_hold(s, &ask);
  request_solver_solve_earlier(s, &c, &ask, &out, &a);
  assert_true(out.len > 0);
  assert_string_equal(query_of(&out.items[0], &a), "n=99&s=+Bob&p=7-x");
  array_release(&out);
  request_solver_free(first);
  request_solver_free(s);
  solve_memory_free(memory);
  arena_release(&a);
}

TEST(opaque_calls_are_summed_up_by_name) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Ask ask = ask_link("/decide.php", "", &a);
  Asks ignored = {0};
  PhpNamed names[4];
  Str said = {0};
  SolveMemory *memory = solve_memory_new(0, 0);
  RequestSolver *s = request_solver_new(memory);
  for (int i = 0; i < 2; i++) {
    request_solver_begin(s);
    request_solver_learn(s, r, &ask);
    request_solver_end(s);
  }
  request_solver_begin(s);
  request_solver_solve(s, &r->compares[1], &ask, &ignored, &a);
  request_solver_end(s);
  request_solver_free(s);
  assert_int_equal(solve_memory_opaque(memory, names, 4), 1);
  assert_string_equal(names[0].name, "md5");
  assert_int_equal(names[0].number, 2);
  solve_memory_report(memory, &said);
  assert_non_null(strstr(str_text(&said), "Solved: 1 of 1 decisions"));
  assert_non_null(strstr(str_text(&said), "md5 2"));
  str_release(&said);
  array_release(&ignored);
  solve_memory_free(memory);
  arena_release(&a);
}

TEST(decisions_beyond_the_time_of_a_request_are_counted) {
  Arena a = {0};
  const PhpRecord *r = sample(&a);
  Ask ask = ask_link("/decide.php", "n=3&s=+Bob&p=7-x", &a);
  SolveMemory *memory = solve_memory_new(0, 1e-9);
  RequestSolver *s = request_solver_new(memory);
  Asks out = {0};
  Str said = {0};
  request_solver_begin(s);
  for (int i = 0; i < 4; i++)
    request_solver_solve(s, &r->compares[1], &ask, &out, &a);
  request_solver_end(s);
  assert_true(memory->stats.late >= 3);
  assert_int_equal(memory->stats.late_requests, 1);
  solve_memory_report(memory, &said);
  assert_non_null(strstr(str_text(&said), "of 1 requests were not tried"));
  str_release(&said);
  array_release(&out);
  request_solver_free(s);
  solve_memory_free(memory);
  arena_release(&a);
}

// --- inputs of a request ----------------------------------------------------

static const char *changed(const char *query, const char *name,
                           const char *value, Arena *a) {
  Ask ask = ask_link("/p.php", query, a), out;
  if (!input_change(&ask, name, value ? text(value) : php_null(), &out, a))
    return "no";
  return query_of(&out, a);
}

TEST(an_input_is_changed_where_the_request_has_it) {
  Arena a = {0};
  assert_string_equal(changed("a=1&b=2", "GET.b", "9", &a), "a=1&b=9");
  assert_string_equal(changed("a=1&b=2", "GET.a", NULL, &a), "b=2");
  assert_string_equal(changed("a=1", "POST.u", "x", &a), "a=1 u=x");
  assert_string_equal(changed("a.b=1", "GET.a_b", "2", &a), "a.b=2");
  assert_string_equal(changed("l[]=p&l[]=q", "GET.l[1]", "z", &a),
                      "l[]=p&l[]=z");
  assert_string_equal(changed("f[k]=p", "GET.f[k]", "z", &a), "f[k]=z");
  assert_string_equal(changed("a=1", "REQUEST.r", "x", &a), "a=1&r=x");
  assert_string_equal(changed("a=1", "SERVER.REQUEST_METHOD", "POST", &a),
                      "a=1 ");
  assert_string_equal(changed("a=1", "DB.1.name", "x", &a), "no");
  assert_string_equal(changed("a=1", "GET.z", NULL, &a), "no");
  arena_release(&a);
}
