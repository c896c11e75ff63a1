// Unit tests of src/import: what real files say, what malformed ones are told,
// and that no file whatsoever does harm. tests/data/import/README says how the
// samples were made.
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/coverage_format.h"
#include "import/foreign.h"
#include "store/store.h"
#include "util/fs.h"
#include "util/mem.h"

#define DATA TEST_DATA "/import/"

// --- reading a sample ------------------------------------------------------

typedef struct {
  Foreign f;
  Judgement judgement;
  Places places;
  Err err;
  int rc;
} Reading;

static void begin(Reading *r) { memset(r, 0, sizeof *r); }

static void finish(Reading *r) {
  judgement_release(&r->judgement);
  foreign_release(&r->f);
  places_release(&r->places);
}

// `args`: [NAME=]FILE, ends with NULL; files are those of tests/data/import.
static void read_files(Reading *r, const char *format, const char **args) {
  ARRAY(ImportArg) list = {0};
  Arena arena = {0};
  for (; *args; args++) {
    ImportArg arg = import_arg(*args, &arena);
    arg.path = arena_printf(&arena, DATA "%s", arg.path);
    array_push(&list, arg);
  }
  array_push(&r->places.maps, (PathMap){"/src/mid", TEST_DATA "/import"});
  r->rc = import_read(import_format_find(format),
                      &(ImportArgs){list.items, list.len}, &r->places, &r->f,
                      &r->err);
  array_release(&list);
  arena_release(&arena);
}

#define READ(r, format, ...)                                                   \
  do {                                                                         \
    begin(r);                                                                  \
    read_files(r, format, (const char *[]){__VA_ARGS__, NULL});                \
    if ((r)->rc)                                                               \
      fail_msg("%s: %s", format, (r)->err.text);                               \
  } while (0)

// Reads `text` as the file "sample" of the format, or as verdicts.
static int read_text(Reading *r, const char *format, const char *text,
                     size_t n) {
  begin(r);
  ImportFile in = {.path = "sample", .test = "sample"};
  str_addn(&in.text, text, n);
  Coverage c;
  coverage_init(&c, &r->places);
  r->rc = import_file_unpack(&in, &r->err);
  if (!r->rc)
    r->rc = import_format_find(format)->read_file(&in, &c, &r->err);
  if (!r->rc)
    r->rc = coverage_finish(&c, &r->f, &r->err);
  coverage_release(&c);
  import_file_release(&in);
  return r->rc;
}

static int read_verdict_text(Reading *r, const char *text, size_t n) {
  begin(r);
  ImportFile in = {.path = "sample", .test = "sample"};
  str_addn(&in.text, text, n);
  size_t nformats;
  const VerdictFormat *formats = verdict_formats(&nformats);
  r->rc = import_file_unpack(&in, &r->err);
  size_t i = 0;
  while (i < nformats && !formats[i].recognises(&in))
    i++;
  assert_true(i < nformats);
  if (!r->rc)
    r->rc = formats[i].read(&in, &r->f.verdicts, &r->err);
  import_file_release(&in);
  return r->rc;
}

static void assert_says(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("'%s' does not say '%s'", text, part);
}

// --- what it brought -------------------------------------------------------

static const Run *run_named(const Reading *r, const char *test) {
  for (size_t i = 0; i < r->f.runs.len; i++)
    if (!strcmp(r->f.runs.items[i].test, test))
      return &r->f.runs.items[i];
  fail_msg("no run of test %s", test);
  return NULL;
}

// The lines of a unit that the run executed, or (hit false) did not: "5-8 10".
static const char *lines(const Reading *r, const char *test, bool hit) {
  static char text[1024];
  Str out = {0};
  const Run *run = run_named(r, test);
  uint32_t first = 0, last = 0;
  for (size_t u = 0; u < r->f.units.len; u++) {
    const ForeignUnit *unit = &r->f.units.items[u];
    for (size_t i = 0; i <= unit->unit.nentities; i++) {
      const Entity *e =
          i < unit->unit.nentities ? &unit->unit.entities[i] : NULL;
      if (e && (e->kind != ENTITY_STATEMENT ||
                bitset_has(&run->hits[ENTITY_STATEMENT], unit->ids[i]) != hit))
        continue;
      if (e && first && e->line == last + 1) {
        last = e->line;
        continue;
      }
      if (first)
        str_addf(&out, first == last ? "%s%u" : "%s%u-%u", out.len ? " " : "",
                 first, last);
      first = last = e ? e->line : 0;
    }
  }
  snprintf(text, sizeof text, "%s", str_text(&out));
  str_release(&out);
  return text;
}

static size_t count(const Reading *r, EntityKind kind) {
  size_t n = 0;
  for (size_t u = 0; u < r->f.units.len; u++)
    for (size_t i = 0; i < r->f.units.items[u].unit.nentities; i++)
      n += r->f.units.items[u].unit.entities[i].kind == kind;
  return n;
}

// An entity of the only unit; `outcome` of a condition.
static const Entity *entity_at(const Reading *r, EntityKind kind, uint32_t line,
                               uint32_t outcome, uint32_t *id) {
  assert_int_equal(r->f.units.len, 1);
  const ForeignUnit *u = &r->f.units.items[0];
  for (size_t i = 0; i < u->unit.nentities; i++) {
    const Entity *e = &u->unit.entities[i];
    if (e->kind != kind || e->line != line ||
        (kind == ENTITY_CONDITION && e->from != outcome))
      continue;
    *id = u->ids[i];
    return e;
  }
  fail_msg("no %s in line %u", entity_kind_name(kind), line);
  return NULL;
}

static bool hits(const Reading *r, const char *test, EntityKind kind,
                 uint32_t line, uint32_t outcome) {
  uint32_t id;
  entity_at(r, kind, line, outcome, &id);
  return bitset_has(&run_named(r, test)->hits[kind], id);
}

static const char *function_of(const Reading *r, uint32_t line) {
  uint32_t id;
  const Entity *e = entity_at(r, ENTITY_STATEMENT, line, 0, &id);
  if (e->function == ENTITY_NONE)
    return "";
  return r->f.units.items[0].unit.entities[e->function].name;
}

// --- coverage --------------------------------------------------------------

static const char MID_T3[] = "5-8 10-11 18 21-22 24-25";

TEST(lcov_brings_tests_lines_functions_and_branches) {
  Reading r;
  READ(&r, "lcov", "lcov.info");
  assert_int_equal(r.f.runs.len, 3);
  assert_string_equal(lines(&r, "t3", true), MID_T3);
  assert_string_equal(lines(&r, "t2", true), "5-9 18 21-22 24-25");
  assert_string_equal(lines(&r, "t3", false), "9 13-16 23");
  assert_int_equal(count(&r, ENTITY_FUNCTION), 2);
  assert_string_equal(function_of(&r, 11), "mid");
  assert_string_equal(function_of(&r, 22), "main");
  assert_int_equal(count(&r, ENTITY_CONDITION), 12);
  assert_false(hits(&r, "t3", ENTITY_CONDITION, 8, 0));
  assert_true(hits(&r, "t3", ENTITY_CONDITION, 8, 1));
  assert_true(hits(&r, "t2", ENTITY_CONDITION, 8, 0));
  assert_string_equal(r.f.units.items[0].unit.sources[0].path, DATA "mid.c");
  assert_int_not_equal(r.f.units.items[0].unit.sources[0].hash, 0);
  finish(&r);
}

TEST(gcov_packed_and_plain_says_the_same_as_lcov) {
  Reading r;
  READ(&r, "gcov", "t3=gcov.json.gz", "t2=gcov.json");
  assert_int_equal(r.f.runs.len, 2);
  assert_string_equal(lines(&r, "t3", true), MID_T3);
  assert_string_equal(lines(&r, "t2", true), "5-9 18 21-22 24-25");
  assert_string_equal(function_of(&r, 11), "mid");
  assert_int_equal(count(&r, ENTITY_CONDITION), 12);
  assert_false(hits(&r, "t3", ENTITY_CONDITION, 8, 0));
  assert_true(hits(&r, "t3", ENTITY_CONDITION, 8, 1));
  finish(&r);
}

TEST(gcovs_cobertura_file_has_the_same_lines) {
  Reading r;
  READ(&r, "cobertura", "t3=cobertura-gcovr.xml");
  assert_string_equal(lines(&r, "t3", true), MID_T3);
  assert_int_equal(count(&r, ENTITY_CONDITION), 0);
  finish(&r);
}

// As `llvm-cov show` marks them.
TEST(llvm_segments_become_lines_as_llvm_cov_shows_them) {
  Reading r;
  READ(&r, "llvm", "t3=llvm.json");
  assert_string_equal(lines(&r, "t3", true), "5-8 10-12 18-19 21-22 24-26");
  assert_string_equal(lines(&r, "t3", false), "9 13-17 23");
  assert_string_equal(function_of(&r, 11), "mid");
  assert_string_equal(function_of(&r, 26), "main");
  uint32_t id;
  const Entity *e = entity_at(&r, ENTITY_CONDITION, 8, 0, &id);
  assert_int_equal(e->col_lo, 9);
  assert_int_equal(e->col_hi, 13);
  assert_string_equal(e->name, "condition");
  assert_true(hits(&r, "t3", ENTITY_CONDITION, 8, 0)); // false: x >= y
  assert_false(hits(&r, "t3", ENTITY_CONDITION, 8, 1));
  assert_false(hits(&r, "t3", ENTITY_CONDITION, 13, 0));
  finish(&r);
}

TEST(coverage_py_says_which_branches_were_missed) {
  Reading r;
  READ(&r, "cobertura", "t3=cobertura-coverage.xml",
       "t1=cobertura-coverage-1.xml");
  assert_string_equal(lines(&r, "t3", true), "1 4-7 9-10 16 19-20");
  uint32_t id;
  const Entity *e = entity_at(&r, ENTITY_CONDITION, 12, 1, &id);
  assert_string_equal(e->name, "branch to line 14");
  assert_false(hits(&r, "t3", ENTITY_CONDITION, 12, 1));
  assert_string_equal(entity_at(&r, ENTITY_CONDITION, 19, 0, &id)->name,
                      "branch out of the function");
  assert_false(hits(&r, "t3", ENTITY_CONDITION, 19, 0));
  finish(&r);
}

TEST(a_branch_that_one_test_missed_was_taken_by_the_other) {
  static const char *const files[] = {"1", "2"};
  Coverage c;
  Reading r;
  begin(&r);
  coverage_init(&c, &r.places);
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t test = coverage_test(&c, files[i]), missed = i ? 8 : 12;
    uint32_t file = coverage_file(&c, "/nowhere/a.py", NULL);
    coverage_line(&c, test, file, 7, true);
    Leftover l = {test, file, 7, true, &missed, 1};
    coverage_leftover(&c, &l);
  }
  assert_int_equal(coverage_finish(&c, &r.f, &r.err), 0);
  coverage_release(&c);
  assert_true(hits(&r, "1", ENTITY_CONDITION, 7, 0)); // to line 8
  assert_false(hits(&r, "1", ENTITY_CONDITION, 7, 1));
  assert_true(hits(&r, "2", ENTITY_CONDITION, 7, 1)); // to line 12
  assert_int_equal(r.f.units.items[0].unit.sources[0].hash, 0);
  finish(&r);
}

TEST(branches_that_old_coverage_py_misnumbers_are_left_out) {
  Reading r;
  READ(&r, "lcov", "lcov-coverage.info");
  assert_string_equal(lines(&r, "lcov-coverage", true), "1 4-7 9-10 16 19-20");
  assert_int_equal(count(&r, ENTITY_CONDITION), 0);
  finish(&r);
}

#define READ_TEXT(r, format, file)                                             \
  do {                                                                         \
    if (read_text(r, format, file, strlen(file)))                              \
      fail_msg("%s", (r)->err.text);                                           \
  } while (0)

TEST(lcov_2_functions_and_described_branches_are_read) {
  Reading r;
  READ_TEXT(&r, "lcov",
            "TN:\nSF:/nowhere/a.py\n"
            "FNL:0,2,9\nFNA:0,3,f(int, int)\nFN:12,14,g\nFNDA:0,g\n"
            "DA:3,1\nDA:13,0\nDA:20,1\n"
            "BRDA:3,0,jump to line 5,1\nBRDA:3,0,exit, as it were,-\n"
            "BRDA:13,e0,0,0\n"
            "end_of_record\n");
  assert_string_equal(function_of(&r, 3), "f(int, int)");
  assert_string_equal(function_of(&r, 13), "g");
  assert_string_equal(function_of(&r, 20), "");
  assert_true(hits(&r, "sample", ENTITY_FUNCTION, 2, 0));
  assert_false(hits(&r, "sample", ENTITY_FUNCTION, 12, 0));
  uint32_t id;
  assert_string_equal(entity_at(&r, ENTITY_CONDITION, 3, 1, &id)->name,
                      "branch (jump to line 5)");
  assert_true(hits(&r, "sample", ENTITY_CONDITION, 3, 1));
  assert_false(hits(&r, "sample", ENTITY_CONDITION, 3, 0));
  assert_string_equal(entity_at(&r, ENTITY_CONDITION, 13, 0, &id)->name,
                      "branch by exception");
  finish(&r);
}

TEST(several_documents_in_one_gcov_stream_are_one_test) {
  Reading r;
  READ_TEXT(&r, "gcov",
            "{\"files\":[{\"file\":\"/nowhere/a.c\",\"functions\":[],\"lines\":"
            "[{\"line_number\":1,\"count\":18446744073709551615}]}]}\n"
            "{\"files\":[{\"file\":\"/nowhere/b.c\",\"functions\":[],\"lines\":"
            "[{\"line_number\":2,\"count\":0}]}]}\n");
  assert_int_equal(r.f.units.len, 2);
  assert_int_equal(r.f.runs.len, 1);
  assert_string_equal(lines(&r, "sample", true), "1");
  finish(&r);
}

TEST(the_innermost_function_that_holds_a_line_has_it) {
  Coverage c;
  Reading r;
  begin(&r);
  coverage_init(&c, &r.places);
  uint32_t test = coverage_test(&c, "t");
  uint32_t file = coverage_file(&c, "/nowhere/a.cc", NULL);
  coverage_function(&c, test, file, 1, 20, "outer", true);
  coverage_function(&c, test, file, 5, 7, "lambda", true);
  coverage_function(&c, test, file, 30, 0, "open", true);
  for (uint32_t line = 1; line <= 31; line += 2)
    coverage_line(&c, test, file, line, true);
  assert_int_equal(coverage_finish(&c, &r.f, &r.err), 0);
  coverage_release(&c);
  assert_string_equal(function_of(&r, 3), "outer");
  assert_string_equal(function_of(&r, 5), "lambda");
  assert_string_equal(function_of(&r, 9), "outer");
  assert_string_equal(function_of(&r, 21), "");
  assert_string_equal(function_of(&r, 31), "open");
  finish(&r);
}

TEST(jacoco_names_files_by_package_and_methods_by_class) {
  Reading r;
  READ(&r, "jacoco", "t3=jacoco.xml");
  assert_string_equal(lines(&r, "t3", true), "5-7 9-10 17");
  assert_string_equal(lines(&r, "t3", false), "3 8 12-15");
  assert_string_equal(function_of(&r, 10), "Mid.mid");
  assert_string_equal(function_of(&r, 3), "Mid.<init>");
  assert_true(text_ends(r.f.units.items[0].unit.name, "/org/example/Mid.java"));
  finish(&r);
}

TEST(gzoltar_brings_its_verdicts) {
  Reading r;
  READ(&r, "gzoltar", "gzoltar");
  foreign_judge(&r.f, &r.judgement);
  const Run *run = run_named(&r, "org.example.MidTest#first");
  assert_int_equal(run->verdict, VERDICT_FAIL);
  assert_string_equal(run->failures.items[0].signature,
                      "java.lang.AssertionError");
  assert_string_equal(lines(&r, run->test, true), "5-7 9-10");
  assert_int_equal(run_named(&r, "org.example.MidTest#third")->verdict,
                   VERDICT_PASS);
  assert_string_equal(function_of(&r, 22), "Mid$Order.compare");
  finish(&r);
  READ(&r, "gzoltar", "gzoltar/matrix.txt", "gzoltar/spectra.csv");
  assert_int_equal(r.f.verdicts.items.len, 3);
  finish(&r);
}

// --- names and places ------------------------------------------------------

TEST(the_same_name_twice_is_one_test) {
  Reading r;
  READ(&r, "gcov", "t=gcov.json.gz", "t=gcov.json");
  assert_int_equal(r.f.runs.len, 1);
  assert_string_equal(lines(&r, "t", true), "5-11 18 21-22 24-25");
  finish(&r);
}

TEST(a_name_on_the_command_line_beats_those_in_the_file) {
  Reading r;
  READ(&r, "lcov", "all=lcov.info");
  assert_int_equal(r.f.runs.len, 1);
  assert_string_equal(r.f.runs.items[0].test, "all");
  finish(&r);
}

TEST(two_files_of_the_same_name_need_names) {
  Reading r;
  begin(&r);
  read_files(&r, "gcov", (const char *[]){"gcov.json.gz", "gcov.json", NULL});
  assert_int_equal(r.rc, -1);
  assert_says(r.err.text, "would be test 'gcov', too");
  finish(&r);
}

TEST(a_directory_stands_for_the_files_of_the_format_in_it) {
  Reading r;
  begin(&r);
  read_files(&r, "gcov", (const char *[]){"gzoltar", NULL});
  assert_int_equal(r.rc, -1);
  assert_says(r.err.text, "no file in it ends in .gcov.json.gz");
  finish(&r);
}

TEST(relative_sources_are_looked_for_below_the_roots) {
  Places p = {0};
  array_push(&p.roots, "/nowhere");
  array_push(&p.roots, TEST_DATA);
  char *found = places_find(&p, "import/mid.c", NULL);
  assert_string_equal(found, DATA "mid.c");
  free(found);
  found = places_find(&p, "import/none.c", NULL);
  assert_string_equal(found, "/nowhere/import/none.c");
  free(found);
  const char *const dirs[] = {TEST_DATA "/import/gzoltar", NULL};
  found = places_find(&p, "../mid.c", dirs);
  assert_string_equal(found, DATA "mid.c");
  free(found);
  places_release(&p);
}

TEST(paths_of_another_machine_are_mapped) {
  Places p = {0};
  array_push(&p.maps, (PathMap){"/ci/build", "/home/me"});
  const char *const pairs[][2] = {{"/ci/build/src/a.c", "/home/me/src/a.c"},
                                  {"/ci/builder/a.c", "/ci/builder/a.c"},
                                  {"/ci/build", "/home/me"}};
  for (size_t i = 0; i < 3; i++) {
    char *mapped = places_map(&p, pairs[i][0]);
    assert_string_equal(mapped, pairs[i][1]);
    free(mapped);
  }
  places_release(&p);
}

// --- verdicts --------------------------------------------------------------

static const TestVerdict *verdict_of(const Reading *r, const char *name) {
  for (size_t i = 0; i < r->f.verdicts.items.len; i++)
    if (!strcmp(r->f.verdicts.items.items[i].name, name))
      return &r->f.verdicts.items.items[i];
  fail_msg("no verdict of %s", name);
  return NULL;
}

static void read_verdicts(Reading *r, const char *file) {
  begin(r);
  char *path = mem_printf(DATA "%s", file);
  if (verdicts_read(&r->f.verdicts, path, &r->err))
    fail_msg("%s", r->err.text);
  free(path);
}

TEST(junit_failures_errors_skips_and_reruns_are_told_apart) {
  Reading r;
  read_verdicts(&r, "junit.xml");
  assert_int_equal(r.f.verdicts.items.len, 6);
  assert_int_equal(verdict_of(&r, "tests.test_mid.test_low")->verdict,
                   VERDICT_PASS);
  const TestVerdict *t = verdict_of(&r, "tests.test_mid.test_high");
  assert_int_equal(t->verdict, VERDICT_FAIL);
  assert_string_equal(t->brief, "test_high");
  assert_string_equal(t->type, "AssertionError");
  assert_string_equal(t->message, "AssertionError: assert 1 == 2");
  t = verdict_of(&r, "tests.test_mid.TestMid.test_error");
  assert_int_equal(t->verdict, VERDICT_FAIL);
  assert_string_equal(t->type, "ValueError");
  assert_int_equal(verdict_of(&r, "tests.test_mid.test_skip")->verdict,
                   VERDICT_SKIP);
  assert_int_equal(verdict_of(&r, "test_flaky")->verdict, VERDICT_FLAKY);
  assert_string_equal(verdict_of(&r, "other.test_bare")->message, "it");
  finish(&r);
}

TEST(tap_lines_have_descriptions_numbers_and_directives) {
  Reading r;
  read_verdicts(&r, "results.tap");
  assert_int_equal(r.f.verdicts.items.len, 6);
  assert_int_equal(verdict_of(&r, "adds two numbers")->verdict, VERDICT_PASS);
  assert_string_equal(verdict_of(&r, "divides")->brief, "2");
  assert_int_equal(verdict_of(&r, "divides")->verdict, VERDICT_FAIL);
  assert_int_equal(verdict_of(&r, "3")->verdict, VERDICT_SKIP);
  assert_int_equal(verdict_of(&r, "some day")->verdict, VERDICT_SKIP);
  assert_int_equal(verdict_of(&r, "5")->verdict, VERDICT_PASS);
  assert_int_equal(verdict_of(&r, "a \\# in its name")->verdict, VERDICT_FAIL);
  finish(&r);
}

TEST(a_directory_of_trs_files_names_its_tests) {
  Reading r;
  read_verdicts(&r, "trs");
  assert_int_equal(r.f.verdicts.items.len, 3);
  assert_int_equal(verdict_of(&r, "one")->verdict, VERDICT_PASS);
  assert_int_equal(verdict_of(&r, "sub/two")->verdict, VERDICT_FAIL);
  assert_string_equal(verdict_of(&r, "sub/two")->brief, "two");
  assert_int_equal(verdict_of(&r, "three.sh")->verdict, VERDICT_SKIP);
  finish(&r);
}

TEST(a_list_of_names_and_verdicts_may_have_blanks_in_names) {
  Reading r;
  read_verdicts(&r, "results.txt");
  assert_int_equal(r.f.verdicts.items.len, 4);
  assert_int_equal(verdict_of(&r, "t2")->verdict, VERDICT_PASS);
  assert_int_equal(verdict_of(&r, "t3")->verdict, VERDICT_FAIL);
  assert_int_equal(verdict_of(&r, "rounds half up")->verdict, VERDICT_SKIP);
  finish(&r);
}

TEST(a_test_that_both_passed_and_failed_is_flaky) {
  Reading r;
  static const char text[] = "a pass\na fail\nb skip\nb pass\n";
  assert_int_equal(read_verdict_text(&r, text, strlen(text)), 0);
  assert_int_equal(verdict_of(&r, "a")->verdict, VERDICT_FLAKY);
  assert_int_equal(verdict_of(&r, "b")->verdict, VERDICT_PASS);
  finish(&r);
}

static Verdict found(VerdictFinder *f, const char *test) {
  bool ambiguous;
  const TestVerdict *t = finder_find(f, test, &ambiguous);
  return t ? t->verdict : ambiguous ? VERDICT_FLAKY : VERDICT_ERROR;
}

TEST(verdicts_are_found_by_full_short_and_plain_names) {
  Verdicts v = {0};
  static const TestVerdict tests[] = {
      {"pkg.A.one", "one", VERDICT_FAIL, NULL, NULL, 0},
      {"pkg.A.two", "two", VERDICT_PASS, NULL, NULL, 0},
      {"pkg.B.two", "two", VERDICT_FAIL, NULL, NULL, 0},
      {"two words[1]", NULL, VERDICT_FAIL, NULL, NULL, 0},
  };
  for (size_t i = 0; i < 4; i++)
    verdicts_add(&v, &tests[i]);
  VerdictFinder f;
  finder_init(&f, &v);
  assert_int_equal(found(&f, "pkg.A.one"), VERDICT_FAIL);
  assert_int_equal(found(&f, "one"), VERDICT_FAIL);
  assert_int_equal(found(&f, "two"), VERDICT_FLAKY); // which?
  assert_int_equal(found(&f, "pkg/A::two"), VERDICT_PASS);
  assert_int_equal(found(&f, "pkg_B_two"), VERDICT_FAIL);
  assert_int_equal(found(&f, "two_words_1_"), VERDICT_FAIL);
  assert_int_equal(found(&f, "three"), VERDICT_ERROR);
  finder_release(&f);
  verdicts_release(&v);
}

TEST(runs_without_verdict_are_in_error_and_verdicts_without_run_are_kept) {
  Reading r;
  READ(&r, "lcov", "lcov.info");
  TestVerdict verdicts[] = {{"t1", NULL, VERDICT_PASS, NULL, NULL, 0},
                            {"t3", NULL, VERDICT_FAIL, "Boom", "x is 3", 0},
                            {"t9", NULL, VERDICT_FAIL, NULL, NULL, 0}};
  for (size_t i = 0; i < 3; i++)
    verdicts_add(&r.f.verdicts, &verdicts[i]);
  foreign_judge(&r.f, &r.judgement);
  assert_int_equal(r.f.runs.len, 4);
  assert_int_equal(r.judgement.unjudged.len, 1);
  assert_string_equal(r.judgement.unjudged.items[0], "t2");
  assert_int_equal(run_named(&r, "t2")->verdict, VERDICT_ERROR);
  const Run *t3 = run_named(&r, "t3");
  assert_string_equal(t3->failures.items[0].signature, "Boom");
  assert_string_equal(t3->failures.items[0].message, "Boom: x is 3");
  const Run *t9 = run_named(&r, "t9");
  assert_int_equal(t9->processes, 0);
  assert_string_equal(t9->failures.items[0].signature, "failed");
  assert_string_equal(r.judgement.uncovered.items[0], "t9");
  finish(&r);
}

// --- storing ---------------------------------------------------------------

typedef struct {
  char root[64], dir[80];
  Store *store;
  Err err;
} Home;

static void home_init(Home *h) {
  memset(h, 0, sizeof *h);
  const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
  snprintf(h->root, sizeof h->root, "%s/import-XXXXXX", tmp);
  assert_non_null(mkdtemp(h->root));
  snprintf(h->dir, sizeof h->dir, "%s/.culprit", h->root);
}

static void home_open(Home *h) {
  if (store_open(&h->store, h->dir, STORE_CREATE, &h->err))
    fail_msg("%s", h->err.text);
}

static void home_close(Home *h) {
  store_close(h->store);
  h->store = NULL;
}

static void home_release(Home *h) {
  home_close(h);
  fs_remove_tree(h->root);
}

static int put(Home *h, const Foreign *f, bool add, ForeignTarget *t) {
  *t = (ForeignTarget){.command = "culprit import", .cwd = "/src", .add = add};
  return foreign_store(f, h->store, t, &h->err);
}

static size_t sessions(Home *h) {
  SessionInfo *list;
  size_t n;
  if (store_list(h->store, &list, &n, &h->err))
    fail_msg("%s", h->err.text);
  store_list_free(list, n);
  return n;
}

static void load(Home *h, Suite *suite) {
  if (store_load(h->store, 0, suite, &h->err))
    fail_msg("%s", h->err.text);
}

TEST(what_is_stored_is_what_was_read) {
  Reading r;
  Home h;
  Suite suite;
  ForeignTarget t;
  home_init(&h);
  home_open(&h);
  READ(&r, "lcov", "lcov.info");
  verdicts_add(&r.f.verdicts,
               &(TestVerdict){"t3", NULL, VERDICT_FAIL, NULL, NULL, 1.5});
  foreign_judge(&r.f, &r.judgement);
  if (put(&h, &r.f, false, &t))
    fail_msg("%s", h.err.text);
  load(&h, &suite);
  assert_int_equal(suite.nruns, 3);
  assert_int_equal(suite.nentities, 17 + 2 + 12);
  assert_int_equal(suite.nfailures, 1);
  assert_string_equal(suite.runs[2].test, "t3");
  assert_true(suite.runs[2].has_spectrum);
  // Once more, added: the same tests are replaced, nothing is there twice.
  if (put(&h, &r.f, true, &t))
    fail_msg("%s", h.err.text);
  assert_int_equal(t.replaced, 3);
  suite_release(&suite);
  load(&h, &suite);
  assert_int_equal(suite.nruns, 3);
  assert_int_equal(suite.nentities, 17 + 2 + 12);
  assert_int_equal(sessions(&h), 1);
  suite_release(&suite);
  finish(&r);
  home_release(&h);
}

// A source with two texts: only the store sees that, when half is written.
static void add_contradiction(Foreign *f) {
  ForeignUnit u = f->units.items[0];
  u.unit.sources =
      mem_dup(u.unit.sources, u.unit.nsources * sizeof *u.unit.sources);
  u.unit.sources[0].hash ^= 1;
  u.unit.id.bytes[0] ^= 1;
  array_push(&f->units, u);
}

TEST(an_import_that_cannot_be_stored_leaves_no_session) {
  Reading r;
  Home h;
  ForeignTarget t;
  home_init(&h);
  home_open(&h);
  READ(&r, "lcov", "lcov.info");
  foreign_judge(&r.f, &r.judgement);
  add_contradiction(&r.f);
  assert_int_equal(put(&h, &r.f, false, &t), -1);
  assert_says(h.err.text, "mid.c differs between two builds");
  assert_int_equal(sessions(&h), 0);
  free(r.f.units.items[--r.f.units.len].unit.sources);
  assert_int_equal(put(&h, &r.f, false, &t), 0);
  assert_int_equal(sessions(&h), 1);
  finish(&r);
  home_release(&h);
}

TEST(an_addition_that_cannot_be_stored_changes_nothing) {
  Reading r, other;
  Home h;
  Suite suite;
  ForeignTarget t;
  home_init(&h);
  home_open(&h);
  READ(&r, "lcov", "lcov.info");
  foreign_judge(&r.f, &r.judgement);
  assert_int_equal(put(&h, &r.f, false, &t), 0);
  READ(&other, "gcov", "t8=gcov.json.gz", "t9=gcov.json");
  foreign_judge(&other.f, &other.judgement);
  other.f.units.items[0].unit.sources[0].hash ^= 1;
  assert_int_equal(put(&h, &other.f, true, &t), -1);
  load(&h, &suite);
  assert_int_equal(suite.nruns, 3);
  suite_release(&suite);
  finish(&other);
  finish(&r);
  home_release(&h);
}

// --- malformed files -------------------------------------------------------

TEST(malformed_files_are_refused_with_their_place) {
  static const struct {
    const char *format, *text, *message;
  } cases[] = {
      {"lcov", "", "no line of code"},
      {"lcov", "TN:x\nSF:a.c\nDA:1,1\n", "sample:3: truncated: end_of_record"},
      {"lcov", "DA:1,1\n", "sample:1: 'DA:1,1': outside of a record"},
      {"lcov", "SF:a.c\nDA:x,1\n", "sample:2: 'DA:x,1': should be DA:LINE"},
      {"lcov", "SF:a.c\nDA:9999999999,1\n", "should be DA:LINE,COUNT"},
      {"lcov", "SF:a.c\nDA:0,1\n", "should be DA:LINE,COUNT"},
      {"lcov", "SF:a.c\nBRDA:1,0,0\n", "should be BRDA:"},
      {"lcov", "SF:a.c\nSF:b.c\n", "sample:2: 'SF:b.c': a file begins before"},
      {"lcov", "SF:a.c\nFNA:7,1,f\n", "no FNL has this number"},
      {"lcov", "{}", "not a line of an lcov file"},
      {"gcov", "", "sample:1: empty"},
      {"gcov", "{\"files\":[", "sample:1:10: malformed JSON at byte 10"},
      {"gcov", "[]", "should be an object"},
      {"gcov", "{}", "\"files\" is missing"},
      {"gcov", "{\"files\":[{\"file\":3}]}",
       "files[0]: \"file\" should be a string"},
      {"gcov",
       "{\"files\":[{\"file\":\"a.c\",\"functions\":[],\"lines\":["
       "{\"line_number\":1.5,\"count\":1}]}]}",
       "files[0].lines[0]: \"line_number\" is 1.5: not the number of a line"},
      {"gcov", "\x1f\x8b\x08nonsense", "gzip data"},
      {"llvm",
       "{\"data\":[{\"files\":[{\"filename\":\"a\",\"segments\":[[2]]}"
       "]}]}",
       "data[0].files[0].segments[0]: item 2 should be a number"},
      {"llvm",
       "{\"data\":[{\"files\":[{\"filename\":\"a\",\"segments\":["
       "[2,1,0,true,true],[1,1,0,true,true]]}]}]}",
       "segments[1]: line 1 comes after line 2"},
      {"cobertura", "<coverage>", "sample:1:11: no element found"},
      {"cobertura", "<report/>", "begins with <report>, expected <coverage>"},
      {"cobertura", "<coverage><class/></coverage>",
       "sample:1:11: <class> without filename="},
      {"cobertura",
       "<coverage><class filename='a'>\n<line number='x' hits='1'/></class>"
       "</coverage>",
       "sample:2:1: <line number=\"x\">: not the number of a line"},
      {"cobertura", "<coverage/>", "no line of code"},
      {"jacoco", "<report>\n<line nr='1' ci='1'/></report>",
       "sample:2:1: <line> outside of a <sourcefile>"},
      {"jacoco", "<report><group></report>", "mismatched tag"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Reading r;
    if (!read_text(&r, cases[i].format, cases[i].text, strlen(cases[i].text)))
      fail_msg("%s takes '%s'", cases[i].format, cases[i].text);
    assert_says(r.err.text, cases[i].message);
    finish(&r);
  }
}

TEST(malformed_verdicts_are_refused_with_their_place) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"t1 pass\nt2 perhaps\n", "sample:2: 'perhaps' is not a verdict"},
      {"t1\n", "sample:1: 't1': expected the name of a test"},
      {"1..3\nok 1\nok 2\n", "sample:3: truncated? The plan has 3 tests"},
      {"ok 1 - a\nok 3 - b\n",
       "sample:2: found test 3 where test 2 was expected"},
      {":test-result: WHAT\n", "sample:1: 'WHAT' is not a test result"},
      {"<testsuite><testcase/></testsuite>", "<testcase> without name="},
      {"<html></html>", "begins with <html>, expected <testsuites>"},
      {"<testsuite>", "no element found"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Reading r;
    if (!read_verdict_text(&r, cases[i].text, strlen(cases[i].text)))
      fail_msg("taken: '%s'", cases[i].text);
    assert_says(r.err.text, cases[i].message);
    finish(&r);
  }
}

TEST(a_matrix_that_does_not_fit_its_spectra_is_refused) {
  static const struct {
    const char *matrix, *spectra, *tests, *message;
  } cases[] = {
      {"1 0 +\n", "name\nA#f():1\n", NULL, "matrix.txt:1: '0 +' at the end"},
      {"1 +\n", "A#1\nA#2\n", NULL, "matrix.txt:1: number 2 of the row"},
      {"1 x\n", "A#1\n", NULL, "should be + or -"},
      {"", "A#1\n", NULL, "has no rows"},
      {"1 +\n", "name\n", NULL, "lists no lines of code"},
      {"1 +\n", "A:1\n", NULL, "spectra.csv:1: 'A:1': should be"},
      {"1 +\n", "A#1\n", "name,outcome\na,PASS\nb,FAIL\n", "has 1 row"},
      {"1 +\n1 -\n", "A#1\n", "a,PASS\n", "lists only 1 test"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Home h;
    Reading r;
    home_init(&h);
    begin(&r);
    const char *const names[] = {"matrix.txt", "spectra.csv", "tests.csv"};
    const char *const texts[] = {cases[i].matrix, cases[i].spectra,
                                 cases[i].tests};
    for (int k = 0; k < 3; k++) {
      char *path = mem_printf("%s/%s", h.root, names[k]);
      if (texts[k])
        fs_write(path, texts[k], strlen(texts[k]), &r.err);
      free(path);
    }
    ImportArg arg = {h.root, NULL};
    if (!import_read(import_format_find("gzoltar"), &(ImportArgs){&arg, 1},
                     &r.places, &r.f, &r.err))
      fail_msg("taken: %s", cases[i].message);
    assert_says(r.err.text, cases[i].message);
    finish(&r);
    home_release(&h);
  }
}

// --- any file at all -------------------------------------------------------

static uint64_t seed = 1;

static uint32_t draw(uint32_t below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % below;
}

// A few random changes: bytes replaced, taken out, put in, repeated; or an end.
static void mutate(Str *s) {
  static const char bytes[] =
      "0123456789,:<>\"{}[]/=&;#-+ \n\t\r\0\xff\xc3\x1f";
  for (uint32_t n = 1 + draw(4); n && s->len > 1; n--) {
    size_t at = draw((uint32_t)s->len);
    char byte = bytes[draw(sizeof bytes - 1)];
    switch (draw(6)) {
    case 0:
      s->data[at] = byte;
      break;
    case 1:
      s->data[at] ^= (char)(1 << draw(8));
      break;
    case 2:
      memmove(s->data + at, s->data + at + 1, --s->len - at);
      break;
    case 3:
      str_addc(s, ' ');
      memmove(s->data + at + 1, s->data + at, s->len - 1 - at);
      s->data[at] = byte;
      break;
    case 4: {
      size_t from = draw((uint32_t)s->len);
      size_t len = draw(40), most = s->len - (at > from ? at : from);
      memmove(s->data + at, s->data + from, len < most ? len : most);
      break;
    }
    default:
      if (!draw(4))
        s->len = at;
    }
  }
}

// Whatever came out must be sound: all of it can be stored.
static void check_reading(Reading *r, const char *what) {
  if (r->rc && !*r->err.text)
    fail_msg("%s: refused without a message", what);
  if (r->rc)
    return;
  for (size_t u = 0; u < r->f.units.len; u++) {
    const Unit *unit = &r->f.units.items[u].unit;
    for (size_t i = 0; i < unit->nentities; i++) {
      const Entity *e = &unit->entities[i];
      assert_true(e->source == 0 && e->line >= 1 && e->line <= LINE_MOST);
      assert_true(e->function == ENTITY_NONE || e->function < unit->nentities);
      assert_true(r->f.units.items[u].ids[i] < r->f.nids);
    }
  }
  foreign_judge(&r->f, &r->judgement);
}

typedef int ReadMutant(Reading *r, const char *kind, const Str *text);

static int read_mutant(Reading *r, const char *format, const Str *text) {
  return read_text(r, format, text->data, text->len);
}

static int read_mutant_verdicts(Reading *r, const char *name, const Str *text) {
  (void)name;
  return read_verdict_text(r, text->data, text->len);
}

enum { MUTANTS = 3000 };

static void torment(const char *file, const char *format, ReadMutant *read) {
  Str sample = {0}, text = {0};
  Err err;
  char *path = mem_printf(DATA "%s", file);
  if (fs_read(path, 0, &sample, &err))
    fail_msg("%s", err.text);
  size_t step = sample.len / 1000 + 1; // every byte of a small file
  for (size_t i = 0; i < sample.len / step + MUTANTS; i++) {
    Reading r;
    str_clear(&text);
    str_addn(&text, sample.data, sample.len);
    if (i * step < sample.len)
      text.len = i * step;
    else
      mutate(&text);
    read(&r, format, &text);
    check_reading(&r, file);
    finish(&r);
  }
  str_release(&sample);
  str_release(&text);
  free(path);
}

TEST(no_lcov_file_does_harm) {
  torment("lcov.info", "lcov", read_mutant);
  torment("lcov-coverage.info", "lcov", read_mutant);
}
TEST(no_gcov_file_does_harm) {
  torment("gcov.json", "gcov", read_mutant);
  torment("gcov.json.gz", "gcov", read_mutant);
}
TEST(no_llvm_file_does_harm) { torment("llvm.json", "llvm", read_mutant); }
TEST(no_cobertura_file_does_harm) {
  torment("cobertura-gcovr.xml", "cobertura", read_mutant);
  torment("cobertura-coverage.xml", "cobertura", read_mutant);
}
TEST(no_jacoco_file_does_harm) { torment("jacoco.xml", "jacoco", read_mutant); }
TEST(no_junit_file_does_harm) {
  torment("junit.xml", NULL, read_mutant_verdicts);
}
TEST(no_tap_file_does_harm) {
  torment("results.tap", NULL, read_mutant_verdicts);
}
TEST(no_trs_file_does_harm) {
  torment("trs/sub/two.trs", NULL, read_mutant_verdicts);
}
TEST(no_list_of_verdicts_does_harm) {
  torment("results.txt", NULL, read_mutant_verdicts);
}

static Home gzoltar_home;

// format: which of the three files it is.
static int read_mutant_gzoltar(Reading *r, const char *format,
                               const Str *text) {
  begin(r);
  char *path = mem_printf("%s/%s", gzoltar_home.root, format);
  if (fs_write(path, text->data, text->len, &r->err))
    fail_msg("%s", r->err.text);
  free(path);
  ImportArg arg = {gzoltar_home.root, NULL};
  r->err.text[0] = '\0';
  return r->rc =
             import_read(import_format_find("gzoltar"), &(ImportArgs){&arg, 1},
                         &r->places, &r->f, &r->err);
}

TEST(no_gzoltar_file_does_harm) {
  static const char *const names[] = {"matrix.txt", "spectra.csv", "tests.csv"};
  for (int i = 0; i < 3; i++) {
    home_init(&gzoltar_home);
    for (int k = 0; k < 3; k++) {
      Str text = {0};
      Err err;
      char *from = mem_printf(DATA "gzoltar/%s", names[k]);
      char *to = mem_printf("%s/%s", gzoltar_home.root, names[k]);
      assert_int_equal(fs_read(from, 0, &text, &err), 0);
      assert_int_equal(fs_write(to, text.data, text.len, &err), 0);
      str_release(&text);
      free(from);
      free(to);
    }
    char *file = mem_printf("gzoltar/%s", names[i]);
    torment(file, names[i], read_mutant_gzoltar);
    free(file);
    home_release(&gzoltar_home);
  }
}
