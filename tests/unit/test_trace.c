// Traces, lowered code and replay: memory, input, hostile files, and one
// program from its build to its path. Constructs one by one: tests/torture,
// tests/e2e.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/ir_format.h"
#include "program/map.h"
#include "program/program_code.h"
#include "program/trace_build.h"
#include "replay/replay.h"
#include "replay/seen.h"
#include "replay/shadow.h"
#include "test.h"
#include "util/capture.h"
#include "util/fs.h"

// --- memory
// -------------------------------------------------------------------

TEST(a_load_gets_back_the_expression_that_was_stored) {
  ExprPool *p = expr_pool_new();
  Shadow *m = shadow_new(p);
  VarId v = expr_new_var(p, "x", expr_bv(32), 0x01020304);
  Expr x = expr_input(p, v);
  shadow_store(m, 0xffe, 4, 0x01020304, x); // over a page boundary
  assert_int_equal(shadow_load(m, 0xffe, 4, 0x01020304), x);
  Expr part = shadow_load(m, 0xfff, 2, 0x0203);
  assert_int_equal(expr_value(p, part), 0x0203);
  assert_int_equal(expr_width(p, part), 16);
  Expr mixed = shadow_load(m, 0x1001, 2, 0x0001);
  assert_int_equal(expr_value(p, mixed), 1);
  assert_int_equal(shadow_load(m, 0x2000, 4, 7), 0);
  shadow_free(m);
  expr_pool_free(p);
}

TEST(memory_changed_by_others_loses_its_expression_and_is_counted) {
  ExprPool *p = expr_pool_new();
  Shadow *m = shadow_new(p);
  Expr x = expr_input(p, expr_new_var(p, "x", expr_bv(16), 5));
  shadow_store(m, 100, 2, 5, x);
  assert_int_equal(shadow_load(m, 100, 2, 6), 0);
  assert_int_equal(shadow_surprises(m), 1);
  assert_int_equal(shadow_load(m, 100, 2, 6), 0);
  assert_int_equal(shadow_surprises(m), 1);
  shadow_store(m, 100, 2, 5, x);
  shadow_store(m, 101, 1, 9, 0); // half of it overwritten
  Expr e = shadow_load(m, 100, 2, 9 << 8 | 5);
  assert_int_equal(expr_value(p, e), 9 << 8 | 5);
  shadow_free(m);
  expr_pool_free(p);
}

TEST(copies_move_expressions_also_where_they_overlap) {
  ExprPool *p = expr_pool_new();
  Shadow *m = shadow_new(p);
  uint8_t bytes[] = {1, 2, 3, 4}, b;
  VarId v = expr_new_bytes(p, "in", bytes, 4);
  for (unsigned i = 0; i < 4; i++)
    shadow_store(m, 4094 + i, 1, bytes[i], expr_input(p, v + i));
  shadow_copy(m, 4095, 4094, 4);
  for (unsigned i = 0; i < 4; i++)
    assert_int_equal(shadow_byte_expr(m, 4095 + i), expr_input(p, v + i));
  shadow_copy(m, 4094, 4096, 3);
  assert_int_equal(shadow_byte_expr(m, 4094), expr_input(p, v + 1));
  shadow_copy(m, 4094, 900000, 4); // from where nothing is known
  assert_false(shadow_byte(m, 4094, &b));
  shadow_fill(m, 4090, 10, 7, 0);
  assert_true(shadow_byte(m, 4099, &b) && b == 7);
  assert_false(shadow_is_symbolic(m, 4090, 10));
  uint8_t read[10];
  assert_true(shadow_read(m, 4090, read, 10) && read[9] == 7);
  shadow_free(m);
  expr_pool_free(p);
}

// --- input
// ----------------------------------------------------------------------

TEST(arguments_end_at_their_first_nul_and_streams_do_not) {
  Inputs in = {0}, copy;
  inputs_add_stdin(&in, "ab", 2);
  inputs_add_arg(&in, 1, "long");
  inputs_copy(&copy, &in);
  inputs_set(&copy, 0, "x\0y", 3);
  inputs_set(&copy, 1, "lo\0g", 4);
  assert_int_equal(copy.sources.items[0].size, 3);
  assert_int_equal(copy.sources.items[1].size, 2);
  inputs_set(&copy, 0, "ab", 2);
  inputs_set(&copy, 1, "long", 4);
  assert_memory_equal(copy.sources.items[0].bytes, "ab", 2);
  assert_memory_equal(copy.sources.items[1].bytes, "long", 4);
  inputs_resize(&copy, 0, 4, 'z');
  assert_memory_equal(copy.sources.items[0].bytes, "abzz", 4);
  inputs_release(&in);
  inputs_release(&copy);
}

// --- one program
// ----------------------------------------------------------------

static const char source[] = "#include <stdio.h>\n"
                             "#include <stdlib.h>\n"
                             "#include <string.h>\n"
                             "static int count(const char *s, char c) {\n"
                             "  int n = 0;\n"
                             "  for (; *s; s++)\n"
                             "    if (*s == c) // 7\n"
                             "      n++;\n"
                             "  return n;\n"
                             "}\n"
                             "int main(int argc, char **argv) {\n"
                             "  char line[32];\n"
                             "  int limit = argc > 1 ? atoi(argv[1]) : 1;\n"
                             "  while (fgets(line, sizeof line, stdin))\n"
                             "    switch (line[0]) { // 15\n"
                             "    case 'q':\n"
                             "      return 3;\n"
                             "    case '+':\n"
                             "      if (count(line, 'x') > limit) // 19\n"
                             "        abort();\n"
                             "    }\n"
                             "  return 0;\n"
                             "}\n";

static struct {
  char dir[64];
  char *program, *cache;
  TraceBuild build;
  Program ir;
} world;

// Once for all tests of this file.
static void build_world(void) {
  Err err = {0};
  if (world.program)
    return;
  strcpy(world.dir, "/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(world.dir));
  char *c = mem_printf("%s/prog.c", world.dir);
  world.program = mem_printf("%s/prog", world.dir);
  world.cache = mem_printf("%s/cache", world.dir);
  assert_int_equal(fs_write(c, source, sizeof source - 1, &err), 0);
  char *compiler = program_code_compiler();
  char *const argv[] = {compiler, "-g", "-O2", "-o", world.program, c, NULL};
  Str said = {0};
  assert_int_equal(command_capture(argv, NULL, &said), 0);
  if (trace_build(&world.build, world.program, world.cache, true, &err))
    fail_msg("%s", err.text);
  for (size_t i = 0; i < world.build.nirs; i++)
    assert_int_equal(program_add(&world.ir, world.build.irs[i], &err), 0);
  assert_int_equal(program_link(&world.ir, &err), 0);
  str_release(&said);
  free(compiler);
  free(c);
}

// The trace of one run, as bytes.
static void record(const char *arg, const char *text, Str *out) {
  char *dir = mem_printf("%s/run", world.dir);
  char *in = mem_printf("%s/in", world.dir), *file = NULL;
  Err err = {0};
  fs_remove_tree(dir);
  assert_int_equal(fs_mkdirs(dir, &err), 0);
  assert_int_equal(fs_write(in, text, strlen(text), &err), 0);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(open(in, O_RDONLY), 0);
    setenv("CULPRIT_TRACE", dir, 1);
    execl(world.build.program, world.build.program, arg, (char *)NULL);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, 0);
  assert_int_equal(trace_find(dir, &file, &err), 0);
  out->len = 0;
  assert_int_equal(fs_read(file, 0, out, &err), 0);
  free(file);
  free(in);
  free(dir);
}

// Replays bytes. Returns what replay returned; -2 if they are no trace.
static int replay_bytes(const Str *bytes, const Inputs *in, ExprPool *pool,
                        Path *path) {
  Trace t;
  Err err = {0};
  *path = (Path){0};
  if (trace_parse(&t, bytes->data, bytes->len, "bytes", &err)) {
    assert_true(*err.text);
    return -2;
  }
  ReplayOptions o = {.max_instructions = 200000};
  int rc = replay_with(&world.ir, &t, in, pool, &o, path, &err);
  if (rc)
    assert_true(*err.text);
  trace_close(&t);
  return rc;
}

// The condition outcome that the branch took, or ENTITY_NONE.
static uint32_t outcome_of(const Program *p, const PathEvent *e) {
  if (e->branch == IR_NONE)
    return ENTITY_NONE;
  uint32_t edge = p->branches.items[e->branch].first_edge + e->edge;
  return p->edges.items[edge].entity;
}

TEST(a_path_holds_in_its_run_and_names_entities_of_the_map) {
  build_world();
  Str bytes = {0};
  record("2", "axx\n+xx\nq\n", &bytes);
  Inputs in = {0};
  inputs_add_stdin(&in, "axx\n+xx\nq\n", 10);
  inputs_add_arg(&in, 1, "2");
  ExprPool *pool = expr_pool_new();
  Path path;
  assert_int_equal(replay_bytes(&bytes, &in, pool, &path), 0);
  assert_int_equal(path.stop, STOP_END);
  assert_true(path.stats.checked > 20);
  assert_int_equal(path.stats.false_conditions, 0);
  assert_int_equal(path.stats.wrong_values, 0);
  assert_int_equal(path.stats.losses.len, 0);
  ProgramMap map;
  Err err = {0};
  assert_int_equal(map_read(&map, world.program, &err), 0);
  size_t conditions = 0;
  for (size_t i = 0; i < path.events.len; i++) {
    const PathEvent *e = &path.events.items[i];
    assert_int_equal(expr_value(pool, e->cond), e->outcome);
    uint32_t entity = outcome_of(&world.ir, e);
    if (entity == ENTITY_NONE)
      continue;
    const Unit *u = &map.units.items[0].unit;
    uint32_t line;
    assert_true(entity < u->nentities);
    assert_int_equal(u->entities[entity].kind, ENTITY_CONDITION);
    program_place(&world.ir, e->place, &line);
    assert_int_equal(u->entities[entity].line, line);
    assert_int_equal(u->entities[entity].from,
                     e->kind == PATH_SWITCH ? e->edge : 1 - e->edge);
    conditions++;
  }
  assert_true(conditions > 10);
  map_release(&map);
  path_release(&path);
  expr_pool_free(pool);
  inputs_release(&in);
  str_release(&bytes);
}

TEST(the_point_of_an_abort_is_known) {
  build_world();
  Str bytes = {0};
  record("1", "+xx\n", &bytes);
  Path path;
  assert_int_equal(replay_bytes(&bytes, NULL, NULL, &path), 0);
  uint32_t line;
  program_place(&world.ir, path.stop_place, &line);
  assert_int_equal(path.stop, STOP_CALL);
  assert_string_equal(path.stop_callee, "abort");
  assert_int_equal(line, 20);
  path_release(&path);
  str_release(&bytes);
}

static void count_branch(void *context, uint32_t branch, uint32_t edge) {
  (void)branch;
  (void)edge;
  ++*(uint64_t *)context;
}

TEST(an_observer_sees_every_branch_of_a_concrete_replay) {
  build_world();
  Str bytes = {0};
  record("2", "axx\n", &bytes);
  Trace t;
  Err err = {0};
  Path path;
  uint64_t seen = 0;
  ReplayOptions o = {.observer = count_branch, .context = &seen};
  assert_int_equal(trace_parse(&t, bytes.data, bytes.len, "bytes", &err), 0);
  assert_int_equal(replay_with(&world.ir, &t, NULL, NULL, &o, &path, &err), 0);
  assert_true(seen > 3);
  assert_int_equal(seen, path.stats.branches);
  path_release(&path);
  trace_close(&t);
  str_release(&bytes);
}

// --- hostile files
// --------------------------------------------------------------

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void damage(Str *bytes, size_t from, uint32_t *state) {
  for (uint32_t n = 1 + next_random(state) % 4; n > 0; n--) {
    size_t at = from + next_random(state) % (bytes->len - from);
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0xa1, 0xa2, 0xa3};
    uint32_t kind = next_random(state);
    bytes->data[at] =
        (char)(kind % 2 ? odd[kind / 2 % sizeof odd] : next_random(state));
  }
}

TEST(damaged_traces_are_refused_or_replayed_within_bounds) {
  build_world();
  Str good = {0}, bad = {0};
  record("2", "axx\n+xx\nq\n", &good);
  TraceHeader h;
  memcpy(&h, good.data, sizeof h);
  uint32_t state = 1;
  size_t refused = 0;
  for (int i = 0; i < 1500; i++) {
    Inputs in = {0};
    inputs_add_stdin(&in, "axx\n+xx\nq\n", 10);
    inputs_add_arg(&in, 1, "2");
    ExprPool *pool = i % 2 ? expr_pool_new() : NULL;
    Path path;
    bad.len = 0;
    str_addn(&bad, good.data, good.len);
    size_t from = i % 5 == 0 ? 0 : h.stream;
    damage(&bad, from, &state);
    if (i % 7 == 0)
      bad.len = next_random(&state) % bad.len;
    refused += replay_bytes(&bad, &in, pool, &path) != 0;
    path_release(&path);
    if (pool)
      expr_pool_free(pool);
    inputs_release(&in);
  }
  assert_true(refused > 100);
  str_release(&good);
  str_release(&bad);
}

TEST(damaged_code_is_refused_or_replayed_within_bounds) {
  build_world();
  Str good = {0}, bad = {0}, trace = {0};
  Err err = {0};
  record("2", "axx\n+xx\nq\n", &trace);
  assert_int_equal(fs_read(world.build.irs[0], 0, &good, &err), 0);
  uint32_t state = 7;
  size_t refused = 0;
  for (int i = 0; i < 1500; i++) {
    Program p = {0};
    bad.len = 0;
    str_addn(&bad, good.data, good.len);
    damage(&bad, i % 5 == 0 ? 0 : sizeof(IrFileHeader), &state);
    if (program_parse(&p, bad.data, bad.len, "bytes", &err)) {
      refused++;
    } else {
      Trace t;
      Path path = {0};
      ReplayOptions o = {.max_instructions = 100000};
      program_link(&p, &err);
      assert_int_equal(trace_parse(&t, trace.data, trace.len, "t", &err), 0);
      replay_with(&p, &t, NULL, NULL, &o, &path, &err);
      path_release(&path);
      trace_close(&t);
    }
    program_release(&p);
  }
  assert_true(refused > 100);
  str_release(&good);
  str_release(&bad);
  str_release(&trace);
}

TEST(foreign_and_threaded_traces_are_told_apart) {
  build_world();
  Str bytes = {0};
  record("2", "q\n", &bytes);
  TraceHeader h;
  Trace t;
  Err err = {0};
  memcpy(&h, bytes.data, sizeof h);
  h.state = TRACE_THREADED;
  memcpy(bytes.data, &h, sizeof h);
  assert_int_equal(trace_parse(&t, bytes.data, bytes.len, "t", &err), -1);
  assert_non_null(strstr(err.text, "threads"));
  h.state = TRACE_ENDED;
  h.version++;
  memcpy(bytes.data, &h, sizeof h);
  assert_int_equal(trace_parse(&t, bytes.data, bytes.len, "t", &err), -1);
  assert_non_null(strstr(err.text, "version"));
  h.version--;
  memcpy(bytes.data, &h, sizeof h);
  bytes.data[TRACE_PAGE] ^= 1; // the unit's hash
  assert_int_equal(trace_parse(&t, bytes.data, bytes.len, "t", &err), 0);
  Path path;
  assert_int_equal(replay(&world.ir, &t, NULL, NULL, &path, &err), -1);
  assert_non_null(strstr(err.text, "another program"));
  path_release(&path);
  trace_close(&t);
  assert_int_equal(trace_parse(&t, "short", 5, "t", &err), -1);
  assert_non_null(strstr(err.text, "not a trace"));
  str_release(&bytes);
}

TEST(memory_that_was_shown_follows_what_is_stored_to_it) {
  enum { EDGE = 0x7000 - 4 }; // the end of a page
  Seen *m = seen_new();
  uint64_t v = 0;
  assert_false(seen_load(m, EDGE, 1, &v));
  seen_store(m, EDGE, 8, 1); // not shown: not kept
  assert_false(seen_load(m, EDGE, 1, &v));
  seen_show(m, EDGE, (const uint8_t *)"abcdefgh", 8);
  assert_true(seen_load(m, EDGE, 8, &v));
  assert_int_equal(v, 0x6867666564636261);
  assert_false(seen_load(m, EDGE + 1, 8, &v)); // one byte too far
  seen_store(m, EDGE + 2, 4, 0x31323334);
  seen_fill(m, EDGE + 6, 2, 'x');
  assert_true(seen_load(m, EDGE, 8, &v));
  assert_int_equal(v, 0x7878313233346261);
  seen_free(m);
}

TEARDOWN {
  if (!world.program)
    return 0;
  program_release(&world.ir);
  trace_build_release(&world.build);
  free(world.program);
  free(world.cache);
  fs_remove_tree(world.dir);
  return fs_exists(world.dir);
}
