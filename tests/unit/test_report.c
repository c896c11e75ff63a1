// Unit tests of src/report: what is shown of hostile text, source files and
// every format.
#include "test.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "locate/spectrum.h"
#include "report/excerpt.h"
#include "report/report.h"
#include "util/escape.h"
#include "util/fs.h"
#include "world.h"

// --- escape -----------------------------------------------------------------

static void expect_escaped(const char *text, const char *want) {
  Str s = {0};
  escape_add(&s, text);
  assert_string_equal(str_text(&s), want);
  str_release(&s);
}

TEST(ordinary_text_is_shown_as_it_is) {
  expect_escaped("tests/größe.sh \xf0\x9f\x90\x9b", "tests/größe.sh "
                                                    "\xf0\x9f\x90\x9b");
}

TEST(control_characters_and_broken_utf8_are_shown_as_escapes) {
  expect_escaped("a\033[31m\n\t\x7f", "a\\x1b[31m\\x0a\\x09\\x7f");
  expect_escaped("\xff\xc3", "\\xff\\xc3");
  expect_escaped("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80",
                 "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
}

TEST(characters_that_turn_the_direction_of_writing_are_shown_as_escapes) {
  expect_escaped("a\xe2\x80\xae/b\xc2\x9b", "a<U+202E>/b<U+009B>");
}

// --- excerpt ----------------------------------------------------------------

static void expect_excerpt(const char *line, uint32_t lo, uint32_t hi,
                           size_t width, const char *want_text,
                           const char *want_caret) {
  Str text = {0}, caret = {0};
  excerpt_render(line, strlen(line), lo, hi, width, &text, &caret);
  assert_string_equal(str_text(&text), want_text);
  assert_string_equal(str_text(&caret), want_caret);
  str_release(&text);
  str_release(&caret);
}

TEST(the_caret_range_ends_with_the_last_word) {
  expect_excerpt("  x = count_1 + 1;", 3, 7, 80, "  x = count_1 + 1;",
                 "  ^~~~~~~~~~~");
}

TEST(the_caret_of_a_single_column_marks_its_word_or_sign) {
  expect_excerpt("a = b;", 3, 3, 80, "a = b;", "  ^");
  expect_excerpt("abc = b;", 1, 1, 80, "abc = b;", "^~~");
}

TEST(tabs_are_expanded_in_the_line_and_under_it) {
  expect_excerpt("\tx\t= y;", 2, 6, 80, "        x       = y;",
                 "        ^~~~~~~~~~~");
}

TEST(escaped_characters_move_the_caret) {
  expect_excerpt("\033x = \xff;", 2, 2, 80, "\\x1bx = \\xff;", "    ^");
}

TEST(characters_of_several_bytes_take_one_column) {
  expect_excerpt("\"ä\" + x", 8, 8, 80, "\"ä\" + x", "      ^");
}

TEST(columns_outside_of_the_line_give_no_caret) {
  expect_excerpt("ab", 0, 0, 80, "ab", "");
  expect_excerpt("ab", 3, 9, 80, "ab", "");
  expect_excerpt("ab", 1, 9, 80, "ab", "^~");
  expect_excerpt("", 1, 1, 80, "", "");
}

TEST(a_long_line_is_cut_behind_the_caret) {
  expect_excerpt("abc = 1234567890;", 1, 1, 10, "abc = 1...", "^~~");
}

TEST(a_long_line_is_cut_on_both_sides_if_the_caret_is_far_right) {
  expect_excerpt("0123456789 abc 0123456789 0123456789", 12, 12, 16,
                 "...6789 abc 0...", "        ^~~");
}

TEST(excerpts_of_any_bytes_stay_within_the_width) {
  uint32_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    char line[120];
    size_t n = (seed = seed * 1103515245 + 12345) >> 16 & 63;
    for (size_t i = 0; i < n; i++)
      line[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
    Str text = {0}, caret = {0};
    excerpt_render(line, n, seed >> 8 & 63, seed >> 16 & 63, 24, &text, &caret);
    assert_true(caret.len <= 24);
    size_t columns = 0;
    for (size_t i = 0; i < text.len; i++)
      columns += (text.data[i] & 0xc0) != 0x80;
    assert_true(columns <= 24);
    str_release(&text);
    str_release(&caret);
  }
}

// --- reports ----------------------------------------------------------------

// A world, its ranking by ochiai, and the report on it as text.
typedef struct {
  World world;
  Spectrum spectrum;
  Sources sources;
  Deaths deaths;
  Report report;
  char *text;
} Printed;

static void printed_open(Printed *p) {
  Err err;
  SpectrumOptions o = {.formula = formula_find("ochiai")->score};
  if (spectrum_init(&p->spectrum, &p->world.suite, &o, &err))
    fail_msg("%s", err.text);
  sources_init(&p->sources, &p->world.suite);
  p->report = (Report){
      .suite = &p->world.suite,
      .method = "ochiai",
      .entities = 1u << ENTITY_STATEMENT,
      .executed = spectrum_executed(&p->spectrum, &p->world.tally),
      .executable = p->spectrum.nlisted,
      .deaths = &p->deaths,
      .sources = &p->sources,
  };
}

static const char *print_as(Printed *p, const char *name) {
  const ReportFormat *format = report_find(name);
  size_t size;
  free(p->text);
  FILE *out = open_memstream(&p->text, &size);
  if (format->begin)
    format->begin(&p->report, out);
  for (size_t i = 0; i < p->world.suite.nfailures; i++) {
    Ranking r;
    spectrum_rank(&p->spectrum, &p->world.tally, i, &r);
    format->failure(&p->report, &r, out);
    ranking_release(&r);
  }
  if (format->end)
    format->end(&p->report, out);
  fclose(out);
  return p->text;
}

static void printed_close(Printed *p) {
  free(p->text);
  deaths_release(&p->deaths);
  sources_release(&p->sources);
  spectrum_release(&p->spectrum);
  world_release(&p->world);
}

static void expect_has(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("no '%s' in:\n%s", part, text);
}

static void expect_lacks(const char *text, const char *part) {
  if (strstr(text, part))
    fail_msg("'%s' in:\n%s", part, text);
}

static void printed_figure1(Printed *p) {
  *p = (Printed){0};
  world_figure1(&p->world);
  printed_open(p);
}

TEST(formats_are_found_by_name) {
  assert_ptr_equal(report_find("json"), &report_json);
  assert_null(report_find("xml"));
}

TEST(the_text_report_starts_with_the_summary) {
  Printed p;
  printed_figure1(&p);
  const char *text = print_as(&p, "text");
  assert_true(text_starts(text, "2 of 7 tests fail: 1 failure\n"
                                "ochiai, 9 of 9 statements executed\n"));
  expect_has(text, "Failure 1 of 1 (exit): exit status A\n"
                   "  2 failing runs against 5 passing; tests t3, t6\n");
  printed_close(&p);
}

TEST(the_text_report_shows_ties_evidence_and_unreadable_sources) {
  Printed p;
  printed_figure1(&p);
  const char *text = print_as(&p, "text");
  expect_has(text, "  1-7  0.707  fig1.c:2 in main\n"
                   "       = 2 of 2 failing, 2 of 5 passing runs\n");
  expect_has(text, "  8-9  0.535  fig1.c:9 in main\n");
  expect_has(text, "note: source not shown, the file cannot be read: fig1.c\n");
  expect_lacks(text, "\033");
  printed_close(&p);
}

TEST(colours_appear_only_if_asked_for) {
  Printed p;
  printed_figure1(&p);
  p.report.color = true;
  expect_has(print_as(&p, "text"), "\033[1mfig1.c:2\033[0m");
  printed_close(&p);
}

TEST(a_tie_group_that_is_cut_says_so) {
  Printed p;
  printed_figure1(&p);
  p.report.top = 3;
  const char *text = print_as(&p, "text");
  expect_has(text, "3 of 9 statements shown (--top N); 4 more tie with the "
                   "last one\n");
  expect_lacks(text, "fig1.c:5");
  p.report.top = SIZE_MAX;
  expect_lacks(print_as(&p, "text"), "shown (--top N)");
  printed_close(&p);
}

TEST(the_text_report_names_what_was_left_out) {
  Printed p = {0};
  world_init(&p.world, "PAxsepqi");
  world_statements(&p.world, "a.c", "f", 1, 2);
  for (uint32_t run = 0; run < 8; run++)
    world_covers(&p.world, run, 0, 1);
  p.world.suite.runs[6].note = "run file\ntruncated";
  world_close(&p.world);
  printed_open(&p);
  const char *text = print_as(&p, "text");
  expect_has(text, "3 of 8 tests fail: 1 failure\n");
  expect_has(text, "note: 1 test left out (flaky): t3\n");
  expect_has(text, "note: 1 test left out (skipped): t4\n");
  expect_has(text, "note: 1 test left out (could not be run or judged): t5\n");
  expect_has(text, "note: 2 runs left no spectrum and cannot be compared:\n");
  expect_has(text, "1: run file\\x0atruncated\n");
  expect_has(text,
             "note: 1 run was killed before the last lines could be confirmed");
  printed_close(&p);
}

TEST(many_tests_of_a_failure_are_abbreviated) {
  Printed p = {0};
  world_init(&p.world, "PAAAAAAAAAAAA");
  world_statements(&p.world, "a.c", "f", 1, 1);
  for (uint32_t run = 0; run < 13; run++)
    world_covers(&p.world, run, 0, 0);
  world_close(&p.world);
  printed_open(&p);
  const char *text = print_as(&p, "text");
  expect_has(text, "t8, t9 and 4\n    more\n");
  printed_close(&p);
}

TEST(failures_that_cannot_be_ranked_say_why) {
  Printed p = {0};
  world_init(&p.world, "AA");
  world_statements(&p.world, "a.c", "f", 1, 1);
  world_covers(&p.world, 0, 0, 0);
  world_covers(&p.world, 1, 0, 0);
  world_close(&p.world);
  printed_open(&p);
  expect_has(print_as(&p, "text"), "Not ranked: no run passes");
  printed_close(&p);
}

TEST(stand_ins_for_passing_runs_are_mentioned) {
  Printed p = {0};
  world_init(&p.world, "AB");
  world_statements(&p.world, "a.c", "f", 1, 1);
  world_covers(&p.world, 0, 0, 0);
  world_covers(&p.world, 1, 0, 0);
  world_close(&p.world);
  printed_open(&p);
  const char *text = print_as(&p, "text");
  expect_has(text, "2 of 2 tests fail: 2 different failures\n");
  expect_has(text, "1 failing run against 1 that fail otherwise");
  expect_has(text, "No test passes: runs that fail in another way stand in");
  printed_close(&p);
}

TEST(the_text_report_measures_the_known_fault) {
  Printed p;
  Fault fault = {0};
  Err err;
  printed_figure1(&p);
  fault_add(&fault, &p.world.suite, "fig1.c:2,12", ENTITY_STATEMENT, &err);
  p.report.fault = &fault;
  const char *text = print_as(&p, "text");
  expect_has(text, "  fault fig1.c:2: rank 1-7\n");
  expect_has(text, "  fault fig1.c:12 (no statement there; line 9 stands for "
                   "it): rank 8-9\n");
  expect_has(text, "first found at rank 7 (average 4.0, best 1), 7 tied\n");
  expect_has(text, "examined: 77.8 % of 9 executed, 77.8 % of 9 executable "
                   "statements\n");
  expect_has(text, "first no, all no\n");
  expect_has(text, "top 1: 0.14, 3: 0.43, 5: 0.71, 10: 1.00\n");
  fault_release(&fault);
  printed_close(&p);
}

TEST(places_where_runs_died_are_evidence) {
  Printed p;
  printed_figure1(&p);
  array_push(&p.deaths.items, (DeathAt){0, 2, 0, "SIGSEGV", true}); // passes
  array_push(&p.deaths.items, (DeathAt){0, 2, 2, "SIGSEGV", true});
  array_push(&p.deaths.items, (DeathAt){0, 2, 2, "SIGSEGV", true});
  array_push(&p.deaths.items, (DeathAt){0, 2, 5, "SIGSEGV", true});
  array_push(&p.deaths.items, (DeathAt){0, 3, 5, "SIGKILL", false});
  const char *text = print_as(&p, "text");
  expect_has(text, "= 2 runs died here: SIGSEGV\n");
  expect_has(text, "= 1 run died here or close by: SIGKILL\n");
  printed_close(&p);
}

// --- source files -----------------------------------------------------------

// A file with this text as fig1.c of a fresh directory.
static char *write_source(Printed *p, const char *text, size_t n) {
  char dir[] = "/tmp/culprit-report-XXXXXX";
  Err err;
  assert_non_null(mkdtemp(dir));
  char *path = mem_printf("%s/fig1.c", dir);
  assert_int_equal(fs_write(path, text, n, &err), 0);
  p->world.sources[0].path = arena_strdup(&p->world.suite.arena, path);
  p->world.suite.cwd = arena_strdup(&p->world.suite.arena, dir);
  free(path);
  return mem_strdup(dir);
}

TEST(source_lines_are_shown_with_a_caret) {
  static const char source[] = "first\r\n\tx = \033y;\nlast";
  Printed p;
  printed_figure1(&p);
  char *dir = write_source(&p, source, sizeof source - 1);
  p.world.entities[1].col_lo = 2;
  p.world.entities[1].col_hi = 4;
  p.world.sources[0].hash = XXH3_64bits(source, sizeof source - 1);
  expect_has(print_as(&p, "text"), "fig1.c:2 in main\n"
                                   "       |         x = \\x1by;\n"
                                   "       |         ^~~\n"
                                   "       = 2 of 2");
  assert_int_equal(sources_state(&p.sources, 0), SOURCE_READABLE);
  fs_remove_tree(dir);
  free(dir);
  printed_close(&p);
}

TEST(lines_can_be_asked_for_from_the_first_to_the_last_only) {
  Printed p;
  const char *line;
  size_t n;
  printed_figure1(&p);
  char *dir = write_source(&p, "a\n\nlast", 7);
  assert_true(sources_line(&p.sources, 0, 1, &line, &n));
  assert_int_equal(n, 1);
  assert_true(sources_line(&p.sources, 0, 2, &line, &n));
  assert_int_equal(n, 0);
  assert_true(sources_line(&p.sources, 0, 3, &line, &n));
  assert_memory_equal(line, "last", n);
  assert_false(sources_line(&p.sources, 0, 0, &line, &n));
  assert_false(sources_line(&p.sources, 0, 4, &line, &n));
  fs_remove_tree(dir);
  free(dir);
  printed_close(&p);
}

TEST(a_source_with_another_text_than_compiled_is_noticed_in_every_format) {
  const char *names[] = {"text", "json", "csv", "quickfix"};
  for (int i = 0; i < 4; i++) {
    Printed p;
    printed_figure1(&p);
    char *dir = write_source(&p, "changed\n", 8);
    p.world.sources[0].hash = 12345;
    print_as(&p, names[i]);
    assert_int_equal(sources_state(&p.sources, 0), SOURCE_CHANGED);
    fs_remove_tree(dir);
    free(dir);
    printed_close(&p);
  }
}

TEST(what_is_no_plain_file_is_not_read) {
  Printed p;
  printed_figure1(&p);
  char *dir = write_source(&p, "", 0);
  unlink(p.world.sources[0].path);
  assert_int_equal(mkfifo(p.world.sources[0].path, 0600), 0);
  assert_int_equal(sources_check(&p.sources, 0), SOURCE_UNREADABLE);
  fs_remove_tree(dir);
  free(dir);
  printed_close(&p);
}

// --- json, csv, quickfix ----------------------------------------------------

static json_t *parse(const char *text) {
  json_error_t error;
  json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  if (!doc)
    fail_msg("%s at %d in:\n%s", error.text, error.position, text);
  return doc;
}

TEST(json_has_the_documented_shape) {
  Printed p;
  printed_figure1(&p);
  json_t *doc = parse(print_as(&p, "json"));
  int version, executed, failing, passing, rank, best, line, ef, ep;
  const char *method, *signature, *kind, *file, *function, *ekind, *etext;
  double score, confidence;
  json_t *ranking;
  int rc =
      json_unpack(doc, "{s:i,s:s,s:i,s:[{s:s,s:s,s:i,s:i,s:o}]}", "version",
                  &version, "method", &method, "executed", &executed,
                  "failures", "signature", &signature, "kind", &kind, "failing",
                  &failing, "passing", &passing, "ranking", &ranking);
  assert_int_equal(rc, 0);
  assert_int_equal(version, 1);
  assert_string_equal(method, "ochiai");
  assert_int_equal(executed, 9);
  assert_int_equal(failing, 2);
  assert_int_equal(passing, 5);
  assert_int_equal(json_array_size(ranking), 9);
  rc = json_unpack(json_array_get(ranking, 0),
                   "{s:i,s:i,s:F,s:F,s:s,s:i,s:s,s:i,s:i,s:[{s:s,s:s}]}",
                   "rank", &rank, "rank_best", &best, "score", &score,
                   "confidence", &confidence, "file", &file, "line", &line,
                   "function", &function, "ef", &ef, "ep", &ep, "evidence",
                   "kind", &ekind, "text", &etext);
  assert_int_equal(rc, 0);
  assert_int_equal(rank, 7);
  assert_int_equal(best, 1);
  assert_true(score_same(score, 0.70710678118654752));
  assert_string_equal(file, "fig1.c");
  assert_int_equal(line, 2);
  assert_string_equal(function, "main");
  assert_int_equal(ef, 2);
  assert_int_equal(ep, 2);
  assert_string_equal(ekind, "coverage");
  json_decref(doc);
  printed_close(&p);
}

TEST(json_is_cut_by_top_and_carries_the_known_fault) {
  Printed p;
  Fault fault = {0};
  Err err;
  printed_figure1(&p);
  fault_add(&fault, &p.world.suite, "fig1.c:6", ENTITY_STATEMENT, &err);
  p.report.fault = &fault;
  p.report.top = 2;
  json_t *doc = parse(print_as(&p, "json"));
  json_t *f = json_array_get(json_object_get(doc, "failures"), 0);
  json_t *measured = json_object_get(f, "fault");
  assert_int_equal(json_array_size(json_object_get(f, "ranking")), 2);
  assert_int_equal(json_integer_value(json_object_get(measured, "rank")), 7);
  assert_int_equal(json_integer_value(json_object_get(measured, "ties")), 7);
  assert_true(json_is_false(json_object_get(measured, "well_localized_first")));
  json_decref(doc);
  fault_release(&fault);
  printed_close(&p);
}

// A world whose every text is hostile.
static void printed_hostile(Printed *p) {
  *p = (Printed){0};
  world_init(&p->world, "PAAx");
  world_statements(&p->world, "a\"\\,\n\xff\xe2\x82.c", "f\033", 1, 2);
  for (uint32_t run = 0; run < 4; run++)
    world_covers(&p->world, run, 0, run & 1);
  for (uint32_t run = 0; run < 4; run++)
    p->world.suite.runs[run].test = "t\"\r\xfe";
  p->world.suite.failures[0].message = "\x01\xc3(\"";
  p->world.suite.failures[0].signature = "\x7f,\"";
  world_close(&p->world);
  printed_open(p);
}

TEST(json_stays_valid_for_hostile_names) {
  Printed p;
  printed_hostile(&p);
  json_t *doc = parse(print_as(&p, "json"));
  json_t *f = json_array_get(json_object_get(doc, "failures"), 0);
  json_t *s = json_array_get(json_object_get(f, "ranking"), 0);
  assert_string_equal(json_string_value(json_object_get(s, "file")),
                      "a\"\\,\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.c");
  json_decref(doc);
  printed_close(&p);
}

TEST(text_and_quickfix_send_no_control_characters_to_the_terminal) {
  const char *names[] = {"text", "quickfix"};
  for (int i = 0; i < 2; i++) {
    Printed p;
    printed_hostile(&p);
    const char *text = print_as(&p, names[i]);
    for (const char *c = text; *c; c++)
      assert_true((*c >= 0x20 && *c != 0x7f) || *c == '\n');
    printed_close(&p);
  }
}

TEST(csv_quotes_what_needs_quoting) {
  Printed p;
  printed_hostile(&p);
  const char *text = print_as(&p, "csv");
  expect_has(text, "passing,change\n1,exit,\"\x7f,\"\"\",");
  expect_has(text, ",\"a\"\"\\,\n\xff\xe2\x82.c\",1,0,f\033,");
  printed_close(&p);
}

TEST(quickfix_lines_are_what_editors_read) {
  Printed p;
  printed_figure1(&p);
  p.world.entities[1].col_lo = 5;
  const char *text = print_as(&p, "quickfix");
  assert_true(text_starts(text,
                          "fig1.c:2:5: rank 1-7, score 0.707, in main: 2 "
                          "of 2 failing, 2 of 5 passing runs\nfig1.c:3:1: "));
  printed_close(&p);
}

TEST(json_of_a_session_without_failures_is_complete) {
  Printed p = {0};
  world_init(&p.world, "PP");
  world_statements(&p.world, "a.c", "f", 1, 1);
  world_covers(&p.world, 0, 0, 0);
  world_close(&p.world);
  printed_open(&p);
  json_t *doc = parse(print_as(&p, "json"));
  assert_int_equal(json_array_size(json_object_get(doc, "failures")), 0);
  json_decref(doc);
  printed_close(&p);
}

// --- names of blocks and edges ----------------------------------------------

static void expect_described(const World *w, Entity e, const char *want) {
  Str s = {0};
  report_describe(&w->suite, &e, &s);
  assert_string_equal(str_text(&s), want);
  str_release(&s);
}

TEST(entities_are_described_by_what_they_are) {
  World w;
  world_init(&w, "P");
  world_statements(&w, "a.c", "f", 4, 5); // f is entity 2
  uint32_t b = world_entity(
      &w, (Entity){.kind = ENTITY_BLOCK, .line = 4, .index = 3, .function = 2});
  expect_described(&w, w.entities[0], "in f");
  expect_described(&w, w.entities[2], "f");
  expect_described(&w, w.entities[b], "block 3 of f");
  Entity edge = {.kind = ENTITY_EDGE, .function = 2, .from = b, .to = b};
  expect_described(&w, edge, "edge 4 -> 4 of f");
  edge.from = ENTITY_NONE;
  expect_described(&w, edge, "edge entry -> 4 of f");
  edge.from = b;
  edge.to = ENTITY_NONE;
  expect_described(&w, edge, "edge 4 -> leave of f");
  edge.kind = ENTITY_STATEMENT;
  edge.function = ENTITY_NONE;
  expect_described(&w, edge, "");
  world_release(&w);
}

// --- failures by place ------------------------------------------------------

static FailureGroup at_place(const char *place, const char *signature,
                             uint32_t *runs, size_t n) {
  return (FailureGroup){.kind = "fatal",
                        .message = signature,
                        .place = place,
                        .signature = signature,
                        .runs = runs,
                        .nruns = n};
}

// Runs that show two failures of a place count once; failures without a place
// do not belong together.
TEST(the_place_that_most_runs_show_comes_first) {
  uint32_t first[] = {1, 2}, second[] = {2, 3}, third[] = {4, 5}, none[] = {6};
  FailureGroup failures[] = {
      at_place("", "x", none, 1), at_place("", "y", none, 1),
      at_place("b.php:2", "c", third, 2), at_place("a.php:1", "b", second, 2),
      at_place("a.php:1", "a", first, 2)};
  Suite suite = {
      .command = "culprit web app", .failures = failures, .nfailures = 5};
  PlaceGroups groups = {0};
  suite_sort_by_place(&suite);
  suite_places(&suite, &groups);
  assert_int_equal(groups.len, 4);
  assert_string_equal(failures[0].signature, "a");
  assert_string_equal(failures[1].signature, "b");
  assert_int_equal(groups.items[0].n, 2);
  assert_int_equal(groups.items[0].runs, 3);
  assert_string_equal(failures[2].signature, "c");
  assert_ptr_equal(place_group_at(&groups, 2), &groups.items[1]);
  assert_null(place_group_at(&groups, 1));
  assert_int_equal(groups.items[3].first, 4);
  array_release(&groups);
  suite.command = "culprit run";
  suite_places(&suite, &groups);
  assert_int_equal(groups.len, 0);
}
