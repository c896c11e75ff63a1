// Unit tests of oracle/web_oracle.c and eval/ranges.c: which failures an answer
// shows, which lines wrote them, and the table of eleven ranges; and of
// explore/survey/declarations.c.
#include "test.h"

#include <stdlib.h>

#include "eval/ranges.h"
#include "explore/survey/declarations.h"
#include "oracle/web_oracle.h"
#include "util/mem.h"

#define N(a) (sizeof(a) / sizeof *(a))

typedef struct {
  WebOracle oracle;
  Exchange exchange;
  PhpRecord record;
  Run run;
  Arena arena;
  Err err;
} Fixture;

static void start(Fixture *f, const char *body) {
  *f = (Fixture){.oracle = {.severities = WEB_DEFAULT, .root = "/app"}};
  f->exchange.response =
      (Response){.status = 200, .body = body, .body_len = strlen(body)};
  array_push(&f->exchange.response.headers,
             (Header){"Content-Type", "text/html"});
  f->record.finished = true;
  f->record.script = "/app/a.php";
}

static void judge(Fixture *f) {
  if (web_judge(&f->oracle, &f->exchange, &f->record, NULL, &f->run, &f->arena,
                &f->err))
    fail_msg("%s", f->err.text);
}

static void finish(Fixture *f) {
  run_release(&f->run);
  array_release(&f->exchange.response.headers);
  arena_release(&f->arena);
}

static const char good[] =
    "<!DOCTYPE html><html><head><title>t</title></head><body><p>x</p>"
    "</body></html>";

// --- messages of PHP --------------------------------------------------------

static PhpFault fault(PhpSeverity severity, const char *message) {
  return (PhpFault){.severity = severity,
                    .message = message,
                    .file = "/app/lib/b.php",
                    .line = 7};
}

TEST(a_good_page_without_messages_passes) {
  Fixture f;
  start(&f, good);
  judge(&f);
  assert_int_equal(f.run.verdict, VERDICT_PASS);
  assert_int_equal(f.run.failures.len, 0);
  finish(&f);
}

TEST(messages_below_the_severity_are_no_failures) {
  Fixture f;
  start(&f, good);
  PhpFault faults[] = {fault(PHP_WARNING, "Undefined variable $x"),
                       fault(PHP_FATAL, "caught"),
                       fault(PHP_FATAL, "silenced")};
  faults[1].caught = true;
  faults[2].silenced = true;
  f.record.faults = faults;
  f.record.nfaults = N(faults);
  judge(&f);
  assert_int_equal(f.run.verdict, VERDICT_PASS);
  finish(&f);
}

TEST(the_signature_leaves_out_numbers_and_quoted_text) {
  Fixture f;
  start(&f, good);
  PhpFault faults[] = {fault(PHP_FATAL, "Key \"a b\" of 12 isn't in utf8 list"),
                       fault(PHP_FATAL, "Key \"c\" of 3 isn't in utf8 list")};
  f.record.faults = faults;
  f.record.nfaults = N(faults);
  judge(&f);
  assert_int_equal(f.run.failures.len, 1);
  assert_string_equal(
      f.run.failures.items[0].signature,
      "fatal: Key \"...\" of # isn't in utf8 list (lib/b.php:7)");
  assert_string_equal(f.run.failures.items[0].place, "lib/b.php:7");
  finish(&f);
}

TEST(a_failed_query_shows_its_sql) {
  Fixture f;
  start(&f, good);
  PhpFault query = fault(PHP_QUERY, "no such column: x");
  query.sql = "SELECT x FROM t";
  f.record.faults = &query;
  f.record.nfaults = 1;
  judge(&f);
  assert_string_equal(f.run.failures.items[0].kind, "query");
  assert_string_equal(f.run.failures.items[0].message,
                      "no such column: x [SELECT x FROM t] (lib/b.php:7)");
  finish(&f);
}

TEST(queries_that_differ_in_a_name_show_one_failure_other_statements_another) {
  Fixture f;
  start(&f, good);
  PhpFault queries[] = {
      fault(PHP_QUERY, "FUNCTION db.w1x does not exist"),
      fault(PHP_QUERY, "FUNCTION db.<i>\"x'&y does not exist"),
      fault(PHP_QUERY, "FUNCTION db.w1x does not exist")};
  queries[0].sql = "SELECT `w1x`()";
  queries[1].sql = "SELECT `<i>\"x'&y`()";
  queries[2].sql = "CREATE VIEW `v` AS SELECT `w1x`()";
  f.record.faults = queries;
  f.record.nfaults = N(queries);
  judge(&f);
  assert_int_equal(f.run.failures.len, 2);
  assert_string_equal(
      f.run.failures.items[0].signature,
      "query: FUNCTION db.... does not exist [SELECT] (lib/b.php:7)");
  assert_string_equal(
      f.run.failures.items[1].signature,
      "query: FUNCTION db.... does not exist [CREATE VIEW] (lib/b.php:7)");
  finish(&f);
}

TEST(what_a_database_quotes_of_the_query_is_left_out) {
  Fixture f;
  start(&f, good);
  PhpFault queries[] = {
      fault(PHP_QUERY, "You have an error in your SQL syntax; use near 'y'' "
                       "at line 1"),
      fault(PHP_QUERY, "You have an error in your SQL syntax; use near 'b', "
                       "c='d' at line 2"),
      fault(PHP_QUERY, "Incorrect integer value: 'O'Reilly' for column `n`"),
      fault(PHP_QUERY, "Incorrect integer value: 'x' for column `n`")};
  queries[0].sql = "SELECT * FROM t WHERE a='x'y'";
  queries[1].sql = "SELECT * FROM t WHERE a='b', c='d'";
  queries[2].sql = "SELECT * FROM t WHERE a=\"O'Reilly\"";
  queries[3].sql = "SELECT * FROM t WHERE a='x'";
  f.record.faults = queries;
  f.record.nfaults = N(queries);
  judge(&f);
  assert_int_equal(f.run.failures.len, 2);
  assert_string_equal(f.run.failures.items[0].signature,
                      "query: syntax error [SELECT] (lib/b.php:7)");
  assert_string_equal(
      f.run.failures.items[1].signature,
      "query: Incorrect integer value: '...' [SELECT] (lib/b.php:7)");
  finish(&f);
}

// In the order they happened: the first is of another query.
TEST(a_fatal_error_that_follows_from_a_failed_query_is_no_second_failure) {
  Fixture f;
  start(&f, good);
  PhpFault faults[] = {
      fault(PHP_FATAL, "Uncaught Error: Call to a member function f() on bool"),
      fault(PHP_QUERY, "no such column: x"),
      fault(PHP_FATAL, "Uncaught PDOException: no such column: x"),
      fault(PHP_FATAL,
            "Uncaught Error: Call to a member function f() on null")};
  faults[1].sql = "SELECT x FROM t";
  f.record.faults = faults;
  f.record.nfaults = N(faults);
  judge(&f);
  assert_int_equal(f.run.failures.len, 3);
  assert_string_equal(f.run.failures.items[1].kind, "query");
  assert_int_equal(f.run.deaths.len, 3);
  finish(&f);
}

TEST(what_a_server_without_privileges_refuses_is_no_failure) {
  Fixture f;
  start(&f, good);
  PhpFault query =
      fault(PHP_QUERY, "The MariaDB server is running with the "
                       "--skip-grant-tables option so it cannot execute this "
                       "statement");
  query.sql = "DROP USER ''";
  f.record.faults = &query;
  f.record.nfaults = 1;
  judge(&f);
  assert_int_equal(f.run.verdict, VERDICT_PASS);
  finish(&f);
}

TEST(a_dead_worker_and_a_hanging_one_are_failures) {
  Fixture f;
  start(&f, "");
  f.exchange.end = EXCHANGE_DIED;
  f.exchange.how = "SIGSEGV";
  judge(&f);
  assert_string_equal(f.run.failures.items[0].signature,
                      "died: SIGSEGV (a.php)");
  finish(&f);
  start(&f, "");
  f.exchange.end = EXCHANGE_TIMEOUT;
  f.oracle.timeout = 5;
  judge(&f);
  assert_string_equal(f.run.failures.items[0].message,
                      "no answer after 5 s (a.php)");
  finish(&f);
}

TEST(a_status_of_500_is_a_failure_if_nothing_else_explains_it) {
  Fixture f;
  start(&f, good);
  f.exchange.response.status = 503;
  judge(&f);
  assert_string_equal(f.run.failures.items[0].kind, "status");
  finish(&f);
}

TEST(severities_are_read_from_a_list) {
  unsigned s;
  assert_int_equal(web_severities_parse("fatal,html", &s), 0);
  assert_int_equal(s, 1u << PHP_FATAL | WEB_HTML);
  assert_int_equal(web_severities_parse("default,notice", &s), 0);
  assert_int_equal(s, WEB_DEFAULT | 1u << PHP_NOTICE);
  assert_int_equal(web_severities_parse("fatal,,html", &s), -1);
  assert_int_equal(web_severities_parse("loud", &s), -1);
}

// --- the output map ---------------------------------------------------------

// A template of three lines, then a statement's output.
static const char page[] = "<html>\n<body>\n<p>\n<h2>Details\n</body></html>\n";

static void start_page(Fixture *f, OutputPiece *pieces) {
  start(f, page);
  size_t template = (size_t)(strstr(page, "<h2>") - page);
  size_t print = (size_t)(strstr(page, "</body>") - page) - template;
  pieces[0] = (OutputPiece){0, template, OUTPUT_TEMPLATE, "/app/top.php", 11};
  pieces[1] = (OutputPiece){template, print, OUTPUT_PLAIN, "/app/a.php", 18};
  pieces[2] =
      (OutputPiece){template + print, sizeof page - 1 - template - print,
                    OUTPUT_PLAIN, "/app/a.php", 25};
  f->record.pieces = pieces;
  f->record.npieces = 3;
}

TEST(each_byte_has_its_line_in_a_template_the_exact_one) {
  Fixture f;
  OutputPiece pieces[3];
  start_page(&f, pieces);
  size_t body = (size_t)(strstr(page, "<body>") - page);
  const OutputPiece *p = web_piece_at(&f.record, body);
  assert_ptr_equal(p, &pieces[0]);
  assert_int_equal(web_line_at(p, page, body), 12);
  size_t end = (size_t)(strstr(page, "</body>") - page);
  p = web_piece_at(&f.record, end);
  assert_int_equal(web_line_at(p, page, end), 25);
  assert_null(web_piece_at(&f.record, sizeof page));
  finish(&f);
}

TEST(a_fault_of_the_page_names_the_lines_that_wrote_it) {
  Fixture f;
  OutputPiece pieces[3];
  start_page(&f, pieces);
  judge(&f);
  assert_int_equal(f.run.verdict, VERDICT_FAIL);
  assert_int_equal(f.run.failures.len, 1);
  const Failure *failure = &f.run.failures.items[0];
  assert_string_equal(failure->kind, "html");
  assert_string_equal(failure->signature,
                      "html: unclosed-element h2 (a.php:18)");
  assert_int_equal(failure->places.len, 2);
  assert_int_equal(failure->places.items[0].line, 18);
  assert_string_equal(failure->places.items[0].excerpt, "<h2>Details");
  assert_int_equal(failure->places.items[1].line, 25);
  finish(&f);
}

TEST(a_page_that_was_cut_is_not_judged_but_noted) {
  Fixture f;
  OutputPiece pieces[3];
  start_page(&f, pieces);
  f.exchange.response.cut = true;
  judge(&f);
  assert_int_equal(f.run.verdict, VERDICT_PASS);
  assert_non_null(strstr(f.run.note, "not checked as HTML"));
  finish(&f);
}

// --- scripts that are no pages ----------------------------------------------

static void expect_page(bool is_page, const char *script) {
  if (only_declares(script, strlen(script)) == is_page)
    fail_msg("%s page: %s", is_page ? "no" : "a", script);
}

TEST(a_script_that_only_declares_is_no_page) {
  expect_page(false, "<?php class A {}");
  expect_page(false, "<?php\n/* } */ declare(strict_types=1);\nnamespace a\\b;"
                     "use c\\{D, E};\nfinal class A extends D { /* x */ }\n");
  expect_page(false, "<?php namespace a { function f($x = ['{']) { } }");
  expect_page(false, "<?php if (!defined('APP')) { exit('no'); }\n"
                     "#[At(1)] enum Suit: string { case A = '}'; } ?>\n");
  expect_page(false, "<?php if (!defined('A')) die;\n# don't\nfunction f() {"
                     " ?><li><?php return <<<X\n}}}\n  X . 'a'; }");
  expect_page(false, "<?php const A = [1]; define('B', 2); interface I {}");
}

TEST(a_script_that_does_something_is_a_page) {
  expect_page(true, "<?php class A {} A::go();");
  expect_page(true, "<?php class A {} ?>\n<p>");
  expect_page(true, "<p><?php class A {}");
  expect_page(true, "<?php if ($x) { exit; } else { f(); } class A {}");
  expect_page(true, "<?php if ($x) f(); class A {}");
  expect_page(true, "<?php define('A', 1);"); // an odd page, but no library
  expect_page(true, "<?php echo 'class A {}';");
  expect_page(true, "<?php classes(); class A {}");
  expect_page(true, "");
  expect_page(true, "<?php class A { 'never closed"
                    "\n");
}

// --- ranges -----------------------------------------------------------------

TEST(faults_are_counted_in_eleven_ranges) {
  FaultScore first = {.executed = 200,
                      .listed = 1,
                      .ranked = 1,
                      .rank = 1,
                      .rank_best = 1,
                      .rank_average = 1,
                      .examined_executed = 0.5};
  FaultScore last = first;
  last.rank = 30;
  last.examined_executed = 15;
  const FaultScore *scores[] = {&first, &last, NULL, &first};
  Ranges r;
  const size_t executed[] = {200, 200, 100, 200};
  ranges_of(scores, executed, 4, &r);
  assert_int_equal((int)r.statements, 33); // 1, 30, 100, 1
  assert_int_equal(r.faults, 4);
  assert_int_equal((int)r.share[0], 50);
  assert_int_equal((int)r.share[2], 25);
  assert_int_equal((int)r.share[10], 25);
  assert_int_equal((int)r.percent, 29);
}
