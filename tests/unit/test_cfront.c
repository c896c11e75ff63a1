// What a program built by culprit-cc says about itself, and what its runs leave
// behind: the map's rules, and both readers against damaged bytes.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "compile/cc_args.h"
#include "program/map.h"
#include "program/map_format.h"
#include "program/runfile.h"
#include "runtime/format.h"
#include "test.h"
#include "util/fs.h"
#include "util/leb.h"

// --- the fixture's map --------------------------------------------------------

static ProgramMap fixture;

static const Unit *unit(void) {
  Err err = {0};
  if (!fixture.units.len && map_read(&fixture, FIXTURE, &err))
    fail_msg("%s", err.text);
  assert_int_equal(fixture.units.len, 1);
  return &fixture.units.items[0].unit;
}

static const Entity *function(const char *name) {
  const Unit *u = unit();
  for (size_t i = 0; i < u->nentities; i++)
    if (u->entities[i].kind == ENTITY_FUNCTION &&
        !strcmp(u->entities[i].name, name))
      return &u->entities[i];
  fail_msg("no function %s", name);
  return NULL;
}

static int number_in(const char *name, EntityKind kind) {
  const Unit *u = unit();
  uint32_t f = (uint32_t)(function(name) - u->entities);
  int count = 0;
  for (size_t i = 0; i < u->nentities; i++)
    count += u->entities[i].kind == kind && u->entities[i].function == f;
  return count;
}

static const Entity *statement(uint32_t line) {
  const Unit *u = unit();
  for (size_t i = 0; i < u->nentities; i++)
    if (u->entities[i].kind == ENTITY_STATEMENT && u->entities[i].line == line)
      return &u->entities[i];
  return NULL;
}

TEST(an_empty_join_block_after_nested_ifs_is_contracted) {
  // Figure 1 of the CP paper: b1..b4, e1..e6, nine statements.
  assert_int_equal(number_in("figure1", ENTITY_BLOCK), 4);
  assert_int_equal(number_in("figure1", ENTITY_EDGE), 6);
  assert_int_equal(number_in("figure1", ENTITY_STATEMENT), 9);
}

TEST(an_assignment_of_a_constant_to_a_local_is_a_statement) {
  assert_non_null(statement(25));
  assert_non_null(statement(31));
}

TEST(break_and_return_are_statements) {
  assert_non_null(statement(29));
  assert_non_null(statement(36));
  assert_non_null(statement(38));
}

TEST(closing_braces_and_case_labels_are_no_statements) {
  static const uint32_t lines[] = {19, 20, 22, 30, 32, 34, 37, 39, 41, 43, 54};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (statement(lines[i]))
      fail_msg("line %u is a statement", lines[i]);
}

TEST(every_operand_of_an_and_is_a_condition_with_two_outcomes) {
  const Unit *u = unit();
  int outcomes[2] = {0};
  for (size_t i = 0; i < u->nentities; i++) {
    const Entity *e = &u->entities[i];
    if (e->kind == ENTITY_CONDITION && (e->line == 27 || e->line == 28))
      outcomes[e->line - 27]++;
  }
  assert_int_equal(outcomes[0], 2);
  assert_int_equal(outcomes[1], 2);
}

TEST(a_switch_has_an_outcome_per_case_and_one_for_none) {
  const Unit *u = unit();
  unsigned seen = 0;
  for (size_t i = 0; i < u->nentities; i++)
    if (u->entities[i].kind == ENTITY_CONDITION && u->entities[i].line == 33)
      seen |= 1u << u->entities[i].from;
  assert_int_equal(seen, 7);
}

TEST(call_sites_know_their_callee_and_what_it_returns) {
  unit();
  const UnitMap *m = &fixture.units.items[0];
  int found = 0;
  for (size_t i = 0; i < m->ncalls; i++)
    if (m->calls[i].line == 58 && !strcmp(m->calls[i].callee, "jumps"))
      found += m->calls[i].type == RESULT_INT;
  assert_int_equal(found, 1);
}

TEST(the_map_remembers_the_text_of_the_source) {
  const Unit *u = unit();
  Str text = {0};
  Err err;
  assert_int_equal(fs_read(u->sources[0].path, 0, &text, &err), 0);
  assert_true(u->sources[0].hash == XXH3_64bits(text.data, text.len));
  str_release(&text);
}

// --- damaged maps -------------------------------------------------------------

// Small, fast, and the same everywhere.
static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

// As the compiler wrote it: compressed.
static void load_packed(Str *out) {
  Str file = {0};
  Err err;
  assert_int_equal(fs_read(FIXTURE, 0, &file, &err), 0);
  uint64_t magic = MAP_MAGIC;
  const char *at = memmem(file.data, file.len, &magic, sizeof magic);
  assert_non_null(at);
  MapHeader h;
  memcpy(&h, at, sizeof h);
  str_addn(out, at, h.size);
  str_release(&file);
}

static void fix_checksum(Str *chunk) {
  MapHeader *h = (MapHeader *)chunk->data;
  h->checksum =
      map_checksum(h, chunk->data + sizeof *h, chunk->len - sizeof *h);
}

// The same chunk, not compressed.
static void load_chunk(Str *out) {
  Str packed = {0};
  load_packed(&packed);
  MapHeader h;
  memcpy(&h, packed.data, sizeof h);
  assert_true(h.full_size);
  char *full = mem_alloc(h.full_size);
  assert_int_equal(ZSTD_decompress(full, h.full_size, packed.data + sizeof h,
                                   packed.len - sizeof h),
                   h.full_size);
  h.size = sizeof h + h.full_size;
  str_addn(out, &h, sizeof h);
  str_addn(out, full, h.full_size);
  ((MapHeader *)out->data)->full_size = 0;
  fix_checksum(out);
  free(full);
  str_release(&packed);
}

static int parse(const Str *chunk, size_t size) {
  // A copy of exactly that size: reading past it is seen by the sanitizer.
  void *copy = mem_dup(chunk->data, size);
  ProgramMap m = {0};
  Err err = {0};
  int rc = map_parse(&m, copy, size, &err);
  if (rc)
    assert_true(*err.text);
  map_release(&m);
  free(copy);
  return rc;
}

TEST(a_map_cut_off_anywhere_is_refused) {
  Str chunk = {0};
  load_chunk(&chunk);
  assert_int_equal(parse(&chunk, chunk.len), 0);
  for (size_t n = sizeof(MapHeader); n < chunk.len; n++)
    assert_int_equal(parse(&chunk, n), -1);
  str_release(&chunk);
}

TEST(a_compressed_map_of_a_wrong_size_or_content_is_refused) {
  Str chunk = {0};
  load_packed(&chunk);
  assert_int_equal(parse(&chunk, chunk.len), 0);
  MapHeader *h = (MapHeader *)chunk.data;
  uint32_t full = h->full_size;
  const uint32_t sizes[] = {1, full - 1, full + 1, MAP_LARGEST + 1, UINT32_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    h->full_size = sizes[i];
    fix_checksum(&chunk);
    assert_int_equal(parse(&chunk, chunk.len), -1);
  }
  h->full_size = full;
  chunk.data[sizeof *h] ^= 1;
  fix_checksum(&chunk);
  assert_int_equal(parse(&chunk, chunk.len), -1);
  str_release(&chunk);
}

TEST(a_map_with_a_flipped_bit_is_refused) {
  Str chunk = {0};
  load_chunk(&chunk);
  // Behind magic and size: without those there is no chunk.
  for (size_t i = offsetof(MapHeader, version); i < chunk.len; i++) {
    chunk.data[i] ^= 4;
    assert_int_equal(parse(&chunk, chunk.len), -1);
    chunk.data[i] ^= 4;
  }
  str_release(&chunk);
}

TEST(no_bytes_behind_a_valid_checksum_harm_the_reader) {
  Str chunk = {0};
  load_chunk(&chunk);
  char *good = mem_dup(chunk.data, chunk.len);
  uint32_t seed = 1;
  for (int round = 0; round < 20000; round++) {
    memcpy(chunk.data, good, chunk.len);
    for (int k = 0; k < 1 + round % 4; k++) {
      size_t at = sizeof(MapHeader) +
                  next_random(&seed) % (chunk.len - sizeof(MapHeader));
      chunk.data[at] = (char)next_random(&seed);
    }
    fix_checksum(&chunk);
    parse(&chunk, chunk.len);
  }
  free(good);
  str_release(&chunk);
}

// --- definers and uses, which only a close build's map has ---------------------

static void put_signed(Str *out, int64_t v) {
  leb_put(out, (uint64_t)(v << 1) ^ (uint64_t)(v >> 63));
}

static uint32_t nth_statement(size_t n) {
  const Unit *u = unit();
  for (uint32_t i = 0; i < u->nentities; i++)
    if (u->entities[i].kind == ENTITY_STATEMENT && !n--)
      return i;
  fail_msg("too few statements");
  return 0;
}

static void end_chunk(Str *chunk) {
  ((MapHeader *)chunk->data)->size = chunk->len;
  fix_checksum(chunk);
}

// One variable with the definitions `a` and `b`, one use of it, and a site of two
// statements.
static void put_variable(Str *chunk, uint32_t a, uint32_t b, VariableUse u) {
  leb_put(chunk, 1);
  leb_put(chunk, 2);
  put_signed(chunk, a);
  put_signed(chunk, (int64_t)b - a);
  leb_put(chunk, 1);
  put_signed(chunk, u.definers);
  put_signed(chunk, u.use);
  put_signed(chunk, u.first);
  leb_put(chunk, 1);
  put_signed(chunk, 3);
  leb_put(chunk, 2);
  put_signed(chunk, nth_statement(0));
  put_signed(chunk, 0);
  end_chunk(chunk);
}

static int parse_variable(uint32_t a, uint32_t b, VariableUse u) {
  Str chunk = {0};
  load_chunk(&chunk);
  put_variable(&chunk, a, b, u);
  int rc = parse(&chunk, chunk.len);
  str_release(&chunk);
  return rc;
}

static void check_statements(const UnitMap *m, const uint32_t *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    assert_true(s[i] < m->unit.nentities &&
                m->unit.entities[s[i]].kind == ENTITY_STATEMENT);
}

static void check_uses(const UnitMap *m) {
  for (size_t i = 0; i < m->ndefiners; i++)
    check_statements(m, m->definers[i].statements, m->definers[i].n);
  for (size_t i = 0; i < m->nuse_sites; i++) {
    assert_true(m->use_sites[i].counter < m->ncounters);
    check_statements(m, m->use_sites[i].statements, m->use_sites[i].n);
  }
  for (size_t i = 0; i < m->nuses; i++) {
    const VariableUse *u = &m->uses[i];
    assert_true(u->definers < m->ndefiners && u->use < m->unit.nentities);
    assert_int_equal(m->unit.entities[u->use].kind, ENTITY_STATEMENT);
    // The row has a counter for each definition, and one for none.
    assert_true((uint64_t)u->first + m->definers[u->definers].n < m->ncounters);
  }
}

TEST(a_use_of_a_variable_points_inside_its_unit) {
  uint32_t a = nth_statement(0), b = nth_statement(1), use = nth_statement(2);
  uint32_t last = fixture.units.items[0].ncounters - 3;
  uint32_t f = (uint32_t)(function("main") - unit()->entities);
  uint32_t none = (uint32_t)unit()->nentities;
  assert_int_equal(parse_variable(a, b, (VariableUse){use, 0, last}), 0);
  assert_int_equal(parse_variable(a, b, (VariableUse){use, 0, last + 1}), -1);
  assert_int_equal(parse_variable(a, b, (VariableUse){use, 0, last + 3}), -1);
  assert_int_equal(parse_variable(a, b, (VariableUse){use, 0, UINT32_MAX}), -1);
  assert_int_equal(parse_variable(a, b, (VariableUse){use, 1, 0}), -1);
  assert_int_equal(parse_variable(a, b, (VariableUse){f, 0, 0}), -1);
  assert_int_equal(parse_variable(a, b, (VariableUse){none, 0, 0}), -1);
  assert_int_equal(parse_variable(f, b, (VariableUse){use, 0, 0}), -1);
  assert_int_equal(parse_variable(a, none, (VariableUse){use, 0, 0}), -1);
}

TEST(definers_and_uses_cut_off_anywhere_are_refused) {
  Str chunk = {0};
  load_chunk(&chunk);
  size_t without = chunk.len;
  put_variable(&chunk, nth_statement(0), nth_statement(1),
               (VariableUse){nth_statement(2), 0, 1});
  for (size_t n = chunk.len - 1; n > without; n--) {
    chunk.len = n;
    end_chunk(&chunk);
    assert_int_equal(parse(&chunk, n), -1);
  }
  str_release(&chunk);
}

TEST(no_bytes_of_definers_and_uses_harm_the_reader) {
  Str chunk = {0};
  load_chunk(&chunk);
  size_t without = chunk.len;
  put_variable(&chunk, nth_statement(0), nth_statement(1),
               (VariableUse){nth_statement(2), 0, 1});
  char *good = mem_dup(chunk.data, chunk.len);
  uint32_t seed = 7;
  for (int round = 0; round < 20000; round++) {
    memcpy(chunk.data, good, chunk.len);
    for (int k = 0; k < 1 + round % 4; k++)
      chunk.data[without + next_random(&seed) % (chunk.len - without)] =
          (char)next_random(&seed);
    fix_checksum(&chunk);
    void *copy = mem_dup(chunk.data, chunk.len);
    ProgramMap m = {0};
    Err err = {0};
    if (!map_parse(&m, copy, chunk.len, &err))
      check_uses(&m.units.items[0]);
    map_release(&m);
    free(copy);
  }
  free(good);
  str_release(&chunk);
}

TEST(a_map_of_another_version_says_to_build_again) {
  Str chunk = {0};
  load_chunk(&chunk);
  ((MapHeader *)chunk.data)->version++;
  ProgramMap m = {0};
  Err err = {0};
  assert_int_equal(map_parse(&m, chunk.data, chunk.len, &err), -1);
  assert_non_null(strstr(err.text, "build the program again"));
  map_release(&m);
  str_release(&chunk);
}

TEST(a_file_that_is_no_program_has_an_empty_map) {
  ProgramMap m;
  Err err = {0};
  assert_int_equal(map_read(&m, unit()->sources[0].path, &err), 0);
  assert_int_equal(m.units.len, 0);
  map_release(&m);
}

// --- run files ----------------------------------------------------------------

static char scratch[64];

static void run_fixture(const char *argument) {
  strcpy(scratch, "/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(scratch));
  pid_t pid = fork();
  if (pid == 0) {
    setenv("CULPRIT_RUN", scratch, 1);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 1);
    execl(FIXTURE, FIXTURE, argument, (char *)NULL);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, 0);
}

static int number_entities(void *ctx, const Unit *u, uint32_t *ids, Err *err) {
  (void)ctx, (void)err;
  for (size_t i = 0; i < u->nentities; i++)
    ids[i] = (uint32_t)i;
  return 0;
}

static Run collect(void) {
  Collector *c = collector_new(number_entities, NULL);
  Run run = {0};
  Err err = {0};
  assert_int_equal(collector_collect(c, scratch, &run, &err), 0);
  collector_free(c);
  return run;
}

static void end_run(Run *run) {
  run_release(run);
  fs_remove_tree(scratch);
}

static bool covers(const Run *run, uint32_t line) {
  const Entity *e = statement(line);
  assert_non_null(e);
  return bitset_has(&run->hits[ENTITY_STATEMENT],
                    (uint32_t)(e - unit()->entities));
}

TEST(a_run_covers_what_it_executed_and_nothing_else) {
  run_fixture("ab");
  Run run = collect();
  assert_int_equal(run.processes, 1);
  assert_true(covers(&run, 35));
  assert_true(covers(&run, 60));
  assert_false(covers(&run, 38));
  assert_false(covers(&run, 49));
  assert_null(run.note);
  end_run(&run);
}

TEST(a_crash_is_found_at_its_line_and_the_line_after_it_is_not_covered) {
  run_fixture("segv");
  Run run = collect();
  assert_int_equal(run.deaths.len, 1);
  assert_int_equal(run.deaths.items[0].line, 49);
  assert_string_equal(run.deaths.items[0].function, "die");
  assert_string_equal(run.deaths.items[0].how, "SIGSEGV");
  assert_true(covers(&run, 48));
  assert_true(covers(&run, 49));
  assert_false(covers(&run, 50));
  assert_false(covers(&run, 60));
  end_run(&run);
}

TEST(abort_is_found_at_the_line_that_called_it) {
  run_fixture("abort");
  Run run = collect();
  assert_int_equal(run.deaths.len, 1);
  assert_int_equal(run.deaths.items[0].line, 53);
  end_run(&run);
}

static void the_run_file(Str *content, char *path, size_t size) {
  Err err;
  char command[256];
  snprintf(command, sizeof command, "ls %s/*.run", scratch);
  FILE *list = popen(command, "r");
  assert_non_null(list);
  assert_non_null(fgets(path, (int)size, list));
  pclose(list);
  path[strcspn(path, "\n")] = '\0';
  assert_int_equal(fs_read(path, 0, content, &err), 0);
}

static void collect_variant(const char *path, const char *data, size_t size) {
  Err err;
  assert_int_equal(fs_write(path, data, size, &err), 0);
  Run run = collect();
  run_release(&run);
}

TEST(a_run_file_cut_off_anywhere_is_a_note_not_a_failure) {
  Str file = {0};
  char path[256];
  Err err;
  run_fixture("segv");
  the_run_file(&file, path, sizeof path);
  for (size_t n = 0; n < file.len; n += n < 4096 ? 37 : 4111)
    collect_variant(path, file.data, n);
  assert_int_equal(fs_write(path, file.data, 100, &err), 0);
  Run run = collect();
  assert_int_equal(run.processes, 0);
  assert_non_null(run.note);
  end_run(&run);
  str_release(&file);
}

TEST(no_damage_to_a_run_file_harms_the_reader) {
  Str file = {0};
  char path[256];
  run_fixture("segv");
  the_run_file(&file, path, sizeof path);
  char *bad = mem_alloc(file.len);
  uint32_t seed = 7;
  for (int round = 0; round < 300; round++) {
    memcpy(bad, file.data, file.len);
    size_t reach = round % 2 ? sizeof(RunHeader) + 64 : file.len;
    for (int k = 0; k < 1 + round % 5; k++)
      bad[next_random(&seed) % reach] = (char)next_random(&seed);
    collect_variant(path, bad, file.len);
  }
  free(bad);
  str_release(&file);
  fs_remove_tree(scratch);
}

// --- command lines ------------------------------------------------------------

static CcArgs parse_args(int argc, ...) {
  char *argv[16];
  va_list ap;
  va_start(ap, argc);
  for (int i = 0; i < argc; i++)
    argv[i] = va_arg(ap, char *);
  va_end(ap);
  CcArgs c;
  Err err;
  assert_int_equal(cc_args_parse(&c, argc, argv, &err), 0);
  return c;
}

static void release_args(CcArgs *c) {
  array_release(&c->args);
  array_release(&c->prefix_maps);
}

TEST(a_value_that_looks_like_a_source_is_not_one) {
  CcArgs c = parse_args(6, "-c", "-include", "x.c", "-MF", "y.c", "z.c");
  assert_int_equal(c.nsources, 1);
  assert_true(c.compile_only);
  release_args(&c);
}

TEST(a_language_option_makes_any_file_a_source) {
  CcArgs c = parse_args(5, "-xc", "-c", "-", "-o", "out.o");
  assert_int_equal(c.nsources, 1);
  assert_string_equal(c.output, "out.o");
  release_args(&c);
}

TEST(preprocessing_and_probes_of_configure_are_passed_through) {
  CcArgs c = parse_args(2, "-E", "a.c");
  assert_true(c.passthrough);
  release_args(&c);
  c = parse_args(4, "-c", "-o", "conftest.o", "conftest.c");
  assert_true(c.passthrough);
  release_args(&c);
}
