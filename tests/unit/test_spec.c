// Unit tests of the bounded encoding's parts: maps that never change, values as
// lists, memory, kinds of pointers, and the rating of statements.
#include "test.h"

#include <stdlib.h>

#include "locate/spec_note.h"
#include "solve/solver.h"
#include "spec/encode/memory.h"
#include "spec/encode/pmap.h"
#include "spec/encode/pointees.h"
#include "spec/encode/value.h"
#include "spec/score.h"
#include "util/fs.h"

// --- maps -------------------------------------------------------------------

TEST(an_old_map_stays_as_it_was_when_something_is_put_into_it) {
  Arena arena = {0};
  uint32_t v;
  Pmap a = pmap_put(&arena, NULL, 7, 1);
  Pmap b = pmap_put(&arena, pmap_put(&arena, a, 9, 2), 7, 3);
  assert_true(pmap_get(a, 7, &v) && v == 1);
  assert_false(pmap_get(a, 9, &v));
  assert_true(pmap_get(b, 7, &v) && v == 3);
  arena_release(&arena);
}

TEST(a_map_holds_what_an_array_would_and_tells_what_differs) {
  enum { N = 500 };
  Arena arena = {0};
  Pmap m = NULL, before = NULL;
  uint32_t want[64] = {0}, old[64] = {0};
  srand(1);
  for (int i = 0; i < N; i++) {
    uint32_t k = (uint32_t)rand() % 64, v;
    if (i == N / 2) {
      before = m;
      memcpy(old, want, sizeof old);
    }
    want[k] = (uint32_t)rand() % 3 + 1;
    m = pmap_put(&arena, m, (uint64_t)k << (k % 3 * 20), want[k]);
    assert_true(pmap_get(m, (uint64_t)k << (k % 3 * 20), &v) && v == want[k]);
  }
  PmapKeys keys = {0};
  pmap_diff(before, m, &keys);
  size_t differ = 0;
  for (int k = 0; k < 64; k++)
    differ += want[k] != old[k];
  assert_int_equal(keys.len, differ);
  for (size_t i = 1; i < keys.len; i++)
    assert_true(keys.items[i - 1] < keys.items[i]);
  array_release(&keys);
  arena_release(&arena);
}

// --- values -----------------------------------------------------------------

typedef struct {
  ExprPool *pool;
  Values values;
  Expr c; // a free condition, true in the run
} Kit;

static void kit_open(Kit *k) {
  k->pool = expr_pool_new();
  values_init(&k->values, k->pool);
  k->c = expr_input(k->pool, expr_new_var(k->pool, "c", expr_bv(1), 1));
}

static void kit_close(Kit *k) {
  values_release(&k->values);
  expr_pool_free(k->pool);
}

TEST(a_choice_of_two_pointers_stays_a_list_and_compares_by_its_conditions) {
  Kit k;
  kit_open(&k);
  Values *v = &k.values;
  Val p = val_ite(v, k.c, val_const(v, 64, 0x5000), val_const(v, 64, 0));
  assert_int_equal(val_node(v, p)->n, 2);
  assert_int_equal(val_in_run(v, p), 0x5000);
  const IrInst eq = {.op = IR_EQ, .width = 64};
  Val is_null = val_apply(v, &eq, p, val_const(v, 64, 0), 0);
  assert_int_equal(val_expr(v, is_null), expr_not(k.pool, k.c));
  const IrInst add = {.op = IR_ADD, .width = 64};
  Val field = val_apply(v, &add, p, val_const(v, 64, 8), 0);
  assert_int_equal(val_node(v, field)->n, 2);
  assert_int_equal(val_in_run(v, field), 0x5008);
  kit_close(&k);
}

TEST(any_of_some_values_is_each_of_them_for_some_input_and_nothing_else) {
  Kit k;
  kit_open(&k);
  const uint64_t all[3] = {0, 0x10, 0x20};
  Val p = val_any_of(&k.values, all, 3, 1);
  assert_int_equal(val_in_run(&k.values, p), 0x10);
  Solver *s = solver_new(k.pool, (SolverLimits){0});
  Model m = {0};
  Expr e = val_expr(&k.values, p);
  for (uint64_t x = 0; x <= 0x30; x += 0x10) {
    Constraint is = {expr_eq(k.pool, e, expr_const(k.pool, 64, x)), true};
    SolverResult r = expr_is_const(k.pool, is.cond)
                         ? SOLVER_UNSAT
                         : solver_query(s, 0, &is, 1, &m);
    assert_int_equal(r, x < 0x30 ? SOLVER_SAT : SOLVER_UNSAT);
  }
  model_release(&m);
  solver_free(s);
  kit_close(&k);
}

// --- memory -----------------------------------------------------------------

TEST(variables_are_found_in_whatever_order_their_calls_begin) {
  Kit k;
  kit_open(&k);
  Memory m;
  memory_init(&m, &k.values, NULL, NULL);
  uint64_t late = memory_new_variable(&m, 9, 4, 1);
  uint64_t early = memory_new_variable(&m, 2, 4, 2);
  uint64_t second = memory_new_variable(&m, 9, 8, 3);
  assert_int_equal(memory_region(&m, late)->maker, 1);
  assert_int_equal(memory_region(&m, early + 3)->maker, 2);
  assert_int_equal(memory_region(&m, second + 7)->maker, 3);
  assert_null(memory_region(&m, second + 8));
  assert_null(memory_region(&m, late + 4));
  assert_true(memory_frame(late) == 9 && memory_frame(early) == 2);
  memory_begin(&m);
  assert_null(memory_region(&m, late));
  memory_release(&m);
  kit_close(&k);
}

TEST(what_malloc_gives_lies_in_the_same_place_in_every_encoding) {
  Kit k;
  kit_open(&k);
  Memory a, b;
  memory_init(&a, &k.values, NULL, NULL);
  memory_init(&b, &k.values, NULL, NULL);
  uint64_t first = memory_new_heap(&a, 16, false, 71);
  uint64_t other = memory_new_heap(&a, 16, false, 72);
  memory_take_heap(&b, &a);
  assert_int_equal(memory_new_heap(&b, 16, false, 72), other);
  assert_int_equal(memory_new_heap(&b, 16, false, 71), first);
  uint64_t fresh = memory_new_heap(&b, 16, false, 73);
  assert_true(fresh != first && fresh != other);
  memory_release(&a);
  memory_release(&b);
  kit_close(&k);
}

static bool read_bytes(void *context, uint64_t at, void *out, size_t n) {
  const unsigned char *bytes = context;
  if (at < 0x4000 || at + n > 0x4010)
    return false;
  memcpy(out, bytes + (at - 0x4000), n);
  return true;
}

static uint64_t loaded(Memory *m, Pmap *s, uint64_t at, unsigned width) {
  uint64_t value = ~0ull;
  Val v = memory_load(m, s, at, width, false);
  assert_true(v && val_is_const(m->values, v, &value));
  return value;
}

TEST(cells_of_other_sizes_at_the_same_place_see_each_others_bytes) {
  unsigned char process[16] = {1, 2, 3, 4, 5, 6, 7, 8};
  Kit k;
  Memory m;
  kit_open(&k);
  memory_init(&m, &k.values, read_bytes, process);
  Pmap s = NULL;
  assert_int_equal(loaded(&m, &s, 0x4000, 32), 0x04030201);
  s = memory_store(&m, s, 0x4000, val_const(&k.values, 32, 0xaabbccdd));
  assert_int_equal(loaded(&m, &s, 0x4000, 64), 0x08070605aabbccdd);
  s = memory_store(&m, s, 0x4001, val_const(&k.values, 8, 0x11));
  assert_int_equal(loaded(&m, &s, 0x4000, 32), 0xaabb11dd);
  s = memory_store(&m, s, 0x4000, val_const(&k.values, 64, 0));
  assert_int_equal(loaded(&m, &s, 0x4001, 8), 0);
  assert_int_equal(memory_load(&m, &s, 0x9000, 32, false), 0);
  memory_release(&m);
  kit_close(&k);
}

TEST(a_copied_object_has_the_cells_of_the_old_one) {
  unsigned char process[16] = {0};
  Kit k;
  Memory m;
  kit_open(&k);
  memory_init(&m, &k.values, read_bytes, process);
  uint64_t a = memory_new_heap(&m, 16, false, 1);
  uint64_t b = memory_new_heap(&m, 16, true, 2);
  assert_int_equal(a, memory_new_heap(&m, 16, false, 1)); // the same maker
  Pmap s = memory_store(&m, NULL, a, val_const(&k.values, 64, 77));
  s = memory_store(&m, s, a + 8, val_const(&k.values, 32, 5));
  assert_int_equal(loaded(&m, &s, b, 64), 0); // calloc
  s = memory_copy(&m, s, b, a, 12);
  assert_int_equal(loaded(&m, &s, b, 64), 77);
  assert_int_equal(loaded(&m, &s, b + 8, 32), 5);
  memory_release(&m);
  kit_close(&k);
}

// --- pointers ---------------------------------------------------------------

TEST(pointers_point_to_objects_of_the_kind_they_were_seen_with) {
  Pointees p = {0};
  pointees_note(&p, 1, 0x1000, 0x5000); // a list's header: a node
  pointees_note(&p, 2, 0x5000, 0x6000); // a node's next: a node
  pointees_note(&p, 2, 0x6000, 0);
  pointees_note(&p, 3, 0x2000, 0x1000); // the list
  pointees_note(&p, 1, 0x1000, 0x6000);
  pointees_learn(&p);
  Targets t = {0};
  pointees_of(&p, 99, 0x6000, 0, &t); // the last node's next, by its field
  assert_int_equal(t.len, 3);
  assert_int_equal(t.items[1], 0x5000);
  assert_int_equal(t.items[2], 0x6000);
  t.len = 0;
  pointees_of(&p, 3, 0x2000, 0x1000, &t);
  assert_int_equal(t.len, 2);
  array_release(&t);
  pointees_release(&p);
}

TEST(pointers_to_links_point_to_links_nobody_took_the_address_of) {
  Pointees p = {0};
  pointees_note(&p, 1, 0x1000, 0x5000);     // the root: a node
  pointees_note(&p, 2, 0x5008, 0);          // its left
  pointees_note(&p, 3, 0x5010, 0);          // its right
  pointees_note(&p, 4, 1ull << 63, 0x1000); // a variable: &root
  pointees_note(&p, 4, 1ull << 63, 0x5008); // then &node->left
  pointees_note_field(&p, 0x5008);
  pointees_learn(&p);
  Targets t = {0};
  pointees_of(&p, 4, 1ull << 63, 0x5008, &t);
  bool right = false;
  for (size_t i = 0; i < t.len; i++)
    right |= t.items[i] == 0x5010;
  assert_true(right);
  assert_int_equal(t.len, 4); // null, root, left, right
  array_release(&t);
  pointees_release(&p);
}

// Whether a pointer to the root (0x5000, with fields at 0 and 8) may point to a
// node that is nowhere linked in (0x9000).
static bool may_point_to_fresh(uint64_t second_offset) {
  Pointees p = {0};
  pointees_note(&p, 1, 0x4000, 0x5000);     // the tree's root
  pointees_note(&p, 2, 0x5000, 0x6000);     // root->left
  pointees_note(&p, 3, 0x5008, 0x5000);     // root->parent
  pointees_note(&p, 5, 0x6008, 0x5000);     // left->parent
  pointees_note(&p, 4, 1ull << 63, 0x9000); // the fresh one
  pointees_note(&p, 6, 0x9000, 0);          // fresh->left
  pointees_note(&p, 7, 0x9000 + second_offset, 0x5000);
  pointees_learn(&p);
  Targets t = {0};
  bool found = false;
  pointees_of(&p, 1, 0x4000, 0x5000, &t);
  for (size_t i = 0; i < t.len; i++)
    found |= t.items[i] == 0x9000;
  array_release(&t);
  pointees_release(&p);
  return found;
}

TEST(a_node_that_is_not_linked_in_yet_is_known_by_how_it_is_built) {
  assert_true(may_point_to_fresh(8));
  assert_false(may_point_to_fresh(24));
}

// --- rating -----------------------------------------------------------------

static Bitset set(const char *members) {
  Bitset b = {0};
  for (; *members; members++)
    bitset_add(&b, (uint32_t)(*members - '0'));
  return b;
}

static TestRelation add(Score *s, const char *hits, const char *broken) {
  Bitset h = set(hits), b = set(broken);
  TestRelation r = score_add(s, &(ScoreTest){&h, &b});
  bitset_release(&h);
  bitset_release(&b);
  return r;
}

static void score_of(Score *s, const char *suspects, const char *broken,
                     bool bonus) {
  Bitset core = set(suspects), b = set(broken);
  score_open(s, 10, &core, &b, bonus);
  bitset_release(&core);
  bitset_release(&b);
}

TEST(a_suspect_that_only_failing_tests_reach_has_susp_two_and_rank_one) {
  Score s;
  score_of(&s, "12", "0", true);
  assert_int_equal(add(&s, "123", "0"), TEST_SAME);
  assert_int_equal(s.items.items[0].rank, 2); // 1 and 2 are alike
  assert_int_equal(add(&s, "23", ""), TEST_PASSES);
  assert_int_equal(s.items.items[0].line, 1);
  assert_int_equal(s.items.items[0].rank, 1);
  assert_true(s.items.items[0].susp == 2 && s.items.items[1].susp == 1.5);
  score_close(&s);
}

TEST(a_test_that_breaks_other_promises_only_is_set_aside) {
  Score s;
  score_of(&s, "1", "0", true);
  add(&s, "12", "0");
  assert_int_equal(add(&s, "3", "1"), TEST_APART);
  assert_int_equal(s.failing, 1);
  assert_int_equal(add(&s, "23", "01"), TEST_PARTLY);
  assert_int_equal(s.failing, 2);
  score_close(&s);
}

// Two suspects; a failing test that does not reach the second.
static void miss_the_second(Score *s, const char *broken) {
  score_of(s, "12", "0", true);
  add(s, "12", "0");
  add(s, "12", "");
  add(s, "1", "");
  add(s, "1", broken);
}

TEST(a_suspect_that_the_same_failure_can_do_without_loses_its_bonus) {
  Score s;
  miss_the_second(&s, "0");
  assert_true(bitset_has(&s.suspects, 1));
  assert_false(bitset_has(&s.suspects, 2));
  score_close(&s);
}

TEST(a_failure_that_breaks_more_promises_takes_no_bonus_away) {
  Score s;
  miss_the_second(&s, "01");
  assert_true(bitset_has(&s.suspects, 2));
  score_close(&s);
}

TEST(suspects_that_could_not_alone_be_wrong_have_half_of_the_bonus) {
  Score s;
  score_of(&s, "12", "0", true);
  add(&s, "123", "0");
  Bitset alone = set("2");
  score_correct(&s, &alone);
  assert_int_equal(s.items.items[0].line, 2);
  assert_int_equal(s.items.items[0].rank, 1);
  assert_int_equal(s.items.items[1].line, 1);
  assert_true(s.items.items[0].susp == 2 && s.items.items[1].susp == 1.5);
  assert_true(bitset_has(&s.suspects, 1)); // tests are still chosen by it
  Bitset none = {0};
  score_correct(&s, &none);
  assert_true(s.items.items[0].susp == 2 && s.items.items[1].susp == 2);
  bitset_release(&alone);
  score_close(&s);
}

TEST(a_line_that_could_alone_be_wrong_has_the_bonus_outside_of_the_core) {
  Score s;
  Bitset alone = set("3");
  score_of(&s, "12", "0", true);
  add(&s, "123", "0");
  score_correct(&s, &alone);
  assert_int_equal(s.items.items[0].line, 3);
  assert_true(s.items.items[0].susp == 2 && s.items.items[1].susp == 1.5);
  assert_false(s.items.items[0].suspect);
  bitset_release(&alone);
  score_close(&s);
}

TEST(of_lines_that_are_alike_the_one_executed_last_comes_first) {
  Score s;
  const uint32_t order[10] = {[1] = 4, [2] = 9, [3] = 5};
  score_of(&s, "123", "0", true);
  add(&s, "123", "0");
  assert_int_equal(s.items.items[0].rank, 3); // all alike
  score_order(&s, order);
  assert_int_equal(s.items.items[0].line, 2);
  assert_int_equal(s.items.items[0].rank, 1);
  assert_int_equal(s.items.items[1].line, 3);
  add(&s, "23", ""); // the rating comes before it
  assert_int_equal(s.items.items[0].line, 1);
  score_close(&s);
}

TEST(without_the_bonus_the_score_is_tarantulas) {
  Score s;
  score_of(&s, "1", "0", false);
  add(&s, "12", "0");
  add(&s, "1", "");
  assert_int_equal(s.items.items[0].line, 2);
  assert_true(s.items.items[0].susp == 1 && s.items.items[1].susp == 0.5);
  score_close(&s);
}

// --- notes ------------------------------------------------------------------

static int parse_note(const char *text, SpecNote *note, Arena *arena) {
  Err err = {0};
  char *copy = mem_strdup(text);
  int rc = note_parse(&spec_note_kind, note, "note", copy, arena, &err);
  if (rc)
    assert_non_null(strstr(err.text, "remove it"));
  free(copy);
  return rc;
}

TEST(a_note_of_spec_comes_back_as_it_was_written) {
  char dir[] = "/tmp/culprit-test-XXXXXX";
  assert_non_null(mkdtemp(dir));
  Arena arena = {0};
  Err err = {0};
  Str text = {0};
  SpecNote note = {.head = {.session = 7, .signature = "f: a\tb\n%09"}}, back;
  array_push(&note.violated, "a\tb");
  array_push(&note.head.sources, ((Source){"/src/f.c", 0xfedcba9876543210}));
  array_push(&note.core, ((SpecCore){"a\tb", "/src/f.c", 5}));
  array_push(&note.lines,
             ((SpecLine){"/src/f.c", 5, 1 + 2.0 / 3, true, false, 1}));
  array_push(&note.lines, ((SpecLine){"/src/f.c", 8, 0.5, false, true, 2}));
  assert_int_equal(note_write(&spec_note_kind, dir, &note, &err), 0);
  char *path = mem_printf("%s/spec/7.tsv", dir);
  assert_int_equal(fs_read(path, 0, &text, &err), 0);
  assert_int_equal(parse_note(str_text(&text), &back, &arena), 0);
  assert_string_equal(back.head.signature, note.head.signature);
  assert_string_equal(back.violated.items[0], "a\tb");
  assert_true(back.head.sources.items[0].hash == 0xfedcba9876543210);
  assert_string_equal(back.core.items[0].clause, "a\tb");
  assert_int_equal(back.core.items[0].line, 5);
  assert_int_equal(back.lines.len, 2);
  assert_true(back.lines.items[0].susp == 1 + 2.0 / 3);
  assert_true(back.lines.items[0].core && !back.lines.items[0].alone);
  assert_true(!back.lines.items[1].core && back.lines.items[1].alone);
  assert_int_equal(back.lines.items[1].rank_best, 2);
  note_release(&spec_note_kind, &note);
  note_release(&spec_note_kind, &back);
  arena_release(&arena);
  str_release(&text);
  fs_remove_tree(dir);
  free(path);
}

TEST(what_is_no_note_of_spec_is_refused) {
  static const char *const bad[] = {
      "",
      "spec\t2\nsignature\ts\n",
      "spec\t1\n",
      "spec\t1\nsignature\ts\nline\tf\t1\tnan\t1\t1\t1\n",
      "spec\t1\nsignature\ts\nline\tf\t1\t\t1\t1\t1\n",
      "spec\t1\nsignature\ts\nline\tf\tx\t1\t1\t1\t1\n",
      "spec\t1\nsignature\ts\nline\tf\t1\t1\t1\t1\tx\n",
      "spec\t1\nsignature\ts\nline\tf\t1\t1\t1\n",
      "spec\t1\nsignature\ts\ncore\tc\tf\tx\n",
      "spec\t1\nsignature\ts\nsource\tf\tzz\n",
      "near\t1\nsignature\ts\ncommand\tc\n",
      "spec\t1\tx\ty\tz\ta\tb\tc\td\te\tf\n",
      "\x01\x02",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    SpecNote note;
    Arena arena = {0};
    assert_int_equal(parse_note(bad[i], &note, &arena), -1);
    note_release(&spec_note_kind, &note);
    arena_release(&arena);
  }
}
