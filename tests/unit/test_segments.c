// The tests inside a test: what of it each executed, the reader against damaged
// bytes, and which of them are to blame.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle/failure.h"
#include "program/segments.h"
#include "run/segment_verdict.h"
#include "test.h"
#include "util/fs.h"
#include "util/mem.h"

// --- what the runtime left
// ----------------------------------------------------

static char scratch[64];
static ProgramMap fixture;

static const Unit *unit(void) {
  Err err = {0};
  if (!fixture.units.len && map_read(&fixture, SEGMENTS_FIXTURE, &err))
    fail_msg("%s", err.text);
  return &fixture.units.items[0].unit;
}

TEARDOWN {
  map_release(&fixture);
  return 0;
}

static void run_fixture(const char *argument) {
  strcpy(scratch, "/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(scratch));
  char *out = mem_printf("%s/out", scratch);
  pid_t pid = fork();
  if (pid == 0) {
    setenv("CULPRIT_RUN", scratch, 1);
    setenv("CULPRIT_SEGMENTS", "1", 1);
    setenv("CULPRIT_STDOUT", out, 1);
    int fd = open(out, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 1);
    execl(SEGMENTS_FIXTURE, SEGMENTS_FIXTURE, argument, (char *)NULL);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, 0);
  free(out);
}

static int number_entities(void *ctx, const Unit *u, uint32_t *ids, Err *err) {
  (void)ctx, (void)err;
  for (size_t i = 0; i < u->nentities; i++)
    ids[i] = (uint32_t)i;
  return 0;
}

typedef struct {
  Run whole;
  Segments parts;
} Collected;

static Collected collect(void) {
  Collector *c = collector_new(number_entities, NULL);
  Collected all = {0};
  Err err = {0};
  assert_int_equal(collector_collect(c, scratch, &all.whole, &err), 0);
  assert_int_equal(collector_collect_segments(c, scratch, &all.parts, &err), 0);
  collector_free(c);
  return all;
}

static void release(Collected *all) {
  run_release(&all->whole);
  segments_release(&all->parts);
}

static void end(Collected *all) {
  release(all);
  fs_remove_tree(scratch);
}

static bool covers(const Run *run, uint32_t line) {
  const Unit *u = unit();
  for (size_t i = 0; i < u->nentities; i++)
    if (u->entities[i].kind == ENTITY_STATEMENT && u->entities[i].line == line)
      return bitset_has(&run->hits[ENTITY_STATEMENT], (uint32_t)i);
  fail_msg("no statement in line %u", line);
  return false;
}

// `lines`: of all that are marked, those each part executed.
static void parts_are(const Collected *all, size_t n, const char *const *names,
                      const uint32_t *lines) {
  static const uint32_t marked[] = {14, 18, 23, 28};
  assert_int_equal(all->parts.len, n);
  for (size_t i = 0; i < n; i++) {
    const Segment *g = &all->parts.items[i];
    assert_string_equal(g->name, names[i]);
    for (size_t k = 0; k < sizeof marked / sizeof *marked; k++)
      assert_int_equal(covers(&g->run, marked[k]), marked[k] == lines[i]);
    assert_true(covers(&g->run, 74)); // what ran before all of them
  }
}

TEST(each_part_has_what_it_executed) {
  run_fixture("flat");
  Collected all = collect();
  parts_are(&all, 3,
            (const char *const[]){"test_one", "test_two", "test_exits"},
            (const uint32_t[]){14, 18, 28});
  assert_true(all.parts.items[0].returned && all.parts.items[1].returned);
  assert_false(all.parts.items[2].returned);
  assert_true(all.parts.items[2].last);
  // The whole has all of it.
  assert_true(covers(&all.whole, 14) && covers(&all.whole, 28));
  end(&all);
}

TEST(a_suite_is_no_test_and_its_tests_are) {
  run_fixture("nested");
  Collected all = collect();
  parts_are(
      &all, 4,
      (const char *const[]){"test_one", "test_two", "test_two", "test_one"},
      (const uint32_t[]){14, 18, 18, 14});
  segments_name(&all.parts, "t");
  assert_string_equal(all.parts.items[1].run.test, "t/test_two");
  assert_string_equal(all.parts.items[2].run.test, "t/test_two#2");
  end(&all);
}

TEST(a_test_that_jumps_out_of_itself_ends_where_the_next_begins) {
  run_fixture("jump");
  Collected all = collect();
  parts_are(&all, 4,
            (const char *const[]){"test_leaves", "test_one", "test_leaves",
                                  "test_two"},
            (const uint32_t[]){23, 14, 23, 18});
  assert_false(all.parts.items[0].returned);
  assert_true(all.parts.items[3].returned);
  end(&all);
}

TEST(a_line_of_tap_ends_a_test) {
  run_fixture("lines");
  Collected all = collect();
  assert_int_equal(all.parts.len, 3);
  static const uint32_t lines[] = {52, 56, 60};
  for (size_t i = 0; i < 3; i++) {
    assert_true(all.parts.items[i].tap);
    for (size_t k = 0; k < 3; k++)
      assert_int_equal(covers(&all.parts.items[i].run, lines[k]), i == k);
  }
  // Where each line begins is known for standard output, our file, only.
  assert_int_equal(all.parts.items[1].begin.out, (int)strlen("ok 1 - five\n"));
  assert_int_equal(all.parts.items[1].begin.err, -1);
  end(&all);
}

TEST(without_segments_there_are_none) {
  run_fixture("flat");
  char *command = mem_printf("rm -f %s/*.seg", scratch);
  assert_int_equal(system(command), 0);
  free(command);
  Collected all = collect();
  assert_int_equal(all.parts.len, 0);
  end(&all);
}

// --- damaged files
// ------------------------------------------------------------

static char *the_records(Str *content) {
  Err err;
  char path[256], *command = mem_printf("ls %s/*.seg", scratch);
  FILE *list = popen(command, "r");
  assert_non_null(list);
  assert_non_null(fgets(path, sizeof path, list));
  pclose(list);
  free(command);
  path[strcspn(path, "\n")] = '\0';
  assert_int_equal(fs_read(path, 0, content, &err), 0);
  return mem_strdup(path);
}

// No entity out of range: the bits of a run are those of the unit's entities.
static void collect_variant(const char *path, const char *data, size_t size) {
  Err err;
  assert_int_equal(fs_write(path, data, size, &err), 0);
  Collected all = collect();
  for (size_t i = 0; i < all.parts.len; i++)
    for (int k = 0; k < ENTITY_KINDS; k++)
      assert_true(bitset_count(&all.parts.items[i].run.hits[k]) <=
                  unit()->nentities);
  release(&all);
}

TEST(records_cut_off_anywhere_lose_their_end_only) {
  Str file = {0};
  run_fixture("nested");
  char *path = the_records(&file);
  for (size_t n = 0; n < file.len; n += 3)
    collect_variant(path, file.data, n);
  Err err;
  assert_int_equal(fs_write(path, file.data, file.len - 8, &err), 0);
  Collected all = collect();
  assert_int_equal(all.parts.len, 4);
  free(path);
  str_release(&file);
  end(&all);
}

TEST(records_with_changed_bytes_break_nothing) {
  Str file = {0};
  unsigned seed = 7;
  run_fixture("jump");
  char *path = the_records(&file);
  char *bytes = mem_alloc(file.len);
  for (int i = 0; i < 3000; i++) {
    memcpy(bytes, file.data, file.len);
    for (int k = 0; k <= i % 4; k++) {
      seed = seed * 1103515245 + 12345;
      bytes[(seed >> 8) % file.len] = (char)(i % 3 ? seed >> 4 : 0xff);
    }
    collect_variant(path, bytes, file.len);
  }
  free(bytes);
  free(path);
  str_release(&file);
  Collected all = collect();
  end(&all);
}

// --- verdicts
// -----------------------------------------------------------------

// A test of three parts with this output; part i wrote what is between the i-th
// and the next bar.
typedef struct {
  Segments parts;
  Run whole;
  char *path;
} Case;

static Case begin_case(const char *output) {
  Case c = {0};
  Str text = {0};
  Err err;
  static const char *const names[] = {"a", "b", "c"};
  strcpy(scratch, "/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(scratch));
  for (size_t i = 0; i < 3; i++) {
    size_t n = strcspn(output, "|");
    Segment g = {.name = mem_strdup(names[i]),
                 .program = mem_strdup("p"),
                 .begin = {(int64_t)text.len, 0},
                 .done = {-1, -1},
                 .returned = true,
                 .last = i == 2};
    str_addn(&text, output, n);
    g.end = (OutputPlace){i == 2 ? -1 : (int64_t)text.len, i == 2 ? -1 : 0};
    array_push(&c.parts, g);
    output += n + (output[n] == '|');
  }
  c.path = mem_printf("%s/out", scratch);
  assert_int_equal(fs_write(c.path, str_text(&text), text.len, &err), 0);
  str_release(&text);
  c.whole.verdict = VERDICT_FAIL;
  return c;
}

// Judges it; `expected`: a letter for each part (p, f, s), "": undecided.
static void ends_as(Case *c, const char *kind, const char *expected) {
  Outcome outcome = {.end = strcmp(kind, "exit") ? END_SIGNAL : END_EXIT};
  Trial t = {.out = c->path, .merged = true, .root = "/", .outcome = &outcome};
  failure_add(&c->whole, kind, "", NULL, "it failed");
  assert_int_equal(segments_judge(&c->parts, &c->whole, &t, NULL),
                   *expected != 0);
  for (size_t i = 0; *expected && i < 3; i++) {
    Verdict v = c->parts.items[i].run.verdict;
    assert_int_equal(v == VERDICT_FAIL   ? 'f'
                     : v == VERDICT_SKIP ? 's'
                     : v == VERDICT_PASS ? 'p'
                                         : '?',
                     expected[i]);
    assert_int_equal(c->parts.items[i].run.failures.len, expected[i] == 'f');
  }
  run_release(&c->whole);
  segments_release(&c->parts);
  free(c->path);
  fs_remove_tree(scratch);
}

TEST(what_a_part_wrote_is_its_own) {
  Case c = begin_case("fine\n|x.c:3: check failed: y\n|fine\n");
  ends_as(&c, "exit", "pfp");
}

TEST(the_last_part_is_not_blamed_for_the_summary) {
  Case c = begin_case("fine\n|FAIL: y\n|fine\n3 tests, 1 failure\nFAIL\n");
  ends_as(&c, "exit", "pfp");
}

TEST(without_words_none_is_to_blame) {
  Case c = begin_case("one\n|two\n|three\n");
  ends_as(&c, "exit", "");
}

TEST(a_signal_without_a_place_is_no_parts_fault) {
  Case c = begin_case("one\n|FAIL: two\n|three\n");
  ends_as(&c, "signal", "");
}

TEST(a_process_that_dies_blames_the_part_it_was_in) {
  Case c = begin_case("one\n|two\n|three\n");
  c.parts.items[2].returned = false;
  c.parts.items[2].died = true;
  ends_as(&c, "signal", "ppf");
}

TEST(a_part_that_ends_the_process_is_to_blame_if_no_other_is) {
  Case c = begin_case("one\n|two\n|three\n");
  c.parts.items[2].returned = false;
  ends_as(&c, "exit", "ppf");
  // The last may have jumped out of itself, as one that is left out does.
  c = begin_case("one\n|FAIL: two\n|three\n");
  c.parts.items[2].returned = false;
  ends_as(&c, "exit", "pfp");
}

TEST(the_result_that_differs_is_the_failing_one) {
  Case c = begin_case("||");
  for (size_t i = 0; i < 3; i++) {
    c.parts.items[i].has_result = true;
    c.parts.items[i].result = i == 1 ? 0 : 5;
  }
  ends_as(&c, "exit", "pfp");
}

TEST(results_that_all_differ_blame_none) {
  Case c = begin_case("||");
  for (size_t i = 0; i < 3; i++) {
    c.parts.items[i].has_result = true;
    c.parts.items[i].result = (int64_t)i;
  }
  ends_as(&c, "exit", "");
}

TEST(what_the_framework_says_comes_first) {
  Case c = begin_case("FAIL|FAIL|FAIL");
  for (size_t i = 0; i < 3; i++) {
    c.parts.items[i].has_verdict = true;
    c.parts.items[i].result = (int64_t)i;
  }
  ends_as(&c, "exit", "pfs");
}

TEST(tests_that_the_framework_names_in_the_end_are_those_that_failed) {
  Case c = begin_case("||t.c:1:F:core:b:0: Assertion 'x' failed\n");
  c.parts.items[0].died = true; // as it was to
  ends_as(&c, "exit", "pfp");
}

TEST(a_name_that_several_have_blames_none_of_them) {
  Case c = begin_case("||[  FAILED  ] b\n");
  free(c.parts.items[0].name);
  c.parts.items[0].name = mem_strdup("b");
  c.parts.items[2].overlaps = true;
  ends_as(&c, "exit", "");
}

TEST(lines_of_tap_are_verdicts) {
  Case c = begin_case("ok 1\n|# not ok\nnot ok 2\n|ok 3 # skip\n");
  for (size_t i = 0; i < 3; i++)
    c.parts.items[i].tap = true;
  ends_as(&c, "exit", "pfs");
}

TEST(output_of_parts_that_ran_at_once_blames_none) {
  Case c = begin_case("one\n|FAIL: two\n|three\n");
  c.parts.items[1].overlaps = c.parts.items[2].overlaps = true;
  ends_as(&c, "exit", "");
}
