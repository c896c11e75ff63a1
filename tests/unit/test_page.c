// Unit tests of the HTML report: what it is made of, before a browser sees it
// (tests/e2e/browser).
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/html_page.h"
#include "util/fs.h"
#include "util/leb.h"
#include "util/mem.h"

// --- a store in a directory of its own
// ------------------------------------------

enum { STATEMENTS = 6 };

typedef struct {
  char root[64];
  Store *store;
  int64_t session;
  uint32_t ids[STATEMENTS];
  Suite suite;
  Err err;
} Fixture;

#define check(f, call)                                                         \
  do {                                                                         \
    if (call)                                                                  \
      fail_msg("%s: %s", #call, (f)->err.text);                                \
  } while (0)

static void add_unit(Fixture *f) {
  Source source = {.path = "/src/a.c"};
  Entity entities[STATEMENTS];
  for (uint32_t i = 0; i < STATEMENTS; i++)
    entities[i] = (Entity){.kind = ENTITY_STATEMENT,
                           .line = i + 1,
                           .function = ENTITY_NONE,
                           .from = ENTITY_NONE,
                           .to = ENTITY_NONE};
  Unit unit = {.id = {{1}},
               .name = "a.c",
               .sources = &source,
               .nsources = 1,
               .entities = entities,
               .nentities = STATEMENTS};
  check(f, store_add_unit(f->store, f->session, &unit, f->ids, &f->err));
}

static void start(Fixture *f) {
  memset(f, 0, sizeof *f);
  strcpy(f->root, "/tmp/page-XXXXXX");
  assert_non_null(mkdtemp(f->root));
  check(f, store_open(&f->store, f->root, STORE_CREATE, &f->err));
  bool continued;
  check(f, session_begin(f->store, "key", "culprit run", "/src", &f->session,
                         &continued, &f->err));
  add_unit(f);
}

// A run that executes the lines of `lines`: "134".
static void add_run(Fixture *f, const char *test, bool fails,
                    const char *lines) {
  Run run = {.test = (char *)test,
             .command = (char *)test,
             .verdict = fails ? VERDICT_FAIL : VERDICT_PASS,
             .processes = 1};
  Failure failure = {.kind = "exit",
                     .message = "exit status 1",
                     .place = "",
                     .signature = "exit:1"};
  if (fails)
    array_push(&run.failures, failure);
  for (; *lines; lines++)
    bitset_add(&run.hits[ENTITY_STATEMENT], f->ids[*lines - '1']);
  check(f, store_add_run(f->store, f->session, &run, &f->err));
  bitset_release(&run.hits[ENTITY_STATEMENT]);
  array_release(&run.failures);
}

static void load(Fixture *f) {
  check(f, store_flush(f->store, &f->err));
  check(f, store_load(f->store, 0, &f->suite, &f->err));
}

static void stop(Fixture *f) {
  suite_release(&f->suite);
  store_close(f->store);
  fs_remove_tree(f->root);
}

// --- which tests execute what
// -----------------------------------------------------

// The tests of a line, as "1 2 5".
static void expect_tests(const Fixture *f, const Cover *c, unsigned line,
                         const char *want) {
  Str got = {0};
  uint32_t class = c->class_of[f->ids[line - 1]];
  if (class != ENTITY_NONE) {
    const unsigned char *at = (const unsigned char *)c->tests[class].data;
    const unsigned char *end = at + c->tests[class].len;
    uint64_t test = 0, n;
    for (bool take = false; at < end; take = !take) {
      assert_true(leb_get(&at, end, &n));
      for (uint64_t i = 0; take && i < n; i++)
        str_addf(&got, "%s%llu", got.len ? " " : "",
                 (unsigned long long)(test + i + 1));
      test += n;
    }
  }
  assert_string_equal(str_text(&got), want);
  str_release(&got);
}

TEST(lines_that_the_same_tests_execute_are_one_class) {
  Fixture f;
  start(&f);
  add_run(&f, "1", false, "124");
  add_run(&f, "2", true, "1245");
  add_run(&f, "3", false, "14");
  add_run(&f, "4", false, "1245");
  load(&f);
  Cover c;
  uint32_t order[] = {f.ids[4], f.ids[0]}; // line 5 is numbered first
  check(&f, cover_load(&c, f.store, &f.suite, order, 2, &f.err));
  assert_int_equal(c.nclasses, 3);
  assert_int_equal(c.class_of[f.ids[4]], 0);
  assert_int_equal(c.class_of[f.ids[0]], 1);
  assert_int_equal(c.class_of[f.ids[3]], 1);
  assert_int_equal(c.class_of[f.ids[5]], ENTITY_NONE);
  expect_tests(&f, &c, 1, "1 2 3 4");
  expect_tests(&f, &c, 2, "1 2 4");
  expect_tests(&f, &c, 3, "");
  expect_tests(&f, &c, 5, "2 4");
  cover_release(&c);
  stop(&f);
}

TEST(a_session_without_spectra_has_no_classes) {
  Fixture f;
  start(&f);
  load(&f);
  Cover c;
  check(&f, cover_load(&c, f.store, &f.suite, NULL, 0, &f.err));
  assert_int_equal(c.nclasses, 0);
  cover_release(&c);
  stop(&f);
}

// --- the nearest passing test
// -----------------------------------------------------

TEST(the_nearest_passing_test_shares_most_lines) {
  Fixture f;
  start(&f);
  add_run(&f, "1", false, "16");
  add_run(&f, "2", true, "1245");
  add_run(&f, "3", false, "1246");
  add_run(&f, "4", false, "1246");
  load(&f);
  NearTest n;
  check(&f, near_tests_find(&n, 1, f.store, &f.suite, &f.err));
  assert_true(n.found);
  assert_int_equal(n.failing, 1);
  assert_int_equal(n.passing, 2); // the first of two equally near ones
  assert_true(n.similarity == 3.0 / 5);
  assert_int_equal(n.only_failing.len, 1);
  assert_int_equal(n.only_failing.items[0], f.ids[4]);
  assert_int_equal(n.only_passing.len, 1);
  assert_int_equal(n.only_passing.items[0], f.ids[5]);
  near_tests_release(&n, 1);
  stop(&f);
}

TEST(without_a_passing_test_none_is_near) {
  Fixture f;
  start(&f);
  add_run(&f, "1", true, "1245");
  load(&f);
  NearTest n;
  check(&f, near_tests_find(&n, 1, f.store, &f.suite, &f.err));
  assert_false(n.found);
  near_tests_release(&n, 1);
  stop(&f);
}

// --- kept pages
// -----------------------------------------------------------------

static const char BODY[] = "<html>\n<h2>Hello\n</html>";

static void keep(Fixture *f, const char *test, const char *body) {
  OutputPiece pieces[] = {
      {.offset = 0,
       .length = 7,
       .kind = OUTPUT_PLAIN,
       .file = "/a.php",
       .line = 3},
      {.offset = 7,
       .length = 17,
       .kind = OUTPUT_TEMPLATE,
       .file = "/b:c.php",
       .line = 10},
  };
  PhpRecord record = {.pieces = pieces, .npieces = 2};
  Run run = {.test = (char *)test};
  Failure failure = {
      .kind = "html", .message = "m", .place = "", .signature = "html: h2"};
  array_push(&run.failures, failure);
  check(f, kept_page_write(f->store, f->session, &run, body, strlen(body),
                           &record, &f->err));
  array_release(&run.failures);
}

TEST(a_kept_page_comes_back_with_the_lines_that_wrote_it) {
  Fixture f;
  start(&f);
  keep(&f, "12", BODY);
  KeptPage p;
  kept_page_read(&p, f.store, f.session, "html: h2");
  assert_string_equal(p.test, "12");
  assert_string_equal(p.body.data, BODY);
  assert_int_equal(p.pieces.len, 3); // the template has two lines
  assert_string_equal(p.pieces.items[2].file, "/b:c.php");
  assert_int_equal(p.pieces.items[2].line, 11);
  assert_int_equal(kept_page_find(&p, "/b:c.php", 10, "<h2>Hello"), 7);
  assert_int_equal(kept_page_find(&p, "/b:c.php", 11, "<h2>Hello"), SIZE_MAX);
  assert_int_equal(kept_page_find(&p, "/a.php", 3, "<h2>Hello"), SIZE_MAX);
  kept_page_release(&p);
  kept_page_read(&p, f.store, f.session, "another");
  assert_null(p.test);
  stop(&f);
}

TEST(of_a_failure_the_page_of_the_first_request_is_kept) {
  Fixture f;
  start(&f);
  keep(&f, "12", "<html>\n<h2>twelve\n</html>");
  keep(&f, "103", BODY);
  keep(&f, "9", "<html>\n<h2>nine\n</html>");
  KeptPage p;
  kept_page_read(&p, f.store, f.session, "html: h2");
  assert_string_equal(p.test, "9");
  assert_non_null(strstr(p.body.data, "nine"));
  kept_page_release(&p);
  stop(&f);
}

// Whoever can write there must not make the report read outside of the page.
TEST(pieces_that_do_not_fit_a_kept_page_are_left_out) {
  static const char *const bad[] = {
      "999\t5\tplain\t/a.php:1\n",
      "0\t18446744073709551615\tplain\t/a.php:1\n",
      "18446744073709551615\t2\ttemplate\t/a.php:1\n",
      "3\t-1\ttemplate\t/a.php:1\n",
      "nonsense\n",
      "1\t2\n",
      "1\t2\tplain\n",
      "1\t2\tplain\t/a.php\n",
      "5\t5\tplain\t/a.php:1\n5\t5\tplain\t/a.php:1\n0\t9\tplain\t/a.php:2\n",
  };
  Fixture f;
  start(&f);
  keep(&f, "12", BODY);
  char *dir = mem_printf("%s/made/%lld/pages", f.root, (long long)f.session);
  char *command = mem_printf("cd %s && mv *.map x && head -n 1 x > first", dir);
  assert_int_equal(system(command), 0);
  free(command);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    // The name is the hash of the signature: that of the body.
    char *map = mem_printf("%s/map", dir);
    check(&f, fs_write(map, bad[i], strlen(bad[i]), &f.err));
    command = mem_printf(
        "cd %s && cat first map > $(basename *.body .body).map", dir);
    assert_int_equal(system(command), 0);
    KeptPage p;
    kept_page_read(&p, f.store, f.session, "html: h2");
    assert_string_equal(p.test, "12");
    for (size_t k = 0; k < p.pieces.len; k++)
      assert_true(p.pieces.items[k].offset + p.pieces.items[k].length <=
                  p.body.len);
    assert_int_equal(p.pieces.len, i == 8);
    kept_page_release(&p);
    free(map);
    free(command);
  }
  free(dir);
  stop(&f);
}

// --- text, data, colours
// ----------------------------------------------------------

static void expect_written(char *data, const char *want) {
  assert_string_equal(data, want);
  free(data);
}

TEST(text_in_markup_cannot_become_markup) {
  char *data;
  size_t size;
  FILE *out = open_memstream(&data, &size);
  html_text("<b a=\"x\" c='y'>&\tz\xff\x01\xe2\x80\xae", out);
  fclose(out);
  expect_written(data, "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;\tz\\xff"
                       "\\x01&lt;U+202E&gt;");
}

TEST(data_cannot_end_its_element) {
  char *data;
  size_t size;
  FILE *out = open_memstream(&data, &size);
  HtmlJson j;
  fputs("[\"</script><!--\"]", html_json_begin(&j));
  html_json_end(&j, "x", out);
  fclose(out);
  expect_written(data, "<script type=\"application/json\" id=\"x\">"
                       "[\"\\u003c/script>\\u003c!--\"]</script>\n");
}

TEST(hue_goes_by_rank_and_brightness_by_evidence) {
  Listed s = {.rank_best = 1, .rank = 1, .ef = 2, .ep = 0};
  KeptListing l = {.failing = 2, .passing = 10};
  assert_int_equal(html_hue(&s, 1000), 10);
  assert_int_equal(html_light(&s, &l), 4);
  s = (Listed){.rank_best = 10, .rank = 10, .ef = 0, .ep = 3};
  assert_int_equal(html_hue(&s, 1000), 7);
  assert_int_equal(html_light(&s, &l), 2);
  s = (Listed){.rank_best = 1, .rank = 100};
  assert_int_equal(html_hue(&s, 1000), 7); // the middle of the tie
  assert_int_equal(html_light(&s, &l), 0);
  s = (Listed){.rank_best = 1000, .rank = 1000};
  assert_int_equal(html_hue(&s, 1000), 0);
  assert_int_equal(html_hue(&s, 1), 10);
}

// --- how sure
// -----------------------------------------------------------------------

static int sureness(Listed *items, size_t n, uint32_t failing,
                    uint32_t passing) {
  Suite suite = {0};
  KeptListing listing = {.items = items,
                         .n = n,
                         .total = n,
                         .failing = failing,
                         .passing = passing};
  MethodListing methods[2] = {{.listings = &listing}, {.listings = &listing}};
  HtmlReport h = {
      .report = {.suite = &suite}, .methods = methods, .nmethods = 2};
  Sureness s;
  html_sureness(&h, 0, &s);
  assert_int_equal(s.reasons.len, n ? 4 : 0);
  notices_release(&s.reasons);
  return s.level;
}

TEST(many_runs_that_a_single_line_tells_apart_make_sure) {
  Listed alone = {.entity = 1, .rank_best = 1, .rank = 1, .ef = 5, .ep = 0};
  assert_int_equal(sureness(&alone, 1, 5, 50), 4);
  assert_int_equal(sureness(&alone, 1, 5, 3), 3); // few passing runs
  alone.ep = 40;
  assert_int_equal(sureness(&alone, 1, 5, 50), 3); // most execute it
  alone.rank = 20;
  assert_int_equal(sureness(&alone, 1, 5, 50), 2); // many tie
  alone.ef = 1;
  assert_int_equal(sureness(&alone, 1, 1, 50), 1); // one failing run
  assert_int_equal(sureness(&alone, 0, 1, 50), 0); // nothing ranked
}
