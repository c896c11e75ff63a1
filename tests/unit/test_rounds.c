// Unit tests of choosing made tests: which one a round takes, and when the
// strategy switches. The tests are there already; nothing is run.
#include "test.h"

#include "spec/rounds.h"

enum { LINES = 10 };

// A call that breaks clause 0 and executes lines 1 to 6; 1 to 4 are suspects.
typedef struct {
  SpecSubject subject;
  Inquiry inquiry;
  StateCandidates candidates;
  Rounds rounds;
  ContractClause clauses[2];
  uint32_t broken[1];
} Kit;

static void add_all(Bitset *b, const char *members) {
  for (; *members; members++)
    bitset_add(b, (uint32_t)(*members - '0'));
}

// Something made from the given call, after which nothing more can be made.
static void make(Kit *k, const char *hits, const char *broken) {
  StateCandidate c = {.position = k->candidates.items.len};
  add_all(&c.run.hits, hits);
  add_all(&c.broken, broken);
  array_push(&k->candidates.items, c);
  array_push(&k->candidates.turned, (Brood){.made = true});
  k->candidates.turned.items[0].n++;
}

static void kit_open(Kit *k) {
  *k = (Kit){0};
  for (int i = 0; i < LINES; i++)
    array_push(&k->subject.lines, (SourceLine){"a.c", (uint32_t)i, "f"});
  for (uint32_t i = 0; i < 2; i++)
    k->clauses[i] = (ContractClause){
        .kind = CLAUSE_ENSURES, .name = "", .file = "a.c", .line = i + 1};
  ContractTable table = {.function = "f", .clauses = k->clauses, .nclauses = 2};
  array_push(&k->subject.contracts.tables, table);
  Violation v = {.table = table, .call = 1, .broken = k->broken, .nbroken = 1};
  array_push(&k->inquiry.first.violations.items, v);
  k->inquiry.contract = &k->subject.contracts.tables.items[0];
  k->inquiry.call = 1;
  k->inquiry.violation = &k->inquiry.first.violations.items.items[0];
  k->inquiry.subject = &k->subject;
  add_all(&k->inquiry.first.hits, "123456");
  add_all(&k->inquiry.suspects, "1234");
  candidates_open(&k->candidates, &k->inquiry, 1);
  array_push(&k->candidates.turned, (Brood){.made = true});
}

static void begin(Kit *k, RoundsPick pick) {
  RoundsOptions o = {.pick = pick, .bonus = true};
  rounds_open(&k->rounds, &k->candidates, &o);
}

static void kit_close(Kit *k) {
  rounds_close(&k->rounds);
  candidates_close(&k->candidates);
  array_release(&k->inquiry.first.violations.items);
  bitset_release(&k->inquiry.first.hits);
  bitset_release(&k->inquiry.suspects);
  array_release(&k->subject.contracts.tables);
  array_release(&k->subject.lines);
}

// The number of the candidate that the next round takes; -1: none.
static int next(Kit *k) {
  Err err = {0};
  bool more;
  assert_int_equal(rounds_next(&k->rounds, &more, &err), 0);
  return more ? (int)array_last(&k->rounds.taken).candidate : -1;
}

TEST(a_round_takes_the_test_that_covers_the_most_suspects) {
  Kit k;
  kit_open(&k);
  make(&k, "15", "");
  make(&k, "1235", "");
  make(&k, "12", "");
  begin(&k, PICK_SUSPECTS);
  assert_int_equal(next(&k), 1);
  assert_int_equal(next(&k), 2);
  assert_int_equal(next(&k), 0);
  assert_int_equal(next(&k), -1);
  kit_close(&k);
}

TEST(a_test_with_coverage_seen_before_or_without_a_suspect_is_not_taken) {
  Kit k;
  kit_open(&k);
  make(&k, "123456", ""); // as the given call
  make(&k, "56", "");     // no suspect
  make(&k, "125", "");
  make(&k, "125", "0"); // as the one before
  begin(&k, PICK_SUSPECTS);
  assert_int_equal(next(&k), 2);
  assert_int_equal(next(&k), -1);
  kit_close(&k);
}

TEST(directed_tests_go_by_their_place_on_the_path_and_may_cover_the_same) {
  Kit k;
  kit_open(&k);
  make(&k, "125", "");
  make(&k, "56", "");
  make(&k, "125", "");
  begin(&k, PICK_NEAREST);
  assert_int_equal(next(&k), 2);
  assert_int_equal(next(&k), 1);
  assert_int_equal(next(&k), 0);
  kit_close(&k);
}

TEST(after_three_tests_that_change_nothing_suspects_must_be_covered_anew) {
  Kit k;
  kit_open(&k);
  make(&k, "12345", "0"); // all suspects, and fails: their ratings stay
  make(&k, "12346", "0");
  make(&k, "1234", "0");
  make(&k, "12347", "0"); // new lines, but no other suspects
  make(&k, "127", "0");
  begin(&k, PICK_SUSPECTS);
  assert_int_equal(next(&k), 0);
  assert_int_equal(next(&k), 1);
  assert_false(k.rounds.switched);
  assert_int_equal(next(&k), 2);
  assert_true(k.rounds.switched);
  assert_int_equal(next(&k), 4);
  assert_true(array_last(&k.rounds.taken).switched);
  assert_int_equal(next(&k), -1);
  kit_close(&k);
}

TEST(a_test_of_another_failure_takes_a_round_but_no_part_in_the_rating) {
  Kit k;
  kit_open(&k);
  make(&k, "12", "1");
  begin(&k, PICK_SUSPECTS);
  assert_int_equal(next(&k), 0);
  assert_int_equal(array_last(&k.rounds.taken).relation, TEST_APART);
  assert_int_equal(k.rounds.score.failing, 1);
  assert_int_equal(k.rounds.apart, 1);
  kit_close(&k);
}
