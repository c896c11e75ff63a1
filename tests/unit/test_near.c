// Control dependence, alignment of runs, their distance, and the order in which
// nearer runs are looked for: worked example 5 and compiled programs.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "locate/near_note.h"
#include "near/align.h"
#include "near/near_internal.h"
#include "near/near_poke.h"
#include "near/watch.h"
#include "program/program_code.h"
#include "program/trace_build.h"
#include "replay/replay.h"
#include "test.h"
#include "util/capture.h"
#include "util/fs.h"

// --- worked example 5, by hand ----------------------------------------------

// 1 if(a) 2 i++; 3 if(b) 4 j++; 5 if(c) 6 if(d) 7 k++; else 9 k+=2;
// Branches have the numbers of their lines; edges: 2 * line, + 1 if true.
typedef struct {
  int a, b, c, d;
} Outcomes;

static void figure_2(Events *e, Outcomes o) {
  events_init(e);
  events_add(e, 0, 0, 1, 2u + (unsigned)o.a);
  events_add(e, 0, 0, 3, 6u + (unsigned)o.b);
  uint32_t five = events_add(e, 0, 0, 5, 10u + (unsigned)o.c);
  if (o.c)
    events_add(e, e->items.items[five].key, five, 6, 12u + (unsigned)o.d);
}

static void show_distance(const Events *f, const Distance *d, Str *out) {
  for (size_t i = 0; i < d->len; i++)
    str_addf(out, "%s%u", i ? "," : "",
             f->items.items[d->items[i].event].edge / 2);
}

static void assert_distance(Outcomes of, Outcomes op, const char *want) {
  Events f, p;
  Distance d = {0};
  Str got = {0};
  figure_2(&f, of);
  figure_2(&p, op);
  align_distance(&f, &p, &d);
  show_distance(&f, &d, &got);
  assert_string_equal(str_text(&got), want);
  str_release(&got);
  array_release(&d);
  events_release(&f);
  events_release(&p);
}

static const Outcomes failing = {0, 0, 1, 1}, first = {0, 1, 1, 0},
                      second = {1, 0, 1, 0};

TEST(the_distances_of_example_5_are_3_6_and_1_6) {
  assert_distance(failing, first, "3,6");
  assert_distance(failing, second, "1,6");
}

TEST(an_event_that_the_other_run_does_not_have_is_in_no_distance) {
  assert_distance(failing, (Outcomes){0, 0, 0, 0}, "5");
  assert_distance((Outcomes){0, 0, 0, 0}, failing, "5");
}

TEST(runs_that_go_the_same_way_differ_in_their_first_event_alone) {
  Events f, p;
  Distance d = {0};
  figure_2(&f, failing);
  figure_2(&p, failing);
  align_distance(&f, &p, &d);
  assert_int_equal(d.len, 1);
  assert_int_equal(d.items[0].event, 0);
  array_release(&d);
  events_release(&f);
  events_release(&p);
}

static int compare(const uint32_t *a, size_t na, const uint32_t *b, size_t nb) {
  Distance x = {0}, y = {0};
  for (size_t i = 0; i < na; i++)
    array_push(&x, (Difference){a[i], 0});
  for (size_t i = 0; i < nb; i++)
    array_push(&y, (Difference){b[i], 0});
  int result = distance_compare(&x, &y);
  assert_int_equal(distance_compare(&y, &x), -result);
  array_release(&x);
  array_release(&y);
  return result;
}

TEST(the_later_difference_is_nearer_and_so_is_the_end_of_a_distance) {
  const uint32_t d36[] = {3, 6}, d16[] = {1, 6}, d6[] = {6}, d5[] = {5},
                 d0[] = {0}, d136[] = {1, 3, 6};
  assert_true(compare(d36, 2, d16, 2) < 0);
  assert_true(compare(d6, 1, d36, 2) < 0);
  assert_true(compare(d36, 2, d136, 3) < 0);
  assert_true(compare(d136, 3, d16, 2) < 0);
  assert_true(compare(d16, 2, d5, 1) < 0);
  assert_true(compare(d5, 1, d0, 1) < 0);
  assert_int_equal(compare(d36, 2, d36, 2), 0);
}

// --- enumeration ------------------------------------------------------------

typedef struct {
  Str text;
  const uint32_t *names; // of events
  size_t left;
} KeptListing;

static FlipAnswer list(void *context, const uint32_t *flips, size_t n) {
  KeptListing *l = context;
  str_addc(&l->text, '<');
  for (size_t i = 0; i < n; i++)
    str_addf(&l->text, "%s%u", i ? "," : "", l->names[flips[i]]);
  str_addc(&l->text, '>');
  return --l->left > 0 ? FLIP_ON : FLIP_STOP;
}

static const char in_order[] = "<6><3,6><1,3,6><1,6><5><3,5><1,3,5><1,5>"
                               "<3><1,3><1>";

// All events of `e`, at most `most` at once, until `left` sets are listed.
static void assert_listing(const Events *e, const uint32_t *names, size_t most,
                           size_t left, const char *want) {
  KeptListing l = {.names = names, .left = left};
  uint32_t *ends = events_ends(e);
  uint32_t *all = mem_array(uint32_t, e->items.len);
  for (uint32_t i = 1; i < e->items.len; i++)
    all[i - 1] = i;
  bool done = flips_enumerate(ends, all, e->items.len - 1, most, list, &l);
  assert_string_equal(str_text(&l.text), want);
  assert_int_equal(done, l.left > 0);
  str_release(&l.text);
  free(all);
  free(ends);
}

TEST(candidates_of_example_5_come_in_order_of_distance) {
  static const uint32_t lines[] = {0, 1, 3, 5, 6};
  Events f;
  figure_2(&f, failing);
  assert_listing(&f, lines, 4, 100, in_order);
  assert_listing(&f, lines, 2, 100, "<6><3,6><1,6><5><3,5><1,5><3><1,3><1>");
  assert_listing(&f, lines, 1, 100, "<6><5><3><1>");
  assert_listing(&f, lines, 4, 3, "<6><3,6><1,3,6>");
  events_release(&f);
}

static FlipAnswer prune_3_6(void *context, const uint32_t *flips, size_t n) {
  bool is = n == 2 && flips[0] == 2 && flips[1] == 4; // lines 3 and 6
  return list(context, flips, n) == FLIP_STOP ? FLIP_STOP
         : is                                 ? FLIP_PRUNE
                                              : FLIP_ON;
}

TEST(nothing_is_added_to_a_set_that_is_pruned) {
  static const uint32_t lines[] = {0, 1, 3, 5, 6}, all[] = {1, 2, 3, 4};
  Events f;
  KeptListing l = {.names = lines, .left = 100};
  figure_2(&f, failing);
  uint32_t *ends = events_ends(&f);
  assert_true(flips_enumerate(ends, all, 4, 4, prune_3_6, &l));
  assert_string_equal(str_text(&l.text),
                      "<6><3,6><1,6><5><3,5><1,3,5><1,5><3><1,3><1>");
  str_release(&l.text);
  free(ends);
  events_release(&f);
}

typedef struct {
  Distance last;
  bool ascending;
  size_t n;
} Order;

static FlipAnswer check_order(void *context, const uint32_t *flips, size_t n) {
  Order *o = context;
  Distance d = {0};
  for (size_t i = 0; i < n; i++)
    array_push(&d, (Difference){flips[i], 0});
  o->ascending &= !o->n++ || distance_compare(&o->last, &d) < 0;
  array_release(&o->last);
  o->last = d;
  return FLIP_ON;
}

TEST(every_candidate_is_farther_away_than_the_one_before) {
  enum { N = 12 };
  uint32_t ends[N + 1], events[N];
  Order o = {.ascending = true};
  for (uint32_t i = 0; i <= N; i++)
    ends[i] = i % 3 == 1 ? i + 1 : i; // 2 depends on 1, 5 on 4, ...
  for (uint32_t i = 0; i < N; i++)
    events[i] = i + 1;
  assert_true(flips_enumerate(ends, events, N, N, check_order, &o));
  assert_true(o.ascending);
  // Of each group of three: nothing, 1, 2, and each with or without 3.
  assert_int_equal(o.n, 6 * 6 * 6 * 6 - 1);
  array_release(&o.last);
}

// --- long runs --------------------------------------------------------------

// A loop of n iterations, each with a branch inside that is taken at `at`.
static void long_loop(Events *e, uint32_t n, uint32_t at) {
  events_init(e);
  uint32_t head = 0;
  for (uint32_t i = 0; i < n; i++) {
    head = events_add(e, e->items.items[head].key, head, 1, 2);
    events_add(e, e->items.items[head].key, head, 2, i == at ? 4 : 5);
  }
  events_add(e, e->items.items[head].key, head, 1, 3);
}

TEST(the_ith_iteration_is_aligned_with_the_ith) {
  enum { N = 200000 };
  Events f, p;
  Distance d = {0};
  long_loop(&f, N, 7);
  long_loop(&p, N, 150000);
  align_distance(&f, &p, &d);
  assert_int_equal(d.len, 2);
  assert_int_equal(d.items[0].event, 2 * 7 + 2);
  assert_int_equal(d.items[0].needed, 5);
  assert_int_equal(d.items[1].event, 2 * 150000 + 2);
  assert_int_equal(d.items[1].needed, 4);
  events_release(&p);
  long_loop(&p, N + 1000, 7); // more iterations
  align_distance(&f, &p, &d);
  assert_int_equal(d.len, 1);
  assert_int_equal(d.items[0].event, 2 * N + 1);
  array_release(&d);
  events_release(&f);
  events_release(&p);
}

// --- compiled programs ------------------------------------------------------

static const char source[] =
    "#include <setjmp.h>\n"
    "#include <stdlib.h>\n"
    "static jmp_buf back;\n"
    "static int i, j, k;\n"
    "static void figure(int a, int b, int c, int d) {\n"
    "#line 1\n"
    "  if (a)\n"
    "    i = i + 1;\n"
    "  if (b)\n"
    "    j = j + 1;\n"
    "  if (c)\n"
    "    if (d)\n"
    "      k = k + 1;\n"
    "    else\n"
    "      k = k + 2;\n"
    "}\n"
    "#line 21\n"
    "static int is_x(char c) {\n"
    "  if (c == 'x') return 1; return 0;\n"
    "}\n"
    "static int depth(const char *s) {\n"
    "  if (!*s)\n"
    "    return 0;\n"
    "  return is_x(*s) + depth(s + 1);\n"
    "}\n"
    "static void leave(char c) {\n"
    "  if (c == 'j')\n"
    "    longjmp(back, 1);\n"
    "}\n"
    "static int which(char c) {\n"
    "  switch (c) {\n"
    "  case 'a':\n"
    "  case 'b':\n"
    "    return 1;\n"
    "  case 'c':\n"
    "    i = 3;\n"
    "  default:\n"
    "    return i;\n"
    "  }\n"
    "}\n"
    "#line 91\n"
    "int nest(int n, int m) {\n"
    "  int sum = 0;\n"
    "  for (int a = 0; a < n; a++)\n"
    "    for (int b = 0; b < m; b++) {\n"
    "      if (a * b > 20)\n"
    "        break;\n"
    "      if (a == b)\n"
    "        sum++;\n"
    "    }\n"
    "  return sum;\n"
    "}\n"
    "#line 51\n"
    "int main(int argc, char **argv) {\n"
    "  const char *s = argv[2];\n"
    "  switch (*argv[1]) {\n"
    "  case 'f':\n"
    "    figure(s[0] == '1', s[1] == '1', s[2] == '1', s[3] == '1');\n"
    "    break;\n"
    "  case 'l':\n"
    "    while (*s && *s != '.')\n"
    "      k += is_x(*s++);\n"
    "    break;\n"
    "  case 'c':\n"
    "    k = is_x(s[0]) + is_x(s[1]);\n"
    "    break;\n"
    "  case 'r':\n"
    "    k = depth(s);\n"
    "    break;\n"
    "  case 'j':\n"
    "    if (setjmp(back) == 0)\n"
    "      leave(*s);\n"
    "    if (s[1] == 'y')\n"
    "      k = 1;\n"
    "    break;\n"
    "  case 's':\n"
    "    k = which(*s);\n"
    "    break;\n"
    "  case 'e':\n"
    "    if (*s == 'e')\n"
    "      exit(0);\n"
    "    if (s[1] == 'y')\n"
    "      k = 1;\n"
    "    break;\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

static struct {
  char dir[64];
  TraceBuild build;
  Program ir;
  Control control;
} world;

static void build_world(void) {
  Err err = {0};
  if (*world.dir)
    return;
  strcpy(world.dir, "/tmp/culprit-test-XXXXXX");
  assert_non_null(mkdtemp(world.dir));
  char *c = mem_printf("%s/prog.c", world.dir);
  char *program = mem_printf("%s/prog", world.dir);
  char *cache = mem_printf("%s/cache", world.dir);
  assert_int_equal(fs_write(c, source, sizeof source - 1, &err), 0);
  char *compiler = program_code_compiler();
  char *const argv[] = {compiler, "-g", "-w", "-o", program, c, NULL};
  Str said = {0};
  assert_int_equal(command_capture(argv, NULL, &said), 0);
  if (trace_build(&world.build, program, cache, false, &err))
    fail_msg("%s", err.text);
  for (size_t i = 0; i < world.build.nirs; i++)
    assert_int_equal(program_add(&world.ir, world.build.irs[i], &err), 0);
  assert_int_equal(program_link(&world.ir, &err), 0);
  control_init(&world.control, &world.ir);
  str_release(&said);
  free(compiler);
  free(cache);
  free(program);
  free(c);
}

// The events of `prog MODE TEXT`.
static void run(const char *mode, const char *text, Events *out) {
  char *dir = mem_printf("%s/run", world.dir), *file = NULL;
  Err err = {0};
  Trace trace = {0};
  Path path;
  Tracker tracker;
  fs_remove_tree(dir);
  assert_int_equal(fs_mkdirs(dir, &err), 0);
  pid_t pid = fork();
  if (pid == 0) {
    setenv("CULPRIT_TRACE", dir, 1);
    execl(world.build.program, "prog", mode, text, (char *)NULL);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, 0);
  assert_int_equal(trace_find(dir, &file, &err), 0);
  assert_int_equal(trace_open(&trace, file, &err), 0);
  events_init(out);
  tracker_init(&tracker, &world.control, out);
  ReplayOptions o = {.observer = tracker_branch,
                     .entered = tracker_block,
                     .context = &tracker};
  if (replay_with(&world.ir, &trace, NULL, NULL, &o, &path, &err))
    fail_msg("%s", err.text);
  assert_int_equal(out->items.len - 1, path.stats.branches);
  tracker_release(&tracker);
  path_release(&path);
  trace_close(&trace);
  free(file);
  free(dir);
}

static uint32_t line_of(const Events *e, uint32_t event) {
  uint32_t line = 0;
  if (event)
    control_place(&world.control,
                  world.control.branch_of[e->items.items[event].edge], &line);
  return line;
}

// The lines of the distance; an event that is not the first of its line has its
// number in parentheses.
static void assert_lines(const char *mode, const char *f, const char *p,
                         const char *want) {
  build_world();
  Events ef, ep;
  Distance d = {0};
  Str got = {0};
  run(mode, f, &ef);
  run(mode, p, &ep);
  align_distance(&ef, &ep, &d);
  for (size_t i = 0; i < d.len; i++) {
    uint32_t line = line_of(&ef, d.items[i].event), before = 0;
    for (uint32_t k = 1; k < d.items[i].event; k++)
      before += line_of(&ef, k) == line;
    str_addf(&got, "%s%u", i ? "," : "", line);
    if (before)
      str_addf(&got, "(%u)", before + 1);
  }
  assert_string_equal(str_text(&got), want);
  str_release(&got);
  array_release(&d);
  events_release(&ef);
  events_release(&ep);
}

TEST(a_compiled_example_5_has_the_same_distances) {
  assert_lines("f", "0011", "0110", "3,6");
  assert_lines("f", "0011", "1010", "1,6");
  assert_lines("f", "0011", "0001", "5");
  assert_lines("f", "0011", "0011", "0");
}

TEST(a_compiled_example_5_has_the_same_order_of_candidates) {
  build_world();
  Events e, figure;
  run("f", "0011", &e);
  // Without the branches of main, which come before.
  uint32_t skip = 0;
  while (line_of(&e, skip + 1) > 10)
    skip++;
  uint32_t names[8] = {0};
  events_init(&figure);
  for (uint32_t i = skip + 1; i < e.items.len; i++) {
    uint32_t parent = e.items.items[i].parent;
    uint32_t mine = events_add(&figure, e.items.items[i].key,
                               parent > skip ? parent - skip : 0, i, 0);
    assert_true(mine < 8);
    names[mine] = line_of(&e, i);
  }
  assert_listing(&figure, names, 4, 100, in_order);
  events_release(&e);
  events_release(&figure);
}

TEST(iterations_are_aligned_one_by_one) {
  assert_lines("l", "abc", "axc", "22(2)");
  assert_lines("l", "xbc", "axc", "22,22(2)");
  // `*s` and the whole condition of each iteration are two branches of line
  // 58; the second only says what the first has decided, if that is false.
  assert_lines("l", "ab", "abc", "58(5)");
  assert_lines("l", "abc", "ab", "58(5)");
  assert_lines("l", "abc", "a.c", "58(4)");
}

TEST(the_ith_call_of_a_block_is_aligned_with_the_ith) {
  assert_lines("c", "ab", "xb", "22");
  assert_lines("c", "ab", "ax", "22(2)");
}

TEST(recursion_is_aligned_level_by_level) {
  assert_lines("r", "aaa", "axa", "22(2)");
  assert_lines("r", "aa", "aaa", "25(3)");
  assert_lines("r", "xa", "aa", "22");
}

TEST(a_longjmp_differs_where_it_was_decided_on) {
  assert_lines("j", "a", "j", "30");
  assert_lines("j", "ay", "jn", "30,70");
  assert_lines("j", "jy", "an", "30,70");
}

TEST(cases_that_lead_to_the_same_place_do_not_differ) {
  assert_lines("s", "a", "b", "0");
  assert_lines("s", "a", "c", "34");
  assert_lines("s", "c", "d", "34");
}

TEST(what_follows_a_way_out_depends_on_it) {
  assert_lines("e", "ay", "an", "79");
  assert_lines("e", "ay", "en", "77");
}

TEST(all_that_depends_on_an_event_follows_without_a_gap) {
  build_world();
  static const char *const runs[][2] = {
      {"f", "1111"}, {"l", "axbxc.d"}, {"r", "axx"}, {"j", "jy"}, {"s", "c"}};
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
    Events e;
    run(runs[k][0], runs[k][1], &e);
    uint32_t *ends = events_ends(&e);
    for (uint32_t i = 1; i < e.items.len; i++)
      for (uint32_t j = i + 1; j < e.items.len; j++) {
        uint32_t up = j;
        while (up > i)
          up = e.items.items[up].parent;
        assert_int_equal(up == i, j <= ends[i]);
      }
    free(ends);
    events_release(&e);
  }
}

// --- joins ------------------------------------------------------------------

static uint32_t targets(uint32_t block, const IrEdge **edges) {
  const IrBlock *b = &world.ir.blocks.items[block];
  const IrInst *i = &world.ir.insts.items[b->first + b->n - 1];
  if (i->op < IR_BR || i->op > IR_JUMP)
    return 0;
  const IrBranch *branch = &world.ir.branches.items[i->b];
  *edges = world.ir.edges.items + branch->first_edge;
  return branch->nedges;
}

// Can the function be left from `block` without coming through `without`?
static bool gets_out(const IrFunction *f, uint32_t block, uint32_t without,
                     bool *seen) {
  const IrEdge *edges = NULL;
  if (block == without || seen[block - f->first_block])
    return false;
  seen[block - f->first_block] = true;
  uint32_t n = targets(block, &edges);
  bool out = n == 0;
  for (uint32_t i = 0; i < n && !out; i++)
    out = gets_out(f, f->first_block + edges[i].target, without, seen);
  return out;
}

static bool must_pass(const IrFunction *f, uint32_t block, uint32_t through) {
  bool *seen = mem_array(bool, f->nblocks);
  bool out = gets_out(f, block, through, seen);
  free(seen);
  return !out;
}

// The definition: every way out comes through it, and it is the first of those.
static uint32_t slow_join(const IrFunction *f, uint32_t block) {
  uint32_t best = IR_NONE;
  for (uint32_t i = 0; i < f->nblocks; i++) {
    uint32_t x = f->first_block + i;
    if (x == block || !must_pass(f, block, x))
      continue;
    if (best == IR_NONE || must_pass(f, x, best))
      best = x;
  }
  return best;
}

TEST(joins_are_the_first_blocks_that_every_way_out_comes_through) {
  build_world();
  size_t joined = 0;
  for (size_t i = 0; i < world.ir.functions.len; i++) {
    const IrFunction *f = &world.ir.functions.items[i];
    for (uint32_t b = f->first_block; b < f->first_block + f->nblocks; b++) {
      assert_int_equal(world.control.join[b], slow_join(f, b));
      joined += world.control.join[b] != IR_NONE;
    }
    assert_true(!f->nblocks || world.control.entry[f->first_block]);
  }
  assert_true(joined > 20);
}

// --- loops ------------------------------------------------------------------

// What turning the first branch on `line` that this way does to its loop.
static LoopChange change_at(uint32_t line, bool to_true) {
  const Control *c = &world.control;
  for (uint32_t i = 0; i < world.ir.branches.len; i++) {
    const IrBranch *b = &world.ir.branches.items[i];
    uint32_t at;
    control_place(c, i, &at);
    if (at == line && b->nedges == 2)
      return control_loop_change(c, b->first_edge + to_true,
                                 b->first_edge + !to_true);
  }
  fail_msg("no branch on line %u", line);
  return LOOP_SAME;
}

TEST(a_loop_is_left_by_the_edges_that_lead_out_of_it) {
  build_world();
  assert_int_equal(change_at(58, true), LOOP_MORE); // while (*s && ...)
  assert_int_equal(change_at(58, false), LOOP_FEWER);
  assert_int_equal(change_at(22, true),
                   LOOP_SAME); // an if of a called function
  assert_int_equal(change_at(3, false), LOOP_SAME);
  assert_int_equal(change_at(93, true), LOOP_MORE); // the outer for
  assert_int_equal(change_at(94, true), LOOP_MORE); // the inner for
  assert_int_equal(change_at(94, false), LOOP_FEWER);
  assert_int_equal(change_at(95, true), LOOP_FEWER); // if (...) break;
  assert_int_equal(change_at(97, true), LOOP_SAME);  // if (...) k++;
}

// --- notes ------------------------------------------------------------------

static int parse_note(const char *text, NearNote *note, Arena *arena) {
  Err err = {0};
  char *copy = mem_strdup(text);
  int rc = note_parse(&near_note_kind, note, "note", copy, arena, &err);
  if (rc)
    assert_non_null(strstr(err.text, "remove it"));
  free(copy);
  return rc;
}

TEST(a_note_comes_back_as_it_was_written) {
  build_world();
  Arena arena = {0};
  Err err = {0};
  Str text = {0};
  NearNote note = {.head = {.session = 7, .signature = "a\tb\n%09"},
                   .command = "./f 1"},
           back;
  array_push(&note.head.sources, (Source){"/src/f.c", 0xfedcba9876543210});
  array_push(&note.branches,
             (NoteBranch){"/src/f.c", 5, 1, "false", "case 3", true, "", ""});
  array_push(&note.branches, (NoteBranch){"/src/f.c", 8, 2, "true", "false",
                                          false, "x\t= 1", "!x"});
  assert_int_equal(note_write(&near_note_kind, world.dir, &note, &err), 0);
  char *path = mem_printf("%s/near/7.tsv", world.dir);
  assert_int_equal(fs_read(path, 0, &text, &err), 0);
  assert_int_equal(parse_note(str_text(&text), &back, &arena), 0);
  assert_string_equal(back.head.signature, note.head.signature);
  assert_string_equal(back.command, "./f 1");
  assert_int_equal(back.head.sources.len, 1);
  assert_true(back.head.sources.items[0].hash == 0xfedcba9876543210);
  assert_int_equal(back.branches.len, 2);
  assert_int_equal(back.branches.items[0].line, 5);
  assert_string_equal(back.branches.items[0].matters, "");
  assert_string_equal(back.branches.items[0].written, "");
  assert_string_equal(back.branches.items[1].matters, "x\t= 1");
  assert_string_equal(back.branches.items[1].written, "!x");
  assert_string_equal(back.branches.items[0].needed, "case 3");
  assert_true(back.branches.items[0].decisive);
  note_release(&near_note_kind, &note);
  note_release(&near_note_kind, &back);
  arena_release(&arena);
  str_release(&text);
  free(path);
}

TEST(what_is_no_note_is_refused) {
  static const char *const bad[] = {
      "",
      "near\t2\nsignature\ts\ncommand\tc\n",
      "near\t1\nsignature\ts\n",
      "near\t1\nsignature\ts\ncommand\tc\nbranch\tf\tx\t1\ta\tb\t1\n",
      "near\t1\nsignature\ts\ncommand\tc\nbranch\tf\t1\t1\ta\tb\n",
      "near\t1\nsignature\ts\ncommand\tc\nsource\tf\tzz\n",
      "near\t1\tx\ty\tz\ta\tb\tc\td\te\tf\n",
      "\x01\x02",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    NearNote note;
    Arena arena = {0};
    assert_int_equal(parse_note(bad[i], &note, &arena), -1);
    note_release(&near_note_kind, &note);
    arena_release(&arena);
  }
}

// --- what branches went by --------------------------------------------------

TEST(variables_of_the_source_are_known_by_name) {
  bool sum = false, parameter = false;
  build_world();
  for (size_t i = 0; i < world.ir.variables.len; i++) {
    const IrVariable *v = &world.ir.variables.items[i];
    const IrFunction *f = &world.ir.functions.items[v->function];
    if (strcmp(program_name(&world.ir, f->name), "nest"))
      continue;
    const char *name = program_name(&world.ir, v->name);
    assert_int_equal(v->width, 32);
    sum |= !strcmp(name, "sum");
    parameter |= !strcmp(name, "n") && v->operand == 0;
  }
  assert_true(sum && parameter);
}

TEST(memory_knows_who_wrote_each_byte_last) {
  WatchMemory m = {0};
  const uint8_t four[] = {1, 2, 3, 4}, nine = 9;
  uint8_t byte;
  bool known;
  uint32_t writer;
  uint64_t v;
  watched_write(&m, 126, four, 4, 7); // over the end of a cell
  watched_write(&m, 128, &nine, 1, 8);
  assert_true(watched_number(&m, 126, 4, &v));
  assert_int_equal(v, 0x04090201);
  assert_true(watched_byte(&m, 127, &byte, &known, &writer));
  assert_int_equal(writer, 7);
  assert_true(watched_byte(&m, 128, &byte, &known, &writer));
  assert_int_equal(writer, 8);
  assert_false(watched_number(&m, 125, 2, &v));
  watched_forget(&m, 127, 1);
  assert_false(watched_number(&m, 126, 4, &v));
  watched_write(&m, 127, NULL, 1, 9);
  assert_true(watched_byte(&m, 127, &byte, &known, &writer));
  assert_false(known);
  assert_int_equal(writer, 9);
  watched_release(&m);
}

static void add_event(Watch *w, uint32_t control, uint32_t a, uint32_t b) {
  array_push(&w->items,
             (WatchEvent){0, control, w->dep_base + (uint32_t)w->deps.len});
  for (int i = 0; i < 2; i++)
    if (i ? b : a)
      array_push(&w->deps, i ? b : a);
}

// Events 1 to 4 are no longer kept; 3 is used by 6, which matters.
TEST(a_slice_follows_data_and_control_and_knows_the_last_use) {
  Watch w = {.base = 5, .dep_base = 10};
  add_event(&w, 0, 0, 0); // 5
  add_event(&w, 0, 3, 0); // 6
  add_event(&w, 0, 5, 0); // 7: a branch, on 5
  add_event(&w, 7, 2, 0); // 8: nobody uses it
  add_event(&w, 7, 6, 0); // 9
  watch_slice(&w, 9);
  WatchMoment early = {.block = 7}, late = {.block = 8};
  WatchVariable five = {.set = 5}, six = {.set = 6}, eight = {.set = 8},
                two = {.set = 2}, three = {.set = 3}, none = {.set = 0};
  assert_true(watch_reaches(&w, &early, &five));
  assert_false(watch_reaches(&w, &late, &five)); // used by 7 last
  assert_true(watch_reaches(&w, &late, &six));
  assert_false(watch_reaches(&w, &early, &eight));
  assert_false(watch_reaches(&w, &early, &two));
  assert_true(watch_reaches(&w, &(WatchMoment){.block = 6}, &three));
  assert_false(watch_reaches(&w, &early, &none));
  array_release(&w.items);
  array_release(&w.deps);
  hashmap_release(&w.before);
  free(w.used);
}

// --- variables exchanged ----------------------------------------------------

TEST(an_answer_of_the_helper_is_read) {
  PokeAnswer a = {0};
  Err err = {0};
  char text[] = "reached\nimage\t5000\t6000\n"
                "cell\t1\tparse\tp->len\t7ff0\ti\t05000000\n"
                "cell\t-1\t-\tname\t5010\tt\t616200\n"
                "cell\t0\tf\tp\t5020\tp\t1050000000000000\n"
                "leads\t\"ab\"\nway\t1\n";
  assert_int_equal(poke_answer_parse(&a, text, &err), 0);
  assert_true(a.reached && a.has_way && !a.moved.len);
  assert_int_equal(a.way, 1);
  assert_int_equal(a.image, 0x5000);
  assert_int_equal(a.cells.len, 3);
  const Cell *c = &a.cells.items[0];
  assert_int_equal(c->frame, 1);
  assert_string_equal(c->function, "parse");
  assert_string_equal(c->name, "p->len");
  assert_int_equal(c->at, 0x7ff0);
  assert_int_equal(c->size, 4);
  assert_int_equal(c->bytes[0], 5);
  assert_int_equal(a.cells.items[1].frame, -1);
  assert_memory_equal(a.cells.items[1].bytes, "ab", 3);
  assert_null(a.cells.items[1].leads);
  assert_string_equal(a.cells.items[2].leads, "\"ab\"");
  poke_answer_release(&a);
}

TEST(an_answer_tells_what_was_not_as_expected) {
  PokeAnswer a = {0};
  Err err = {0};
  char text[] = "reached\nmoved\t7ff4\t2\nmoved\t8000\t1\n";
  assert_int_equal(poke_answer_parse(&a, text, &err), 0);
  assert_int_equal(a.moved.len, 2);
  assert_int_equal(a.moved.items[0].at, 0x7ff4);
  assert_int_equal(a.moved.items[0].size, 2);
  poke_answer_release(&a);
}

TEST(a_damaged_answer_is_refused) {
  static const char *const bad[] = {
      "what\n",
      "reached\tx\n",
      "moved\n",
      "cell\t0\tf\tx\t10\ti\n",
      "cell\t0\tf\tx\t10\ti\t\n",
      "cell\t0\tf\tx\t10\ti\t123\n",
      "cell\t0\tf\tx\t10\ti\tzz\n",
      "cell\t0\tf\tx\t10\ti\t00\tmore\n",
      "failed\tno such file\n",
      "leads\tnowhere\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    PokeAnswer a = {0};
    Err err = {0};
    char *text = mem_strdup(bad[i]);
    assert_int_equal(poke_answer_parse(&a, text, &err), -1);
    assert_string_not_equal(err.text, "");
    poke_answer_release(&a);
    free(text);
  }
}

static void assert_sentence(const NearMinimal *m, const char *want) {
  Str s = {0};
  near_add_minimal(m, &s);
  assert_string_equal(str_text(&s), want);
  str_release(&s);
}

TEST(which_variables_matter_is_one_sentence) {
  NearMinimal m = {.result = PUT_PASSES, .differing = 1, .runs = 4};
  array_push(&m.puts, (NearPut){"p->len", "3", "0", false});
  assert_sentence(&m, "put in here, p->len = 0 instead of 3 makes the failing "
                      "run pass (of 1 that differs, by 4 runs)");
  array_push(&m.puts, (NearPut){"name", "\"a\"", "null", false});
  m.result = PUT_AS;
  m.differing = 5;
  m.cut = true;
  assert_sentence(
      &m, "put in here, p->len = 0 instead of 3 and name = NULL instead of "
          "\"a\" together make the failing run end as the passing one (of 5 "
          "that differ, by 4 runs; out of time, fewer might do)");
  array_release(&m.puts);
  m = (NearMinimal){.result = PUT_TURNS, .differing = 1, .runs = 1};
  array_push(&m.puts, (NearPut){"p", "{n = 1}", "{n = 1}", false});
  assert_sentence(&m, "put in here, p = {n = 1} instead of {n = 1} at another "
                      "address turns this branch, but the run does not pass "
                      "then (of 1 that differs, by 1 run)");
  array_release(&m.puts);
  m = (NearMinimal){.differing = 3, .others = 1};
  assert_sentence(&m, "not minimised: with all 3 values of the passing run put "
                      "in here it still fails; 1 could not be exchanged");
  m = (NearMinimal){.problem = "out of time"};
  assert_sentence(&m, "not minimised: out of time");
}

TEARDOWN {
  if (!*world.dir)
    return 0;
  control_release(&world.control);
  program_release(&world.ir);
  trace_build_release(&world.build);
  fs_remove_tree(world.dir);
  return fs_exists(world.dir);
}
