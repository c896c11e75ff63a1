// The log of definition-use pairs in a run file (program/pair_log.h): what it
// means, and the reader against damaged ones. tests/e2e/pairs has real ones.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/access.h"
#include "program/map.h"
#include "program/runfile.h"
#include "runtime/close_format.h"
#include "runtime/format.h"
#include "test.h"
#include "util/fs.h"
#include "util/str.h"

enum { LOG_WORDS = 64, FIRST_PAGE = 4096 };

static ProgramMap fixture;
static char scratch[64];
static uint32_t defs[LOG_WORDS], uses[LOG_WORDS], taken;

static const UnitMap *map(void) {
  Err err;
  if (!fixture.units.len && map_read(&fixture, FIXTURE, &err))
    fail_msg("%s", err.text);
  return &fixture.units.items[0];
}

static int number_entities(void *ctx, const Unit *u, uint32_t *ids, Err *err) {
  (void)ctx, (void)err;
  for (size_t i = 0; i < u->nentities; i++)
    ids[i] = (uint32_t)i;
  return 0;
}

static uint32_t take(void *ctx, uint32_t def, uint32_t use) {
  (void)ctx;
  assert_true(def < map()->unit.nentities && use < map()->unit.nentities);
  if (taken < LOG_WORDS) {
    defs[taken] = def;
    uses[taken] = use;
  }
  return taken++;
}

// A run file of the fixture with a log behind its counters.
static char *make_file(size_t *size) {
  const unsigned char log_id[16] = CLOSE_LOG_ID;
  uint64_t log = (map()->ncounters + 4095u) / 4096 * 4096;
  *size = FIRST_PAGE + log + LOG_WORDS * 8;
  char *file = mem_alloc(*size);
  RunHeader *h = (RunHeader *)file;
  RunUnit *units = (RunUnit *)(h + 1);
  *h = (RunHeader){.magic = RUNFILE_MAGIC,
                   .version = RUNFILE_VERSION,
                   .state = RUN_STARTED,
                   .nunits = 2,
                   .counters = FIRST_PAGE,
                   .counters_size = *size - FIRST_PAGE,
                   .death = *size};
  strcpy(h->module, FIXTURE);
  units[0] = (RunUnit){
      .offset = FIRST_PAGE + log, .ncounters = LOG_WORDS, .counter_size = 8};
  memcpy(units[0].id, log_id, sizeof log_id);
  units[1] = (RunUnit){
      .offset = FIRST_PAGE, .ncounters = map()->ncounters, .counter_size = 1};
  memcpy(units[1].id, map()->unit.id.bytes, sizeof units[1].id);
  return file;
}

static uint64_t *log_of(char *file) {
  const RunUnit *units = (const RunUnit *)((RunHeader *)file + 1);
  return (uint64_t *)(file + units[0].offset);
}

static uint32_t counter_of(uint32_t entity) {
  return map()->refs[map()->first_ref[entity]];
}

// Offset, plus one, of the n-th statement's site.
static uint32_t site(int n, uint32_t *entity) {
  for (uint32_t i = 0; i < map()->unit.nentities; i++)
    if (map()->unit.entities[i].kind == ENTITY_STATEMENT && n-- == 0) {
      *entity = i;
      return counter_of(i) + 1;
    }
  fail_msg("the fixture has too few statements");
  return 0;
}

static Run collect(const char *file, size_t size) {
  Err err = {0};
  Run run = {0};
  char *path = mem_printf("%s/1-0-0.run", scratch);
  Collector *c = collector_new(number_entities, NULL);
  taken = 0;
  collector_take_pairs(c, take, NULL);
  assert_int_equal(fs_write(path, file, size, &err), 0);
  assert_int_equal(collector_collect(c, scratch, &run, &err), 0);
  collector_free(c);
  free(path);
  return run;
}

static void begin(void) {
  strcpy(scratch, "/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(scratch));
}

TEST(a_word_of_the_log_is_a_pair_of_statements) {
  size_t size;
  uint32_t a, b;
  begin();
  char *file = make_file(&size);
  uint32_t def = site(0, &a), use = site(5, &b);
  log_of(file)[7] = (uint64_t)def << 32 | use;
  Run run = collect(file, size);
  assert_int_equal(taken, 1);
  // In a normal build several statements may share a counter.
  assert_int_equal(counter_of(defs[0]), counter_of(a));
  assert_int_equal(counter_of(uses[0]), counter_of(b));
  assert_int_equal(bitset_count(&run.hits[ENTITY_PAIR]), 1);
  assert_null(run.note);
  run_release(&run);
  free(file);
  fs_remove_tree(scratch);
}

TEST(what_was_not_recorded_is_said) {
  size_t size;
  begin();
  char *file = make_file(&size);
  log_of(file)[0] = 3ull << 32 | CLOSE_NO_MEMORY | CLOSE_FORGOT;
  Run run = collect(file, size);
  assert_non_null(strstr(run.note, "definitions in memory are not recorded"));
  assert_non_null(strstr(run.note, "were forgotten"));
  assert_non_null(strstr(run.note, "only the first 0 are recorded"));
  run_release(&run);
  free(file);
  fs_remove_tree(scratch);
}

TEST(places_that_are_no_statement_s_are_left_out) {
  size_t size;
  uint32_t entity;
  begin();
  char *file = make_file(&size);
  uint64_t use = site(0, &entity);
  uint64_t *log = log_of(file);
  log[1] = use;       // no definition
  log[2] = use << 32; // no use
  log[3] = use << 32 | 0xffffffff;
  log[4] = use << 32 | (map()->ncounters + 1);
  log[5] = 0xffffffffull << 32 | use;
  Run run = collect(file, size);
  assert_int_equal(taken, 0);
  run_release(&run);
  free(file);
  fs_remove_tree(scratch);
}

TEST(no_damage_to_a_log_harms_the_reader) {
  size_t size;
  uint32_t seed = 7;
  begin();
  char *file = make_file(&size);
  char *bad = mem_alloc(size);
  size_t log = size - LOG_WORDS * 8;
  for (int round = 0; round < 600; round++) {
    memcpy(bad, file, size);
    for (int k = 0; k < 1 + round % 7; k++) {
      seed = seed * 1103515245 + 12345;
      size_t at = seed >> 8;
      at = round % 2 ? sizeof(RunHeader) + at % (2 * sizeof(RunUnit))
                     : log + at % (size - log);
      bad[at] = (char)(round % 3 ? seed >> 4 : 0xff);
    }
    Run run = collect(bad, round % 5 ? size : size - seed % (LOG_WORDS * 8));
    run_release(&run);
  }
  free(bad);
  free(file);
  fs_remove_tree(scratch);
}

// --- names ------------------------------------------------------------------

static void expect_name(const char *definition, const char *use,
                        const char *want) {
  Str name = {0};
  assert_int_equal(access_name(definition, use, &name), *want != 0);
  assert_string_equal(str_text(&name), want);
  str_release(&name);
}

TEST(a_pair_has_the_name_of_what_its_definition_sets) {
  expect_name("=lmain/1\thigh\n", "?lmain/1\t\n", "high");
  expect_name("=fitem/2\tp->count\n=lmain/1\tn\n", "?fitem/2\t\n?lf/4\t\n",
              "p->count");
  expect_name("=olimit\tlimit\n", "?*\t\n?olimit\t\n", "limit");
  expect_name("=rf\tf()\n", "?rf\t\n", "f()");
  expect_name("=af\t\n=lmain/1\tn\n", "?lf/1\t\n?af\tdepth\n", "f(depth)");
}

TEST(a_pair_that_may_be_of_two_variables_has_no_name) {
  expect_name("=lmain/1\ta\n=lmain/2\tb\n", "?lmain/2\t\n?lmain/1\t\n", "");
  expect_name("=fitem/2\tp->count\n=*\t*q\n", "?fitem/2\t\n", "");
  expect_name("=*\t\n=oa\ta\n", "?oa\t\n", "");
  expect_name("=af\t\n", "?af\ta\n?af\tb\n", "");
  expect_name("=Af\t\n=olimit\tlimit\n", "?olimit\t\n", "");
  expect_name("=a*\t\n", "?af\ta\n?ag\tb\n", "");
}

TEST(a_pair_of_nothing_known_has_no_name) {
  expect_name(NULL, NULL, "");
  expect_name("=lmain/1\ta\n", NULL, "");
  expect_name("=lmain/1\ta\n", "?lmain/2\t\n", "");
  expect_name("=lmain/1\ta\n", "=lmain/1\ta\n", "");
  expect_name("nonsense", "=\n?\n", "");
}

TEST(an_access_is_listed_once) {
  Str list = {0};
  access_add(&list, ACCESS_DEFINES, ACCESS_LOCAL, "main/1", "a");
  access_add(&list, ACCESS_USES, ACCESS_LOCAL, "main/1", NULL);
  access_add(&list, ACCESS_DEFINES, ACCESS_LOCAL, "main/1", "a");
  assert_string_equal(str_text(&list), "=lmain/1\ta\n?lmain/1\t\n");
  str_release(&list);
}
