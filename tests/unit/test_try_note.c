// Notes of `culprit try`: reading and writing them, the ranking and the
// sentences made of them, and the diffs in them.
#include "test.h"

#include <math.h>

#include "closer_world.h"
#include "locate/try_note.h"
#include "report/tried.h"
#include "util/fs.h"

static uint64_t seed = 42;
static uint32_t below(uint32_t n) { return (uint32_t)draw(&seed, n); }

// --- notes ------------------------------------------------------------------

#define HEAD "try\t1\nsignature\ts\ntests\t4\t3\n"
#define TWO_CHANGES                                                            \
  "change\tf\t1\tcompare\t4\t4\t3\t3\t1\tx\n"                                  \
  "change\tf\t2\tcompare\t4\t4\t3\t3\t1\tx\n"
#define QUESTION "question\t./f\t1\n"
#define DIFF "--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-\ta %09\n+\tb\n"

static int parse_note(const char *text, TryNote *note, Arena *arena) {
  Err err = {0};
  char *copy = mem_strdup(text);
  int rc = note_parse(&try_note_kind, note, "note", copy, arena, &err);
  if (rc)
    assert_non_null(strstr(err.text, "remove it"));
  free(copy);
  return rc;
}

static void expect_same_change(const TriedChange *a, const TriedChange *b) {
  assert_string_equal(a->file, b->file);
  assert_int_equal(a->line, b->line);
  assert_string_equal(a->kind, b->kind);
  assert_string_equal(a->text, b->text);
  assert_int_equal(a->repaired, b->repaired);
  assert_int_equal(a->failing, b->failing);
  assert_int_equal(a->kept, b->kept);
  assert_int_equal(a->passing, b->passing);
  assert_int_equal(a->all_tests, b->all_tests);
  assert_int_equal(!a->diff, !b->diff);
  if (a->diff)
    assert_string_equal(a->diff, b->diff);
}

static void expect_same_question(const TriedQuestion *a,
                                 const TriedQuestion *b) {
  assert_int_equal(a->inputs, b->inputs);
  assert_int_equal(a->asked, b->asked);
  assert_string_equal(a->command, b->command);
  assert_int_equal(a->line, b->line);
  assert_string_equal(a->input, b->input);
  assert_int_equal(a->arguments.len, b->arguments.len);
  for (size_t i = 0; i < a->arguments.len; i++)
    assert_string_equal(a->arguments.items[i], b->arguments.items[i]);
  assert_int_equal(a->files.len, b->files.len);
  for (size_t i = 0; i < a->files.len; i++) {
    assert_string_equal(a->files.items[i].name, b->files.items[i].name);
    assert_string_equal(a->files.items[i].text, b->files.items[i].text);
  }
  assert_int_equal(a->answers.len, b->answers.len);
  for (size_t i = 0; i < a->answers.len; i++) {
    assert_int_equal(a->answers.items[i].change, b->answers.items[i].change);
    assert_false(answers_differ(&a->answers.items[i], &b->answers.items[i]));
  }
}

TEST(a_note_comes_back_as_it_was_written) {
  Arena arena = {0};
  Err err = {0};
  Str text = {0};
  char dir[] = "/tmp/culprit-test-XXXXXX";
  assert_non_null(mkdtemp(dir));
  TryNote note = {.head = {.session = 7, .signature = "a\tb\n%09"},
                  .failing = 27,
                  .passing = 181,
                  .runs = 4312,
                  .cut = true,
                  .stops = {300, 12, 0, 112, 3},
                  .question = {.inputs = 64,
                               .asked = 2,
                               .command = "./f -n '3\t4' < in",
                               .line = 3,
                               .input = "a\n%b\\x00"}},
          back;
  array_push(&note.head.sources, ((Source){"/src/f.c", 0xfedcba9876543210}));
  array_push(&note.lines, ((TriedLine){"/src/f.c", 11, 31, 0}));
  array_push(&note.changes,
             ((TriedChange){"/src/f.c", 11, "compare", "`<` to `<=`", DIFF, 27,
                            27, 181, 181, true, 0}));
  array_push(&note.changes, ((TriedChange){"/src/a b.c", 12, "call", "no\tcall",
                                           NULL, 1, 10, 0, 0, false, 0}));
  array_push(&note.question.arguments, "-n");
  array_push(&note.question.arguments, "3\t4");
  array_push(&note.question.files, ((TriedFile){"in\t1", "x\n"}));
  static const TriedAnswer answers[] = {
      {.change = 0, .output = "7\n", .status = 1},
      {.change = 1, .output = "", .status = -11},
      {.change = ANSWER_UNCHANGED, .output = "", .endless = true},
      {.change = ANSWER_REFERENCE, .output = "7\n", .status = 255}};
  for (size_t i = 0; i < 4; i++)
    array_push(&note.question.answers, answers[i]);
  assert_int_equal(note_write(&try_note_kind, dir, &note, &err), 0);
  char *path = mem_printf("%s/try/7.tsv", dir);
  assert_int_equal(fs_read(path, 0, &text, &err), 0);
  assert_int_equal(parse_note(str_text(&text), &back, &arena), 0);
  assert_string_equal(back.head.signature, note.head.signature);
  assert_true(back.head.sources.items[0].hash == 0xfedcba9876543210);
  assert_int_equal(back.failing, 27);
  assert_int_equal(back.passing, 181);
  assert_int_equal(back.runs, 4312);
  assert_true(back.cut);
  assert_memory_equal(&back.stops, &note.stops, sizeof back.stops);
  expect_same_question(&back.question, &note.question);
  assert_int_equal(back.lines.len, 1);
  assert_int_equal(back.lines.items[0].line, 11);
  assert_int_equal(back.lines.items[0].tried, 31);
  assert_int_equal(back.changes.len, 2);
  for (size_t i = 0; i < 2; i++)
    expect_same_change(&back.changes.items[i], &note.changes.items[i]);
  note_release(&try_note_kind, &note);
  note_release(&try_note_kind, &back);
  arena_release(&arena);
  str_release(&text);
  fs_remove_tree(dir);
  free(path);
}

TEST(what_is_no_note_is_refused) {
  static const char *const bad[] = {
      "",
      "try\t2\nsignature\ts\ntests\t4\t3\n",
      "try\t1\nsignature\ts\n",
      "try\t1\ntests\t4\t3\n",
      "try\t1\nsignature\ts\ntests\t0\t3\n",
      "near\t1\nsignature\ts\ncommand\tc\n",
      HEAD "tests\t4\n",
      HEAD "tests\t4\t-1\n",
      HEAD "runs\t4\n",
      HEAD "runs\t4\t2\n",
      HEAD "runs\t4\t0\nstopped\t1\t1\t1\t1\n",
      HEAD "runs\t4\t0\nstopped\t1\t1\t1\t1\t1\t1\n",
      HEAD "runs\t4\t0\nstopped\t1\t1\tx\t1\t1\n",
      HEAD "runs\t4\t0\nstopped\t2\t2\t1\t0\t0\n", // more than were made
      HEAD "runs\t4\t0\nstopped\t0\t0\t0\t5\t0\n",
      HEAD "runs\t4\t0\nstopped\t0\t0\t0\t0\t5\n",
      HEAD "line\tf\t1\n",
      HEAD "line\tf\tx\t1\n",
      HEAD "line\tf\t1\t0\n",
      HEAD "question\n",
      HEAD "question\t./f\t1\n", // without answers
      HEAD "question\t./f\t0\n" TWO_CHANGES "answer\t0\t0\tx\n"
           "answer\t1\t0\ty\n", // there is no line 0
      HEAD TWO_CHANGES "answer\t0\t0\tx\nanswer\t1\t0\ty\n", // to nothing
      HEAD TWO_CHANGES QUESTION "answer\t0\t0\tx\n",
      HEAD TWO_CHANGES QUESTION "answer\t0\t0\tx\nanswer\t0\t0\ty\n",
      HEAD TWO_CHANGES QUESTION "answer\t0\t0\tx\nanswer\t2\t0\ty\n",
      HEAD TWO_CHANGES QUESTION "answer\t0\t0\tx\nanswer\t1\t-\ty\n",
      HEAD TWO_CHANGES QUESTION "answer\t0\t0\tx\nanswer\t1\t256\ty\n",
      HEAD TWO_CHANGES QUESTION "answer\t0\t0\tx\nanswer\tunchanged\t0\ty\n",
      HEAD "diff\tx\n", // of no change
      HEAD "change\tf\t1\tcompare\t4\t4\t3\t3\t1\n",
      HEAD "change\tf\t1\tcompare\t4\t4\t3\t3\t1\tx\ty\n",
      HEAD "change\tf\tx\tcompare\t4\t4\t3\t3\t1\tx\n",
      HEAD "change\tf\t1\tcompare\tnan\t4\t3\t3\t1\tx\n",
      HEAD "change\tf\t1\tcompare\t4\t4\t3\t3\t7\tx\n",
      HEAD "change\tf\t1\tcompare\t0\t4\t3\t3\t0\tx\n", // repairs nothing
      HEAD "change\tf\t1\tcompare\t4\t3\t3\t3\t0\tx\n", // more than tried
      HEAD "change\tf\t1\tcompare\t3\t3\t2\t1\t0\tx\n",
      HEAD "change\tf\t1\tcompare\t5\t5\t3\t3\t0\tx\n", // more than there are
      HEAD "change\tf\t1\tcompare\t4\t4\t3\t4\t0\tx\n",
      HEAD "change\tf\t1\tcompare\t3\t3\t3\t3\t1\tx\n", // not all tests
      HEAD "change\tf\t1\tcompare\t4\t4\t3\t3\t1\tx\ndiff\ta\ndiff\tb\n",
      HEAD "else\n",
      "\x01\x02",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TryNote note;
    Arena arena = {0};
    if (!parse_note(bad[i], &note, &arena))
      fail_msg("taken: %s", bad[i]);
    note_release(&try_note_kind, &note);
    arena_release(&arena);
  }
}

static void tell_all(const TryNote *n) {
  Str text = {0};
  for (size_t i = 0; i < n->changes.len; i++) {
    const TriedChange *c = &n->changes.items[i];
    DiffEdits edits = {0};
    assert_true(isfinite(tried_score(c)));
    assert_true(tried_score(c) <= 1 && tried_score(c) >= -1);
    tried_tell(n, c, &text);
    if (c->diff)
      diff_edits(c->diff, &edits);
    diff_edits_release(&edits);
  }
  tried_ask(n, &text);
  tried_tell_stops(&n->stops, n->runs, &text);
  str_release(&text);
}

TEST(notes_with_wrong_bytes_are_read_without_harm) {
  static const char right[] =
      HEAD "runs\t43\t1\nstopped\t4\t1\t0\t7\t2\nsource\t/f.c\t1f0c\nline\t/"
           "f.c\t11\t31\n"
           "change\t/f.c\t11\tcompare\t4\t4\t3\t3\t1\t`<` to `<=`\n"
           "diff\t--- a/f.c%0A+++ b/f.c%0A@@ -9,2 +9,2 @@%0A a%0A-b%0A+c%0A\n"
           "change\t/f.c\t12\tskip\t4\t4\t3\t3\t1\tno call\n"
           "asked\t9\t2\nquestion\t./f -n < 3\t2\nargument\t-n\n"
           "stdin\tx%0A\nfile\ta\tb\nanswer\t0\t0\t7%0A\n"
           "answer\t1\t-11\t8\nanswer\tunchanged\tendless\t\n";
  size_t taken = 0;
  for (int round = 0; round < 20000; round++) {
    char text[sizeof right];
    memcpy(text, right, sizeof right);
    for (uint32_t n = below(4); n; n--)
      text[below(sizeof right - 1)] =
          below(2) ? (char)(1 + below(255)) : "\t\n%0123456789@-+,"[below(17)];
    text[below(4) ? sizeof right - 1 : below(sizeof right)] = '\0';
    TryNote note;
    Arena arena = {0};
    if (!parse_note(text, &note, &arena)) {
      taken++;
      tell_all(&note);
    }
    note_release(&try_note_kind, &note);
    arena_release(&arena);
  }
  assert_true(taken > 1000);
}

// --- scores and sentences ---------------------------------------------------

TEST(a_score_is_a_number_whatever_was_tried) {
  assert_true(tried_score(&(TriedChange){0}) == 0);
  assert_true(tried_score(&(TriedChange){.repaired = 1, .failing = 2}) == 0.5);
  assert_true(tried_score(&(TriedChange){.failing = 2, .passing = 4}) == -1);
  assert_true(tried_score(&(TriedChange){
                  .repaired = 2, .failing = 2, .kept = 3, .passing = 4}) ==
              0.75);
  assert_false(tried_survives(&(TriedChange){.all_tests = true}));
}

static void expect_told(const TryNote *n, TriedChange c, const char *want) {
  Str text = {0};
  tried_tell(n, &c, &text);
  assert_string_equal(str_text(&text), want);
  str_release(&text);
}

TEST(sentences_say_the_numbers_of_the_note) {
  TryNote n = {.failing = 27, .passing = 181};
  expect_told(
      &n,
      (TriedChange){.repaired = 27, .failing = 27, .kept = 181, .passing = 181},
      "27 of 27 failing tests pass, 181 of 181 passing tests still do");
  expect_told(
      &n, (TriedChange){.repaired = 1, .failing = 10, .kept = 1, .passing = 20},
      "1 of 10 failing tests tried passes, 1 of 20 passing tests tried still "
      "does (of 27 failing and 181 passing tests)");
  expect_told(
      &n, (TriedChange){.repaired = 10, .failing = 10},
      "10 of 10 failing tests tried pass, no passing test was tried (of "
      "27 failing and 181 passing tests)");
  TryNote one = {.failing = 1, .passing = 1};
  expect_told(
      &one, (TriedChange){.repaired = 1, .failing = 1, .kept = 0, .passing = 1},
      "1 of 1 failing test passes, 0 of 1 passing test still do");
  TryNote none = {.failing = 1};
  expect_told(&none, (TriedChange){.repaired = 1, .failing = 1},
              "1 of 1 failing test passes");
  Str text = {0};
  tried_tell_none(31, &text);
  assert_string_equal(str_text(&text),
                      "no small change here repairs a failing test (31 tried)");
  str_release(&text);
}

TEST(stopped_runs_are_told_in_one_sentence) {
  static const struct {
    TriedStops stops;
    uint64_t runs;
    const char *text;
  } cases[] = {
      {{0}, 9, ""},
      {{1, 0, 0, 0, 0}, 1, "1 of 1 run was stopped by the step limit"},
      {{0, 7, 0, 0, 0}, 900, "7 of 900 runs were stopped by the time limit"},
      {{300, 0, 12, 0, 0},
       5000,
       "312 of 5000 runs were stopped: 300 by the step limit, 12 for what they "
       "wrote or started"},
      {{0, 0, 0, 1, 0}, 9, "1 run was refused memory (--memory)"},
      {{2, 3, 4, 112, 6},
       5000,
       "9 of 5000 runs were stopped: 2 by the step limit, 3 by the time limit, "
       "4 for what they wrote or started; 112 runs were refused memory "
       "(--memory); 6 runs were refused what confinement forbids"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Str text = {0};
    bool told = tried_tell_stops(&cases[i].stops, cases[i].runs, &text);
    assert_int_equal(told, *cases[i].text != 0);
    assert_string_equal(str_text(&text), cases[i].text);
    str_release(&text);
  }
}

TEST(stops_of_runs_are_counted_and_told_apart_by_failure) {
  TriedStops all = {0};
  stops_count(&all, RUN_OUT_OF_STEPS | RUN_REFUSED_MEMORY);
  TriedStops before = all;
  stops_count(&all, RUN_OUT_OF_TIME);
  stops_count(&all, RUN_OUT_OF_LIMITS | RUN_REFUSED_CONFINE);
  stops_count(&all, 0);
  TriedStops since = stops_since(all, before), want = {0, 1, 1, 0, 1};
  assert_memory_equal(&since, &want, sizeof want);
  stops_add(&since, before);
  assert_memory_equal(&since, &all, sizeof all);
}

// A note with two changes that pass all tests, and their answers.
static void ask(TryNote *n, const TriedAnswer *answers, size_t len) {
  *n = (TryNote){
      .failing = 1,
      .passing = 1,
      .question = {.inputs = 9, .asked = 2, .command = "./f 3 4", .line = 1}};
  static const TriedChange changes[] = {{.file = "/src/f.c",
                                         .line = 3,
                                         .text = "`<` to `<=`",
                                         .repaired = 1,
                                         .failing = 1,
                                         .kept = 1,
                                         .passing = 1,
                                         .all_tests = true},
                                        {.file = "/src/g.c",
                                         .line = 9,
                                         .text = "`4` to `5`",
                                         .repaired = 1,
                                         .failing = 1,
                                         .kept = 1,
                                         .passing = 1,
                                         .all_tests = true}};
  for (size_t i = 0; i < 2; i++)
    array_push(&n->changes, changes[i]);
  for (size_t i = 0; i < len; i++)
    array_push(&n->question.answers, answers[i]);
}

static void expect_question(TryNote *n, const char *want) {
  Str text = {0};
  assert_true(tried_ask(n, &text));
  assert_string_equal(str_text(&text), want);
  str_release(&text);
  note_release(&try_note_kind, n);
}

TEST(a_question_says_what_each_change_prints) {
  static const TriedAnswer answers[] = {
      {.change = 0, .output = "7\n"},
      {.change = 1, .output = "8\nmore\n"},
      {.change = ANSWER_UNCHANGED, .output = ""}};
  TryNote n;
  ask(&n, answers, 3);
  expect_question(&n, "`./f 3 4` prints \"7\" with the change `<` to `<=` at "
                      "f.c:3, and prints \"8\" with the change `4` to `5` at "
                      "g.c:9. Unchanged, it prints nothing. Which is right?");
}

TEST(a_question_has_its_standard_input_line_and_status) {
  static const TriedAnswer answers[] = {
      {.change = 0, .output = "7\n"},
      {.change = 1, .output = "7\n", .status = 1},
      {.change = ANSWER_UNCHANGED, .output = "", .status = -11}};
  TryNote n;
  ask(&n, answers, 3);
  n.question.line = 4;
  n.question.input = "a\tb\n";
  expect_question(
      &n, "`./f 3 4` (standard input \"a\\tb\\n\") in line 4 of its output "
          "prints \"7\" and exits with status 0 with the change `<` to `<=` at "
          "f.c:3, and prints \"7\" and exits with status 1 with the change `4` "
          "to `5` at g.c:9. Unchanged, it dies of SIGSEGV. Which is right?");
}

TEST(the_reference_answers_the_question) {
  static const TriedAnswer answers[] = {
      {.change = 0, .output = "7"},
      {.change = 1, .output = "7\n"},
      {.change = ANSWER_UNCHANGED, .output = "", .endless = true},
      {.change = ANSWER_REFERENCE, .output = "7\n"}};
  TryNote n;
  ask(&n, answers, 4);
  expect_question(
      &n, "`./f 3 4` prints \"7\" with the change `<` to `<=` at f.c:3, and "
          "prints \"7\\n\" with the change `4` to `5` at g.c:9. Unchanged, it "
          "does not end. The reference prints \"7\\n\".");
}

TEST(long_outputs_are_cut_in_a_question) {
  static const char digits[] =
      "0123456789012345678901234567890123456789012345678901234567890123456789";
  const TriedAnswer answers[] = {{.change = 0, .output = digits},
                                 {.change = 1, .output = ""}};
  TryNote n;
  ask(&n, answers, 2);
  expect_question(
      &n, "`./f 3 4` prints "
          "\"012345678901234567890123456789012345678901234567890123456789...\" "
          "with the change `<` to `<=` at f.c:3, and prints nothing with the "
          "change `4` to `5` at g.c:9. Which is right?");
}

TEST(a_question_is_asked_about_alternatives_only) {
  TryNote n;
  Str text = {0};
  ask(&n, NULL, 0);
  n.question.command = NULL;
  expect_question(&n, "no input was found on which they differ (9 tried)");
  ask(&n, NULL, 0);
  n.question.command = NULL;
  array_push(&n.changes, n.changes.items[0]);
  expect_question(
      &n, "no input was found on which the first 2 of them differ (9 tried)");
  ask(&n, NULL, 0);
  n.changes.len = 1;
  assert_false(tried_ask(&n, &text));
  n.changes.len = 2;
  n.question = (TriedQuestion){.asked = 2};
  assert_false(tried_ask(&n, &text));
  str_release(&text);
  note_release(&try_note_kind, &n);
}

// --- the ranking ------------------------------------------------------------

// What `try` makes of a world and a note, whose lines are known already.
static void rank_tried(World *w, TryNote *n, EntityKind by, size_t explain,
                       Ranking *out) {
  SessionEvidence evidence;
  Localizer l;
  OpenLocalizer open;
  Err err;
  Notes notes = {.kind = &try_note_kind};
  LocateOptions o = {.by = by, .explain = explain};
  array_push(&notes.items, (void *)n);
  session_evidence_init(&evidence, NULL, &w->suite);
  for (size_t i = 0; i < w->suite.nruns; i++)
    tally_add(&evidence.tally, i, &w->hits[i]);
  assert_true(localizer_find(METHOD_TRY, &l));
  if (localizer_open(&open, &evidence, &l, &o, &err))
    fail_msg("%s", err.text);
  open.state = &notes;
  if (localizer_rank(&open, 0, out, &err))
    fail_msg("%s", err.text);
  localizer_close(&open);
  session_evidence_release(&evidence);
  array_release(&notes.items);
}

static TriedChange change(uint32_t statement, uint32_t repaired, uint32_t kept,
                          bool all) {
  return (TriedChange){.file = "/proj/fig1.c",
                       .line = statement + 1,
                       .kind = "compare",
                       .text = "`<` to `<=`",
                       .repaired = repaired,
                       .failing = 2,
                       .kept = kept,
                       .passing = 5,
                       .all_tests = all,
                       .statement = statement};
}

static void expect_place(const Ranking *r, size_t i, uint32_t line,
                         uint32_t best, uint32_t rank) {
  const Suspect *s = &r->suspects.items[i];
  if (s->entity != line - 1 || s->rank_best != best || s->rank != rank)
    fail_msg("place %zu: line %u, ranks %u to %u", i, s->entity + 1,
             s->rank_best, s->rank);
}

// Of Figure 1, cascade has lines 2 to 5 first, then 1 and 9, then 6 to 8.
TEST(lines_come_in_the_order_of_what_changes_repair) {
  World w;
  Ranking r;
  TryNote n = {.head = {.signature = "exit:A"}, .failing = 2, .passing = 5};
  world_figure1(&w);
  array_push(&n.changes, change(0, 2, 4, false)); // line 1: 0.8
  array_push(&n.changes, change(2, 2, 5, false)); // line 3: 1, sampled
  array_push(&n.changes, change(3, 2, 2, false)); // line 4: 0.4
  array_push(&n.changes, change(7, 2, 4, false)); // line 8: 0.8
  array_push(&n.changes, change(8, 1, 1, false)); // line 9: worse,
  array_push(&n.changes, change(8, 2, 5, true));  // but one passes all
  array_push(&n.lines, ((TriedLine){"/proj/fig1.c", 6, 31, 5}));
  rank_tried(&w, &n, ENTITY_STATEMENT, 9, &r);
  expect_place(&r, 0, 9, 1, 1);
  expect_place(&r, 1, 3, 2, 2);
  expect_place(&r, 2, 1, 3, 3); // cascade has it before line 8
  expect_place(&r, 3, 8, 4, 4);
  expect_place(&r, 4, 2, 5, 7); // untouched: cascade, with its ties
  expect_place(&r, 5, 4, 5, 7); // breaks too much: not raised
  expect_place(&r, 6, 5, 5, 7);
  expect_place(&r, 7, 6, 8, 9);
  expect_place(&r, 8, 7, 8, 9);
  assert_true(r.suspects.items[0].score == 2);
  assert_true(r.suspects.items[1].score == 1);
  assert_true(r.suspects.items[4].score <= 0);
  assert_string_equal(
      r.suspects.items[0].evidence.items[0].text,
      "`<` to `<=` here: 2 of 2 failing tests pass, 5 of 5 passing tests still "
      "do");
  assert_string_equal(r.suspects.items[7].evidence.items[0].text,
                      "no small change here repairs a failing test (31 tried)");
  assert_int_equal(r.suspects.items[5].evidence.len, 1);
  assert_int_equal(r.suspects.items[8].evidence.len, 0); // untried
  ranking_release(&r);
  note_release(&try_note_kind, &n);
  world_release(&w);
}

TEST(equal_changes_leave_ties_as_they_are) {
  World w;
  Ranking r;
  TryNote n = {.head = {.signature = "exit:A"}, .failing = 2, .passing = 5};
  world_figure1(&w);
  array_push(&n.changes, change(1, 2, 5, true));
  array_push(&n.changes, change(4, 2, 5, true));
  rank_tried(&w, &n, ENTITY_STATEMENT, 9, &r);
  expect_place(&r, 0, 2, 1, 2);
  expect_place(&r, 1, 5, 1, 2);
  expect_place(&r, 2, 3, 3, 4);
  assert_int_equal(r.notes.len, 1);
  assert_string_equal(r.notes.items[0].kind, EVIDENCE_ALTERNATIVES);
  assert_string_equal(r.notes.items[0].text,
                      "2 changes pass all 7 tests; which of them is right, if "
                      "any, the tests cannot tell");
  ranking_release(&r);
  note_release(&try_note_kind, &n);
  world_release(&w);
}

TEST(alternatives_on_a_line_are_told_or_counted) {
  World w;
  Ranking r;
  TryNote n = {.head = {.signature = "exit:A"}, .failing = 2, .passing = 5};
  world_figure1(&w);
  for (int i = 0; i < 4; i++)
    array_push(&n.changes, change(1, 2, 5, true));
  array_push(&n.changes, change(1, 1, 5, true));
  rank_tried(&w, &n, ENTITY_STATEMENT, 9, &r);
  const Suspect *s = &r.suspects.items[0];
  assert_int_equal(s->evidence.len, 4);
  for (int i = 0; i < 3; i++)
    assert_non_null(strstr(s->evidence.items[i].text, "2 of 2 failing tests"));
  assert_string_equal(s->evidence.items[3].text,
                      "1 further change here passes all tests");
  ranking_release(&r);
  note_release(&try_note_kind, &n);
  world_release(&w);
}

TEST(hints_begin_with_one_of_each_line_in_the_order_of_the_ranking) {
  World w;
  Ranking r;
  ChangeList hints = {0};
  TryNote n = {.head = {.signature = "exit:A"}, .failing = 2, .passing = 5};
  world_figure1(&w);
  array_push(&n.changes, change(7, 2, 5, true)); // line 8 is ranked last
  array_push(&n.changes, change(0, 1, 5, true));
  array_push(&n.changes, change(1, 2, 5, true));
  array_push(&n.changes, change(1, 2, 5, true));
  rank_tried(&w, &n, ENTITY_STATEMENT, 9, &r);
  tried_survivor_list(&n, &r, &hints);
  assert_int_equal(hints.len, 3);
  assert_ptr_equal(hints.items[0], &n.changes.items[2]);
  assert_ptr_equal(hints.items[1], &n.changes.items[0]);
  assert_ptr_equal(hints.items[2], &n.changes.items[3]);
  array_release(&hints);
  ranking_release(&r);
  note_release(&try_note_kind, &n);
  world_release(&w);
}

TEST(a_function_takes_the_best_change_of_its_lines) {
  World w;
  Ranking r;
  TryNote n = {.head = {.signature = "exit:A"}, .failing = 2, .passing = 5};
  world_figure1(&w);
  array_push(&n.changes, change(1, 1, 5, false));
  rank_tried(&w, &n, ENTITY_FUNCTION, 9, &r);
  assert_int_equal(r.suspects.len, 1);
  assert_string_equal(r.suspects.items[0].evidence.items[0].text,
                      "`<` to `<=` at line 2: 1 of 2 failing tests passes, 5 "
                      "of 5 passing tests "
                      "still do");
  ranking_release(&r);
  note_release(&try_note_kind, &n);
  world_release(&w);
}

TEST(another_failure_keeps_its_order_and_says_so) {
  World w;
  Ranking r, plain;
  TryNote n = {.head = {.signature = "exit:B"}, .failing = 2, .passing = 5};
  world_figure1(&w);
  array_push(&n.changes, change(8, 2, 5, true));
  rank_tried(&w, &n, ENTITY_STATEMENT, 9, &r);
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &plain);
  assert_int_equal(r.suspects.len, plain.suspects.len);
  for (size_t i = 0; i < r.suspects.len; i++) {
    assert_int_equal(r.suspects.items[i].entity,
                     plain.suspects.items[i].entity);
    assert_int_equal(r.suspects.items[i].rank, plain.suspects.items[i].rank);
  }
  assert_int_equal(r.notes.len, 1);
  assert_non_null(strstr(r.notes.items[0].text, "no experiments were made"));
  ranking_release(&r);
  ranking_release(&plain);
  note_release(&try_note_kind, &n);
  world_release(&w);
}

static double raise_of(const TryNote *n, uint32_t statement) {
  const TriedChange *c = tried_best(n, statement);
  bool made_up =
      c && (!strcmp(c->kind, "clause") || !strcmp(c->kind, "insertion"));
  double worth = !c                   ? 0
                 : !tried_survives(c) ? tried_score(c)
                 : made_up            ? 1.5
                                      : 2;
  return worth < 0.6 ? 0 : worth;
}

static const Suspect *find(const Ranking *r, uint32_t entity) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (r->suspects.items[i].entity == entity)
      return &r->suspects.items[i];
  return NULL;
}

// Whatever the note: one line comes before another if its changes are better, or
// as good and cascade has it before.
static void expect_lexicographic(const TryNote *n, const Ranking *r,
                                 const Ranking *plain) {
  assert_int_equal(r->suspects.len, plain->suspects.len);
  for (size_t i = 0; i < r->suspects.len; i++) {
    const Suspect *s = &r->suspects.items[i], *before = find(plain, s->entity);
    uint32_t better = 0, same = 0;
    assert_true(isfinite(s->score));
    assert_true(!i || s->score <= s[-1].score);
    for (size_t k = 0; k < r->suspects.len; k++) {
      const Suspect *o = &plain->suspects.items[k];
      double d = raise_of(n, o->entity) - raise_of(n, s->entity);
      better += d > 0 || (d == 0 && o->rank_best < before->rank_best);
      same += d == 0 && o->rank_best == before->rank_best;
    }
    assert_int_equal(s->rank_best, better + 1);
    assert_int_equal(s->rank, better + same);
  }
}

TEST(any_note_orders_any_world_lexicographically) {
  for (int round = 0; round < 300; round++) {
    World w;
    Ranking r, plain;
    random_world(&w, &seed, round % 2);
    TryNote n = {.head = {.signature = "exit:A"}, .failing = 2, .passing = 5};
    for (uint32_t k = below(9); k; k--) {
      uint32_t repaired = 1 + below(2), kept = below(6);
      bool all = below(2);
      array_push(&n.changes, change(below(10), repaired, kept, all));
    }
    rank_tried(&w, &n, ENTITY_STATEMENT, 3, &r);
    rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &plain);
    expect_lexicographic(&n, &r, &plain);
    ranking_release(&r);
    ranking_release(&plain);
    note_release(&try_note_kind, &n);
    world_release(&w);
  }
}

// --- diffs ------------------------------------------------------------------

// Makes a diff of random edits of the lines "1", "2", ...; `context` lines are
// shown around. Each edit is a hunk of its own, or they share one.
typedef struct {
  Str old, new, diff;
} RandomDiff;

static void random_diff(RandomDiff *d) {
  enum { LINES = 30 };
  uint32_t n = 5 + below(LINES - 5), made = 0;
  Str body = {0};
  str_add(&d->diff, "--- a/f.c\n+++ b/f.c\n");
  for (uint32_t i = 1; i <= n; i++) {
    bool drop = !below(4), add = !below(5);
    if (add) {
      static const char *const texts[] = {"x", "", "++ y", "-- z", "@@ -1 +1"};
      const char *text = texts[below(5)];
      str_addf(&d->new, "%s\n", text);
      str_addf(&body, "+%s\n", text);
      made++;
    }
    str_addf(&d->old, "%s%u\n", i % 7 ? "" : "-- ", i);
    str_addf(&body, "%c%s%u\n", drop ? '-' : ' ', i % 7 ? "" : "-- ", i);
    if (!drop) {
      str_addf(&d->new, "%s%u\n", i % 7 ? "" : "-- ", i);
      made++;
    }
  }
  str_addf(&d->diff, "@@ -1,%u +1,%u @@ f()\n%s", n, made, str_text(&body));
  str_release(&body);
}

static void apply(const char *old, const DiffEdits *edits, Str *out) {
  uint32_t line = 1;
  for (size_t i = 0; i <= edits->len; i++) {
    const DiffEdit *e = i < edits->len ? &edits->items[i] : NULL;
    for (; *old && (!e || line < e->first); line++) {
      size_t n = strcspn(old, "\n") + 1;
      str_addn(out, old, n);
      old += n;
    }
    if (!e)
      return;
    str_add(out, str_text(&e->inserted));
    for (uint32_t k = 0; k < e->deleted; k++, line++) {
      size_t n = strcspn(old, "\n");
      if (k + 1 == e->deleted) {
        assert_int_equal(e->last_length, n);
        assert_memory_equal(e->last, old, n);
      }
      old += n + 1;
    }
  }
}

TEST(the_edits_of_a_diff_make_the_new_file_of_the_old_one) {
  for (int round = 0; round < 500; round++) {
    RandomDiff d = {0};
    DiffEdits edits = {0};
    Str made = {0};
    random_diff(&d);
    bool any = strcmp(str_text(&d.old), str_text(&d.new)) != 0;
    if (diff_edits(str_text(&d.diff), &edits)) {
      apply(str_text(&d.old), &edits, &made);
      assert_string_equal(str_text(&made), str_text(&d.new));
    } else {
      assert_false(any);
    }
    diff_edits_release(&edits);
    str_release(&made);
    str_release(&d.old);
    str_release(&d.new);
    str_release(&d.diff);
  }
}

static bool has_edits(const char *diff, size_t n, DiffEdits *out) {
  return diff_edits(diff, out) && out->len == n;
}

TEST(hunks_say_where_their_edits_are) {
  DiffEdits e = {0};
  assert_true(has_edits("--- a\n+++ b\n@@ -9,2 +9,2 @@\n a\n-b\n+c\n"
                        "@@ -20,0 +21 @@\n+new\n@@ -30 +32,0 @@\n-gone\n",
                        3, &e));
  assert_int_equal(e.items[0].first, 10);
  assert_int_equal(e.items[0].deleted, 1);
  assert_string_equal(e.items[0].inserted.data, "c\n");
  assert_int_equal(e.items[1].first, 21); // behind line 20
  assert_int_equal(e.items[1].deleted, 0);
  assert_int_equal(e.items[2].first, 30);
  assert_int_equal(e.items[2].inserted.len, 0);
  diff_edits_release(&e);
  assert_true(
      has_edits("--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of "
                "file\n+y\n\\ No newline at end of file\n",
                1, &e));
  diff_edits_release(&e);
}

TEST(what_is_no_diff_of_one_file_has_no_edits) {
  static const char *const bad[] = {
      "",
      "no diff",
      "--- a\n+++ b\n",
      "@@ -1 +1 @@\n-x\n+y\n",
      "--- a\n+++ b\n@@ -1,2 +1 @@\n-x\n+y\n", // cut off
      "--- a\n+++ b\n@@ -x +1 @@\n-x\n+y\n",
      "--- a\n+++ b\n@@ -99999999999 +1 @@\n-x\n+y\n",
      "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n--- c\n+++ d\n@@ -1 +1 @@\n-x\n+y\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    DiffEdits e = {0};
    if (diff_edits(bad[i], &e))
      fail_msg("taken: %s", bad[i]);
    diff_edits_release(&e);
  }
}
